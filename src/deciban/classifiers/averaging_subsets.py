"""Naive Bayes averaged over all subsets of its columns: `average="subsets"` (see `deciban.subsets.averaging`).

>>> import numpy as np
>>> from deciban import MixedNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 100)
>>> X = np.column_stack([rng.normal(size=200) + (y == "b"), rng.normal(size=200)])  # a column, and noise
>>> MixedNB(average="subsets").fit(X, y).inclusion_.round(2).tolist()
[1.0, 0.11]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from deciban.errors import DataError
from deciban.product import Product
from deciban.schema import Schema
from deciban.subsets.averaging import Subsets

CONSTRAINTS: dict[str, list] = {
    "average": [None, StrOptions({"subsets"})],
    "inclusion": [Interval(Real, 0, 1, closed="both"), Mapping],
}


class AveragingSubsets:
    """Mixin of `MixedNB`: needs `_schema`."""

    average: str | None
    inclusion: Any
    missing: str
    _schema: Schema
    _check_is_fitted: Callable[[], Any]

    @property
    def inclusion_(self) -> np.ndarray:
        """The posterior probability that each column matters, that is, depends on the class. (d,)"""
        fitted = self._check_is_fitted()
        if not isinstance(fitted.family, Subsets):
            raise AttributeError("this model has no posterior over its columns\n\nhint: fit with average='subsets'")
        return np.exp(fitted.params.log_in)

    def _averaged(self, product: Product) -> Product | Subsets:
        """The family of the model, from that of its columns."""
        if self.average is None:
            return product
        if isinstance(self.inclusion, Mapping):
            prior = tuple(float(self.inclusion.get(name, 0.5)) for name in self._schema.names)
        else:
            prior = (float(self.inclusion),) * len(self._schema.fields)
        return Subsets(product, prior)

    def _columns_of(self, fitted: Any) -> tuple[Product, tuple]:
        """(families, parameters) of the columns, by class."""
        if isinstance(fitted.family, Subsets):
            return fitted.family.product, fitted.params.own
        return fitted.family, fitted.params

    def _check_settings(self) -> None:
        super()._check_settings()  # type: ignore[misc]
        if self.average is None:
            return
        if self.missing == "average":
            raise DataError(
                "missing='average' makes rows of levels that are not there, which averaging over subsets knows nothing "
                "of\n\nhint: with average='subsets' use missing='ignore' or 'informative'"
            )
        if isinstance(self.inclusion, Mapping) and hasattr(self, "_schema"):
            strange = [name for name in self.inclusion if name not in self._schema.names]
            if strange:
                raise DataError(
                    f"inclusion names {strange}, but the columns are {self._schema.names}\n\n"
                    "hint: name columns as X has them, by number (0, 1, …) if X is an array"
                )
            bad = {name: p for name, p in self.inclusion.items() if not (isinstance(p, Real) and 0 <= float(p) <= 1)}
            if bad:
                raise DataError(f"inclusion has {bad}\n\nhint: give probabilities, 0 … 1")
