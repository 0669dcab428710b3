"""Everything learned adds up: the laws of tallies, for every family in every form that its rows may have."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..support.compare import assert_close
from ..support.strategies import Rows, each_form, families, forms, some_forms, some_rows, tally

every_family = pytest.mark.parametrize("family", families())
seeds = st.integers(0, 99).map(np.random.default_rng)


@every_family
@given(data=st.data())
def test_parts_add_up_to_the_whole(family, data):
    rows = data.draw(some_rows(family))
    cuts = data.draw(st.lists(st.integers(0, rows.n), max_size=4).map(sorted))
    for form in some_forms(family, data):
        table = rows.table(form)
        parts = [table.rows(a, b) for a, b in zip([0, *cuts], [*cuts, rows.n], strict=True)]
        total = reduce(add, (family.tally(part.x, part.y, part.w, part.k) for part in parts))
        assert_close(total, tally(family, rows, form))


@every_family
@given(data=st.data())
def test_the_form_of_the_rows_is_free(family, data):
    rows = data.draw(some_rows(family))
    plainest, *others = each_form(family)
    for form in others:
        assert_close(tally(family, rows, form), tally(family, rows, plainest))


@every_family
@given(data=st.data())
def test_order_of_rows_is_free(family, data):
    rows = data.draw(some_rows(family))
    order = data.draw(seeds).permutation(rows.n)
    for form in some_forms(family, data):
        assert_close(tally(family, rows.take(order), form), tally(family, rows, form))


@every_family
@given(data=st.data())
def test_empty_is_zero(family, data):
    rows = data.draw(some_rows(family))
    for form in some_forms(family, data):
        some, nothing = tally(family, rows, form), tally(family, rows.take(slice(0, 0)), form)
        assert nothing.finite()
        assert not nothing.n.any()
        assert_close(some + nothing, some)
        assert_close(nothing + some, some)
        assert_close(some - nothing, some)


@every_family
@given(data=st.data())
def test_weight_is_repetition(family, data):
    rows = data.draw(some_rows(family, weighed=False))
    times = data.draw(seeds).integers(0, 4, rows.n)
    weighed = Rows(rows.cells, rows.y, times.astype(np.float64), rows.k)
    repeated = rows.take(np.repeat(np.arange(rows.n), times))
    for form in some_forms(family, data):
        assert_close(tally(family, weighed, form), tally(family, repeated, form))


@every_family
@given(data=st.data())
def test_scalar_is_reweighting(family, data):
    rows = data.draw(some_rows(family))
    twice = Rows(rows.cells, rows.y, 2.0 * (np.ones(rows.n) if rows.w is None else rows.w), rows.k)
    for form in some_forms(family, data):
        assert_close(2 * tally(family, rows, form), tally(family, twice, form))
        assert_close(tally(family, rows, form) * 2, tally(family, twice, form))


@every_family
@given(data=st.data())
def test_adding_and_taking_away_changes_nothing(family, data):
    rows = data.draw(some_rows(family))
    cut = data.draw(st.integers(0, rows.n))
    for form in some_forms(family, data):
        a, b = (tally(family, rows.take(part), form) for part in (slice(0, cut), slice(cut, None)))
        assert_close((a + b) - b, a, a + b)
        assert_close((a + b) - a, b, a + b)


@every_family
@given(data=st.data())
def test_relabel_aligns_classes(family, data):
    """Two tallies with class lists of their own, moved into one list, add up to the tally of all rows."""
    rows = data.draw(some_rows(family))
    cut = data.draw(st.integers(0, rows.n))
    for form in some_forms(family, data):
        parts = [own_classes(family, rows.take(part), form) for part in (slice(0, cut), slice(cut, None))]
        assert_close(parts[0] + parts[1], tally(family, rows, form))


def own_classes(family, rows, form):
    """The tally made with a list of only the classes that these rows have, moved into the full list."""
    known, codes = np.unique(rows.y, return_inverse=True)
    own = Rows(rows.cells, codes.astype(np.int32), rows.w, max(1, len(known)))
    return tally(family, own, form).relabel(known if len(known) else np.array([0]), rows.k)


@pytest.mark.parametrize("family", [f for f in families() if f.values[0].support == "real"])
def test_far_from_zero_nothing_is_lost(family):
    """Cells around 1e8 with unit variance: added and taken away, second moments keep seven digits."""
    rng, form = np.random.default_rng(1), forms(family)[0]
    near = Rows(rng.integers(0, 4, (400, 5)).astype(np.float64), rng.integers(0, 3, 400).astype(np.int32), None, 3)
    far = Rows(near.cells + 1e8, near.y, None, 3)
    total = reduce(add, (tally(family, far.take(slice(i, i + 20)), form) for i in range(0, 400, 20)))
    left = total - tally(family, far.take(slice(200, 400)), form)
    assert_spread(total, tally(family, near, form))
    assert_spread(left, tally(family, near.take(slice(0, 200)), form))


def assert_spread(far, near):
    """Whether the sums of squares agree; means and totals differ by the offset."""
    for name in ("m2", "scatter"):
        if hasattr(near, name):
            largest = np.abs(getattr(near, name)).max()
            np.testing.assert_allclose(getattr(far, name), getattr(near, name), rtol=0, atol=1e-7 * largest)
