"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging
from sphinx.util.docutils import SphinxTranslator

LOGGER = logging.getLogger(__name__)


def drawn(node: nodes.Element, display: str) -> str:
    """The formula; a command that the converter does not know is left in its text, which is a warning."""
    text = convert(node.astext(), display=display)
    if "\\" in text:
        LOGGER.warning("a command of this formula is not known: %s", node.astext(), location=node)
    return text


def inline(self: SphinxTranslator, node: nodes.math) -> None:
    """A formula within a sentence."""
    self.body.append(f'<span class="math">{drawn(node, "inline")}</span>')
    raise nodes.SkipNode


def block(self: SphinxTranslator, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    self.body.append(f'<div class="math">{drawn(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer under the name that Sphinx looks for."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
