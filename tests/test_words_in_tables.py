"""`MixedNB` reads a column of texts as words, beside the other columns of a table."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

import deciban
from deciban import MixedNB
from deciban.composites.levels_and_words import ColumnWords, LevelsAndWords, Words
from deciban.data.blocks import Codes
from deciban.errors import ColumnWarning, DataError, ModelFileError, NotAdditiveError
from deciban.families.categorical import Categorical

GOOD = ["cheap", "bargain", "gift", "quick", "delivery", "friendly", "service", "smile"]
BAD = ["late", "broken", "refund", "angry", "slow", "missing", "damaged", "complaint"]
COMMON = ["the", "a", "of", "and", "to", "in", "is", "it", "that", "was", "for", "on", "with", "as", "they", "we"]
SETTINGS = ({}, {"calibrate": True}, {"weights": "discriminative"}, {"missing": "informative"}, {"unseen": "reserve"})


def letters(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Letters, in which some words are of one class more than of the other, and the age of who wrote them."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n)
    own = {"yes": GOOD, "no": BAD}
    texts = [" ".join([*rng.choice(COMMON, 9), *rng.choice(own[c], 2), *rng.choice(GOOD + BAD, 3)]) for c in y]
    return pd.DataFrame({"age": rng.normal(40, 10, n) + 4 * (y == "yes"), "letter": texts}), y


def test_words_are_evidence_beside_numbers():
    X, y = letters(500)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        model = MixedNB().fit(X[:300], y[:300])
    numbers = MixedNB().fit(X[["age"]][:300], y[:300])
    both, age = (log_loss(y[300:], one.predict_proba(X[300:][one.feature_names_in_])) for one in (model, numbers))
    assert both < 0.35 < 0.6 < age
    assert isinstance(model.families_["letter"], Words)
    one = model.explain(X[300:305], of="yes", against="no")
    assert set(one.columns) == {"age", "letter"}
    np.testing.assert_allclose(one.total, model.decibans(X[300:305], against="no")[:, 1], atol=1e-9)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_updates_merges_and_forgetting_are_a_refit(settings):
    X, y = letters(260)
    X.loc[::7, "letter"] = None
    refit = MixedNB(**settings).fit(X[:200], y[:200])
    model = MixedNB(**settings).fit(X[:90], y[:90]).partial_fit(X[90:260], y[90:260]).forget(X[200:], y[200:])
    merged = MixedNB(**settings).fit(X[100:200], y[100:200]) + MixedNB(**settings).fit(X[:100], y[:100])
    for one in (model, merged):
        np.testing.assert_allclose(one.predict_proba(X), refit.predict_proba(X), atol=1e-9)
        assert one.families_ == refit.families_


def test_few_texts_become_many():
    """Whether a column holds texts is found in the rows there are: a model of few merges with one of many."""
    X, y = letters(120)
    few = MixedNB().fit(X[:15], y[:15])
    assert isinstance(few.families_["letter"], Categorical)
    both = few + MixedNB().fit(X[15:], y[15:])
    np.testing.assert_allclose(both.predict_proba(X), MixedNB().fit(X, y).predict_proba(X), atol=1e-9)
    assert isinstance(both.families_["letter"], Words)


def test_a_row_left_out_is_a_fit_without_it(monkeypatch):
    X, y = letters(60)
    X.loc[5, "letter"] = "unheard of words"
    X.loc[[7, 8], "letter"] = X.letter[9]
    names = {"families": {"age": "gaussian", "letter": "words"}}
    how = Words(0.3, 0.7)
    monkeypatch.setattr(ColumnWords, "choose", lambda column: how)
    model = MixedNB(**names).fit(X, y)
    found = model.leave_one_out(X, y)
    for i in range(12):
        rest = np.arange(len(y)) != i
        own = MixedNB(**names).fit(X[rest], y[rest])
        np.testing.assert_allclose(found[i], own.predict_log_proba(X[i : i + 1])[0], atol=1e-9)


def test_weights_are_repetitions():
    X, y = letters(150)
    w = np.random.default_rng(0).integers(0, 3, 150).astype(float)
    at = np.repeat(np.arange(150), w.astype(int))
    names = {"families": {"age": "gaussian"}}
    once = MixedNB(**names).fit(X, y, sample_weight=w)
    again = MixedNB(**names).fit(X.iloc[at], y[at])
    np.testing.assert_allclose(once.predict_proba(X), again.predict_proba(X), atol=1e-9)


def test_new_texts_are_scored_by_their_words():
    X, y = letters(200)
    model = MixedNB().fit(X, y)
    asked = pd.DataFrame({"age": [44.0] * 5, "letter": ["angry refund", "", None, "words never seen", "gift smile"]})
    p = model.predict_proba(asked)[:, 1]
    assert p[0] < p[1] < p[4]
    np.testing.assert_allclose(p[1:4], model.predict_proba(asked[["age"]].assign(letter=None))[0, 1])
    rows = asked.to_dict("records")
    np.testing.assert_array_equal(model.predict_proba(rows)[:, 1], p)
    score = model.row_scorer(list(asked))
    np.testing.assert_array_equal([score.predict_proba(row)[1] for row in rows], p)


def test_no_text_says_more_than_its_rows_support():
    X, y = letters(80)
    model = MixedNB(families={"age": "gaussian"}).fit(X, y)
    asked = pd.DataFrame({"age": [44.0] * 2, "letter": [" ".join(GOOD * 50), " ".join(BAD * 50)]})
    parts = model._posterior().evidence(asked).parts[:, :, 1]
    most = np.log(2.0 * np.array([(y == "no").sum(), (y == "yes").sum()]) + 80)
    assert (parts.max(axis=1, keepdims=True) - parts <= most + 1e-9).all()


def test_chance_says_next_to_nothing():
    X, y = letters(300)
    y = np.random.default_rng(1).permutation(y)
    model = MixedNB().fit(X[:200], y[:200])
    base = log_loss(y[200:], np.full((100, 2), 0.5))
    assert log_loss(y[200:], model.predict_proba(X[200:])) < base + 0.02


def test_files_keep_the_words_and_batches_are_the_frame(tmp_path):
    X, y = letters(150)
    model = MixedNB(calibrate=True).fit(X, y)
    again = deciban.loads(deciban.dumps(model))
    new = letters(50, seed=2)[0]
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    path = tmp_path / "letters.csv"
    X.assign(label=y).to_csv(path, index=False)
    streamed = MixedNB(calibrate=True).fit_on(path, "label")
    np.testing.assert_allclose(streamed.predict_proba(new), model.predict_proba(new), atol=1e-9)


def test_names_choose_words_and_levels():
    assert deciban.list_families()["words"].endswith("for texts")
    X, y = letters(60)
    short = X.assign(letter=[text.split()[-1] for text in X.letter])
    assert isinstance(MixedNB().fit(short, y).families_["letter"], Categorical)
    assert isinstance(MixedNB(families={"letter": "words"}).fit(short, y).families_["letter"], Words)
    with pytest.warns(ColumnWarning, match="another value in every row"):
        assert isinstance(MixedNB(families={"letter": "categorical"}).fit(X, y).families_["letter"], Categorical)
    with pytest.raises(DataError, match="`age` holds numbers"):
        MixedNB(families={"age": "words"}).fit(X, y)


@pytest.mark.parametrize("other", [{"average": "subsets"}, {"missing": "average"}], ids=str)
def test_settings_that_words_do_not_go_with(other):
    X, y = letters(60)
    with pytest.raises(DataError, match="'words' does not go with"):
        MixedNB(families={"letter": "words"}, **other).fit(X, y)
    with pytest.warns(ColumnWarning, match="`letter` has another value in every row"):
        MixedNB(**other).fit(X, y)


def test_drawn_rows_have_texts_of_training():
    X, y = letters(100)
    drawn, labels = MixedNB().fit(X, y).sample(40, random_state=0)
    assert all(set(drawn.letter[labels == c]) <= set(X.letter[y == c]) for c in ("no", "yes"))


def test_the_settled_settings_stay():
    X, y = letters(100)
    state = MixedNB().fit(X, y)._fitted_state()
    family = next(f for f in state.family.factors if isinstance(f, LevelsAndWords))
    t = state.tally.parts[1].parts[state.family.factors.index(family)]
    fixed = replace(family, chosen={0: Words(1.0, 0.5)})
    assert fixed.of_columns(t, fixed.estimate(t)) == [Words(1.0, 0.5)]
    p = family.estimate(t)
    assert family.fixed(p).estimate(t).texts[0].how == p.texts[0].how
    known = family.loglik(p, Codes(np.array([[0], [-1]])))
    np.testing.assert_array_equal(known[1], 0.0)


@pytest.mark.parametrize("settings", [*SETTINGS, {"families": {"letter": "words"}}], ids=str)
def test_files_without_rows_hold_words_instead_of_texts(settings):
    X, y = letters(150)
    X.loc[::7, "letter"] = None
    model = MixedNB(**settings).fit(X, y)
    content, less = deciban.dumps(model), deciban.dumps(model, rows=False)
    assert deciban.model_info(content)["rows_kept"] >= X.letter.nunique()
    assert deciban.model_info(less)["rows_kept"] == 0
    held = [text.encode() for text in X.letter.dropna()]
    assert all(text in content for text in held)
    assert not any(text in less for text in held)
    again = deciban.loads(less)
    for rows in (X, letters(50, seed=2)[0]):
        np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), rtol=0, atol=1e-12)
    one = again.explain(X[1:6], of="yes", against="no")
    np.testing.assert_allclose(one.total, model.explain(X[1:6], of="yes", against="no").total, atol=1e-9)
    np.testing.assert_array_equal(deciban.loads(deciban.dumps(again)).predict_proba(X), again.predict_proba(X))
    assert again.sample(5)[0].letter.isna().all()
    assert deciban.top_evidence(again)["yes"]
    changes = (lambda: again.partial_fit(X[:9], y[:9]), lambda: again.forget(X[:9], y[:9]), lambda: again + again)
    errors = (lambda: again.explain(X[:1], error="model"), lambda: again.predict_interval(X[:1]))
    for change in (*changes, *errors, lambda: again.leave_one_out(X, y)):
        with pytest.raises((NotAdditiveError, DataError), match="row"):
            change()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [MixedNB(families={"letter": "categorical"}), deciban.TreeAugmentedNB()], ids=repr)
def test_texts_that_are_levels_are_counted_and_not_left_out(model):
    X, y = letters(60)
    model.fit(X, y)
    assert deciban.model_info(deciban.dumps(model))["rows_kept"] == 60
    with pytest.raises(ModelFileError, match="column `letter`"):
        deciban.dumps(model, rows=False)


def test_forged_words_are_refused(tmp_path):
    X, y = letters(60)
    path = tmp_path / "m.deciban"
    deciban.save(MixedNB().fit(X, y), path, rows=False)
    known = deciban.load(path)._state.known.texts[1]
    assert known.sound(2, known.words.shape[1])
    for name in ("words", "limit"):
        for wrong in (getattr(known, name)[..., :-1], getattr(known, name) * np.nan):
            model = deciban.load(path)
            model._state = model._state.with_known(texts={1: replace(known, **{name: wrong})})
            with pytest.raises(ModelFileError, match="words"):
                deciban.dumps(model)
