"""`python -m bench.cores`: one core against all cores, and softmax regression against scikit-learn on all cores.

Both counts of threads are timed in turn, on the same data; the BLAS has as many threads as the library. The objective
of softmax regression is scikit-learn's, mean loss plus the penalty, computed in the same way for both results.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
from scipy.special import logsumexp
from sklearn import linear_model
from threadpoolctl import threadpool_limits

import deciban
from bench.data import SEED, Data, Normals

TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)  # of scikit-learn, until its objective is ours
SAME = 1e-6  # relative difference of objectives


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def with_threads(count: int, call: Callable[[], object]) -> float:
    with deciban.threads(count), threadpool_limits(count):
        return seconds(call)


def tasks(rows: int) -> list[tuple[str, Callable[[], object]]]:
    X, y = Normals(rows, 50, 10).make()
    fitted = {name: getattr(deciban, name)().fit(X, y) for name in ("MixedNB", "GaussianNB", LDA, QDA)}
    tree = X[: rows // 5, :20], y[: rows // 5]
    return [
        *((f"{name} fit", lambda name=name: getattr(deciban, name)().fit(X, y)) for name in fitted),
        *((f"{name} predict_proba", lambda model=model: model.predict_proba(X)) for name, model in fitted.items()),
        *((f"{name} leave_one_out", lambda model=model: model.leave_one_out(X, y)) for name, model in fitted.items()),
        (f"TreeAugmentedNB fit, {len(tree[0]):,} × 20", lambda: deciban.TreeAugmentedNB().fit(*tree)),
    ]


LDA, QDA = "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"


def separable(rows: int) -> Data:
    """Ten classes with means N(0, 1) in 50 columns: they hardly overlap."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(10, size=rows)
    return Data(rng.standard_normal((rows, 50)) + rng.standard_normal((10, 50))[y], y)


def objective(model, X: np.ndarray, y: np.ndarray) -> float:
    """C · Σ loss + ½ |coef|², of a model with C = 1."""
    scores = X @ model.coef_.T + model.intercept_
    return float((logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]).sum() + 0.5 * (model.coef_**2).sum())


def softmax(rows: int, rounds: int) -> None:
    X, y = separable(rows)
    ours = deciban.LogisticRegression().fit(X, y)
    mine = median(seconds(lambda: deciban.LogisticRegression().fit(X, y)) for _ in range(rounds))
    reached = objective(ours, X, y)
    for tol in TOLERANCES:
        theirs = linear_model.LogisticRegression(tol=tol, max_iter=10_000)
        taken = seconds(lambda theirs=theirs: theirs.fit(X, y))
        apart = objective(theirs, X, y) / reached - 1
        print(
            f"| softmax {rows:,} × 50, scikit-learn tol={tol:g} | {taken:.3f} s | {mine:.3f} s "
            f"| {taken / mine:.2f} | {apart:.1e} |"
        )
        if apart <= SAME:
            break


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.cores", description="One core against all cores.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    cores = os.cpu_count() or 1
    print(f"| task, {args.rows:,} × 50, 10 classes | 1 core | {cores} cores | ratio |\n|---|--:|--:|--:|", flush=True)
    for name, call in tasks(args.rows):
        call()
        times = [(with_threads(1, call), with_threads(cores, call)) for _ in range(args.rounds)]
        one, every = (median(column) for column in zip(*times, strict=True))
        print(f"| {name} | {one:.3f} s | {every:.3f} s | {one / every:.2f} |", flush=True)
    print("\n| task | scikit-learn | deciban | ratio | objective, relative difference |\n|---|--:|--:|--:|--:|")
    softmax(args.rows // 2, args.rounds)


if __name__ == "__main__":
    main()
