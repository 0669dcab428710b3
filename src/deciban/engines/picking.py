"""Which engine goes through some data: the one that takes data of that type, or the one that was asked for.

>>> of("rows.parquet").__name__
'deciban.engines.stream'
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any

from deciban import engines
from deciban.errors import DataError

LAST = "stream"  # takes all that others do not


def known() -> dict[str, ModuleType]:
    """All engines of data, by name."""
    names = sorted((one.name for one in pkgutil.iter_modules(engines.__path__)), key=lambda name: (name == LAST, name))
    found = {name: import_module(f"deciban.engines.{name}") for name in names}
    return {name: engine for name, engine in found.items() if hasattr(engine, "takes")}


def of(data: Any, engine: Any = None) -> ModuleType:
    """The engine, by the type of the data, by name, or itself."""
    if isinstance(engine, ModuleType):
        return engine
    if engine is not None:
        if engine not in known():
            raise DataError(f"there is no engine {engine!r}\n\nhint: the engines are {', '.join(known())}")
        return known()[engine]
    for found in known().values():
        if found.takes(data):
            return found
    raise DataError(
        f"{type(data).__module__}.{type(data).__name__} is nothing that an engine can go through\n\n"
        "hint: give a path, a folder, a glob, an Arrow dataset or reader, a frame, an iterator of frames, or a Dask or "
        "Spark DataFrame; what is a NumPy array goes to `fit`"
    )
