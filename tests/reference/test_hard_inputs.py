"""Inputs of every kind: odd arrays, frames, missing cells, labels, few rows, many classes, a hand on Ctrl-C."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

from deciban import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    ops,
)
from deciban.classifiers.discriminant import DiscriminantAnalysis
from deciban.errors import DataError

MODELS = [
    GaussianNB(),
    BernoulliNB(),
    MultinomialNB(),
    ComplementNB(),
    CategoricalNB(),
    PoissonNB(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    RegularizedDiscriminantAnalysis(),
    FisherDiscriminant(),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)
allow_missing = pytest.mark.filterwarnings("ignore:rows of weight")


@pytest.fixture
def small():
    """Whole numbers 0 … 7 that fit every dtype: (x, y)."""
    rng = np.random.default_rng(4)
    y = np.arange(90) % 3
    return np.minimum(rng.poisson(1.0, (90, 4)) + 2 * (y[:, None] == np.arange(4)), 7).astype(float), y


def answer(model, x, y, rows=None):
    return clone(model).fit(x, y).predict_proba(x if rows is None else rows)


def check_posterior(p):
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)


# arrays


def frozen(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = {
    "fortran": np.asfortranarray,
    "every other row of a larger array": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every other column of a larger array": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards twice": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "read only": frozen,
    "not aligned": lambda x: np.frombuffer(b"0" + x.tobytes(), dtype=np.uint8)[1:].view(x.dtype).reshape(x.shape),
    "byte swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "list of lists": lambda x: x.tolist(),
    "float32": lambda x: x.astype(np.float32),
    "float16": lambda x: x.astype(np.float16),
    "longdouble": lambda x: x.astype(np.longdouble),
    "int8": lambda x: x.astype(np.int8),
    "uint16": lambda x: x.astype(np.uint16),
    "int64, swapped": lambda x: x.astype(">i8"),
    "object": lambda x: x.astype(object),
}


@each_model
@pytest.mark.parametrize("form", LAYOUTS)
def test_memory_layout_and_dtype_do_not_matter(model, form, small):
    x, y = small
    close = {"rtol": 1e-5, "atol": 1e-6} if form == "float32" else {"rtol": 1e-9}
    np.testing.assert_allclose(answer(model, LAYOUTS[form](x), y), answer(model, x, y), **close)


@each_model
def test_truth_values_are_ones_and_zeros(model, small):
    bits, y = small[0] > 1, small[1]
    np.testing.assert_allclose(answer(model, bits, y), answer(model, bits.astype(float), y), rtol=1e-9)


@each_model
def test_arrays_of_the_user_are_left_as_they_were(model, small):
    x, y = small
    w = np.linspace(1, 2, len(y))
    kept = [a.copy() for a in (x, y, w)]
    clone(model).fit(x, y, sample_weight=w).predict_proba(x)
    for now, then in zip((x, y, w), kept, strict=True):
        np.testing.assert_array_equal(now, then)


@each_model
def test_frame_with_other_columns_is_refused_in_scikit_learns_words(model, small):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(small[0], columns=["p", "q", "r", "s"])
    fitted = clone(model).fit(frame, small[1])
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        fitted.predict(frame[["q", "p", "r", "s"]])
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- z"):
        fitted.predict(frame.rename(columns={"s": "z"}))
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing:\n- s"):
        fitted.predict(frame[["p", "q", "r"]])
    with pytest.raises(ValueError, match="X has 3 features, but"):
        clone(model).fit(*small).predict(small[0][:, :3])


# missing cells


@each_model
@allow_missing
def test_missing_cells_in_training_and_prediction_are_no_harm(model, small):
    x, y = small
    x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    fitted = clone(model).fit(x, y)
    check_posterior(fitted.predict_proba(x))
    if (
        isinstance(model, DiscriminantAnalysis) and fitted.n_iter_ == 0
    ):  # learned from the whole rows, but for the priors
        whole = ~np.isnan(x).any(axis=1)
        again = clone(model).set_params(priors=fitted.priors_).fit(x[whole], y[whole])
        np.testing.assert_allclose(fitted.means_, again.means_, rtol=1e-9)
        if model.get_params().get("solver", "svd") == "svd":  # the others mix covariances by the priors
            np.testing.assert_allclose(fitted.predict_proba(x), again.predict_proba(x), rtol=1e-6, atol=1e-9)


@each_model
@allow_missing
def test_row_without_any_cell_has_the_prior_as_posterior(model, small):
    x, y = small
    y = np.where(np.arange(90) < 30, 0, y)
    p = answer(model, x, y, np.full((2, 4), np.nan))
    prior = [1 / 3] * 3 if isinstance(model, ComplementNB) else np.bincount(y) / 90
    np.testing.assert_allclose(p, [prior, prior], rtol=1e-9)


@each_model
def test_column_without_any_cell_is_no_evidence_or_an_error_with_a_hint(model, small):
    x, y = small
    bare = np.column_stack([x, np.full(len(y), np.nan)])
    if isinstance(model, DiscriminantAnalysis):
        with pytest.raises(DataError, match="hint: "):
            clone(model).fit(bare, y)
    else:
        p = answer(model, bare, y)
        check_posterior(p)
        if not isinstance(model, MultinomialNB | ComplementNB):  # to them it is one more word, never seen
            np.testing.assert_allclose(p, answer(model, x, y), rtol=1e-9)


@pytest.mark.parametrize("model", [m for m in MODELS if not isinstance(m, BernoulliNB)], ids=repr)
def test_infinite_cell_is_refused_with_its_place(model, small):
    x, y = small
    bad = x.copy()
    bad[5, 2] = np.inf
    with pytest.raises(DataError, match="row 5, column 2"):
        clone(model).fit(bad, y)
    with pytest.raises(DataError, match="row 5, column 2"):
        clone(model).fit(x, y).predict_proba(bad)


# labels and rows


LABELS = {
    "strings": ["no", "yes", "perhaps"],
    "negative": [-7, 0, 3],
    "huge": [2**62, 2**62 + 1, -(2**62)],
    "floats": [0.0, 2.0, -1.0],
    "objects": np.array(["b", "a", "c"], dtype=object),
    "unsigned": np.array([0, 200, 255], dtype=np.uint8),
    "far apart": [-(2**63), 0, 2**63 - 1],
}


@each_model
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind_come_back_as_they_went_in(model, kind, small):
    x, y = small
    names = np.array(LABELS[kind])
    fitted = clone(model).fit(x, names[y])
    np.testing.assert_array_equal(fitted.classes_, np.unique(names))
    assert fitted.classes_.dtype == names.dtype
    expected = names[clone(model).fit(x, y).predict(x)]
    np.testing.assert_array_equal(fitted.predict(x), expected)


@each_model
def test_truth_values_as_labels(model, small):
    x, y = small
    fitted = clone(model).fit(x, y > 0)
    assert fitted.classes_.tolist() == [False, True]
    assert fitted.predict(x).dtype == bool


@each_model
def test_one_row_is_scored_as_among_many_and_none_is_an_error(model, small):
    x, y = small
    fitted = clone(model).fit(x, y)
    np.testing.assert_allclose(fitted.predict_proba(x[7:8]), fitted.predict_proba(x)[7:8], rtol=1e-12)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) .* minimum of 1 is required"):
        fitted.predict(x[:0])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        fitted.predict(x[7])


@each_model
def test_a_thousand_classes(model):
    rng = np.random.default_rng(0)
    k = 150 if isinstance(model, FisherDiscriminant) else 1000  # all pairs of a thousand take a minute
    y = np.repeat(np.arange(k), 12)
    x = np.floor(8 * rng.random((k, 8)))[y] + rng.integers(0, 2, (12 * k, 8))
    fitted = clone(model).fit(x, y)
    p = fitted.predict_proba(x[::20])
    assert p.shape == (12 * k // 20, k)
    check_posterior(p)
    if not isinstance(model, BernoulliNB):  # all cells are present
        assert (fitted.predict(x[::20]) == y[::20]).mean() > 0.2


def test_pairs_of_many_classes_are_not_all_held_for_all_rows():
    rng = np.random.default_rng(0)
    y = np.arange(6_000) % 100
    x = rng.normal(size=(6_000, 8)) + 5 * rng.normal(size=(100, 8))[y]
    fitted = FisherDiscriminant().fit(x[:2000], y[:2000])
    tracemalloc.start()
    try:
        check_posterior(fitted.predict_proba(x))
        assert tracemalloc.get_traced_memory()[1] < 60e6  # 4,950 pairs of 6,000 rows would be 238 MB
    finally:
        tracemalloc.stop()


# interrupts


@each_model
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "forget"])
def test_interrupted_learning_leaves_the_model_as_it_was(model, verb, small, monkeypatch):
    x, y = small
    fitted = clone(model).fit(x, y)
    expected, before = fitted.predict_proba(x), fitted.__dict__.copy()
    calls = []

    def interrupted(original):
        def op(*args, **kwargs):
            calls.append(original)
            if len(calls) > 1:
                raise KeyboardInterrupt
            return original(*args, **kwargs)

        return op

    monkeypatch.setattr("deciban.rows.rows.CELLS", 8)
    for name in ("sums", "moments", "scatter", "quartic", "crosstab"):
        monkeypatch.setattr(ops, name, interrupted(getattr(ops, name)))
    more, labels = (x, y) if verb == "forget" else (np.tile(x[:, ::-1], (20, 1)), np.tile(2 - y, 20))
    with pytest.raises(KeyboardInterrupt):
        getattr(fitted, verb)(more, labels)
    assert len(calls) > 1
    assert fitted.__dict__.keys() == before.keys()
    assert all(fitted.__dict__[name] is value for name, value in before.items())
    np.testing.assert_array_equal(fitted.predict_proba(x), expected)
