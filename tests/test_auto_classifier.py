"""`AutoClassifier`: which candidates it tries, what it chooses, what it says of them, and when it updates."""

import pickle
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import deciban
from deciban import AutoClassifier, GaussianNB, LinearDiscriminantAnalysis, LogisticRegression, MixedNB, TextClassifier
from deciban.errors import ColumnWarning, DataError, MergeError, NotAdditiveError, UnavailableError
from deciban.model_selection.compare import ColumnSummary, FeatureSelection, get_candidate
from deciban.model_selection.member_search import MIX, MemberSearch, race_sizes
from deciban.rows.raw_rows import RawArrays

NAMED = ["gaussian", "weighted", "logistic"]


def blobs(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(n) % 3]
    return rng.normal(size=(n, 3)) + 1.2 * (np.arange(n) % 3)[:, None], y


def people(n: int = 400, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({
        "id": [f"p{i:05d}" for i in range(n)],
        "age": rng.normal(40, 12, n).round(1),
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        "calls": rng.poisson(2.0, n),
    })  # fmt: skip
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    risk = (X["age"].fillna(40) - 40) / 12 + (X["town"] == "Ulm") + 0.3 * X["calls"] + rng.normal(size=n)
    return X, np.where(risk > 1, "yes", "no")


def quiet(model: AutoClassifier, *rows, **more) -> AutoClassifier:
    """Fit without the warning about dropped columns."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        return model.fit(*rows, **more)


def test_the_mix_is_the_weighted_mean_of_the_models_with_a_temperature():
    X, y = blobs()
    model = AutoClassifier(NAMED).fit(X, y)
    mean = np.tensordot(model.weights_, np.stack([one.predict_proba(X) for one in model.models_]), 1)
    found = model.class_prior_ * (mean / model.class_prior_) ** model.temperature_
    np.testing.assert_allclose(model.predict_proba(X), found / found.sum(axis=1, keepdims=True), rtol=1e-9)
    assert model.weights_.sum() == pytest.approx(1.0)
    given = model.predict_proba(X, priors=model.class_prior_)
    np.testing.assert_allclose(given, model.predict_proba(X), rtol=1e-9)


def test_a_mean_of_forecasts_that_are_right_is_sharpened():
    """Each of two models knows a half of the columns: both are right, and so their mean is too cautious."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1200)
    X = pd.DataFrame(rng.normal(size=(1200, 8)) + 0.5 * y[:, None], columns=[f"x{j}" for j in range(8)])

    def of(columns):
        return make_pipeline(ColumnTransformer([("own", "passthrough", columns)]), GaussianNB())

    halves = {"one": of(list(X)[:4]), "other": of(list(X)[4:])}
    model = AutoClassifier(halves).fit(X[:800], y[:800])
    assert model.temperature_ > 1.2
    mean = np.tensordot(model.weights_, np.stack([one.predict_proba(X[800:]) for one in model.models_]), 1)
    assert log_loss(y[800:], model.predict_proba(X[800:])) < log_loss(y[800:], mean) - 0.005


def test_all_candidates_are_in_the_mix_of_few_rows():
    X, y = blobs()
    few = np.random.default_rng(0).permutation(len(y))[:90]
    assert len(AutoClassifier(NAMED).fit(X[few], y[few]).models_) == len(NAMED)


def test_rows_in_any_order_give_the_same_model():
    X, y = people()
    order = np.random.default_rng(1).permutation(len(y))
    one, other = (quiet(AutoClassifier(), X.iloc[at], y[at]) for at in (np.arange(len(y)), order))
    assert one.names_ == other.names_
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=1e-6)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-6)


def test_the_leaderboard_ranks_candidates_and_their_mix():
    X, y = blobs()
    board = AutoClassifier(NAMED).fit(X, y).leaderboard_
    assert set(board.names) == {*NAMED, MIX}
    assert (np.diff(board.log_loss) >= 0).all()
    assert (board.difference[0], board.difference_error[0]) == (0.0, 0.0)
    np.testing.assert_allclose(board.difference, board.log_loss - board.log_loss[0], atol=1e-12)
    frame = board.to_frame()
    assert frame["name"].tolist() == list(board.names)
    assert "5 folds" in str(board)
    assert "<table" in board._repr_html_()
    assert deciban.cross_validate(GaussianNB(), X, y, 5).log_loss == pytest.approx(
        board.log_loss[board.names.index("gaussian")], abs=0.05
    )


def test_the_standard_error_is_that_of_the_mean_of_the_losses():
    from deciban.model_selection.leaderboard import Leaderboard, Standing

    losses = np.random.default_rng(0).exponential(size=(2, 50))
    board = Leaderboard.of([Standing(str(i), own) for i, own in enumerate(losses)], "once")
    best = int(losses.mean(axis=1).argmin())
    np.testing.assert_allclose(board.error[0], losses[best].std(ddof=1) / np.sqrt(50))
    apart = losses[1 - best] - losses[best]
    np.testing.assert_allclose(
        [board.difference[1], board.difference_error[1]], [apart.mean(), apart.std(ddof=1) / np.sqrt(50)]
    )


def test_a_candidate_that_is_clearly_better_is_used_alone():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    y = np.where(x[:, 0] * x[:, 1] > 0, "same", "opposite")  # QDA knows, linear models do not
    model = AutoClassifier({"linear": LogisticRegression(), "qda": deciban.QuadraticDiscriminantAnalysis()}).fit(x, y)
    assert model.names_ == ["qda"]
    assert model.best_model_ is model.models_[0]
    assert [name for name in model.leaderboard_.names if name != "(mix)"] == ["qda", "linear"]


@pytest.mark.parametrize("rows", [29, 12])
def test_few_rows_have_naive_bayes_alone(rows):
    X, y = blobs(rows)
    model = AutoClassifier().fit(X, y)
    assert model.names_ == ["mixed"]
    assert "no other classifier is tried" in model.leaderboard_.notes[0]
    np.testing.assert_allclose(model.predict_proba(X), MixedNB().fit(X, y).predict_proba(X), rtol=1e-9)


def test_a_rare_class_does_not_end_the_comparison():
    X, y = blobs(200)
    y = np.array(["rare"] * 3 + y[3:].tolist())
    model = AutoClassifier(["gaussian", "weighted"]).fit(X, y)
    assert len(model.leaderboard_) == 3
    assert "rare" in model.classes_
    two = np.where(np.arange(200) < 5, "few", "many")
    assert AutoClassifier().fit(X, two).names_ == ["mixed"]


def test_identifiers_are_dropped_with_a_warning_and_may_be_there_later():
    X, y = people()
    with pytest.warns(ColumnWarning, match="`id` is an identifier"):
        model = AutoClassifier().fit(X, y)
    assert list(model.dropped_columns_) == ["id"]
    assert model.feature_names_in_.tolist() == ["age", "town", "calls"]
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(X.drop(columns="id")))
    assert model.predict(X[["calls", "town", "age", "id"]]).tolist() == model.predict(X).tolist()


def test_columns_may_be_named_by_numbers():
    X, y = blobs()
    frame = pd.DataFrame(X)
    model = AutoClassifier(NAMED[::2]).fit(frame, y)
    np.testing.assert_allclose(
        model.predict_proba(frame), AutoClassifier(NAMED[::2]).fit(X, y).predict_proba(X), rtol=1e-9
    )
    assert len(deciban.compare(frame, y, NAMED).trials) == 3


def test_a_column_that_knows_the_outcome_is_named():
    X, y = people()
    X["late"] = np.where(y == "yes", 1.0, 0.0) + np.random.default_rng(0).normal(size=len(y)) * 0.01
    model = quiet(AutoClassifier(["mixed", "weighted"]), X, y)
    assert list(model.leaks_) == ["late"]


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("the rows are of no use\nto anybody")

    def predict_proba(self, X):
        raise NotImplementedError


def test_a_member_that_fails_is_left_out_with_a_note():
    X, y = blobs()
    model = AutoClassifier({"failing": Failing(), "normal": GaussianNB(), "near": KNeighborsClassifier()}).fit(X, y)
    assert "failing" not in model.names_
    assert model.left_out_["failing"] == "the rows are of no use"
    assert "failing: the rows are of no use" in str(model.leaderboard_)
    with pytest.raises(RuntimeError, match="of no use"):
        AutoClassifier([("failing", Failing())]).fit(X, y)


def test_requirements_that_the_columns_do_not_meet_are_noted():
    X, y = people()
    model = quiet(AutoClassifier(["mixed", "poisson"]), X, y)
    assert model.left_out_ == {"poisson": "needs counts in every column"}
    with pytest.raises(DataError, match="no candidate suits"):
        quiet(AutoClassifier(["poisson"]), X, y)


def test_the_time_limits_what_is_started(monkeypatch):
    X, y = blobs(300)
    model = AutoClassifier(NAMED, max_time=0.0).fit(X, y)
    assert model.names_ == NAMED[:1]
    assert set(model.left_out_) == set(NAMED[1:])
    assert all("max_time" in why for why in model.left_out_.values())


def test_the_time_of_a_fit_is_estimated_from_smaller_samples():
    X, y = blobs(60)
    search = MemberSearch(RawArrays(X, y))
    (member,) = [deciban.classifiers.ensemble.Member.of("one", GaussianNB())]
    assert search._estimate(member, 1000) == 0.0
    search._time(member, 1000, 2.0)
    assert search._estimate(member, 4000) == pytest.approx(8.0)
    search._time(member, 4000, 4.0)  # the square root of the rows
    assert search._estimate(member, 16_000) == pytest.approx(8.0)


def test_the_best_of_a_race_is_fitted_though_it_cannot_be_compared_on_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    X = rng.normal(size=(6000, 2)) + y[:, None]
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def slow(self, X, y, sample_weight=None, fit=LinearDiscriminantAnalysis.fit):
        now[0] += len(y) / 800  # 1 s for the folds of 1,000 rows, 7.5 s for all rows
        return fit(self, X, y)

    monkeypatch.setattr(LinearDiscriminantAnalysis, "fit", slow)
    models = {"lda": LinearDiscriminantAnalysis(), "other": GaussianNB(priors=[0.99, 0.01])}
    for most, rows in ((20.0, "1,000 of 6,000 rows"), (None, "5 folds")):
        now[0] = 0.0
        model = AutoClassifier(models, max_time=most).fit(X, y)
        assert model.names_[0] == "lda"
        assert rows in str(model.leaderboard_)


def test_the_mix_of_the_last_race_stands_where_all_rows_cannot_be_compared(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    X = rng.normal(size=(6000, 4)) + 0.5 * y[:, None]
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def slow(self, X, y, sample_weight=None, fit=GaussianNB.fit):
        now[0] += len(y) / 800  # 10 s for the race on 1,000 rows, 7.5 s for a fit to all, 90 s to compare on all
        return fit(self, X, y)

    monkeypatch.setattr(GaussianNB, "fit", slow)
    halves = {name: make_pipeline(ColumnTransformer([("own", "passthrough", at)]), GaussianNB()) for name, at in HALVES}
    model = AutoClassifier(halves, max_time=40.0).fit(X, y)
    assert sorted(model.names_) == ["one", "other"]
    assert "1,000 of 6,000 rows" in str(model.leaderboard_)
    assert now[0] <= 40.0


HALVES = (("one", [0, 1]), ("other", [2, 3]))


def test_many_rows_race_on_samples():
    assert race_sizes(2000) == []
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    X = rng.normal(size=(6000, 2)) + y[:, None]
    names = ["gaussian", "lda", "qda", "logistic", "mixed"]
    wrong = {"constant": deciban.MixedNB(priors=[1e-9, 1 - 1e-9])}
    stages = []
    model = AutoClassifier({**{name: name for name in names}, **wrong}, verbose=lambda text, share: stages.append(text))
    model.fit(X, y)
    assert "not in the better half on 1,000 rows" in model.left_out_["constant"]
    assert any("of 1,000 of 6,000 rows, fold 2 of 3" in text for text in stages)
    assert stages[-2].endswith("all rows")
    assert model.leaderboard_.how == "5 folds"


def test_an_interrupted_fit_leaves_the_model_unchanged():
    X, y = blobs()

    def stop(text, share):
        if "fold 3" in text:
            raise KeyboardInterrupt

    model = AutoClassifier(NAMED, verbose=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not model.__sklearn_is_fitted__()
    known = AutoClassifier(NAMED).fit(X, y)
    before = known.predict_proba(X)
    known.set_params(verbose=stop)
    with pytest.raises(KeyboardInterrupt):
        known.fit(X + 1, y)
    np.testing.assert_array_equal(known.predict_proba(X), before)


def test_fit_on_learns_the_model_of_fit():
    X, y = people(600)
    near = quiet(AutoClassifier(), X, y)
    with pytest.warns(ColumnWarning):
        far = AutoClassifier().fit_on(pa.Table.from_pandas(X.assign(label=y)))
    assert far.names_ == near.names_
    np.testing.assert_allclose(far.predict_proba(X), near.predict_proba(X), rtol=1e-9)
    assert far.target_name_ == "label"
    out = far.predict_on(pa.Table.from_pandas(X))
    assert out["predicted"].to_pylist() == near.predict(X).tolist()


def test_more_rows_than_a_sample_are_learned_from_batches():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 12_000)
    table = pa.table({"a": rng.normal(size=12_000) + y, "b": rng.normal(size=12_000), "label": y})
    model = AutoClassifier(["gaussian", "lda"]).fit_on(table)
    assert model.class_count_.sum() == 12_000
    assert "8192 rows" in model.leaderboard_.how
    np.testing.assert_allclose(model.models_[0].class_count_, np.bincount(y))


# updates


def test_an_updatable_model_learns_merges_and_forgets():
    X, y = blobs(300)
    whole = AutoClassifier(updatable=True).fit(X, y)
    parts = [AutoClassifier(whole.names_, updatable=True).fit(X[at], y[at]) for at in (slice(150), slice(150, 300))]
    assert len(whole.models_) == 1
    both = parts[0] + parts[1]
    assert both.class_count_.tolist() == whole.class_count_.tolist()
    np.testing.assert_allclose(both.predict_proba(X), whole.predict_proba(X), rtol=1e-6)
    more = clone(parts[0]).fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    np.testing.assert_allclose(more.predict_proba(X), whole.predict_proba(X), rtol=1e-6)
    less = more.forget(X[150:], y[150:])
    np.testing.assert_allclose(less.predict_proba(X), parts[0].predict_proba(X), rtol=1e-6)
    assert sum(parts).class_count_.sum() == 300
    assert deciban.merge(parts).class_count_.sum() == 300


def test_joint_tables_are_stored_after_an_update():
    X, y = people(240)
    X = X.drop(columns="id")
    model = MixedNB(interactions="auto").fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    again = deciban.loads(deciban.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_first_update_chooses_and_names_classes():
    X, y = blobs(90)
    some = y != "c"
    model = AutoClassifier(updatable=True).partial_fit(X[some], y[some], classes=["a", "b", "c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    model.partial_fit(X[~some], y[~some])
    assert model.class_count_.tolist() == [30.0, 30.0, 30.0]


def test_other_models_refuse_updates():
    X, y = blobs()
    model = AutoClassifier(NAMED).fit(X, y)
    assert not hasattr(model, "partial_fit")
    assert not hasattr(model, "forget")
    with pytest.raises(NotAdditiveError, match="updatable=True"):
        model + model
    with pytest.raises(DataError, match="learns no more rows"):
        AutoClassifier(["logistic"], updatable=True).fit(X, y)
    one, other = (AutoClassifier([name], updatable=True).fit(X, y) for name in ("gaussian", "mixed"))
    with pytest.raises(MergeError, match="chose gaussian"):
        one + other


# texts


def mails(n: int = 120) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(0)
    words = np.array(["win", "money", "prize", "lunch", "noon", "hello"])
    shares = np.array([[3, 2, 2, 1, 1, 1], [1, 1, 1, 3, 2, 2]]) / 10
    return [" ".join(rng.choice(words, 6, p=shares[i % 2])) for i in range(n)], np.array(["spam", "ham"])[
        np.arange(n) % 2
    ]


def test_of_texts_the_best_model_is_used(tmp_path):
    texts, y = mails()
    model = AutoClassifier().fit(texts, y)
    assert set(model.leaderboard_.names) == {"text", "text-calibrated", "text-logistic"}
    assert isinstance(model.best_model_, TextClassifier)
    np.testing.assert_allclose(model.predict_proba(texts), model.best_model_.predict_proba(texts), rtol=1e-9)
    assert "lunch" in model.vocabulary_
    assert model.explain(texts[:1]).decibans.shape == model.best_model_.explain(texts[:1]).decibans.shape
    assert {one.column for one in deciban.top_evidence(model)["spam"]} <= {"win", "money", "prize"}
    deciban.save(model, tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))


def test_a_frame_of_one_text_column_is_read_as_texts():
    texts, y = mails()
    long = [f"{i} {text} and some more words of no meaning in a row" for i, text in enumerate(texts)]
    model = AutoClassifier().fit(pd.DataFrame({"says": long}), y)
    assert isinstance(model.best_model_, TextClassifier)
    np.testing.assert_array_equal(model.predict_proba(pd.DataFrame({"says": long})), model.predict_proba(long))
    far = AutoClassifier().fit_on(pa.table({"says": long, "label": y}))
    np.testing.assert_allclose(far.predict_proba(long), model.predict_proba(long), rtol=1e-9)
    assert far.feature_names_in_.tolist() == ["says"]


# explanations, files


def test_an_explanation_of_a_mix_adds_up():
    X, y = people()
    X, y = X[:200], y[:200]
    model = quiet(AutoClassifier(["weighted", "logistic", "calibrated-rda", "tan"]), X, y)
    assert len(model.models_) == 4
    assert model.temperature_ != 1
    why = model.explain(X[:20], of="yes", against="no")
    total = why.prior + why.decibans.sum(axis=1)
    np.testing.assert_allclose(total, model.decibans(X[:20])[:, 1], rtol=1e-6, atol=1e-6)
    assert {"age", "town", "calls", "(models together)"} <= set(why.columns)


def test_members_whose_columns_interact_have_a_line_of_their_own():
    X, y = blobs()
    model = deciban.BayesOptimal([GaussianNB(), deciban.QuadraticDiscriminantAnalysis()], weights=[0.3, 0.7]).fit(X, y)
    why = model.explain(X[:5], of="a", against="b")
    assert "(all columns together)" in why.columns
    np.testing.assert_allclose(
        why.prior + why.decibans.sum(axis=1), model.decibans(X[:5], against="b")[:, 0], rtol=1e-6, atol=1e-6
    )


def test_a_file_holds_the_mix_and_its_leaderboard(tmp_path):
    X, y = people()
    model = quiet(AutoClassifier(), X, y)
    deciban.save(model, tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    for other in (again, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert str(other.leaderboard_) == str(model.leaderboard_)
        assert other.dropped_columns_ == model.dropped_columns_
    assert deciban.model_info(tmp_path / "m.deciban")["columns"] == ["age", "town", "calls"]


def test_the_command_shows_the_leaderboard(tmp_path, monkeypatch, capfd):
    import json

    from deciban.cli import main

    monkeypatch.chdir(tmp_path)
    X, y = people()
    model = quiet(AutoClassifier(NAMED[1:]), X, y)
    deciban.save(model, "m.deciban")
    X.assign(y=y).to_csv("rows.csv", index=False)
    for command in ("show m.deciban", "explain m.deciban rows.csv --row 3", "predict m.deciban rows.csv -o out.csv"):
        with pytest.raises(SystemExit) as end:
            main(command.split())
        assert not end.value.code
    shown = capfd.readouterr().out
    assert str(model.leaderboard_) in shown
    np.testing.assert_allclose(pd.read_csv("out.csv")["p_yes"], model.predict_proba(X)[:, 1])
    with pytest.raises(SystemExit):
        main(["show", "m.deciban", "--json"])
    assert json.loads(capfd.readouterr().out)["log_loss"].keys() == set(model.leaderboard_.names)


def test_a_forged_leaderboard_is_refused():
    from dataclasses import replace

    X, y = blobs()
    model = AutoClassifier(NAMED).fit(X, y)
    board = model.leaderboard_
    for wrong in (
        replace(board, names=("x", *board.names[1:])),
        replace(board, brier=board.brier[1:]),
        replace(board, notes=board.notes[1:]),
    ):
        model.leaderboard_ = wrong
        with pytest.raises(deciban.errors.ModelFileError, match="leaderboard"):
            deciban.dumps(model)


def test_weights_of_rows_count():
    X, y = blobs()
    w = np.ones(len(y))
    w[::2] = 0.0
    some = AutoClassifier(["gaussian", "lda"]).fit(X[1::2], y[1::2])
    weighted = AutoClassifier(["gaussian", "lda"]).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(weighted.predict_proba(X), some.predict_proba(X), rtol=1e-6)


def test_a_mix_with_logistic_regression_draws_no_rows_but_has_evidence_of_single_values():
    X, y = people()
    model = quiet(AutoClassifier(["weighted", "logistic"]), X[:200], y[:200])
    with pytest.raises(UnavailableError, match="logistic"):
        model.sample(3)
    found = deciban.top_evidence(model)
    assert {one.column for one in found["yes"]} <= {"age", "town", "calls"}
    assert found["yes"]
    alone = quiet(AutoClassifier(["weighted", "tan"]), X[:200], y[:200])
    assert len(alone.sample(3)[1]) == 3


@pytest.mark.parametrize("other", [LinearDiscriminantAnalysis(), LogisticRegression()], ids=repr)
def test_a_mix_has_evidence_of_single_values_whichever_members_draw_rows(other):
    X = np.random.default_rng(0).normal(size=(100, 2)) + np.arange(100)[:, None] % 2
    draws = deciban.Gibbs([GaussianNB(), LinearDiscriminantAnalysis()], weights="loo")
    for members in ([GaussianNB(), other], [other, draws]):
        found = deciban.top_evidence(deciban.Gibbs(members, weights="loo").fit(X, np.arange(100) % 2))
        assert {one.column for one in found[1]} == {"x0", "x1"}


def test_columns_that_act_together_are_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    y = (np.sin(4 * X[:, 0]) * X[:, 1] > 0).astype(int)
    model = AutoClassifier(["mixed", "logistic", "kernel"]).fit(X[:300], y[:300])
    assert model.leaderboard_.names[0] in ("kernel", "(mix)")
    assert model.score(X[300:], y[300:]) > 0.9


def test_bumps_are_for_tables_of_mostly_numbers():
    numbers = pd.DataFrame({"a": [0.5, None, 1.5], "b": [1.0, 2.0, 3.0], "c": ["x", "y", "x"]})
    kind = get_candidate("kernel")
    assert not kind.lacks(FeatureSelection(ColumnSummary.from_data(numbers)), named=True)
    named = numbers[["a", "c"]].assign(d=["u", "v", "v"])
    assert kind.lacks(FeatureSelection(ColumnSummary.from_data(named)), named=True)
    gaps = np.array([[np.nan, 1.0], [2.0, 3.0]])
    assert "missing" in kind.lacks(FeatureSelection(ColumnSummary.from_data(gaps)))
