"""Digests of rows by content, added up column by column: rows with equal cells have equal sums, modulo 2^64.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> out = np.zeros(3, dtype=np.uint64)
>>> add_digests(Reals(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]])), np.array([3, 5], dtype=np.uint64), out)
>>> bool(out[0] == out[2]), bool(out[0] == out[1])
(True, False)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deciban import ops
from deciban.data.blocks import Codes, Counts, Plain
from deciban.ops import spec


def add_digests(x: Plain, factor: np.ndarray, out: np.ndarray) -> None:
    """out[i] += Σ_j key(x[i, j]) · factor[j]. Codes count as numbers, negative ones as missing cells."""
    core = ops.core()
    if core is None:
        spec.add_digests(x, factor, out)
    elif isinstance(x, Counts):
        core.csr_digest_cells(*ops.csr(x), factor, out)
    elif isinstance(x, Codes):
        core.digest_codes(x.values, factor, out)
    else:
        core.digest_cells(x.held, factor, out)


def add_level_digests(x: Codes, tables: Sequence[np.ndarray], out: np.ndarray) -> None:
    """out[i] += Σ_j tables[j][x[i, j]]; the last entry of a table is for missing cells and codes without an entry."""
    core = ops.core()
    if core is None:
        spec.add_level_digests(x, tables, out)
    else:
        offset = np.cumsum([0, *map(len, tables)], dtype=np.int64)
        core.digest_levels(x.values, offset, np.concatenate([*tables, np.zeros(0, dtype=np.uint64)]), out)


def stirred(digest: np.ndarray) -> np.ndarray:
    """The digests (n,) with every bit depending on every bit, for `%` and for the least of them; a bijection."""
    core = ops.core()
    if core is None:
        return spec.stirred(digest)
    out = np.empty(digest.shape, dtype=np.uint64)
    core.stir(np.ascontiguousarray(digest), out)
    return out
