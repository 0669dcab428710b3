"""`python -m bench.logistic`: fits of logistic regression, raced at the same objective.

A fast fit that stops early wins nothing, so every rival's tolerance is such that it comes near to the minimum, and its
gap (how far over the least value known, as a share of that) stands beside its time. Ours runs with its defaults.

Example:
    python -m bench.logistic --only "20,000 × 500" --repeats 3
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression as Sklearn

from bench.data import SEED, Data, Normals
from deciban import LogisticRegression
from deciban.solvers import minimise

LEAST_GAP = 1e-7


def correlated(rows: int, columns: int, classes: int) -> Data:
    """Real columns that overlap and are not centred, and labels that a softmax of them makes."""
    rng = np.random.default_rng(SEED)
    mix = rng.standard_normal((columns, columns)) * np.geomspace(1.0, 0.05, columns)[:, None]
    X = 3.0 * rng.standard_normal((rows, columns)) @ mix / np.sqrt(columns) + rng.standard_normal(columns)
    coef = 1.5 * rng.standard_normal((columns, classes)) / np.sqrt(columns)
    return Data(X, ((X - X.mean(axis=0)) @ coef + rng.gumbel(size=(rows, classes))).argmax(axis=1))


def words(rows: int, columns: int, each: int) -> Data:
    """Word counts with a few frequent words and many rare ones, two classes."""
    rng = np.random.default_rng(SEED)
    share = 1.0 / np.arange(1, columns + 1) ** 0.8
    ids = rng.choice(columns, size=(rows, each), p=share / share.sum())
    X = sp.csr_matrix((np.ones(ids.size), ids.ravel(), np.arange(0, ids.size + 1, each)), shape=(rows, columns))
    X.sum_duplicates()
    margin = X @ rng.standard_normal(columns) * 1.5 / np.sqrt(each)
    return Data(X, (margin + rng.logistic(size=rows) > 0).astype(np.int64))


@dataclass(frozen=True)
class Race:
    name: str
    make: Callable[[], Data]
    rivals: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)


SMOOTH = ("lbfgs, tol 1e-4", "lbfgs, tol 1e-5", "intelex")
RACES = (
    Race("binary, 500,000 × 50, clouds", lambda: Normals(500_000, 50, 2).make(), SMOOTH),
    Race("binary, 500,000 × 50, correlated", lambda: correlated(500_000, 50, 2), SMOOTH),
    Race("binary, 20,000 × 500, clouds", lambda: Normals(20_000, 500, 2).make(), SMOOTH),
    Race("10 classes, 1,000,000 × 50, clouds", lambda: Normals(1_000_000, 50, 10).make(), SMOOTH[:2]),
    Race(
        "binary, CSR 100,000 × 100,000, 90 a row", lambda: words(100_000, 100_000, 90), ("lbfgs, tol 1e-6", "liblinear")
    ),
    Race("L1, 20,000 × 500", lambda: correlated(20_000, 500, 2), ("liblinear", "saga"), {"l1_ratio": 1.0, "C": 0.1}),
)


def rival(name: str, settings: dict[str, Any]) -> Any:
    """An unfitted model; ImportError where its library is not there."""
    if name == "intelex":
        from sklearnex.linear_model import LogisticRegression as Intelex

        return Intelex(max_iter=2000, **settings)
    if name.startswith("lbfgs"):
        return Sklearn(tol=float(name.split()[-1]), max_iter=2000, **settings)
    return Sklearn(solver=name, max_iter=300, **settings)


def value_of(objective: Any, model: Any) -> float:
    w = np.column_stack([model.coef_, model.intercept_])
    lasso = float((np.abs(w) @ objective.lasso).sum())
    return objective.slope(np.ascontiguousarray(w, dtype=np.float64).ravel())[0] + lasso


def run(race: Race, repeats: int) -> Iterator[str]:
    X, y = race.make()
    ours = LogisticRegression(**race.settings)
    objective = ours.objective(X, y)
    best = minimise("auto", objective, np.zeros(objective.size), 1e-9, 1000).value
    times: dict[str, float] = {}
    gaps: dict[str, float] = {}
    for _ in range(repeats):
        for name in ("deciban", *race.rivals):
            try:
                model = ours if name == "deciban" else rival(name, race.settings)
            except ImportError:
                continue
            start = time.perf_counter()
            model.fit(X, y)
            times[name] = min(times.get(name, np.inf), time.perf_counter() - start)
            gaps[name] = (value_of(objective, model) - best) / best
    for name, seconds in times.items():
        short = "" if gaps[name] <= LEAST_GAP else " (not there)"
        ratio = seconds / times["deciban"]
        yield f"| {race.name} | {name} | {1e3 * seconds:.0f} ms | {ratio:.2f}× | {gaps[name]:.0e}{short} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.logistic", description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="SUBSTRING", default="", help="races that have this in their name")
    parser.add_argument("--repeats", metavar="N", type=int, default=3, help="timings of each library (default 3)")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| task | who | least time | over ours | gap |\n| --- | --- | --: | --: | --: |")
    for race in RACES:
        if args.only.lower() in race.name.lower():
            print(*run(race, args.repeats), sep="\n", flush=True)
            print(f"done: {race.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
