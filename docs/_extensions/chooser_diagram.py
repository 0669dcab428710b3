"""The directive `chooser-diagram`: from the kind of data to a class, as inline SVG in the colours of the theme."""

from html import escape

from docutils import nodes
from docutils.parsers.rst import Directive

WIDTH, LEFT, MIDDLE = 980, 250, 330
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
                "curved boundaries, correlated columns",
                ["QuadraticDiscriminantAnalysis", "RegularizedDiscriminantAnalysis"],
            ),
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
            spans = '<tspan dx="0">, </tspan>'.join(
                f'<a href="reference/generated/deciban.{name}.html"><tspan class="link">{name}</tspan></a>'
                for name in classes
            )
            small = f'<tspan class="note" dx="8">{escape(note[0])}</tspan>' if note else ""
            out.append(f'<text x="{LEFT + MIDDLE}" y="{at + 5}">{spans}{small}</text>')
        y += height + pad
        out.append(f'<path class="rule" d="M4,{y - pad / 2} H{WIDTH}"/>')
    out.pop()
    title = "From the kind of data, by what is needed, to a class"
    return (
        f'<div class="chooser-frame"><svg class="chooser" viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{title}">'
        + "".join(out)
        + "</svg></div>"
    )


class ChooserDiagram(Directive):
    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", draw(), format="html")]


def setup(app) -> dict:
    app.add_directive("chooser-diagram", ChooserDiagram)
    return {"parallel_read_safe": True}
