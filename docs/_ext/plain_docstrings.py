"""Docstrings are written to be read in a terminal; two of their signs are marks of reStructuredText."""

import re

# A fitted attribute in running text, such as mean_ or components_; names in bold or in backquotes are safe.
ATTRIBUTE = re.compile(r"(?<![`*\w\\])(\w*[a-zA-Z])_(?![\w`*])")


def _examples(lines):
    """Whether each line belongs to an example."""
    inside = False
    for line in lines:
        inside = line.lstrip().startswith(">>>") or (inside and bool(line.strip()))
        yield inside


def bars(app, what, name, obj, options, lines):
    """|x| is an absolute value: before numpydoc, which would take it for a substitution."""
    for i, example in enumerate(list(_examples(lines))):
        if not example and "``" not in lines[i]:
            lines[i] = lines[i].replace("|", r"\|")


def attributes(app, what, name, obj, options, lines):
    """The underscore at the end of mean_ is a part of the name: after numpydoc, which reads the names."""
    for i, example in enumerate(list(_examples(lines))):
        if not example and not lines[i].lstrip().startswith(".."):
            lines[i] = ATTRIBUTE.sub(r"\1\_", lines[i])


def setup(app):
    """Before and after numpydoc, whose priority is 500."""
    app.connect("autodoc-process-docstring", bars, priority=400)
    app.connect("autodoc-process-docstring", attributes, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
