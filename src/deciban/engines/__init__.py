"""Engines add tallies and are independent of models. The engine of chunks in memory (`threads`) has

    total(chunks, f)              Σ f(chunk), in the order of the chunks

and an engine of data of any size (`stream`, `dask`, `spark`; `engine_for` finds the one that takes some data) has

    takes(data) → bool            by type, importing nothing
    ready(data)                   the data, so that names, types and rows can be asked for; refuses what it cannot read
    names(data), schema(data)     names of the columns; their Arrow schema (no pass over the rows)
    total(data, f, plus, *, columns, coded, progress)
                                  Σ f(batch) over all Arrow batches, in their order; None if there are none
    transform(data, f, schema, columns)    f of every batch, as the same kind of data, lazily where the kind is lazy
    kept(data, columns)           a context in which these columns are held for several passes

f and its results can be pickled, and f has no state. `columns` names the columns that f reads (None: all): an engine
may skip all others. Those in `coded` may come as dictionaries of texts. progress(rows so far, share of all or None) is
called regularly.

`engine_for` selects the engine by the type of the data, or by name.

>>> engine_for("rows.parquet").__name__
'deciban.engines.stream'
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from deciban.errors import DataError

ENGINES = ("dask", "spark", "stream")  # in the order in which they are asked: `stream` takes all that others do not


def all_engines() -> dict[str, ModuleType]:
    """All engines of data, by name."""
    return {name: import_module(f"deciban.engines.{name}") for name in ENGINES}


def engine_for(data: Any, engine: Any = None) -> ModuleType:
    """The engine, by the type of the data, by name, or itself."""
    if isinstance(engine, ModuleType):
        return engine
    if engine is not None:
        if engine not in all_engines():
            raise DataError(f"there is no engine {engine!r}\n\nhint: the engines are {', '.join(all_engines())}")
        return all_engines()[engine]
    for found in all_engines().values():
        if found.takes(data):
            return found
    raise DataError(
        f"{type(data).__module__}.{type(data).__name__} cannot be read by any engine\n\n"
        "hint: give a path, a folder, a glob, an Arrow dataset or reader, a frame, an iterator of frames, or a Dask or "
        "Spark DataFrame; pass NumPy arrays to `fit`"
    )
