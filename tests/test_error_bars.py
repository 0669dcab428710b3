"""Standard errors of evidence against their formulas, resamples of the rows, and what is shown of them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.special import polygamma

from deciban import (
    AutoClassifier,
    BayesOptimal,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    TextClassifier,
    plots,
)
from deciban.decision import DECIBAN
from deciban.errors import DataError
from deciban.models.model import tally_of

from .support.data import shared_table

RNG = np.random.default_rng(4)
N = 300
Y = RNG.choice(["no", "yes"], N)
FRAME = pd.DataFrame(
    {
        "u": RNG.normal(size=N) + (Y == "yes"),
        "v": RNG.exponential(size=N) ** 2 * (1 + (Y == "yes")),
        "s": np.where(RNG.random(N) < 0.4 + 0.3 * (Y == "yes"), "p", RNG.choice(["q", "r"], N)),
    }
)
ROWS = {"training": (FRAME, Y)}


# formulas


def test_errors_of_levels_are_those_of_the_dirichlet_posterior():
    model = CategoricalNB(alpha=0.5).fit([[0], [0], [1], [2], [0], [1], [1]], list("aaaabbb"))
    why = model.explain([[0]], of="a", against="b", error="auto")
    # counts of a: 2 1 1, of b: 1 2 0
    variance = polygamma(1, 2.5) - polygamma(1, 5.5) + polygamma(1, 1.5) - polygamma(1, 4.5)
    assert why.error[0, 0] == pytest.approx(DECIBAN * np.sqrt(variance))
    prior = polygamma(1, 4.0) + polygamma(1, 3.0)
    assert why.prior_error[0] == pytest.approx(DECIBAN * np.sqrt(prior))
    assert why.total_error[0] == pytest.approx(DECIBAN * np.sqrt(variance + prior))


def test_errors_of_words_count_each_word():
    model = MultinomialNB(alpha=1.0).fit([[3, 1, 0], [0, 2, 4]], ["a", "b"])
    why = model.explain([[2, 0, 0]], of="a", against="b", error="auto")
    variance = polygamma(1, 4.0) - polygamma(1, 7.0) + polygamma(1, 1.0) - polygamma(1, 9.0)
    assert why.error[0, 0] == pytest.approx(2 * DECIBAN * np.sqrt(variance))
    assert why.error[0, 1:].tolist() == [0.0, 0.0]


def test_errors_of_normal_columns_under_the_model():
    x = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [9.0]])
    model = GaussianNB(var_smoothing=0.0).fit(x, list("aaabbb"))
    z = (3.0 - model.theta_[:, 0]) / np.sqrt(model.var_[:, 0])
    error = model.explain([[3.0]], error="model").error[0, 0]
    assert error == pytest.approx(DECIBAN * np.sqrt(((z**4 + 1.0) / 6.0).sum()))


def test_robust_errors_are_the_jackknife_of_single_rows():
    """The influence of a row on mean and variance is that of leaving it out."""
    x, y = RNG.gamma(3.0, size=(N, 1)) + (Y == "yes")[:, None], Y
    model, asked = GaussianNB(var_smoothing=0.0).fit(x, y), np.array([[2.0], [6.0]])
    why = model.explain(asked, of="yes", against="no", error="robust", training=(x, y))
    left = []
    for i in range(N):
        rest = np.arange(N) != i
        one = GaussianNB(var_smoothing=0.0).fit(x[rest], y[rest])
        left.append(one.explain(asked, of="yes", against="no").decibans[:, 0] - why.decibans[:, 0])
    by_hand = np.sqrt(np.square(left).sum(axis=0))
    np.testing.assert_allclose(why.error[:, 0], by_hand, rtol=0.1)


def test_errors_of_averaged_rates_are_those_of_samples_of_the_rows():
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b"], 400)
    x = pd.DataFrame({"n": rng.negative_binomial(2, np.where(y == "a", 0.3, 0.5)).astype(float)})
    model, asked = MixedNB(families="gamma_poisson", priors="uniform").fit(x, y), pd.DataFrame({"n": [0.0, 3.0, 9.0]})
    why = model.explain(asked, of="a", against="b", error="robust", training=(x, y))
    found = []
    for _ in range(300):
        at = np.concatenate([rng.integers(0, 400, 400), rng.integers(400, 800, 400)])
        one = MixedNB(families="gamma_poisson", priors="uniform").fit(x.iloc[at], y[at])
        found.append(one.explain(asked, of="a", against="b").decibans[:, 0])
    np.testing.assert_allclose(why.error[:, 0], np.std(found, axis=0), rtol=0.2)


def test_the_total_of_equal_columns_has_their_errors_added_up():
    """Two copies of a column are one source of error: 2 σ, not √2 σ."""
    x = np.repeat(FRAME[["u"]].to_numpy(), 2, axis=1)
    model = GaussianNB(priors=[0.5, 0.5]).fit(x, Y)
    robust = model.explain(x[:5], error="robust", training=(x, Y))
    np.testing.assert_allclose(robust.total_error, 2 * robust.error[:, 0], rtol=1e-9)
    own = model.explain(x[:5], error="model")
    np.testing.assert_allclose(own.total_error, np.sqrt(2) * own.error[:, 0], rtol=1e-9)


def test_logistic_errors_are_those_of_the_laplace_posterior():
    x = FRAME[["u", "v"]].to_numpy()
    model = LogisticRegression(C=10.0).fit(x, Y)
    why = model.explain(x[:4], of="yes", against="no", error="auto", baseline=0)
    covariance = model._laplace_posterior().covariance
    row = np.column_stack([np.ones(4), x[:4]])
    np.testing.assert_allclose(why.error, DECIBAN * np.abs(x[:4]) * np.sqrt(np.diag(covariance)[1:]))
    np.testing.assert_allclose(why.total_error, DECIBAN * np.sqrt(np.einsum("np,pq,nq->n", row, covariance, row)))
    np.testing.assert_allclose(why.prior_error, DECIBAN * np.sqrt(covariance[0, 0]))


@pytest.mark.parametrize("model", [MixedNB(calibrate=True, families="gaussian"), MixedNB(weights="discriminative")])
def test_weights_and_temperature_multiply_errors(model):
    own = model.fit(FRAME, Y)
    state = own._fitted_state()
    plain = own._copy()._adopt(state.adjusted(calibration=None, weights=None))
    pair = {"of": "yes", "against": "no", "error": "robust"}
    found, bare = own.explain(FRAME[:5], **pair, **ROWS), plain.explain(FRAME[:5], **pair, **ROWS)
    if state.calibration is not None:
        np.testing.assert_allclose(found.error, state.calibration.temperature * bare.error)
    else:
        np.testing.assert_allclose(found.error, np.abs(state.weights.table[0]) * bare.error)


# samples of the rows


def refitted(truth, table, some):
    """The model of some of the rows, with the choices of a model of all."""
    state = truth._fitted_state()
    own = replace(state, tally=tally_of(state.family.fixed(state.params), table.take(some)), sample=None, stale=False)
    return truth._copy()._adopt(own)


def coverage(model, X, y, n: int, samples: int, kind: str) -> tuple[float, float]:
    """Shares of the intervals of columns, and of totals, that contain the evidence by all rows."""
    rng, truth = np.random.default_rng(0), model.fit(X, y)
    table, _ = truth._table_of(truth._fitted_state(), X, y, None)
    asked = X.iloc[:30]
    why = truth.explain(asked)
    pair = {"of": truth.classes_[why.chosen], "against": truth.classes_[why.rival], "error": kind}
    columns, totals = [], []
    for _ in range(samples):
        some = rng.integers(0, len(X), n)
        training = {"training": (X.iloc[some], y[some])} if kind == "robust" else {}
        mine = refitted(truth, table, some).explain(asked, **pair, **training)
        columns.append(np.abs(mine.decibans - why.decibans) <= mine.bars.width * mine.error)
        totals.append(np.abs(mine.total - why.total) <= mine.bars.width * mine.total_error)
    return float(np.mean(columns)), float(np.mean(totals))


def test_intervals_contain_the_truth_of_normals_and_levels():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 4000)
    shift = rng.normal(size=4000)
    X = pd.DataFrame({f"x{j}": rng.normal(size=4000) * (1 + j * y / 3) + y + shift for j in range(3)})  # dependent
    X["s"] = rng.choice(list("pqrs"), 4000)
    found, total = coverage(MixedNB(families="gaussian", alpha=1), X, y, 400, 40, "robust")
    assert 0.85 <= found <= 0.95
    assert 0.85 <= total <= 0.95
    assert coverage(MixedNB(families="gaussian", alpha=1), X, y, 400, 40, "model")[1] < total


def test_robust_intervals_contain_the_truth_of_numbers_that_are_not_normal():
    table = shared_table("pima/pima.csv")
    X, y = table.drop(columns=table.columns[-1]), table[table.columns[-1]].to_numpy()
    robust, own = (coverage(MixedNB(families="gaussian"), X, y, 300, 20, kind)[0] for kind in ("robust", "model"))
    assert robust >= 0.84
    assert own <= robust - 0.04


def test_groups_of_rows_contain_the_truth_of_discriminants():
    table = shared_table("pima/pima.csv")
    X, y = table.drop(columns=table.columns[-1]), table[table.columns[-1]].to_numpy()
    found, total = coverage(LinearDiscriminantAnalysis(), X, y, 300, 15, "robust")
    assert 0.8 <= found <= 0.97
    assert 0.8 <= total <= 0.97


# what is shown


def test_text_html_frame_and_json_have_the_errors():
    model = MixedNB().fit(FRAME, Y)
    why = model.explain(FRAME[:2], error="auto", level=0.5, **ROWS)
    assert "± 50 %" in str(why)
    assert f"± {why.bars.width * why.error[0].max():.1f}" in str(why)
    assert "50 % interval" in why._repr_html_()
    assert "held fixed" in str(why)
    frame = why.to_frame()
    assert (frame.low <= frame.decibans).all()
    assert (frame.decibans <= frame.high).all()
    assert frame.error.to_numpy()[1:4].tolist() == why.error[0].tolist()
    found = json.loads(json.dumps(why.to_dict()))
    assert found["level"] == 0.5
    row = found["rows"][0]
    assert row["columns"]["u"]["error"] == pytest.approx(why.error[0, 0])
    assert row["columns"]["u"]["interval"][1] == pytest.approx(why.interval[0, 0, 1])
    assert row["total_error"] == pytest.approx(why.total_error[0])
    assert row["total_interval"][0] == pytest.approx(why.total_interval[0, 0])
    assert row["prior_error"] == pytest.approx(why.prior_error[0])


def test_without_errors_nothing_is_shown_of_them():
    model = MixedNB().fit(FRAME, Y)
    why = model.explain(FRAME[:2])
    assert "±" not in str(why)
    assert "error" not in why.to_frame().columns
    assert "level" not in why.to_dict()
    assert not hasattr(why, "error")  # with the reason, where it is asked for


def test_another_pair_and_some_of_the_rows_have_their_own_errors():
    x = RNG.normal(size=(90, 2))
    y = RNG.choice(list("abc"), 90)
    why = GaussianNB().fit(x, y).explain(x[:6], of="a", against="b", error="auto")
    other = GaussianNB().fit(x, y).explain(x[:6], of="a", against="c", error="auto")
    np.testing.assert_allclose(why.against("c").error, other.error)
    np.testing.assert_allclose(why[2:4].error, why.error[2:4])
    np.testing.assert_allclose(why.of("b").against("a").total_error, why.total_error)


def test_pictures_have_whiskers():
    model = MixedNB(families="gaussian").fit(FRAME, Y)
    plain, barred = (model.explain(FRAME[:1], error=error).plot() for error in (None, "auto"))
    assert len(barred.containers) > len(plain.containers)
    assert "90 % intervals" in barred.get_xlabel()
    ax = plots.nomogram(model, error="robust", **ROWS)
    whiskers = [line for line in ax.lines if line.get_gid() == "whisker"]
    assert len(whiskers) >= 3
    lines = sorted((line.get_ydata()[0], *sorted(line.get_xdata())) for line in whiskers)
    assert all(a[0] < b[0] or a[2] < b[1] for a, b in pairwise(lines))  # none is over another
    assert "whiskers" in ax.get_xlabel()
    assert not [line for line in plots.nomogram(model).lines if line.get_gid() == "whisker"]
    plt.close("all")


def test_kept_rows_make_errors_robust():
    kept, sums = (MixedNB(families="gaussian", calibrate=more).fit(FRAME, Y) for more in (True, False))
    assert "training row" in kept.explain(FRAME[:1], error="auto").bars.note
    assert "own distributions" in sums.explain(FRAME[:1], error="auto").bars.note
    assert "own distributions" in kept.explain(FRAME[:1], error="model").bars.note
    with pytest.raises(DataError):
        sums.explain(FRAME[:1], error="robust")


def test_one_model_of_a_search_has_errors():
    model = AutoClassifier(models=[MixedNB()]).fit(FRAME, Y)
    assert len(model.models_) == 1
    assert (model.explain(FRAME[:2], error="auto").total_error > 0).all()
    assert model.predict_interval(FRAME[:2]).shape == (2, 2, 2)


@pytest.mark.parametrize("settings", [{"error": "sure"}, {"error": "auto", "level": 1.5}, {"error": 3}])
def test_wrong_settings_are_refused(settings):
    model = MixedNB().fit(FRAME, Y)
    with pytest.raises(DataError):
        model.explain(FRAME[:1], **settings)


def test_models_without_errors_say_so():
    text = TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"])
    for ask in (lambda: text.explain("lunch", error="auto"), lambda: text.predict_interval(["lunch"])):
        with pytest.raises(DataError):
            ask()
    given = GaussianNB.from_parameters([[0.0], [1.0]], [[1.0], [1.0]])
    several = BayesOptimal([MixedNB(), GaussianNB()]).fit(FRAME[["u"]], Y)
    for model in (given, several):
        with pytest.raises(DataError):
            model.predict_interval(FRAME[["u"]][:1] if model is several else [[0.0]])
    with pytest.raises(DataError):
        MixedNB().fit(FRAME, Y).explain(FRAME[:1], error="auto", training=FRAME)


def test_impossible_evidence_has_no_interval():
    model = MixedNB(alpha=0).fit(pd.DataFrame({"s": ["p", "p", "q", "q", "p"]}), list("aaabb"))
    one = MixedNB(alpha=0).fit(pd.DataFrame({"s": ["p", "p", "q"], "t": ["x", "y", "y"]}), list("aab"))
    why = one.explain(pd.DataFrame({"s": ["q"], "t": ["y"]}), error="auto")
    assert np.isfinite(why.error).all()
    assert np.isfinite(why.total_error).all()
    assert np.isfinite(model.predict_interval(pd.DataFrame({"s": ["p", "q"]}))).all()
    assert one.predict_interval(pd.DataFrame({"s": ["q"], "t": ["y"]})).tolist() == [[[0.0, 0.0], [1.0, 1.0]]]


def test_columns_without_any_cell_have_no_error():
    X = pd.DataFrame({"s": pd.Series([None] * 4, dtype=object), "u": [1.0, 2.0, 3.0, 5.0]})
    model = MixedNB(families="gaussian").fit(X, list("aabb"))
    for more in ({}, {"training": (X, list("aabb"))}):
        assert model.explain(X[:1], error="auto", **more).error[0, 0] == 0.0
