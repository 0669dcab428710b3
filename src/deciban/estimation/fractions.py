"""Likelihoods as quotients of counts, as they are written by hand: θ = numerator / denominator.

`Quotients` has θ of every level of a column, by class. `Factors` has what each cell multiplies p(x | c) by: such a
quotient, to the power of how often it counts, or a density.

>>> import numpy as np
>>> table = Quotients.from_counts(np.array([[2.0, 3.0]]), alpha=1.0)
>>> found = Factors.from_quotients([table], np.array([[1], [-1]]))
>>> found.numerator[0].tolist(), found.denominator[0].tolist(), found.power.tolist()
([[4.0]], [[7.0]], [[1.0], [nan]])
>>> found.terms().round(3).tolist()  # log (4 / 7); a missing cell adds nothing
[[[-0.56]], [[0.0]]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deciban.data.blocks import Codes, Plain


@dataclass(frozen=True)
class Quotients:
    """θ = numerator / denominator of the levels of a column, by class. Where it has parents, there is an entry for each
    combination of their levels and its own, the last varying fastest."""

    count: np.ndarray  # (k, entries), without pseudo-counts
    numerator: np.ndarray  # (k, entries)
    denominator: np.ndarray  # (k, entries)
    names: tuple[str, ...] | None = None  # of the entries; None: these are levels
    parents: tuple[int, ...] = ()  # column numbers
    sizes: tuple[int, ...] = ()  # number of levels of each parent and of the column, where it has parents

    @classmethod
    def from_counts(cls, count: np.ndarray, alpha: float) -> Quotients:
        """(count + alpha) / (sum + alpha · levels) of counts (k, levels); 1 / levels where both are 0."""
        levels = max(count.shape[1], 1)
        whole = np.broadcast_to(count.sum(axis=1, keepdims=True) + alpha * levels, count.shape)
        return cls(count, np.where(whole > 0, count + alpha, 1.0), np.where(whole > 0, whole, float(levels)))

    @classmethod
    def from_table(cls, share: np.ndarray, count: np.ndarray, added: float, parents: tuple[int, ...]) -> Quotients:
        """From θ and counts (k, levels of the parents …, levels), where `added` rows of pseudo-counts are part of the
        denominator."""
        whole = np.broadcast_to(count.sum(axis=-1, keepdims=True) + added, count.shape)
        whole = np.where(whole > 0, whole, 1.0)
        own, numerator, denominator = (table.reshape(len(count), -1) for table in (count, share * whole, whole))
        return cls(own, numerator, denominator, None, parents, count.shape[1:] if parents else ())


@dataclass(frozen=True)
class Factors:
    """A factor for each cell: their product, each to its power, is p(x | c)."""

    log: np.ndarray  # (n, k, m)
    numerator: np.ndarray  # (n, k, m); NaN: the factor is a density, or a probability that is not a quotient of counts
    denominator: np.ndarray  # (n, k, m)
    power: np.ndarray  # (n, m); NaN: the cell has no factor, as it is missing or of a level that no row has
    columns: np.ndarray  # (m,), the column number of each factor
    parents: tuple[tuple[int, ...], ...] = ()  # columns that each column depends on; (): none does
    missingness: np.ndarray | None = None  # (m,), whether a factor is that of a cell being missing or not; None: none

    @classmethod
    def from_quotients(
        cls,
        quotients: Sequence[Quotients],
        entries: np.ndarray,
        power: np.ndarray | None = None,
        logs: np.ndarray | None = None,
    ) -> Factors:
        """From the entry (n, d) of each cell among the quotients of its column, −1 for none. `logs` (n, k, d) are the
        log probabilities of cells without an entry, 0 where there is none either."""
        shape = (len(entries), len(quotients[0].count), len(quotients))
        numerator, denominator = np.full(shape, np.nan), np.full(shape, np.nan)
        for j, one in enumerate(quotients):
            here = np.flatnonzero(entries[:, j] >= 0)
            at = entries[here, j]
            numerator[here, :, j], denominator[here, :, j] = one.numerator.T[at], one.denominator.T[at]
        own = np.where(entries >= 0, 1.0 if power is None else power, np.nan)
        with np.errstate(divide="ignore"):
            log = np.log(numerator) - np.log(denominator)
        if logs is not None:
            other = (entries < 0) & (logs != 0).any(axis=1)
            own, log = np.where(other, 1.0, own), np.where(other[:, None, :], logs, log)
        parents = tuple(one.parents for one in quotients)
        return cls(log, numerator, denominator, own, np.arange(len(quotients)), parents if any(parents) else ())

    @classmethod
    def from_logs(cls, logs: np.ndarray, missing: np.ndarray) -> Factors:
        """From log densities (n, k, d), and which cells (n, d) are missing. Cells of levels that no row has add 0 for
        every class, and have no factor."""
        power = np.where(missing | ~(logs != 0).any(axis=1), np.nan, 1.0)
        nothing = np.full(logs.shape, np.nan)
        return cls(logs, nothing, nothing, power, np.arange(logs.shape[2]))

    def terms(self) -> np.ndarray:
        """Their logarithms times their powers, (n, k, m): 0 where there is no factor."""
        power = np.nan_to_num(self.power)[:, None, :]
        with np.errstate(invalid="ignore"):
            return np.where(power > 0, power * self.log, 0.0)


def missing_cells(x: Plain) -> np.ndarray:
    """Which cells are missing, (n, d)."""
    return np.asarray(x.values) < 0 if isinstance(x, Codes) else np.isnan(x.dense())
