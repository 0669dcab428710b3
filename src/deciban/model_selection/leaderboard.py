"""Classifiers ranked by held-out rows: log loss with its standard error, differences to the best, other scores.

>>> losses = np.array([[0.1, 0.2, 0.1, 0.4], [0.3, 0.2, 0.3, 0.4]])
>>> board = Leaderboard.of([Standing("good", losses[0]), Standing("bad", losses[1])], "2 folds", 0.69)
>>> board.names, board.difference.round(2).tolist(), board.difference_error.round(3).tolist()
(('good', 'bad'), [0.0, 0.1], [0.0, 0.058])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from deciban import metrics
from deciban.data import frames
from deciban.display import Table

WORST = 1000.0  # nats: the loss of a row with predicted probability 0, where two classifiers are compared
NUMBERS = ("log_loss", "error", "difference", "difference_error", "accuracy", "brier", "calibration_error")


@dataclass(frozen=True, eq=False)
class Standing:
    """The held-out scores of one classifier."""

    name: str
    losses: (
        np.ndarray | None
    )  # (n,), −log P(class) of each row, NaN where it is not scored; None: no rows were held out
    accuracy: float = np.nan
    brier: float = np.nan
    calibration_error: float = np.nan
    weight: float = np.nan  # in the mix
    seconds: float = np.nan  # of one fit
    note: str = ""

    @classmethod
    def from_predictions(
        cls, name: str, y: np.ndarray, log_proba: np.ndarray, w: np.ndarray, scored: np.ndarray, **more: Any
    ) -> Self:
        """From the class codes of rows (n,), their log probabilities (n, k), weights, and which of them are scored."""
        losses = np.where(scored, -log_proba[np.arange(len(y)), y], np.nan)
        y, logs, w = y[scored], log_proba[scored], w[scored]
        if not w.sum() > 0:
            return cls(name, losses, **more)
        proba = np.exp(logs)
        return cls(
            name,
            losses,
            metrics.accuracy(y, logs, w),
            metrics.brier(y, proba, w),
            metrics.expected_calibration_error(y, proba, w),
            **more,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard:
    """Classifiers and their held-out scores, the best first; those that were not scored come last.

    Attributes
    ----------
    names : tuple of str
        The classifiers.
    log_loss, error : ndarray of shape (m,)
        Mean log loss of held-out rows, and its standard error. NaN: not scored.
    difference, difference_error : ndarray of shape (m,)
        Mean difference to the first line, and its standard error: both predict the same rows.
    accuracy, brier, calibration_error : ndarray of shape (m,)
        Other scores of the same rows.
    weight : ndarray of shape (m,)
        Weight in the mix; NaN where nothing is mixed.
    seconds : ndarray of shape (m,)
        Time of one fit.
    notes : tuple of str
        Why a classifier was left out.
    how : str
        How rows were held out.
    baseline_log_loss : float
        Log loss of always predicting the class frequencies.
    """

    names: tuple[str, ...]
    log_loss: np.ndarray
    error: np.ndarray
    difference: np.ndarray
    difference_error: np.ndarray
    accuracy: np.ndarray
    brier: np.ndarray
    calibration_error: np.ndarray
    weight: np.ndarray
    seconds: np.ndarray
    notes: tuple[str, ...]
    how: str
    baseline_log_loss: float

    @classmethod
    def of(
        cls, standings: Iterable[Standing], how: str, baseline: float = np.nan, w: np.ndarray | None = None
    ) -> Leaderboard:
        """Rank by mean log loss; w: weights of the rows."""
        means = [(standing, *weighted_mean(standing.losses, w)) for standing in standings]
        ranked = sorted(means, key=lambda one: (np.isnan(one[1]), one[1]))
        best = ranked[0][0].losses
        apart = [difference(standing.losses, best, w) for standing, _, _ in ranked]
        each = [standing for standing, _, _ in ranked]

        def column(values: Sequence[float]) -> np.ndarray:
            return np.array(values, dtype=np.float64)

        return cls(
            tuple(one.name for one in each),
            column([mean for _, mean, _ in ranked]),
            column([error for _, _, error in ranked]),
            column([mean for mean, _ in apart]),
            column([error for _, error in apart]),
            column([one.accuracy for one in each]),
            column([one.brier for one in each]),
            column([one.calibration_error for one in each]),
            column([one.weight for one in each]),
            column([one.seconds for one in each]),
            tuple(one.note for one in each),
            how,
            float(baseline),
        )

    def with_weights(self, weights: dict[str, float], notes: dict[str, str]) -> Leaderboard:
        """With the weights of the models in use, and notes on others."""
        weight = np.array([weights.get(name, np.nan) for name in self.names])
        own = tuple(notes.get(name, note) for name, note in zip(self.names, self.notes, strict=True))
        return replace(self, weight=weight, notes=own)

    def is_consistent(self) -> bool:
        """Whether there is one value of each kind for each classifier."""
        m = len(self.names)
        arrays = [getattr(self, one.name) for one in fields(self) if one.type == "np.ndarray"]
        named = len(set(self.names)) == m > 0 and all(isinstance(name, str) for name in (*self.names, *self.notes))
        return named and len(self.notes) == m and all(a.shape == (m,) and a.dtype == np.float64 for a in arrays)

    def to_frame(self) -> Any:
        """A pandas frame (polars where only that is installed, else a dictionary of columns), a line a classifier."""
        columns: dict[str, Any] = {"name": list(self.names)}
        columns |= {name: getattr(self, name).tolist() for name in (*NUMBERS, "weight", "seconds")}
        return frames.make_frame({**columns, "note": list(self.notes)})

    def scores(self, name: str) -> dict[str, float]:
        """Accuracy, log loss, Brier score and calibration error of one classifier."""
        at = self.names.index(name)
        return {key: float(getattr(self, key)[at]) for key in ("accuracy", "log_loss", "brier", "calibration_error")}

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()

    def _table(self) -> Table:
        mixed = not np.isnan(self.weight).all()
        head = ("", "log loss", "±", "more", "±", "accuracy", "Brier", "calibration", *(("weight",) * mixed), "time")
        rows = []
        for i, name in enumerate(self.names):
            scores = [_shown(getattr(self, key)[i], "{:.4f}") for key in NUMBERS]
            weight = [_shown(self.weight[i], "{:.3f}")] * mixed
            rows.append((name, *scores, *weight, _shown(self.seconds[i], "{:.2f} s")))
        footer = ("class frequencies", _shown(self.baseline_log_loss, "{:.4f}"), *[""] * (len(head) - 2))
        notes = [f"{name}: {note}" for name, note in zip(self.names, self.notes, strict=True) if note]
        scored = not np.isnan(self.log_loss).all()
        return Table("", head, rows, footer if scored else (), [f"by {self.how}" if scored else self.how, *notes])


def _shown(value: float, form: str) -> str:
    return "" if np.isnan(value) else form.format(value)


def weighted_mean(values: np.ndarray | None, w: np.ndarray | None) -> tuple[float, float]:
    """(weighted mean, its standard error) of the values that are there; ∞ has no error."""
    if values is None or not (there := ~np.isnan(values)).any():
        return np.nan, np.nan
    some = values[there]
    own = np.ones(len(some)) if w is None else w[there]
    with np.errstate(invalid="ignore"):
        mean = metrics.total(some, own) / metrics.total(own)
    if not np.isfinite(mean):
        return mean, np.nan
    variance = float(own @ (some - mean) ** 2 / own.sum())
    return mean, float(np.sqrt(variance / (len(some) - 1))) if len(some) > 1 else np.nan


def difference(losses: np.ndarray | None, best: np.ndarray | None, w: np.ndarray | None) -> tuple[float, float]:
    """(mean difference of the losses of the same rows, its standard error)"""
    if losses is None or best is None:
        return np.nan, np.nan
    return weighted_mean(np.minimum(losses, WORST) - np.minimum(best, WORST), w)
