"""`python -m bench.quality_weights`: naive Bayes with weighted columns, between naive Bayes and logistic regression.

All four are ours; folds and measures are those of the quality tables. Progress goes to stderr.

Example:
    python -m bench.quality_weights --only wine,glass
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bench import report, tables
from bench.evaluate import evaluate
from bench.measures import Measures
from bench.tables import Table
from deciban import LogisticRegression, MixedNB, decision
from deciban.data.blocks import Table as RowTable
from deciban.engines.threads import one_blas_thread
from deciban.models import feature_weights as weighing
from deciban.models.feature_weights import with_strength
from deciban.models.learn_feature_weights import distinct_rows, held_out_pieces
from deciban.rows.sample import RowSample
from deciban.solvers.base import solve
from deciban.solvers.newton import Newton

PAGE = Path(__file__).parent / "WEIGHTS.md"
PLAIN, CALIBRATED, WEIGHTED, LOGISTIC = "naive Bayes", "calibrated", "weighted", "logistic"
TEMPERED, ONES, ZEROS = "naive Bayes, tempered", "weights 1", "weights 0"  # starts
NEAR = 1.03  # of the mean log loss of logistic regression, that of weighted columns must be below
INTRO = """\
# Weights for the columns of naive Bayes

`make quality` (or `python -m bench.quality_weights`) writes this page and `results/weights.csv`. Splits and measures
are those of [QUALITY.md](QUALITY.md); all models are deciban's:

- **naive Bayes**: `MixedNB()`.
- **calibrated**: `MixedNB(calibrate=True)`, a temperature and a bias for each class.
- **weighted**: `MixedNB(weights="discriminative")`, a weight for each column (and class, if there are three or more).
- **logistic**: `LogisticRegression()` with imputation, scaling and one-hot columns.

The best of each line is bold.
"""
PASSES = f"""\
Newton's method on the first fold's training rows, under the pulls that `fit` has found, to the same minimum. A pass is
one look at all rows: a value with its gradient, or a Hessian; in brackets the steps. Starts: **{TEMPERED}**, which is
what `fit` does: naive Bayes with its best temperature and biases (one pass for its scores is counted); **{ONES}**,
naive Bayes as it comes, often too sure for long steps; **{ZEROS}**, nothing but the priors.
"""


def logistic(numeric: Sequence[str], nominal: Sequence[str]) -> Any:
    onehot = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer(
        [
            ("numeric", make_pipeline(SimpleImputer(), StandardScaler()), list(numeric)),
            ("nominal", make_pipeline(SimpleImputer(strategy="most_frequent"), onehot), list(nominal)),
        ]
    )
    return make_pipeline(columns, LogisticRegression())


@dataclass(frozen=True)
class Entrant:
    NAME: str
    make: Callable[[Sequence[str], Sequence[str]], Any]


ENTRANTS = (
    Entrant(PLAIN, lambda numeric, nominal: MixedNB()),
    Entrant(CALIBRATED, lambda numeric, nominal: MixedNB(calibrate=True)),
    Entrant(WEIGHTED, lambda numeric, nominal: MixedNB(weights="discriminative")),
    Entrant(LOGISTIC, logistic),
)


@dataclass(frozen=True)
class Counted(weighing.Objective):
    """An objective that knows how often it was asked."""

    asked: list[str] = field(default_factory=list)

    def slope(self, theta):
        self.asked.append("slope")
        return super().slope(theta)

    def curve(self, theta):
        self.asked.append("curve")
        return super().curve(theta)


@dataclass(frozen=True)
class Walk:
    passes: int
    steps: int


def walks(table: Table) -> dict[str, Walk]:
    """Newton's method under the pulls that `fit` has found, from each start."""
    train = table.folds()[0][0]
    X, y = table.X.iloc[train], table.labels[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixedNB(weights="discriminative").fit(X, y)
        state = model._state
        found = state.reader.training(X, y, first=False)
        codes = np.searchsorted(state.classes, np.asarray(y)).astype(np.int32)
        rows = RowTable(found.x, codes, None, len(state.classes), state.reader.schema)
        every = RowSample.from_rows(rows, None).selected(state.n)
        pieces, prior = held_out_pieces(state, *distinct_rows(every)), decision.log_prior(model.class_count_)
    under = with_strength(weighing.problem(pieces, prior, len(model.feature_weights_)), model._state.weights.strengths)
    ones, zeros = np.zeros((2, under.layout.size))
    zeros[0] = -1.0  # what all weights have in common
    return {
        TEMPERED: _walk(under, weighing.fit_temperature(under), 1),  # one pass for naive Bayes' own scores
        ONES: _walk(under, ones, 0),
        ZEROS: _walk(under, zeros, 0),
    }


def _walk(under: weighing.Objective, start: np.ndarray, already: int) -> Walk:
    counted = Counted(under.pieces, under.prior, under.layout, under.ridge)
    with one_blas_thread():
        answer = solve(Newton(), counted, start, weighing.TOLERANCE, weighing.STEPS)
    return Walk(already + len(counted.asked), answer.n_iter)


@dataclass(frozen=True)
class Line:
    name: str
    measures: dict[str, Measures]
    walks: dict[str, Walk]

    def losses(self) -> list[float]:
        return [self.measures[e.NAME].log_loss for e in ENTRANTS]


def page(lines: Sequence[Line]) -> str:
    mean = np.mean([line.losses() for line in lines], axis=0)
    head = ("set", *(e.NAME for e in ENTRANTS), "weighted / logistic")
    losses = [(x.name, *_bold(x.losses()), f"{_ratio(x.losses()):.2f}") for x in lines]
    losses.append(("**mean**", *_bold(mean), f"{_ratio(mean):.3f}"))
    parts = [INTRO, report.machine(), "## Summary", verdict(lines), "## Log loss (less is better)"]
    parts += [report.markdown(head, losses), "## Accuracy (more is better)", accuracies(lines)]
    parts += ["## Passes over the rows", PASSES, passes(lines)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def passes(lines: Sequence[Line]) -> str:
    rows = [(x.name, *map(_format_walk, x.walks.values())) for x in lines]
    each = np.array([[(w.passes, w.steps) for w in x.walks.values()] for x in lines])
    rows.append(("**mean**", *(f"{p:.1f} ({s:.1f})" for p, s in each.mean(axis=0))))
    return report.markdown(("set", TEMPERED, ONES, ZEROS), rows)


def verdict(lines: Sequence[Line]) -> str:
    plain, _, weighted, logistic = np.mean([line.losses() for line in lines], axis=0)
    near, far = (np.mean([line.walks[start].passes for line in lines]) for start in (TEMPERED, ZEROS))
    rows = [
        ("mean log loss, weighted / naive Bayes", f"{weighted / plain:.3f}", "< 1", weighted < plain),
        ("mean log loss, weighted / logistic", f"{weighted / logistic:.3f}", f"≤ {NEAR}", weighted <= NEAR * logistic),
        (f"mean passes, from {TEMPERED} / from {ZEROS}", f"{near / far:.3f}", "< 1", near < far),
    ]
    for what, found, required, met in rows:
        if not met:
            _say(f"warning: {what}: {found}, required {required}")
    cells = ((what, found, required, "yes" if met else "no") for what, found, required, met in rows)
    return report.markdown(("what", "found", "required", "met"), cells)


def accuracies(lines: Sequence[Line]) -> str:
    rows = [[x.measures[e.NAME].accuracy for e in ENTRANTS] for x in lines]
    cells = [(x.name, *(f"{a:.2%}" for a in row)) for x, row in zip(lines, rows, strict=True)]
    cells.append(("**mean**", *(f"{a:.2%}" for a in np.mean(rows, axis=0))))
    return report.markdown(("set", *(e.NAME for e in ENTRANTS)), cells)


def _ratio(losses: Sequence[float]) -> float:
    return losses[2] / losses[3]


def _bold(losses: Sequence[float]) -> list[str]:
    shown = [f"{loss:.4f}" for loss in losses]
    return [f"**{text}**" if text == min(shown) else text for text in shown]


def _format_walk(walk: Walk) -> str:
    return f"{walk.passes} ({walk.steps})"


def _row(line: Line) -> dict[str, object]:
    names = {e.NAME: e.NAME.replace(" ", "_") for e in ENTRANTS}
    losses = {f"{column}_log_loss": line.measures[name].log_loss for name, column in names.items()}
    hits = {f"{column}_accuracy": line.measures[name].accuracy for name, column in names.items()}
    starts = zip(("tempered", "ones", "zeros"), line.walks.values(), strict=True)
    return {"set": line.name, **losses, **hits, **{f"passes_from_{start}": walk.passes for start, walk in starts}}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.quality_weights", description="Weighted columns, compared.")
    parser.add_argument("--only", metavar="NAME,…", default="", help="these sets; prints, writes no page")
    parser.add_argument("--data", metavar="FOLDER", type=Path, default=tables.SHARED, help="where manifest.json is")
    args = parser.parse_args(argv)
    lines = []
    for table in tables.load(tuple(args.only.split(",")) if args.only else tables.SETS, args.data):
        measures = {entrant.NAME: evaluate(entrant, table) for entrant in ENTRANTS}
        line = Line(table.name, measures, walks(table))
        losses = ", ".join(f"{e.NAME} {loss:.4f}" for e, loss in zip(ENTRANTS, line.losses(), strict=True))
        walked = ", ".join(f"{start} {_format_walk(walk)}" for start, walk in line.walks.items())
        _say(f"{table.name}: {losses}; passes: {walked}")
        lines.append(line)
    if not lines:
        _say(f"skipped: no tables in {args.data.name}")
    elif args.only:
        print(page(lines))
    else:
        report.write_csv(report.RESULTS / "weights.csv", [_row(line) for line in lines])
        PAGE.write_text(page(lines))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
