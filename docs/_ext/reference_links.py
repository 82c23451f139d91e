"""What the reference adds to docstrings: defaults beside the parameters, and links to the pages that explain a name.

Defaults are read from signatures, so that they cannot be wrong. Links lead from an estimator to its page, to the
methods of its family and to the table of all methods, from a function to the guides of its module, and from both to
the glossary.
"""

import inspect
import re
from pathlib import Path

import lowdim

DOCS = Path(__file__).resolve().parent.parent
GUIDES = {
    "datasets": ("/experiments/index", "/guides/incomplete"),
    "imputation": ("/guides/incomplete", "/guides/new-rows"),
    "kernels": ("/guides/kernels", "/choose/settings"),
    "plot": ("/reading/index", "/guides/page"),
    "quality": ("/guides/quality", "/reading/index"),
    "select": ("/choose/settings", "/guides/quality"),
    "study": ("/start/csv", "/guides/page"),
    "trust": ("/guides/verdicts", "/reading/index"),
    "persist": ("/guides/model-files",),
    "distances": ("/guides/dissimilarities", "/guides/mixed"),
}
EMPTY = inspect.Parameter.empty


def page_of(name):
    """The page of a method: the one that ends with a link to it."""
    for path in (DOCS / "methods").glob("*.md"):
        if f"{{py:class}}`lowdim.{name}` in the reference" in path.read_text(encoding="utf-8"):
            return f"/methods/{path.stem}"
    return None


PAGES = {name: page_of(name) for name in lowdim._ESTIMATORS}


def defaults(app, what, name, obj, options, lines):
    """`name : type` becomes `name : type, default value`: before numpydoc, which reads the sections."""
    try:
        parameters = inspect.signature(obj).parameters
    except (TypeError, ValueError):
        return
    inside = False
    for i, line in enumerate(lines):
        if re.fullmatch(r"-{3,}", line) and i:
            inside = lines[i - 1] == "Parameters"
        found = re.fullmatch(r"(\w+) : (.+)", line) if inside else None
        if found and "default" not in line:
            value = parameters[found[1]].default if found[1] in parameters else EMPTY
            if value is not EMPTY and not isinstance(value, type) and len(repr(value)) < 40:
                lines[i] = f"{line}, default {shown(value)}"


def shown(value):
    """A default as it is written in code."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def links(app, what, name, obj, options, lines):
    """A paragraph of links at the end."""
    if what not in ("class", "function") or not name.startswith("lowdim."):
        return
    found = _of_estimator(name) if name.count(".") == 1 and name.split(".")[1] in PAGES else _of_function(obj)
    if found:
        lines += ["", f".. seealso:: {', '.join([*found, ':doc:`/glossary`'])}.", ""]


def _of_estimator(name):
    short = name.split(".")[1]
    family = lowdim._ESTIMATORS[short].rsplit(".", 1)[0]
    beside = [
        other for other, home in lowdim._ESTIMATORS.items() if home.rsplit(".", 1)[0] == family and other != short
    ]
    own = [f":doc:`{PAGES[short]}`"] if PAGES[short] else []
    return [*own, *[f":py:class:`~lowdim.{other}`" for other in beside[:5]], ":doc:`/methods`"]


def _of_function(obj):
    parts = getattr(obj, "__module__", "").split(".")
    for part in parts[1:]:
        if part in GUIDES:
            return [f":doc:`{page}`" for page in GUIDES[part]]
    return []


def setup(app):
    """Defaults before numpydoc, whose priority is 500; links after it and after the marks of plain text."""
    app.connect("autodoc-process-docstring", defaults, priority=300)
    app.connect("autodoc-process-docstring", links, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
