"""Class priors that are given, by sequence, by label or as "uniform", or else learned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from deciban import decision
from deciban.decision import check_priors
from deciban.errors import DataError

PRIORS = ["array-like", Mapping, StrOptions({"uniform"}), None]  # what the setting may be
CLASS_WEIGHT: dict[str, list] = {"class_weight": [StrOptions({"balanced"}), Mapping, None]}


class GivenPriors:
    """Mixin: needs `priors` (None: the classes' shares of the rows) and `classes_`."""

    priors: Any
    class_weight: Any = None
    classes_: np.ndarray
    _check_is_fitted: Callable[[], Any]
    _view: Callable[[np.ndarray], np.ndarray]

    @property
    def class_prior_(self) -> np.ndarray:
        """Prior probability of each class, (k,)."""
        return self._view(np.exp(self._check_is_fitted().log_prior))

    def _check_settings(self) -> None:
        if self.priors is not None:
            check_priors(self.priors, self.classes_)
        if self.class_weight is None:
            return
        if self.priors is not None:
            raise DataError("`priors` and `class_weight` both set the class priors\n\nhint: give one of them")
        if isinstance(self.class_weight, Mapping):
            known = self.classes_.tolist()
            unknown = [label for label in self.class_weight if label not in known]
            if unknown:
                raise DataError(
                    f"class_weight names {unknown[0]!r}, but the classes are {known}\n\nhint: name classes of y"
                )
            bad = [w for w in self.class_weight.values() if not (isinstance(w, Real) and 0 < float(w) < np.inf)]
            if bad:
                raise DataError(f"class_weight has {bad[0]!r}, but weights are numbers > 0\n\nhint: 1 changes nothing")

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self.priors is None and self.class_weight is None:
            return decision.log_prior(n)
        if self.priors is None:
            return decision.log_prior(n * self._class_weights(n))
        with np.errstate(divide="ignore"):
            return np.log(check_priors(self.priors, self.classes_))

    def _class_weights(self, n: np.ndarray) -> np.ndarray:
        """What the weight n of each class is multiplied by, (k,)."""
        if isinstance(self.class_weight, Mapping):
            return np.array([float(self.class_weight.get(label, 1.0)) for label in self.classes_.tolist()])
        return np.divide(n.sum(), len(n) * n, out=np.zeros(len(n)), where=n > 0)
