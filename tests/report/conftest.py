"""Fixtures of the tests of the page: Chromium, a comparison, and its page, watched for anything that goes wrong."""

import shutil

import numpy as np
import pytest

import lowdim
from lowdim.report.render import render
from tests.report.browser import ARGS, MARKUP, READY, missing


@pytest.fixture(scope="session")
def start():
    """Launches Chromium, once for each set of further arguments."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no playwright")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        missing("no Chromium")
    with sync_playwright() as playwright:
        started = {}

        def launch(*more):
            if more not in started:
                started[more] = playwright.chromium.launch(executable_path=path, args=[*ARGS, *more])
            return started[more]

        yield launch
        for browser in started.values():
            browser.close()


@pytest.fixture(scope="session")
def roll():
    return lowdim.datasets.swiss_roll(300, random_state=0)


@pytest.fixture(scope="session")
def c(roll):
    classes = np.where(roll.labels == 0, MARKUP, "plain")
    names = [f"<i>{i}</i>" for i in range(300)]
    return lowdim.compare(roll.X, classes, ["pca", "isomap"], random_state=0, label_name=MARKUP, row_names=names)


@pytest.fixture(scope="session")
def path(c, roll, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(c, title=MARKUP, data=roll.X, columns=["width", MARKUP, "depth"]), encoding="utf-8")
    return path


@pytest.fixture
def show(start, path):
    """Opens a page and watches it; at the end nothing may have gone wrong or out."""
    contexts, wrong = [], []

    def show(file=path, more=(), painter="webgl", script=None, **settings):
        settings = {"viewport": {"width": 1280, "height": 900}, **settings}
        context = start(*more).new_context(**settings)
        contexts.append(context)
        context.set_default_timeout(150_000)  # a busy machine is not the page's fault
        page = context.new_page()
        if script:
            page.add_init_script(script)
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(f"{error}\n{error.stack}"))
        page.on("dialog", lambda dialog: wrong.append("a dialog opened"))
        own = (file.as_uri(), "blob:null")  # the page, and what it saves
        page.on("request", lambda r: None if r.url.startswith(own) else wrong.append(r.url))
        page.goto(f"{file.as_uri()}#painter={painter}")
        page.wait_for_selector(READY)
        page.evaluate("document.querySelector('.controls')?.scrollIntoView()")  # below the verdict
        return page

    yield show
    for context in contexts:
        context.close()
    assert wrong == []
