"""Parquet files that Spark tasks read with Arrow, where a frame consists of columns of such files only.

Spark decodes a file into columns, makes rows of these and Arrow batches of the rows, cell by cell, before Python sees
one; Arrow reads the file in a fraction of that time. So tasks receive piece numbers; the pieces are those of `stream`:

    plan = columns of files → files and their footers → pieces 0 … n-1 → tasks → sums, added in that order

Cached frames of unchanged files are read from the files too, which is faster. Spark reads the frame in all other
cases: another plan or format, partitioned folders, other file systems, a column that a file lacks or has in another
type, types with zones or rules of their own, files that changed since Spark listed them. A task that cannot open a file
says so, and Spark reads the frame. `spark.deciban.files` = `false` switches it off.

>>> Pieces((("a.parquet", 10, 0), ("b.parquet", 10, 0)), (0, 2, 3), ("x",)).place(2)
(1, 0)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from deciban.engines import threads
from deciban.engines.spark_errors import connected, ignore_errors
from deciban.engines.spark_tasks import Unreadable

SETTING, FIELD_IDS = "spark.deciban.files", "spark.sql.parquet.fieldId.read.enabled"
FILES = 10_000  # whose footers the driver reads, a thousand in a second or so
PIECES_PER_TASK = 4  # at most; with enough pieces there are four tasks per core
SOURCES = "org.apache.spark.sql.execution.datasources"
PLAIN_CLASSES = (f"{SOURCES}.HadoopFsRelation", f"{SOURCES}.parquet.ParquetFileFormat", f"{SOURCES}.InMemoryFileIndex")
PROJECT = "org.apache.spark.sql.catalyst.plans.logical.Project"
STATUS = re.compile(r"path=file:(/[^;\n]*); isDirectory=false; length=(\d+); [^\n]*?modification_time=(\d+);")
Stamp = tuple[str, int, int]  # path, bytes, time in ns


@dataclass(frozen=True)
class Pieces:
    """The pieces of files, numbered through; called in a task with numbers, it reads those."""

    files: tuple[Stamp, ...]
    starts: tuple[int, ...]  # the number of each file's first piece, and how many there are in all
    columns: tuple[str, ...]
    coded: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return self.starts[-1]

    def place(self, number: int) -> tuple[int, int]:
        """(the file, which of its pieces it is)."""
        file = bisect_right(self.starts, number) - 1
        return file, number - self.starts[file]

    def of(self, columns: Sequence[str], coded: Sequence[str]) -> Pieces:
        """Of these columns; those that are coded come as codes."""
        return replace(self, columns=tuple(columns), coded=tuple(coded))

    def __call__(self, batches: Iterable[Any]) -> Iterator[tuple[int, Iterator[Any]]]:
        open_file, readable = -1, []
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            file, piece = self.place(number)
            if file != open_file:
                open_file, readable = file, self._pieces_of_file(self.files[file])
            yield number, self._read(readable, piece, self.files[file])

    def _pieces_of_file(self, stamp: Stamp) -> list:
        """The pieces of a file; none: it cannot be read here."""
        with ignore_errors():
            return list(_opened(stamp[0]).pieces(self.columns, self.coded))
        return []

    def _read(self, readable: list, piece: int, stamp: Stamp) -> Iterator[Any]:
        try:
            if _stamp(stamp[0]) != stamp:
                raise Unreadable("another file")
            for batch in readable[piece]():
                yield batch.select(list(self.columns))
        except Exception as bad:
            raise Unreadable(f"{stamp[0]} ({bad})") from None


def pieces_of(frame: Any, columns: Sequence[str]) -> Pieces | None:
    """The pieces of the files that a frame of those columns is, where tasks may read them."""
    if connected(frame):  # whose plans are the server's
        return None
    with ignore_errors():  # Spark reports errors of these files itself
        conf = frame.sparkSession.conf
        if conf.get(SETTING, "true").lower() != "true" or conf.get(FIELD_IDS, "false") == "true":
            return None
        kinds = _kinds(frame)
        found = list(threads.map_ordered(_listed(frame), partial(_looked_at, kinds=kinds)))
        starts = (0, *accumulate(many for _, many in found))
        if starts[-1]:
            return Pieces(tuple(stamp for stamp, _ in found), starts, tuple(columns))
    return None


def numbers(frame: Any, pieces: Pieces) -> Any:
    """A frame of the pieces' numbers, spread over tasks."""
    session = frame.sparkSession
    each = min(PIECES_PER_TASK, max(1, pieces.count // (4 * session.sparkContext.defaultParallelism)))
    return session.range(0, pieces.count, 1, -(-pieces.count // each))


def _listed(frame: Any) -> list[Stamp]:
    """The files that Spark would read for a frame, in the order of their names: path, size, time in ms."""
    query = frame._jdf.queryExecution()
    relation = _relation(query.optimizedPlan()) or _relation(query.analyzed())  # the latter knows of no cache
    if relation is None:
        raise Unreadable("it is more than columns of files")
    parts = (relation, relation.fileFormat(), relation.location())
    if tuple(map(_class, parts)) != PLAIN_CLASSES or not (
        relation.partitionSchema().isEmpty() and relation.bucketSpec().isEmpty()
    ):
        raise Unreadable("its files are not plain ones of Parquet")
    none = frame.sparkSession._jvm.PythonUtils.toSeq([])
    folders = relation.location().listFiles(none, none)
    files = folders.head().files()
    if folders.size() != 1 or not 0 < files.size() <= FILES:
        raise Unreadable("there are no files, or very many")
    listed = STATUS.findall(files.mkString("\n"))
    if len(listed) != files.size():
        raise Unreadable("they are on another file system")
    return sorted(((path, int(size), int(time)) for path, size, time in listed), key=lambda stamp: Path(stamp[0]))


def _stamp(path: str) -> Stamp:
    from deciban.io.atomic import Stamp as FileStamp

    found = FileStamp.from_path(path)
    if found is None:
        raise Unreadable(f"{path} is no file")
    return found[:3]  # on another machine, it may have another number


def _relation(top: Any) -> Any:
    """What a plan takes columns of, and nothing else; None: it does more."""
    plan = top
    while _class(plan) == PROJECT:
        plan = plan.child()
    if _class(plan) != f"{SOURCES}.LogicalRelation" or not top.outputSet().subsetOf(plan.outputSet()):
        return None
    return plan.relation()


def _class(thing: Any) -> str:
    return thing.getClass().getName()


def _kinds(frame: Any) -> dict[str, Any]:
    """The Arrow types of columns that are the same for Spark and Arrow: numbers, truth values, texts."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    plain = (pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string())
    schema = to_arrow_schema(frame.schema, timezone="UTC")
    if len(set(schema.names)) < len(schema) or not all(kind in plain for kind in schema.types):
        raise Unreadable("a column has no plain type")
    return dict(zip(schema.names, schema.types, strict=True))


def _looked_at(listed: Stamp, kinds: Mapping[str, Any]) -> tuple[Stamp, int]:
    """(the stamp of a file, how many pieces it has)."""
    path, size, time = listed
    found = _stamp(path)
    if (found[1], found[2] // 1_000_000) != (size, time):
        raise Unreadable(f"{path} has changed")
    source = _opened(path)
    if not _same(source.schema, kinds):
        raise Unreadable(f"{path} has other columns")
    return found, sum(1 for _ in source.pieces(list(kinds)))


def _opened(path: str) -> Any:
    from deciban.io.parquet import read_parquet

    return read_parquet(Path(path), path)


def _same(schema: Any, kinds: Mapping[str, Any]) -> bool:
    """Whether a file has those columns, of those types, and nothing that could be taken for one of them."""
    import pyarrow as pa

    alike = Counter(name.lower() for name in schema.names)
    dots = any("." in name for name in schema.names)
    if dots and any(pa.types.is_nested(kind) for kind in schema.types):
        return False  # `a.b` is a column, or in one
    return all(
        alike[name.lower()] == 1 and name in schema.names and _text(schema.field(name).type) == kind
        for name, kind in kinds.items()
    )


def _text(kind: Any) -> Any:
    """A type, those that hold texts as one: in files they may come with long offsets, or by a dictionary."""
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_string(value) or pa.types.is_large_string(value) else kind
