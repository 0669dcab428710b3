"""Class priors that are given, by sequence, by label or as "uniform", or else learned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from deciban import decision
from deciban.decision import check_priors

PRIORS = ["array-like", Mapping, StrOptions({"uniform"}), None]  # what the setting may be


class GivenPriors:
    """Mixin: needs `priors` (None: the classes' shares of the rows) and `classes_`."""

    priors: Any
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

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return decision.log_prior(n)
        with np.errstate(divide="ignore"):
            return np.log(check_priors(self.priors, self.classes_))
