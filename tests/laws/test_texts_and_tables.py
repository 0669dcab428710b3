"""A text classifier equals the naive Bayes classifier of tables on the counted words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import BernoulliNB, ComplementNB, CountVectorizer, MultinomialNB, TextClassifier
from deciban.tallies.basic import RoundedSums
from deciban.tallies.sparse_table import SparseTable
from deciban.text.naive_bayes import MODELS

from ..support.strategies import LAWS

WORDS = ["tea", "cake", "milk", "rain", "chair", "lamp"]
EVERY = [" ".join(WORDS), " ".join(reversed(WORDS))]  # so that each word is in two texts, whichever one is left out
TABLES = {"multinomial": MultinomialNB, "complement": ComplementNB, "bernoulli": BernoulliNB}
NEAR = {"rtol": 1e-10, "atol": 1e-10}

texts = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), st.sampled_from("xyz")),
    min_size=2,
    max_size=10,
)
alphas = st.sampled_from([1e-3, 0.5, 1.0, 7.0])


def text_model(name: str, alpha: float, smoothing: str = "even") -> TextClassifier:
    return TextClassifier(name, alpha=alpha, smoothing=smoothing, counts=True)


def learned(model: TextClassifier, rows: list, how: str) -> TextClassifier:
    """A model of these rows: by one fit, by a merge of models with different classes, or after removing others."""
    X, y = zip(*rows, strict=True)
    if how == "merged":
        parts = [[row for row in rows if (row[1] == "x") == own] for own in (True, False)]
        return sum(TextClassifier(**model.get_params()).fit(*zip(*part, strict=True)) for part in parts)
    if how == "forgotten":
        more, labels = ["tea rain tea", "snow", "cake"], ["x", "other", "z"]
        return model.fit([*X, *more], [*y, *labels]).forget(more, labels)
    return model.fit(X, y)


def corpus(rows: list) -> tuple[list, np.ndarray, np.ndarray]:
    """(rows, counts, labels), where every word is in two texts or more and there are two classes or more."""
    rows = [*rows, (EVERY[0], "x"), (EVERY[1], "y")]
    X, y = zip(*rows, strict=True)
    return rows, CountVectorizer(vocabulary=sorted(WORDS)).fit_transform(X).toarray(), np.array(y)


def assert_same_model(own: TextClassifier, table: Any, rows: list, X: np.ndarray, y: np.ndarray) -> None:
    words = [text for text, _ in rows]
    np.testing.assert_allclose(own.predict_log_proba(words), table.predict_log_proba(X), **NEAR)
    a, b = y[0], next(label for label in y if label != y[0])
    mine, theirs = own.explain(words, of=a, against=b), table.explain(X, of=a, against=b)
    np.testing.assert_allclose(mine.total, theirs.total, **NEAR)


@pytest.mark.parametrize("how", ["one fit", "merged", "forgotten"])
@pytest.mark.parametrize("name", sorted(TABLES))
@LAWS
@given(rows=texts, alpha=alphas)
def test_texts_equal_tables_of_their_counts(name, how, rows, alpha):
    rows, X, y = corpus(rows)
    own, table = learned(text_model(name, alpha), rows, how), TABLES[name](alpha=alpha).fit(X, y)
    assert_same_model(own, table, rows, X, y)
    left = own.leave_one_out([text for text, _ in rows], y)
    np.testing.assert_allclose(left, table.leave_one_out(X, y), **NEAR)


@pytest.mark.parametrize("name", sorted(TABLES))
@LAWS
@given(rows=texts, alpha=alphas)
def test_one_class_against_the_rest_equals_a_table_of_two_classes(name, rows, alpha):
    rows, X, y = corpus(rows)
    own = text_model(name, alpha).fit([text for text, _ in rows], y).one_vs_rest()["x"]
    assert_same_model(own, TABLES[name](alpha=alpha).fit(X, y == "x"), rows, X, y == "x")


@pytest.mark.parametrize("how", ["one fit", "merged", "forgotten"])
@LAWS
@given(rows=texts, alpha=alphas)
def test_smoothing_by_the_corpus_is_a_pseudo_count_of_each_word(how, rows, alpha):
    rows, X, y = corpus(rows)
    own = learned(text_model("multinomial", alpha, "corpus"), rows, how)
    assert_same_model(own, MultinomialNB(alpha=alpha * X.sum(axis=0)).fit(X, y), rows, X, y)


@pytest.mark.parametrize("smoothing", ["even", "corpus"])
@pytest.mark.parametrize("name", sorted(TABLES))
@LAWS
@given(rows=texts, alpha=alphas)
def test_leaving_a_text_out_equals_a_fit_without_it(name, smoothing, rows, alpha):
    rows = [*rows, ("tea cake", "x"), ("milk", "x"), ("tea", "y"), ("rain", "y"), ("lamp", "z"), ("tea", "z")]
    X, y = (list(column) for column in zip(*rows, strict=True))
    whole = text_model(name, alpha, smoothing).fit(X, y)
    left = whole.leave_one_out(X, y)
    for i in range(len(rows)):
        rest = text_model(name, alpha, smoothing).fit(X[:i] + X[i + 1 :], y[:i] + y[i + 1 :])
        np.testing.assert_allclose(left[i], rest.predict_log_proba([X[i]])[0], **NEAR)


@st.composite
def tables(draw: Any) -> np.ndarray:
    k, d = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    cells = draw(st.lists(st.integers(0, 3), min_size=k * d, max_size=k * d))
    return np.array(cells, dtype=np.float64).reshape(k, d)


def as_sparse(table: np.ndarray) -> Any:
    column, label = np.nonzero(table.T)
    start = np.searchsorted(column, np.arange(table.shape[1] + 1))
    return SparseTable.from_cells(start, label.astype(np.int32), table[label, column], len(table))


@pytest.mark.parametrize("name", sorted(MODELS))
@LAWS
@given(table=tables(), alpha=alphas, by_column=st.booleans())
def test_log_terms_of_sparse_sums_equal_those_of_dense_sums(name, table, alpha, by_column):
    pseudo = alpha * (1.0 + np.arange(table.shape[1])) if by_column and name != "bernoulli" else alpha
    family, n = MODELS[name](pseudo), table.max(axis=1) + 2.0
    for dense, few in zip(
        family.log_terms(RoundedSums(n, table)), family.log_terms(RoundedSums(n, as_sparse(table))), strict=True
    ):
        if dense is None:
            assert few is None
            continue
        np.testing.assert_allclose(few.toarray(), dense, **NEAR)
        for axis in (None, 0, 1):
            np.testing.assert_allclose(few.sum(axis=axis), dense.sum(axis=axis), **NEAR)
