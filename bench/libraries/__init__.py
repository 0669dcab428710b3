"""One file per library of the quality tables: a module with `NAME` and `make(numeric, nominal)`.

`make` gives an unfitted classifier for frames with these columns: numbers, and strings; both may have missing
cells. A module whose results may be cached (a baseline) lists the packages that they depend on in `VERSIONS`.
A new file here is compared without being named anywhere else.
"""

import inspect
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules
from typing import Any, Protocol

OURS = "deciban"
REFERENCE = "naive Bayes"  # the required margins are against this one
FIRST = (
    OURS,
    "deciban, default",
    REFERENCE,
    "logistic",
    "boosting",
)  # in this order in the tables; others follow by name


class Library(Protocol):
    NAME: str

    def make(self, numeric: Sequence[str], nominal: Sequence[str]) -> Any: ...


def found() -> dict[str, Library]:
    """All modules whose packages are installed, in the order of the tables."""
    modules = {}
    for module in iter_modules(__path__, prefix=f"{__name__}."):
        try:
            library = import_module(module.name)
        except ImportError as error:
            print(f"skipped {module.name}: {error}", file=sys.stderr)
        else:
            modules[library.NAME] = library
    return {name: modules[name] for name in ordered(modules)}  # type: ignore[misc]


def ordered(names: Any) -> list[str]:
    """
    >>> ordered(["other", "boosting", "deciban"])
    ['deciban', 'boosting', 'other']
    """
    return sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))


def identity(library: Library) -> str | None:
    """What its results depend on in addition to the data: its file and its packages; None if they are not cached."""
    packages = getattr(library, "VERSIONS", None)
    if packages is None:
        return None
    return "\n".join([inspect.getsource(library), *(f"{name} {version(name)}" for name in packages)])  # type: ignore[arg-type]
