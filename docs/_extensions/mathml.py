"""Formulas as MathML, which browsers draw without a script."""

import re

from latex2mathml.converter import convert

# a thin space between log, log with a base, max and what they are of
OPERATOR = re.compile(
    r"((?<!<msub>)<mi>(?:log|exp|max|min|det|var)</mi>|<msub><mi>log</mi><mn>\d+</mn></msub>)"
    "(?=<mi>|<mn>|<mfrac|<msub|<msup|<mrow>|<mover)"
)
SIMILAR = ("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")  # `\\sim` as a relation, with space on either side
ALIGNED = r"\begin{{aligned}}{}\end{{aligned}}"
TOKEN = re.compile(r"\\(?:begin|end|left|right|q?quad)\b|\\.|[{}\n]")
DEPTHS = {"{": 1, r"\begin": 1, r"\left": 1, "}": -1, r"\end": -1, r"\right": -1}


def mathml(text: str, display: str) -> str:
    found = convert(text, display=display)
    if unknown := re.search(r">(\\[A-Za-z]+)", found):
        raise ValueError(f"latex2mathml does not know {unknown[1]} in {text}")
    return OPERATOR.sub(r'\1<mspace width="0.17em"/>', found.replace(*SIMILAR))


def in_pieces(text: str) -> list[str]:
    """A displayed formula cut where a narrow window may break it: at spaces `\\quad` and at line ends of the source.

    >>> in_pieces(r"a = \\frac{b}{c}, \\quad d")
    ['a = \\\\frac{b}{c},', '\\\\quad d']
    """
    depth, start, pieces = 0, 0, []
    for token in TOKEN.finditer(text):
        depth += DEPTHS.get(token[0], 0)
        if depth == 0 and token[0] in (r"\quad", r"\qquad", "\n"):
            pieces.append(text[start : token.start()])
            start = token.start()
    return [piece.strip() for piece in (*pieces, text[start:]) if piece.strip()]


def visit_inline(writer, node) -> None:
    from docutils.nodes import SkipNode

    writer.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def visit_block(writer, node) -> None:
    from docutils.nodes import SkipNode

    text = node.astext().strip()
    aligned = r"\\" in text and r"\begin" not in text
    pieces = [ALIGNED.format(text)] if aligned else in_pieces(text)
    # a relation or sign at the start of a piece has what it relates before it, in the piece before
    shown = (mathml(f"{{}}{piece}" if order else piece, "block") for order, piece in enumerate(pieces))
    writer.body.append(f'<div class="formula">{"".join(shown)}</div>\n')
    raise SkipNode


def depart(writer, node) -> None:
    """Nothing is left open: the visit has written the element."""


def setup(app) -> dict:
    app.add_html_math_renderer("mathml", (visit_inline, depart), (visit_block, depart))
    return {"parallel_read_safe": True}
