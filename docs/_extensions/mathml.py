"""Formulas as MathML, which browsers draw without a script."""

from latex2mathml.converter import convert

ALIGNED = r"\begin{{aligned}}{}\end{{aligned}}"


def visit_inline(writer, node) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(convert(node.astext(), display="inline"))
    raise SkipNode


def visit_block(writer, node) -> None:
    from docutils.nodes import SkipNode

    text = node.astext().strip()
    if r"\\" in text and r"\begin" not in text:
        text = ALIGNED.format(text)
    writer.body.append(f'<div class="formula">{convert(text, display="block")}</div>\n')
    raise SkipNode


def depart(writer, node) -> None:
    """Nothing is left open: the visit has written the element."""


def setup(app) -> dict:
    app.add_html_math_renderer("mathml", (visit_inline, depart), (visit_block, depart))
    return {"parallel_read_safe": True}
