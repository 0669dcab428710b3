"""Class priors that are given, by sequence or by label, or else learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deciban import decision
from deciban.classifiers.scoring import check_priors


class GivenPriors:
    """Mixin: needs `priors` (None: the classes' shares of the rows) and `classes_`."""

    priors: Any
    classes_: np.ndarray
    _check_is_fitted: Callable[[], Any]
    _view: Callable[[np.ndarray], np.ndarray]

    @property
    def class_prior_(self) -> np.ndarray:
        return self._view(np.exp(self._check_is_fitted().log_prior))

    def _check_settings(self) -> None:
        if self.priors is not None:
            check_priors(self.priors, self.classes_)

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return decision.log_prior(n)
        with np.errstate(divide="ignore"):
            return np.log(check_priors(self.priors, self.classes_))
