"""One file per class-conditional density p(x | class). A file in this folder that names a `FAMILY` is found by looking.

`Family` says what a density may be asked. Folders that are appended to `__path__` are looked through too.

>>> sorted(find())[:3]
['aode', 'bernoulli', 'categorical']

The families in words: what each is, and what a column must hold for it.

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
    """Every family here, by the name of its file."""
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
    "codes": "for words",
}


def list_families() -> dict[str, str]:
    """Each density of a column that `families=` of `MixedNB` takes, by name, in a few words.

    >>> sorted(list_families())[:2]
    ['bernoulli', 'categorical']
    """
    return {name: _words(family) for name, family in find().items() if family.columnwise}


def _words(family: Any) -> str:
    text = (sys.modules[family.__module__].__doc__ or "").split(".\n")[0].split(": log p")[0].split(":")[0]
    what = " ".join(text.split())
    block, support = (_plain(family, name) for name in ("block", "support"))
    holds = SUPPORT_TEXT["codes"] if block == "codes" else SUPPORT_TEXT.get(support, f"for {support} cells")
    return f"{what[0].lower()}{what[1:]}; {holds}"


def _plain(family: Any, name: str) -> Any:
    """What a family has by that name with default settings."""
    return getattr(family() if isinstance(getattr(family, name), property) else family, name)
