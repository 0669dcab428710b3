"""A cell that is missing is no evidence: it counts for nothing in training and is integrated out in scoring."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.tallies import Crosstab, DistinctRows, GridCounts
from deciban.tallies.basic import column

from ..support.compare import assert_close
from ..support.strategies import (
    SUPPORTS,
    Rows,
    families,
    forms,
    plain_rows,
    some_forms,
    some_rows,
    tally,
    with_carrier,
)

PARTS = families(having="parts")
TREES = [f for f in PARTS if f.values[0].structured]  # a column's part depends on the others' cells
BY_COLUMN = [f for f in PARTS if not f.values[0].structured]  # columns speak for themselves
JOINT = [family for family in families() if not family.values[0].has_parts]
# sums are kept by column even where a score is not
BY_CELL = [family for family in JOINT if family.values[0].block != "dense"]
BY_ROW = [family for family in JOINT if family.values[0].block == "dense"]
# the marginal of these settings is the fit without the column; shrinking looks at all columns
MARGINAL = [
    f for f in JOINT if not getattr(f.values[0], "shrinkage", 0) and getattr(f.values[0], "within", None) is None
]


def gone(family) -> float:
    return SUPPORTS[family.support][1]


def here(family, cells: np.ndarray) -> np.ndarray:
    return cells >= 0 if family.support == "level" else ~np.isnan(cells)


def with_holes(family, rows: Rows, share: float = 0.3, seed: int = 1) -> np.ndarray:
    holes = np.random.default_rng(seed).random(rows.cells.shape) < share
    return np.where(holes, np.array(gone(family), dtype=rows.cells.dtype), rows.cells)


def of_column(t, j: int) -> dict[str, np.ndarray]:
    """What a tally holds about column j."""
    t = t.crosstab() if isinstance(t, DistinctRows) else t
    if isinstance(t, GridCounts | Crosstab):
        return {"table": t.columns()[j]}
    numbers = {name: getattr(t, name)[:, j] for name in ("total", "mean", "m2") if hasattr(t, name)}
    return numbers | {"n": np.broadcast_to(column(t.n), (t.k, j + 1 if t.n.ndim == 1 else t.n.shape[1]))[:, j]}


@pytest.mark.parametrize("family", BY_COLUMN + BY_CELL + TREES)
@given(data=st.data())
def test_missing_cell_counts_for_nothing_in_its_column(family, data):
    rows = data.draw(some_rows(family, least=1))
    for form in some_forms(family, data):
        whole = tally(family, rows, form)
        for j in range(rows.cells.shape[1]):
            those = np.flatnonzero(here(family, rows.cells[:, j]))
            alone = tally(family, Rows(rows.cells[:, [j]], rows.y, rows.w, rows.k).take(those), form)
            for (name, got), want in zip(of_column(whole, j).items(), of_column(alone, 0).values(), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-9, err_msg=f"{name} of column {j}")


@pytest.mark.parametrize("family", BY_ROW)
@given(data=st.data())
def test_row_with_a_missing_cell_counts_for_nothing_where_columns_are_joint(family, data):
    rows = data.draw(some_rows(family, least=1))
    whole = np.flatnonzero(here(family, rows.cells).all(axis=1))
    for form in some_forms(family, data):
        assert_close(tally(family, rows, form), tally(family, rows.take(whole), form))


@pytest.mark.parametrize("family", BY_COLUMN)
def test_missing_cell_takes_its_part_of_the_score_along(family):
    rows = plain_rows(family, d=5)
    params = family.estimate(tally(family, rows, forms(family)[0]))
    cells = with_holes(family, rows)
    parts = family.parts(params, forms(family)[0](rows.cells))
    want = np.where(here(family, cells)[:, None, :], parts, 0.0).sum(axis=2)
    for form in forms(family):
        np.testing.assert_allclose(family.loglik(params, form(cells)), want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", MARGINAL)
def test_missing_cells_leave_the_marginal_of_the_others(family):
    rows = plain_rows(family, d=3)
    form = forms(family)[0]
    params = family.estimate(tally(family, rows, form))
    for columns in ([0], [2], [0, 1], [1, 2]):
        cells = np.full_like(rows.cells, np.nan)
        cells[:, columns] = rows.cells[:, columns]
        alone = Rows(np.ascontiguousarray(rows.cells[:, columns]), rows.y, None, rows.k)
        fitted = family.estimate(tally(family, alone, form))
        got, want = (with_carrier(family, *one) for one in ((params, form(cells)), (fitted, form(alone.cells))))
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", JOINT + TREES)
def test_rows_with_holes_do_not_disturb_the_others(family):
    rows = plain_rows(family, d=4)
    form = forms(family)[0]
    params = family.estimate(tally(family, rows, form))
    cells = with_holes(family, rows, share=0.1)
    whole = here(family, cells).all(axis=1)
    np.testing.assert_array_equal(
        family.loglik(params, form(cells))[whole], family.loglik(params, form(rows.cells))[whole]
    )


@pytest.mark.parametrize("family", families())
def test_row_of_missing_cells_says_nothing(family):
    rows = plain_rows(family, d=4)
    params = family.estimate(tally(family, rows, forms(family)[0]))
    cells = np.full((2, 4), gone(family), dtype=rows.cells.dtype)
    for form in forms(family):
        scores = family.loglik(params, form(cells))
        np.testing.assert_allclose(scores - scores[:, :1], 0.0, atol=1e-9)
        common = family.carrier(params, form(cells))
        if common is not None:
            np.testing.assert_allclose(common + scores[:, 0], 0.0, atol=1e-9)
