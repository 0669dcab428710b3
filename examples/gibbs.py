"""A hypothesis drawn by its posterior probability is wrong at most twice as often as the Bayes-optimal average of all.

    python examples/gibbs.py [PICTURE.svg]

Needs nothing but the package (matplotlib for the picture); takes less than a minute.

On average over concepts drawn from the prior, E[Gibbs] ≤ 2 · E[Bayes-optimal] (Haussler, Kearns and Schapire 1994):
where the average goes with a share p ≥ ½ of the posterior it errs with probability 1 − p, and a drawn hypothesis errs
with p(1 − p) + (1 − p)p ≤ 2(1 − p). Here the concepts are half-planes: a line through the square, one side of which is
"+". A concept is drawn, rows are drawn and labelled by it, and the posterior is uniform over the concepts that agree
with all of them. The most probable hypothesis is any of those: as an answer it is a Gibbs classifier with bad luck.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from deciban import BayesOptimal, Gibbs

CONCEPTS, DRAWS, ROWS = 200, 40, (1, 2, 4, 8, 16, 32)


def half_plane(angle: float, offset: float) -> Callable[[np.ndarray], np.ndarray]:
    """+ where a row is on the positive side of a line."""
    return lambda X: np.where(X @ [np.cos(angle), np.sin(angle)] > offset, "+", "-")


def errors(rng: np.random.Generator, concepts: list[Callable], rows: int, tests: int = 200) -> list[float]:
    """[errors of the average, errors of a drawn hypothesis] about one concept, after so many rows."""
    truth = concepts[rng.integers(len(concepts))]
    X, new = rng.uniform(-1, 1, (rows, 2)), rng.uniform(-1, 1, (tests, 2))
    models = BayesOptimal(concepts), Gibbs(concepts, random_state=int(rng.integers(2**31)))
    return [float(np.mean(model.fit(X, truth(X)).predict(new) != truth(new))) for model in models]


def curves(draws: int = DRAWS, seed: int = 0, rows: tuple[int, ...] = ROWS, count: int = CONCEPTS) -> np.ndarray:
    """Mean errors (len(rows), 2) over drawn concepts: of the average, and of Gibbs."""
    rng = np.random.default_rng(seed)
    concepts = [half_plane(rng.uniform(0, 2 * np.pi), rng.uniform(-0.8, 0.8)) for _ in range(count)]
    return np.array([np.mean([errors(rng, concepts, n) for _ in range(draws)], axis=0) for n in rows])


def picture(found: np.ndarray, path: str, rows: tuple[int, ...] = ROWS) -> None:
    from matplotlib.figure import Figure

    from deciban.display import GREY, NEGATIVE, POSITIVE
    from deciban.plots import style

    figure = Figure(figsize=(5.4, 3.6), layout="constrained")
    ax = figure.subplots()
    at = np.arange(len(rows))
    ax.fill_between(at, found[:, 0], 2 * found[:, 0], color=GREY, alpha=0.15, lw=0)
    ax.plot(at, 2 * found[:, 0], color=GREY, ls="--", label="twice the Bayes-optimal")
    ax.plot(at, found[:, 1], color=NEGATIVE, marker="s", label="Gibbs: one hypothesis drawn")
    ax.plot(at, found[:, 0], color=POSITIVE, marker="o", label="Bayes-optimal: the average")
    ax.set_xticks(at, [str(n) for n in rows])
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize=8.5)
    style.style_axes(ax, "y")
    style.set_labels(ax, "Errors about half-planes drawn from the prior", "rows seen", "mean error")
    figure.savefig(path)


def main(arguments: list[str]) -> None:
    found = curves()
    print("rows  Bayes-optimal   Gibbs  ratio")
    for n, (average, drawn) in zip(ROWS, found, strict=True):
        print(f"{n:4d}  {average:13.4f}  {drawn:6.4f}  {drawn / average:5.2f}")
    if arguments:
        picture(found, arguments[0])


if __name__ == "__main__":
    main(sys.argv[1:])
