"""Where an array came from (its dtype, and its library where that is not NumPy), so that answers can go back there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config


@dataclass(frozen=True)
class Origin:
    dtype: Any = None  # NumPy's; None: leave as it is
    library: str | None = None  # the array API namespace, by name: models stay picklable
    device: Any = None

    plain: ClassVar[Origin]

    @classmethod
    def of(cls, X: Any) -> Origin:
        """The origin of X: its floating dtype (whole numbers become doubles), and its library under dispatch."""
        if type(X) is np.ndarray:
            return _ORIGINS.get(X.dtype, cls.plain)
        if hasattr(X, "__array_namespace__") and get_config()["array_api_dispatch"]:
            from sklearn.utils._array_api import _find_matching_floating_dtype, get_namespace_and_device

            xp, _, device = get_namespace_and_device(X)
            name = str(_find_matching_floating_dtype(X, xp=xp)).rsplit(".", 1)[-1]
            return cls(np.dtype(name), xp.__name__, device)
        dtype = getattr(X, "dtype", None)
        return _ORIGINS.get(dtype, cls.plain) if isinstance(dtype, np.dtype) else cls.plain

    @property
    def coarse(self) -> bool:
        """Whether answers are rounded to less than doubles."""
        return self.dtype is not None and self.dtype.itemsize < 8

    def send(self, a: np.ndarray) -> Any:
        """An answer or parameter in the dtype and the library of X."""
        if self.dtype is not None and a.dtype != self.dtype:
            a = a.astype(self.dtype)
        return self._leave(a)

    def send_logs(self, logs: np.ndarray) -> Any:
        """Logarithms of probabilities, changed in place: one that rounds to 1 there has the logarithm 0."""
        if self.coarse:
            logs[logs > -np.finfo(self.dtype).eps / 4] = 0.0
        return self.send(logs)

    def send_labels(self, labels: np.ndarray) -> Any:
        """Labels go back too, unless they are strings, which only NumPy holds."""
        return labels if labels.dtype.kind in "OUST" else self._leave(labels)

    def _leave(self, a: np.ndarray) -> Any:
        return a if self._here else importlib.import_module(str(self.library)).asarray(a, device=self.device)

    @property
    def _here(self) -> bool:
        return self.library is None or self.library.endswith("numpy")


def same_library(method: Callable) -> Callable:
    """Refuse X of another array library than the model was fitted with (under scikit-learn's array API dispatch)."""

    @wraps(method)
    def checked(self, X, *args, **kwargs):
        foreign = type(X) is not np.ndarray or not self.__dict__.get("_origin", Origin.plain)._here
        if foreign and self._keeps_kind and get_config()["array_api_dispatch"]:
            from sklearn.utils._array_api import check_same_namespace

            check_same_namespace(X, self, attribute=getattr(self, "_sent", "means_"), method=method.__name__)
        return method(self, X, *args, **kwargs)

    return checked


Origin.plain = Origin()
_ORIGINS = {
    np.dtype(np.float32): Origin(np.dtype(np.float32)),
    np.dtype(np.float64): Origin(np.dtype(np.float64)),
}
