"""Settings of hypothesis, and rows for the laws: tables that a family takes, in every form its block may come in.

What a family takes follows from its `support` and `block`, so a new family file needs no entry here.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from scipy import sparse

from deciban.data.blocks import Block, Codes, ColumnBlock, Counts, Reals, Table
from deciban.families import Family, find

USUAL = 20  # examples of a law
EXAMPLES = int(os.environ.get("DECIBAN_EXAMPLES", USUAL))  # fewer in `make test-fast`
LAWS = settings(  # the same examples on every run: a law that fails in CI fails at home
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)


def examples(n: int) -> settings:
    """n examples, where a law usually has 20."""
    return settings(LAWS, max_examples=math.ceil(n * EXAMPLES / USUAL))


# support → (cells, as kernels of any dtype hold them exactly; what stands for a missing one)
SUPPORTS: dict[str, tuple[st.SearchStrategy, float]] = {
    "real": (st.floats(-100, 100, width=32), np.nan),
    "positive": (st.floats(2**-10, 100, width=32), np.nan),
    "nonnegative": (st.floats(0, 100, width=32), np.nan),
    "count": (st.integers(0, 9), np.nan),
    "level": (st.integers(0, 4), -1),
}
# settings worth a law of their own, beside the defaults; a family may be absent
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "aode": [{"strength": 0.0}],
    "bernoulli": [{"above": 0.5}],
    "complement": [{"norm": True}],
    "exponential": [{"shape": 0.0}, {"mean": 2.0}],
    "fisher": [{"within": 1}, {"exact": True}],
    "gaussian": [{"ddof": 1.0}],
    "student": [{"mean": 0.5, "kappa": 2.0, "shape": 3.0, "scale": 1.5}],
    "gaussian_joint": [
        {"blend": 1.0},
        {"blend": 0.5},
        {"shrinkage": "auto"},
        {"exact": True},
        {"blend": 1.0, "exact": True},
    ],
    "kdb": [{"most": 2, "strength": 1.0}],
    "tree": [{"strength": 0.0}, {"strength": 2.0, "alpha": 0.5}],
    "gaussian_joint_bayes": [{"blend": 1.0}, {"blend": 0.5}, {"exact": True}],
}


def backwards(x: np.ndarray) -> np.ndarray:
    """The same cells in memory that is read from its end."""
    return x[::-1, ::-1].copy()[::-1, ::-1]


def strided(x: np.ndarray) -> np.ndarray:
    """The same cells as every second row and every third column of something larger."""
    out = np.full((2 * x.shape[0], 3 * x.shape[1]), 77, dtype=x.dtype)
    out[::2, ::3] = x
    return out[::2, ::3]


def readonly(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.setflags(write=False)
    return x


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": strided,
    "backwards": backwards,
    "readonly": readonly,
}


@dataclass(frozen=True)
class Form:
    """How cells lie in memory: dtype and layout, or the index type of sparse rows."""

    block: type
    dtype: str
    layout: str

    def __call__(self, cells: np.ndarray) -> Block:
        cells = np.asarray(cells, dtype=self.dtype)
        if self.block is ColumnBlock:
            return ColumnBlock([readonly(column.copy()) for column in cells.T])
        return counts(cells, self.layout) if self.block is Counts else self.block(LAYOUTS[self.layout](cells))

    def __str__(self) -> str:
        return f"{self.block.__name__}-{self.dtype}-{self.layout}"


def counts(cells: np.ndarray, index: str = "int32") -> Counts:
    """Sparse rows in the middle of larger arrays, as a run of rows of a larger matrix is; some zeros are stored."""
    here = cells != 0  # NaN is not 0
    here[:, ::3] = True
    rows, columns = np.nonzero(here)
    ends = np.cumsum(np.bincount(rows, minlength=len(cells)))
    indptr = 2 + np.concatenate([[0], ends])
    indices = np.concatenate([[0, 0], columns, [0]])
    values = np.concatenate([[55, 55], cells[rows, columns], [55]])
    return Counts(indptr.astype(index), indices.astype(index), values.astype(cells.dtype), cells.shape[1])


def csr(cells: np.ndarray, index: str = "int32") -> sparse.csr_array:
    """What a user would pass for the same rows."""
    out = sparse.csr_array(cells)
    out.indptr, out.indices = out.indptr.astype(index), out.indices.astype(index)
    return out


DENSE = [Form(Reals, dtype, layout) for dtype in ("float64", "float32") for layout in LAYOUTS]
DENSE += [Form(ColumnBlock, dtype, "columns") for dtype in ("float64", "float32")]
SPARSE = [Form(Counts, dtype, index) for dtype in ("float64", "float32") for index in ("int32", "int64")]
CODES = [Form(Codes, dtype, layout) for dtype in ("int64", "int32") for layout in LAYOUTS]
BLOCKS = {"reals": DENSE + SPARSE, "counts": DENSE + SPARSE, "dense": DENSE, "codes": CODES}


def forms(family: Any) -> list[Form]:
    """Every form of the family's block, the plainest first."""
    return _known(BLOCKS, family, "block")


def each_form(family: Any) -> Iterator[Form]:
    """The forms one by one; the last that a failing example tells of is the one that failed."""
    return _noted(forms(family))


def some_forms(family: Any, data: Any) -> Iterator[Form]:
    """The plainest form and two others, drawn for this example: a law meets every form in 20 examples, and that forms
    give the same tallies is a law of its own."""
    plainest, *others = forms(family)
    first = data.draw(st.integers(0, len(others) - 1))
    return _noted([plainest, others[first], others[(first + len(others) // 2) % len(others)]])


def _noted(chosen: list[Form]) -> Iterator[Form]:
    for form in chosen:
        note(f"form: {form}")
        yield form


def _known(table: dict, family: Any, what: str) -> Any:
    name = getattr(family, what, None)
    if name not in table:
        pytest.fail(
            f"family `{type(family).__name__}` has {what} {name!r}, and no law knows what rows that takes\n\n"
            f"hint: use one of {sorted(table)}, or add {name!r} to tests/support/strategies.py"
        )
    return table[name]


def has(family: Any, name: str) -> bool:
    """Whether a family has a method of its own by that name, not the default."""
    return getattr(type(family), name) is not getattr(Family, name)


def with_carrier(family: Any, params: Any, x: Any) -> np.ndarray:
    """log p(x | c), (n, k), with the term that all classes share."""
    scores, common = family.loglik(params, x), family.carrier(params, x)
    return scores if common is None else scores + common[:, None]


def families(*, density: bool | None = None, having: str | None = None) -> list:
    """pytest's parameters: every family that is found, with its defaults and with the settings above."""
    out = []
    for name, family in find().items():
        for chosen in [{}, *SETTINGS.get(name, [])]:
            made = family(**chosen)
            if density is not None and made.density is not density:
                continue
            if having is None or has(made, having):
                out.append(pytest.param(made, id="-".join([name, *(f"{k}={v}" for k, v in chosen.items())])))
    return out


@dataclass(frozen=True)
class Rows:
    """Cells as plain doubles (levels as whole numbers), classes, weights."""

    cells: np.ndarray  # (n, d)
    y: np.ndarray  # (n,)
    w: np.ndarray | None
    k: int

    @property
    def n(self) -> int:
        return len(self.cells)

    def take(self, index: Any) -> Rows:
        return replace(self, cells=self.cells[index], y=self.y[index], w=None if self.w is None else self.w[index])

    def table(self, form: Form) -> Table:
        return Table(form(self.cells), self.y, self.w, self.k)


def holding(rows: Rows, forms: list[Form]) -> list[Form]:
    """The forms that can hold the cells."""
    large = np.abs(rows.cells[~np.isnan(rows.cells)]).max(initial=0.0) > 1e30
    return [form for form in forms if not (large and form.dtype == "float32")]


def tally(family: Any, rows: Rows, form: Form) -> Any:
    return family.tally(form(rows.cells), rows.y, rows.w, rows.k)


@st.composite
def some_rows(
    draw: Any, family: Any, *, missing: bool = True, weighed: bool = True, least: int = 0, most: int = 14
) -> Rows:
    """A few rows: values from a small pool (so that columns repeat and stay constant), arranged by a seed."""
    cell, gone = _known(SUPPORTS, family, "support")
    pool = draw(st.lists(cell, min_size=1, max_size=8))
    n, d, k = draw(st.integers(least, most)), draw(st.integers(1, 10)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    dtype = np.int64 if gone == -1 else np.float64
    cells = rng.choice(np.array(pool, dtype=dtype), size=(n, d))
    if missing and draw(st.booleans()):
        cells[rng.random((n, d)) < 0.2] = gone
    w = rng.choice([0.0, 0.5, 1.0, 2.0, 3.25], size=n) if weighed and draw(st.booleans()) else None
    return Rows(cells, rng.integers(0, k, n).astype(np.int32), w, k)


def plain_rows(family: Any, *, n: int = 60, d: int = 3, k: int = 3, seed: int = 0) -> Rows:
    """Well-behaved rows: every class there, no cell missing, columns and classes of their own; exact in float32."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k).astype(np.int32)
    shift = rng.uniform(-1, 1, (k, d))[y]
    noise = rng.normal(size=(n, d))
    make = {
        "real": lambda: np.float32(shift + noise * np.linspace(0.6, 1.4, d)).astype(np.float64),
        "positive": lambda: np.float32(np.exp(shift + noise * np.linspace(0.6, 1.4, d))).astype(np.float64),
        "nonnegative": lambda: np.float32(np.abs(noise) * np.exp(shift)).astype(np.float64),
        "count": lambda: rng.poisson(2 + shift).astype(np.float64),
        "level": lambda: np.clip(np.rint(shift + noise), -1, 1).astype(np.int64) + 1,
    }
    return Rows(_known(make, family, "support")(), y, None, k)
