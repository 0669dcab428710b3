"""Formulas as MathML, which browsers draw without a script."""

import re

from latex2mathml.converter import convert

# a thin space between log, max and what they are of
OPERATOR = re.compile(r"(<mi>(?:log|exp|max|min|det|var)</mi>)(?=<mi>|<mn>|<mfrac|<msub|<msup|<mrow>|<mover)")
ALIGNED = r"\begin{{aligned}}{}\end{{aligned}}"


def mathml(text: str, display: str) -> str:
    return OPERATOR.sub(r'\1<mspace width="0.17em"/>', convert(text, display=display))


def visit_inline(writer, node) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def visit_block(writer, node) -> None:
    from docutils.nodes import SkipNode

    text = node.astext().strip()
    if r"\\" in text and r"\begin" not in text:
        text = ALIGNED.format(text)
    writer.body.append(f'<div class="formula">{mathml(text, "block")}</div>\n')
    raise SkipNode


def depart(writer, node) -> None:
    """Nothing is left open: the visit has written the element."""


def setup(app) -> dict:
    app.add_html_math_renderer("mathml", (visit_inline, depart), (visit_block, depart))
    return {"parallel_read_safe": True}
