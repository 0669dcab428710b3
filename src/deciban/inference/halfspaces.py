"""Directions that hold rows apart, by linear programmes.

For a row with class y and any other class c the constraint is (β_y − β_c)·a ≥ 0. (K. Konis 2007.)

>>> import numpy as np
>>> rows, back = constraints(Design.of(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1]), None, k=2))
>>> direction, apart, settled = most_apart(rows)
>>> apart.tolist()
[True, True, True, True]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from deciban.losses.design import Design
from deciban.table import Counts

NEAR = 1e-7  # a margin nearer to 0 is 0; columns are between −1 and 1
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 30.0}
QUICK = {"time_limit": 10.0}  # seconds
ROWS = 4_000  # whose products with each other may be looked at


def constraints(design: Design) -> tuple[Any, Any]:
    """Rows (e_y − e_c) ⊗ a for every row and every class c ≠ y, each different one once, in columns between −1 and 1,
    (N, m p), and the matrix (p, p) from their coefficients to those of the columns themselves."""
    x, y, k = design.x, design.y, design.k
    middle = np.zeros(x.d)
    if isinstance(x, Counts):
        cells = sparse.csr_array((x.stored, x.column_of(), x.indptr - x.indptr[0]), shape=(x.n, x.d))
    else:
        table = np.unique(np.column_stack([y, x.dense()]), axis=0)
        y, table = table[:, 0].astype(np.intp), table[:, 1:]
        if design.intercept:  # 0 and 1 become −1 and 1, without rounding
            middle = table.min(axis=0) / 2 + table.max(axis=0) / 2
        cells = sparse.csr_array(table - middle)
    size = abs(cells).max(axis=0).toarray().ravel()
    rate = 1.0 / np.where(size > 0, size, 1.0)
    cells = (cells @ sparse.diags_array(rate)).tocsr()
    back = sparse.diags_array(rate, format="csr")
    if design.intercept:
        cells = sparse.hstack([np.ones((cells.shape[0], 1)), cells], format="csr")
        back = sparse.block_array([[np.ones((1, 1)), -(middle * rate)[None, :]], [None, back]], format="csr")
    blocks = []
    for c in range(k):
        for other in range(k):
            if other != c:
                sides = (np.arange(1, k) == c).astype(float) - (np.arange(1, k) == other)
                blocks.append(sparse.kron(sides[None, :], cells[y == c], format="csr"))
    return sparse.vstack(blocks, format="csr"), back


def independent(design: Design) -> bool:
    """Whether no row is a combination of others: then any classes whatever are separated."""
    if not design.x.n <= min(ROWS, design.p):
        return False
    rows = design.rows(0, design.x.n)
    values = np.linalg.eigvalsh(rows @ rows.T)
    return bool(values[0] > 1e-9 * values[-1])


def most_apart(rows: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """A β that holds as many rows strictly apart as any does, none on the wrong side, which rows those are, and whether
    the programme came to its end.

    One programme finds some; what it left together is asked for again, and directions that separate add up to one.
    """
    many, q = rows.shape
    total, apart = np.zeros(q), np.zeros(many, dtype=bool)
    while not apart.all():
        pull = np.asarray(rows[~apart].sum(axis=0)).ravel()
        answer = linprog(-pull, A_ub=-rows, b_ub=np.zeros(many), bounds=(-1, 1), method="highs", options=EXACT)
        if answer.x is None or answer.status != 0:
            return total, apart, False
        margins = rows @ answer.x
        more = (margins > NEAR) & ~apart
        if not more.any() or margins.min() < -NEAR * 1e-2:
            break
        total, apart = total + answer.x, apart | more
    return total, apart, True


def sparsest(rows: Any, apart: np.ndarray, design: Design) -> np.ndarray:
    """The β of least Σ |β| (intercepts are free) that holds these rows apart, (q,)."""
    q = rows.shape[1]
    price = np.ones((design.m, design.p))
    price[:, : int(design.intercept)] = 0.0
    table = sparse.hstack([-rows, rows], format="csr")
    answer = linprog(
        np.tile(price.ravel(), 2),
        A_ub=table,
        b_ub=-apart.astype(float),
        bounds=(0, None),
        method="highs",
        options=QUICK,
    )
    return np.ones(q) if answer.x is None else answer.x[:q] - answer.x[q:]


def unbounded(rows: Any, back: Any) -> np.ndarray:
    """Coefficients, of the columns themselves, that rows which stay together do not determine, (m, p)."""
    p = back.shape[0]
    m = rows.shape[1] // p
    if rows.shape[0] == 0:
        return np.ones((m, p), dtype=bool)
    values, vectors = np.linalg.eigh((rows.T @ rows).toarray())
    blind = vectors[:, values <= 1e-10 * max(values[-1], 1e-300)].reshape(m, p, -1)
    moved = np.array([np.abs(back @ one).max(axis=1, initial=0.0) for one in blind])
    return moved > 1e-6 * abs(back).sum(axis=1)
