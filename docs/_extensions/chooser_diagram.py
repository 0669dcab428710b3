"""The directive `chooser-diagram`: from the kind of data to a class, as inline SVG in the colours of the theme."""

from html import escape

from docutils import nodes
from docutils.parsers.rst import Directive

WIDTH, LEFT, MIDDLE, LETTERS = 990, 256, 350, 46
LINK = '<a href="reference/generated/deciban.{name}.html"><tspan class="link">{name}</tspan></a>'
ROWS = [  # data, then need → classes
    (
        "A table: numbers, categories,\nmissing cells",
        [
            ("the lowest log loss, time to search", ["AutoClassifier"]),
            ("probabilities to act on, updates", ["MixedNB"], "calibrate=True"),
            ("columns that act together", ["TreeAugmentedNB", "KDependenceBayes", "AODE"], 'or interactions="auto"'),
            ("odds ratios, p values", ["LogisticRegression"], "summary()"),
        ],
    ),
    (
        "Numbers only",
        [
            ("millions of rows, speed first", ["GaussianNB", "LinearDiscriminantAnalysis"]),
            (
                "curved boundaries, correlations",
                ["QuadraticDiscriminantAnalysis", "RegularizedDiscriminantAnalysis"],
            ),
            ("smooth functions of many numbers", ["KernelLogisticRegression"]),
        ],
    ),
    (
        "Texts",
        [
            ("probabilities, updates, short answers", ["TextClassifier"]),
            ("the last percent of accuracy", ["TextClassifier"], 'model="nb-logistic"'),
        ],
    ),
    (
        "Counts, bits, levels",
        [
            ("counts", ["PoissonNB", "MultinomialNB", "ComplementNB"]),
            ("bits or levels", ["BernoulliNB", "CategoricalNB"]),
        ],
    ),
    ("A graph that you know", [("queries of any node", ["BayesNet"])]),
]


def in_lines(classes: list[str], note: list[str]) -> list[str]:
    """Links to classes with a note behind them, in lines that fit."""
    pieces = [(len(name) + 2, LINK.format(name=name)) for name in classes]
    lines, room = [[]], LETTERS
    for length, piece in pieces:
        if length > room and lines[-1]:
            lines, room = [*lines, []], LETTERS
        lines[-1].append(piece)
        room -= length
    texts = ["<tspan>, </tspan>".join(line) for line in lines]
    if note:
        small = f'<tspan class="note" dx="8">{escape(note[0])}</tspan>'
        texts = [*texts[:-1], texts[-1] + small] if room > len(note[0]) else [*texts, small.replace(' dx="8"', "")]
    return texts


def draw() -> str:
    """The diagram."""
    step, pad = 46, 14
    y, out = pad, []
    for data, needs in ROWS:
        top, height = y, step * len(needs)
        middle = top + height / 2
        lines = data.split("\n")
        box = 24 + 20 * len(lines)
        out.append(f'<rect class="question" x="4" y="{middle - box / 2}" width="{LEFT - 20}" height="{box}" rx="6"/>')
        for order, line in enumerate(lines):
            where = middle + 5 + 20 * (order - (len(lines) - 1) / 2)
            out.append(f'<text x="16" y="{where}">{escape(line)}</text>')
        for order, (need, classes, *note) in enumerate(needs):
            at = top + step * (order + 0.5)
            out.append(f'<path d="M{LEFT - 16},{middle} C{LEFT + 20},{middle} {LEFT + 5},{at} {LEFT + 40},{at}"/>')
            out.append(f'<text x="{LEFT + 46}" y="{at + 5}">{escape(need)}</text>')
            lines = in_lines(classes, note)
            for place, line in enumerate(lines):
                where = at + 5 + 19 * (place - (len(lines) - 1) / 2)
                out.append(f'<text x="{LEFT + MIDDLE}" y="{where}">{line}</text>')
        y += height + pad
        out.append(f'<path class="rule" d="M4,{y - pad / 2} H{WIDTH}"/>')
    out.pop()
    title = "From the kind of data, by what is needed, to a class"
    return (
        f'<div class="chooser-frame"><svg class="chooser" viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{title}">'
        + "\n".join(out)
        + "</svg></div>"
    )


def as_list() -> str:
    """The same for narrow windows."""
    out = []
    for data, needs in ROWS:
        out.append(f"<dt>{escape(data)}</dt>")
        for need, classes, *note in needs:
            links = ", ".join(f'<a href="reference/generated/deciban.{name}.html">{name}</a>' for name in classes)
            small = f" <small>{escape(note[0])}</small>" if note else ""
            out.append(f"<dd>{escape(need)}: {links}{small}</dd>")
    return '<dl class="chooser-list">' + "\n".join(out) + "</dl>"


class ChooserDiagram(Directive):
    def run(self) -> list[nodes.Node]:
        self.state.document.settings.env.note_dependency(__file__)
        return [nodes.raw("", draw() + as_list(), format="html")]


def setup(app) -> dict:
    app.add_directive("chooser-diagram", ChooserDiagram)
    return {"parallel_read_safe": True}
