"""Rows as Python's dictionaries, without a dataframe: one row, a list of rows, columns by name."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from deciban import (
    AODE,
    BayesNet,
    BayesOptimal,
    CategoricalNB,
    GaussianNB,
    Gibbs,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    TreeAugmentedNB,
)
from deciban.errors import DataError

RNG = np.random.default_rng(0)
Y = np.array(["no", "yes"] * 30)
MIXED = pd.DataFrame(
    {
        "job": RNG.choice(["nurse", "cook", None], 60),
        "age": np.where(RNG.random(60) < 0.1, np.nan, RNG.normal(40, 10, 60) + 5 * (Y == "yes")),
        "member": RNG.random(60) < 0.5,
    }
)
NUMBERS = pd.DataFrame({"a": RNG.integers(0, 3, 60), "b": RNG.integers(0, 4, 60) + (Y == "yes")})
FRAMES = [MixedNB(), MixedNB(missing="informative"), MixedNB(unseen="reserve"), TreeAugmentedNB(), AODE(), BayesNet()]
ARRAYS = [GaussianNB(), MultinomialNB(), CategoricalNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()]
ARRAYS += [LogisticRegression(), BayesOptimal([GaussianNB(), LogisticRegression()], weights=[0.5, 0.5])]
ARRAYS += [Gibbs([GaussianNB(), LogisticRegression()], weights=[0.5, 0.5], random_state=0, per="prediction")]
CASES = [(model, MIXED) for model in FRAMES] + [(model, NUMBERS) for model in ARRAYS]


def rows_of(frame: pd.DataFrame) -> list[dict]:
    """Plain Python values; None where a cell is missing."""
    return [{k: None if v is None or v != v else v for k, v in row.items()} for row in frame.to_dict("records")]


@pytest.mark.parametrize(("model", "frame"), CASES, ids=[repr(model) for model, _ in CASES])
def test_f6_dictionaries_are_answered_like_the_frame(model, frame):
    model.fit(frame, Y)
    rows, columns = rows_of(frame), {name: frame[name].tolist() for name in frame}
    expected = model.predict_proba(frame)
    for given in (rows, tuple(rows), columns, {name: frame[name].to_numpy() for name in frame}):
        np.testing.assert_allclose(model.predict_proba(given), expected, rtol=1e-12)
    for i in (0, 1, 17):
        np.testing.assert_allclose(model.predict_proba(rows[i]), model.predict_proba(frame[i : i + 1]), rtol=1e-12)
    backwards = [dict(reversed(row.items())) for row in rows]
    np.testing.assert_allclose(model.predict_proba(backwards), expected, rtol=1e-12)
    assert model.predict(rows).tolist() == model.predict(frame).tolist()
    assert model.decide(rows[0]).tolist() == model.decide(frame[:1]).tolist()
    np.testing.assert_allclose(model.log_odds(rows), model.log_odds(frame), rtol=1e-9)
    np.testing.assert_allclose(model.explain(rows[:3]).total, model.explain(frame[:3]).total, rtol=1e-9)


@pytest.mark.parametrize(("model", "frame"), CASES, ids=[repr(model) for model, _ in CASES])
def test_f6_dictionaries_are_learned_like_the_frame(model, frame):
    expected = model.fit(frame, Y).predict_proba(frame)
    for given in (rows_of(frame), {name: frame[name].to_numpy() for name in frame}):
        model.fit(given, Y)
        assert model.feature_names_in_.tolist() == list(frame)
        np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-12)


def test_f6_labels_by_the_name_of_a_key():
    for model, frame in ((MixedNB(), MIXED), (GaussianNB(), NUMBERS)):
        expected = model.fit(frame, Y).predict_proba(frame)
        rows = [row | {"label": label} for row, label in zip(rows_of(frame), Y.tolist(), strict=True)]
        np.testing.assert_allclose(model.fit(rows, "label").predict_proba(frame), expected, rtol=1e-12)


def test_f6_updating_and_forgetting():
    rows = rows_of(MIXED)
    for model in (MixedNB(), GaussianNB()):
        table, frame = (rows, MIXED) if isinstance(model, MixedNB) else (rows_of(NUMBERS), NUMBERS)
        expected = model.fit(frame[:40], Y[:40]).predict_proba(frame)
        model.fit(table[:40], Y[:40]).partial_fit(table[40:], Y[40:]).forget(table[40:], Y[40:])
        np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-9)
        np.testing.assert_allclose(
            model.leave_one_out(table[:40], Y[:40]), model.leave_one_out(frame[:40], Y[:40]), rtol=1e-9
        )


def test_f6_missing_and_unknown_keys():
    model = MixedNB().fit(MIXED, Y)
    with pytest.warns(UserWarning, match="`member` not in X"):
        part = model.predict_proba({"job": "cook", "age": 30})
    with pytest.warns(UserWarning, match="`id` not known from training"):
        model.predict_proba({"job": "cook", "age": 30, "member": True, "id": object()})
    np.testing.assert_allclose(part, model.predict_proba({"job": "cook", "age": 30.0, "member": None}))
    np.testing.assert_allclose(part, model.predict_proba([{"job": "cook", "age": 30, "member": float("nan")}]))
    number = GaussianNB().fit(NUMBERS, Y)
    with pytest.raises(DataError, match=r"(?s)`b` not in X.*hint:"):
        number.predict({"a": 1})
    with pytest.warns(UserWarning, match="`id` not known from training"):
        number.predict({"a": 1, "b": 2, "id": "x1"})
    np.testing.assert_allclose(number.predict_proba({"a": 1, "b": None}), number.predict_proba([{"b": None, "a": 1}]))


WRONG = [
    ([{"a": 1, "b": 2}, [1, 2]], "row 1 is list"),
    ({"a": [1, 2], "b": [1, 2, 3]}, "column `a` has 2 cells, column `b` 3 cells"),
    ({"a": [1, 2], "b": 3}, "column `b` one cell"),
    ({"a": "one", "b": 2}, "column `a` holds text, 'one' in row 0"),
    ({"a": "1", "b": 2}, "column `a` holds text"),
    ({"a": [], "b": []}, "0 sample"),
    ({}, "not in X"),
]


@pytest.mark.parametrize(("given", "what"), WRONG, ids=[what for _, what in WRONG])
def test_f6_what_cannot_be_read_says_why(given, what):
    model = GaussianNB().fit(NUMBERS, Y)
    with pytest.raises(DataError, match="hint:") as wrong:
        model.predict(given)
    assert what in str(wrong.value)


def test_f6_names_that_the_model_never_had():
    model = GaussianNB().fit(NUMBERS.to_numpy(), Y)
    with pytest.raises(DataError, match=r"(?s)without names.*hint:"):
        model.predict({"a": 1, "b": 2})


def test_f6_sparse_matrices_that_are_dictionaries_stay_matrices():
    rows = sparse.dok_array(NUMBERS.to_numpy(dtype=float))
    expected = MultinomialNB().fit(NUMBERS.to_numpy(), Y).predict_proba(NUMBERS.to_numpy())
    np.testing.assert_allclose(MultinomialNB().fit(rows, Y).predict_proba(rows), expected)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        MixedNB().fit(rows, Y)


def test_task_75_one_row_needs_no_dataframe():
    script = """
import sys
sys.modules.update(dict.fromkeys(("pandas", "polars", "pyarrow")))  # not installed
from deciban import MixedNB
rows = [{"job": "cook", "age": 30.0}, {"job": "nurse", "age": 50.0}] * 5
model = MixedNB(alpha=1).fit(rows, ["a", "b"] * 5)
why = model.explain({"job": "cook", "age": None})
print(model.predict({"job": "cook", "age": 29}), why.to_dict()["rows"][0]["of"])
"""
    out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert out.stdout == "['a'] a\n"


def test_f6_rows_do_not_warn():
    model = LinearDiscriminantAnalysis().fit(NUMBERS, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict({"a": 1, "b": 2})
