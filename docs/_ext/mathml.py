"""Formulas as MathML, which browsers draw by themselves: pages need no network, and no script."""

from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def drawn(source: str, display: str) -> str:
    """Return a formula as MathML, its source kept for who copies it."""
    made = convert(source.replace("\n", " "), display=display)
    return made.replace("<math ", f'<math alttext="{escape(source, quote=True)}" ', 1)


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    self.body.append(drawn(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    self.body.append(f'<div class="math" style="overflow-x: auto">{drawn(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Offer it to Sphinx as a renderer of formulas."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
