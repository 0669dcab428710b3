"""Logistic regression of words, as weights of words.

    logistic      x = (1 + log count) · idf, to length 1; one softmax over all classes
    nb-logistic   x = presence · r[c], for each class against the rest: columns are multiplied by naive Bayes' log-count
                  ratios r[c] = log θ[c] / θ[rest] (Wang and Manning 2012). counts=True: tf-idf, as above, times r[c]

A regression of x ∘ r is naive Bayes where its coefficients are all alike, and may correct each word from there.

>>> from deciban import TextClassifier
>>> model = TextClassifier("nb-logistic").fit(["good film", "bad film", "good", "bad"], ["+", "-", "+", "-"])
>>> model.predict(["a good one"]).tolist()
['+']
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from deciban.classifiers.logistic import LogisticRegression
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
    nothing, scale = np.zeros(t.k), None
    if kind == "logistic" or counts:
        scale = 1.0 + np.log((1.0 + t.n.sum()) / (1.0 + t.texts))
    value = PRESENCE if scale is None else LOG_COUNT
    blank = WordWeights(t.start, t.label, t.count, nothing, nothing, value, scale)
    with threadpool_limits(1):  # products of short vectors: BLAS threads would only wait for each other
        w = None if class_weight is None else class_weight[y]
        return (_softmax if kind == "logistic" else _ratios)(t, scaled(X, blank), y, w, C, alpha, blank)


def _fit(x: sparse.csr_array, y: np.ndarray, w: np.ndarray | None, C: float, kind: str) -> LogisticRegression:
    return LogisticRegression(C=C, tol=TOL[kind], max_iter=500).fit(x, y, sample_weight=w)


def _softmax(t: WordTally, x: sparse.csr_array, y: np.ndarray, w: Any, C: float, alpha: float, blank: WordWeights):
    fitted = _fit(x, y, w, C, "logistic")
    coef, bias = fitted.coef_, fitted.intercept_
    if t.k == 2:
        coef, bias = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, bias)
    return _dense(coef.T, bias, blank)


def _ratios(t: WordTally, x: sparse.csr_array, y: np.ndarray, w: Any, C: float, alpha: float, blank: WordWeights):
    coef, bias = np.zeros((t.k, t.d)), np.zeros(t.k)
    for c in [1] if t.k == 2 else range(t.k):
        shares = Multinomial(alpha, "even").shares(t.against_rest(c))
        ratio = np.log(shares[:, 1] / shares[:, 0])
        own = sparse.csr_array((x.data * ratio[x.indices], x.indices, x.indptr), shape=x.shape)
        fitted = _fit(own, y == c, w, C, "nb-logistic")
        coef[c], bias[c] = fitted.coef_[0] * ratio, fitted.intercept_[0]
    return _dense(coef.T, bias, blank)


def _dense(coef: np.ndarray, bias: np.ndarray, blank: WordWeights) -> WordWeights:
    d, k = coef.shape
    label = np.tile(np.arange(k, dtype=np.int32), d)
    start = np.arange(0, d * k + 1, k, dtype=np.int64)
    return WordWeights(start, label, np.ascontiguousarray(coef).ravel(), blank.unit, bias, blank.value, blank.scale)
