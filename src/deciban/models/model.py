"""A missing level averaged over: P(class | a) = Σ_b P(class | a, b) P(b), P(b) the shares of the levels in training.

Integrating a cell out asks what each class would have there, and gives no evidence; averaging asks what all rows have,
and takes the mean of the posteriors. Several missing levels are averaged over together, as if independent.

>>> import pandas as pd
>>> from deciban import MixedNB
>>> X = pd.DataFrame({"viagra": [1, 1, 0, 0, 0, 0], "lottery": [1, 0, 1, 0, 0, 1]}).astype("category")
>>> model = MixedNB(alpha=1, missing="average").fit(X, ["spam", "spam", "spam", "ham", "ham", "ham"])
>>> model.predict_proba(pd.DataFrame({"viagra": [None], "lottery": [1]})).round(3).tolist()
[[0.425, 0.575]]

A posterior that is linear in x, as logistic regression writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from deciban import decision, display, ops
from deciban.data.frames import column_labels
from deciban.errors import DataError
from deciban.estimation.dirichlet import log_shares
from deciban.models.calibration import Calibration

MOST = 1024  # combinations of missing levels in a row
BATCH = 1 << 18  # posteriors held at once


class Averaging:
    """Mixin of `MixedNB`: posteriors where missing levels are averaged over, if `missing="average"`."""

    missing: str
    _schema: Any
    _check_is_fitted: Callable[[], Any]
    _features: Callable[[Any], Any]
    _prior: Callable[..., np.ndarray]
    _nominal: Callable[[], list[tuple[int, tuple[int, ...]]]]

    def _score(self, X, priors=None, finish: Callable | None = None, density: bool = False, plain: bool = False):
        """As always, but what becomes a posterior has been averaged."""
        if self.missing != "average" or finish is None or density:
            return super()._score(X, priors, finish, density, plain)  # type: ignore[misc]
        fitted, x = self._check_is_fitted(), self._features(X)
        prior = self._prior(fitted, priors)
        with np.errstate(all="ignore"):
            scores = fitted.family.loglik(fitted.params, x.rows(0, x.n))
        columns = self._levels_of_each(fitted)
        gone = np.array([np.asarray(x.blocks[b].values)[:, c] < 0 for b, c, *_ in columns]).reshape(len(columns), x.n)
        self._check_few(gone, columns)
        out = np.empty_like(scores)
        patterns, which = np.unique(gone, axis=1, return_inverse=True)
        for i, pattern in enumerate(patterns.T):
            rows = np.flatnonzero(which.ravel() == i)
            some = [levels for (_, _, *levels), here in zip(columns, pattern, strict=True) if here]
            out[rows] = averaged(scores[rows], some, prior, fitted.calibration)
        return finish(out, prior=np.zeros(len(prior)), out=out)

    def _levels_of_each(self, fitted: Any) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
        """(block, place in it, log θ (k, levels), P(level)) of each nominal column that has levels."""
        out = []
        for b, _ in self._nominal():
            family, params, t = fitted.family.factors[b], fitted.params[b], fitted.tally.parts[1].parts[b]
            shares = np.exp(log_shares(t.table.sum(axis=0, keepdims=True), t.offset, family.pseudo_counts(t)))[0]
            parts = zip(params.columns(), np.split(shares, t.offset[1:-1]), strict=True)
            out += [(b, c, logs, share) for c, (logs, share) in enumerate(parts) if len(share)]
        return out

    def _check_few(self, gone: np.ndarray, columns: list) -> None:
        """Refuse rows that have too many combinations of missing levels."""
        sizes = np.array([np.log(len(share)) for *_, share in columns])
        many = sizes @ gone
        if (many > np.log(MOST) + 1e-9).any():
            row = int(many.argmax())
            raise DataError(
                f"the missing levels of row {row} have {np.exp(many[row]):.3g} combinations, more than {MOST}\n\n"
                "hint: use missing='ignore', which integrates them out, or leave out columns of many levels"
            )


def averaged(scores: np.ndarray, missing: list, prior: np.ndarray, calibration: Calibration | None) -> np.ndarray:
    """log Σ_b P(b) P(class | a, b) (n, k): `scores` are the log likelihoods of a; `missing` has for each missing column
    those of its levels b, (k, levels), and their P(b)."""
    n, k = scores.shape
    added, weight = np.zeros((1, k)), np.zeros(1)  # of every combination of levels
    with np.errstate(divide="ignore"):
        for logs, share in missing:
            added = (added[:, None, :] + logs.T).reshape(-1, k)
            weight = (weight[:, None] + np.log(share)).ravel()
    m, out = len(added), np.empty((n, k))
    step = max(1, BATCH // (m * k))
    for start in range(0, n, step):
        part = scores[start : start + step]
        each = (part[:, None, :] + added).reshape(-1, k)
        if calibration is not None:
            calibration.apply(each)
        each += prior
        posterior = ops.posterior(np.ascontiguousarray(decision.resolve_impossible_rows(each, prior)), logs=True)
        out[start : start + step] = np.logaddexp.reduce(posterior.reshape(len(part), m, k) + weight[:, None], axis=1)
    return out


SHOWN = 20  # columns that are printed


@dataclass(frozen=True)
class LinearPosterior:
    """`coef_`, `intercept_` and `classes_` of a logistic (two classes) or softmax (more) function of x.

    `binarize`: cells count as 1 where they are above it, else as 0, as `BernoulliNB` takes them; None: as they are.

    >>> import numpy as np
    >>> view = LinearPosterior.of(np.array(["a", "b"]), np.array([[0.0], [2.0]]), np.array([0.0, 1.0]))
    >>> view.coef_.tolist(), view.intercept_.tolist()
    ([[2.0]], [1.0])
    >>> view.predict(np.array([[0.0], [-1.0]])).tolist()
    ['b', 'a']
    """

    classes_: np.ndarray
    coef_: np.ndarray  # (1, d) for two classes, else (k, d)
    intercept_: np.ndarray  # (1,) or (k,)
    binarize: float | None = None

    def __repr__(self) -> str:
        """Coefficients in a table: a column for each class, or one for the second of two."""
        two, (m, d) = len(self.classes_) == 2, self.coef_.shape
        title = f"log odds of {self.classes_[-1]} against {self.classes_[0]}" if two else "scores, whose softmax it is"
        head = ["", *(["coef"] if two else [str(label) for label in self.classes_])]
        cells = [("intercept", self.intercept_), *zip(column_labels(min(d, SHOWN)), self.coef_.T, strict=False)]
        rows = [(name, *(display.format_number(float(a)) for a in each[:m])) for name, each in cells]
        more = f"… and {d - SHOWN} more columns" if d > SHOWN else ""
        return display.Table(title, head, rows, notes=[more]).to_text()

    @classmethod
    def of(
        cls, classes: np.ndarray, coef: np.ndarray, bias: np.ndarray, binarize: float | None = None
    ) -> LinearPosterior:
        """From one linear score for each class; two are told as their difference."""
        if len(classes) == 2:
            return cls(classes, np.ascontiguousarray(coef[1:] - coef[:1]), bias[1:] - bias[:1], binarize)
        return cls(classes, np.ascontiguousarray(coef), bias, binarize)

    def decision_function(self, X) -> np.ndarray:
        """log odds of the second class (n,), or a score for each class (n, k)."""
        X = X if sparse.issparse(X) else np.asarray(X)
        if self.binarize is not None:  # a missing cell stays one
            above = (self.binarize < X).astype(np.float64)
            X = above if sparse.issparse(X) else np.where(np.isnan(np.asarray(X, dtype=np.float64)), np.nan, above)
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X) -> np.ndarray:
        scores = np.asarray(self.decision_function(X), dtype=np.float64)
        if len(self.classes_) == 2:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        return ops.posterior(np.ascontiguousarray(scores), logs=False)

    def predict(self, X) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
