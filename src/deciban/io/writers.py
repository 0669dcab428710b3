"""Write tables batch by batch: CSV to a pipe or a file, Parquet, Arrow, JSON lines by the file extension.

Files are written atomically: an interruption leaves the former file unchanged.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "out.csv"
>>> write(iter([pa.table({"a": [1], "b": ["x, y"]}), pa.table({"a": [2], "b": [None]})]), path)
>>> path.read_text()
'a,b\\n1,"x, y"\\n2,\\n'
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from deciban.errors import DataError
from deciban.io import atomic, csv
from deciban.io.arrow import pa
from deciban.io.csv import text_of

FORMS = ("csv", "tsv", "txt", "parquet", "pq", "arrow", "feather", "jsonl", "ndjson")
OTHERS = ("dat", "data", "out", "tab", "text")  # endings of tables that are written as CSV
PACKED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
READ = (*FORMS, *OTHERS, "arff", "json", "mbox", "gz", "zst", "bz2", "xz")  # endings of files that can be read


def write(tables: Iterable[pa.Table | pa.RecordBatch], path: str | os.PathLike) -> None:
    """Write tables (or batches) one after the other to a file, or for "-" as CSV to standard output."""
    name = os.fspath(path)
    if name == "-":
        _csv(tables, standard_output())
        return
    where = writable(name)
    atomic.atomic_write(where, partial(_form(where.suffixes), tables))


def standard_output() -> Any:
    """Standard output for bytes; DataError if it is closed."""
    if sys.stdout is None:
        raise DataError("standard output is closed\n\nhint: name a file to write to: --output FILE")
    return sys.stdout.buffer


def writable(path: str | os.PathLike) -> Path:
    """A path that a file can be written to.

    >>> writable("rows.csv").name
    'rows.csv'
    """
    name, where = os.fspath(path), Path(path)
    if name == "-":
        raise DataError("this file cannot be written to standard output\n\nhint: name a file to write to")
    if where.is_dir():
        raise DataError(f"{name} is a folder\n\nhint: name a file to write to")
    if not where.parent.is_dir():
        raise DataError(f"folder not found: {where.parent}\n\nhint: create it: mkdir -p {where.parent}")
    return where


def write_csv_with_predictions(
    source: Any, found: Iterable[tuple[pa.Array, pa.Table]], path: str | os.PathLike
) -> None:
    """Write the lines of a CSV source with predictions appended."""
    texts = csv.join_predictions(source.heads or source.names, found, source.delimiter)
    if path == "-":
        standard_output().writelines(texts)
    else:
        atomic.atomic_write(writable(path), lambda file: file.writelines(texts))


def default_output_path(path: str | os.PathLike) -> Path:
    """The default path of the predictions for a file.

    >>> default_output_path("rows.csv.gz").name, default_output_path("rows.arff").name
    ('rows.predicted.csv.gz', 'rows.predicted.csv')
    """
    where, (stem, endings) = Path(path), split_endings(path)
    last = [ending for ending in endings.lower().split(".") if f".{ending}" not in PACKED][-1:]
    return where.with_name(f"{stem}.predicted.{endings if last and last[0] in FORMS else 'csv'}")


def split_endings(path: str | os.PathLike) -> tuple[str, str]:
    """(the name of a file without the endings of its format and compression, these endings)

    >>> split_endings("rows/sales.2024.csv.gz"), split_endings("rows")
    (('sales.2024', 'csv.gz'), ('rows', ''))
    """
    stem, *parts = Path(path).name.split(".")
    known = len(list(takewhile(lambda part: part.lower() in READ, reversed(parts))))
    kept = len(parts) - known
    return ".".join([stem, *parts[:kept]]), ".".join(parts[kept:])


def can_append_to_lines(source: Any, path: str | os.PathLike) -> bool:
    """Whether the lines of a source can go as they are into a file of that name."""
    path = os.fspath(path)
    ending = {",": (".csv", ".txt"), "\t": (".tsv",)}.get(source.delimiter or "", ())
    return source.lines is not None and (path == "-" or path.endswith(ending))


def holds_lists(path: str | os.PathLike) -> bool:
    """Whether a file of that name can have lists in its cells; standard output gets CSV."""
    endings = [ending for ending in Path(path).suffixes[-2:] if ending.lower() not in PACKED]
    return bool(endings) and endings[-1].lower() in (".parquet", ".pq", ".arrow", ".feather", ".jsonl", ".ndjson")


def write_lines(tables: Iterable[pa.Table]) -> None:
    """Write tables as JSON lines to standard output."""
    _lines(tables, standard_output())


def _form(endings: list[str]) -> Callable[[Iterable[pa.Table], Any], None]:
    """How to write a file with these endings."""
    last = endings[-1].lower() if endings else ""
    if last in PACKED:
        return partial(_packed, kind=PACKED[last], form=_form(endings[:-1]))
    if last in (".parquet", ".pq"):
        from pyarrow import parquet  # takes its time to import

        return partial(_columns, make=parquet.ParquetWriter)
    if last in (".arrow", ".feather"):
        return partial(_columns, make=pa.ipc.new_file)
    if last in (".jsonl", ".ndjson"):
        return _lines
    if last.lstrip(".") not in ("", *FORMS, *OTHERS):
        raise DataError(
            f"unknown output format {last}\n\nhint: use .csv, .tsv (also .gz, .zst), .parquet, .arrow or .jsonl"
        )
    return partial(_csv, delimiter="\t" if last == ".tsv" else ",")


def _packed(tables: Iterable[pa.Table], file: Any, kind: str, form: Callable) -> None:
    with pa.CompressedOutputStream(pa.PythonFile(_KeepOpen(file), mode="w"), kind) as packed:
        form(tables, packed)


class _KeepOpen:
    """A file that stays open when its writer closes it."""

    def __init__(self, file: Any):
        self.write, self.flush, self.closed = file.write, file.flush, False

    def close(self) -> None:
        self.closed = True


def _columns(tables: Iterable[pa.Table], file: Any, make: Callable) -> None:
    inner = None
    try:
        for table in tables:
            inner = make(file, table.schema) if inner is None else inner
            (inner.write_table if isinstance(table, pa.Table) else inner.write_batch)(table)
    finally:  # who is stopped closes it too, while the file is still there
        if inner is not None:
            inner.close()


def _lines(tables: Iterable[pa.Table], file: Any) -> None:
    for table in tables:
        for row in table.to_pylist():
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def _csv(tables: Iterable[pa.Table], file: Any, delimiter: str = ",") -> None:
    for number, table in enumerate(tables):
        if number == 0:
            names = pa.table({str(at): [name] for at, name in enumerate(table.column_names)})
            file.write(text_of(names, delimiter))
        file.write(text_of(table, delimiter))
