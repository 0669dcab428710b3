"""Tables as they are, with a column of dates and one of free text, go into every classifier but models of counts; a
wrong frame gets an error that names the column, or the documented answer."""

import warnings

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban.errors import DecibanError

from ..test_logistic_tables import TABLES, raw_table
from .test_tables import MODELS

EVERY = (*MODELS, "MixedNB", "TreeAugmentedNB", "AODE", "KDependenceBayes", "BayesNet")
ROWS = 300
FITTED: dict = {}


def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    X, y = raw_table(name)
    return X[:: max(1, len(X) // ROWS)], y[:: max(1, len(X) // ROWS)]


def fitted(model: str, name: str):
    if (model, name) not in FITTED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            FITTED[model, name] = getattr(deciban, model)().fit(*table(name))
    return FITTED[model, name]


def ask(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f()


every = pytest.mark.parametrize("model", EVERY)
tables = pytest.mark.parametrize("name", TABLES)


@every
@tables
def test_a_raw_table_is_learned_and_explained_by_column(model, name):
    X, y = table(name)
    found = fitted(model, name)
    told = ask(lambda: found.predict_proba(X))
    assert np.isfinite(told).all()
    np.testing.assert_allclose(told.sum(axis=1), 1.0, atol=1e-9)
    at = np.searchsorted(found.classes_, y.to_numpy(found.classes_.dtype))
    shares = np.bincount(at) / len(at)
    assert (told.argmax(axis=1) == at).mean() > shares.max() - 0.2
    one = ask(lambda: found.explain(X[:5], of=found.classes_[0], against=found.classes_[1]))
    odds = ask(lambda: found.decibans(X[:5], against=found.classes_[1])[:, 0])
    np.testing.assert_allclose(one.total, odds, atol=1e-6)
    if found._posterior().splits:
        assert set(one.columns) <= set(X)
    again = deciban.loads(deciban.dumps(found))
    np.testing.assert_array_equal(ask(lambda: again.predict_proba(X[:50])), told[:50])


def first(X: pd.DataFrame, kind: str, lacks: tuple = ("note",)) -> str:
    """The name of the first column of texts, or of numbers."""
    are = {"text": lambda s: s.dtype.kind in "OTU", "number": lambda s: s.dtype.kind in "if"}[kind]
    return next(name for name in X if name not in lacks and are(X[name]) and X[name].nunique() > 1)


@every
@tables
def test_a_renamed_column_is_named_in_a_warning_and_missing(model, name):
    X, _ = table(name)
    number = first(X, "number")
    found = fitted(model, name)
    if number not in found._posterior().reader.columns and number not in str(found._posterior().reader.columns):
        pytest.skip("the column is not used")
    with pytest.warns(UserWarning, match=f"`{number}` not in X: taken as missing in every row"):
        told = found.predict_proba(X[:20].rename(columns={number: "other"}))
    np.testing.assert_allclose(told, ask(lambda: found.predict_proba(X[:20].assign(**{number: np.nan}))), rtol=1e-9)


@every
@tables
def test_a_text_for_a_number_is_an_error(model, name):
    X, _ = table(name)
    number = first(X, "number")
    found = fitted(model, name)
    levels = found._posterior().reader.levels or {}
    with pytest.raises(DecibanError, match=rf"(?s)`{number}`.*\n\nhint: "):
        ask(lambda: found.predict(X[:20].assign(**{number: "many"})))
    if number not in levels:
        with pytest.raises(DecibanError, match=rf"(?s)`{number}`.*\n\nhint: "):
            ask(lambda: found.predict([{**X.iloc[0].to_dict(), number: "many"}]))


@every
@tables
def test_rows_of_new_categories_and_of_nothing_have_answers(model, name):
    X, _ = table(name)
    found = fitted(model, name)
    texts = [column for column in X if X[column].dtype.kind in "OTU"]
    for rows in (X[:20].assign(**dict.fromkeys(texts, "never seen")), X[:20].assign(**dict.fromkeys(X, None))):
        told = ask(lambda rows=rows: found.predict_proba(rows))
        np.testing.assert_allclose(told.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(told, told[:1].repeat(20, axis=0))  # nothing is known of the rows


@every
@tables
def test_two_columns_of_one_name_are_an_error(model, name):
    X, y = table(name)
    number = first(X, "number")
    twice = pd.concat([X, X[[number]]], axis=1)
    with pytest.raises(DecibanError, match=rf"two columns are named `{number}`\n\nhint: "):
        fitted(model, name).predict(twice)
    with pytest.raises(DecibanError, match=rf"two columns are named `{number}`\n\nhint: "):
        getattr(deciban, model)().fit(twice, y)
