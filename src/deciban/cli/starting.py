"""A quick start: scikit-learn and pyarrow import SciPy's statistics and pandas, and rows that come from files need
neither. In the command's own process the first is loaded when first used, the second never.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

LATER, NEVER = "scipy.stats", "pandas"


class Later(ModuleType):
    """Stands for a module until something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class Never:
    """A finder that says of a module that it is not installed."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name == NEVER:
            raise ModuleNotFoundError(f"the command does without {name}", name=name)


def alone() -> bool:
    """Whether this process ends with the command."""
    return Never in sys.meta_path


def lighten() -> None:
    """Spare this process what it will not need. Only for a process that ends with the command."""
    sys.modules.setdefault(LATER, Later(LATER))
    sys.meta_path.insert(0, Never)
