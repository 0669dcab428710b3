"""Logistic regression of whole tables equals scikit-learn's pipeline of the same coding: one-hot without a reference
level, means and indicators of missing cells, StandardScaler, LogisticRegression."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import deciban
from deciban import LogisticRegression
from deciban.errors import ColumnWarning

DATA = Path(__file__).parents[2] / "shared" / "data"
TABLES = ("titanic", "adult", "saheart", "penguins", "horse_colic")
ROWS = 60_000


def raw_table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """A table as it is, with a column of dates, of durations and of free text."""
    if not DATA.exists():
        pytest.skip("the data are not here")
    about = json.loads((DATA / "manifest.json").read_text())
    about = next(one for one in about if one["name"] == name)
    (path,) = (path for path in (DATA / name).iterdir() if path.name.startswith(f"{name}.csv"))
    rows = pd.read_csv(path, keep_default_na=False, na_values=[""])[:ROWS]
    rng, n = np.random.default_rng(0), len(rows)
    X = rows.drop(columns=[about["target"], *({"split"} & set(rows))])
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="D")
    notes = [f"row {i}: {' '.join(rng.choice(['a', 'longer', 'story', 'with', 'words'], 9))}" for i in range(n)]
    return X.assign(
        when=when.where(rng.random(n) < 0.9), took=pd.to_timedelta(rng.gamma(2, 9, n), unit="h"), note=notes
    ), rows[about["target"]]


def by_hand(X: pd.DataFrame, train: pd.DataFrame, used: list[str]) -> pd.DataFrame:
    """The columns of X in the coding of the training rows."""
    out = {}
    for name in used:
        here, there = X[name], train[name]
        if here.dtype.kind in "mM":
            one = pd.Timestamp(0) if here.dtype.kind == "M" else pd.Timedelta(0)
            unit = pd.Timedelta(days=1) if here.dtype.kind == "M" else pd.Timedelta(seconds=1)
            here, there = (here - one) / unit, (there - one) / unit
        if here.dtype.kind in "fiu":
            out[name] = here.fillna(there.mean())
        else:
            count = there.value_counts()
            reference = min(count.index[count == count.max()])
            out |= {f"{name}={level}": (here == level) * 1.0 for level in sorted(count.index) if level != reference}
        if there.isna().any():
            out[f"{name} missing"] = here.isna() * 1.0
    return pd.DataFrame(out)


def fitted(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        return LogisticRegression(tol=1e-10, max_iter=1000, **settings).fit(X, y)


@pytest.mark.parametrize("name", TABLES)
def test_the_probabilities_are_those_of_a_pipeline_of_the_same_coding(name):
    X, y = raw_table(name)
    model = fitted(X, y)
    used = [code.name for code in model._coding.columns if code.used]
    assert "note" not in used
    assert {"when", "took"} < set(used)
    coded = by_hand(X, X, used)
    assert model.coef_names_ == list(coded)
    theirs = make_pipeline(StandardScaler(), Theirs(tol=1e-10, max_iter=100_000, solver="newton-cholesky")).fit(
        coded, y
    )
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(coded), atol=1e-6)
    scale, last = theirs[0].scale_, theirs[1]
    np.testing.assert_allclose(model.coef_ * scale, last.coef_, atol=1e-4)
    found = model.explain(X[:200], of=model.classes_[1], against=model.classes_[0])
    told = np.log(model.predict_proba(X[:200]))
    np.testing.assert_allclose(found.total, 10 / np.log(10) * (told[:, 1] - told[:, 0]), atol=1e-6)
    assert len(found.columns) <= len(used)
    again = deciban.loads(deciban.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("settings", [{"C": 0.3}, {"l1_ratio": 1.0, "C": 0.5}, {"C": np.inf}])
def test_the_penalty_is_on_standardised_columns(settings):
    X, y = raw_table("saheart")
    model = fitted(X, y, **settings)
    coded = by_hand(X, X, [code.name for code in model._coding.columns if code.used])
    scaled = StandardScaler().fit_transform(coded)
    solver = {"solver": "saga"} if "l1_ratio" in settings else {}
    theirs = Theirs(tol=1e-10, max_iter=100_000, **settings, **solver).fit(scaled, y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(scaled), atol=1e-6)
