"""The compiled pass that several families share, and the counts that wait, equal their specification."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields
from functools import reduce
from operator import add, iadd

import numpy as np
import pytest

from deciban import ops
from deciban.data.blocks import Reals
from deciban.estimation import discretise
from deciban.ops import cells as cell_ops
from deciban.ops import spec
from deciban.tallies import GridCounts
from deciban.tallies.basic import column
from deciban.tallies.exact_tables import equal
from deciban.tallies.grid import MISSING

from ..support.builds import every_build, every_hard_case, using
from ..support.compare import assert_same_bits
from ..support.strategies import DENSE, holding

ODD = [0.0, -0.0, 1.0, 2.0**52, 2.0**52 + 1, 2.0**53 + 2, 0.5, -3.0, 5e-324, 2.3e-308, 1e-300, 1e300, np.nan]


@pytest.fixture(autouse=True)
def _few_rows_too(monkeypatch):
    """The compiled counters count, however few rows there are."""
    monkeypatch.setattr(cell_ops, "FEW", 0)


def assert_same_cells(got: GridCounts, want: GridCounts, exact: bool = True) -> None:
    assert [key.tolist() for key in got.keys] == [key.tolist() for key in want.keys]
    assert got.sound()
    np.testing.assert_allclose(got.n, want.n, rtol=1e-12)
    np.testing.assert_allclose(got.table, want.table, rtol=0 if exact else 1e-12)


def assert_shared(x: Reals, y, w, k: int, want=None) -> None:
    got, want = cell_ops.shared(x, y, w, k), want or spec.shared(x, y, w, k)
    for field in fields(want):
        mine, theirs = getattr(got, field.name), getattr(want, field.name)
        if field.name == "cells":
            assert_same_cells(mine, theirs, exact=w is None)
        elif field.name == "wrong":
            for support, weight in theirs.items():
                assert equal(mine[support], weight)
        else:
            shape = theirs.sums.shape
            np.testing.assert_array_equal(*(np.broadcast_to(column(t.n), shape) for t in (mine, theirs)))
            assert all(equal(getattr(mine, f.name), getattr(theirs, f.name)) for f in fields(theirs)[1:])


@every_build
@every_hard_case
def test_what_families_share_equals_its_specification(build, rows):
    with using(build):
        for dtype in ("float64", "float32"):
            forms = [form for form in holding(rows, DENSE) if form.dtype == dtype]
            want = spec.shared(forms[0](rows.cells), rows.y, rows.w, rows.k) if forms else None
            for form in forms:
                assert_shared(form(rows.cells), rows.y, rows.w, rows.k, want)


@every_build
@pytest.mark.parametrize("weighed", [False, True])
def test_odd_numbers_are_shared_like_others(build, weighed):
    rng = np.random.default_rng(0)
    cells = np.where(rng.random((400, 4)) < 0.5, rng.choice(ODD, (400, 4)), rng.exponential(3.0, (400, 4)))
    cells[:, 3] = np.abs(np.nan_to_num(cells[:, 3])) + 1e-9
    y, w = rng.integers(0, 3, 400).astype(np.int32), rng.choice([0.0, 0.5, 2.0], 400) if weighed else None
    with using(build):
        for column in range(4):  # numbers of other sizes stand in columns of their own
            sizes = np.abs(cells[:, [column]])
            assert_shared(Reals(np.where(sizes > 1e100, np.nan, cells[:, [column]])), y, w, 3)
        got = cell_ops.shared(Reals(cells), y, w, 3)
        assert_same_cells(got.cells, spec.cells(Reals(cells), y, w, 3), exact=not weighed)


@every_build
def test_infinity_is_found_and_rows_of_no_weight_are_not_asked(build):
    x, y = np.array([[1.0], [np.inf], [3.0]]), np.zeros(3, dtype=np.int32)
    with using(build):
        for sign in (1.0, -1.0):
            assert not cell_ops.cells(Reals(sign * x), y, None, 1).finite()
            assert cell_ops.cells(Reals(sign * x), y, np.array([1.0, 0.0, 1.0]), 1).finite()


def parts(seed: int, weighed: bool = False) -> list[tuple]:
    rng = np.random.default_rng(seed)
    out = []
    for n in (50, 1, 700, 0, 33):
        x = rng.normal(size=(n, 3)) * [1, 1e5, 1e-200]
        x[rng.random(x.shape) < 0.1] = np.nan
        w = rng.choice([0.0, 0.25, 3.0], n) if weighed else None
        out.append((Reals(x), rng.integers(0, 3, n).astype(np.int32), w, 3))
    return out


@every_build
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("full", [1, 300, 1 << 23])
@pytest.mark.parametrize("plus", [add, iadd])
def test_rows_that_wait_are_counted_as_if_they_had_not(build, weighed, full, plus, monkeypatch):
    monkeypatch.setattr(cell_ops, "FULL", full)
    given = parts(0, weighed)
    want = reduce(add, (spec.cells(*part) for part in given))
    with using(build):
        assert_same_cells(reduce(plus, [cell_ops.cells(*part) for part in given]), want, exact=not weighed)


@every_build
def test_counters_hold_no_more_than_they_can(build, monkeypatch):
    monkeypatch.setattr(cell_ops, "FULL", 1)
    monkeypatch.setattr(cell_ops, "MOST", 100)
    given = parts(1) * 2
    want = reduce(add, (spec.cells(*part) for part in given))
    with using(build):
        assert_same_cells(reduce(iadd, [cell_ops.cells(*part) for part in given]), want)


@every_build
@pytest.mark.parametrize("full", [1, 1 << 23])
def test_a_sum_leaves_what_it_adds_alone(build, full, monkeypatch):
    monkeypatch.setattr(cell_ops, "FULL", full)
    given = parts(2)
    with using(build):
        once = reduce(add, [cell_ops.cells(*part) for part in given])
        twice = once + once
        more = once + cell_ops.cells(*given[2])
        assert_same_cells(once, reduce(add, [spec.cells(*part) for part in given]))
        np.testing.assert_array_equal(twice.table, 2 * once.table)
        assert_same_cells(more - cell_ops.cells(*given[2]), once)


@every_build
@pytest.mark.parametrize("full", [1, 1 << 23])
def test_rows_that_wait_are_relabelled_copied_and_pickled(build, full, monkeypatch):
    monkeypatch.setattr(cell_ops, "FULL", full)
    index = np.array([3, 0, 2])
    with using(build):
        for change in (copy.copy, lambda t: pickle.loads(pickle.dumps(t)), lambda t: t.relabel(index, 4)):
            want = reduce(add, [spec.cells(*part) for part in parts(3)])
            got = change(reduce(iadd, [cell_ops.cells(*part) for part in parts(3)]))
            assert_same_cells(got, change(want))
            assert got.d == 3


def test_bits_do_not_depend_on_when_rows_are_counted(monkeypatch):
    tallies = []
    for full in (1, 100, 1 << 23):
        monkeypatch.setattr(cell_ops, "FULL", full)
        tallies.append(reduce(iadd, [cell_ops.cells(*part) for part in parts(4)]))
    for other in tallies[1:]:
        assert_same_bits(tallies[0], other)
        assert [a.tobytes() for a in tallies[0].keys] == [b.tobytes() for b in other.keys]


def test_no_number_has_the_key_of_a_missing_cell():
    largest = np.array([np.finfo(float).max, -np.finfo(float).max, np.inf, -np.inf])
    found = spec.by_class(Reals(largest[:, None]), np.zeros(4, dtype=np.int32), None, 1)
    assert (np.abs(found.keys) < MISSING).all()


@every_build
def test_cuts_that_tell_classes_apart(build):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        k, m = rng.integers(1, 12), rng.choice([0, 1, 2, 5, 40, 700])
        drift = np.exp(rng.normal(size=(k, 1)) * np.linspace(-2, 2, m))
        counts = rng.poisson(rng.choice([0.2, 3.0, 90.0]) * drift).astype(float)
        if rng.random() < 0.3:
            counts *= rng.random(counts.shape)  # weights
        with using(build):
            found.append(discretise.supervised(counts))
        with ops.specification():
            assert found[-1] == discretise.supervised(counts)
    assert sum(map(len, found)) > 300
    with using(build), pytest.raises(ValueError, match="first"):
        ops.core().supervised_cuts(np.ones((2, 2, 3)), np.zeros((2, 2), dtype=np.uint8))


@every_build
def test_cuts_of_several_tables_are_those_of_each(build):
    counts = np.random.default_rng(0).poisson(3.0, size=(50, 3, 20)) * np.linspace(0.1, 4.0, 20)
    with using(build):
        each = [discretise.supervised(table) for table in counts]
        assert [np.flatnonzero(first).tolist() for first in discretise.supervised_of_each(counts)] == each


@every_build
def test_leading_zeros_are_found_wherever_they_are(build):
    rng = np.random.default_rng(0)
    alphabet = np.frombuffer(b'00001239.,\n\r" \t-+xXa', dtype=np.uint8)
    found = []
    for size in [*range(45), 4095, 4097, 4100, 5000] * 20:
        text = rng.choice(alphabet, size)
        if rng.random() < 0.7:  # most texts without such a cell, but maybe at one place
            text[text == ord("0")] = ord("5")
            if size > 3 and rng.random() < 0.5:
                at = rng.integers(0, size - 2)
                text[at : at + 3] = np.frombuffer(b",01", dtype=np.uint8)
        with ops.specification():
            expected = ops.has_leading_zeros(text.tobytes(), ",")
        with using(build):
            assert ops.has_leading_zeros(text.tobytes(), ",") == expected, text.tobytes()
        found.append(expected)
    assert 100 < sum(found) < len(found) - 100


def test_few_rows_are_counted_by_the_compiled_counters_where_keys_repeat(monkeypatch):
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 30, 3000).astype(np.int32)
    for x, repeats in ((rng.integers(0, 16, (3000, 4)) * 1.0, True), (rng.normal(size=(3000, 4)), False)):
        for w in (None, rng.choice([0.5, 1.0, 2.0], 3000)):
            t = cell_ops.cells(Reals(x), y, w, 30)
            assert cell_ops._repeats(t._waiting.rows) == repeats
            assert_same_cells(t, spec.cells(Reals(x), y, w, 30))


def test_logs_of_few_cells_have_the_bits_of_those_of_many():
    odd = [0.0, -0.0, -1.0, 1.0, 0.5**0.5, 2**0.5, 5e-324, 1e308, np.inf, -np.inf, np.nan]
    x = np.concatenate([odd, np.exp(np.random.default_rng(0).normal(size=500) * 100.0)])
    few = [ops.logs(Reals(np.array([[value]]))).values[0, 0] for value in x]
    assert np.array(few).tobytes() == ops.logs(Reals(x[:, None])).values[:, 0].tobytes()
