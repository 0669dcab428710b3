"""`missing="average"`: the mean of the posteriors over what a missing level might be, against the sum written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from deciban import MixedNB
from deciban.errors import DataError

from .support.data import FIXED, table


def test_lecture_example_of_a_word_that_was_not_looked_at():
    """P(spam | V=0, L=1) = 0.65, P(spam | V=1, L=1) = 0.40, P(V=1) = 0.10 → P(spam | L=1) = 0.625."""
    V = np.r_[np.arange(55) < 3, np.arange(65) < 9]
    L = np.r_[np.arange(55) < 44, np.arange(65) < 26]
    X, y = pd.DataFrame({"V": V, "L": L}), ["spam"] * 55 + ["ham"] * 65
    model = MixedNB(alpha=0, missing="average").fit(X, y)
    known = model.predict_proba(pd.DataFrame({"V": [False, True], "L": [True, True]}))[:, 1]
    assert known.round(4).tolist() == [0.65, 0.40]
    asked = pd.DataFrame({"V": [None], "L": [True]})
    assert model.predict_proba(asked)[0, 1] == pytest.approx(0.625)
    integrated = MixedNB(alpha=0).fit(X, y).predict_proba(asked)[0, 1]
    assert integrated == pytest.approx(55 * 0.8 / (55 * 0.8 + 65 * 0.4))  # another question, another answer


def written_out(model: MixedNB, alpha: float, X: pd.DataFrame, learned: pd.DataFrame, priors=None) -> np.ndarray:
    """Σ_b P(class | a, b) P(b), one row and one combination after the other."""
    out = []
    levels = model.levels_
    for i in range(len(X)):
        gone = [name for name in levels if pd.isna(X[name].iloc[i]) or X[name].iloc[i] not in levels[name]]
        total = 0.0
        for values in product(*(levels[name] for name in gone)):
            row = X.iloc[[i]].astype(object)
            share = 1.0
            for name, value in zip(gone, values, strict=True):
                row[name] = [value]
                seen = learned[name].dropna()
                share *= ((seen == value).sum() + alpha) / (len(seen) + alpha * len(levels[name]))
            for name in ("size", "price", "visits", "hour"):
                row[name] = row[name].astype(float)
            total = total + share * model.predict_proba(row, priors=priors)
        out.append(total[0])
    return np.array(out)


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize("priors", [None, [0.2, 0.5, 0.3]])
def test_average_is_the_sum_over_all_combinations(calibrate, priors):
    X, y = table(80, holes=0.3)
    model = MixedNB(families=FIXED, alpha=0.5, missing="average", calibrate=calibrate).fit(X, y)
    rows = X[:25].copy()
    rows.loc[3, "sky"] = "never seen"
    got = model.predict_proba(rows, priors=priors)
    np.testing.assert_allclose(got, written_out(model, 0.5, rows, X, priors), rtol=1e-9)
    np.testing.assert_allclose(got.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows, priors=priors)), got, rtol=1e-9)
    assert model.predict(rows, priors=priors).tolist() == model.classes_[got.argmax(axis=1)].tolist()


def test_everything_made_of_posteriors_agrees():
    X, y = table(80, holes=0.4)
    model = MixedNB(families=FIXED, missing="average").fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(model.log_odds(X), np.log(proba) - np.log1p(-proba), rtol=1e-7, atol=1e-9)
    assert (model.decide(X, reject=1.0) == model.predict(X)).all()


def test_without_missing_levels_nothing_changes():
    X, y = table(80, holes=0.0)
    X["size"] = X["size"].where(np.arange(80) % 3 > 0)  # numbers are integrated out as ever
    for settings in ({"families": FIXED}, {}, {"calibrate": True}):
        average, ignore = (MixedNB(missing=missing, **settings).fit(X, y) for missing in ("average", "ignore"))
        np.testing.assert_allclose(average.predict_log_proba(X), ignore.predict_log_proba(X), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(average.score_samples(X), ignore.score_samples(X))


def test_a_table_of_numbers_has_nothing_to_average():
    X, y = table(60, holes=0.3)
    X = X[["size", "price"]]
    average, ignore = (MixedNB(missing=missing).fit(X, y) for missing in ("average", "ignore"))
    np.testing.assert_allclose(average.predict_proba(X), ignore.predict_proba(X), rtol=1e-9)


def test_column_that_is_not_there_is_averaged_over():
    X, y = table(80)
    model = MixedNB(families=FIXED, missing="average").fit(X, y)
    with pytest.warns(UserWarning, match="`sky` not in X") as said:
        got = model.predict_proba(X.drop(columns="sky"))
    assert len(said) == 1
    np.testing.assert_array_equal(got, model.predict_proba(X.assign(sky=None)))


def test_batches_do_not_show(monkeypatch):
    X, y = table(80, holes=0.4)
    model = MixedNB(missing="average").fit(X, y)
    whole = model.predict_proba(X)
    monkeypatch.setattr("deciban.models.posterior.BATCH", 1)
    np.testing.assert_allclose(model.predict_proba(X), whole, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_too_many_combinations_are_refused_and_the_row_is_named():
    X = pd.DataFrame({f"c{j}": [f"l{i}" for i in range(33)] for j in range(2)})
    model = MixedNB(missing="average").fit(X, np.arange(33) % 2)
    assert np.isfinite(model.predict_proba(X.assign(c0=None))).all()
    with pytest.raises(DataError, match=r"row 4 have 1.09e\+03 combinations, more than 1024\n\nhint: .*'ignore'"):
        model.predict_proba(X.drop(index=4).reindex(X.index))


def test_reserved_level_is_one_of_those_averaged_over():
    X = pd.DataFrame({"c": ["u", "u", "v", "v"], "d": ["p", "q", "p", "p"]})
    model = MixedNB(alpha=1, unseen="reserve", missing="average").fit(X, [0, 0, 1, 1])
    rows = pd.DataFrame({"c": ["u", "v", "w"], "d": ["p"] * 3})
    want = np.array([3 / 7, 3 / 7, 1 / 7]) @ model.predict_proba(rows)
    np.testing.assert_allclose(model.predict_proba(pd.DataFrame({"c": [None], "d": ["p"]}))[0], want)
