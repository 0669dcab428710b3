"""Class-conditional densities p(x | class), one per file, and the registry that finds them.

Every module of this folder that defines `FAMILY` is registered under the name of its file; folders appended to
`__path__` are searched too. `Family` is the protocol that a density implements.

>>> sorted(find())[:3]
['aode', 'bernoulli', 'categorical']

`list_families` describes each density and the values that a column must hold for it.

>>> list_families()["poisson"]
'event counts; for whole numbers ≥ 0'
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import cache
from typing import Any

from deciban.estimation.family import Family

__all__ = ["Family", "find", "list_families"]


def find() -> dict[str, type[Family]]:
    """Every registered family, by the name of its file."""
    return _find(tuple(__path__))


@cache
def _find(folders: tuple[str, ...]) -> dict[str, type[Family]]:
    names = sorted(module.name for module in pkgutil.iter_modules(folders))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: module.FAMILY for name, module in modules.items() if "FAMILY" in vars(module)}


SUPPORT_TEXT = {
    "real": "for any numbers",
    "count": "for whole numbers ≥ 0",
    "positive": "for numbers > 0",
    "nonnegative": "for numbers ≥ 0",
    "codes": "for categories",
}


def list_families() -> dict[str, str]:
    """Describe the densities that `families=` of `MixedNB` accepts for a column.

    Returns
    -------
    dict of str to str
        Name of each density, as `families=` takes it, and a short description: what it models and which values a
        column must hold for it. Densities of several columns together are not listed.

    See Also
    --------
    MixedNB : A density for each column of a table of any type.

    Examples
    --------
    >>> import deciban
    >>> sorted(deciban.list_families())[:2]
    ['bernoulli', 'categorical']
    >>> deciban.list_families()["poisson"]
    'event counts; for whole numbers ≥ 0'
    """
    return {name: _describe(family) for name, family in find().items() if family.columnwise}


def _describe(family: Any) -> str:
    """First phrase of the module docstring of a family, and the values that it is for."""
    text = (sys.modules[family.__module__].__doc__ or "").split(".\n")[0].split(": log p")[0].split(":")[0]
    what = " ".join(text.split())
    block, support = (_default(family, name) for name in ("block", "support"))
    holds = SUPPORT_TEXT["codes"] if block == "codes" else SUPPORT_TEXT.get(support, f"for {support} cells")
    return f"{what[0].lower()}{what[1:]}; {holds}"


def _default(family: Any, name: str) -> Any:
    """Value of an attribute of a family with default settings."""
    return getattr(family() if isinstance(getattr(family, name), property) else family, name)
