"""Weights of columns, averages of models, the choice among them: each test has the number of the defect it guards."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import deciban
from deciban import (
    BayesOptimal,
    GaussianNB,
    Gibbs,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    TreeAugmentedNB,
    select_model,
)
from deciban.engines import stream
from deciban.errors import DataError
from deciban.rows.raw_rows import RawBatches
from deciban.rows.rows import BatchJob, ColumnRoles

from ..support.data import shared_table

N = 72
LABELS = np.repeat(["a", "b", "c"], N // 3)


def numbers() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, 3)) + np.repeat([0.0, 1, 2], N // 3)[:, None]


def frame() -> pd.DataFrame:
    rng, A, shift = np.random.default_rng(1), numbers(), np.repeat([0.0, 1, 2], N // 3)
    return pd.DataFrame(
        {
            "u": A[:, 0],
            "v": np.where(rng.random(N) < 0.2, np.nan, A[:, 1]),
            "s": rng.choice(["p", "q", "r", None], N),
            "t": rng.poisson(1 + shift),
        }
    )


def arrow(X: pd.DataFrame, **more) -> pa.Table:
    return pa.Table.from_pandas(X.assign(label=LABELS, **more), preserve_index=False)


def in_batches(table: pa.Table, *borders: int) -> pa.Table:
    cuts = [0, *borders, len(table)]
    return pa.concat_tables([table.slice(a, b - a) for a, b in pairwise(cuts)])


# weights="discriminative"


def recurring() -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (4000, 3))
    y = rng.random(4000) < 1 / (1 + np.exp(-(bits @ [1.0, -0.5, 0.8] - 0.5)))
    few = rng.integers(0, 3, (300, 2))
    return {
        "bits": (pd.DataFrame(bits.astype(str), columns=list("abc")), y),
        "few": (pd.DataFrame(few.astype(str), columns=list("ab")), few[:, 0] + (rng.random(300) < 0.4)),
    }


@pytest.mark.parametrize("name", ["bits", "few"])
def test_c3_few_kinds_of_rows_that_recur(name):
    X, y = recurring()[name]
    plain, weighted = (
        deciban.cross_validate(MixedNB(weights=weights), X, y, folds=5).log_loss for weights in (None, "discriminative")
    )
    assert weighted < plain + 0.005


def test_c3_titanic_class_sex_port():
    t = shared_table("titanic/titanic.csv")
    X = t[["pclass", "sex", "embarked"]].astype(str)
    found = deciban.cross_validate(MixedNB(weights="discriminative"), X, t.survived, folds=5, random_state=0)
    assert found.log_loss < 0.482


def test_c3_rows_are_counted_and_not_their_weight():
    """Ten rows of weight 1 are in all folds, one row of weight 10 is in one."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    one, ten = (GaussianNB(weights="discriminative").fit(x, y, sample_weight=np.full(60, w)) for w in (1.0, 10.0))
    repeated = GaussianNB(weights="discriminative").fit(np.repeat(x, 10, axis=0), np.repeat(y, 10))
    judged = [abs(model.feature_weights_ - 1).max() for model in (one, ten, repeated)]
    assert judged[2] < 0.2  # each row is among its own judges
    assert judged[1] > 3 * judged[2]


@pytest.mark.parametrize("name", ["d1", "b29", "quality_4_1"])
def test_d1_b29_quality_4_1_missing_cells_that_tell_have_weights(name):
    rng = np.random.default_rng(0)
    X, y = {
        "d1": (frame(), LABELS),
        "b29": (
            pd.DataFrame({"age": np.where(rng.random(200) < 0.2, np.nan, rng.normal(size=200))}),
            rng.integers(0, 2, 200),
        ),
        "quality_4_1": (pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6, 7, 8]}), np.repeat([0, 1], 4)),
    }[name]
    model = MixedNB(missing="informative", weights="discriminative").fit(X, y)
    assert model.feature_weights_.shape == (X.shape[1],)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    told = model.explain(X)
    np.testing.assert_allclose(told.prior + told.decibans.sum(axis=1), told.total, atol=1e-8)
    table = pa.Table.from_pandas(X.assign(label=y), preserve_index=False)
    far = MixedNB(missing="informative", weights="discriminative").fit_on(table)
    np.testing.assert_allclose(far.predict_proba(X), p, atol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"missing": "informative"},
        {"unseen": "reserve"},
        {"families": {"t": "categorical"}},
        {"families": "student", "alpha": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighed", [False, True])
def test_d2_b18_fit_and_fit_on_have_the_same_weights(settings, weighed):
    X = frame()
    w = np.random.default_rng(5).integers(0, 4, N) * 0.5 if weighed else np.ones(N)
    near = MixedNB(weights="discriminative", **settings).fit(X, LABELS, sample_weight=w)
    table = arrow(X, w=w)
    for data in (table, in_batches(table, 7, 40)):
        far = MixedNB(weights="discriminative", **settings).fit_on(data, sample_weight="w")
        np.testing.assert_allclose(far.class_feature_weights_, near.class_feature_weights_, atol=1e-8)
        np.testing.assert_allclose(far.predict_proba(X), near.predict_proba(X), atol=1e-9)


def test_d2_b18_rows_beyond_the_sample():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 2000)
    x = rng.normal(size=(2000, 3)) + y[:, None] * [0.6, 0.6, 0.0]
    x[:, 1] = x[:, 0] + 0.3 * rng.normal(size=2000)
    x[::3] = x[0]  # a kind of row that recurs
    table = pa.table({**{f"c{j}": x[:, j] for j in range(3)}, "label": y})
    near = GaussianNB(weights="discriminative", keep_rows=300).fit(pd.DataFrame(x, columns=["c0", "c1", "c2"]), y)
    for data in (table, in_batches(table, 100, 101, 1500)):
        far = GaussianNB(weights="discriminative", keep_rows=300).fit_on(data)
        np.testing.assert_allclose(far.class_feature_weights_, near.class_feature_weights_, atol=1e-7)


def tennis(kind: str) -> tuple[pd.DataFrame, pd.Series]:
    t = shared_table(f"weka_arff/weather_{kind}.csv")
    return t.drop(columns="play"), t.play


@pytest.mark.parametrize("kind", ["nominal", "numeric"])
@pytest.mark.parametrize("alpha", [0.3, 1, 3])
def test_b04_weights_stay_near_one_on_14_rows(kind, alpha):
    X, y = tennis(kind)
    model = MixedNB(alpha=alpha, weights="discriminative").fit(X, y)
    assert (model.feature_weights_ > 0.5).all()
    plain = MixedNB(alpha=alpha).fit(X, y)
    parts, of_plain = (one.explain(X, of="no", against="yes").decibans for one in (model, plain))
    assert (parts * of_plain >= 0).all()


def test_b04_weighted_play_tennis():
    X, y = tennis("nominal")
    row = pd.DataFrame([{"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": True}])
    model = MixedNB(alpha=1, weights="discriminative").fit(X, y)
    assert model.predict_proba(row)[0, 0] >= 0.6
    told = model.explain(row, of="no")
    assert dict(zip(told.columns, told.decibans[0], strict=True))["humidity"] > 0


@pytest.mark.parametrize("seed", range(20))
def test_b04_no_evidence_is_turned_around_by_14_rows(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], 7))
    X = pd.DataFrame({c: rng.choice(list("uvw"), 14) for c in "abcd"})
    model = MixedNB(alpha=1, weights="discriminative").fit(X, y)
    assert (model.feature_weights_ >= 0).all()


# settings that `fit` checks


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"inclusion": {"nope": 0.3}}, "inclusion names"),
        ({"inclusion": {"u": 7}}, "probabilities"),
        ({"missing": "average"}, "missing='average'"),
    ],
    ids=["d4_names", "d4_probabilities", "d5"],
)
def test_d4_d5_fit_on_refuses_what_fit_refuses(settings, said):
    model = MixedNB(average="subsets", **settings)
    with pytest.raises(DataError, match=said):
        model.fit(frame(), LABELS)
    with pytest.raises(DataError, match=said):
        model.fit_on(arrow(frame()))


def test_d6_explanation_of_an_averaged_level_is_that_of_the_posterior():
    model = MixedNB(missing="average").fit(frame(), LABELS)
    row = frame().iloc[:1].assign(s=None)
    assert model.explain(row).probability == pytest.approx(model.predict_proba(row).max(), abs=1e-9)


# what an earlier fit leaves


def test_d8_an_ensemble_keeps_nothing_of_an_earlier_fit():
    A = numbers()
    model = BayesOptimal([GaussianNB(), LogisticRegression()], weights="loo").fit(A, LABELS)
    model.set_params(weights=[0.5, 0.5]).fit(A, LABELS)
    assert not hasattr(model, "held_out_")
    assert not hasattr(model, "log_evidence_")


# averages of models


def curved(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows that suit no member alone: a copied column, and two that tell only together."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a = rng.normal(size=n) + y
    b = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "a": a,
            "echo": a + 0.2 * rng.normal(size=n),
            "b": np.where(b == 1, "u", "v"),
            "c": np.where((b ^ y ^ (rng.random(n) < 0.3)) == 1, "u", "v"),
        }
    ), np.array(["no", "yes"])[y]


def log_loss(model, X, y) -> float:
    return -model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean()


def test_b17_the_default_is_stacked_and_as_good_as_its_best_member():
    X, y = curved(900)
    model = BayesOptimal().fit(X[:300], y[:300])
    assert model.names_ == ["calibrated", "weighted", "tree", "aode", "kdb"]
    assert model.held_out_ == ["5 folds"] * 5
    each = [log_loss(member, X[300:], y[300:]) for member in model.models_]
    assert log_loss(model, X[300:], y[300:]) < min(each) + 0.01
    conjugate = BayesOptimal(weights="evidence").fit(X[:300], y[:300])
    assert len(conjugate.models_) == 2
    assert log_loss(model, X[300:], y[300:]) < log_loss(conjugate, X[300:], y[300:])


def test_b17_three_default_models_that_say_much_the_same_share_the_prior_of_one():
    """A column that says nothing leaves the weights near the prior."""
    X = pd.DataFrame({"a": ["x", "x", "y", "y"] * 10})
    y = np.array(["no", "yes"] * 20)
    model = BayesOptimal().fit(X, y)
    w = dict(zip(model.names_, model.weights_, strict=True))
    assert w["tree"] == pytest.approx(w["aode"]) == pytest.approx(w["kdb"])
    assert w["tree"] + w["aode"] + w["kdb"] < 0.5
    alike = BayesOptimal(prior=[1] * 5).fit(X, y)
    assert sum(alike.weights_[2:]) > 0.55


def test_b17_logistic_regression_is_a_member_where_all_columns_are_numbers():
    A = numbers()
    model = BayesOptimal().fit(pd.DataFrame(A, columns=list("abc")), LABELS)
    assert model.names_[-1] == "logistic"
    turned = pd.DataFrame(A[:, ::-1], columns=list("cba"))
    np.testing.assert_allclose(model.predict_proba(turned), model.predict_proba(pd.DataFrame(A, columns=list("abc"))))
    gaps = pd.DataFrame(A, columns=list("abc"))
    gaps.loc[3, "b"] = np.nan
    p = model.predict_proba(gaps)
    np.testing.assert_allclose(np.delete(p, 3, axis=0), np.delete(model.predict_proba(turned), 3, axis=0))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)  # the others answer row 3
    others, w = model.models_[:-1], model.weights_[:-1] / model.weights_[:-1].sum()
    np.testing.assert_allclose(p[3], sum(v * m.predict_proba(gaps)[3] for v, m in zip(w, others, strict=True)))
    told = model.explain(gaps[:5])
    np.testing.assert_allclose(told.probability, model.predict_proba(gaps[:5]).max(axis=1))


def with_gaps() -> tuple[BayesOptimal, pd.DataFrame]:
    A = pd.DataFrame(numbers(), columns=list("abc"))
    model = BayesOptimal([("normal", MixedNB()), ("linear", LogisticRegression())]).fit(A, LABELS)
    A.loc[[3, 5], "b"] = np.nan
    return model, A


def test_explanations_of_rows_with_missing_cells_name_the_models_that_do_not_take_them():
    model, A = with_gaps()
    assert "rows 3, 5: predicted without `linear`, which takes no missing cells" in model.explain(A).note
    assert "row 3: predicted without `linear`" in model.explain(A[3:4]).note
    assert "predicted without" not in model.explain(A[:3]).note
    whole, complete = model.explain(A[:4]), model.explain(A[:3])
    np.testing.assert_allclose(whole.decibans[:3], complete.decibans)  # other rows make no difference
    np.testing.assert_allclose(whole.prior[:3], complete.prior)
    np.testing.assert_allclose(whole.probability, model.predict_proba(A[:4]).max(axis=1))
    with pytest.warns(UserWarning, match="`b` not in X"):
        lacking = model.explain(A[["a", "c"]][:2])
    assert "rows 0, 1: predicted without `linear`" in lacking.note


@pytest.mark.parametrize("per", ["row", "prediction"])
def test_gibbs_draws_among_the_models_that_take_a_row(per):
    fitted, A = with_gaps()
    model = Gibbs(fitted.models, weights=[1e-9, 1.0], per=per, random_state=0).fit(
        A.dropna(), LABELS[A.notna().all(axis=1)]
    )
    p = model.predict_proba(A)
    np.testing.assert_allclose(p[3], model.models_[0].predict_proba(A)[3])
    np.testing.assert_allclose(p[:3], model.models_[1].predict_proba(A[:3]))
    np.testing.assert_allclose(model.predict_proba(A[3:4]), p[3:4])


def test_b17_titanic():
    t = shared_table("titanic/titanic.csv")
    X, y = t[["pclass", "sex", "age", "fare", "embarked"]], t.survived.to_numpy()
    train = np.arange(len(y)) % 3 > 0
    model = BayesOptimal().fit(X[train], y[train])
    each = [log_loss(member, X[~train], y[~train]) for member in model.models_]
    assert log_loss(model, X[~train], y[~train]) < min(*each, 0.48) + 0.01


def test_b17_fit_on_is_fit_also_beyond_the_size_of_a_sample(monkeypatch):
    monkeypatch.setattr("deciban.rows.raw_rows.SIZE", 1000)
    for n, held_out in ((400, "5 folds"), (3000, "1000 rows in 2 groups"), (6000, "1000 rows")):
        X, y = curved(n, seed=1)
        table = pa.Table.from_pandas(X.assign(label=y), preserve_index=False)
        near, far = BayesOptimal().fit(X, y), BayesOptimal().fit_on(in_batches(table, 150, 151))
        assert far.names_ == near.names_ == ["calibrated", "weighted", "tree", "aode", "kdb"]
        assert far.held_out_ == near.held_out_ == [held_out] * 5
        assert far.class_count_.tolist() == near.class_count_.tolist()
        np.testing.assert_allclose(far.weights_, near.weights_, atol=1e-6)
        np.testing.assert_allclose(far.predict_proba(X), near.predict_proba(X), atol=1e-6)
        each = [log_loss(member, *curved(2000, seed=2)) for member in far.models_]
        assert log_loss(far, *curved(2000, seed=2)) < min(each) + 0.01


def test_passes_over_some_columns_leave_out_the_same_rows():
    """A sparse penalty reads the columns that still matter; the rows that are held out must stay so."""
    X, y = curved(400)
    table = pa.Table.from_pandas(X.assign(label=y, row=np.arange(400.0)), preserve_index=False)
    roles = ColumnRoles((*X.columns, "row"), "label")
    rows = RawBatches(BatchJob(stream, table, roles))
    job = rows.without(rows.sample().hold_out(5).left_out(0)).job

    def numbers_of(batch):
        return batch.column("row").to_pylist()

    whole = job.total(numbers_of)
    assert len(whole) == 320
    assert replace(job, roles=replace(roles, features=("row",))).total(numbers_of) == whole


@pytest.mark.parametrize("ensemble", [BayesOptimal, Gibbs])
def test_issue_5_a_member_that_fails_is_left_out(ensemble):
    A = numbers() - 3
    with pytest.warns(UserWarning, match="`multinomialnb` is left out: Negative values in data"):
        model = ensemble([MultinomialNB(), GaussianNB(), LogisticRegression()], weights=[2, 1, 3]).fit(A, LABELS)
    assert model.names_ == ["gaussiannb", "logisticregression"]
    assert list(model.left_out_) == ["multinomialnb"]
    np.testing.assert_allclose(model.weights_, [0.25, 0.75])
    table = pa.table({**{f"c{j}": A[:, j] for j in range(3)}, "label": LABELS})
    with pytest.warns(UserWarning, match="`multinomialnb` is left out"):
        far = ensemble([MultinomialNB(), GaussianNB(), LogisticRegression()], weights=[2, 1, 3]).fit_on(table)
    np.testing.assert_allclose(far.weights_, [0.25, 0.75])
    with pytest.raises(ValueError, match="Negative values"):
        ensemble([MultinomialNB(), MultinomialNB(alpha=2)], weights=[1, 1]).fit(A, LABELS)
    with pytest.raises(DataError, match="no model that has weight could learn"):
        ensemble([MultinomialNB(), GaussianNB()], weights=[1, 0]).fit(A, LABELS)


def test_issue_5_a_member_that_fails_in_a_fold_is_left_out():
    """Of two rows of a class, four folds of five have both, and one has a single one: too few for a covariance."""
    A, y = np.vstack([numbers()[:30], [[9.0, 9, 9], [8.0, 9, 9.5]]]), np.repeat(["a", "b", "c"], [15, 15, 2])
    quadratic = make_pipeline(StandardScaler(), deciban.QuadraticDiscriminantAnalysis(reg_param=0.5))
    with pytest.warns(UserWarning, match="`pipeline` is left out: y has only 1 sample"):
        model = BayesOptimal([quadratic, LogisticRegression()]).fit(A, y)
    assert model.names_ == ["logisticregression"]
    assert model.weights_.tolist() == [1.0]


def test_b30_models_without_evidence_are_compared_by_rows_left_out():
    X, y = pd.DataFrame({"x": [1.0, 2] * 9}), ["a", "b"] * 9
    found = select_model([MixedNB(), MixedNB(alpha=1)], X, y)
    assert "chosen by leave-one-out" in str(found)
    assert "has no attribute" not in str(found)
    assert found.of.startswith("p(y | X)")
    found = select_model([GaussianNB(), LinearDiscriminantAnalysis()], numbers(), LABELS)
    assert "no evidence" in found.notes[0]
    for ensemble in (BayesOptimal, Gibbs):
        with pytest.warns(UserWarning, match="come from held-out rows: "):
            model = ensemble([MixedNB(), MixedNB(alpha=1)], weights="evidence").fit(X, y)
        assert model.weights_.sum() == pytest.approx(1)
        table = pa.table({"x": [1.0, 2] * 9, "label": y})
        with pytest.warns(UserWarning, match="come from held-out rows: "):
            far = ensemble([MixedNB(), MixedNB(alpha=1)], weights="evidence").fit_on(table)
        np.testing.assert_allclose(far.weights_, model.weights_)


def test_b30_a_model_that_cannot_learn_is_no_choice():
    with pytest.warns(UserWarning, match="`multinomialnb` is left out"):
        found = select_model([MultinomialNB(), GaussianNB(), LogisticRegression()], numbers() - 3, LABELS, by="loo")
    assert found.names == ("gaussiannb", "logisticregression")
    assert "multinomialnb could not be fitted" in str(found)


def test_coverage_07_naive_bayes_and_a_tree_of_words_compare():
    X, y = tennis("nominal")
    X = X.astype(str)
    found = select_model({"naive": MixedNB(alpha=1), "tree": TreeAugmentedNB()}, X, y)
    assert found.notes == ()
    assert found.of == "p(X, y), levels"
    naive = deciban.KDependenceBayes(k=0).fit(X, y)
    other = select_model({"naive": naive, "tree": TreeAugmentedNB()}, X, y)
    np.testing.assert_allclose(found.total_bits, other.total_bits)


def test_task_44_priors_of_an_ensemble():
    X, y = curved(200)
    model = BayesOptimal().fit(X, y)
    given = model.predict_proba(X, priors={"no": 0.5, "yes": 0.5})
    np.testing.assert_allclose(model.predict_proba(X, priors=[0.5, 0.5]), given)
    assert (model.decide(X, priors={"no": 0.01, "yes": 0.99}) == "yes").mean() > 0.5
    np.testing.assert_allclose(model.predict_proba(X, priors="uniform"), given)


def test_task_18_rows_as_dictionaries_in_an_ensemble():
    A = pd.DataFrame(numbers(), columns=list("abc"))
    model = BayesOptimal().fit(A, LABELS)
    again = BayesOptimal().fit(A.to_dict("records"), LABELS)
    np.testing.assert_allclose(again.predict_proba(A), model.predict_proba(A))
    rows = A[:3].to_dict("records")
    np.testing.assert_allclose(model.predict_proba(rows), model.predict_proba(A[:3]))
    rows[1]["b"] = None
    gap = A[:3].copy()
    gap.loc[1, "b"] = np.nan
    np.testing.assert_allclose(model.predict_proba(rows), model.predict_proba(gap))
