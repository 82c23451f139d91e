"""The page in a notebook: rows go both ways between Python and the page, whatever carries them."""

import base64
import re
import sys

import numpy as np
import pytest

from lowdim.report import frame
from lowdim.report.render import STATIC
from tests.report.browser import READY, point_at, wait_marked

HARNESS = "http://notebook.test/"
# What anywidget does: the module is imported from its text, and gets a model. This one counts what it is told to save.
MODEL = """async ({code, state}) => {
  const url = URL.createObjectURL(new Blob([code], {type: "text/javascript"})), listeners = {};
  const view = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const fire = name => (listeners[`change:${name}`] ?? []).forEach(each => each());
  state._marked = view(state._marked);
  window.saved = [];
  window.model = {
    get: name => state[name],
    set(name, value) { state[name] = value; fire(name); },
    save_changes() { window.saved.push({...state, at: performance.now()}); },
    on(event, each) { (listeners[event] ??= []).push(each); },
    off(event, each) { listeners[event] = listeners[event].filter(one => one !== each); },
  };
  window.fromPython = text => window.model.set("_marked", view(text));
  window.rows = () => [...new Uint32Array(state._marked.buffer)];
  window.listening = () => Object.values(listeners).flat().length;
  const {default: widget} = await import(url);
  window.cleanup = [1, 2].slice(0, state.views ?? 1).map(() => {
    const el = document.body.appendChild(document.createElement("div"));
    return widget.render({model: window.model, el});
  });
}"""


@pytest.fixture(scope="module")
def widget(c):
    return c.show(where="notebook", title="<b>rows</b>")


@pytest.fixture
def notebook(start, widget):
    """Opens a page that renders the widget as a notebook does; nothing may go wrong in it, or out of it."""
    contexts, wrong = [], []

    def notebook(views=1, **state):
        context = start().new_context(viewport={"width": 1200, "height": 1000})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith((HARNESS, "blob:", "about:")) else wrong.append(r.url))
        page.route(f"{HARNESS}*", lambda route: route.fulfill(body="<!doctype html><body>", content_type="text/html"))
        page.goto(HARNESS)
        held = {"_page": widget.html, "_title": "rows", "_height": 700, "_marked": "", "_hovered": -1, "views": views}
        code = (STATIC / "widget.js").read_text(encoding="utf-8")
        page.evaluate(MODEL, {"code": code, "state": {**held, **state}})
        frames = [page.locator("iframe").nth(k).element_handle().content_frame() for k in range(views)]
        for each in frames:
            each.wait_for_selector(READY)
        return page, *frames

    yield notebook
    for context in contexts:
        context.close()
    assert wrong == []


def sent(rows):
    return base64.b64encode(np.asarray(rows, "<u4").tobytes()).decode()


def marked(inside):
    return int((inside.locator("#count").text_content() or "0").split(" of ")[0])


def test_rows_marked_and_pointed_at_in_the_page_reach_the_model(notebook):
    page, inside = notebook()
    point_at(page, inside, 42)
    page.wait_for_function("window.saved.some(each => each._hovered >= 0)")
    row = page.evaluate("window.saved.at(-1)._hovered")
    assert row == 42
    assert inside.locator("#tip strong").text_content().startswith("<i>42</i>")  # the page itself says so too
    before = page.evaluate("performance.now()")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("window.rows().length === 1")
    assert page.evaluate("window.rows()") == [row]
    assert page.evaluate("window.saved.find(each => each._marked.byteLength).at") > before
    page.mouse.move(1, 1)
    page.wait_for_function("window.saved.at(-1)._hovered === -1")


def test_rows_set_in_python_are_marked_in_the_page_and_not_sent_back(notebook):
    page, inside = notebook(_marked=sent([1, 2, 3]))
    wait_marked(inside, 3)
    page.evaluate("text => window.fromPython(text)", sent([7, 250]))
    wait_marked(inside, 2)
    for place, row in ((1, 7), (2, 250)):
        cell = inside.locator(f"#picked-rows tbody tr:nth-child({place}) > :first-child")
        cell.filter(has_text=re.compile(rf"^{row}$")).wait_for()
    page.evaluate("text => window.fromPython(text)", sent([]))
    inside.locator("#selection").wait_for(state="hidden")
    assert page.evaluate("window.saved.length") == 0


def test_two_views_of_one_widget_show_the_same_rows(notebook):
    page, one, other = notebook(views=2)
    one.locator("#find").fill("<i>17</i>")
    one.locator("#find").press("Enter")
    wait_marked(other, 1)
    assert page.evaluate("window.rows()") == [17]
    assert marked(one) == marked(other) == 1
    page.evaluate("window.cleanup[0]()")  # the first view is closed; the second stays joined
    page.evaluate("text => window.fromPython(text)", sent([5, 6]))
    wait_marked(other, 2)
    page.evaluate("window.cleanup[1]()")
    assert page.locator("iframe").count() == 0
    assert page.evaluate("window.listening()") == 0


def test_a_moved_frame_is_joined_again(notebook):
    page, _ = notebook(_marked=sent([4]))
    page.evaluate("document.body.append(document.createElement('hr'), document.querySelector('iframe').parentElement)")
    inside = page.locator("iframe").element_handle().content_frame()
    wait_marked(inside, 1)
    inside.locator("#clear").click()
    page.wait_for_function("window.rows().length === 0")


def test_the_page_without_python_is_linked(start, widget, tmp_path):
    """What an exported notebook holds: the frame of the HTML representation, and no kernel."""
    html, wrong = widget._repr_mimebundle_()[0]["text/html"], []
    file = tmp_path / "exported.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{html}", encoding="utf-8")
    context = start().new_context(viewport={"width": 1200, "height": 1000})
    page = context.new_page()
    page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(file.as_uri())
    inside = page.locator("iframe").element_handle().content_frame()
    inside.wait_for_selector(READY)
    inside.locator("#find").fill("<i>17</i>")
    inside.locator("#find").press("Enter")
    assert marked(inside) == 1
    assert inside.locator("#others .marked").first.text_content().startswith("marked rows")  # the other maps know
    link = inside.locator(".verdict a").first
    link.click()
    assert inside.evaluate("location.href") == "about:srcdoc"
    assert inside.evaluate("scrollY") > 100  # the link leads to its evidence, within the frame
    with page.expect_download() as saved:
        inside.locator("#save").click()
    assert saved.value.path().read_text(encoding="utf-8").count("\n") >= 1
    assert page.title() == ""
    assert page.locator("iframe").get_attribute("title") == "<b>rows</b>"
    context.close()
    assert wrong == []


# ---- the side of Python -------------------------------------------------------------------------------------------


def heard(widget, rows):
    """As the notebook sends it: a view of bytes."""
    widget.set_state({"_marked": memoryview(np.asarray(rows, "<u4").tobytes())})


def test_selection_and_hover_are_arrays(c):
    widget, seen = c.show(where="notebook"), []
    widget.observe(lambda change: seen.append(change["new"].tolist()), "selection")
    heard(widget, [3, 5])
    widget.set_state({"_hovered": 9})
    np.testing.assert_array_equal(widget.selection, [3, 5])
    np.testing.assert_array_equal(widget.hovered, [9])
    np.testing.assert_array_equal(c.embeddings["pca"][widget.selection], c.embeddings["pca"][[3, 5]])
    widget.set_state({"_hovered": -1})
    assert widget.hovered.shape == (0,)
    widget.selection = np.arange(300) >= 298
    widget.selection = [299, 298, 298]  # the same rows: nobody is told
    assert seen == [[3, 5], [298, 299]]
    assert np.frombuffer(widget._marked, "<u4").tolist() == [298, 299]
    with pytest.raises(ValueError, match="read-only"):
        widget.selection[0] = 1


def test_selection_says_what_is_wrong(widget):
    for wrong, message in (
        ([300], "selection must be rows from 0 to 299; got 300"),
        ([-1, 2], "got -1"),
        ([0.5], r"must be whole numbers, or 300 booleans; got float64 of shape \(1,\)"),
        ([True, False], r"got bool of shape \(2,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            widget.selection = wrong
    with pytest.raises(Exception, match="read-only"):
        widget.hovered = [1]


def test_positions_are_those_of_the_comparison_where_a_sample_is_drawn(c):
    widget = c.show(where="notebook", max_points=50)
    drawn = widget._drawn
    assert len(drawn) == 50
    assert drawn[-1] > 50
    heard(widget, [0, 49])
    np.testing.assert_array_equal(widget.selection, drawn[[0, 49]])
    hidden = np.setdiff1d(np.arange(300), drawn)[:2]
    with pytest.warns(UserWarning, match="2 of the 3 rows are not in the sample"):
        widget.selection = [*hidden, drawn[7]]
    assert np.frombuffer(widget._marked, "<u4").tolist() == [7]
    assert len(widget.selection) == 3
    heard(widget, [7])  # what the page shows of it is not taken for another choice
    assert len(widget.selection) == 3


# ---- where there is no notebook, or no anywidget --------------------------------------------------------------------


def test_without_anywidget_the_page_is_shown_and_the_way_is_said(c, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "lowdim.report.widget", raising=False)
    with pytest.warns(UserWarning, match=r"anywidget is not installed.*pip install 'lowdim\[notebook\]'"):
        page = c.show(where="notebook", height=500)
    text = page._repr_html_()
    assert re.match(
        r'<iframe title="Comparison of maps" sandbox="allow-scripts allow-downloads" srcdoc="&lt;!doc', text
    )
    assert "height: 500px" in text
    with pytest.raises(AttributeError, match=r"selection is known in a notebook only.*lowdim\[notebook\]"):
        page.selection
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        page.other


def test_outside_a_notebook_the_browser_opens_the_page(c, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(frame.webbrowser, "open", lambda url: opened.append(url) or True)
    monkeypatch.setattr(frame.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    page = c.show(title="Mine")
    assert opened == [page.path.as_uri()]
    assert "<h1>Mine</h1>" in page.path.read_text(encoding="utf-8")
    assert str(page.path) in repr(page)
    monkeypatch.setattr(frame.webbrowser, "open", lambda url: False)
    with pytest.warns(UserWarning, match="no browser was found; open"):
        c.show(where="browser")


def test_a_kernel_is_recognised(monkeypatch):
    class Shell:
        kernel = None

    class IPython:
        get_ipython = staticmethod(Shell)

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert frame.in_notebook()
    Shell.kernel = property()
    monkeypatch.delattr(Shell, "kernel")
    assert not frame.in_notebook()  # IPython in a terminal


def test_show_checks_what_it_is_given(c):
    with pytest.raises(ValueError, match="show: where must be"):
        c.show(where="moon")
    with pytest.raises(ValueError, match="show: height must be"):
        c.show(height=0)
