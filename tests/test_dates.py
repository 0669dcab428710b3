"""Dates and durations in the models of typed columns: numbers with a unit, the same in every library."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deciban
from deciban import (
    AODE,
    BayesNet,
    CategoricalNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    TreeAugmentedNB,
    top_evidence,
)
from deciban.errors import ColumnWarning, DataError, MergeError

N = 120
DAYS = [
    dt.datetime(2024, 1, 1) + dt.timedelta(days=float(d)) for d in np.random.default_rng(0).normal(0, 40, N).round(1)
]
SPANS = [dt.timedelta(minutes=float(m)) for m in np.random.default_rng(1).gamma(2, 30, N).round(1)]
Y = np.where(np.array(DAYS) > dt.datetime(2024, 1, 1), "late", "early")
X = pd.DataFrame({"when": DAYS, "took": SPANS})
NUMBERS = pd.DataFrame(
    {"when": (X["when"] - pd.Timestamp(0)) / pd.Timedelta(days=1), "took": X["took"].dt.total_seconds()}
)
MODELS = [MixedNB, TreeAugmentedNB, AODE, BayesNet]


@pytest.mark.parametrize("model", MODELS)
def test_a_date_is_its_days_and_a_duration_its_seconds(model):
    dated, plain = model().fit(X, Y), model().fit(NUMBERS, Y)
    np.testing.assert_allclose(dated.predict_proba(X), plain.predict_proba(NUMBERS), rtol=1e-12)
    for other in (pl.DataFrame({"when": DAYS, "took": SPANS}), pa.table({"when": DAYS, "took": SPANS})):
        np.testing.assert_array_equal(dated.predict_proba(other), dated.predict_proba(X))
        np.testing.assert_array_equal(model().fit(other, Y).predict_proba(X), dated.predict_proba(X))


@pytest.mark.parametrize("model", MODELS)
def test_numbers_are_no_dates(model):
    with pytest.raises(DataError, match="`when` holds numbers, but was learned as dates"):
        model().fit(X, Y).predict(NUMBERS)
    with pytest.raises(DataError, match="`when` holds dates, but was learned as numbers"):
        model().fit(NUMBERS, Y).predict(X)
    gaps = X.assign(when=pd.Series([None] * N, dtype=object))
    assert len(model().fit(X, Y).predict(gaps)) == N


def test_models_of_dates_and_of_numbers_do_not_add_up():
    with pytest.raises(MergeError, match="`when` holds dates in one model and numbers in the other"):
        MixedNB().fit(X, Y) + MixedNB().fit(NUMBERS, Y)


def test_explanations_samples_and_evidence_show_dates():
    model = MixedNB().fit(X, Y)
    assert str(DAYS[0].date()) in str(model.explain(X[:1]))
    drawn, _ = model.sample(50, random_state=0)
    assert len(model.predict(drawn)) == 50
    assert top_evidence(model)["late"][0].column == "when"


def test_files_of_dates_are_learned_from_in_batches(tmp_path):
    late = X.assign(label=Y).sort_values("when")
    late.loc[late.index[:60], "when"] = pd.NaT  # the first batches have no date at all
    late.to_parquet(tmp_path / "rows.parquet", row_group_size=20)
    model = MixedNB(families="gaussian").fit_on(tmp_path / "rows.parquet")
    whole = MixedNB(families="gaussian").fit(late[["when", "took"]], late["label"])
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    deciban.save(model, tmp_path / "m")
    np.testing.assert_array_equal(deciban.load(tmp_path / "m").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("model", [MixedNB, LogisticRegression, LinearDiscriminantAnalysis, CategoricalNB])
def test_dates_in_csv_files_are_read_for_a_model_of_dates(model, tmp_path):
    rows = X[["when"]].assign(
        story=[f"this is the long and windy story of row number {i}" for i in range(N)], size=range(N)
    )
    kept = rows.drop(columns="story") if model is MixedNB else rows
    rows.to_csv(tmp_path / "rows.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        fitted = model().fit(kept, Y)
    fitted.predict_on(tmp_path / "rows.csv", out=tmp_path / "out.csv")
    told = pd.read_csv(tmp_path / "out.csv")["p_late"]
    np.testing.assert_allclose(told, fitted.predict_proba(kept)[:, 1], rtol=1e-9)


def test_far_times_are_rounded():
    far = pa.array([2_900_658_297_600, None, 0, 86_400], pa.timestamp("s"))
    model = deciban.MixedNB().fit(pa.table({"t": far, "x": [1.0, 2.0, 3.0, 4.0]}), [0, 1, 0, 1])
    assert np.isfinite(model.predict_proba(pa.table({"t": far, "x": [1.0, 2.0, 3.0, 4.0]}))).all()
