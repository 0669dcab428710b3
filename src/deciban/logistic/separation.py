"""Separation: data for which logistic regression without penalty has no finite estimate.

    complete         there is β with (β_y − β_c)·a > 0 for every row and every class c other than its own
    quasi-complete   ≥ 0 for all of them, > 0 for some (for example a dummy that is 1 in one class only)

The likelihood then increases without bound along β. Three checks, from the cheapest to the most expensive:

1. At a maximum of the likelihood, the probabilities α > 0 of wrong classes satisfy Σ α (e_y − e_c) ⊗ a = 0. By
   Stiemke's lemma such α exist only if nothing separates. So coefficients near a maximum prove that there is no
   separation: α is projected on that equation, and must stay positive (`certified`).
2. One column alone may separate a class from the others: its ranges in the classes are compared
   (`separating_columns`).
3. Linear programmes: the largest number of rows that one β separates strictly, with no row on the wrong side
   (`most_apart`); then the fewest columns that do it, by the least Σ |β| (`sparsest`). (A. Albert and J. Anderson 1984;
   K. Konis 2007.)

>>> import numpy as np
>>> x = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0]], dtype=float)
>>> found = separation(x, np.array([0, 0, 0, 1, 1]))
>>> found.kind, found.columns
('complete', ('x0', 'x1'))
>>> print(separation(np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0, 0, 1, 1])))
no separation: the unpenalised estimate is finite
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.data.frames import column_labels
from deciban.display import format_list, truncate
from deciban.logistic.design import Design, as_block
from deciban.logistic.firth import fisher_scoring
from deciban.logistic.likelihood import check_size, probabilities
from deciban.tallies.basic import Maximum

NEAR = 1e-7  # smaller margins count as 0; columns are between −1 and 1
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 30.0}
QUICK = {"time_limit": 10.0}  # seconds
ROWS = 4_000  # largest number of rows whose Gram matrix is computed


MOST = 20_000_000  # largest number of cells of a linear programme
FEW = 1_000_000  # largest number of cells of one that finds the fewest columns
NARROW = 300  # largest number of coefficients of one that finds the fewest columns
WIDE = 2_000  # largest number of coefficients for which the likelihood is maximised first
ROOM = 0.5  # bound of B c; for separated data it is at least 1, up to rounding
LARGE = 10.0  # margin above which separation is checked
SURE = 1e-3  # largest predicted gain of a step, in nats, for which `certified` is tried


class SeparationWarning(ConvergenceWarning):
    """Warns that the classes are separated, so that the maximum-likelihood coefficients are infinite.

    `LogisticRegression.fit` issues it where there is no penalty.

    See Also
    --------
    LogisticRegression : Log odds linear in the columns.

    Examples
    --------
    >>> import warnings
    >>> from deciban import LogisticRegression
    >>> with warnings.catch_warnings(record=True, action="always") as seen:
    ...     model = LogisticRegression(C=float("inf")).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> seen[0].category.__name__, str(seen[0].message)[:43]
    ('SeparationWarning', 'complete separation: column `x0` alone sepa')
    """


@dataclass(frozen=True, eq=False)
class Separation:
    """What separates the classes, if anything does.

    `columns` are those that separate: each alone if `alone`, else together. `diverging` (m, p): which coefficients
    (differences to the first class, the intercept first) have no finite estimate. `direction` (m, p): the direction in
    which they diverge.
    """

    kind: str  # "none", "quasi-complete", "complete", or "unknown": too large to be decided
    columns: tuple[str, ...] = ()
    alone: bool = False
    rules: tuple[str, ...] = ()  # descriptions of how single columns separate a class
    diverging: np.ndarray | None = None
    direction: np.ndarray | None = None

    def __bool__(self) -> bool:
        return self.kind not in ("none", "unknown")

    def __str__(self) -> str:
        if self.kind == "unknown":
            return "separation is not known: too many rows and columns to settle it"
        if not self:
            return "no separation: the unpenalised estimate is finite"
        who = format_list((truncate(name, 40) for name in self.columns), last=" and ")
        if self.alone:
            who = f"column {who} alone" if len(self.columns) == 1 else f"columns {who}, each alone,"
        elif self.columns:
            who = f"columns {who} together" if len(self.columns) > 1 else f"column {who}"
        else:
            who = "the intercept"
        verb = "separate" if len(self.columns) > 1 else "separates"
        how = f" ({'; '.join(self.rules[:2])})" if self.rules else ""
        return (
            f"{self.kind} separation: {who} {verb} the classes{how}, so coefficients without penalty grow for ever, "
            "and their values and errors say only where the solver stopped\n\n"
            'hint: penalty="jeffreys" (Firth) or an L2 penalty (a finite C) has a finite answer'
        )

    __repr__ = __str__


_NONE, _UNKNOWN = Separation("none"), Separation("unknown")


def separation(
    X: Any,
    y: np.ndarray,
    w: np.ndarray | None = None,
    *,
    fit_intercept: bool = True,
    columns: Sequence[str] | None = None,
    classes: Any = None,
    theta: np.ndarray | None = None,
) -> Separation:
    """The separation of class codes y by the columns of X; rows of weight 0 do not count. `theta` (m, p): coefficients
    of a fit, which may prove the result if there are many columns."""
    x, y = as_block(X), np.asarray(y)
    if w is not None and not np.all(w > 0):
        here = np.flatnonzero(np.asarray(w) > 0)
        x, y = x.take(here), y[here]
    present, codes = np.unique(y, return_inverse=True)
    if len(present) < 2:
        return _NONE
    names = column_labels(x.d) if columns is None else [str(name) for name in columns]
    labels = present if classes is None else np.asarray(classes)[present]
    design = Design.of(x, codes, None, len(present), fit_intercept)
    single = separating_columns(x, codes, len(present), fit_intercept)
    if len(present) == 2 and any(one.strict for one in single):
        single = [one for one in single if one.strict]
    rules = tuple(one.text(names, labels) for one in single)
    alone = tuple(dict.fromkeys(names[one.column] for one in single))
    if len(present) == 2 and single and single[0].strict:
        return Separation("complete", alone, True, rules, np.ones((1, design.p), dtype=bool))
    if single and _size(design) > FEW:  # too large for linear programmes
        return Separation("quasi-complete", alone, True, rules)
    wide = design.m * design.p > WIDE
    overlap, found = (False, _if_separating(design, theta)) if wide or single else _maximise_likelihood(design)
    if overlap:
        return _NONE
    if wide and found is None and independent(design):
        return Separation("complete", tuple(names))
    if found is None and _size(design) > MOST:
        return _UNKNOWN
    return _solve_programmes(design, names, alone, rules, found)


def _maximise_likelihood(design: Design) -> tuple[bool, np.ndarray | None]:
    """(whether a maximum of the likelihood proves that nothing separates, a θ that separates all rows if one is
    found)."""
    overlap, found = False, None

    def watch(theta: np.ndarray, gain: float) -> bool:
        nonlocal overlap, found
        overlap = gain < SURE and certified(design, theta)
        found = theta if not overlap and _least_margin(design, theta) > 0 else None
        return overlap or found is not None or gain < 1e-9

    fisher_scoring(design, jeffreys=False, max_iter=40, watch=watch)
    return overlap, found


def _if_separating(design: Design, theta: np.ndarray | None) -> np.ndarray | None:
    """θ, if it separates all rows; else None."""
    fits = theta is not None and theta.shape == (design.m, design.p)
    return theta if fits and _least_margin(design, np.asarray(theta)) > 0 else None


def _size(design: Design) -> int:
    """Number of cells of the linear programme."""
    return (design.x.cells + design.x.n) * design.m * (1 + (design.m > 1))


def _solve_programmes(
    design: Design,
    names: Sequence[str],
    alone: tuple[str, ...],
    rules: tuple[str, ...],
    found: np.ndarray | None,
) -> Separation:
    """The separation by linear programmes; `found`: coefficients that are known to separate all rows."""
    small, wide = _size(design) <= FEW and design.m * design.p <= NARROW, design.m * design.p > WIDE
    if found is not None and not small:
        return Separation("complete", tuple(names), False, (), np.ones_like(found, dtype=bool), found)
    rows, back = constraints(design)
    direction: np.ndarray = np.empty(0)
    apart, settled = np.ones(rows.shape[0], dtype=bool), True
    if found is None:
        direction, apart, settled = most_apart(rows)
    if not apart.any():
        return _NONE if settled else _UNKNOWN
    if apart.all() and design.m == 1:  # columns that leave rows on the boundary do not explain a complete separation
        alone, rules = (), ()
    direction = (sparsest(rows, apart, design) if small else direction).reshape(design.m, design.p)
    used = np.abs(direction[:, int(design.intercept) :]).max(axis=0)
    together = tuple(name for name, size in zip(names, used, strict=True) if size > NEAR * used.max(initial=0.0))
    kind = "complete" if apart.all() else "quasi-complete"
    diverging = None if wide else unbounded(rows[~apart], back)
    return Separation(kind, alone or together, bool(alone), rules, diverging, direction @ back.T)


def _least_margin(design: Design, theta: np.ndarray) -> float:
    """The least difference between the score of the class of a row and that of another class."""
    standard = design.standard(theta)

    def least(a, y, w):
        scores = np.column_stack([np.zeros(len(a)), a @ standard.T])
        own = np.take_along_axis(scores, y[:, None].astype(np.intp), 1)
        return Maximum(float(np.where(y[:, None] == np.arange(design.k), -np.inf, scores - own).max(initial=-np.inf)))

    return -design.total(least).value


def certified(design: Design, theta: np.ndarray) -> bool:
    """Whether θ (m, p) proves that nothing separates: it is close enough to a finite maximum of the likelihood.

    With B the rows (e_y − e_c) ⊗ a, and α the probabilities of the wrong classes, α (1 − B c) satisfies the equation
    for c = (Bᵀ diag(α) B)⁻¹ Bᵀ α, and is positive if B c < 1. For separated data some row has B c ≥ 1 for every θ.
    """
    check_size(design.m * design.p)
    standard = design.standard(theta)
    k = design.k

    def pulls(a, y, w):
        proba, _ = probabilities(a @ standard.T)
        wrong = np.where(y[:, None] == np.arange(k), 0.0, proba) * w[:, None]
        right = y[:, None] == np.arange(1, k)
        push = right * wrong.sum(axis=1, keepdims=True) - wrong[:, 1:]
        return push.T @ a, _wrong_gram(a, wrong, right)

    push, gram = design.total(pulls)
    size = np.sqrt(np.diag(gram))
    unit = 1.0 / np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(gram * np.outer(unit, unit))
    known = values > 1e-12
    root = (unit[:, None] * vectors[:, known]) / np.sqrt(values[known])
    c = root @ (root.T @ push.ravel())
    blind = (
        vectors[:, ~known] * 1e6
    )  # must not change the score of any row, whose probability would be 1 up to rounding
    turns = np.vstack([c, blind.T, -blind.T]).reshape(-1, design.m, design.p)

    def largest(a, y, w):
        most = 0.0
        for turn in turns:
            scores = np.column_stack([np.zeros(len(a)), a @ turn.T])
            gaps = np.take_along_axis(scores, y[:, None].astype(np.intp), 1) - scores
            most = max(most, float(np.where(w[:, None] > 0, gaps, 0.0).max(initial=0.0)))
        return Maximum(most)

    return design.total(largest).value < ROOM


def _wrong_gram(a: np.ndarray, wrong: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Σ_c α_c ((e_y − e_c) ⊗ a)((e_y − e_c) ⊗ a)ᵀ over the classes except the first, (q, q)."""
    m, p = right.shape[1], a.shape[1]
    out = np.empty((m, p, m, p))
    for b in range(m):
        for c in range(b + 1):
            if b == c:
                share = right[:, b] * wrong.sum(axis=1) + wrong[:, b + 1]
            else:
                share = -(right[:, b] * wrong[:, c + 1] + right[:, c] * wrong[:, b + 1])
            out[b, :, c] = a.T @ (a * share[:, None])
            out[c, :, b] = out[b, :, c].T
    return out.reshape(m * p, m * p)


def large_margins(x: Reals | Counts, y: np.ndarray, coef: np.ndarray, bias: np.ndarray) -> bool:
    """Whether the score of a class is so much larger than all others in a row that separation should be checked."""
    scores = ops.affine(x.rows(0, x.n), np.asarray(coef, dtype=np.float64), np.asarray(bias, dtype=np.float64))
    if scores.shape[1] == 1:
        return bool((np.where(y > 0, 1.0, -1.0) * scores[:, 0]).max() > LARGE)
    own = np.take_along_axis(scores, y[:, None].astype(np.intp), axis=1)[:, 0]
    np.put_along_axis(scores, y[:, None].astype(np.intp), -np.inf, axis=1)
    return bool((own - scores.max(axis=1)).max() > LARGE)


# linear programmes


def constraints(design: Design) -> tuple[Any, Any]:
    """Rows (e_y − e_c) ⊗ a for every row and every class c ≠ y, each different one once, in columns between −1 and 1,
    (N, m p), and the matrix (p, p) from their coefficients to those of the columns themselves.

    >>> rows, back = constraints(Design.of(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1]), None, k=2))
    >>> direction, apart, settled = most_apart(rows)
    >>> apart.tolist()
    [True, True, True, True]
    """
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
    """Whether no row is a linear combination of others: then any classes are separated."""
    if not design.x.n <= min(ROWS, design.p):
        return False
    rows = design.rows(0, design.x.n)
    values = np.linalg.eigvalsh(rows @ rows.T)
    return bool(values[0] > 1e-9 * values[-1])


def most_apart(rows: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """(a β that separates as many rows strictly as possible, with none on the wrong side; which rows; whether the
    programmes were solved).

    Each programme is for the rows that the earlier ones did not separate; the sum of their directions separates all of
    these rows.
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
    """The β of least Σ |β| (without intercepts) that separates these rows, (q,)."""
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
    """Which coefficients of the columns themselves are not determined by the rows that are not separated, (m, p)."""
    p = back.shape[0]
    m = rows.shape[1] // p
    if rows.shape[0] == 0:
        return np.ones((m, p), dtype=bool)
    values, vectors = np.linalg.eigh((rows.T @ rows).toarray())
    blind = vectors[:, values <= 1e-10 * max(values[-1], 1e-300)].reshape(m, p, -1)
    moved = np.array([np.abs(back @ one).max(axis=1, initial=0.0) for one in blind])
    return moved > 1e-6 * abs(back).sum(axis=1)


# single columns


@dataclass(frozen=True)
class SeparatingColumn:
    """A column that alone separates a class from all others: it has no cell on the other side of the cut."""

    column: int
    label: int
    below: bool  # whether the class is below the cut
    cut: float
    strict: bool  # whether no cell equals the cut
    reaches: bool  # whether cells of the class are beyond the cut; else only those of the others are

    def text(self, names: Sequence[str], labels: Any) -> str:
        name, label = truncate(names[self.column], 40), labels[self.label]
        side = "<" if self.below == (self.strict or self.reaches) else ">"
        much = "in every row of {} and no other" if self.strict else "only in {}" if self.reaches else "never in {}"
        return f"{name} {side} {self.cut:.4g} {much.format(label)}"


def separating_columns(x: Reals | Counts, y: np.ndarray, k: int, intercept: bool) -> list[SeparatingColumn]:
    """Columns that alone separate a class from all others, strict ones first.

    >>> x = Reals(np.array([[1.0, 5.0], [2.0, 9.0], [4.0, 7.0]]))
    >>> found = separating_columns(x, np.array([0, 0, 1]), 2, intercept=True)
    >>> [one.text(["dose", "age"], ["no", "yes"]) for one in found]
    ['dose > 3 in every row of yes and no other']
    """
    least, most = _ranges(x, y, k)
    found = []
    for c in range(1 if k == 2 else 0, k):
        others = np.arange(k) != c
        low, high = least[others].min(axis=0), most[others].max(axis=0)
        for below, upper, lower in ((True, most[c], low), (False, high, least[c])):
            cut = upper + (lower - upper) / 2 if intercept else np.zeros(x.d)
            strict = (upper < cut) & (cut < lower)
            reaches = least[c] < cut if below else most[c] > cut
            spread = np.maximum(high, most[c]) > np.minimum(low, least[c])
            for j in np.flatnonzero((upper <= cut) & (cut <= lower) & spread):
                found.append(SeparatingColumn(int(j), c, below, float(cut[j]), bool(strict[j]), bool(reaches[j])))
    return sorted(found, key=lambda one: not one.strict)


def _ranges(x: Reals | Counts, y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest cell of each class and column, (k, d) each."""
    least, most = np.empty((k, x.d)), np.empty((k, x.d))
    for c in range(k):
        rows = x.take(np.flatnonzero(y == c))
        if isinstance(rows, Reals):
            least[c], most[c] = rows.values.min(axis=0), rows.values.max(axis=0)
            continue
        full = np.bincount(rows.column_of(), minlength=x.d) == rows.n  # a column without a single zero
        least[c], most[c] = np.where(full, np.inf, 0.0), np.where(full, -np.inf, 0.0)
        np.minimum.at(least[c], rows.column_of(), rows.stored)
        np.maximum.at(most[c], rows.column_of(), rows.stored)
    return least, most
