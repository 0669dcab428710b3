"""`python -m bench.coverage`: how often the intervals of evidence contain the truth.

Per table, the fit on all rows is the truth. Samples of 500 rows are drawn with replacement, a model with the same
choices (families, levels, smoothing) is fitted to each, and 60 rows are explained by both for the same pair of classes.
Cells that are missing are not counted: their evidence is exactly 0. Progress goes to stderr.

Example:
    python -m bench.coverage --only pima,wine --samples 50
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench import tables
from deciban import (
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    QuadraticDiscriminantAnalysis,
    TreeAugmentedNB,
)
from deciban.models.model import tally_of
from deciban.rows.sample import RowSample

PAGE = Path(__file__).parent / "COVERAGE.md"
ROWS, ASKED, SAMPLES, LEVEL = 500, 60, 200, 0.9
TABLES = (
    *("adult", "mushroom", "house_votes_84", "heart_cleveland", "titanic"),
    *("pima", "saheart", "vehicle", "spambase", "letter"),
)
TRUE = ("true normals", "true levels")
KINDS = ("robust", "model")


@dataclass(frozen=True)
class Found:
    """Shares of intervals that contain the truth."""

    table: str
    levels: dict[str, float]  # by pseudo-counts; NaN: the table has no such columns
    numbers: dict[str, float]  # by kind of error
    total: dict[str, float]
    slower: dict[str, float]  # time of an explanation with errors over that without


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description="Coverage of intervals of evidence.")
    parser.add_argument("--only", metavar="NAME,…", default="", help="these tables; prints, writes no page")
    parser.add_argument("--samples", metavar="N", type=int, default=SAMPLES, help="samples of each table")
    parser.add_argument("--data", metavar="FOLDER", type=Path, default=tables.SHARED, help="where manifest.json is")
    args = parser.parse_args(argv)
    names = tuple(args.only.split(",")) if args.only else (*TRUE, *TABLES)
    warnings.simplefilter("ignore")
    found = []
    for name, X, y, nominal in rows_of(names, args.data):
        found.append(measured(name, X, y, nominal, args.samples, "auto"))
        if nominal:
            fixed = measured(name, X, y, nominal, args.samples, 1.0)
            found[-1] = replace(found[-1], levels={"auto": found[-1].levels["auto"], "fixed": fixed.levels["auto"]})
        print(found[-1], file=sys.stderr)
    others = [] if args.only else list(of_others(args.samples, args.data))
    text = page(found, others, args.samples)
    if args.only:
        print(text)
    else:
        PAGE.write_text(text)


def rows_of(names: Sequence[str], data: Path) -> Iterator[tuple[str, pd.DataFrame, np.ndarray, list[str]]]:
    """(name, rows, labels, names of the nominal columns)"""
    rng = np.random.default_rng(0)
    n = 20_000
    if "true normals" in names:
        y = rng.integers(0, 2, n)
        cells = rng.normal(size=(n, 8)) * np.linspace(0.5, 2.0, 8) ** y[:, None] + 0.6 * y[:, None]
        yield "true normals", pd.DataFrame(cells).add_prefix("x"), y, []
    if "true levels" in names:
        y = rng.integers(0, 2, n)
        share = rng.dirichlet(np.ones(6), size=(2, 8))
        cells = np.array([[rng.choice(6, p=share[c, j]) for j in range(8)] for c in y[:2000]]).astype(str)
        yield "true levels", pd.DataFrame(cells).add_prefix("x"), y[:2000], [f"x{j}" for j in range(8)]
    for table in tables.load(tuple(names), data):
        yield table.name, table.X, table.labels, list(table.nominal)


def refitted(truth: Any, X: Any, y: Any, some: np.ndarray) -> Any:
    """The model of some of the rows, with the choices of a model of all."""
    state = truth._fitted_state()
    table, _ = truth._table_of(truth._fitted_state(), X, y, None)
    family = state.family.fixed(state.params)
    model = truth._copy()
    return model._adopt(state.with_tally(tally_of(family, table.take(some))))


def measured(name: str, X: pd.DataFrame, y: np.ndarray, nominal: list[str], samples: int, alpha: float | str) -> Found:
    rng = np.random.default_rng(1)
    truth = MixedNB(families="gaussian", alpha=alpha).fit(X, y)
    asked = X.iloc[rng.choice(len(X), ASKED, replace=False)]
    why = truth.explain(asked)
    of, against = truth.classes_[why.chosen], truth.classes_[why.rival]
    there = ~asked.isna().to_numpy()
    is_level = np.array([column in nominal for column in X.columns])
    hits = {kind: [[], [], []] for kind in KINDS}
    for _ in range(samples):
        some = rng.integers(0, len(X), ROWS)
        model = refitted(truth, X, y, some)
        for kind in KINDS:
            training = (X.iloc[some], y[some]) if kind == "robust" else None
            mine = model.explain(asked, of=of, against=against, error=kind, level=LEVEL, training=training)
            low, high = np.moveaxis(mine.interval, 2, 0)
            inside = (low <= why.decibans) & (why.decibans <= high)
            hits[kind][0].append(inside[:, is_level][there[:, is_level]])
            hits[kind][1].append(inside[:, ~is_level][there[:, ~is_level]])
            ends = mine.total_interval
            hits[kind][2].append((ends[:, 0] <= why.total) & (why.total <= ends[:, 1]))
    rates = [{kind: share(hits[kind][i]) for kind in KINDS} for i in range(3)]
    some = X.iloc[: min(len(X), 5000)]
    slower = {kind: slowdown(truth, some, kind, (X, y) if kind == "robust" else None) for kind in KINDS}
    return Found(name, {"auto": rates[0]["robust"], "fixed": float("nan")}, *rates[1:], slower)


def share(found: list[np.ndarray]) -> float:
    whole = np.concatenate(found) if found else np.zeros(0)
    return float(whole.mean()) if len(whole) else float("nan")


def slowdown(model: Any, X: Any, kind: str, training: Any) -> float:
    """Time of an explanation with errors over that without; sums over training rows are made before."""
    state = model._fitted_state()
    if training is not None:  # as if the model kept them
        table, _ = model._table_of(state, *training, None)
        sample = RowSample.from_rows(table, names=state.reader.digested_names)
        model = model._copy()._adopt(state.adjusted(sample=sample))
    why = model.explain(X[:50], error="auto" if kind == "robust" else kind)
    _ = why.error, why.total_error

    def with_errors() -> None:
        why = model.explain(X, error="auto" if kind == "robust" else kind)
        _ = why.decibans, why.total, why.error, why.total_error

    def without() -> None:
        why = model.explain(X)
        _ = why.decibans, why.total

    return float(np.median([timed(with_errors) / timed(without) for _ in range(5)]))


def timed(call: Callable[[], None]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def of_others(samples: int, data: Path) -> Iterator[tuple[str, str, float]]:
    """(model, table, coverage of the total) of other models."""
    for name, X, y, nominal in rows_of(("pima", "vehicle", "house_votes_84"), data):
        X = X.fillna("?") if nominal else X
        models = [TreeAugmentedNB()] if nominal else [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()]
        for model in [*models, LogisticRegression()]:
            found = (type(model).__name__, name, total_coverage(model, X, y, samples // 4))
            print(found, file=sys.stderr)
            yield found


def total_coverage(model: Any, X: pd.DataFrame, y: np.ndarray, samples: int) -> float:
    rng = np.random.default_rng(2)
    own = isinstance(model, LogisticRegression)
    truth = type(model)(**model.get_params()).fit(X, y)
    asked = X.iloc[rng.choice(len(X), ASKED, replace=False)]
    why = truth.explain(asked)
    of, against = truth.classes_[why.chosen], truth.classes_[why.rival]
    inside = []
    for _ in range(samples):
        some = rng.integers(0, len(X), min(ROWS, len(X)))
        fitted = type(model)(**model.get_params()).fit(X.iloc[some], y[some]) if own else refitted(truth, X, y, some)
        more = {} if own else {"training": (X.iloc[some], y[some])}
        ends = fitted.explain(asked, of=of, against=against, error="auto", level=LEVEL, **more).total_interval
        inside.append((ends[:, 0] <= why.total) & (why.total <= ends[:, 1]))
    return share(inside)


def page(found: list[Found], others: list[tuple[str, str, float]], samples: int) -> str:
    def cell(value: float) -> str:
        return "" if np.isnan(value) else f"{100 * value:.0f}"

    head = ["table", "levels", "levels, alpha=1"]
    head += [f"{part}: {kind}" for part in ("numbers", "total", "time") for kind in KINDS]
    lines = [f"| {' | '.join(head)} |", f"|---|{'--:|' * (len(head) - 1)}"]
    for one in found:
        levels = one.levels["auto"], one.levels["fixed"]
        cells = [*levels, *(of[kind] for of in (one.numbers, one.total) for kind in KINDS)]
        times = [f"{one.slower[kind]:.1f} ×" for kind in KINDS]
        lines.append(f"| {' | '.join([one.table, *map(cell, cells), *times])} |")
    real = [one for one in found if one.table not in TRUE]
    if real:
        means = [
            *([one.levels[alpha] for one in real] for alpha in ("auto", "fixed")),
            *([getattr(one, part)[kind] for one in real] for part in ("numbers", "total") for kind in KINDS),
        ]
        lines.append(f"| mean of the tables | {' | '.join(cell(float(np.nanmean(each))) for each in means)} | | |")
    more = [f"| {model} | {table} | {cell(rate)} |" for model, table, rate in others]
    if more:
        more = ["", "Totals of other models:", "", "| model | table | total |", "|---|---|--:|", *more]
    return "\n".join(
        [
            "# Coverage of intervals of evidence",
            "",
            f"`python -m bench.coverage`: shares, in per cent, of 90 % intervals that contain the truth; {samples} "
            f"samples of {ROWS} rows.",
            "Numbers are normal columns, most of which no normal distribution fits. Pseudo-counts of levels are chosen "
            "from each sample (the default of MixedNB), or 1: a constant that pulls rare levels of many away from the "
            "truth by more than the interval. Time is that of `explain` of up to 5,000 rows with errors over that "
            "without.",
            "",
            *lines,
            *more,
            "",
        ]
    )


if __name__ == "__main__":
    main()
