"""Open the built site in Chromium without a network: no console error, nothing wider than the window, questions found.

Usage: python tools/look_at_site.py FOLDER [--pictures FOLDER] [--pages A,B] [--ask]

Every page is opened light and dark, at the widths of a laptop and of a phone. `--ask` opens none of them and types the
searches of tests/searches.json, and the questions of docs/start/questions.md, into the search page: the right page must
be among the first five results.
"""

import argparse
import json
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
LOOKS = [(theme, size) for theme in ("light", "dark") for size in ((1366, 768), (390, 844))]
WIDER = """() => [...document.querySelectorAll("article *")].filter(node => {
  if (node.closest("details:not([open])")) return false;
  for (let up = node; up; up = up.parentElement)
    if (up !== node && ["auto", "scroll", "hidden"].includes(getComputedStyle(up).overflowX)) return false;
  return node.getBoundingClientRect().right > window.innerWidth + 1;
}).slice(0, 3).map(node => node.tagName.toLowerCase() + "." + node.className)"""

SHOWN = """() => {
  const said = document.querySelector("#search-results p.search-summary")?.textContent ?? "";
  return said.match(/found|not match/);
}"""  # said when the last result is there


def opened(browser, theme, size, problems):
    """A page of that look; what goes wrong on it is added to `problems`."""
    context = browser.new_context(
        color_scheme=theme, viewport={"width": size[0], "height": size[1]}, offline=True, reduced_motion="reduce"
    )
    context.add_init_script(f'localStorage.setItem("mode", "{theme}"); localStorage.setItem("theme", "{theme}")')
    page = context.new_page()
    page.on("console", lambda said: problems.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("requestfailed", lambda request: problems.append(f"not loaded: {request.url}"))
    return page


def look(browser, folder, paths, pictures):
    """Problems of all pages, each with the look that has it."""
    for theme, size in LOOKS:
        problems = []
        page = opened(browser, theme, size, problems)
        for path in paths:
            page.goto(path.as_uri(), wait_until="load")
            wide = page.evaluate(WIDER)
            name = str(path.relative_to(folder))
            yield from (f"{name}, {theme}, {size[0]}: {text}" for text in problems)
            if wide:
                yield f"{name}, {theme}, {size[0]}: wider than the window: {', '.join(wide)}"
            problems.clear()
            if pictures:
                shown = name.replace("/", "-").removesuffix(".html")
                page.screenshot(path=pictures / f"{shown}-{theme}-{size[0]}.png")
        page.context.close()


def searches():
    """What readers type, with the page that answers it."""
    text = (ROOT / "docs" / "start" / "questions.md").read_text(encoding="utf-8")
    asked = [(question, "start/questions") for question in re.findall(r"^## (.*)$", text, flags=re.M)]
    return [*json.loads((ROOT / "tests" / "searches.json").read_text(encoding="utf-8")), *asked]


def ask(browser, folder):
    """Each search, the page wanted, and the first five results: title and address."""
    page = opened(browser, "light", (1366, 768), [])
    for words, wanted in searches():
        page.goto(f"{(folder / 'search.html').as_uri()}?q={quote(words)}")
        page.wait_for_function(SHOWN)
        links = page.locator("#search-results ul.search > li > a")
        shown = [(one.text_content(), one.evaluate("a => a.href")) for one in links.all()[:5]]
        yield words, wanted, [(title, address.split(f"{folder.name}/")[-1]) for title, address in shown]


def answered(wanted, shown):
    """Whether one of the results is on the page wanted."""
    return any(address.split("#")[0].removesuffix(".html") == wanted for _, address in shown)


def main():
    """Return 1 where a page has a problem, or a question no answer."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pictures", type=Path, default=None)
    parser.add_argument("--pages", default=None)
    parser.add_argument("--ask", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    names = arguments.pages.split(",") if arguments.pages else None
    paths = sorted(p for p in folder.rglob("*.html") if "_static" not in p.parts)
    paths = [p for p in paths if names is None or str(p.relative_to(folder)) in names]
    path = next(found for name in BROWSERS if (found := shutil.which(name)))
    wrong = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for line in () if arguments.ask else look(browser, folder, paths, arguments.pictures):
            print(line, flush=True)
            wrong += 1
        for words, wanted, shown in ask(browser, folder) if arguments.ask else ():
            if not answered(wanted, shown):
                found = "".join(f"\n    {title} ({address})" for title, address in shown)
                print(f"{words}: {wanted} is not among the first five results:{found or ' nothing found'}", flush=True)
                wrong += 1
        browser.close()
    done = f"{len(searches())} searches" if arguments.ask else f"{len(paths)} pages, {len(LOOKS)} looks each"
    print(f"{done}, {wrong} problems")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
