"""The widget in JupyterLab itself, and in a notebook that nbconvert exports; where JupyterLab is installed."""

import importlib.util
import json
import os
import subprocess
import sys
import time

import pytest

from tests.report.browser import READY, point_at, wait_marked

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(importlib.util.find_spec("jupyterlab") is None, reason="no JupyterLab: pip install jupyterlab"),
]
SHOWN = """
import time, lowdim
roll = lowdim.datasets.swiss_roll(300, random_state=0)
c = lowdim.compare(roll.X, methods=["pca", "isomap"], verdict=False, random_state=0)
w = c.show(height=900)
heard = []
w.observe(lambda change: heard.append((change["name"], change["new"].tolist(), time.time())), ["selection", "hovered"])
w
"""
SAID = 'import json; print("said", json.dumps([w.selection.tolist(), w.hovered.tolist(), heard]))'
SET = "w.selection = [5, 17, 123]"


def cell(source):
    return {
        "cell_type": "code", "id": f"c{abs(hash(source))}", "metadata": {}, "source": source, "outputs": [],
        "execution_count": None,
    }  # fmt: skip


@pytest.fixture
def lab(tmp_path):
    """A server of JupyterLab with one notebook; its address."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": [cell(SHOWN), cell(SAID), cell(SET)], "metadata": {"kernelspec": kernel}, "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip
    (tmp_path / "rows.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    options = ["--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root", f"--ServerApp.root_dir={tmp_path}"]
    options += ["--IdentityProvider.token=", "--LabApp.news_url=None", "--LabApp.check_for_updates_class="
                "jupyterlab.NeverCheckForUpdate"]  # fmt: skip
    env = {**os.environ, **folders, "IPYTHONDIR": str(tmp_path / "ipython"), "HOME": str(tmp_path)}
    with open(tmp_path / "log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], env=env, stdout=log, stderr=log, cwd=tmp_path
        )
    try:
        found, end = [], time.monotonic() + 120
        while not found and time.monotonic() < end and server.poll() is None:
            time.sleep(0.2)
            found = list((tmp_path / "RUNTIME").glob("jpserver-*.json"))
        assert found, (tmp_path / "log").read_text()
        time.sleep(0.5)
        yield json.loads(found[0].read_text())["url"]
    finally:
        server.terminate()
        server.wait(60)


# When the page itself hears of the pointer and of keys, by the clock that Python has too.
CLOCK = """() => { window.at = {}; for (const kind of ["pointermove", "keydown"]) addEventListener(kind,
  () => { window.at[kind] = (performance.timeOrigin + performance.now()) / 1000; }, true); }"""


def run_cell(page, k):
    page.locator(".jp-CodeCell").nth(k).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")


def said(page):
    output = page.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output")
    before = output.last.inner_text() if output.count() else ""
    run_cell(page, 1)
    page.wait_for_function(
        """before => { const found = document.querySelectorAll(".jp-CodeCell")[1]
          .querySelector(".jp-OutputArea-output"); return found && found.innerText !== before
          && found.innerText.includes("said"); }""",
        arg=before,
        timeout=60_000,
    )
    return json.loads(output.last.inner_text().split("said", 1)[1])


def test_rows_go_both_ways_in_jupyterlab(lab, start, tmp_path, capsys):
    context = start().new_context(viewport={"width": 1500, "height": 1500})
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{lab}lab/tree/rows.ipynb")
    page.wait_for_selector(".jp-CodeCell .cm-content")
    page.wait_for_selector("#jp-main-statusbar :text('| Idle')")  # the kernel is there
    run_cell(page, 0)
    page.wait_for_selector("iframe[sandbox]")
    inside = page.locator("iframe[sandbox]").element_handle().content_frame()
    inside.wait_for_selector(READY)
    # From the page to Python: a row that the pointer is at, and one that is found by its number.
    inside.evaluate(CLOCK)
    point_at(page, inside, 42)
    inside.wait_for_selector("#tip.on")
    page.mouse.down()
    page.mouse.up()
    wait_marked(inside, 1)
    page.screenshot(path=tmp_path / "lab.png")
    selection, _, heard = said(page)
    assert selection == [42]
    hovers = [each for each in heard if each[0] == "hovered" and each[1] == [42]]
    assert hovers
    moved = inside.evaluate("window.at.pointermove")
    inside.locator("#find").fill("17")
    inside.locator("#find").press("Enter")
    selection, _, heard = said(page)
    assert selection == [17]
    delays = {"hover": hovers[0][2] - moved, "selection": heard[-1][2] - inside.evaluate("window.at.keydown")}
    # From Python to the page.
    run_cell(page, 2)
    wait_marked(inside, 3)
    assert said(page)[0] == [5, 17, 123]
    context.close()
    with capsys.disabled():  # a busy machine is not the widget's fault: the delays are shown, not judged
        sys.stdout.write(
            "\nfrom the page to Python: " + ", ".join(f"{name} {1000 * delay:.0f} ms" for name, delay in delays.items())
        )


def test_an_exported_notebook_is_linked_without_a_kernel(start, tmp_path):
    path = tmp_path / "rows.ipynb"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    path.write_text(
        json.dumps({"cells": [cell(SHOWN)], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}),
        encoding="utf-8",
    )
    env = {**os.environ, "IPYTHONDIR": str(tmp_path / "ipython"), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", str(path)]
    command += ["--ExecutePreprocessor.store_widget_state=False"]  # as JupyterLab saves a notebook
    made = subprocess.run(command, env=env, capture_output=True, text=True, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    context = start().new_context(viewport={"width": 1200, "height": 1000}, offline=True)
    page = context.new_page()
    page.goto(path.with_suffix(".html").as_uri(), wait_until="commit")
    page.wait_for_selector("iframe[sandbox]")
    inside = page.locator("iframe[sandbox]").element_handle().content_frame()
    inside.wait_for_selector(READY)
    inside.locator("#find").fill("17")
    inside.locator("#find").press("Enter")
    assert inside.locator("#count").text_content().startswith("1 of 300")
    context.close()
