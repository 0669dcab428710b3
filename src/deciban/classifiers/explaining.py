"""Evidence by column: what `explain` and the nomogram ask of a fitted classifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deciban import frames, ingest, ops
from deciban.classifiers.grids import grid
from deciban.errors import DataError
from deciban.explanation import Explanation
from deciban.frames import shown_names
from deciban.gaussian.joint import parts_by_pattern
from deciban.table import Block, Codes, Mixed, Reals
from deciban.wording import cell_text

MOST = 1 << 28  # numbers that an explanation may hold: rows × classes × columns
TOGETHER = "(all columns together)"


class Explaining:
    """Mixin: needs what `Scoring` needs, and its `_prior`."""

    classes_: np.ndarray
    n_features_in_: int
    _reads: str
    _anchored = True  # evidence of a cell is what it is: no other cell is needed to count from
    _check_is_fitted: Callable[[], Any]
    _check_scored: Callable[[Block, Block], None]
    _features: Callable[[Any], Block]
    _prior: Callable[..., np.ndarray]

    def explain(self, X, *, of=None, against=None, priors=None) -> Explanation:
        """Evidence for `of` (by default each row's most probable class) against another class (by default the most
        probable one beside it), by column and in decibans: prior + columns = log odds. Labels may differ by row: pass
        one for each.

        Where columns interact (QDA, RDA, Fisher of more than two classes) there is one part for all of them. In LDA
        columns share a covariance, and a column speaks for a class by its coefficient times its distance from half-way
        between the overall mean and the class's; with two classes, a cell half-way between their means says nothing.
        """
        base, parts, columns, values = self._evidence(X, priors)
        note = "" if self._parted() else f"columns of this {type(self).__name__} interact: none has a part of its own"
        return Explanation.of_parts(self.classes_, columns, values, base, parts, of, against, note, **context(self, X))

    # hooks

    def _evidence(self, X, priors=None) -> tuple[np.ndarray, np.ndarray, list[str], np.ndarray]:
        """(log prior (k,), log likelihoods by column (n, k, d), column names, cells (n, d); NaN or None is missing).

        Where columns cannot be split, d is 1. Their sum is the log joint, up to a term that all classes share.
        """
        fitted = self._check_is_fitted()
        x = X if isinstance(X, Block) else self._features(X)
        check_size(x.n, len(self.classes_), x.d)
        x = x.rows(0, x.n)
        self._check_scored(x, x)
        with np.errstate(all="ignore"):
            split = _by_column(fitted.family, fitted.params, x) if self._parted() else None
            parts = fitted.family.loglik(fitted.params, x)[:, :, None] if split is None else split
        if not ops.whole(parts) and ingest.infinite(x):
            ingest.refuse(x, self.__dict__.get("feature_names_in_"))
        prior, cells = self._prior(fitted, priors), self._cells(X, x)
        if fitted.weights is not None:
            parts, prior = fitted.said.parts(x) * fitted.weights.table, prior + fitted.weights.bias
        if fitted.calibration is not None:  # temperature · parts, and the bias is known before any column has spoken
            parts, prior = parts * fitted.calibration.temperature, prior + fitted.calibration.bias
        if split is None:
            return prior, parts, [TOGETHER], _joined(cells)
        return prior, parts, self._column_names(), cells

    def _cells(self, X, x: Block) -> np.ndarray:
        """The cells (n, d) as people know them, from X or from what was read of it; NaN or None is missing."""
        if isinstance(x, Codes):
            return np.where(x.values < 0, np.nan, x.values.astype(np.float64))
        assert not isinstance(x, Mixed)
        return x.dense()

    def _candidates(self) -> Any:
        """For each column the values that its scale in a nomogram is drawn at: numbers (floats) from the least to the
        largest, or levels of any type; None: the model does not know."""
        fitted = self._check_is_fitted()
        return grid(fitted.family, fitted.params, len(self.classes_))

    def _rows_of(self, columns: list[np.ndarray]) -> Block:
        """Columns of candidates, all of one length, as a block, which `_evidence` takes too."""
        cells = np.column_stack(columns)
        return Codes(cells) if self._reads == "codes" else Reals(cells)

    # inside

    def _parted(self) -> bool:
        """Whether each column of a row has a part of its own in the evidence."""
        return self._splits()

    def _splits(self) -> bool:
        """Whether that part is the same whatever the other columns hold, so that it can be drawn as a scale."""
        fitted = self._check_is_fitted()
        return hasattr(fitted.family, "parts") or getattr(fitted.params, "splits", False) or self.n_features_in_ == 1

    def _column_names(self) -> list[str]:
        return shown_names(self)


def context(model: Any, X: Any) -> dict[str, Any]:
    """What an explanation says beside numbers: labels of the rows, name of the target, library of the frame."""
    library = frames.library(X) if not isinstance(X, Block | np.ndarray) and frames.is_frame(X) else None
    return {"rows": frames.row_labels(X), "target": model.__dict__.get("target_name_", ""), "library": library}


def check_size(n: int, k: int, d: int) -> None:
    """Whether an explanation of so many rows, classes and columns fits."""
    size = n * k * d
    if size > MOST:
        raise DataError(
            f"an explanation of {n} rows × {k} classes × {d} columns is {size:.1g} numbers\n\n"
            f"hint: explain fewer rows at a time, {max(1, MOST * n // size)} at most"
        )


def _by_column(family: Any, params: Any, x: Any) -> np.ndarray:
    if hasattr(family, "parts"):
        return family.parts(params, x)
    if getattr(params, "splits", False):
        return parts_by_pattern(x, params)
    return family.loglik(params, x)[:, :, None]  # of one column


def _joined(cells: np.ndarray) -> np.ndarray:
    """The cells of each row as one text; None where all of them are missing."""
    texts = [", ".join(cell_text(cell) for cell in row[:3]) + ", …" * (len(row) > 3) for row in cells]
    out = np.array([*texts, None], dtype=object)[:-1]
    out[np.isnan(cells).all(axis=1)] = None
    return out[:, None]
