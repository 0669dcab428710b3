"""Open files as tables: a path (or `-`) becomes a `Source` of Arrow batches, read one at a time.

The format is detected by the first bytes, then by the name: CSV and TSV (plain, gzip, bzip2, xz, zstd), Parquet, Arrow
and Feather, JSON, ARFF, mbox, and folders with a sub-folder of texts for each class.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
>>> _ = path.write_text("sky,wind\\ngrey,3\\nblue,?\\n")
>>> open_path(path).names, read(path).to_pylist()
(['sky', 'wind'], [{'sky': 'grey', 'wind': 3}, {'sky': 'blue', 'wind': None}])
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from deciban.data.frames import check_unicode_forms, strings
from deciban.data.memory import available_memory
from deciban.errors import DataError, closest
from deciban.io import arff, batches, csv, folders, json_tables, parquet
from deciban.io import source as sources
from deciban.io.arrow import pa
from deciban.io.atomic import Stamp, changed_error
from deciban.io.batches import (
    TEXT,
    LabelledSource,
    append_columns,
    append_to_batch,
    array,
    arrow_types,
    column_type,
    concat,
    or_empty,
    prediction_columns,
    selected,
    set_column,
    some_rows,
    split,
    table_from_dict,
    types_named,
    with_free_names,
    with_missing,
)
from deciban.io.compression import Bytes, File
from deciban.io.csv import TARGET_NAMES, ColumnTypeChanged
from deciban.io.source import Described, ReadAgain, Source, frames_like, is_path, is_single_pass, watched
from deciban.io.writers import (
    can_append_to_lines,
    default_output_path,
    holds_lists,
    split_endings,
    writable,
    write,
    write_csv_with_predictions,
    write_lines,
)

PIPE = "standard input"
__all__ = [
    "TARGET_NAMES",
    "TEXT",
    "ColumnTypeChanged",
    "Described",
    "LabelledSource",
    "ReadAgain",
    "Source",
    "append_columns",
    "append_to_batch",
    "array",
    "arrow_types",
    "available_memory",
    "batches",
    "can_append_to_lines",
    "check_not_read",
    "check_unicode_forms",
    "column_type",
    "concat",
    "default_output_path",
    "frames_like",
    "holds_lists",
    "is_glob",
    "is_path",
    "is_single_pass",
    "leave_signals",
    "list_files",
    "open_data",
    "open_path",
    "or_empty",
    "prediction_columns",
    "read",
    "retry_on_type_change",
    "selected",
    "set_column",
    "some_rows",
    "split",
    "split_endings",
    "standard_input",
    "strings",
    "table_from_dict",
    "types_named",
    "unchanged_files",
    "with_free_names",
    "with_missing",
    "writable",
    "write",
    "write_csv_with_predictions",
    "write_lines",
]


def leave_signals() -> None:
    """Leave Ctrl-C to Python in this process: Arrow's own handler loses one that comes as a short call ends."""
    pa.enable_signal_handlers(False)


def open_path(
    path: str | os.PathLike,
    types: Mapping[str, Any] | None = None,
    rest: Any = None,
    root: Path | None = None,
    texts_unless: Sequence[str] | None = None,
    **how: Any,
) -> Source:
    """The table in a file, ready to be read. `types` (Arrow's, by column) and `rest` (of all other columns) are for
    files that do not say; `how` a CSV file is to be read (see `Described`) where looking is not enough; `root` is the
    folder whose sub-folders, up to the file, may be columns. `texts_unless`: where texts are expected, a .txt file is
    one text and standard input one a line, unless the first line names one of these columns."""
    if isinstance(path, Described):
        how, path = {**path.how, **how}, path.path
        types = {**how.pop("types", {}), **(types or {})}
    name = os.fspath(path)
    if not name:
        raise DataError("the path is empty\n\nhint: name a file or a folder; the current folder is `.`")
    if name == "-":
        piped = _once(_piped())
        if texts_unless is not None and folders.is_plain(piped().head(1 << 12), texts_unless):
            return folders.read_lines(piped, PIPE)
        return _of_bytes(piped, PIPE, None, None, types, rest, **how)
    where = Path(name)
    one = partial(open_path, rest=rest, **how)
    if not where.exists():
        found = folders.matching(name) if folders.is_glob(name) else []
        if not found:
            raise DataError(f"file not found: {name}\n\nhint: {_near(where)}")
        return folders.read(found, folders.root_of(name), name, one, dict(types or {}))
    if where.is_dir():
        found = folders.tables(where)
        return folders.read(found, where, name, one, dict(types or {})) if found else folders.read_folder(where)

    if not where.is_file():
        raise DataError(
            f"{name} is no regular file, but a pipe or a device\n\nhint: read it as standard input: - < {name}"
        )
    if root is not None and folders.has_keys(where, root):
        return folders.read([where], root, name, one, dict(types or {}))

    def again() -> Bytes:
        try:
            return Bytes.of(File(where), name)
        except PermissionError:
            raise DataError(f"no permission to read {name}\n\nhint: check its permissions: ls -l {name}") from None

    stamp = Stamp.from_path(where)
    plain = texts_unless is not None and where.suffix.lower() == ".txt"
    if plain and folders.is_plain(again().head(1 << 12), texts_unless or ()):
        return folders.read_whole(again, name)
    found_one = _of_bytes(again, name, where, where.stat().st_size, types, rest, **how)
    return watched(found_one, *([] if stamp is None else [stamp]))


def list_files(path: str | os.PathLike) -> tuple[Path, list[Path]] | None:
    """(the folder that all are under, the files) where a path is a folder of tables or a glob; None: it is one file."""
    name, where = os.fspath(path), Path(path)
    if name and where.is_dir():
        found = folders.tables(where)
        return (where, found) if found else None
    return (folders.root_of(name), folders.matching(name)) if is_glob(path) else None


@contextmanager
def unchanged_files(data: Any) -> Iterator[None]:
    """Context manager for several passes: DataError if the files of a source or a path change meanwhile, or if a folder
    that is listed again has others."""
    pinned = isinstance(data, Source)
    before = {stamp.name: stamp for stamp in data.stamps} if pinned else _listed_stamps(data)

    def check() -> None:
        after = {name: Stamp.from_path(name) for name in before} if pinned else _listed_stamps(data)
        if after != before:
            raise changed_error(next(name for name in {**before, **after} if before.get(name) != after.get(name)))

    try:
        yield
    except Exception:
        check()  # a file that was replaced may look damaged
        raise
    check()


def _listed_stamps(data: Any) -> dict[str, Stamp | None]:
    """The stamps of the files of a path, by name."""
    if not is_path(data) or os.fspath(data) == "-":
        return {}
    where, found = Path(data), list_files(data)
    if found is not None:
        names = [str(path) for path in found[1]]
    else:
        names = [path for _, path in folders.list_texts(where)] if where.is_dir() else [str(where)]
    return {name: Stamp.from_path(name) for name in names}


def is_glob(path: str | os.PathLike) -> bool:
    return folders.is_glob(os.fspath(path)) and not Path(path).exists()


def check_not_read(path: str | os.PathLike, out: str | os.PathLike) -> None:
    """Raise DataError if a file `out` would be one of those that a folder or a glob reads."""
    if folders.would_read(os.fspath(path), out):
        raise DataError(
            f"{os.fspath(out)} would be read with {os.fspath(path)}\n\n"
            "hint: write to another folder, or to a name that starts with `_`: such files are not read"
        )


def open_data(data: Any, **how: Any) -> Source:
    """Open a path, a frame, a stream of Arrow batches or an iterator of frames as a `Source`.

    >>> open_data(pa.table({"a": [1, 2]})).rows
    2
    """
    return open_path(data, **how) if is_path(data) else sources.of(data)


def read(path: str | os.PathLike, **how: Any) -> pa.Table:
    """All rows of a file as an Arrow table."""
    return retry_on_type_change(path, lambda source: source.table(), **how)


def retry_on_type_change(path: str | os.PathLike, use: Callable[[Source], Any], **how: Any) -> Any:
    """Call use(source), and again from the start where a column of a CSV file turns out to have another type, or `use`
    raises `ReadAgain`. A pipe is kept in memory for that."""
    kept = standard_input().read() if os.fspath(path) == "-" else None
    types: dict[str, Any] = dict(how.pop("types", None) or {})
    while True:
        try:
            if kept is None:
                return use(open_path(path, types, **how))
            return use(_of_bytes(lambda: Bytes.of(BytesIO(kept), PIPE), PIPE, None, len(kept), types, **how))
        except csv.ColumnTypeChanged as changed:
            types = changed.types
        except ReadAgain:
            pass


def _of_bytes(
    again: Callable[[], Bytes],
    name: str,
    where: Path | None,
    size: int | None,
    types: Mapping[str, Any] | None,
    rest: Any = None,
    **how: Any,
) -> Source:
    first = again().head(1 << 12)
    if first.startswith((parquet.PARQUET, parquet.ARROW, parquet.FEATHER, parquet.STREAM)):
        place = where if where is not None else pa.BufferReader(again().read())
        if first.startswith(parquet.PARQUET):
            return parquet.read_parquet(place, name)
        return parquet.read_arrow(place, name, first, size)
    start = first.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{") or re.match(rb"\[\s*[\[{]", start):
        return json_tables.read(again, name, size, types or {}, rest is not None, how.get("expected", ()))
    if start.lower().startswith(b"@relation") or (start.startswith(b"%") and ".arff" in name.lower()):
        return arff.read(again, name, size)
    if first.startswith(b"From ") and where is not None and not name.endswith((".csv", ".tsv")):
        return folders.read_mbox(where)
    return csv.read(again, name, size, types or {}, rest, **how)


_pipes: list[tuple[Any, Bytes]] = []  # standard input, which may be opened again as long as no row was read


def standard_input() -> Any:
    """Standard input as bytes; DataError if it is closed."""
    if sys.stdin is None:
        raise DataError(f"{PIPE} is closed\n\nhint: name a file instead of -, or pipe rows into the command")
    return sys.stdin.buffer


def _piped() -> Bytes:
    stream = standard_input()
    if not _pipes or _pipes[0][0] is not stream:
        _pipes[:] = [(stream, Bytes.of(stream, PIPE))]
    return _pipes[0][1]


def _once(stream: Bytes) -> Callable[[], Bytes]:
    """A pipe from its beginning, as long as no more than its head was looked at."""

    def give() -> Bytes:
        if stream.count == 0:
            return stream
        raise DataError(
            "standard input must be read again from its beginning, which a pipe cannot\n\n"
            "hint: write it to a file first, and name the file"
        )

    return give


def _near(where: Path) -> str:
    """A hint with the most similar file name."""
    try:
        names = [one.name for one in where.parent.iterdir()]
    except OSError:
        return f"the folder {where.parent} does not exist either"
    near = closest(where.name, names)
    return f"did you mean {where.parent / near}?" if near else f"see what is there: ls {where.parent}"
