"""The contract of hypotheses and structure, over every model that relaxes "naive" and every average of models."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import deciban
from deciban import (
    AODE,
    BayesNet,
    BayesOptimal,
    CategoricalNB,
    Gibbs,
    KDependenceBayes,
    LogisticRegression,
    MixedNB,
    TreeAugmentedNB,
)
from deciban.errors import DataError, NotAdditiveError

from ..support.models import each, in_pieces

pa = pytest.importorskip("pyarrow")

LEVELS = [MixedNB(alpha=1.0), MixedNB(alpha=1.0, average="subsets")]
STRUCTURED = [TreeAugmentedNB(backoff=2), AODE(backoff=2), KDependenceBayes(k=2, backoff=2)]
SINGLE = [*STRUCTURED, BayesNet(backoff=2), MixedNB(alpha=1.0, average="subsets")]
GIVEN = [0.5, 0.2, 0.3]
ENSEMBLES = [
    BayesOptimal(LEVELS, weights="evidence"),
    BayesOptimal(STRUCTURED, weights=GIVEN),
    Gibbs(LEVELS, random_state=0),
    Gibbs(STRUCTURED, weights=GIVEN, per="prediction", random_state=0),
]
every_model = each([*SINGLE, *ENSEMBLES])
every_ensemble = each(ENSEMBLES)


def levels(n: int = 150, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Four columns, two of which hang on each other; every level is among the first rows."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    x = (rng.integers(0, 3, (n, 4)) + (rng.random((n, 4)) < 0.5) * y[:, None]) % 3
    x[:, 1] = np.where(rng.random(n) < 0.6, x[:, 0], x[:, 1])
    x[:9] = (np.arange(9) // 3)[:, None]
    return pd.DataFrame({f"x{j}": np.array(["low", "mid", "high"])[x[:, j]] for j in range(4)}), np.array(list("abc"))[
        y
    ]


def on_arrow(X: pd.DataFrame, y: np.ndarray, cuts=(60,)) -> list:
    rows = pa.Table.from_pandas(X.assign(label=y), preserve_index=False)
    edges = [0, *cuts, rows.num_rows]
    return [rows.slice(a, b - a) for a, b in pairwise(edges)]


def assert_same(a, b, X) -> None:
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert hasattr(a, "evidence_") == hasattr(b, "evidence_")
    if hasattr(a, "evidence_"):
        assert a.evidence_ == pytest.approx(b.evidence_, rel=1e-12)


@every_model
def test_pieces_sums_and_what_is_left_are_one_fit(model):
    X, y = levels()
    whole, half = clone(model).fit(X, y), clone(model).fit(X[:90], y[:90])
    assert_same(in_pieces(model, X, y, [40, 90]), whole, X)
    assert_same(half + clone(model).fit(X[90:], y[90:]), whole, X)
    assert_same(clone(model).fit(X, y).forget(X[90:], y[90:]), half, X)


@every_model
def test_data_read_in_batches_give_the_model_of_all_rows(model, tmp_path):
    X, y = levels()
    whole, batches = clone(model).fit(X, y), on_arrow(X, y)
    streamed = clone(model).fit_on(pa.concat_tables(batches))
    assert_same(streamed, whole, X)
    assert streamed.feature_names_in_.tolist() == X.columns.tolist()
    answers = streamed.predict_on(batches[0]).to_pandas()
    np.testing.assert_allclose(answers[["p_a", "p_b", "p_c"]], whole.predict_proba(X[:60]), rtol=1e-9, atol=1e-12)
    deciban.save(streamed, tmp_path / "model.deciban")
    assert_same(deciban.load(tmp_path / "model.deciban"), whole, X)


@every_model
def test_weights_in_a_column_are_weights(model):
    X, y = levels()
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    rows = pa.Table.from_pandas(X.assign(label=y, w=w), preserve_index=False)
    assert_same(clone(model).fit_on(rows, sample_weight="w"), clone(model).fit(X, y, sample_weight=w), X)


@each([*SINGLE, *ENSEMBLES[:2]])
def test_explanation_sums_to_the_log_odds(model):
    X, y = levels()
    fitted = clone(model).fit(X, y)
    why = fitted.explain(X[:20], of="a", against="b")
    np.testing.assert_allclose(why.prior + why.decibans.sum(axis=1), fitted.decibans(X[:20], against="b")[:, 0])


@every_model
def test_drawn_rows_teach_what_was_learned(model):
    X, y = levels()
    fitted = clone(model).fit(X, y)
    drawn, labels = fitted.sample(3000, random_state=0)
    assert drawn.columns.tolist() == X.columns.tolist()
    again = clone(model).fit(drawn, labels)
    assert np.abs(again.predict_proba(X) - fitted.predict_proba(X)).mean() < 0.08


@each([*SINGLE[:3], BayesNet([(0, 1)], backoff=2), *ENSEMBLES[1::2]])
def test_a_row_left_out_is_a_fit_without_it(model):
    """Where structure and weights are the same without the row; folds judge the others."""
    X, y = levels()
    left = clone(model).fit(X, y).leave_one_out(X, y)
    same = 0
    for i in range(0, len(y), 10):
        rest = np.arange(len(y)) != i
        again = clone(model).fit(X[rest], y[rest])
        same += np.allclose(left[i], again.predict_log_proba(X.iloc[[i]])[0], atol=1e-9)
    assert same >= 10


@pytest.mark.parametrize("ensemble", [BayesOptimal, Gibbs])
def test_weights_by_schwarz_take_one_more_pass(ensemble):
    X, y = levels()
    X = X.apply(lambda column: column.map({"low": 0, "mid": 1, "high": 2}))
    models = [CategoricalNB(), CategoricalNB(alpha=30.0)]
    whole = ensemble(models, weights="bic").fit(X, y)
    batches = pa.concat_tables(on_arrow(X, y))
    streamed = ensemble(models, weights="bic").fit_on(batches)
    np.testing.assert_allclose(streamed.log_evidence_, whole.log_evidence_)
    np.testing.assert_allclose(streamed.weights_, whole.weights_, rtol=1e-9)
    with pytest.raises(DataError, match=r"(?s)probabilities of different data.*'loo'"):
        ensemble([CategoricalNB(), LogisticRegression()], weights="bic").fit_on(batches)


@pytest.mark.parametrize("ensemble", [BayesOptimal, Gibbs])
def test_what_cannot_be_learned_in_batches_is_said(ensemble):
    X, y = levels()
    rows = pa.concat_tables(on_arrow(X, y))
    with pytest.raises(NotAdditiveError, match=r"(?s)`tree`, a DecisionTreeClassifier, .*in memory only.*hint: use"):
        ensemble({"tree": DecisionTreeClassifier()}, weights=[1.0]).fit_on(rows)
    with pytest.raises(DataError, match="there are no models"):
        ensemble([]).fit_on(rows)
    with pytest.raises(DataError, match=r"(?s)`checkpoint` is for models that read the data once"):
        ensemble(LEVELS).fit_on(rows, checkpoint="there")
    with pytest.raises(DataError, match="once"):
        ensemble(LEVELS).fit_on(iter(on_arrow(X, y)))


@every_ensemble
def test_dask_gives_the_same_ensemble(model):
    dd = pytest.importorskip("dask.dataframe")
    X, y = levels()
    frame = dd.from_pandas(X.assign(label=y), npartitions=3)
    assert_same(clone(model).fit_on(frame), clone(model).fit(X, y), X)
