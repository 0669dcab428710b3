"""Leave-one-out of every classifier is fitting again without the row; what it chooses is the best by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from deciban import (
    BayesNet,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    RegularizedDiscriminantAnalysis,
)
from deciban.classifiers.structured import StructuredNB
from deciban.errors import ForgetError, NotAdditiveError
from deciban.models.held_out import held_out_loss

from .support.compare import assert_logs
from .support.models import CLASSES, MODELS, each, named, reads_of, rows_for

# families, strengths and graphs that rows choose are chosen anew by a fit: see test_mixed_laws and test_bayes_net
GIVEN = [m for m in MODELS if isinstance(m, BayesNet) and (m.edges is not None or m.max_parents == 0)]
EXACT = [m for m in MODELS if m in GIVEN or not isinstance(m, MixedNB | StructuredNB)]
BY_CELL = [model for model in EXACT if reads_of(model) != "dense"]
JOINT = [model for model in EXACT if reads_of(model) == "dense"]
N = 40


def weights(n: int = N) -> np.ndarray:
    return np.random.default_rng(1).choice([0.5, 1.0, 2.0], n)


def with_holes(x: np.ndarray, share: float = 0.2) -> np.ndarray:
    gone = np.random.default_rng(2).random(x.shape) < share
    gone[:15] = False  # every level of every class is among these
    return np.where(gone, np.nan, x)


def refitted(model, x, y, w=None) -> np.ndarray:
    """log P(class | row) of each row by a model of all others."""
    out = []
    for i in range(len(x)):
        rest = np.arange(len(x)) != i
        more = {} if w is None else {"sample_weight": w[rest]}
        out.append(clone(model).fit(x[rest], y[rest], **more).predict_log_proba(x[[i]])[0])
    return np.array(out)


@each(EXACT)
@pytest.mark.parametrize("weighed", [False, True])
def test_leave_one_out_is_fitting_without_the_row(model, weighed):
    x, y = rows_for(model, n=N)
    w = weights() if weighed else None
    more = {} if w is None else {"sample_weight": w}
    got = clone(model).fit(x, y, **more).leave_one_out(x, y, **more)
    assert_logs(got, refitted(model, x, y, w))
    np.testing.assert_allclose(np.exp(got).sum(axis=1), 1.0)


@each(BY_CELL)
@pytest.mark.parametrize("weighed", [False, True])
def test_rows_with_missing_cells_leave_what_they_have(model, weighed):
    x, y = rows_for(model, n=N)
    x, w = with_holes(x), weights() if weighed else None
    more = {} if w is None else {"sample_weight": w}
    got = clone(model).fit(x, y, **more).leave_one_out(x, y, **more)
    assert_logs(got, refitted(model, x, y, w))


@pytest.mark.filterwarnings("ignore:.*have missing cells; means and covariances are learned from the others")
@each(JOINT)
def test_joint_models_of_rows_with_missing_cells_leave_one_out_exactly_or_say_that_they_cannot(model):
    x, y = rows_for(model, n=N)
    x = with_holes(x, 0.1)
    fitted = clone(model).fit(x, y)
    try:
        got = fitted.leave_one_out(x, y)
    except NotAdditiveError as error:
        assert "EM" in str(error)
        assert "\n\nhint: " in str(error)
    else:
        assert_logs(got, refitted(model, x, y))


@each(EXACT)
def test_some_of_the_learned_rows_can_be_left_out_alone(model):
    x, y = rows_for(model, n=N)
    fitted = clone(model).fit(x, y)
    np.testing.assert_allclose(fitted.leave_one_out(x[7:19], y[7:19]), fitted.leave_one_out(x, y)[7:19], atol=1e-9)


@each(named("GaussianNB", "MultinomialNB", "BernoulliNB", "PoissonNB", "CategoricalNB"))
def test_class_of_one_row_is_impossible_without_it(model):
    x, y = rows_for(model, n=N)
    y = np.where(np.arange(N) == 3, "z", y)
    got = clone(model).fit(x, y).leave_one_out(x, y)
    if getattr(model, "fit_prior", True):
        assert got[3, -1] == -np.inf
    assert not np.isnan(got).any()


@each(named("GaussianNB", "MultinomialNB", "LinearDiscriminantAnalysis"))
def test_fixed_priors_stay(model):
    x, y = rows_for(model, n=N)
    name = "class_prior" if hasattr(model, "class_prior") else "priors"
    model = clone(model).set_params(**{name: [0.2, 0.5, 0.3]})
    assert_logs(clone(model).fit(x, y).leave_one_out(x, y), refitted(model, x, y))


def test_spans_of_rows_do_not_show(monkeypatch):
    x, y = rows_for(GaussianNB(), n=200)
    whole = GaussianNB().fit(x, y).leave_one_out(x, y)
    monkeypatch.setattr("deciban.models.held_out.SPAN", 8)
    np.testing.assert_allclose(GaussianNB().fit(x, y).leave_one_out(x, y), whole, atol=1e-10)


def test_rows_that_weigh_more_than_was_learned_are_refused():
    x, y = rows_for(GaussianNB(), n=N)
    model = GaussianNB().fit(x[:5], y[:5])
    with pytest.raises(ForgetError, match=r"less weight in the model than one of these rows\n\nhint"):
        model.leave_one_out(x[:5], y[:5], sample_weight=np.full(5, 50.0))
    with pytest.raises(ValueError, match="classes"):
        model.leave_one_out(x[:1], ["other"])


# settings that the rows choose


def asking(model: type):
    """A model of this class that leaves to the rows whatever it can."""
    words = {"solver": "eigen", "var_smoothing": "auto", "alpha": "auto", "shrinkage": "loo", "blend": "loo"}
    return model().set_params(**{name: words[name] for name in model().get_params() if name in words})


NOT_TUNED = MixedNB | StructuredNB | PoissonNB | FisherDiscriminant
TUNED = [asking(model) for model in CLASSES if not issubclass(model, NOT_TUNED)]


def settled(model, **settings):
    """The same model with the numbers in place of the words."""
    return clone(model).set_params(**settings)


def brute_losses(model, x, y, w=None) -> dict[tuple, float]:
    """The log loss of each combination of candidates, each row judged by a fit without it."""
    out = {}
    candidates = [(name, values[:: max(1, len(values) // 5)]) for name, values in model._spec().tune.items()]
    for values in product(*(v for _, v in candidates)):
        trial = settled(model, **dict(zip((name for name, _ in candidates), values, strict=True)))
        logs = refitted(trial, x, y, w)
        own = np.maximum(logs[np.arange(len(y)), np.searchsorted(np.unique(y), y)], -700.0)
        out[values] = -float(own.sum() if w is None else w @ own)
    return out


@each(TUNED)
def test_chosen_settings_are_the_best_of_the_candidates_by_brute_force(model):
    x, y = rows_for(model, n=30, d=3, k=2)
    fitted = clone(model).fit(x, y)
    assert set(fitted.tuned_) == set(model._spec().tune)
    chosen = refitted(settled(model, **fitted.tuned_), x, y)
    own = np.maximum(chosen[np.arange(len(y)), np.searchsorted(np.unique(y), y)], -700.0)
    losses = brute_losses(model, x, y)
    assert len(losses) > 4
    assert -own.sum() <= min(losses.values()) + 1e-7


@each([m for m in TUNED if type(m).__name__ in ("GaussianNB", "MultinomialNB", "CategoricalNB")])
def test_every_candidate_is_judged_by_brute_force_with_weights(model):
    x, y = rows_for(model, n=20, d=2, k=2)
    w = weights(20)
    ((name, values),) = model._spec().tune.items()
    losses = []
    for value in values:
        logs = refitted(settled(model, **{name: value}), x, y, w)
        own = np.maximum(logs[np.arange(20), np.searchsorted(np.unique(y), y)], -700.0)
        losses.append(-float(w @ own))
    chosen = clone(model).fit(x, y, sample_weight=w).tuned_[name]
    assert losses[values.index(chosen)] == pytest.approx(min(losses), abs=1e-7)


@each(TUNED)
def test_model_with_chosen_settings_is_the_model_with_those_numbers(model):
    x, y = rows_for(model, n=60)
    fitted = clone(model).fit(x, y)
    plain = settled(model, **fitted.tuned_).fit(x, y)
    np.testing.assert_allclose(fitted.predict_log_proba(x), plain.predict_log_proba(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fitted.leave_one_out(x, y), plain.leave_one_out(x, y), rtol=1e-9, atol=1e-9)
    assert plain.tuned_ == {}


@each(TUNED)
def test_what_rows_chose_that_are_not_kept_cannot_be_updated_merged_or_forgotten(model):
    x, y = rows_for(model, n=60)
    model = clone(model).set_params(keep_rows=0)
    fitted = clone(model).fit(x, y)
    asks = (
        lambda: clone(model).partial_fit(x, y, classes=["a", "b", "c"]),
        lambda: fitted.partial_fit(x, y),
        lambda: fitted.forget(x[:3], y[:3]),
        lambda: fitted + fitted,
    )
    for ask in asks:
        with pytest.raises(NotAdditiveError, match=r"keeps none.*\n\nhint: .*tuned_"):
            ask()


@pytest.mark.parametrize("model", [GaussianNB(calibrate=True), MultinomialNB(calibrate=True)])
def test_calibrated_models_say_why_they_do_not_add(model):
    x, y = rows_for(model, n=60)
    with pytest.raises(NotAdditiveError, match=r"calibrate=True is fitted"):
        clone(model).set_params(keep_rows=0).fit(x, y).partial_fit(x, y)


def test_settings_are_chosen_anew_by_each_fit():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    model = MultinomialNB(alpha="auto")
    even, one = rng.poisson(3.0, (80, 5)), np.zeros((80, 5), dtype=int)
    one[np.arange(80), y] = 5
    first = model.fit(even, y).tuned_["alpha"]
    second = model.fit(one, y).tuned_["alpha"]
    assert first > second


def test_many_settings_are_chosen_together():
    model = RegularizedDiscriminantAnalysis(blend="loo", shrinkage="loo")
    x, y = rows_for(model, n=60)
    tuned = model.fit(x, y).tuned_
    assert set(tuned) == {"blend", "shrinkage"}
    one = RegularizedDiscriminantAnalysis(blend="loo", shrinkage=tuned["shrinkage"]).fit(x, y)
    assert one.tuned_ == {"blend": tuned["blend"]}


def test_both_settings_are_chosen_as_by_all_combinations():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = np.arange(90) % 3
        x = rng.normal(size=(90, 4)) @ rng.normal(size=(4, 4)) + rng.normal(size=(3, 4))[y]
        model = RegularizedDiscriminantAnalysis(blend="loo", shrinkage="loo").fit(x, y)
        state = model._fitted_state()
        rows = state.sample.selected(state.n)
        every = [
            held_out_loss(state.with_known(tuned=dict(zip(state.spec.tune, pair, strict=True))), rows)
            for pair in product(*state.spec.tune.values())
        ]
        assert held_out_loss(state, rows) <= min(every) * (1 + 1e-3)


def test_discriminants_choose_by_the_same_sample_in_any_order_of_rows():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 3000)
    x = rng.normal(size=(3000, 2)) * (1.0 + y[:, None]) + y[:, None]
    order = rng.permutation(3000)
    model = RegularizedDiscriminantAnalysis(blend="loo")
    one, other = clone(model).fit(x, y), clone(model).fit(x[order], y[order])
    assert one.tuned_ == other.tuned_
    np.testing.assert_allclose(one.predict_proba(x), other.predict_proba(x), rtol=1e-9)
    assert one.tuned_["blend"] < 0.5


def test_shrinkage_is_chosen_where_there_are_few_rows():
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    x = rng.normal(size=(24, 18)) + 0.5 * y[:, None]
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="loo").fit(x, y)
    assert model.tuned_["shrinkage"] > 0.05
