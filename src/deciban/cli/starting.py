"""Faster start of the command: scikit-learn and pyarrow import scipy.stats and pandas, which rows of files do not need.
In the command's own process the first is imported on first use, the second never.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

LATER, NEVER = "scipy.stats", "pandas"


class Later(ModuleType):
    """A placeholder that imports its module on first attribute access."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class Never:
    """An import finder that hides a module."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name == NEVER:
            raise ModuleNotFoundError(f"the command does without {name}", name=name)


def alone() -> bool:
    """Whether this process ends with the command."""
    return Never in sys.meta_path


def lighten() -> None:
    """Avoid slow imports. Only for a process that ends with the command."""
    sys.modules.setdefault(LATER, Later(LATER))
    sys.meta_path.insert(0, Never)
