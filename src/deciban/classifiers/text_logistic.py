"""Logistic regression of words, as weights of words.

    logistic      x = (1 + log count) · idf, to length 1; one softmax over all classes
    nb-logistic   x = presence · r[c], for each class against the rest: columns are multiplied by naive Bayes' log-count
                  ratios r[c] = log θ[c] / θ[rest] (Wang and Manning 2012). counts=True: tf-idf, as above, times r[c]

A regression of x ∘ r is naive Bayes where its coefficients are all alike, and may correct each word from there.

Many words are in the same texts: most of all those that are in one text only. m equal columns x with coefficients w are
one column √m x with the coefficient √m w, at the same penalty, so that a regression has the distinct columns alone.

>>> from deciban import TextClassifier
>>> model = TextClassifier("nb-logistic").fit(["good film", "bad film", "good", "bad"], ["+", "-", "+", "-"])
>>> model.predict(["a good one"]).tolist()
['+']
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from deciban import decision
from deciban.classifiers.logistic import LogisticRegression
from deciban.text.kept_texts import mixed
from deciban.text.word_scores import scaled
from deciban.text.word_tally import WordTally
from deciban.text.word_weights import LOG_COUNT, PRESENCE, Multinomial, WordWeights

STRENGTH = {"logistic": 10.0, "nb-logistic": 1.0}  # C, where none is given
TOL = {"logistic": 1e-3, "nb-logistic": 1e-2}  # of the gradient; words are many, and answers do not change any more


def trained(
    kind: str,
    counts: bool,
    t: WordTally,
    X: sparse.csr_array,
    y: np.ndarray,
    C: float | None,
    alpha: float,
    class_weight: np.ndarray | None = None,
) -> WordWeights:
    """The weights of words (d, k) that tell texts X (n, d) of classes y apart."""
    C = STRENGTH[kind] if C is None else C
    blank = blank_weights(kind, counts, t)
    if t.d == 0:  # no word to tell the classes apart by
        return replace(blank, bias=decision.log_prior(t.n if class_weight is None else t.n * class_weight))
    with threadpool_limits(1):  # products of short vectors: BLAS threads would only wait for each other
        w = None if class_weight is None else class_weight[y]
        x = Distinct.of(scaled(X, blank))
        return (_softmax if kind == "logistic" else _ratios)(t, x, y, w, C, alpha, blank)


def blank_weights(kind: str, counts: bool, t: WordTally) -> WordWeights:
    """Weights to be filled in: what words are worth in a text, before anything is learned of them."""
    nothing, scale = np.zeros(t.k), None
    if kind == "logistic" or counts:
        scale = 1.0 + np.log((1.0 + t.n.sum()) / (1.0 + t.texts))
    value = PRESENCE if scale is None else LOG_COUNT
    return WordWeights(t.start, t.label, t.count, nothing, nothing, value, scale)


@dataclass(frozen=True)
class Distinct:
    """The distinct columns of a matrix, each times the root of how often it is there.

    >>> x = Distinct.of(sparse.csr_array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]))
    >>> x.columns.toarray().round(2).tolist(), x.spread(np.array([[1.0, 3.0]])).round(2).tolist()
    ([[1.41, 0.0], [0.0, 2.0]], [[0.71, 3.0, 0.71]])
    """

    columns: sparse.csr_array  # (n, distinct)
    first: np.ndarray  # (distinct,), a column that is such
    place: np.ndarray  # (d,), where each column went
    root: np.ndarray  # (distinct,)

    @classmethod
    def of(cls, x: sparse.csr_array) -> Distinct:
        by_column = x.tocsc()
        row = mixed(by_column.indices.astype(np.uint64) + np.uint64(1))
        cells = row * mixed(np.ascontiguousarray(by_column.data).view(np.uint64))
        total = np.concatenate([[np.uint64(0)], np.cumsum(cells, dtype=np.uint64)])
        key = total[by_column.indptr[1:]] - total[by_column.indptr[:-1]]
        _, first, place, times = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        first, root = first[order], np.sqrt(times[order])
        some = sparse.csr_array(by_column[:, first])
        some.data *= root[some.indices]
        return cls(some, first, rank[place.ravel()], root)

    def times(self, factor: np.ndarray) -> sparse.csr_array:
        """The columns times a factor that equal columns share, (d,)."""
        x = self.columns
        return sparse.csr_array((x.data * factor[self.first][x.indices], x.indices, x.indptr), shape=x.shape)

    def spread(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of distinct columns (k, distinct) as those of all, (k, d)."""
        return (coef / self.root)[:, self.place]


def _fit(x: sparse.csr_array, y: np.ndarray, w: np.ndarray | None, C: float, kind: str) -> LogisticRegression:
    return LogisticRegression(C=C, tol=TOL[kind], max_iter=500).fit(x, y, sample_weight=w)


def _softmax(t: WordTally, x: Distinct, y: np.ndarray, w: Any, C: float, alpha: float, blank: WordWeights):
    fitted = _fit(x.columns, y, w, C, "logistic")
    coef, bias = x.spread(fitted.coef_), fitted.intercept_
    if t.k == 2:
        coef, bias = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, bias)
    return _dense(coef.T, bias, blank)


def _ratios(t: WordTally, x: Distinct, y: np.ndarray, w: Any, C: float, alpha: float, blank: WordWeights):
    coef, bias = np.zeros((t.k, t.d)), np.zeros(t.k)
    for c in [1] if t.k == 2 else range(t.k):
        shares = Multinomial(alpha, "even").shares(t.against_rest(c))
        ratio = np.log(shares[:, 1] / shares[:, 0])
        fitted = _fit(x.times(ratio), y == c, w, C, "nb-logistic")
        coef[c], bias[c] = x.spread(fitted.coef_)[0] * ratio, fitted.intercept_[0]
    return _dense(coef.T, bias, blank)


def _dense(coef: np.ndarray, bias: np.ndarray, blank: WordWeights) -> WordWeights:
    d, k = coef.shape
    label = np.tile(np.arange(k, dtype=np.int32), d)
    start = np.arange(0, d * k + 1, k, dtype=np.int64)
    return WordWeights(start, label, np.ascontiguousarray(coef).ravel(), blank.unit, bias, blank.value, blank.scale)
