"""What logistic models say beside probabilities: evidence, pictures, decisions, priors, for two classes and more."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from deciban import GaussianNB, LogisticRegression
from deciban.decision import DECIBAN
from deciban.errors import DataError
from deciban.plots import nomogram, waterfall
from deciban.plots.nomograms import scales_of

from .test_plots import assert_no_overlaps

SETTINGS = [{}, {"C": np.inf}, {"l1_ratio": 1.0}, {"penalty": "jeffreys"}, {"fit_intercept": False}]
each_setting = pytest.mark.parametrize("settings", SETTINGS, ids=str)
each_k = pytest.mark.parametrize("k", [2, 3])


def rows(k, n=300):
    """A real column far from 0, a count, an indicator and a column of noise; named classes."""
    rng = np.random.default_rng(k)
    codes = rng.integers(0, k, n)
    X = np.column_stack(
        [rng.normal(50 + 3 * codes, 5), rng.poisson(1 + codes), rng.random(n) < 0.3 + 0.2 * codes, rng.normal(size=n)]
    ).astype(float)
    return X, np.array(["no", "so", "yes"])[codes]


@each_k
@each_setting
@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array], ids=["dense", "float32", "sparse"])
def test_prior_and_columns_add_up_to_the_log_odds(k, settings, form):
    X, y = rows(k)
    model = LogisticRegression(**settings).fit(form(X), y)
    priors = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    X = np.asarray(X.astype(np.float32), dtype=np.float64) if form is np.float32 else X
    asked = sparse.csr_array(X) if form is sparse.csr_array else X  # in doubles, so that answers are
    for of, against in ((1, 0), (0, k - 1)):
        pair = {"of": model.classes_[of], "against": model.classes_[against]}
        for given in (None, priors):
            for baseline in (None, X.mean(axis=0), X[7]):
                why = model.explain(asked, **pair, priors=given, baseline=baseline)
                np.testing.assert_allclose(why.prior + why.decibans.sum(axis=1), why.total, rtol=1e-12, atol=1e-9)
                odds = model.log_odds(asked, against=pair["against"], priors=given)[:, of]
                np.testing.assert_allclose(why.total, DECIBAN * odds, rtol=1e-9, atol=1e-8)


def test_baseline_says_nothing():
    X, y = rows(2)
    why = LogisticRegression().fit(X, y).explain(X[:9], baseline=X[7])
    assert not why[7].decibans.any()
    assert why[6].decibans[0, :2].all()


@each_k
def test_by_default_a_row_is_explained_as_its_best_class_against_the_next(k):
    X, y = rows(k)
    model = LogisticRegression().fit(X, y)
    why, p = model.explain(X[:20]), model.predict_proba(X[:20])
    np.testing.assert_array_equal(why.chosen, p.argmax(axis=1))
    np.testing.assert_array_equal(why.rival, p.argsort(axis=1)[:, -2])
    np.testing.assert_allclose(why.probability, p.max(axis=1))
    assert (why.total >= 0).all()
    assert "mean row" in str(why)
    assert_no_overlaps(waterfall(why))


@each_k
def test_decibans_are_ten_times_the_log_odds_of_the_probability(k):
    X, y = rows(k)
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(model.decibans(X), 10 * np.log10(p / (1 - p)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.decibans(X), DECIBAN * model.log_odds(X))


@each_k
@each_setting
def test_cells_read_off_the_nomogram_add_up_to_the_log_odds(k, settings):
    X, y = rows(k)
    model = LogisticRegression(**settings).fit(X, y)
    whole = scales_of(model, of="yes" if k == 3 else "so", against="no")
    read = [np.interp(X[:, j], scale.values, scale.decibans) for j, scale in enumerate(whole.scales)]
    odds = DECIBAN * model.log_odds(X, against="no")[:, -1]
    np.testing.assert_allclose(whole.prior + np.sum(read, axis=0), odds, rtol=1e-9, atol=1e-8)


@each_k
def test_nothing_in_a_nomogram_covers_anything_else(k):
    assert_no_overlaps(nomogram(LogisticRegression().fit(*rows(k))))


def test_scales_go_over_the_rows_that_were_learned_and_count_from_their_zero_or_middle():
    X, y = rows(2)
    model = LogisticRegression().fit(X, y)
    real, count, bit, _ = scales_of(model).scales
    assert (real.values[0], real.values[-1]) == (X[:, 0].min(), X[:, 0].max())
    assert real.decibans[0] == pytest.approx(-real.decibans[-1])
    assert count.values.tolist() == np.arange(X[:, 1].max() + 1).tolist()
    assert count.decibans[0] == bit.decibans[0] == 0.0
    assert bit.values.tolist() == [0.0, 1.0]
    thin = scales_of(LogisticRegression().fit(sparse.csr_array(X), y))
    for scale, other in zip(thin.scales, (real, count, bit), strict=False):
        np.testing.assert_allclose(scale.values, other.values)


def test_models_that_forgot_their_rows_are_told_what_columns_range_over():
    X, y = rows(2)
    model = LogisticRegression().fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(scales_of(loaded).scales[0].values, scales_of(model).scales[0].values)
    online = LogisticRegression().partial_fit(X, y, classes=["no", "so"])
    with pytest.raises(DataError, match=r"(?s)the range of column.*hint: pass values="):
        nomogram(online)
    assert len(nomogram(online, values=X.T).get_yticks()) == 4 + 3
    model.sparsify()
    assert len(scales_of(model, values=X.T).scales) == 4


def test_baseline_is_a_row():
    X, y = rows(2)
    model = LogisticRegression().fit(X, y)
    for bad in (X[0, :3], X, [np.nan] * 4, "mean", 3.0):
        with pytest.raises(DataError, match=r"(?s)row of 4 finite numbers.*hint"):
            model.explain(X, baseline=bad)


def test_explanation_that_would_not_fit_says_how_many_rows_would(monkeypatch):
    X, y = rows(2)
    model = LogisticRegression().fit(X, y)
    monkeypatch.setattr("deciban.models.posterior.MOST", 800)
    with pytest.raises(DataError, match="hint: explain fewer rows at a time, 100 at most"):
        model.explain(X)
    assert len(model.explain(X[:100])) == 100


@each_k
def test_decisions_follow_costs_rejects_and_priors(k):
    X, y = rows(k)
    model = LogisticRegression().fit(X, y)
    p, costs = model.predict_proba(X), 1.0 - np.eye(k)
    costs[0, 1] = 9.0
    np.testing.assert_array_equal(model.decide(X, costs=costs), model.classes_[(p @ costs).argmin(axis=1)])
    rejected = model.decide(X, reject=0.3) == None  # noqa: E711
    np.testing.assert_array_equal(rejected, 1 - p.max(axis=1) > 0.3)
    priors = dict(zip(model.classes_, np.arange(1, k + 1) / (k * (k + 1) / 2), strict=True))
    want = p * np.array(list(priors.values())) / (np.bincount(np.unique(y, return_inverse=True)[1]) / len(y))
    want /= want.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X, priors=priors), want, rtol=1e-9)
    np.testing.assert_array_equal(model.decide(X, priors=priors), model.classes_[want.argmax(axis=1)])
    ratio = model.likelihood_ratio(X, "so", "no")
    shares = (y == "so").mean() / (y == "no").mean()
    np.testing.assert_allclose(ratio, p[:, 1] / p[:, 0] / shares, rtol=1e-9)


@each_k
def test_priors_of_rows_without_labels_are_found(k):
    X, y = rows(k, n=3000)
    model = LogisticRegression().fit(X, y)
    rng = np.random.default_rng(0)
    keep = rng.random(3000) < np.where(y == "no", 1.0, 0.2)
    found = model.adapt_priors(X[keep])
    assert found.why == "converged"
    np.testing.assert_allclose(found.priors, [(y[keep] == label).mean() for label in model.classes_], atol=0.08)
    np.testing.assert_allclose(found.posterior(X[:5]), model.predict_proba(X[:5], priors=found.priors))


@each_k
def test_a_class_of_prior_nought_is_never_the_answer(k):
    X, y = rows(k)
    model = LogisticRegression().fit(X, y)
    priors = np.r_[0.0, np.full(k - 1, 1 / (k - 1))]
    assert (model.predict_proba(X, priors=priors)[:, 0] == 0).all()
    assert "no" not in model.predict(X, priors=priors)
    why = model.explain(X[:3], of="no", priors=priors)
    assert np.isneginf(why.total).all()


def test_intercept_is_named_wherever_it_is_shown():
    """Two balanced classes: the prior odds are 1, whatever the intercept is."""
    X, y = np.array([[0.0], [2.0], [3.0], [5.0]]), ["no", "no", "yes", "yes"]
    model = LogisticRegression(C=10.0).fit(X, y)
    why = model.explain(X[:1], of="yes", baseline=0)
    assert str(why).splitlines()[2].split()[:2] == ["intercept", f"{why.prior[0]:+.1f}"]
    assert why.prior[0] == pytest.approx(DECIBAN * model.intercept_[0])
    assert ">intercept<" in why._repr_html_()
    assert why.to_dict()["rows"][0]["intercept"] == pytest.approx(why.prior[0])
    assert "intercept" in [label.get_text() for label in waterfall(why).get_yticklabels()]
    assert scales_of(model).start == "intercept"
    assert "intercept" in nomogram(model).get_xlabel()
    for shown in (str(why), why._repr_html_(), nomogram(model).get_xlabel(), str(why.to_dict())):
        assert "prior" not in shown
    assert scales_of(LogisticRegression().fit(X + 1.0, y)).start == "zeros of all scales"
    assert scales_of(GaussianNB().fit(X, y)).start == "prior"
