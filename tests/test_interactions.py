"""`MixedNB(interactions="auto")`: rules of several columns are learned, read, drawn and kept; noise adds nothing."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

import deciban
from deciban import MixedNB, ops, plots
from deciban.data.blocks import Codes
from deciban.errors import DataError, MergeError, ModelFileError, NotAdditiveError
from deciban.models.choose_tables import FOLDS, KeptRows
from deciban.models.joint_tables import MOST, level_shares
from deciban.rows.sample import RowSample

from .support.data import table
from .support.forgery import forge
from .support.rules import car, tic_tac_toe, xor

FLOOR = 2e-3  # nats, of rules without noise


def joint() -> MixedNB:
    return MixedNB(interactions="auto")


def boosted(X: pd.DataFrame, y: np.ndarray, asked: pd.DataFrame) -> np.ndarray:
    names = [name for name in X if X[name].dtype != float]
    coded = [frame.astype(dict.fromkeys(names, "category")) for frame in (X, asked)]
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    return model.fit(coded[0], y).predict_proba(coded[1])


# rules


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("columns", [2, 3, 4])
def test_xor_among_twelve_columns_is_learned_as_one_set(columns, noise):
    X, y = xor(columns, 3000, noise)
    train, rest = slice(0, 1000), slice(1000, None)
    model = joint().fit(X[train], y[train])
    loss = log_loss(y[rest], model.predict_proba(X[rest]))
    assert loss <= max(2 * log_loss(y[rest], boosted(X[train], y[train], X[rest])), FLOOR)
    assert [own for own, _ in model.interactions_] == [tuple(X.columns[:columns])]
    account = model.explain(X[:1]).account(0)
    assert account.lines[1].name == " × ".join(X.columns[:columns])  # the first line is the prior


@pytest.mark.parametrize("rule", [tic_tac_toe, car])
def test_decision_tables_are_learned_as_by_boosting(rule):
    X, y = rule()
    at = np.random.default_rng(0).permutation(len(y))
    train, rest = at[: len(y) * 4 // 5], at[len(y) * 4 // 5 :]
    model = joint().fit(X.iloc[train], y[train])
    found = log_loss(y[rest], model.predict_proba(X.iloc[rest]), labels=model.classes_)
    theirs = log_loss(y[rest], boosted(X.iloc[train], y[train], X.iloc[rest]), labels=model.classes_)
    assert found <= max(2 * theirs, FLOOR)
    assert len(model.interactions_) > 2


def test_tic_tac_toe_has_its_958_positions():
    X, y = tic_tac_toe()
    assert (len(X), (y == "won").sum()) == (958, 626)  # as in the data set of Aha (1991)


def test_noise_and_few_rows_add_no_set():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (400, 10)).astype(str))
    assert joint().fit(X, rng.integers(0, 3, 400)).interactions_ == []
    few, y = xor(2, 12)
    assert joint().fit(few, y).interactions_ == []


def test_numbers_are_looked_at_as_cells_and_as_they_are():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3)) * [1.0, 1e-8, 1e9] + [0.0, 1e3, -1e12]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (rng.random(3000) < 1 / (1 + np.exp(-3 * z[:, 0]))).astype(int)  # logistic in one column
    straight = joint().fit(X[:1500], y[:1500])
    assert log_loss(y[1500:], straight.predict_proba(X[1500:])) < 0.37  # of the rule itself: 0.35
    around = (z[:, 0] ** 2 + z[:, 2] ** 2 < 1.4).astype(int)
    model = joint().fit(X[:1500], around[:1500])
    assert (0, 2) in [own for own, _ in model.interactions_]
    assert (model.predict(X[1500:]) == around[1500:]).mean() > 0.93


# laws


def test_explanations_add_up_to_the_posterior():
    X, y = tic_tac_toe()
    model = joint().fit(X, y)
    found = model._posterior().evidence(X)
    assert len(found.columns) == found.parts.shape[2] == found.cells.shape[1] == 9 + len(model.interactions_)
    odds = found.base + found.parts.sum(axis=2)
    np.testing.assert_allclose(odds[:, 1] - odds[:, 0], model.log_odds(X)[:, 1], atol=1e-9)


def test_weights_are_repetitions_and_the_order_of_rows_does_not_matter():
    X, y = table(200)
    rng = np.random.default_rng(2)
    w = rng.integers(0, 4, len(y)).astype(float)
    at, other = np.repeat(np.arange(len(y)), w.astype(int)), rng.permutation(len(y))
    once = joint().fit(X, y, sample_weight=w).predict_proba(X)
    again = joint().fit(X.iloc[at], y[at]).predict_proba(X)
    np.testing.assert_allclose(once, again, atol=1e-6)
    turned = joint().fit(X.iloc[other], y[other], sample_weight=w[other]).predict_proba(X)
    np.testing.assert_allclose(once, turned, atol=1e-6)


def test_copies_of_a_row_are_in_several_folds_with_all_their_weight():
    X, y = xor(2, 400, d=2)
    model = joint().fit(X, y)
    assert [own for own, _ in model.interactions_] == [("c0", "c1")]  # four distinct rows
    reader, found = model._state.reader, model._state.reader.training(X, y, first=False)
    rows = deciban.data.blocks.Table(found.x, y.astype(np.int32), None, 2, reader.schema)
    kept = KeptRows.of(RowSample.from_rows(rows).selected(np.bincount(y)))
    assert len(kept.row) == 4 * FOLDS
    np.testing.assert_allclose(np.bincount(kept.row, kept.w), kept.table.weights())
    np.testing.assert_allclose(np.bincount(kept.y, kept.w), np.bincount(y))


def test_a_missing_cell_is_a_level_and_an_unseen_level_no_evidence():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    X = pd.DataFrame({"gap": np.where(y == 1, None, "u"), "word": rng.choice(["a", "b"], 400), "size": rng.random(400)})
    model = joint().fit(X, y)
    asked = pd.DataFrame({"gap": [None, "u", "new"], "word": ["a"] * 3, "size": [0.5] * 3})
    p = model.predict_proba(asked)[:, 1]
    assert p[0] > 0.95
    assert p[1] < 0.05
    new = model._posterior().evidence(asked).parts[2, :, 0]
    np.testing.assert_array_equal(new, 0.0)
    lacking = model._posterior().evidence(pd.DataFrame({"gap": ["u"], "word": [None], "size": [np.nan]}))
    np.testing.assert_array_equal(lacking.parts[0, :, 1:3], 0.0)  # training rows lack no such cell


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X[["size"]],
        lambda X: X[["sky"]],
        lambda X: X.assign(one=1.0, text="same"),
        lambda X: X.assign(none=np.nan, nothing=None),
        lambda X: X.iloc[:3],
        lambda X: X.assign(size=X["size"] * 1e140),
    ],
    ids=["a number", "a word", "constant", "all missing", "three rows", "large"],
)
@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_odd_tables_have_finite_posteriors(change):
    X, y = table(120)
    X = change(X)
    p = joint().fit(X, y[: len(X)]).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.isfinite(p).all()


def test_one_class_and_equal_rows_are_learned():
    X, _ = table(60)
    np.testing.assert_array_equal(joint().fit(X, ["a"] * 60).predict_proba(X), 1.0)
    same = pd.DataFrame({"u": ["x"] * 8})
    np.testing.assert_allclose(joint().fit(same, [0, 1] * 4).predict_proba(same), 0.5, atol=1e-9)


def test_fit_on_is_fit_and_more_rows_than_the_sample_are_all_counted():
    X, y = xor(3, 3000, 0.1)
    data = X.assign(label=y)
    np.testing.assert_array_equal(
        joint().fit(X, y).predict_proba(X), joint().fit_on(data, target="label").predict_proba(X)
    )
    small = MixedNB(interactions="auto", keep_rows=600)
    model = clone(small).fit(X, y)
    assert model.interactions_[0][0] == ("c0", "c1", "c2")
    assert model.settled_
    tables = model._state.tables
    assert tables.count(len(tables.chosen.cells)).sum() == 3000
    elsewhere = clone(small).fit_on(data, target="label")
    np.testing.assert_allclose(model.predict_proba(X), elsewhere.predict_proba(X), atol=1e-9)


# updates


def equal(a: MixedNB, b: MixedNB, X: pd.DataFrame) -> None:
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-9)
    assert a.interactions_ == b.interactions_ or np.allclose(*([w for _, w in one.interactions_] for one in (a, b)))


def test_updates_are_refits_while_all_rows_are_kept():
    X, y = table(260)
    words = y.astype(object)
    whole = joint().fit(X, words)
    model = joint()
    for at in (slice(0, 5), slice(5, 90), slice(90, 260)):
        model.partial_fit(X[at], words[at])
    equal(model, whole, X)
    equal(joint().fit(X[:100], words[:100]) + joint().fit(X[100:], words[100:]), whole, X)
    equal(clone(whole).fit(X, words).forget(X[:80], words[:80]), joint().fit(X[80:], words[80:]), X)
    turned = X[X.columns[::-1]]
    equal(joint().fit(turned[:100], words[:100]) + joint().fit(X[100:], words[100:]), joint().fit(turned, words), X)
    assert not whole.settled_
    emptied = clone(whole).fit(X, words).forget(X, words).partial_fit(X[80:], words[80:])
    equal(emptied, joint().fit(X[80:], words[80:]), X)


def test_beyond_the_sample_tables_are_settled_and_counts_go_on():
    X, y = xor(3, 3000, 0.1)
    X = X.assign(
        word=np.random.default_rng(0).choice(["u", "v"], 3000), size=np.random.default_rng(1).normal(size=3000)
    )
    small = MixedNB(interactions="auto", keep_rows=400)
    model, rest = clone(small).fit(X[:2000], y[:2000]), slice(2000, None)
    assert model.settled_
    names = [own for own, _ in model.interactions_]
    more = (model + model).forget(X[:2000], y[:2000])
    equal(more, model, X)
    grown = pickle.loads(pickle.dumps(model)).partial_fit(X[rest], y[rest])
    assert [own for own, _ in grown.interactions_ if own in names]
    tables = grown._fitted_state().tables
    assert tables.count(len(tables.chosen.cells)).sum() == 3000
    less = pickle.loads(pickle.dumps(model)).partial_fit(X[X.columns[::-1]][2200:], y[2200:])
    equal(grown.forget(X[2000:2200], y[2000:2200]), less, X)
    other = clone(small).fit(X[1000:], y[1000:])
    with pytest.raises(MergeError, match=r"(?s)tables of the two models.*hint: "):
        model + other
    few = clone(small).fit(X[2000:2300], y[2000:2300])
    assert not few.settled_
    assert (model + few)._fitted_state().tables.count(len(tables.chosen.cells)).sum() == 2300
    alone = few + clone(small).fit(X[2300:2700], y[2300:2700])  # too many together
    assert alone.settled_
    assert alone._fitted_state().tables.counts.sum(axis=1).sum() > 0
    again = clone(small)
    for at in (slice(0, 300), slice(300, 1500)):
        again.partial_fit(X[at], y[at])
    assert again.settled_
    assert again._state.tables is None  # until it is asked
    assert again.class_count_.sum() == 1500
    assert again._fitted_state().tables.count(0).sum() == 1500
    with pytest.warns(UserWarning, match="fitted to"):
        left = model.forget(X[300:2000], y[300:2000])
    assert left.settled_ is not left._state.sample.complete


def test_no_rows_are_kept_if_none_shall_be(tmp_path):
    X, y = xor(2, 600)
    model = MixedNB(interactions="auto", keep_rows=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), joint().fit(X, y).predict_proba(X))
    with pytest.raises(NotAdditiveError, match=r"interactions='auto'"):
        model.partial_fit(X, y)
    full, path = joint().fit(X, y), tmp_path / "model.deciban"
    deciban.save(full, path, rows=False)
    np.testing.assert_array_equal(deciban.load(path).predict_proba(X), full.predict_proba(X))


# kept, refused, drawn


def test_models_are_kept_copied_and_refused(tmp_path):
    X, y = tic_tac_toe()
    model, path = joint().fit(X, y), tmp_path / "model.deciban"
    deciban.save(model, path)
    for other in (deciban.load(path), pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert other.interactions_ == model.interactions_

    def grown(metadata: dict, arrays: dict) -> None:
        name = "fitted.tables.tally.parts.0.sums"
        arrays[name] = arrays[name] * 5

    forge(path, grown)
    with pytest.raises(ModelFileError, match="joint tables"):
        deciban.load(path)


@pytest.mark.parametrize(
    "settings",
    [
        {"weights": "discriminative"},
        {"calibrate": True},
        {"average": "subsets"},
        {"families": "gaussian"},
        {"families": {"size": "gaussian"}},
        {"missing": "average"},
        {"missing": "informative"},
        {"unseen": "reserve"},
    ],
    ids=str,
)
def test_settings_that_tables_do_not_go_with_are_refused(settings):
    X, y = table(60)
    with pytest.raises(DataError, match=r"(?s)interactions='auto' and .*hint: "):
        MixedNB(interactions="auto", **settings).fit(X, y)


def test_a_picture_shows_what_columns_say_together():
    X, y = xor(3, 1000)
    model = joint().fit(X, y)
    table = model.interaction_table(("c2", "c0", "c1"))
    assert table.columns == ["c0", "c1", "c2"]
    assert table.levels == [["< 0.5", "≥ 0.5"]] * 3
    odd = np.add.outer(np.add.outer([0, 1], [0, 1]), [0, 1]) % 2
    np.testing.assert_array_equal(table.decibans > 10, odd == 1)
    assert table.rows.sum() == 1000
    row = X.iloc[:1]
    line = next(line for line in model.explain(row, of=1, against=0).account(0).lines if "×" in line.name)
    assert line.decibans == pytest.approx(table.decibans[tuple(row.to_numpy(int)[0, :3])])
    ax = plots.interaction(model, ("c0", "c1", "c2"))
    drawn = [text.get_text() for text in ax.texts]
    assert len(drawn) == 8
    assert {text[0] for text in drawn} == {"+", "−"}
    assert [label.get_text() for label in ax.get_yticklabels()][1] == "< 0.5, ≥ 0.5"
    assert ax.get_xlabel() == "c2"


def test_columns_that_are_not_looked_at_together_are_named():
    X, y = xor(2, 1000)
    model = joint().fit(X, y)
    for columns in (("c0", "c2"), ("c0",), ("c0", "c1", "c9"), ("c0", "c0"), ("c0", "other")):
        with pytest.raises(DataError, match=r"(?s)hint: .*c0 × c1"):
            model.interaction_table(columns)
    with pytest.raises(AttributeError, match=r"interactions='auto'"):
        MixedNB().fit(X, y).interactions_  # noqa: B018


def test_dates_of_a_picture_are_dates():
    rng = np.random.default_rng(4)
    day, flag = rng.integers(0, 700, 1500), rng.integers(0, 2, 1500)
    X = pd.DataFrame({"day": pd.to_datetime("2020-01-01") + pd.to_timedelta(day, unit="D"), "flag": flag.astype(str)})
    model = joint().fit(X, (day > 350) ^ (flag == 1))
    assert model.interaction_table(("day", "flag")).levels[0][0].startswith("< 2020-")


# the compiled kernel


@pytest.mark.parametrize(("k", "gaps"), [(2, False), (3, True), (9, True)])
def test_gains_equal_their_specification(k, gaps):
    rng = np.random.default_rng(k)
    n, levels = 500, np.array([2, 5, 9, 3])
    codes = np.stack([rng.integers(-1 if gaps else 0, top, n) for top in levels], axis=1).astype(np.int32)
    y, fold = rng.integers(0, k, n).astype(np.int32), rng.integers(0, FOLDS, n).astype(np.int32)
    w, mass, p = rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 2.0, n), rng.dirichlet(np.ones(k), n)
    p[:40] = np.eye(k)[0]  # certain, rightly and wrongly
    offset = np.concatenate([[0], np.cumsum(levels)])
    each = [level_shares(rng.integers(0, 9, (FOLDS, k, top)).astype(float)) for top in levels]
    theta = np.ascontiguousarray(np.concatenate(each, axis=2).transpose(0, 2, 1))
    sets = [(0,), (2,), (0, 1), (1, 2), (0, 1, 3), (0, 1, 2, 3)]
    got = ops.table_gains(Codes(np.asfortranarray(codes)), y, fold, w, mass, p, offset, theta, sets, MOST)
    want = ops.spec.table_gains(Codes(codes), y, fold, w, mass, p, offset, theta, sets, MOST)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_rule_of_two_columns_is_a_pair(seed):
    """Larger sets that contain the pair are worth less, though a score test ranks them first."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 2, (1000, 6)), columns=list("abcdef")).astype(str)
    X["outlook"] = rng.choice(["sunny", "rain", "overcast"], 1000)
    y = np.where((X.outlook == "rain") ^ (X.a == "1"), "play", "stay")
    y = np.where(rng.random(1000) < 0.1, "play", y)
    columns, weight = joint().fit(X, y).interactions_[0]
    assert columns == ("a", "outlook")
    assert weight > 0.9
