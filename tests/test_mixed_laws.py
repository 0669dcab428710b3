"""Laws of `MixedNB`: missing cells, merging, forgetting, weights and leave-one-out against models learned anew."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban import MixedNB
from deciban.families import find
from deciban.families.gaussian import Gaussian

from .support.compare import assert_logs
from .support.data import FIXED, table

MODELS = {
    "fixed": MixedNB(families=FIXED, alpha=0.5),
    "fixed, informative": MixedNB(families=FIXED, alpha=0.5, missing="informative"),
    "fixed, reserve": MixedNB(families=FIXED, alpha=0.5, unseen="reserve"),
    "auto": MixedNB(),
    "subsets": MixedNB(average="subsets"),
    "subsets, fixed, informative": MixedNB(families=FIXED, alpha=0.5, missing="informative", average="subsets"),
    "auto, informative": MixedNB(missing="informative", unseen="reserve"),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
BY_COLUMN = sorted(name for name, family in find().items() if family.columnwise)


def fresh(model: MixedNB) -> MixedNB:
    return MixedNB(**model.get_params())


def assert_same(a: MixedNB, b: MixedNB, X: pd.DataFrame) -> None:
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.families_ == b.families_
    assert {c: set(levels) for c, levels in a.levels_.items()} == {c: set(levels) for c, levels in b.levels_.items()}
    np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(a.score_samples(X), b.score_samples(X), rtol=1e-9, atol=1e-9)


# missing


@pytest.mark.parametrize("family", [*BY_COLUMN, "auto"])
def test_deleting_a_column_is_learning_without_it(family):
    X, y = table()
    numbers = X[["size"]].assign(visits=X["visits"] + 1, other=X["visits"] * 2 + 1)
    families = {"visits": family, "other": family, "size": "gaussian"}
    whole = MixedNB(families=families).fit(numbers, y)
    without = MixedNB(families={c: families[c] for c in ("visits", "size")}).fit(numbers[["visits", "size"]], y)
    with pytest.warns(UserWarning, match="`other` not in X"):
        got = whole.predict_log_proba(numbers[["visits", "size"]])
    np.testing.assert_allclose(got, without.predict_log_proba(numbers[["visits", "size"]]), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("model", [MixedNB(), MixedNB(alpha=0.5)])
def test_deleting_any_column_of_a_mixed_table_is_learning_without_it(model):
    X, y = table()
    whole = fresh(model).fit(X, y)
    for name in X.columns:
        rest = X.drop(columns=name)
        got = whole.predict_log_proba(X.assign(**{name: None}))
        np.testing.assert_allclose(got, fresh(model).fit(rest, y).predict_log_proba(rest), rtol=1e-10, atol=1e-10)


def test_missingness_alone_can_tell():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = pd.DataFrame({"x": rng.normal(size=400), "c": rng.choice(["u", "v"], 400)})
    X = X.mask(rng.random(X.shape) < np.where(y == 1, 0.8, 0.1)[:, None])
    blind, keen = MixedNB().fit(X, y), MixedNB(missing="informative").fit(X, y)
    assert deciban.cross_validate(blind, X, y).accuracy < 0.65
    assert keen.score(X, y) > 0.85
    both = keen.predict_proba(pd.DataFrame({"x": [None], "c": [None]}, dtype=object))[0, 1]
    gone = X.isna().to_numpy()
    share = [[(gone[y == c, j].sum() + 1) / ((y == c).sum() + 2) for j in (0, 1)] for c in (0, 1)]
    odds = np.prod(share[1]) / np.prod(share[0]) * (y == 1).mean() / (y == 0).mean()
    assert both / (1 - both) == pytest.approx(odds)


def test_informative_gaps_do_not_take_an_unseen_level_for_a_missing_cell():
    X, y = table()
    model = MixedNB(missing="informative", families=FIXED).fit(X, y)
    odd, none = model.predict_proba(X.assign(sky="octarine")), model.predict_proba(X.assign(sky=None))
    assert np.abs(odd - none).max() > 1e-3


@pytest.mark.parametrize("family", [*BY_COLUMN, "auto"])
def test_column_that_a_class_has_no_cell_of_is_no_absurd_evidence(family):
    """At values that the other class has often, a column can hardly speak for or against a class that it never saw."""
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 200)
    x = rng.poisson(40, 400).astype(float)
    model = MixedNB(families={"x": family}).fit(pd.DataFrame({"x": np.where(y == "a", np.nan, x)}), y)
    odds = model.decibans(pd.DataFrame({"x": np.median(x) + np.array([0.0, 3.0, -3.0])}))[:, 0]
    if family == "gamma_poisson":  # an explicit prior, far from these rows
        assert np.isfinite(odds).all()
    else:
        assert (np.abs(odds) < 15).all()


@pytest.mark.parametrize("family", [*BY_COLUMN, "auto"])
@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_column_without_any_cell_says_nothing(family):
    X, y = table()
    X = X[["size"]].assign(empty=np.nan)
    model = MixedNB(families={"size": "gaussian", "empty": family}).fit(X, y)
    alone = MixedNB(families={"size": "gaussian"}).fit(X[["size"]], y)
    got = model.predict_log_proba(X.assign(empty=5.0))
    np.testing.assert_allclose(got, alone.predict_log_proba(X[["size"]]), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.leave_one_out(X, y), alone.leave_one_out(X[["size"]], y), rtol=1e-9, atol=1e-9)
    drawn, _ = model.sample(4, random_state=0)
    assert len(drawn) == 4


# adding and taking away


@every_model
def test_merged_models_of_different_levels_and_classes_are_the_joint_fit(model):
    X, y = table(120, k=4)
    half = np.flatnonzero((X["kind"] != "u").to_numpy() & (y != "d"))[:50]  # knows no "u" and no "d"
    rest = np.setdiff1d(np.arange(120), half)
    rest = rest[y[rest] != "a"]  # and this no "a"
    all_rows = np.r_[half, rest]
    a, b = (fresh(model).fit(X.iloc[at], y[at]) for at in (half, rest))
    assert "u" not in a.levels_["kind"]
    whole = fresh(model).fit(X.iloc[all_rows], y[all_rows])
    assert_same(a + b, whole, X)
    assert_same(b + a, whole, X)
    assert_same(sum([a, b]), whole, X)


@every_model
def test_partial_fit_with_new_levels_is_one_fit(model):
    X, y = table(120)
    first = np.flatnonzero((X["kind"] != "u").to_numpy() & (X["sky"] != "red").to_numpy())[:40]
    rest = np.setdiff1d(np.arange(120), first)
    piece = fresh(model).partial_fit(X.iloc[first], y[first], classes=["a", "b", "c"])
    assert "red" not in piece.levels_["sky"]
    piece.partial_fit(X.iloc[rest], y[rest])
    assert_same(piece, fresh(model).fit(X, y), X)


@every_model
def test_forgetting_leaves_the_model_of_the_other_rows(model):
    X, y = table(120)
    gone = np.r_[np.arange(30), np.flatnonzero(X["kind"] == "u")]  # the level goes with its rows
    gone = np.unique(gone)
    rest = np.setdiff1d(np.arange(120), gone)
    left = fresh(model).fit(X, y).forget(X.iloc[gone], y[gone])
    assert "u" not in left.levels_["kind"]
    assert_same(left, fresh(model).fit(X.iloc[rest], y[rest]), X.iloc[rest])


@every_model
def test_weight_is_repetition(model):
    X, y = table(60)
    times = np.random.default_rng(1).integers(1, 4, 60)
    again = np.repeat(np.arange(60), times)
    weighed = fresh(model).fit(X, y, sample_weight=times)
    assert_same(weighed, fresh(model).fit(X.iloc[again].reset_index(drop=True), y[again]), X)


@every_model
def test_order_of_rows_and_columns_does_not_matter(model):
    X, y = table()
    shuffled = np.random.default_rng(0).permutation(len(X))
    other = fresh(model).fit(X.iloc[shuffled][X.columns[::-1]], y[shuffled])
    np.testing.assert_allclose(
        other.predict_log_proba(X), fresh(model).fit(X, y).predict_log_proba(X), rtol=1e-9, atol=1e-9
    )


# leave one out


def without_each(model: MixedNB, X: pd.DataFrame, y: np.ndarray, w=None) -> np.ndarray:
    """log P(class | row) of each row by the model of all others."""
    out = np.full((len(X), len(np.unique(y))), np.nan)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        again = fresh(model).fit(X[rest], y[rest], None if w is None else w[rest])
        assert len(again.classes_) == out.shape[1]
        out[i] = again.predict_log_proba(X.iloc[[i]])[0]
    return out


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("model", [m for name, m in MODELS.items() if "fixed" in name], ids=str)
def test_leave_one_out_is_learning_without_the_row(model, weighed):
    X, y = table(50, holes=0.25)
    X.loc[5, "sky"] = "only here"
    w = np.random.default_rng(2).choice([0.5, 1.0, 2.5], 50) if weighed else None
    got = fresh(model).fit(X, y, w).leave_one_out(X, y, w)
    assert_logs(got, without_each(model, X, y, w))


@pytest.mark.parametrize("family", [f for f in BY_COLUMN if f != "histogram"])
def test_leave_one_out_of_every_family_is_learning_without_the_row(family):
    X, y = table(40, holes=0.3)
    X = X[["visits"]].assign(visits=X["visits"] + 1, other=X["visits"] + 1)
    X.loc[y == "a", "other"] = None  # a class without any cell
    X.loc[np.flatnonzero(y == "b")[1:], "other"] = None  # and one with a single one
    model = MixedNB(families={"visits": family, "other": family}, alpha=1.0)
    got = fresh(model).fit(X, y).leave_one_out(X, y)
    assert_logs(got, without_each(model, X, y))


def test_leave_one_out_keeps_what_the_rows_chose():
    """With alpha and families left to the rows, a row leaves the counts and not the choices. (Cuts are those of other
    rows: so no histograms here.) No cell of these rows says so much that it is limited."""
    X, y = table(60, holes=0.2)
    first = MixedNB().fit(X, y).families_
    X = X[[name for name, family in first.items() if type(family).__name__ != "Histogram"]]
    model = MixedNB().fit(X, y)
    assert X.shape[1] >= 3
    assert_logs(model.leave_one_out(X, y), without_each(MixedNB(families=model.families_), X, y))


def test_learned_choices_can_be_fixed_and_give_the_same_model():
    X, y = table()
    model = MixedNB().fit(X, y)
    fixed = MixedNB(families=model.families_).fit(X, y)
    np.testing.assert_allclose(fixed.predict_log_proba(X), model.predict_log_proba(X), rtol=1e-10, atol=1e-12)


def test_chosen_smoothing_is_told_by_column():
    X, y = table()
    model = MixedNB().fit(X, y)
    alphas = model.tuned_["alpha"]
    assert set(alphas) == {name for name, family in model.families_.items() if family.alpha is not None}
    assert all(isinstance(alpha, float) and 0 < alpha <= 10 for alpha in alphas.values())
    assert MixedNB(alpha=2.0).fit(X, y).tuned_ == {}
    assert all(f.alpha in (None, 2.0) for f in MixedNB(alpha=2.0).fit(X, y).families_.values())


def test_gaussian_columns_are_those_of_the_gaussian_classifier():
    from deciban import GaussianNB

    X, y = table(holes=0.0)
    X = X[["size", "price"]]
    mixed = MixedNB(families=dict.fromkeys(X.columns, Gaussian(smoothing=1e-9))).fit(X, y)
    plain = GaussianNB().fit(X, y)
    np.testing.assert_allclose(mixed.predict_log_proba(X), plain.predict_log_proba(X), rtol=1e-10)
    np.testing.assert_allclose(mixed.leave_one_out(X, y), plain.leave_one_out(X, y), rtol=1e-8)
