"""The documentation: `make docs` writes it to docs/_build/html. Nothing in its pages is fetched from a network."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

import lowdim  # noqa: E402 (after the path of the extensions)

project = "lowdim"
author = "The lowdim developers"
copyright = "the lowdim developers"
version = release = lowdim.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "picture",
    "plain_docstrings",
    "reference_links",
    "reference_pages",
    "reproduction",
]
exclude_patterns = ["_build", "_ext", "_pictures", "_templates", "**/.*"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [("py:obj", r".*_")]  # fitted attributes that are properties: they have no page
default_role = "literal"  # `name` in a docstring is code

# Text
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing"]  # links out of docs/ into the repository; tests/docs checks every one of them

# Reference
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings name the types, in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Appearance
html_theme = "pydata_sphinx_theme"
html_title = "lowdim"
html_static_path = ["_static"]
html_search_scorer = str(HERE / "_ext" / "scorer.js")  # a relative path would be that of the shell
html_css_files = ["lowdim.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "reading/index": []}  # pages of sections that have no others
