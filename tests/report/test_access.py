"""Everybody can use the page: contrast as measured, names for screen readers, keys for all of it, phones, paper."""

import re

import numpy as np
import pytest

from tests.report.browser import READY, n_marked

# Every element with text of its own: its colour over what lies behind it, as the browser computes both.
TEXTS = """() => {
  const rgba = text => { const p = text.match(/[\\d.]+/g).map(Number); return p.length > 3 ? p : [...p, 1]; };
  const over = (top, under) => [0, 1, 2].map(k => top[k] * top[3] + under[k] * (1 - top[3]));
  const light = c => { const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 :
    ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
  const ground = node => { const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]); };
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some(c => c.nodeType === 3 && c.textContent.trim());
    if (!own || !node.getClientRects().length || node.closest('.unseen, script, svg')) continue;
    const style = getComputedStyle(node), size = parseFloat(style.fontSize), behind = ground(node);
    const large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    found.push([node.tagName + '.' + node.className + '#' + node.id, node.textContent.trim().slice(0, 30),
      ratio(over(rgba(style.color), behind), behind), large ? 3 : 4.5]);
  }
  for (const node of document.querySelectorAll('svg text')) {
    const behind = ground(node.closest('svg'));
    found.push(['svg text', node.textContent, ratio(over(rgba(getComputedStyle(node).fill), behind), behind), 4.5]);
  }
  return found; }"""


def opened(page):
    """Everything in sight: details, marked rows with their verdict, arrows, a row that is pointed at."""
    page.evaluate("document.querySelectorAll('details').forEach(found => found.open = true)")
    page.locator("#legend button").first.click()
    page.wait_for_selector("#group[data-state=done]")
    page.locator("#axes").click()
    page.locator("#colour").select_option("moved")
    page.wait_for_selector("#change[data-state=done]")
    page.locator("#large canvas[data-map]").evaluate(
        """async found => { found.scrollIntoView({block: 'center'});
        for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
        found.focus({preventScroll: true}); }"""  # scrolling hides what is said about a row
    )
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#tip.on")
    page.evaluate("document.querySelectorAll('details').forEach(found => found.open = true)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_all_text_has_the_contrast_of_aa(show, scheme, width):
    page = show(color_scheme=scheme, viewport={"width": width, "height": 900})
    opened(page)
    texts = page.evaluate(TEXTS)
    assert len(texts) > 120
    low = [text for text in texts if text[2] < text[3]]
    assert low == []


def luminance(colour):
    c = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return float(np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


MARKS = """() => { const style = getComputedStyle(document.documentElement);
  const hex = text => '#' + text.match(/\\d+/g).slice(0, 3).map(v => (+v).toString(16).padStart(2, '0')).join('');
  const named = {};
  for (const name of ['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'base', 'focus', 'false', 'arrow', 'best', 'soft'])
    named[name] = style.getPropertyValue('--' + name).trim();
  const probe = document.querySelector('figure');
  return [hex(getComputedStyle(probe).backgroundColor), named,
    [...document.querySelectorAll('#legend canvas')].map(c => { const d = c.getContext('2d').getImageData(12, 12, 1, 1);
      return hex([...d.data].join()); })]; }"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_rings_and_the_marks_of_classes_stand_out(show, tmp_path, scheme):
    """AA asks for 3 to 1 of what must be seen to understand a picture."""
    import lowdim
    from lowdim.report.render import render

    X = np.random.default_rng(0).standard_normal((64, 3))
    c = lowdim.compare(X, np.repeat(list("abcdefgh"), 8), ["pca"], random_state=0, verdict=False)
    file = tmp_path / "classes.html"
    file.write_text(render(c), encoding="utf-8")
    page = show(file, color_scheme=scheme)
    card, named, classes = page.evaluate(MARKS)
    assert len(classes) == 8
    assert len(set(classes)) == 8
    low = {name: round(contrast(colour, card), 2) for name, colour in named.items() if contrast(colour, card) < 3}
    low |= {colour: round(contrast(colour, card), 2) for colour in classes if contrast(colour, card) < 3}
    assert low == {}


NAMELESS = """() => [...document.querySelectorAll(
    'button, select, input, canvas[role=img], svg[role=img], [tabindex="0"], meter, summary, a')]
  .filter(found => found.getClientRects().length || found.closest('details:not([open])'))
  .filter(found => { const label = found.getAttribute('aria-label') || found.textContent.trim() || found.title ||
    [...(found.labels ?? [])].map(l => l.textContent.trim()).join(''); return !label; })
  .map(found => found.outerHTML.slice(0, 120))"""


def test_everything_that_can_be_used_has_a_name(show):
    page = show()
    opened(page)
    assert page.evaluate(NAMELESS) == []
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.lang") == "en"


def test_the_keyboard_reaches_and_does_all_of_it(show):
    page = show()
    reached = set()
    page.evaluate("document.querySelector('h1').setAttribute('tabindex', '-1')")
    page.locator("h1").focus()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {"colour", "truth", "axes", "names", "find", "svg", "png", "CANVAS"} <= reached
    # A loop without a mouse: from one row to those around it.
    page.locator("#large canvas[data-map]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("g")
    first = n_marked(page)
    assert 8 <= first <= 12
    page.keyboard.press("g")
    assert n_marked(page) > first
    assert "rows marked" in page.locator("#say").text_content()
    page.keyboard.press("g")
    page.wait_for_selector("#group[data-state=done]")
    assert page.locator("#group").get_attribute("role") == "status"  # it is read out
    page.locator("#colour").select_option("moved")
    page.locator("#play").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)


def test_a_phone_shows_all_of_it_without_scrolling_sideways(show):
    page = show(viewport={"width": 400, "height": 800}, has_touch=True)
    opened(page)
    wide = page.evaluate(
        """() => [...document.querySelectorAll('main *')]
        .filter(found => !found.closest('.scroll, #others, svg, .names'))
        .filter(found => found.getBoundingClientRect().right > innerWidth + 1)
        .map(found => found.outerHTML.slice(0, 100))"""
    )
    assert wide == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


LIGHTNESS = """found => { const { data } = found.getContext('2d').getImageData(0, 0, found.width, found.height);
  let sum = 0, count = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) {
    sum += data[i] + data[i + 1] + data[i + 2]; count++; }
  return sum / count; }"""


def test_paper_has_the_maps_and_the_words_but_no_buttons(show):
    page = show(color_scheme="dark")
    page.emulate_media(media="print")
    for gone in ("#colour", "#svg", "#find", "#names", "#axes"):
        assert page.locator(gone).is_hidden(), gone
    for kept in ("#verdict", "#large canvas[data-map]", "#scores"):
        assert page.locator(kept).is_visible(), kept
    ink, ground = page.evaluate(
        "() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert sum(map(int, re.findall(r"\d+", ground)[:3])) == 3 * 255
    assert sum(map(int, re.findall(r"\d+", ink)[:3])) < 300  # black on white, whatever the screen has
    dark = page.locator("#large canvas[data-map]").evaluate(LIGHTNESS)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#large canvas[data-map]").evaluate(LIGHTNESS) < dark  # inks for white paper
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#large canvas[data-map]").evaluate(LIGHTNESS) == pytest.approx(dark, rel=0.01)
    made = page.pdf(format="A4")
    assert made.startswith(b"%PDF")
    assert 2 <= made.count(b"/Type /Page\n") + made.count(b"/Type /Page ") + made.count(b"/Type/Page") <= 16


def test_the_page_stays_small_and_opens_fast(show, tmp_path, start):
    """10,000 rows, eight maps, 20 columns: below 10 MB, and below 2 s of processor time until it can be used."""
    from dataclasses import replace

    import lowdim
    from lowdim.report.render import render

    rng = np.random.default_rng(0)
    n = 10_000
    X = rng.standard_normal((n, 20)).astype(np.float32)
    small = lowdim.compare(X[:60], None, {f"map {k}": X[:60, k : k + 2] for k in range(6)}, verdict=False)
    c = grown(replace, small, X)
    file = tmp_path / "large.html"
    file.write_text(render(c, data=X), encoding="utf-8")
    assert file.stat().st_size < 10_000_000
    page = show(file, painter="")
    page.locator("#large canvas[data-map]").focus()
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    page.wait_for_selector(READY)
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    assert 0 < metrics["TaskDuration"] < 2  # of the page's own thread, on whatever machine
    assert page.locator("canvas[data-map]").count() == 8


def grown(replace, small, X):
    """A finished comparison of few rows, with the maps and the copy of the data of many."""
    from lowdim.study.data_copy import DataCopy

    n = len(X)
    rng = np.random.default_rng(1)
    outcomes = tuple(replace(o, embedding=X[:, k : k + 2].astype(float)) for k, o in enumerate(small.outcomes))
    scored = {name: replace(each, per_row=rng.random(n)) for name, each in small.scored.items()}
    values = rng.integers(0, 2**16, (n, 20), dtype=np.uint16)
    lists = rng.integers(0, n, (n, 20))
    copy = DataCopy("components", values, 1e-4, np.ones(20), 20.0, lists)
    return replace(small, outcomes=outcomes, scored=scored, rows_scored=np.ones(n, bool), data_copy=copy)
