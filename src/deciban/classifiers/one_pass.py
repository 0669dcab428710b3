"""Models that are sums over rows, learned from data of any size in one pass.

A copy of the model without state goes to wherever the rows are, makes a `Part` of each batch, and the engine adds the
parts up; the sum is the state. Classes and levels are found on the way.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from deciban.classifiers.origin import Origin
from deciban.classifiers.parts import Part, Reading, rows_of
from deciban.errors import DataError, NotAdditiveError
from deciban.table import Block, Codes, Table

BY_CLASS = ("priors", "class_prior", "n_components")  # settings that make sense only where all classes are known


class OnePass:
    """Mixin of the generative classifiers: needs `_tally`, `_set`, `_check_settings` and the like."""

    classes_: np.ndarray
    feature_names_in_: np.ndarray
    n_features_in_: int
    _reads: str
    _origin: Origin
    _picked: dict
    _tally: Callable[[Table], Any]
    _set: Callable[..., None]
    _check_settings: Callable[[], None]
    _check_fitted: Callable[[], None]
    _check_updatable: Callable[[], None]
    get_params: Callable[..., dict]

    def _learn_on(self, job: Any) -> None:
        """Learn from all rows that the job goes through."""
        part = job.sum_of_parts(self._bare(job.reading))
        self._name_columns(job.reading)
        self._take_part(part.ordered())

    def _bare(self, reading: Reading) -> Self:
        """A copy that can tally rows of any classes."""
        out: Any = clone(self)
        try:
            out._check_updatable()
        except NotAdditiveError as wrong:
            cannot = "`fit_on`, which goes through them once, cannot"
            raise NotAdditiveError(str(wrong).replace("no update, merge or forgetting", cannot)) from None
        for name in BY_CLASS:
            if name in out.get_params(deep=False):
                setattr(out, name, None)
        out._name_columns(reading)
        out.classes_ = np.arange(2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is worth telling is told of the model itself
            out._check_settings()
        return out

    def _name_columns(self, reading: Reading) -> None:
        self.feature_names_in_ = np.array(reading.features, dtype=object)
        self.n_features_in_ = len(reading.features)
        self._picked = {}

    def _readable(self, rows: Any, columns: Sequence[str]) -> Block:
        """Those columns of Arrow rows, as they are scored."""
        from deciban.files import cells

        if self._reads == "codes":
            return Codes(cells.codes(rows, columns), floor=0)
        return cells.numbers(rows, columns)

    def _part(self, batch: Any, reading: Reading) -> Part:
        """What the rows of a batch contribute."""
        classes, y = reading.labels(batch)
        w = reading.weights(batch)
        table = Table(self._readable(batch, reading.features), y, w, len(classes))
        return Part(classes, rows_of(table), self._tally(table))

    def _take_part(self, part: Part) -> None:
        """Become the model of all rows."""
        if part.tally is None or not part.rows.any():
            raise DataError(
                "there are no rows to learn from\n\n"
                "hint: see whether the data have rows, and whether some of them have a weight above 0"
            )
        self.classes_ = part.classes
        self._origin = Origin.plain
        self._check_settings()
        if hasattr(self, "_check_rows"):
            self._check_rows(part.rows)
        self._set(part.tally)
        self._check_fitted()
