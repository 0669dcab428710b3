"""Learning curves by adding tallies against models that are fitted anew for every size."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.utils import _safe_indexing

from deciban import (
    BernoulliNB,
    ComplementNB,
    GaussianNB,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    TextClassifier,
    TfidfVectorizer,
    metrics,
)
from deciban.classifiers.structured import StructuredNB
from deciban.errors import DataError
from deciban.model_selection import cross_validation
from deciban.model_selection.learning_curve import Held, counts_of, evenly, learning_curve
from deciban.model_selection.merged_columns import possible
from deciban.plots import learning_curve as picture
from deciban.text.features import Features

from .support.models import CLASSES, each, every_model, named, rows_for

SIZES = [7, 20, 45, 60]


def refitted(model, x, y, sizes, *, test=1 / 3, repeats=2, w=None, stratify=True) -> tuple[np.ndarray, np.ndarray]:
    """(accuracy, log loss), (r, s) each, of models fitted to the very rows that the curve draws."""
    classes, codes = np.unique(y, return_inverse=True)
    held, rng, out = Held.from_test(test, len(y)), np.random.RandomState(0), []
    for _ in range(repeats):
        train, here = held.drawn(codes, rng, stratify)
        for size in sizes:
            some = train[:size]
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The number of unique classes")
                more = {} if w is None else {"sample_weight": w[some]}
                learned = clone(model).fit(_safe_indexing(x, some), y[some], **more)
            told = np.full((len(here), len(classes)), -np.inf)
            told[:, np.searchsorted(classes, learned.classes_)] = learned.predict_log_proba(_safe_indexing(x, here))
            weight = None if w is None else w[here]
            out.append((metrics.accuracy(codes[here], told, weight), metrics.log_loss(codes[here], told, weight)))
    accuracy, log_loss = np.array(out).T.reshape(2, repeats, len(sizes))
    return accuracy, log_loss


def assert_same(curve, expected, within=1e-9) -> None:
    np.testing.assert_allclose(curve.accuracy, expected[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve.log_loss, expected[1], rtol=within, atol=within)


def words(n=120, d=300, k=3, seed=0, dtype=np.float64) -> tuple[sparse.csr_array, np.ndarray]:
    """Rare words, so that few rows have few of them, and some are in no row."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % k
    rate = rng.gamma(0.15, 1.0, (k, d)) * (np.arange(d) % 10 > 0)
    return sparse.csr_array(rng.poisson(rate[codes]).astype(dtype)), np.array(["x", "y", "z"])[codes]


# the same numbers as fitting anew


@every_model
def test_a_curve_is_what_refitting_makes_of_it(model):
    x, y = rows_for(model)
    assert_same(learning_curve(model, x, y, SIZES, repeats=2), refitted(model, x, y, SIZES))


@each([model() for model in CLASSES])
def test_weighted_rows_too(model):
    x, y = rows_for(model)
    w = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(y))
    ours = learning_curve(model, x, y, SIZES[1:], repeats=2, sample_weight=w)
    assert_same(ours, refitted(model, x, y, SIZES[1:], w=w))


@each([model() for model in CLASSES])
@pytest.mark.filterwarnings("ignore:rows of weight:UserWarning")
def test_missing_cells_too(model):
    x, y = rows_for(model, n=150)
    x = np.where(np.random.default_rng(5).random(x.shape) < 0.1, np.nan, x.astype(np.float64))
    assert_same(learning_curve(model, x, y, [60, 100], repeats=1), refitted(model, x, y, [60, 100], repeats=1))


@each([model for model in CLASSES if not issubclass(model, MixedNB | StructuredNB)])
def test_nothing_is_fitted_twice_where_tallies_add_up(model):
    x, y = rows_for(model())
    curve = learning_curve(model(), x, y, [20, 60], repeats=2)
    assert not curve.refitted.any()
    assert curve.note == ""


@each(named("MultinomialNB", "ComplementNB", "BernoulliNB", "PoissonNB", "GaussianNB"))
def test_sparse_rows_give_the_numbers_of_dense_ones(model):
    x, y = words()
    ours = learning_curve(model, x, y, SIZES, repeats=2)
    assert_same(ours, refitted(model, x, y, SIZES))
    assert_same(ours, refitted(model, x.toarray(), y, SIZES))


# few columns


COUNTS = [
    MultinomialNB(),
    MultinomialNB(alpha=0.01, fit_prior=False),
    MultinomialNB(class_prior=[0.5, 0.3, 0.2]),
    MultinomialNB(alpha=np.linspace(0.1, 2, 300)),
    MultinomialNB(alpha=0.3, estimate="bayes"),
    ComplementNB(alpha=0.1),
]


@each(COUNTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_columns_that_are_put_together_change_no_number(model, dtype, weighted):
    x, y = words(dtype=dtype)
    w = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(y)) if weighted else None
    assert possible(model, x)
    sizes = [3, *SIZES] if not weighted else SIZES[1:]
    ours = learning_curve(model, x, y, sizes, repeats=2, sample_weight=w)
    assert_same(ours, refitted(model, x, y, sizes, w=w), within=1e-9 if dtype != np.float32 else 1e-5)


@each(COUNTS)
def test_whatever_columns_there_are(model):
    """All of them in the rows held out; none; none that training rows have; and the last size not all rows."""
    x, y = words(d=300)
    every = sparse.csr_array(np.ones((120, 300)))
    apart = sparse.csr_array(np.where((np.arange(120) < 60)[:, None] == (np.arange(300) < 150), x.toarray(), 0.0))
    nothing = np.where(np.arange(120) < 60, 0.0, 1.0)[:, None] * x.toarray()
    mask = np.arange(120) < 60
    for rows in (every, apart, sparse.csr_array(nothing)):
        ours = learning_curve(model, rows, y, [10, 33], test=mask, repeats=1)
        assert_same(ours, refitted(model, rows, y, [10, 33], test=mask, repeats=1))


def test_columns_stay_where_putting_them_together_would_change_something():
    x, _ = words()
    wrong = [
        MultinomialNB(alpha="auto"),
        MultinomialNB(alpha=0.0),
        MultinomialNB(calibrate=True),
        MultinomialNB(weights="discriminative"),
        MultinomialNB(alpha=np.ones(3)),
        ComplementNB(norm=True),
        BernoulliNB(),
    ]
    assert not any(possible(model, x) for model in wrong)
    holes = x.copy()
    holes.data[3] = np.nan
    assert not any(possible(MultinomialNB(), rows) for rows in (x.toarray(), holes, -x, sparse.csr_array((9, 3))))


def test_unsorted_rows_with_cells_stored_twice():
    x, y = words()
    cells = sparse.coo_array(x)
    order = np.argsort(np.r_[cells.row, cells.row], kind="stable")
    data, indices = np.r_[cells.data, cells.data][order], np.r_[cells.col, cells.col][order]
    doubled = sparse.csr_array((data, indices, 2 * x.indptr), shape=x.shape)
    for model in (MultinomialNB(), MultinomialNB(estimate="bayes"), BernoulliNB()):
        ours = learning_curve(model, doubled, y, SIZES, repeats=1)
        assert_same(ours, refitted(model, 2 * x, y, SIZES, repeats=1))
    assert not doubled.has_canonical_format


# where tallies cannot serve


def test_models_without_a_tally_are_fitted_anew_and_it_says_so():
    x, y = rows_for(GaussianNB())
    for model in (LogisticRegression(), TheirGaussianNB()):
        curve = learning_curve(model, x, y, [20, 60], repeats=2)
        assert curve.refitted.all()
        assert f"{type(model).__name__} has no additive tally" in curve.note
        assert curve.note in str(curve)
        assert_same(curve, refitted(model, x, y, [20, 60]))


def test_settings_whose_rows_are_not_kept_are_fitted_again_and_it_says_so():
    x, y = words()
    for rows in (0, 30):
        model = MultinomialNB(alpha="auto", keep_rows=rows)
        curve = learning_curve(model, x, y, [20, 60], repeats=1)
        assert curve.refitted.all() == (rows == 0)
        assert ("refitted: " in curve.note) == (rows == 0)
        assert_same(curve, refitted(model, x, y, [20, 60], repeats=1))


def test_a_class_that_has_not_come_has_probability_zero():
    x, y = rows_for(GaussianNB())
    curve = learning_curve(GaussianNB(var_smoothing=1.0), x, y, [2, 60], repeats=3)
    assert np.isinf(curve.log_loss[:, 0]).all()
    assert np.isfinite(curve.log_loss[:, 1]).all()
    assert curve.refitted.tolist() == [[True, False]] * 3


def test_what_fit_refuses_is_refused():
    x, y = words()
    x.data[0] = -1
    with pytest.raises(ValueError, match="Negative"):
        learning_curve(MultinomialNB(), x, y, [80])


# rows, sizes, draws


def test_every_kind_of_rows_gives_the_same_numbers():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    x, y = rows_for(GaussianNB())
    expected = learning_curve(GaussianNB(), x, y, SIZES, repeats=2)
    frame = pd.DataFrame(x, columns=list("pqrs"), index=np.arange(len(x))[::-1])
    kinds = [x.tolist(), frame, pl.from_pandas(frame), pa.Table.from_pandas(frame, preserve_index=False)]
    for rows in [*kinds, sparse.csr_array(x), sparse.coo_array(x), np.asfortranarray(x)]:
        ours = learning_curve(GaussianNB(), rows, pd.Series(y), SIZES, repeats=2)
        assert_same(ours, (expected.accuracy, expected.log_loss))


def test_frames_of_texts_and_numbers():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.array(["rain", "sun"])[rng.integers(0, 2, 120)]
    wind = np.where(rng.random(120) < 0.1, np.nan, rng.normal(size=120) + (y == "rain"))
    sky = np.where(rng.random(120) < 0.7, y, rng.choice(["grey", "blue", "red"], 120))
    x = pd.DataFrame({"sky": sky, "wind": wind})
    model = MixedNB(alpha=1, families={"wind": "gaussian"})
    assert_same(learning_curve(model, x, y, [10, 40, 80], repeats=2), refitted(model, x, y, [10, 40, 80]))


def texts_of(n=90) -> tuple[list[str], np.ndarray]:
    rng, y = np.random.default_rng(0), np.arange(n) % 3
    odds = [0.4, 0.3, 0.2, 0.1]
    some = [
        " ".join(rng.choice(["tea", "cake", "milk", "rice"], 5, p=np.roll(odds, c))) + f" n{i % 37}"
        for i, c in enumerate(y)
    ]
    return some, y


TEXTS = [
    TextClassifier(smoothing="corpus"),  # even smoothing has exact ties, which rounding decides
    TextClassifier(counts=True, smoothing="even", alpha=0.3, priors="uniform"),
    TextClassifier("bernoulli", min_df=2, max_df=0.9),
    TextClassifier("complement", "words+bigrams", stop_words=["tea"]),
    TextClassifier(features="chars"),
]


@each(TEXTS)
def test_texts_are_read_once_and_the_numbers_are_those_of_refitting(model, monkeypatch):
    x, y = texts_of()
    expected = refitted(model, x, y, [2, *SIZES])
    reads = []
    count = Features.fit_counts
    monkeypatch.setattr(Features, "fit_counts", lambda self, texts: reads.append(len(texts)) or count(self, texts))
    curve = learning_curve(model, x, y, [2, *SIZES], repeats=2)
    assert reads == [90]
    assert not curve.refitted.any()
    assert not hasattr(model, "classes_")
    assert_same(curve, expected)


def test_texts_that_must_be_seen_at_once_are_learned_anew():
    x, y = texts_of()
    for model in (TextClassifier(alpha="auto"), TextClassifier(features=TfidfVectorizer())):
        assert_same(learning_curve(model, x, y, [20, 60], repeats=1), refitted(model, x, y, [20, 60], repeats=1))


def test_sizes_without_a_word_are_refused():
    with pytest.raises(DataError, match=r"(?s)first 4 texts have no word.*hint: "):
        learning_curve(TextClassifier(), ["!"] * 60, np.arange(60) % 2, [4])


def test_classes_keep_their_shares_at_every_size():
    codes = np.random.default_rng(0).choice(4, 500, p=[0.7, 0.2, 0.08, 0.02])
    share = np.bincount(codes) / 500
    order = codes[evenly(codes)]
    for size in range(1, 501):
        off = np.bincount(order[:size], minlength=4) - share * size
        assert np.abs(off).max() < 2
    assert set(order[:4]) == {0, 1, 2, 3}


def test_rows_held_out_are_never_learned_from():
    codes = np.random.default_rng(0).integers(0, 3, 100)
    for test in (0.3, 30, np.arange(100) % 4 == 0):
        held = Held.from_test(test, 100)
        for stratify in (True, False):
            train, here = held.drawn(codes, np.random.RandomState(0), stratify)
            assert sorted([*train, *here]) == list(range(100))
            assert len(here) == held.number
    assert (here == np.flatnonzero(np.arange(100) % 4 == 0)).all()


def test_draws_differ_and_come_again():
    x, y = rows_for(GaussianNB())
    curve = learning_curve(GaussianNB(), x, y, [20], repeats=3)
    assert len(set(curve.log_loss[:, 0])) == 3
    np.testing.assert_array_equal(learning_curve(GaussianNB(), x, y, [20], repeats=3).log_loss, curve.log_loss)
    other = learning_curve(GaussianNB(), x, y, [20], repeats=3, random_state=1)
    assert (other.log_loss != curve.log_loss).any()
    plain = learning_curve(GaussianNB(), x, y, [20], repeats=2, stratify=False)
    assert_same(plain, refitted(GaussianNB(), x, y, [20], stratify=False))


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"sizes": [0]}, "60 training rows"),
        ({"sizes": [61]}, "60 training rows"),
        ({"sizes": [1.5]}, r"\[1.5\]"),
        ({"sizes": [0.001]}, r"\[0.001\]"),
        ({"sizes": ["all"]}, "all"),
        ({"sizes": []}, r"\[\]"),
        ({"test": 0}, "0 would be held out"),
        ({"test": 90}, "90 would be held out"),
        ({"test": 1.0}, "held out"),
        ({"test": np.ones(90)}, "truth value"),
        ({"test": np.ones(9, dtype=bool)}, "truth value"),
        ({"test": "half"}, "truth value"),
        ({"repeats": 0}, "repeats is 0"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_with_a_cure(settings, what):
    x, y = rows_for(GaussianNB())
    with pytest.raises(DataError, match=f"(?s){what}.*hint: "):
        learning_curve(GaussianNB(), x, y, **settings)


def test_sizes_are_numbers_or_shares():
    assert counts_of([0.5, 10, 1.0, np.int32(7)], 100, 2).tolist() == [7, 10, 50, 100]
    assert counts_of(1.0, 100, 2).tolist() == [100]
    assert counts_of(None, 13_332, 2).tolist()[0] == 13
    assert counts_of(None, 3, 5).tolist() == [3]


def test_the_model_given_is_left_alone():
    x, y = rows_for(GaussianNB())
    model = GaussianNB()
    learning_curve(model, x, y, [20])
    assert not hasattr(model, "classes_")
    counts, labels = words()
    before, model = counts.copy(), MultinomialNB()
    learning_curve(model, counts, labels, [20])
    assert model.alpha == 1.0
    assert (before != counts).nnz == 0


# what it says


def test_it_tells_means_and_deviations():
    x, y = rows_for(GaussianNB())
    curve = cross_validation.learning_curve(GaussianNB(), x, y, [10, 60], repeats=4)
    frame = curve.to_frame()
    assert frame.columns.tolist() == ["rows", "accuracy", "accuracy_sd", "log_loss", "log_loss_sd"]
    np.testing.assert_allclose(frame["accuracy"], curve.accuracy.mean(axis=0))
    np.testing.assert_allclose(frame["log_loss_sd"], curve.log_loss.std(axis=0, ddof=1))
    lines = str(curve).splitlines()
    assert lines[0] == "GaussianNB, 30 rows held out, 4 times"
    assert [line.split()[0] for line in lines[1:]] == ["rows", "10", "60"]
    once = learning_curve(GaussianNB(), x, y, [10], repeats=1)
    assert np.isnan(once.spread()).all()
    assert "once" in str(once)
    with pytest.raises(DataError, match="no score 'f1'"):
        curve.mean("f1")


def test_its_picture_rises_on_a_log_axis_with_a_band_and_more_curves_beside():
    plt = pytest.importorskip("matplotlib.pyplot")
    x, y = rows_for(GaussianNB(), n=300)
    curve = learning_curve(GaussianNB(), x, y, [6, 50, 200])
    ax = picture(curve)
    assert ax.get_xscale() == "log"
    np.testing.assert_allclose(ax.lines[0].get_ydata(), curve.mean())
    assert len(ax.collections) == 1
    picture(learning_curve(LogisticRegression(), x, y, [6, 50, 200]), ax, label="logistic")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["GaussianNB", "logistic"]
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
    assert ax.lines[0].get_marker() != ax.lines[1].get_marker()
    loss = learning_curve(GaussianNB(var_smoothing=1.0), x, y, [2, 50, 200], repeats=1).plot(score="log_loss")
    assert loss.lines[0].get_xdata().tolist() == [50, 200]
    plt.close("all")
