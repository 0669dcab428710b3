"""Laws of coded columns: any table goes into any classifier that is not a model of counts.

Columns are known by name; wrong frames are refused, or get the documented answer; evidence by column adds up to the log
odds; files, pickles, updates and sums keep the coding.
"""

import datetime as dt
import pickle
import warnings
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import deciban
from deciban.errors import ColumnWarning, DataError, DecibanError, MergeError, ModelFileError

N = 160
RNG = np.random.default_rng(0)
CELLS = {
    "sex": RNG.choice(["m", "f"], N).tolist(),
    "port": RNG.choice(["S", "C", "Q"], N, p=[0.6, 0.3, 0.1]).tolist(),
    "age": RNG.normal(40, 10, N).round(1).tolist(),
    "price": [Decimal(int(v)) / 4 for v in RNG.gamma(2, 40, N)],
    "rich": RNG.choice([True, False], N).tolist(),
    "when": [dt.datetime(2024, 1, 1) + dt.timedelta(hours=int(h)) for h in RNG.integers(0, 9000, N)],
    "took": [dt.timedelta(minutes=int(m)) for m in RNG.gamma(2, 30, N)],
}
COMPLETE = pd.DataFrame(CELLS)
Y = np.where((COMPLETE["sex"] == "m") & (COMPLETE["age"] > 38) | (RNG.random(N) < 0.2), "yes", "no")
GAPS = {name: [None if RNG.random() < 0.06 else cell for cell in cells] for name, cells in CELLS.items()}
X = pd.DataFrame(GAPS)
NOTES = [f"passenger {i} had asked for a cabin with a window, twice" for i in range(N)]
FITTED_ON = {name: cells for name, cells in GAPS.items() if name not in ("price", "took")}  # that CSV files hold too
FRAMES = {"pandas": X, "polars": pl.DataFrame(GAPS), "arrow": pa.table(GAPS)}
GENERATIVE = (
    "GaussianNB",
    "BernoulliNB",
    "CategoricalNB",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "FisherDiscriminant",
)
MODELS = (*GENERATIVE, "LogisticRegression")
DATED = ("BernoulliNB", "CategoricalNB", "LinearDiscriminantAnalysis", "FisherDiscriminant", "LogisticRegression")
LEVELLED = (*GENERATIVE[3:], "LogisticRegression")  # have no column for the only level of a category
every = pytest.mark.parametrize("name", MODELS)
generative = pytest.mark.parametrize("name", GENERATIVE)


def fitted(name: str, rows=X, y=Y, **settings):
    return getattr(deciban, name)(**settings).fit(rows, y)


@every
@pytest.mark.parametrize("library", FRAMES)
def test_every_library_and_rows_as_dictionaries_give_one_model(name, library):
    model, told = fitted(name), fitted(name).predict_proba(X)
    assert (model.n_features_in_, model.feature_names_in_.tolist()) == (7, list(X))
    assert told.shape == (N, 2)
    np.testing.assert_allclose(fitted(name, FRAMES[library]).predict_proba(X), told, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(FRAMES[library]), told, rtol=1e-9)
    rows = [{key: GAPS[key][i] for key in GAPS} for i in range(N)]
    np.testing.assert_allclose(fitted(name, rows).predict_proba(rows[:5]), told[:5], rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(rows[3]), told[3:4], rtol=1e-9)


@every
def test_columns_are_known_by_name(name):
    model = fitted(name)
    told = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X[list(X)[::-1]]), told)
    with pytest.warns(UserWarning, match="`more` not known from training: ignored"):
        np.testing.assert_array_equal(model.predict_proba(X.assign(more=1)), told)
    with pytest.warns(UserWarning, match="`sex` not in X: taken as missing in every row"):
        lacking = model.predict_proba(X.drop(columns="sex"))
    np.testing.assert_array_equal(lacking, model.predict_proba(X.assign(sex=None)))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(model.predict_proba(X.astype(object).to_numpy()), told)


WRONG = {
    "renamed": (lambda X: X.rename(columns={name: name + "_" for name in X}), "none of the columns `sex`"),
    "text for a number": (lambda X: X.assign(age="old"), "`age` holds str"),
    "text for a date": (lambda X: X.assign(when="monday"), "`when` holds str"),
    "numbers for a date": (lambda X: X.assign(when=1.5), "`when` holds numbers, but was learned as dates"),
    "numbers for text": (lambda X: X.assign(sex=1.5), "`sex` holds int|`sex` holds float"),
    "infinite": (lambda X: X.assign(age=np.inf), "infinity .*`age`"),
    "two columns of one name": (lambda X: pd.concat([X, X[["sex"]]], axis=1), "two columns are named `sex`"),
    "lists": (lambda X: X.assign(port=[["S"]] * len(X)), "`port` holds list objects"),
}


@every
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_frames_are_refused_by_the_name_of_the_column(name, wrong):
    change, says = WRONG[wrong]
    model = fitted(name)
    with pytest.raises(DecibanError, match=rf"(?s){says}.*\n\nhint: "):
        model.predict(change(X))
    model = fitted(name, COMPLETE)
    with pytest.raises(DecibanError, match=rf"(?s){says}.*\n\nhint: "):
        model.partial_fit(change(COMPLETE), Y)


@every
def test_columns_that_are_of_no_use_are_left_out_and_named(name):
    wide = X.assign(note=NOTES, nothing=pd.Series([None] * N, dtype=object))
    with pytest.warns(ColumnWarning, match="`note` is free text: left out; `nothing` has no values: left out") as seen:
        model = fitted(name, wide)
    assert len(seen) == 1
    assert model.n_features_in_ == 9
    with pytest.warns(ColumnWarning, match="`note` is free text: left out"):
        getattr(deciban, name)().partial_fit(COMPLETE.assign(note=NOTES), Y, classes=["no", "yes"])
    told = fitted(name).predict_proba(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(model.predict_proba(wide), told, rtol=1e-12)
        np.testing.assert_allclose(model.predict_proba(X.assign(note=1, nothing="x")), told, rtol=1e-12)
        np.testing.assert_allclose(model.predict_proba(X), told, rtol=1e-12)
    with pytest.raises(DataError, match="no column is left to learn from: `note` is free text"):
        fitted(name, wide[["note"]])


@every
def test_a_new_level_is_no_evidence(name):
    model = fitted(name)
    new = X.assign(port="Z")
    if name in GENERATIVE:
        np.testing.assert_array_equal(model.predict_proba(new), model.predict_proba(X.assign(port=None)))
    if not model._posterior().splits:
        return
    found = model.explain(new)
    assert np.abs(found.decibans[:, found.columns.index("port")]).max() < 1e-9


@every
def test_the_evidence_of_a_category_is_one_line_and_adds_up(name):
    model = fitted(name)
    found = model.explain(X, of="yes", against="no")
    odds = model.decibans(X, against="no")[:, model.classes_.tolist().index("yes")]
    np.testing.assert_allclose(found.total, odds, atol=1e-8)
    if model._posterior().splits:
        assert list(found.columns) == list(X)
        assert "2024-" in str(found)


@every
def test_files_and_pickles_keep_the_coding(name):
    model = fitted(name)
    told = model.predict_proba(X)
    for again in (deciban.loads(deciban.dumps(model)), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(FRAMES["polars"]), told)
        assert again.feature_names_in_.tolist() == list(X)


@every
def test_a_frame_of_numbers_is_the_array(name):
    numbers = pd.DataFrame({"a": RNG.integers(0, 3, N), "b": RNG.random(N) < 0.5, "c": RNG.integers(0, 2, N) * 1.0})
    model = fitted(name, numbers)
    assert model._posterior().reader.coding is None
    plain = numbers.to_numpy(dtype=np.float64)
    np.testing.assert_array_equal(model.predict_proba(numbers), fitted(name, plain).predict_proba(plain))


@every
def test_predictions_for_files_are_those_for_frames(name, tmp_path):
    model = fitted(name)
    rows = pa.table(GAPS)
    found = model.predict_on(rows)
    np.testing.assert_allclose(np.asarray(found["p_yes"]), model.predict_proba(X)[:, 1], rtol=1e-12)


@every
@pytest.mark.parametrize("form", ["table", "batches", "parquet", "csv"])
def test_columns_of_files_are_coded_as_those_of_a_frame(name, form, tmp_path):
    rows = pa.table(FITTED_ON).append_column("label", [Y.tolist()])
    if form == "csv":  # where dates are texts
        rows = rows.drop_columns("when")
    if form == "batches":  # of one library, in uneven parts, the first of which lacks a level
        order = np.argsort(X["port"].fillna("").to_numpy(str), kind="stable")
        rows = pa.concat_tables([rows.take(part) for part in np.split(order, [20, 90])])
    if form == "parquet":
        pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=50)
        rows = tmp_path / "rows.parquet"
    if form == "csv":
        pacsv.write_csv(rows, tmp_path / "rows.csv")
        rows = tmp_path / "rows.csv"
    model = getattr(deciban, name)().fit_on(rows)
    frame = pd.DataFrame(FITTED_ON) if form != "csv" else pd.read_csv(tmp_path / "rows.csv").drop(columns="label")
    told = fitted(name, frame)
    reader, same = model._posterior().reader, told._posterior().reader
    assert reader.coding.labels == same.coding.labels
    if name != "LogisticRegression":  # whose means are rounded in another order of the rows
        assert reader.coding == same.coding
    np.testing.assert_allclose(model.predict_proba(frame), told.predict_proba(frame), rtol=1e-5, atol=1e-7)
    assert (model.n_features_in_, model.feature_names_in_.tolist()) == (told.n_features_in_, list(frame))
    again = deciban.loads(deciban.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


@every
def test_rows_of_files_are_weighted_and_columns_of_no_use_named(name):
    w = np.random.default_rng(2).integers(1, 4, N).astype(float)
    rows = pa.table({**FITTED_ON, "note": NOTES, "w": w, "label": Y.tolist()})
    with pytest.warns(ColumnWarning, match="`note` is free text: left out"):
        model = getattr(deciban, name)().fit_on(rows, sample_weight="w")
    with pytest.warns(ColumnWarning):
        told = getattr(deciban, name)().fit(pd.DataFrame(FITTED_ON).assign(note=NOTES), Y, sample_weight=w)
    frame = pd.DataFrame(FITTED_ON)
    np.testing.assert_allclose(model.predict_proba(frame), told.predict_proba(frame), rtol=1e-5, atol=1e-7)


@every
def test_a_stream_that_can_be_read_once_is_refused_for_coded_columns(name):
    rows = pa.table(FITTED_ON).append_column("label", [Y.tolist()])
    with pytest.raises(DecibanError, match=r"(?s)once.*\n\nhint: "):
        getattr(deciban, name)().fit_on(iter([rows]))


def test_columns_of_two_types_in_parts_of_the_data_are_refused(tmp_path):
    for part, port in enumerate((["S", "C"], [1, 2])):
        pq.write_table(pa.table({"port": port, "age": [1.0, 2.0], "label": ["a", "b"]}), tmp_path / f"{part}.parquet")
    with pytest.raises(DataError, match="column `port`"):
        deciban.GaussianNB().fit_on(tmp_path)


@every
def test_cross_validation_codes_each_fold(name):
    found = deciban.cross_validate(getattr(deciban, name)(), X, Y, folds=4)
    assert found.log_loss < 1.0
    assert found.accuracy > 0.5


@generative
def test_rows_are_added_and_removed_in_the_coding_of_the_first(name):
    first = COMPLETE[:100]
    model = fitted(name, first, Y[:100])
    again = fitted(name, first, Y[:100]).partial_fit(COMPLETE[100:], Y[100:])
    told = again.predict_proba(COMPLETE)
    if name not in ("BernoulliNB", "CategoricalNB"):  # whose medians and cells differ
        for rest in (COMPLETE[100:], COMPLETE[100:][list(COMPLETE)[::-1]]):
            both = model + fitted(name, rest, Y[100:])
            np.testing.assert_allclose(both.predict_proba(COMPLETE), told, rtol=1e-6)
    np.testing.assert_allclose(
        again.forget(COMPLETE[100:], Y[100:]).predict_proba(COMPLETE), model.predict_proba(COMPLETE), rtol=1e-5
    )


@generative
def test_models_of_other_codings_do_not_add_up(name):
    with pytest.raises(MergeError, match=r"`port` is coded differently.*\n\nhint: "):
        fitted(name, COMPLETE) + fitted(name, COMPLETE.assign(port=COMPLETE["port"].replace("Q", "Z")))
    numbers = pd.DataFrame({"a": RNG.integers(0, 3, N), "b": RNG.integers(0, 2, N)})
    with pytest.raises(MergeError, match="coded columns"):
        fitted(name, COMPLETE) + fitted(name, numbers)


@pytest.mark.parametrize("name", ["GaussianNB", "BernoulliNB", "CategoricalNB", "LinearDiscriminantAnalysis"])
def test_leaving_one_out_is_a_fit_without_the_row_in_the_same_coding(name):
    model = fitted(name, COMPLETE)
    found = np.exp(model.leave_one_out(COMPLETE, Y))
    for row in (0, 17):
        one = COMPLETE[row : row + 1]
        without = fitted(name, COMPLETE).forget(one, Y[row : row + 1]).predict_proba(one)
        np.testing.assert_allclose(found[row : row + 1], without, rtol=1e-6)


FORGED = {
    "levels twice": {"levels": ("m", "m")},
    "no such reference": {"reference": 7},
    "means of other columns": {"means": (0.5, 0.5, 0.5, 0.5), "scales": (1.0, 1.0, 1.0, 1.0)},
    "an infinite mean": {"means": (np.inf,), "scales": (1.0,)},
    "another name": {"name": "age"},
    "no unit": {"unit": "moons"},
    "not used": {"used": False},
    "an indicator without means": {"gap": True, "means": (), "scales": ()},
}


@every
@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED.keys())
def test_a_forged_coding_in_a_file_is_refused(name, change):
    model = fitted(name, COMPLETE)
    coding = model._posterior().reader.coding
    code = replace(coding.columns[0], **change)
    forged = replace(coding, columns=(code, *coding.columns[1:]))
    if name == "LogisticRegression":
        model._coding = forged
    else:
        model._state = model._state.with_reader(coding=forged)
    with pytest.raises(ModelFileError):
        deciban.loads(deciban.dumps(model))


def test_what_the_coded_columns_are():
    named = COMPLETE[["sex", "port", "age", "rich"]]
    both = ["sex=f", "sex=m", "port=C", "port=Q", "port=S"]
    assert fitted("GaussianNB", named).coef_names_ == [*both, "age", "rich=True"]
    assert fitted("BernoulliNB", named).coef_names_ == [*both, f"age > {np.median(named['age']):.4g}", "rich=True"]
    model = fitted("LinearDiscriminantAnalysis", named)
    assert model.coef_names_ == ["sex=m", "port=Q", "port=S", "age", "rich=True"]
    assert model.means_.shape == (2, 5)
    assert model.coef_.shape == (1, 5)
    assert fitted("GaussianNB", named).theta_.shape == (2, 7)
    assert fitted("GaussianNB", COMPLETE[["age"]]).coef_names_ == ["age"]


@pytest.mark.parametrize("name", ["GaussianNB", "LinearDiscriminantAnalysis", "BernoulliNB"])
def test_coded_columns_are_those_of_hand(name):
    named = COMPLETE[["sex", "port", "age"]]
    model = fitted(name, named)
    hand = pd.DataFrame({f"sex={v}": (named["sex"] == v) * 1.0 for v in "fm"})
    hand = hand.assign(**{f"port={v}": (named["port"] == v) * 1.0 for v in "CQS"})
    hand["age"] = named["age"] > np.median(named["age"]) if name == "BernoulliNB" else named["age"]
    if name == "LinearDiscriminantAnalysis":
        hand = hand.drop(columns=["sex=f", "port=C"])
    plain = hand.to_numpy(dtype=np.float64)
    np.testing.assert_allclose(model.predict_proba(named), fitted(name, plain).predict_proba(plain), rtol=1e-9)


def test_categorical_levels_and_cells():
    few = pd.DataFrame({"sex": CELLS["sex"], "n": RNG.integers(0, 5, N), "age": CELLS["age"]})
    model = fitted("CategoricalNB", few)
    assert model.n_categories_.tolist() == [2, 5, 10]
    mixed = fitted("MixedNB", few[["sex"]].assign(n=few["n"].astype("category")), alpha=1.0)
    np.testing.assert_allclose(
        fitted("CategoricalNB", few[["sex", "n"]]).predict_proba(few[["sex", "n"]]),
        mixed.predict_proba(few[["sex"]].assign(n=few["n"].astype("category"))),
        rtol=1e-9,
    )
    assert "f" in str(fitted("CategoricalNB", few[["sex"]]).counts_table())
    assert fitted("CategoricalNB", few[["sex"]]).as_logistic().columns_ == ["sex=m"]


@every
def test_columns_of_one_value_are_next_to_no_evidence(name):
    constant = COMPLETE.assign(planet="earth", moons=1.0)
    told = fitted(name, constant).predict_proba(constant)
    np.testing.assert_allclose(told, fitted(name, COMPLETE).predict_proba(COMPLETE), atol=0.02)
    with pytest.raises(DataError, match="no column is left") if name in LEVELLED else nullcontext():
        fitted(name, pd.DataFrame({"planet": ["earth"] * N}))


def test_a_threshold_that_no_coded_column_passes_is_refused():
    with pytest.raises(DataError, match="binarize is 1"):
        fitted("BernoulliNB", COMPLETE, binarize=1.0)


@pytest.mark.parametrize("name", ["gaussian", "lda", "logistic"])
def test_models_that_are_asked_for_by_name_code_their_columns(name):
    found = deciban.auto_fit(X, Y, name)
    assert found.model.n_features_in_ == 7
    assert found.held_out.log_loss < 1.0
    compared = deciban.compare(X, Y, [name, "mixed"], folds=3)
    assert {trial.name for trial in compared.trials} == {name, "mixed"}


def wide(n=600):
    """Rows with a category of many levels, few of them frequent, and one of which some levels are in one class only."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n)
    town = np.where(rng.random(n) < 0.5, rng.choice(["A", "B", "C"], n), [f"t{i}" for i in rng.integers(0, 80, n)])
    job = np.where((y == 1) & (rng.random(n) < 0.1), "pilot", rng.choice(["cook", "nurse"], n))
    return pd.DataFrame({"town": town, "job": job, "age": rng.normal(40 + 4 * y, 9)}), np.array(["no", "yes"])[y]


@pytest.mark.parametrize("name", LEVELLED[:-1])
def test_rare_levels_share_a_column_of_discriminants(name):
    rows, y = wide()
    model = fitted(name, rows, y)
    assert model.coef_names_ == ["town=B", "town=C", "town rare", "job=nurse", "job=pilot", "age"]
    hand = pd.DataFrame({"B": rows["town"] == "B", "C": rows["town"] == "C", "rare": rows["town"].str.startswith("t")})
    hand = hand.assign(nurse=rows["job"] == "nurse", pilot=rows["job"] == "pilot", age=rows["age"])
    if name != "QuadraticDiscriminantAnalysis":  # see the next test
        plain = hand.to_numpy(dtype=np.float64)
        np.testing.assert_allclose(model.predict_proba(rows), fitted(name, plain, y).predict_proba(plain), rtol=1e-7)
    again = deciban.loads(deciban.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    shown = fitted("LinearDiscriminantAnalysis", rows, y).explain(rows[:3])
    assert list(shown.columns) == ["town", "job", "age"]


def test_a_category_of_rare_levels_alone_is_left_out():
    rows, y = wide()
    rows["town"] = [f"t{i % 150}" for i in range(len(rows))]
    with pytest.warns(ColumnWarning, match="`town` has no level of 10 rows: left out"):
        model = fitted("LinearDiscriminantAnalysis", rows, y)
    assert model.coef_names_ == ["job=nurse", "job=pilot", "age"]


@pytest.mark.parametrize("diagonal", [False, True])
def test_singular_covariances_of_coded_columns_are_those_of_a_blend(diagonal):
    rows, y = wide()
    model = fitted("QuadraticDiscriminantAnalysis", rows, y, diagonal=diagonal)
    assert model.singular_.tolist() == ["no"]  # which has no pilot
    if not diagonal:
        blended = fitted("RegularizedDiscriminantAnalysis", rows, y, blend=0.97)
        np.testing.assert_allclose(model.predict_proba(rows), blended.predict_proba(rows), rtol=1e-9)
    found = np.exp(model.leave_one_out(rows[:40], y[:40]))
    without = fitted("QuadraticDiscriminantAnalysis", rows, y, diagonal=diagonal).forget(rows[:1], y[:1])
    np.testing.assert_allclose(found[:1], without.predict_proba(rows[:1]), rtol=1e-7)
    bayes = fitted("QuadraticDiscriminantAnalysis", rows, y, estimate="bayes")
    blended = fitted("RegularizedDiscriminantAnalysis", rows, y, estimate="bayes", blend=0.97)
    np.testing.assert_allclose(bayes.predict_proba(rows), blended.predict_proba(rows), rtol=1e-9)
    assert np.isfinite(bayes.evidence_)
    plain = np.random.default_rng(0).normal(size=(30, 2)) * [1.0, 0.0]  # numbers have the bound of their variances
    given = fitted("QuadraticDiscriminantAnalysis", plain, np.arange(30) % 2)
    assert given._state.family.fallback == 0
    assert len(given.singular_) == 2


def test_strengths_are_chosen_of_collinear_columns_without_refits(monkeypatch):
    rows, y = wide()
    rows["years"] = rows["job"].map({"cook": 1.0, "nurse": 3.0, "pilot": 5.0})  # determined by `job`
    refits = []
    without = type(fitted("GaussianNB", rows, y)._state).without
    monkeypatch.setattr("deciban.models.model.State.without", lambda *own: refits.append(1) or without(*own))
    model = fitted("RegularizedDiscriminantAnalysis", rows, y, blend="loo")
    assert not refits
    assert deciban.cross_validate(model, rows, y, folds=3).log_loss < 0.72


def shifts(n=900):
    """Rows whose class depends on the weekday and the hour of a date, with some cells missing."""
    rng = np.random.default_rng(8)
    when = pd.Timestamp("2023-03-01") + pd.to_timedelta(rng.integers(0, 500 * 24, n), unit="h")
    odds = 1.5 * (when.day_of_week >= 5) + 2.0 * ((when.hour > 7) & (when.hour < 18)) - 1.2
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return pd.DataFrame({"when": when.where(rng.random(n) < 0.95), "age": rng.normal(40, 9, n)}), y


@every
def test_parts_of_dates_that_help_are_categories_of_the_same_column(name):
    rows, y = shifts()
    model = fitted(name, rows, y)
    coding = model._posterior().reader.coding
    if name not in DATED:  # normal densities with variances by class overstate rare indicators
        assert coding.labels == ["when", "age"]
        return
    assert [code.part_names for code in coding.columns] == [["weekday", "hour"], []]
    labels = model.coef_names_ if hasattr(model, "coef_names_") else coding.labels
    assert sum("when weekday" in label for label in labels) == (
        1 if name == "CategoricalNB" else 7 - (name in LEVELLED)
    )
    told = model.predict_proba(rows)
    found = model.explain(rows[:50], of="yes", against="no")
    np.testing.assert_allclose(found.total, model.decibans(rows[:50], against="no")[:, 1], atol=1e-8)
    if model._posterior().splits:
        assert list(found.columns) == ["when", "age"]
    at = np.searchsorted(model.classes_, y)
    assert -np.log(told[np.arange(len(y)), at]).mean() < 0.66
    shuffled = np.random.default_rng(0).permutation(len(y))
    again = fitted(name, rows.iloc[shuffled], y[shuffled]).predict_proba(rows)
    np.testing.assert_allclose(again, told, rtol=1e-6)
    np.testing.assert_array_equal(deciban.loads(deciban.dumps(model)).predict_proba(rows), told)
    by_dictionary = [{"when": cell.to_pydatetime(), "age": 40.0} for cell in rows["when"].dropna()[:5]]
    np.testing.assert_allclose(
        model.predict_proba(by_dictionary), model.predict_proba(rows.dropna()[:5].assign(age=40.0)), rtol=1e-9
    )
    missing = model.predict_proba(rows[:3].assign(when=None))
    assert np.ptp(missing[:, 1]) < 0.3


@every
def test_no_part_of_dates_is_made_of_one_month_or_of_chance(name):
    rows, y = shifts()
    few = rows.assign(when=pd.Timestamp("2024-05-07") + pd.to_timedelta(np.arange(len(y)) % 24, unit="h"))
    parts = fitted(name, few, y)._posterior().reader.coding.columns[0].part_names
    assert set(parts) <= {"hour"}
    chance = np.random.default_rng(1).permutation(y)
    assert fitted(name, rows, chance)._posterior().reader.coding.columns[0].part_names == []


@pytest.mark.parametrize("name", DATED)
@pytest.mark.parametrize(
    "change",
    [{"unit": "duration"}, {"parts": "twice"}, {"parts": "levels"}, {"parts": "gap"}, {"parts": "named"}],
    ids=str,
)
def test_forged_parts_of_dates_in_a_file_are_refused(name, change):
    rows, y = shifts()
    model = fitted(name, rows, y)
    coding = model._posterior().reader.coding
    code = coding.columns[0]
    part = code.parts[0]
    forged = {
        "twice": (part, part),
        "levels": (replace(part, levels=("Mon", "Funday", *part.levels[2:])), code.parts[1]),
        "gap": (replace(part, gap=True), code.parts[1]),
        "named": (replace(part, name="when moon"), code.parts[1]),
    }
    own = {"parts": forged[change["parts"]]} if "parts" in change else change
    broken = replace(coding, columns=(replace(code, **own), *coding.columns[1:]))
    if name == "LogisticRegression":
        model._coding = broken
    else:
        model._state = model._state.with_reader(coding=broken)
    with pytest.raises(ModelFileError):
        deciban.loads(deciban.dumps(model))


@generative
@pytest.mark.parametrize("library", FRAMES)
def test_rows_are_drawn_as_frames_of_the_columns_of_training(name, library):
    model = fitted(name, FRAMES[library])
    if name == "BernoulliNB":
        with pytest.raises(DataError, match="probabilities of single indicators"):
            model.sample(3)
        return
    drawn, y = model.sample(400, random_state=0)
    assert type(drawn) is type(FRAMES[library])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = model.predict(drawn)
    assert (told == y).mean() > 0.5
    shown = pd.DataFrame(
        drawn.to_pandas() if library == "arrow" else drawn.to_dict(as_series=False) if library == "polars" else drawn
    )
    assert list(shown) == list(X)
    assert set(shown["port"].unique()) <= {"S", "C", "Q"}
    assert set(map(bool, shown["rich"].unique())) <= {True, False}
    assert pd.to_datetime(shown["when"]).dt.year.between(2020, 2028).all()
    again = model.sample(400, random_state=0)[0]
    assert str(again) == str(drawn)


def test_drawn_levels_have_the_shares_of_the_model():
    rows, y = wide()
    model = fitted("CategoricalNB", rows, y)
    drawn, label = model.sample(20_000, random_state=1)
    for column in ("town", "job"):
        for c in ("no", "yes"):
            mine = rows[column][y == c].value_counts(normalize=True)
            found = drawn[column][label == c].value_counts(normalize=True).reindex(mine.index).fillna(0.0)
            assert np.abs(found - mine).max() < 0.06  # one pseudo-count for each of 77 levels
    assert np.isclose(drawn["age"][label == "yes"].mean(), rows["age"][y == "yes"].mean(), atol=1.0)
    normal, label = fitted("LinearDiscriminantAnalysis", rows, y).sample(5000, random_state=1)
    assert np.isclose(normal["age"][label == "yes"].mean(), rows["age"][y == "yes"].mean(), atol=0.5)
    assert normal["town"].str.startswith("t").mean() > 0.2  # any of the rare levels
