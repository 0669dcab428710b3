"""Input that ended the process: damaged matrices, wrong arguments of kernels, one class."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import deciban as d
from deciban import ops
from deciban.data.blocks import to_csr
from deciban.errors import DataError

SPARSE = [d.GaussianNB, d.BernoulliNB, d.MultinomialNB, d.ComplementNB, d.PoissonNB, d.LogisticRegression]
Y = np.arange(20) % 2


def counts() -> sp.csr_matrix:
    return sp.csr_matrix(np.arange(100.0).reshape(20, 5) % 3)


def changed(name: str, at: int | slice, value: int) -> sp.csr_matrix:
    out = counts()
    array = getattr(out, name).copy()
    array[at] = value
    setattr(out, name, array)
    return out


def shortened(name: str, size: int = 3) -> sp.csr_matrix:
    out = counts()
    setattr(out, name, getattr(out, name)[:size].copy())
    return out


def flagged(X: sp.csr_matrix) -> sp.csr_matrix:
    X.has_canonical_format = True
    return X


DAMAGED = {
    "index far right": lambda: changed("indices", 3, 2**30),
    "index far left": lambda: changed("indices", 3, -(2**30)),
    "index next to the last": lambda: changed("indices", 3, 5),
    "index, flagged as canonical": lambda: flagged(changed("indices", 3, 2**30)),
    "border": lambda: changed("indptr", 5, 2**30),
    "last border": lambda: changed("indptr", -1, 2**28),
    "first border": lambda: changed("indptr", 0, -(2**28)),
    "borders descend": lambda: changed("indptr", 5, 0),
    "few borders": lambda: shortened("indptr"),
    "few indices": lambda: shortened("indices"),
    "few data": lambda: shortened("data"),
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("model", SPARSE)
def test_c1_a_damaged_matrix_is_refused(model: type, damage: str) -> None:
    """C2, memory beyond `data`, is among them."""
    with pytest.raises(DataError, match="damaged"):
        model().fit(DAMAGED[damage](), Y)
    fitted = model().fit(counts(), Y)
    with pytest.raises(DataError, match="damaged"):
        fitted.predict_proba(DAMAGED[damage]())


@pytest.mark.parametrize("use", [d.cross_validate, d.learning_curve])
def test_c1_a_damaged_matrix_is_refused_before_its_rows_are_cut(use) -> None:
    with pytest.raises(DataError, match="damaged"):
        use(d.MultinomialNB(), changed("indices", 3, 2**30), Y)


@pytest.mark.parametrize("form", ["csc", "coo", "bsr"])
def test_c1_other_formats_are_checked_before_scipy_converts_them(form: str) -> None:
    X = counts().asformat(form)
    to_csr(X)
    for name in ("row", "col") if form == "coo" else ("indices", "indptr"):
        wrong = X.copy()
        getattr(wrong, name)[-1] = 2**30
        with pytest.raises(DataError, match="damaged"):
            d.MultinomialNB().fit(wrong, Y)


def test_c2_short_data_are_refused() -> None:
    model = d.MultinomialNB().fit(counts(), Y)
    with pytest.raises(DataError, match="`data` has 3"):
        model.predict_proba(shortened("data"))


def test_c2_arrays_longer_than_the_last_border_are_no_damage() -> None:
    X = counts()
    X.indices, X.data = np.append(X.indices, 99).astype(np.int32), np.append(X.data, 1.0)
    expected = d.MultinomialNB().fit(counts(), Y).predict_proba(counts())
    assert np.array_equal(d.MultinomialNB().fit(X, Y).predict_proba(counts()), expected)


@pytest.mark.skipif(ops.core() is None, reason="nothing was compiled")
def test_c4_kernels_refuse_what_leads_out_of_an_array() -> None:
    core = ops.core()
    with pytest.raises(ValueError, match="y has a number outside of 0 … 0"):
        core.weights(np.array([10**8], dtype=np.int32), None, np.zeros(1))
    with pytest.raises(ValueError, match="s has 6 numbers, but 9 are needed"):
        core.scatter(np.ones((4, 3)), np.zeros(4, dtype=np.int32), None, 1, np.zeros((1, 2, 3)))


@pytest.mark.skipif(
    ops.core() is None or not sys.platform.startswith("linux"), reason="nothing compiled, or no mprotect"
)
def test_c4_no_function_ends_the_process() -> None:
    """DECIBAN_FUZZ=1000 calls every function so often."""
    count = os.environ.get("DECIBAN_FUZZ", "40")
    done = subprocess.run([sys.executable, "-m", "tests.fuzz.core", count], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-2000:]
    unused = [line for line in done.stdout.splitlines() if line.split()[1] == "0"]
    assert len(unused) <= 4, unused  # functions of which no real call was recorded


@pytest.mark.parametrize("rows", [3, 17, 40, 400])
def test_c5_fisher_of_one_class_answers(rows: int) -> None:
    X = np.random.default_rng(0).normal(size=(rows, 3))
    model = d.FisherDiscriminant().fit(X, [0] * rows)
    assert np.array_equal(model.predict_proba(X), np.ones((rows, 1)))
    assert (model.predict(X) == 0).all()
    if ops.core() is not None:
        out = np.empty((rows, 2))
        ops.core().affine(np.ones((rows, 0)), np.zeros((0, 8)), np.array([1.0, 2.0]), out)
        assert (out == [1.0, 2.0]).all()


def diagonals(**changes: np.ndarray) -> sp.dia_matrix:
    out = counts().todia()
    for name, value in changes.items():
        setattr(out, name, value)
    return out


def rows_of_lists(row: object) -> sp.lil_matrix:
    out = counts().tolil()
    out.rows[3] = row
    return out


OTHER_FORMATS = {
    "fewer offsets than diagonals": lambda: diagonals(offsets=np.array([0, 1], dtype=np.int32)),
    "offsets beyond the matrix": lambda: diagonals(offsets=counts().todia().offsets + 2**30),
    "diagonals in one dimension": lambda: diagonals(data=np.ones(5)),
    "a list longer than its cells": lambda: rows_of_lists([0, 1, 2, 3, 4, 4, 4]),
    "a number instead of a list": lambda: rows_of_lists(7),
}


@pytest.mark.parametrize("damage", OTHER_FORMATS)
@pytest.mark.parametrize("model", SPARSE)
def test_damaged_diagonals_and_lists_are_refused(model: type, damage: str) -> None:
    with pytest.raises(DataError, match="damaged"):
        model().fit(OTHER_FORMATS[damage](), Y)


def test_arrays_of_types_that_scipy_has_no_code_for_are_refused() -> None:
    for name, kind in (("data", ">f8"), ("data", np.float16), ("indices", np.int16), ("indptr", ">i4")):
        X = counts()
        setattr(X, name, getattr(X, name).astype(kind))
        with pytest.raises(DataError, match="damaged"):
            d.MultinomialNB().fit(X, Y)


@pytest.mark.parametrize("columns", [2**31 - 1, 2**40])
def test_more_columns_than_the_memory_holds_are_refused(columns: int) -> None:
    X = counts()
    X._shape = (20, columns)
    with pytest.raises(DataError, match="columns"):
        d.MultinomialNB().fit(X, Y)
