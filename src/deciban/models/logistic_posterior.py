"""The posterior of logistic regression: probabilities, odds, labels and evidence from scores that are linear in x.

    P(class | x) = softmax(coef · x + intercept + shift)        shift = log (priors / class frequencies of training)

With two classes there is one score, that of the second class.

>>> import numpy as np
>>> from deciban import LogisticRegression
>>> model = LogisticRegression().fit([[0.0], [2.0], [3.0], [5.0]], ["no", "no", "yes", "yes"])
>>> posterior = model._posterior(priors=[0.9, 0.1])
>>> posterior.proba(np.array([[2.5]])).round(3).tolist()
[[0.9, 0.1]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from deciban import decision, ops
from deciban.data.blocks import Block, Counts, Reals
from deciban.decision import check_priors
from deciban.errors import DataError
from deciban.explain.error_bars import Errors, Variances
from deciban.models.posterior import check_size
from deciban.rows import inputs
from deciban.rows.readers import ArrayKind, ArrayReader

FLOAT = np.dtype(np.float64)
ROWS = 1 << 21  # numbers that are held at once


@dataclass(frozen=True, eq=False)
class SoftmaxPosterior:
    """P(class | x) = softmax(scores + shift); its methods are those of `models.posterior.Posterior`."""

    classes: np.ndarray
    counts: np.ndarray  # (k,), weights of the classes in the training rows
    shift: np.ndarray | float  # (k,), log (priors / class frequencies of training), added to the scores; 0.0: none
    reader: ArrayReader

    def _scores(self, X: Any, method: str = "predict") -> np.ndarray:
        """The scores (n, k); of two classes also (n, 1), that of the second."""
        raise NotImplementedError

    def under(self, priors: Any) -> Self:
        with np.errstate(divide="ignore"):
            given = np.log(check_priors(priors, self.classes))
        return replace(self, counts=np.exp(given), shift=given - self.added_prior())

    def added_prior(self) -> np.ndarray:
        return decision.log_prior(self.counts)

    def output(self, X: Any) -> ArrayKind:
        return self.reader.output(X)

    def decision(self, X: Any) -> np.ndarray:
        """log odds of the second class (n,), or a score for each class (n, k)."""
        scores = self._scores(X, "decision_function")
        return self.output(X).send(scores[:, 0] if scores.shape[1] == 1 else scores)

    def proba(self, X: Any) -> np.ndarray:
        out = ops.posterior(np.ascontiguousarray(self.joint_scores(X, "predict_proba")), logs=False)
        return out if type(X) is np.ndarray and X.dtype == FLOAT else self.output(X).send(out)

    def log_proba(self, X: Any) -> np.ndarray:
        return self.output(X).send_logs(
            ops.posterior(np.ascontiguousarray(self.joint_scores(X, "predict_log_proba")), logs=True)
        )

    def labels(self, X: Any) -> np.ndarray:
        scores = self._scores(X) if isinstance(self.shift, float) else self.joint_scores(X)
        best = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.output(X).send_labels(self.classes[best])

    def log_odds(self, X: Any, against: Any = None) -> np.ndarray:
        place = None if against is None else decision.class_index(against, self.classes)
        return self.output(X).send(decision.log_odds(self.joint_scores(X), place))

    def joint_scores(self, X: Any, method: str = "predict") -> np.ndarray:
        """A score for each class, (n, k), whose softmax is the posterior."""
        scores = self._scores(X, method)
        if scores.shape[1] == 1:
            scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
        return scores if isinstance(self.shift, float) else scores + self.shift

    @property
    def columns(self) -> list[str]:
        return self.reader.shown_columns

    def block(self, X: Any) -> Block:
        """Rows as the model reads them."""
        return X if isinstance(X, Block) else self.reader.read(X)

    def block_of(self, columns: list[np.ndarray]) -> Block:
        return self.reader.block_of(columns)


@dataclass(frozen=True, eq=False)
class LogisticPosterior(SoftmaxPosterior):
    """P(class | x) from scores that are linear in x."""

    coef: np.ndarray  # (m, d), m = 1 for two classes, else k
    bias: np.ndarray  # (m,)
    means: Callable[[], np.ndarray | None]  # (d,), of the training rows; None: they were sparse
    ranges: Callable[[], list[np.ndarray] | None]  # values of each column at which its scale is drawn
    splits: ClassVar[bool] = True
    separate: ClassVar[bool] = True

    def _scores(self, X: Any, method: str = "predict") -> np.ndarray:
        """x · coef + intercept, as doubles, (n, m)."""
        x = self.reader.read(X, method)
        coef, bias = np.asarray(self.coef, dtype=np.float64), np.asarray(self.bias, dtype=np.float64)
        with np.errstate(all="ignore"):
            if type(x) is Reals and x.values.dtype == FLOAT and x.values.size < coef.size:
                scores = x.values @ coef.T + bias
            else:
                scores = affine(x, coef, bias)
        if not ops.all_finite(scores):
            inputs.check_finite(x, self.reader.names)
            scores = _far_scores(x, coef, bias, scores)
        return scores

    def slope(self, X: Any, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives of Σ log P(class | x) by coefficients (m, d) and biases (m,); `rest` is weight times
        ([the class of the row] − P(class | x)), (n, k)."""
        x = self.reader.read(X)
        rest = rest[:, 1:] if len(self.coef) == 1 else rest
        return np.asarray(matrix(x).T @ rest).T, rest.sum(axis=0)

    # evidence by column

    @property
    def anchored(self) -> bool:
        """Of numbers, evidence is counted from 0, not from the values of a column."""
        return self.reader.coding is not None

    def candidates(self) -> list[np.ndarray] | None:
        found = self.ranges()
        return None if found is None else self.reader.candidates(found)

    def evidence(self, X: Any, baseline: Any = 0, x: Block | None = None) -> LogisticEvidence:
        """coef · (x − baseline) by column. baseline: a row, 0, or None for the mean of the training rows (0 if these
        were sparse). x: X as a block, if it was read."""
        x = self.block(X) if x is None else x
        assert isinstance(x, Reals | Counts)
        check_size(x.n, len(self.classes), x.d)
        cells, coef, bias = x.dense(), self.coef, self.bias
        if not ops.all_finite(cells):
            inputs.check_finite(x, self.reader.names)
        if len(coef) == 1:
            coef, bias = np.concatenate([np.zeros_like(coef), coef]), np.concatenate([np.zeros_like(bias), bias])
        coef, bias = coef.astype(np.float64), bias.astype(np.float64)
        at, start = self._start(baseline)
        row = np.zeros(x.d) if at is None else check_baseline(at, x.d)
        with np.errstate(over="ignore"):
            parts = self.reader.shown_parts((cells if at is None else cells - row)[:, None, :] * coef)
            bias = bias + coef @ row + self.shift
        shown = cells if self.reader.coding is None else self.reader.cells(X, x)
        return LogisticEvidence(bias, parts, self.columns, shown, start)

    def errors(self, x: Block, laplace: Any, baseline: Any = 0) -> CoefficientErrors:
        """Standard errors of the evidence of rows, counted from this baseline, by a Laplace posterior."""
        assert isinstance(x, Reals | Counts)
        at, _ = self._start(baseline)
        row = np.zeros(x.d) if at is None else check_baseline(at, x.d)
        shown = np.asarray(self.reader.shown_parts(np.eye(x.d)[None])[0] != 0).argmax(axis=1)
        return CoefficientErrors(LAPLACE, x, row, np.asarray(laplace.covariance), laplace.intercept, shown)

    def scale_evidence(self, x: Block) -> tuple[LogisticEvidence, str]:
        found = self.evidence(x, None)
        return found, found.start

    def _start(self, baseline: Any) -> tuple[Any, str]:
        """(the baseline, or None for a row of zeros, its name)."""
        if baseline is None and (means := self.means()) is not None:
            return means, "mean row"
        zero = baseline is None or (np.ndim(baseline) == 0 and baseline == 0)
        return (None, "intercept") if zero else (baseline, "baseline")


LAPLACE = "from the Laplace posterior of the coefficients"


@dataclass(frozen=True, eq=False)
class CoefficientErrors(Errors):
    """By the covariance of the coefficients. Class c has the coefficients θ_c − θ_0, the intercept in front."""

    note: str
    x: Reals | Counts
    row: np.ndarray  # (d,), the baseline
    covariance: np.ndarray  # ((k − 1) p, (k − 1) p)
    intercept: bool
    shown: np.ndarray  # (d,), the number of the column that each is shown as

    def variances(self, at: np.ndarray, coef: np.ndarray) -> Variances:
        n, d, m = len(at), len(self.row), coef.shape[1] - 1
        p, first = d + self.intercept, int(self.intercept)
        covariance = self.covariance.reshape(m, p, m, p)
        columns = np.zeros((n, int(self.shown.max(initial=-1)) + 1))
        own = covariance[:, first:, :, first:] * (self.shown[:, None] == self.shown)[:, None, :]
        total, start = np.empty(n), np.empty(n)
        for some in np.array_split(np.arange(n), max(1, n * m * p // ROWS)):
            cells = self.x.take(at[some]).dense()
            weight = coef[some, 1:]
            with np.errstate(over="ignore", invalid="ignore"):
                parts = (weight[:, :, None] * (cells - self.row)[:, None, :]).reshape(len(some), -1)
                each = ((parts @ own.reshape(m * d, m * d)) * parts).reshape(len(some), m, d).sum(axis=1)
                np.add.at(columns, (some[:, None], self.shown), each)
                for out, row in ((total, cells), (start, np.broadcast_to(self.row, cells.shape))):
                    row = np.column_stack([np.ones(len(row)), row]) if first else row
                    whole = (weight[:, :, None] * row[:, None, :]).reshape(len(some), -1)
                    out[some] = np.einsum("np,np->n", whole @ self.covariance, whole)
        return Variances(start, columns, total)


class LogisticEvidence(NamedTuple):
    """Scores by column: base + parts.sum(axis=2), up to a term that all classes share."""

    base: np.ndarray  # (k,), scores of the baseline
    parts: np.ndarray  # (n, k, d)
    columns: list[str]
    cells: np.ndarray  # (n, d)
    start: str  # name of the baseline


def affine(x: Block, coef: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """x · coef + bias, (n, m); coefficients are packed only if there are at least as many cells."""
    assert isinstance(x, Reals | Counts)
    x = x.rows(0, x.n)
    if x.cells >= coef.size:
        return ops.affine(x, coef, bias, strict=True)
    return matrix(x) @ coef.T + bias


LARGEST = np.finfo(np.float64).max / 4  # differences of such scores are finite


def _far_scores(x: Block, coef: np.ndarray, bias: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Scores, those that overflow from the cells over the largest of their row, as far as doubles go."""
    far = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    assert isinstance(x, Reals | Counts)
    cells = x.take(far).dense()
    top = np.abs(cells).max(axis=1, initial=1.0, keepdims=True)
    out = scores.copy()
    with np.errstate(over="ignore"):
        out[far] = np.clip(((cells / top) @ coef.T + bias / top) * top, -LARGEST, LARGEST)
    return out


def matrix(x: Block) -> Any:
    """The rows of a block as an array or a sparse array, (n, d)."""
    assert isinstance(x, Reals | Counts)
    if isinstance(x, Reals):
        return x.values
    return sparse.csr_array((x.stored, x.column_of(), x.indptr - x.indptr[0]), shape=(x.n, x.d))


def check_baseline(baseline: Any, d: int) -> np.ndarray:
    """A given baseline as doubles, (d,)."""
    try:
        row = np.asarray(baseline, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.empty(0)
    if row.shape != (d,) or not ops.all_finite(row):
        raise DataError(
            f"`baseline` is not a row of {d} finite numbers\n\n"
            "hint: give one for each column, as X.mean(axis=0), or 0 to count from there"
        )
    return row
