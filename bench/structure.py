"""Columns that depend on each other: pair counts, averaged one-dependence, and a tree against pgmpy's.

Example:
    python -m bench.structure --quick
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from deciban import AODE, TreeAugmentedNB, ops, threads
from deciban.data.blocks import Codes

ROWS, COLUMNS, LEVELS, CLASSES = 1_000_000, 30, 8, 3
SHRINK = 20
FEW = 100  # rows that pgmpy predicts; ours predicts all of them


@dataclass(frozen=True)
class Rate:
    task: str
    what: str
    took_s: float
    rate: float
    required: float
    memory_mb: float  # of the counts, or of the parameters

    @property
    def missed(self) -> bool:
        return self.rate < self.required


def run(shrink: int, repeats: int) -> Iterator[Rate]:
    n = ROWS // shrink
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, n).astype(np.int32)
    x = ((rng.integers(0, LEVELS, (n, COLUMNS)) + y[:, None] * (rng.random((n, COLUMNS)) < 0.3)) % LEVELS).astype(
        np.int32
    )
    shape = f"{n:,} × {COLUMNS} of {LEVELS} levels, {CLASSES} classes"
    pairs = n * COLUMNS * (COLUMNS - 1) // 2
    with threads(1):
        took, tally = best(lambda: ops.pairs(Codes(x), y, None, CLASSES), repeats)
    yield Rate(f"pair counts, one core, {shape}", "cell pairs a second", took, pairs / took, 150e6, _mb(tally.pairs))
    frame = pd.DataFrame({f"x{j}": pd.Categorical.from_codes(x[:, j], range(LEVELS)) for j in range(COLUMNS)})
    took, model = best(lambda: AODE().fit(frame, y), 1)
    memory = _mb(model._fitted_state().params.params.parents.table)
    yield Rate(f"AODE fit, {shape}", "rows a second", took, n / took, 0.0, _mb(tally.pairs))
    took, _ = best(lambda: model.predict_proba(frame), repeats)
    yield Rate(f"AODE predict_proba, {shape}", "rows a second", took, n / took, 200e3, memory)
    took, tree = best(lambda: TreeAugmentedNB().fit(frame, y), 1)
    yield Rate(f"TreeAugmentedNB fit, {shape}", "rows a second", took, n / took, 0.0, _mb(tally.pairs))
    took, _ = best(lambda: tree.predict_proba(frame), repeats)
    yield Rate(f"TreeAugmentedNB predict_proba, {shape}", "rows a second", took, n / took, 0.0, _mb(tally.pairs))


def _mb(a: np.ndarray) -> float:
    return a.nbytes / 2**20


def best(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """(the least time of some calls, what the last one gave)."""
    times, out = [], None
    for _ in range(max(repeats, 1)):
        start = time.perf_counter()
        out = call()
        times.append(time.perf_counter() - start)
    return min(times), out


@dataclass(frozen=True)
class Race:
    task: str
    ours_s: float
    baseline_s: float
    rows: int  # that the baseline predicted
    largest_difference: float

    @property
    def ratio(self) -> float:
        return self.baseline_s / self.ours_s


def race(repeats: int, few: int = FEW) -> Race | None:
    """Mushroom, fit and predict; None where pgmpy or the table is not there. pgmpy answers row by row and is asked for
    some rows only, ours for all: the ratio is a lower bound."""
    from bench import tables

    try:
        from bench.peers_pgmpy import Tan
    except ImportError as error:
        print(f"skipped pgmpy: {error}")
        return None
    if not (tables.SHARED / "mushroom").exists():
        print("skipped pgmpy: the mushroom table is not there")
        return None
    (table,) = tables.load(("mushroom",))
    X, y = table.X.astype(object).where(table.X.notna(), "?"), table.classes[table.y]

    def ours() -> tuple[TreeAugmentedNB, np.ndarray]:
        model = TreeAugmentedNB(backoff=0).fit(X, y)
        return model, model.predict_proba(X)

    ours()
    took, (model, proba) = best(ours, repeats)
    root = next(name for name, parent in model.parents_.items() if parent is None)
    start = time.perf_counter()
    theirs = Tan(root).fit(X, y).predict_proba(X[:few])
    baseline = time.perf_counter() - start
    return Race("TAN fit + predict, mushroom", took, baseline, few, float(np.abs(theirs - proba[:few]).max()))


def rates_table(rates: list[Rate]) -> str:
    from bench import report

    head = ("task", "measure", "time", "rate", "required", "memory")
    cells = (
        (
            r.task,
            r.what,
            report.seconds(r.took_s),
            f"{r.rate:,.0f}{' (missed)' if r.missed else ''}",
            f"{r.required:,.0f}" if r.required else "",
            f"{r.memory_mb:.1f} MB",
        )
        for r in rates
    )
    return report.markdown(head, cells, left=2)


def race_table(result: Race | None) -> str:
    from bench import report

    if result is None:
        return ""
    head = ("task", "baseline", "baseline's time", "deciban", "ratio", "required", "largest difference")
    who = f"pgmpy, {result.rows} rows predicted"
    cells = (
        result.task,
        who,
        report.seconds(result.baseline_s),
        report.seconds(result.ours_s),
        f"≥ {report.times(result.ratio)}",
        "100×",
        f"{result.largest_difference:.0e}",
    )
    return "\n\n" + report.markdown(head, [cells], left=2)


def main() -> None:
    from bench import report

    parser = argparse.ArgumentParser(prog="python -m bench.structure", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", metavar="N", type=int, default=3, help="timings of each (default 3)")
    parser.add_argument("--quick", action="store_true", help="1/20 of the rows; writes nothing")
    args = parser.parse_args()
    rates = list(run(SHRINK if args.quick else 1, args.repeats))
    result = race(args.repeats)
    text = rates_table(rates) + race_table(result)
    print(text)
    if not args.quick:
        report.write_csv(report.RESULTS / "structure.csv", [asdict(rate) for rate in rates])
        report.between(report.HERE / "README.md", "structure", text)


if __name__ == "__main__":
    main()
