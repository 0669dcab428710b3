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
from deciban import LogisticRegression, top_evidence
from deciban.errors import ColumnWarning
from deciban.plots.nomograms import scales_of

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


DATE_PARTS = {
    "month": lambda s: s.dt.strftime("%b"),
    "weekday": lambda s: s.dt.strftime("%a"),
    "hour": lambda s: s.dt.hour.map("{:.0f}".format, na_action="ignore"),
}
LEVEL_ORDER = {
    **{pd.Timestamp(2024, month, 1).strftime("%b"): month for month in range(1, 13)},
    **{pd.Timestamp(2024, 1, day).strftime("%a"): day for day in range(1, 8)},  # the first was a Monday
    **{str(hour): hour for hour in range(24)},
}


def by_hand(X: pd.DataFrame, train: pd.DataFrame, used: list[str], parts_of: dict = {}) -> pd.DataFrame:  # noqa: B006
    """The columns of X in the coding of the training rows."""
    out = {}
    for name in used:
        here, there = X[name], train[name]
        parts = {part: (read(here), read(there)) for part, read in DATE_PARTS.items() if part in parts_of.get(name, ())}
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
        for part, (now, then) in parts.items():
            count = then.value_counts()
            order = sorted(count.index, key=LEVEL_ORDER.get)
            reference = max(order, key=count.get)
            for level in order:
                if level != reference:
                    shares = (then[then.notna()] == level).mean()
                    out[f"{name} {part}={level}"] = (now == level) * 1.0 + now.isna() * shares
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


@pytest.mark.parametrize("name", TABLES)
def test_parts_of_dates_are_those_of_a_pipeline_of_the_same_coding(name):
    X, y = raw_table(name)
    rng, first = np.random.default_rng(4), (y == y.mode()[0]).to_numpy()
    days = rng.integers(0, 100, len(X)) * 7 + np.where(rng.random(len(X)) < 0.4, 5 * first, rng.integers(0, 7, len(X)))
    hours = np.where(rng.random(len(X)) < 0.3, 9 + 3 * first, rng.integers(0, 24, len(X)))
    when = pd.Timestamp("2022-01-03") + pd.to_timedelta(days * 24 + hours, unit="h")
    X = X.assign(when=when.where(rng.random(len(X)) < 0.9))
    model = fitted(X, y)
    codes = model._coding.columns
    parts_of = {code.name: code.part_names for code in codes if code.parts}
    assert parts_of == {"when": ["weekday", "hour"]}
    coded = by_hand(X, X, [code.name for code in codes if code.used], parts_of)
    assert model.coef_names_ == list(coded)
    theirs = make_pipeline(StandardScaler(), Theirs(tol=1e-10, max_iter=100_000, solver="newton-cholesky"))
    np.testing.assert_allclose(model.predict_proba(X), theirs.fit(coded, y).predict_proba(coded), atol=1e-6)
    found = model.explain(X[:20])
    assert "when" in found.columns
    assert not [column for column in found.columns if "weekday" in column]
    if name == "saheart":
        assert "when weekday=Mon" in str(model.summary())


@pytest.mark.parametrize("settings", [{"C": 0.3}, {"l1_ratio": 1.0, "C": 0.5}, {"C": np.inf}])
def test_the_penalty_is_on_standardised_columns(settings):
    X, y = raw_table("saheart")
    model = fitted(X, y, **settings)
    coded = by_hand(X, X, [code.name for code in model._coding.columns if code.used])
    scaled = StandardScaler().fit_transform(coded)
    solver = {"solver": "saga"} if "l1_ratio" in settings else {}
    theirs = Theirs(tol=1e-10, max_iter=100_000, **settings, **solver).fit(scaled, y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(scaled), atol=1e-6)


N = 240
RNG = np.random.default_rng(3)
X = pd.DataFrame(
    {
        "sex": RNG.choice(["m", "f"], N),
        "port": pd.Categorical(RNG.choice(["S", "C", "Q"], N, p=[0.6, 0.3, 0.1])),
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(40, 10, N)),
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 900, N), unit="D"),
    }
)
Y = np.where((X["sex"] == "m") ^ (RNG.random(N) < 0.25), "yes", "no")


def standardised(X: pd.DataFrame) -> np.ndarray:
    return StandardScaler().fit_transform(by_hand(X, X, list(X)))


def test_the_reference_is_the_most_frequent_level_and_missing_cells_have_an_indicator():
    reference = X["sex"].value_counts().index[0]
    other = next(level for level in "fm" if level != reference)
    model = fitted(X, Y)
    assert model.coef_names_ == [f"sex={other}", "port=C", "port=Q", "age", "age missing", "when"]
    assert model.coef_.shape == (1, 6)
    shown = str(model.summary())
    assert all(name in shown for name in model.coef_names_)
    tied = fitted(pd.DataFrame({"c": ["b", "a"] * 20}), ["x", "y"] * 20)
    assert tied.coef_names_ == ["c=b"]


def test_missing_cells_and_new_levels_without_any_in_training_are_the_mean_row():
    model = fitted(X, Y)
    found = model.explain(X.assign(port="Z", when=pd.NaT))
    for column in ("port", "when"):
        assert np.abs(found.decibans[:, found.columns.index(column)]).max() < 1e-9
    gap = model.explain(X.assign(age=np.nan)).decibans[:, 2]
    alone = model.coef_[0][4] * (1 - X["age"].isna().mean())
    assert np.isclose(np.abs(gap[0]), np.abs(10 / np.log(10) * alone), atol=1e-8)


def test_a_frame_of_numbers_with_gaps_is_coded_and_one_without_is_not():
    numbers = X[["age"]].assign(n=np.arange(N) % 7)
    assert fitted(numbers, Y).coef_names_ == ["age", "age missing", "n"]
    whole = numbers.fillna(40.0)
    np.testing.assert_array_equal(fitted(whole, Y).coef_, fitted(whole.to_numpy(), Y).coef_)


def test_weights_count_like_repetitions():
    w = RNG.integers(0, 4, N)
    repeated = X.loc[np.repeat(X.index, w)].reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        weighted = LogisticRegression(tol=1e-10).fit(X, Y, sample_weight=w)
    np.testing.assert_allclose(weighted.predict_proba(X), fitted(repeated, np.repeat(Y, w)).predict_proba(X), rtol=1e-7)


@pytest.mark.parametrize("settings", [{}, {"l1_ratio": 1.0}])
def test_a_chosen_strength_is_that_of_standardised_columns(settings):
    ours, plain = (LogisticRegression(C="auto", **settings).fit(x, Y) for x in (X, standardised(X)))
    step = 1.34 if settings else 1.001  # 5 folds differ with the units of cells, leave-one-out does not
    assert 1 / step < ours.C_ / plain.C_ < step
    plain = LogisticRegression(C=ours.C_, **settings).fit(standardised(X), Y)
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(standardised(X)), atol=1e-4)


def test_inference_is_that_of_standardised_columns():
    ours, plain = fitted(X, Y), fitted(standardised(X), Y)
    mine, theirs = ours.summary(), plain.summary()
    np.testing.assert_allclose(mine.z[:, 1:], theirs.z[:, 1:], rtol=1e-4)
    np.testing.assert_allclose(
        ours.predict_proba(X, posterior="laplace"), plain.predict_proba(standardised(X), posterior="laplace"), rtol=1e-5
    )
    again = deciban.loads(deciban.dumps(ours))
    np.testing.assert_allclose(again.summary().z, mine.z, rtol=1e-9)


def test_evidence_of_the_model_does_not_depend_on_units():
    hours = X.assign(age=X["age"] * 1000)
    assert np.isclose(fitted(X, Y).evidence_, fitted(hours, Y).evidence_, rtol=1e-6)
    np.testing.assert_allclose(fitted(X, Y).predict_proba(X), fitted(hours, Y).predict_proba(hours), rtol=1e-6)


@pytest.mark.parametrize(
    "settings", [{"penalty": "jeffreys"}, {"solver": "liblinear"}, {"solver": "lbfgs"}, {"solver": "newton-cg"}]
)
def test_other_solvers_take_tables_too(settings):
    near = {"penalty": "jeffreys"} if "penalty" in settings else {}
    model = LogisticRegression(tol=1e-8, max_iter=500, **settings).fit(X, Y)
    plain = LogisticRegression(tol=1e-8, max_iter=500, **near).fit(standardised(X), Y)
    atol = 0.02 if settings.get("solver") == "liblinear" else 1e-4
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(standardised(X)), atol=atol)


def test_updates_go_on_in_the_coding_of_the_first_rows():
    some = X[["sex", "port"]]
    model = LogisticRegression().partial_fit(some[:120], Y[:120], classes=["no", "yes"])
    model.partial_fit(some[120:].assign(port="Z"), Y[120:])
    assert model.coef_.shape == (1, 3)
    assert (model.predict(some) == Y).mean() > 0.6


def test_pictures_and_lists_show_a_category_once():
    model = fitted(X, Y)
    drawn = scales_of(model, of="yes", against="no")
    assert [scale.name for scale in drawn.scales] == list(X)
    assert drawn.scales[0].labels == ("f", "m")
    odds = drawn.prior + sum(scale.decibans[0] for scale in drawn.scales)
    first = {scale.name: scale.values[0] for scale in drawn.scales}
    day = pd.Timestamp(0) + pd.Timedelta(days=first["when"])
    row = pd.DataFrame({"sex": ["f"], "port": ["C"], "age": [first["age"]], "when": [day]})
    np.testing.assert_allclose(odds, model.decibans(row, against="no")[0, 1], atol=1e-6)
    found = top_evidence(model)["yes"]
    assert found[0].column == "sex"
    assert found[0].value == "m"
    assert len({one.column for one in found}) == len(found)


def test_a_discriminant_of_a_table_becomes_a_logistic_regression():
    complete = X.dropna().reset_index(drop=True)
    y = Y[X.notna().all(axis=1)]
    lda = deciban.LinearDiscriminantAnalysis().fit(complete, y)
    model = LogisticRegression.from_generative(lda)
    assert model.coef_names_ == lda.coef_names_
    np.testing.assert_allclose(model.predict_proba(complete), lda.predict_proba(complete), rtol=1e-9)
    np.testing.assert_allclose(lda.as_logistic().predict_proba(complete), lda.predict_proba(complete), rtol=1e-9)
