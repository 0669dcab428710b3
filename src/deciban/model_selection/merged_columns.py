"""Learning curves of multinomial models on sparse counts, with few columns.

Columns that are zero in all rows to predict, and columns that are zero in all training rows so far, can be merged
without changing a posterior: pseudo-counts add as counts do, so the total of each class is unchanged, and

    Σ_j x_j log(alpha_j / total_c)  =  (Σ_j x_j) log(Σ_j alpha_j / total_c) + a term that does not depend on class c

where no class has a count in the columns j. The rows to predict have few of all terms, so the table becomes small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from deciban.classifiers.naive_bayes import ALPHA_MIN, ComplementNB, MultinomialNB
from deciban.data.blocks import Counts, Table
from deciban.model_selection.labelled_rows import ignore_class_count_warning
from deciban.models.model import Known, State, TallyPass
from deciban.rows.rows import ArrayRows
from deciban.tallies import Bundle, Sums


def possible(model: Any, X: Any) -> bool:
    """Whether columns of X may be merged: sparse counts, and a model whose column weights are independent.

    >>> possible(MultinomialNB(), sparse.csr_array(np.eye(3))), possible(ComplementNB(norm=True), np.eye(3))
    (True, False)
    """
    if not sparse.issparse(X) or type(model) not in (MultinomialNB, ComplementNB) or not X.nnz:
        return False
    settings = model.get_params()
    alpha = settings["alpha"]
    if isinstance(alpha, str) or np.shape(alpha) not in ((), (X.shape[1],)) or not np.min(alpha) >= ALPHA_MIN:
        return False
    plain = settings["weights"] is None and settings["calibrate"] is False and not settings.get("norm")
    return plain and X.data.dtype.kind in "fiu" and bool(np.isfinite(X.data.sum()) and X.data.min() >= 0)


def ready(_: Any, X: Any) -> Any:
    """Counts in a type that the kernels take, converted once."""
    return X if X.data.dtype.kind == "f" else X.astype(np.float64)


def steps(models: Any, test: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(log posteriors, the places of their classes) by the model of each size, in merged columns."""
    rows, few = models.rows, models.few
    train = models.train[: models.counts[-1]]
    alpha = np.broadcast_to(models.model.alpha, rows.X.shape[1])
    columns = Columns(rows.X[train], rows.X[test], models.spans, alpha)
    codes, w = rows.codes[train], None if rows.w is None else rows.w[train]
    every, tally = np.arange(len(rows.classes)), None
    for i, (start, stop) in enumerate(models.spans):
        model = clone(models.model).set_params(alpha=columns.alpha(i))
        model._validate_params()
        spec, reader = model._spec(), replace(model._reader(), d=len(model.alpha))
        spec.check(every, reader, None)
        weights = None if w is None else w[start:stop]
        table = Table(columns.learned(start, stop, i), codes[start:stop], weights, len(every))
        tallying = TallyPass(spec, Known())
        new = ArrayRows(reader, every, table).total(tallying, tallying.size(table))
        tally = new if tally is None else _grown(tally, new)
        if few[i]:  # `fit` decides whether so few rows are enough
            with ignore_class_count_warning():
                model.fit(columns.known_rows(stop, i), codes[:stop], None if w is None else w[:stop])
        else:
            model._adopt(State(spec, reader, every, tally))
        yield model.predict_log_proba(columns.predicted(i)), model.classes_


class Columns:
    """Columns in a new order: first one for all columns that are zero in the rows to predict, then the others by the
    size at which training rows first have them. At each size, the columns without a count yet are merged at the end."""

    def __init__(self, known: Any, asked: Any, spans: list[tuple[int, int]], alpha: np.ndarray):
        d = known.shape[1]
        came = np.full(d, len(spans) - 1, dtype=np.int16)  # first size with a count; the last for all others
        for i, (start, stop) in reversed(list(enumerate(spans[:-1]))):
            came[_among(known.indices[known.indptr[start] : known.indptr[stop]], d)] = i
        wanted = _among(asked.indices, d)
        order = np.flatnonzero(wanted)
        order = order[np.argsort(came[order], kind="stable")]
        self.first = int(len(order) < d)  # number of columns (0 or 1) that the merged ones take
        place = np.zeros(d, dtype=known.indices.dtype)
        place[order] = np.arange(self.first, self.first + len(order))
        self.there = np.cumsum(np.bincount(came[order], minlength=len(spans))) + self.first
        self.alphas = np.concatenate([[alpha[~wanted].sum()][: self.first], alpha[order]])
        self.known, self.known_at = known, place.take(known.indices, mode="clip")
        self.asked, self.asked_at = asked, place.take(asked.indices, mode="clip")

    def alpha(self, i: int) -> np.ndarray:
        """The pseudo-counts of the columns at size i."""
        there = self.there[i]
        return np.append(self.alphas[:there], self.alphas[there:].sum()) if there < len(self.alphas) else self.alphas

    def wide(self, i: int) -> int:
        return min(int(self.there[i]) + 1, len(self.alphas))

    def learned(self, start: int, stop: int, i: int) -> Counts:
        """Training rows start … stop in the columns of size i."""
        ends = self.known.indptr[start : stop + 1]
        own = slice(ends[0], ends[-1])  # later rows have more columns
        return Counts(ends - ends[0], self.known_at[own], self.known.data[own], self.wide(i))

    def known_rows(self, stop: int, i: int) -> Any:
        """The training rows up to there as a matrix."""
        end = self.known.indptr[stop]
        return self._matrix(self.known.data[:end], self.known_at[:end], self.known.indptr[: stop + 1], i)

    def predicted(self, i: int) -> Any:
        """The rows to predict, as a matrix."""
        at = np.minimum(self.asked_at, self.asked_at.dtype.type(self.there[i]))
        return self._matrix(self.asked.data, at, self.asked.indptr, i)

    def _matrix(self, data: np.ndarray, at: np.ndarray, ends: np.ndarray, i: int) -> Any:
        out = sparse.csr_array((data, at, ends), shape=(len(ends) - 1, self.wide(i)))
        # sums need neither order nor unique columns, and sorting would cost more than counting
        out.has_canonical_format = out.has_sorted_indices = True
        return out


def _among(columns: np.ndarray, d: int) -> np.ndarray:
    """Which of d columns occur, (d,), by counting, which is faster than marking."""
    return np.bincount(columns, minlength=d) > 0


def _grown(before: Bundle, new: Bundle) -> Bundle:
    """The sum of two tallies, of which the second has more columns (0 in the first). Written to the second's memory."""
    total, old = new.parts[1].total, before.parts[1].total
    wide = min(old.shape[1], total.shape[1])
    total[:, :wide] += old[:, :wide]
    return Bundle((new.parts[0] + before.parts[0], Sums(new.parts[1].n + before.parts[1].n, total)))
