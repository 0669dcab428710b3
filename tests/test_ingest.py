"""The door: what cannot be learned from is refused with what, where and the cure."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from deciban import LinearDiscriminantAnalysis
from deciban.errors import DataError, SupportError

from .support.models import CLASSES, each, fitted, reads_of, rows_for

ALL = [model() for model in CLASSES]
COUNTS = [model for model in ALL if type(model).__name__ in ("MultinomialNB", "ComplementNB", "PoissonNB")]
SPARSE = [model for model in ALL if reads_of(model) in ("reals", "counts")]
LEVELS = [model for model in ALL if reads_of(model) == "codes"]
DENSE = [model for model in ALL if reads_of(model) == "dense"]


def spoiled(model, cell: float, row: int = 7, column: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Good rows with one bad cell."""
    x, y = rows_for(model)
    x = np.asarray(x, dtype=np.float64)
    x[row, column] = cell
    return x, y


def refused(*words: str) -> pytest.RaisesExc:
    """A SupportError that holds all these words, in this order, and a cure."""
    return pytest.raises(SupportError, match="(?s)" + ".*".join([*words, "hint:"]))


@each(ALL)
@pytest.mark.parametrize("cell", [np.inf, -np.inf])
def test_infinity_in_training_is_refused_and_located(model, cell):
    x, y = spoiled(model, cell)
    words = ["infinity", "row 7", "column 2"]
    if cell < 0 and model in COUNTS:
        words = ["Negative values"]
    with refused(*words):
        clone(model).fit(x, y)
    with refused(*words):
        clone(model).partial_fit(x, y, classes=["a", "b", "c"])


@each(ALL)
@pytest.mark.parametrize("cell", [np.inf, -np.inf])
def test_infinity_in_prediction_is_refused_and_located(model, cell):
    model = fitted(model, *rows_for(model))
    x, _ = spoiled(model, cell)
    for say in (model.predict, model.predict_proba, model.predict_log_proba, model.score_samples, model.log_odds):
        with refused("infinity", "row 7", "column 2"):
            say(x)


@each(SPARSE)
def test_infinity_in_sparse_rows_is_refused_and_located(model):
    x, y = spoiled(model, np.inf)
    x = np.maximum(x, 0.0)
    with refused("infinity", "row 7", "column 2"):
        clone(model).fit(sparse.csr_array(x), y)
    model = fitted(model, *rows_for(model))
    with refused("infinity", "row 7", "column 2"):
        model.predict(sparse.csr_array(x))


@each(ALL)
def test_infinity_beside_a_missing_cell_is_found_too(model):
    x, y = spoiled(model, np.inf)
    x[3, 2] = x[9, 1] = np.nan
    with refused("infinity", "row 7", "column 2"):
        clone(model).fit(x, y)


@each(COUNTS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_negative_counts_are_refused_and_located(model, form):
    x, y = spoiled(model, -2.0)
    with refused(f"Negative values in data passed to {type(model).__name__}", "row 7", "column 2"):
        clone(model).fit(form(x), y)


@each(LEVELS)
def test_negative_levels_are_refused_and_located(model):
    x, y = spoiled(model, -2.0)
    words = (f"Negative values in data passed to {type(model).__name__}", "row 7", "column 2")
    with refused(*words):
        clone(model).fit(x, y)
    with refused(*words):
        clone(model).fit(x.astype(np.int64), y)
    with refused(*words):
        fitted(model, *rows_for(model)).predict(x)


@each(ALL)
def test_negative_weights_are_refused_and_located(model):
    x, y = rows_for(model)
    w = np.ones(len(y))
    w[5] = -3.0
    with pytest.raises(DataError, match="row 5"):
        clone(model).fit(x, y, sample_weight=w)


@each(ALL[:1])
def test_weights_that_are_all_zero_are_refused_with_a_cure(model):
    x, y = rows_for(model)
    with pytest.raises(DataError, match="sample_weight"):
        clone(model).fit(x, y, sample_weight=np.zeros(len(y)))


@each(ALL)
@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(model, weight):
    x, y = rows_for(model)
    with pytest.raises(ValueError, match=r"sample_weight.*(NaN|infinity)"):
        clone(model).fit(x, y, sample_weight=np.full(len(y), weight))


@each(ALL)
def test_unknown_label_is_refused_and_named(model):
    x, y = rows_for(model)
    model = clone(model).partial_fit(x, y, classes=["a", "b", "c"])  # where classes were named, no others come
    with pytest.raises(DataError, match="stranger"):
        model.partial_fit(x[:2], ["a", "stranger"])


@each(ALL)
def test_class_named_twice_is_refused(model):
    x, y = rows_for(model)
    with pytest.raises(DataError, match=r"(?s)names a class twice.*hint:"):
        clone(model).partial_fit(x, y, classes=["a", "b", "b", "c"])


@each([model for model in ALL if reads_of(model) != "codes" and type(model).__name__ != "BernoulliNB"])
def test_magnitudes_that_overflow_are_refused_with_their_size(model):
    x, y = rows_for(model)
    with refused("magnitudes up to", "overflow"):
        clone(model).fit(np.abs(x) / np.abs(x).max() * 1.7e308, y)


@each(DENSE)
@pytest.mark.parametrize("size", [1e160, 1e200])
def test_magnitudes_whose_squares_overflow_are_refused_with_more_columns_than_rows_too(model, size):
    """Or answered right: the units of the columns are free. (One half for every row is neither.)"""
    x, y = rows_for(model, n=30, d=40)
    near = fitted(model, x, y).predict_proba(x)
    try:
        far = fitted(model, x * size, y).predict_proba(x * size)
    except SupportError as error:
        assert "hint:" in str(error)
        return
    np.testing.assert_allclose(far, near, atol=1e-6)


@each(ALL)
def test_no_warning_and_no_error_for_missing_cells(model):
    """In training too: columns speak for themselves, or EM fills the cells in."""
    x, y = spoiled(model, np.nan)
    model = fitted(model, x, y)
    x[5:9] = np.nan
    assert np.isfinite(model.predict_proba(x)).all()
    assert set(model.predict(x)) <= {"a", "b", "c"}


@each(DENSE)
def test_class_whose_rows_all_miss_a_cell_borrows_it_from_the_others(model):
    x, y = rows_for(model)
    x[y == "b", 1] = np.nan
    assert np.isfinite(fitted(model, x, y).predict_log_proba(x)).all()


def test_class_whose_rows_all_miss_a_cell_is_named_where_rows_must_be_complete():
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    x, y = rows_for(model)
    x[y == "b", 1] = np.nan
    with pytest.raises(DataError, match=r"(?s)every row of class .*b.* has a missing cell.*hint:"):
        model.fit(x, y)
