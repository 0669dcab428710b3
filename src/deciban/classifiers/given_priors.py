"""Class priors that are given, by sequence or by label, or else learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import decision
from deciban.classifiers.scoring import check_priors


class GivenPriors:
    """Mixin: needs `priors` (None: the classes' shares of the rows) and `classes_`."""

    priors: Any
    classes_: np.ndarray

    def _check_settings(self) -> None:
        if self.priors is not None:
            check_priors(self.priors, self.classes_)

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return decision.log_prior(n)
        with np.errstate(divide="ignore"):
            return np.log(check_priors(self.priors, self.classes_))
