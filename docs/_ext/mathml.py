"""Formulas as MathML, which browsers draw by themselves: pages need no network, and no script."""

from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert

MATHML = "http://www.w3.org/1998/Math/MathML"
UNDER = {"max", "min", "lex max", "lex\u00a0max"}
"""Operators that have their variables below them in a formula of its own."""


def drawn(source: str, display: str) -> str:
    """Return a formula as MathML, with its source for who cannot see it."""
    tree = ElementTree.fromstring(convert(source.replace("\n", " "), display=display))
    tree.set("alttext", source)
    if display == "block":
        for element in tree.iter(f"{{{MATHML}}}msub"):
            if element[0].text in UNDER:
                element.tag = f"{{{MATHML}}}munder"
    ElementTree.register_namespace("", MATHML)
    return ElementTree.tostring(tree, encoding="unicode")


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    self.body.append(drawn(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own, to be moved sideways where the page is narrow."""
    style = "overflow: auto hidden; padding: 0.8em 0"
    self.body.append(f'<div class="math" style="{style}">{drawn(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Offer it to Sphinx as a renderer of formulas."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
