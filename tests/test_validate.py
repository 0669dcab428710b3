"""Cross-validation by adding tallies against scikit-learn's, which fits anew for every fold."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model, metrics
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.utils import _safe_indexing

from deciban import CategoricalNB, GaussianNB, LinearDiscriminantAnalysis, MixedNB, QuadraticDiscriminantAnalysis
from deciban.classifiers.structured import StructuredNB
from deciban.errors import DataError
from deciban.model_selection.cross_validation import cross_validate, sums_of_others

from .support.compare import assert_scores
from .support.models import CLASSES, each, every_model, named, rows_for

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


def refitted(model, x, y, fold, w=None) -> np.ndarray:
    """log P(class | x) of each row by a model fitted to all rows of the other folds, (n, k)."""
    classes = np.unique(y)
    out = np.full((len(y), len(classes)), -np.inf)
    for i in np.unique(fold):
        here, others = np.flatnonzero(fold == i), np.flatnonzero(fold != i)
        more = {} if w is None else {"sample_weight": w[others]}
        learned = clone(model).fit(_safe_indexing(x, others), y[others], **more)
        columns = np.searchsorted(classes, learned.classes_)
        out[np.ix_(here, columns)] = learned.predict_log_proba(_safe_indexing(x, here))
    return out


def holed(x: np.ndarray, share: float = 0.1) -> np.ndarray:
    return np.where(np.random.default_rng(5).random(x.shape) < share, np.nan, x.astype(np.float64))


# the same numbers as fitting anew


@every_model
def test_folds_are_what_refitting_makes_of_them(model):
    x, y = rows_for(model)
    ours = cross_validate(model, x, y, FOLDS)
    assert_scores(ours.log_proba, refitted(model, x, y, ours.fold))


@every_model
def test_folds_of_weighted_rows_too(model):
    x, y = rows_for(model)
    w = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(y))
    ours = cross_validate(model, x, y, FOLDS, sample_weight=w)
    assert_scores(ours.log_proba, refitted(model, x, y, ours.fold, w))


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.filterwarnings("ignore:rows of weight:UserWarning")
def test_folds_with_missing_cells_too(model, weighted):
    x, y = rows_for(model, n=150)
    x = holed(x)
    w = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(y)) if weighted else None
    ours = cross_validate(model, x, y, FOLDS, sample_weight=w)
    assert_scores(ours.log_proba, refitted(model, x, y, ours.fold, w))


@every_model
def test_folds_that_take_a_whole_class_away(model):
    x, y = rows_for(model)
    fold = np.where(y == "b", 0, 1 + np.arange(len(y)) % 3)
    ours = cross_validate(model, x, y, fold)
    assert np.isneginf(ours.log_proba[fold == 0, 1]).all()
    assert_scores(ours.log_proba, refitted(model, x, y, fold))
    assert 0 in ours.refitted


@every_model
def test_scikit_learn_says_the_same(model):
    x, y = rows_for(model)
    ours = cross_validate(model, x, y, FOLDS)
    theirs = cross_val_predict(model, x, y, cv=FOLDS, method="predict_proba")
    np.testing.assert_allclose(ours.proba, theirs, rtol=0, atol=1e-9)


@each([model() for model in CLASSES if not issubclass(model, MixedNB | StructuredNB)])
def test_nothing_is_fitted_twice_where_tallies_add_up(model):
    x, y = rows_for(model)
    assert cross_validate(model, x, y, FOLDS).refitted == ()


@each(named("GaussianNB", "LinearDiscriminantAnalysis", "FisherDiscriminant"))
def test_columns_that_are_constant_without_a_fold(model):
    """Taking a fold away from the whole would leave rounding where there is no variance: adding the others does not."""
    x, y = rows_for(model, n=120)
    fold = np.arange(len(y)) % 4
    x = np.column_stack([x, np.where(fold == 0, np.random.default_rng(0).normal(size=len(y)), 0.1)])
    ours = cross_validate(model, x, y, fold)
    assert_scores(ours.log_proba, refitted(model, x, y, fold), within=1e-7)


def test_levels_that_only_one_fold_has_are_unseen_by_its_model():
    x, y = rows_for(CategoricalNB())
    fold = np.arange(len(y)) % 5
    x[fold == 2, 1] = 9
    assert_scores(cross_validate(CategoricalNB(), x, y, fold).log_proba, refitted(CategoricalNB(), x, y, fold))


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 60)), np.arange(40) % 2
    for model in named("LinearDiscriminantAnalysis", "RegularizedDiscriminantAnalysis"):
        ours = cross_validate(model, x, y, FOLDS)
        assert_scores(ours.log_proba, refitted(model, x, y, ours.fold), within=1e-8)


# where tallies cannot serve


def test_a_class_of_one_row_is_for_fit_to_judge():
    x, y = rows_for(GaussianNB())
    y[0], y[1:2] = "z", "z"
    fold = np.arange(len(y)) % 2
    ours = cross_validate(GaussianNB(), x, y, fold)
    assert ours.refitted == (0, 1)
    assert_scores(ours.log_proba, refitted(GaussianNB(), x, y, fold))
    with pytest.raises(DataError, match="only 1 sample"):
        cross_validate(QuadraticDiscriminantAnalysis(), x, y, fold)


def test_settings_that_need_all_rows_are_fitted_anew():
    x, y = rows_for(GaussianNB())
    model = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=EmpiricalCovariance())
    ours = cross_validate(model, x, y, 3)
    assert ours.refitted == (0, 1, 2)
    assert_scores(ours.log_proba, refitted(model, x, y, ours.fold))


@pytest.mark.parametrize(
    "model",
    [TheirGaussianNB(), linear_model.LogisticRegression(), HistGradientBoostingClassifier(max_iter=3)],
    ids=repr,
)
def test_other_libraries_classifiers_are_fitted_anew(model):
    x, y = rows_for(GaussianNB())
    ours = cross_validate(model, x, y, 3)
    assert ours.refitted == (0, 1, 2)
    np.testing.assert_allclose(ours.proba.sum(axis=1), 1)


def test_a_fold_without_weight_is_predicted_all_the_same():
    x, y = rows_for(GaussianNB())
    fold = np.arange(len(y)) % 3
    w = np.where(fold == 1, 0.0, 1.0)
    ours = cross_validate(GaussianNB(), x, y, fold, sample_weight=w)
    assert_scores(ours.log_proba, refitted(GaussianNB(), x, y, fold, w))
    assert np.isnan(ours.by_fold["accuracy"][1])


def test_the_model_given_is_left_alone():
    x, y = rows_for(GaussianNB())
    model = GaussianNB()
    cross_validate(model, x, y, 3)
    assert not hasattr(model, "classes_")
    model.fit(x[:30], y[:30])
    before = model.class_count_.copy()
    cross_validate(model, x, y, 3)
    np.testing.assert_array_equal(model.class_count_, before)


# kinds of rows and folds


def test_every_kind_of_rows_gives_the_same_numbers():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    x, y = rows_for(GaussianNB())
    expected = cross_validate(GaussianNB(), x, y, 4).log_proba
    frame = pd.DataFrame(x, columns=list("pqrs"), index=np.arange(len(x))[::-1])
    kinds = [x.tolist(), frame, pl.from_pandas(frame), pa.Table.from_pandas(frame, preserve_index=False)]
    for rows in [*kinds, sparse.csr_array(x), sparse.coo_array(x), np.asfortranarray(x)]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ours = cross_validate(GaussianNB(), rows, pd.Series(y), 4)
        np.testing.assert_allclose(ours.log_proba, expected, rtol=1e-9, atol=1e-9)
        assert ours.refitted == ()


def test_folds_are_dealt_evenly_and_by_class():
    x, y = rows_for(GaussianNB(), n=100)
    for random_state in (None, 0):
        ours = cross_validate(GaussianNB(), x, y, 7, random_state=random_state)
        table = np.array([[((ours.fold == i) & (y == c)).sum() for c in "abc"] for i in range(7)])
        assert (np.ptp(table, axis=0) <= 1).all()
        assert np.ptp(table.sum(axis=1)) <= 1
    again, other = (cross_validate(GaussianNB(), x, y, 7, random_state=seed).fold for seed in (0, 1))
    np.testing.assert_array_equal(again, ours.fold)
    assert (other != ours.fold).any()
    plain = cross_validate(GaussianNB(), x, y, 7, stratify=False)
    np.testing.assert_array_equal(plain.fold, np.arange(100) % 7)


def test_folds_may_be_named_or_split():
    x, y = rows_for(GaussianNB())
    named_folds = np.array(["north", "south", "west"])[np.arange(len(y)) % 3]
    ours = cross_validate(GaussianNB(), x, y, named_folds)
    for folds in (np.arange(len(y)) % 3, PredefinedSplit(np.arange(len(y)) % 3)):
        np.testing.assert_array_equal(cross_validate(GaussianNB(), x, y, folds).log_proba, ours.log_proba)
    fold = cross_validate(GaussianNB(), x, y, KFold(3)).fold
    np.testing.assert_array_equal(fold, np.repeat([0, 1, 2], 30))


@pytest.mark.parametrize(
    ("folds", "what"),
    [
        (1, "folds is 1"),
        (91, "90 rows"),
        (np.zeros(90), "all rows are in fold"),
        (np.arange(3), r"shape \(3,\)"),
        (3.5, r"shape \(\)"),
        (ShuffleSplit(3, random_state=0), "test each row once"),
        (TimeSeriesSplit(3), "test each row once"),
    ],
    ids=str,
)
def test_folds_that_cannot_be_are_refused_with_a_cure(folds, what):
    x, y = rows_for(GaussianNB())
    with pytest.raises(DataError, match=f"(?s){what}.*hint: "):
        cross_validate(GaussianNB(), x, y, folds)


def test_as_many_labels_as_rows():
    x, y = rows_for(GaussianNB())
    with pytest.raises(DataError, match=r"(?s)X has 90 rows, y has 89.*hint: "):
        cross_validate(GaussianNB(), x, y[1:])


# what it says


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_numbers_are_those_of_scikit_learn(weighted):
    x, y = rows_for(GaussianNB(), n=120)
    w = np.random.default_rng(0).uniform(0.5, 2, 120) if weighted else None
    ours = cross_validate(GaussianNB(), x, y, 5, sample_weight=w)
    for i in (*range(5), slice(None)):
        here = slice(None) if isinstance(i, slice) else ours.fold == i
        weight = None if w is None else w[here]
        expected = (
            metrics.accuracy_score(y[here], ours.predicted[here], sample_weight=weight),
            metrics.log_loss(y[here], ours.proba[here], sample_weight=weight, labels=["a", "b", "c"]),
        )
        said = (ours.accuracy, ours.log_loss)
        said = said if isinstance(i, slice) else (ours.by_fold["accuracy"][i], ours.by_fold["log_loss"][i])
        assert said == pytest.approx(expected)
    np.testing.assert_allclose(ours.confusion, metrics.confusion_matrix(y, ours.predicted, sample_weight=w))
    assert 0 < ours.calibration_error < 0.5
    assert 0 < ours.brier < 2


def test_it_prints_a_line_for_each_fold_and_one_for_all():
    x, y = rows_for(GaussianNB())
    lines = str(cross_validate(GaussianNB(), x, y, 5)).splitlines()
    assert lines[0].split() == ["rows", "accuracy", "log", "loss", "Brier"]
    assert [line.split()[0] for line in lines[1:]] == ["fold"] * 5 + ["all"]
    assert len({len(line) for line in lines}) == 1
    assert len(str(cross_validate(GaussianNB(), x, y, 45)).splitlines()) == 2


def test_sums_without_each():
    for m in range(2, 12):
        pieces = [1 << i for i in range(m)]
        assert list(sums_of_others(pieces)) == [sum(pieces) - piece for piece in pieces]
