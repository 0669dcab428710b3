"""What a fitted linear model of classes says about rows: scores, posteriors, odds, decisions and evidence.

Needs `coef_` (m, d), `intercept_` (m,), `classes_` and `class_count_`, where m is 1 for two classes; they are read anew
by every call, so a user may change them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import sparse

from deciban import decision, ingest, ops
from deciban.classifiers.deciding import Deciding
from deciban.classifiers.explaining import Explaining, check_size, context
from deciban.classifiers.origin import Origin, same_library
from deciban.classifiers.steady import unfitted
from deciban.decision import check_priors
from deciban.errors import DataError, SupportError
from deciban.explanation import Explanation
from deciban.table import Block, Counts, Reals, Table

SQUARED = 1e150  # magnitudes up to which squares may be summed up


class LinearAnswers(Deciding, Explaining):
    """Mixin: needs `coef_`, `intercept_`, `classes_`, `class_count_`."""

    coef_: Any
    _averaged: Callable[..., np.ndarray]
    intercept_: Any
    class_count_: Any
    _reads = "reals"
    _keeps_kind = True
    _sent = "coef_"  # an attribute that lives where X came from
    _anchored = False  # a cell of 0 says nothing, wherever the column's values lie
    _origin = Origin.plain
    _means: Any = None  # (d,), of the training rows, where every cell is stored

    @same_library
    def decision_function(self, X) -> np.ndarray:
        """log odds of the second class (n,), or a score for each class (n, k)."""
        scores = self._scores(X)
        return self._origin_of(X).send(scores[:, 0] if scores.shape[1] == 1 else scores)

    @same_library
    def predict_proba(self, X, *, priors=None, posterior=None) -> np.ndarray:
        """P(class | x), (n, k); `priors` replaces the class shares of the training rows for this call;
        posterior="laplace": coefficients averaged out, so less sure far from the rows that were learned."""
        if posterior is not None:
            return self._origin_of(X).send(self._averaged(X, priors, posterior))
        return self._origin_of(X).send(self._posterior(X, priors, logs=False))

    @same_library
    def predict_log_proba(self, X, *, priors=None) -> np.ndarray:
        """log P(class | x), (n, k)."""
        return self._origin_of(X).send_logs(self._posterior(X, priors, logs=True))

    @same_library
    def predict(self, X, *, priors=None) -> np.ndarray:
        """The most probable class of each row."""
        scores = self._scores(X) if priors is None else self._joint(X, priors)
        best = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self._origin_of(X).send_labels(self.classes_[best])

    def log_odds(self, X, *, against=None, priors=None) -> np.ndarray:
        """log of P(class | x) over P(all others | x), or over P(against | x), (n, k)."""
        place = None if against is None else self._place_of(against)
        return self._origin_of(X).send(decision.log_odds(self._joint(X, priors), place))

    def decibans(self, X, *, against=None, priors=None) -> np.ndarray:
        """`log_odds` in decibans: 10 = odds of 10 : 1, 20 = 100 : 1."""
        return self.log_odds(X, against=against, priors=priors) * decision.DECIBAN

    def explain(self, X, *, of=None, against=None, priors=None, baseline=None) -> Explanation:
        """Evidence for `of` (by default each row's most probable class) against another class (by default the most
        probable one beside it), by column and in decibans: first line + columns = log odds. Labels may differ by row:
        pass one for each.

        The evidence of a column is its coefficient times its cell's distance from the baseline; the first line is the
        log odds of the baseline.

        Parameters
        ----------
        baseline : array of shape (d,), 0 or None
            The row to count from. None: the mean of the training rows (the first line is "mean row"), or 0 where they
            were sparse, so that an absent word is no evidence. 0: the first line is the intercept. A row: "baseline".

        Examples
        --------
        >>> from deciban import LogisticRegression
        >>> model = LogisticRegression().fit([[36.5], [37.0], [37.5], [38.5]], ["well", "well", "ill", "ill"])
        >>> print(model.explain([[38.0]]))
        row 0: ill against well
          column    value  decibans
          mean row             +0.0            │
          x0           38      +2.2            │██████████
          total                +2.3  odds 1.7 : 1, P(ill) = 0.628
        >>> model.explain([[38.0]], baseline=0).to_frame().column.tolist()
        ['intercept', 'x0']
        """
        at, start = self._baseline(baseline)
        base, parts, columns, cells = self._evidence(X, priors, at)
        more = context(self, X)
        return Explanation.of_parts(self.classes_, columns, cells, base, parts, of, against, start=start, **more)

    # inside

    def _baseline(self, baseline: Any) -> tuple[Any, str]:
        """The row to count evidence from (None: all 0), and what it is called."""
        if baseline is None and self._means is not None:
            return np.asarray(ingest.local(self._means), dtype=np.float64), "mean row"
        zero = baseline is None or (np.ndim(baseline) == 0 and baseline == 0)
        return (None, "intercept") if zero else (baseline, "baseline")

    def _evidence(self, X, priors=None, baseline=None) -> tuple[np.ndarray, np.ndarray, list[str], np.ndarray]:
        """(scores of the baseline (k,), coef · distance from it (n, k, d), column names, cells (n, d))."""
        self._check_is_fitted()
        x = X if isinstance(X, Block) else ingest.features(self, X, self._reads)
        assert isinstance(x, Reals | Counts)
        check_size(x.n, len(self.classes_), x.d)
        cells, (coef, bias) = x.dense(), self._parameters()
        if not ops.whole(cells):
            self._refuse(x)
        if len(coef) == 1:
            coef, bias = np.concatenate([np.zeros_like(coef), coef]), np.concatenate([np.zeros_like(bias), bias])
        coef, bias = coef.astype(np.float64), bias.astype(np.float64)
        if baseline is None:
            return bias + self._shift(priors), cells[:, None, :] * coef, self._column_names(), cells
        start = check_baseline(baseline, x.d)
        parts = (cells - start)[:, None, :] * coef
        return bias + coef @ start + self._shift(priors), parts, self._column_names(), cells

    def _keep_means(self, rows: Table, before: float) -> None:
        """The columns' means after these rows, too; those learned so far have the weight `before`."""
        means = column_means(rows)
        if before > 0 and means is not None:
            weight = float(rows.n if rows.w is None else rows.w.sum())
            known = None if self._means is None else np.asarray(ingest.local(self._means))
            means = None if known is None else (before * known + weight * means) / (before + weight)
        self._means = None if means is None else self._origin.send(means)

    def _splits(self) -> bool:
        return True

    def _parameters(self) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) as NumPy's, dense."""
        coef = self.coef_.toarray() if sparse.issparse(self.coef_) else np.asarray(ingest.local(self.coef_))
        return coef, np.atleast_1d(np.asarray(ingest.local(self.intercept_)))

    def _scores(self, X) -> np.ndarray:
        """x · coef + intercept, as doubles, (n, m)."""
        self._check_is_fitted()
        x = ingest.features(self, X, "reals")
        coef, bias = self._parameters()
        with np.errstate(all="ignore"):
            scores = affine(x, np.asarray(coef, dtype=np.float64), np.asarray(bias, dtype=np.float64))
        if not ops.whole(scores):
            self._refuse(x, only_if_not_finite=True)
        return scores

    def _joint(self, X, priors) -> np.ndarray:
        """A score for each class, (n, k), whose softmax is the posterior."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
        return scores if priors is None else scores + self._shift(priors)

    def _posterior(self, X, priors, logs: bool) -> np.ndarray:
        return ops.posterior(np.ascontiguousarray(self._joint(X, priors)), logs)

    def _shift(self, priors) -> np.ndarray | float:
        """What other priors add to the scores: log (new / training)."""
        return 0.0 if priors is None else self._prior(None, priors) - self._prior(None, None)

    def _prior(self, fitted: Any, priors) -> np.ndarray:
        """log of the class shares, as given or as in the training rows."""
        if priors is None:
            return decision.log_prior(np.asarray(ingest.local(self.class_count_), dtype=np.float64))
        with np.errstate(divide="ignore"):
            return np.log(check_priors(priors, self.classes_))

    def _refuse(self, x: Block, only_if_not_finite: bool = False) -> None:
        refuse(x, self.__dict__.get("feature_names_in_"), only_if_not_finite)

    def _place_of(self, label: Any) -> int:
        at = np.flatnonzero(self.classes_ == label)
        if len(at) == 0:
            raise DataError(f"class {label!r} is not among {list(self.classes_)}\n\nhint: name one of these")
        return int(at[0])

    def _origin_of(self, X: Any) -> Origin:
        return Origin.of(X)

    def _check_is_fitted(self) -> Self:
        if "coef_" not in self.__dict__:
            raise unfitted(self)
        return self


def as_floats(x: Block) -> Reals | Counts:
    """Rows of a dtype that the kernels know, converted once: every pass reads them."""
    assert isinstance(x, Reals | Counts)
    return x.rows(0, x.n)


def column_means(rows: Table) -> np.ndarray | None:
    """The mean of each column, (d,); None where rows are sparse, or weigh nothing."""
    weight = float(rows.n if rows.w is None else rows.w.sum())
    if not isinstance(rows.x, Reals) or not weight > 0:
        return None
    return ops.sums(rows.x, rows.y, rows.w, rows.k).total.sum(axis=0) / weight


def affine(x: Block, coef: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """x · coef + bias, (n, m); packing the coefficients is left out where there are fewer cells than they have."""
    x = as_floats(x)
    if x.cells >= coef.size:
        return ops.affine(x, coef, bias, strict=True)
    if isinstance(x, Reals):
        return x.values @ coef.T + bias
    at = x.indptr - x.indptr[0]
    return sparse.csr_array((x.stored, x.column_of(), at), shape=(x.n, x.d)) @ coef.T + bias


def overflows(x: Block) -> bool:
    """Whether the square of a cell is past all doubles."""
    values = x.stored if isinstance(x, Counts) else x.values  # type: ignore[union-attr]
    return float(np.abs(values).max(initial=0.0)) > SQUARED


def check_baseline(baseline: Any, d: int) -> np.ndarray:
    """A row to count evidence from, as doubles."""
    try:
        row = np.asarray(baseline, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.empty(0)
    if row.shape != (d,) or not ops.whole(row):
        raise DataError(
            f"`baseline` is not a row of {d} finite numbers\n\n"
            "hint: give one for each column, as X.mean(axis=0), or 0 to count from there"
        )
    return row


def refuse(x: Block, names: np.ndarray | None = None, only_if_not_finite: bool = False) -> None:
    """Say which cell made an answer that is no number; `names` are those of the columns."""
    values = x.stored if isinstance(x, Counts) else x.values  # type: ignore[union-attr]
    bad = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    if not bad.any():
        if only_if_not_finite:
            return
        ingest.refuse(x)
    missing = np.isnan(values)
    at = tuple(np.argwhere(missing if missing.any() else bad)[0])
    row, column = (x.row_of()[at[0]], x.column_of()[at[0]]) if isinstance(x, Counts) else at
    where = f"first in row {row}, {ingest.called(column, names)}"
    if missing.any():
        raise SupportError(
            f"Input X contains NaN ({where}), and LogisticRegression takes no missing values\n\n"
            "hint: MixedNB does; or fill them in first (sklearn.impute)"
        )
    raise SupportError(
        f"Input X contains infinity ({where}), and a linear score of it is no number\n\n"
        "hint: leave the row out, or put the largest value there that makes sense"
    )
