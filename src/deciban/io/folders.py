"""Many files as one table: a folder of Parquet, CSV, Arrow or JSON lines, a glob, or both; `key=value` in the names of
sub-folders is a column.

Columns are aligned by name: a file that lacks one has it missing in every row.

>>> import pathlib, tempfile
>>> import pyarrow.parquet
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> for year in (2024, 2025):
...     (folder / f"year={year}").mkdir()
...     pyarrow.parquet.write_table(pa.table({"a": [year % 10]}), folder / f"year={year}" / "rows.parquet")
>>> from deciban.io import readers
>>> readers.read(folder).to_pylist()
[{'a': 4, 'year': 2024}, {'a': 5, 'year': 2025}]

Texts in files: a folder with a sub-folder for each class, one text a file; an mbox, one mail a row; plain text, one
text a file or one a line.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from deciban.display import format_list
from deciban.errors import DataError
from deciban.io.arrow import pa
from deciban.io.atomic import Stamp, changed_error
from deciban.io.source import Piece, Source, checked, watched

ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".arrow", ".feather", ".jsonl", ".ndjson", ".arff")
PACKED = (".gz", ".bz2", ".xz", ".zst")
NOTHING = "__HIVE_DEFAULT_PARTITION__"  # how such folders name a missing value

Open = Callable[..., Source]


def tables(where: Path) -> list[Path]:
    """The files with rows in a folder, in the order of their names; files and folders starting with `.` or `_` are
    ignored."""
    found = []
    for at, folders, names in os.walk(where):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        found += [Path(at) / name for name in names if not name.startswith((".", "_")) and _has_rows(name)]
    return sorted(found)


def _has_rows(name: str) -> bool:
    name = name.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    return name.endswith(ENDINGS)


def matching(pattern: str) -> list[Path]:
    """The files that match a glob, and the files of folders that match."""
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]
    return [file for one in found for file in (tables(one) if one.is_dir() else [one])]


def would_read(name: str, out: str | os.PathLike) -> bool:
    """Whether a folder or a glob reads a file of that name, if there is one.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> [would_read(folder, f"{folder}/{name}") for name in ("out.csv", "_out.csv", "_out/a.csv", "model.deciban")]
    [True, False, False, False]
    """
    file, where = Path(os.path.realpath(out)), Path(name)
    if where.is_dir():
        folder = Path(os.path.realpath(where))
        parts = file.relative_to(folder).parts if file.is_relative_to(folder) else ()
        texts = len(parts) > 1 and not tables(where)
        return not any(part.startswith((".", "_")) for part in parts) and (
            texts or (bool(parts) and _has_rows(parts[-1]))
        )
    if not is_glob(name) or where.exists():
        return False
    root = root_of(name)
    pattern = Path(os.path.realpath(root), Path(name).relative_to(root))
    deep = "**" in pattern.parts or len(pattern.parts) == len(file.parts)
    folders = [one for one in glob.glob(name, recursive=True) if os.path.isdir(one)]
    return (deep and fnmatch(str(file), str(pattern))) or any(would_read(one, out) for one in folders)


def is_glob(name: str) -> bool:
    return glob.has_magic(name)


def root_of(pattern: str) -> Path:
    """The common folder of all matches of a glob.

    >>> str(root_of("rows/*/year=*/x.csv"))
    'rows'
    """
    parts = Path(pattern).parts
    plain = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:plain])


@dataclass(frozen=True)
class _File:
    """Name, schema and size of a file; at most one file is open at a time."""

    path: Path
    keys: dict[str, Any]  # and values of its folders
    schema: pa.Schema
    size: int
    stamps: tuple[Stamp, ...]

    @classmethod
    def of(cls, path: Path, keys: dict[str, Any], source: Source) -> _File:
        return cls(path, keys, source.schema, path.stat().st_size, source.stamps)


class _Many:
    """Files that are read one after the other."""

    def __init__(self, paths: Sequence[Path], root: Path, opened: Open, types: dict[str, Any]):
        self.opened, self.types, self.read = opened, types, 0
        self.now: Source | None = None
        keys = _typed([_keys(path, root) for path in paths])
        self.files: list[_File] = []
        self.rows: int | None = 0
        self.notes: list[str] = []
        self.bulk, self.kind = 0.0, ""
        for path, own in zip(paths, keys, strict=True):
            source = opened(path, types=types)
            self.files.append(_File.of(path, own, source))
            self.rows = None if self.rows is None or source.rows is None else self.rows + source.rows
            self.bulk += source.bulk
            self.notes += source.notes
            self.kind = self.kind or source.kind

    def pieces(self, kinds: dict[str, Any], columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        wanted = list(kinds) if columns is None else list(columns)
        self.read = 0
        for file in self.files:
            self.now = self.opened(file.path, types=self.types)
            if self.now.stamps != file.stamps:
                raise changed_error(str(file.path))
            here = [name for name in wanted if name in file.schema.names]
            for piece in self.now.pieces(here, [name for name in coded if name in here]):
                yield partial(_aligned, piece, wanted, file, kinds)
            self.read += file.size

    def stamps(self) -> tuple[Stamp, ...]:
        """The stamps of all files; () if one has none."""
        found = [file.stamps for file in self.files]
        return tuple(chain.from_iterable(found)) if all(found) else ()

    def done(self) -> float | None:
        whole = max(sum(file.size for file in self.files), 1)
        return self.read / whole


def read(paths: Sequence[Path], root: Path, name: str, opened: Open, types: dict[str, Any]) -> Source:
    """The rows of all files, one after the other; `opened(path, types=…)` opens one."""
    many = _Many(paths, root, opened, types)
    _check_predictions(many.files)
    mixed = _mixed(many.files)
    for column, (one, other) in mixed.items():
        if types.get(column) == pa.string() or not many.kind.startswith(("CSV", "TSV")):
            raise DataError(
                f"{name}: column `{column}` is {one} in some files and {other} in others\n\n"
                "hint: write it as the same type in all of them"
            )
    if mixed:
        return read(paths, root, name, opened, {**types, **dict.fromkeys(mixed, pa.string())})
    schema = _schema(many.files)
    kinds = {field.name: field.type for field in schema}
    whole = Source(
        name,
        many.kind,
        schema,
        lambda: (batch for piece in many.pieces(kinds, None, ()) for batch in piece()),
        many.done,
        bulk=many.bulk,
        notes=tuple(dict.fromkeys(many.notes)),
        cut=partial(many.pieces, kinds),
        rows=many.rows,
    )
    return watched(whole, *many.stamps())


def _check_predictions(files: list[_File]) -> None:
    """Raise DataError for a file with predictions among files without: its rows would count twice."""
    rows = [set(file.schema.names) for file in files]
    plain = set().union(*(names for names in rows if "predicted" not in names))
    for file, names in zip(files, rows, strict=True):
        more = names - plain
        if plain and "predicted" in more and all(name == "predicted" or name.startswith("p_") for name in more):
            raise DataError(
                f"{file.path} holds predictions: the other files lack the columns {format_list(sorted(more))}\n\n"
                "hint: move it to another folder, or let its name start with `_`: such files are not read"
            )


def _aligned(piece: Piece, wanted: list[str], file: _File, kinds: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """Batches with all columns that are wanted, numbers in the type that they have in all files together."""
    keys = file.keys
    for batch in piece():
        same = [
            field.type == kinds[field.name] or not _widened(field.type, kinds[field.name]) for field in batch.schema
        ]
        if batch.schema.names == wanted and all(same):
            yield batch
            continue
        columns = []
        for name in wanted:
            at = batch.schema.get_field_index(name)
            kind = kinds[name]
            if at >= 0:
                columns.append(batch.column(at) if same[at] else _as_double(batch.column(at), name, file))
            elif name in keys and keys[name] is not None:
                columns.append(pa.repeat(pa.scalar(keys[name], kind), batch.num_rows))
            else:
                columns.append(pa.nulls(batch.num_rows, kind))
        yield pa.record_batch(columns, names=wanted)


def _widened(given: pa.DataType, wanted: pa.DataType) -> bool:
    return pa.types.is_integer(given) and pa.types.is_floating(wanted)


def _as_double(column: pa.Array, name: str, file: _File) -> pa.Array:
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        raise DataError(
            f"{file.path}: column `{name}` holds whole numbers beyond 2^53, which are not exact as the numbers with "
            "fractions that other files have there\n\nhint: write it as the same type in all files; identifiers as text"
        ) from None


def _keys(path: Path, root: Path) -> dict[str, str | None]:
    """The columns encoded in the names of a file's folders.

    >>> _keys(Path("rows/year=2024/sky=a%20b/x.csv"), Path("rows"))
    {'year': '2024', 'sky': 'a b'}
    """
    folders = path.parent.relative_to(root).parts if path.is_relative_to(root) else ()
    pairs = [part.split("=", 1) for part in folders if "=" in part]
    return {key: None if value == NOTHING else unquote(value) for key, value in pairs}


def has_keys(path: Path, root: Path) -> bool:
    """Whether some of the folders between are columns."""
    return bool(_keys(path, root))


def _typed(keys: list[dict[str, str | None]]) -> list[dict[str, Any]]:
    """Whole numbers where all values of a key are such."""
    names = dict.fromkeys(name for own in keys for name in own)
    whole = {name for name in names if all(_whole(own.get(name)) for own in keys)}
    return [{k: int(v) if k in whole and v is not None else v for k, v in own.items()} for own in keys]


def _whole(text: str | None) -> bool:
    return text is None or (text.isascii() and text.lstrip("-").isdigit() and str(int(text)) == text)


def _fields(files: list[_File]) -> dict[str, list[pa.DataType]]:
    """The types of each column, dictionaries as their value type."""
    out: dict[str, list[pa.DataType]] = {}
    before: pa.Schema | None = None
    for file in files:
        alike, before = before is not None and file.schema.equals(before), file.schema
        for field in () if alike else file.schema:
            kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            out.setdefault(field.name, []).append(kind)
        for name, value in file.keys.items():
            if value is not None:
                out.setdefault(name, []).append(pa.scalar(value).type)
    return out


def _mixed(files: list[_File]) -> dict[str, tuple[pa.DataType, pa.DataType]]:
    """Columns that have no common type, with two of theirs."""
    return {name: (kinds[0], kind) for name, kinds in _fields(files).items() for kind in kinds if not _common(kinds)}


def _common(kinds: list[pa.DataType]) -> pa.DataType | None:
    if all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    try:
        schemas = [pa.schema([("it", kind)]) for kind in dict.fromkeys(kinds)]
        return pa.unify_schemas(schemas, promote_options="permissive").field("it").type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def _schema(files: list[_File]) -> pa.Schema:
    return pa.schema([(name, _common(kinds)) for name, kinds in _fields(files).items()])


ROWS = 1 << 11
TEXT, LABEL = "text", "label"


def read_folder(folder: Path) -> Source:
    """Columns `text` and `label` (the sub-folder)."""
    paths = list_texts(folder)
    if not paths:
        raise DataError(
            f"{folder} is a folder without sub-folders of texts\n\n"
            "hint: give a file; or a folder with one sub-folder for each class and the texts as files in them"
        )
    seen = [0]

    def texts() -> Iterator[tuple[str, str]]:
        for label, path in paths:
            seen[0] += 1
            with open(path, "rb") as file:
                yield file.read().decode("utf-8", errors="replace"), label

    def rows() -> Iterator[tuple[str, str]]:
        yield from checked(texts, [stamp for _, path in paths if (stamp := Stamp.from_path(path))])

    return _source(str(folder), "a folder of texts", rows(), lambda: seen[0] / len(paths), (TEXT, LABEL))


def list_texts(folder: Path) -> list[tuple[str, str]]:
    """The (sub-folder, path of a text) pairs of a folder with a sub-folder of texts for each class."""
    kinds = sorted(one for one in folder.iterdir() if one.is_dir() and not one.name.startswith("."))
    return [
        (kind.name, path)
        for kind in kinds
        for path in sorted(_files_in(str(kind)), key=lambda path: path.split(os.sep))
    ]


def _files_in(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files_in(entry.path)
            elif entry.is_file():
                yield entry.path


def read_mbox(path: Path) -> Source:
    """One column, `text`: the text of each mail (see `mail`)."""
    from deciban.mail import message as mail  # takes its time to import

    size, seen = max(path.stat().st_size, 1), [0]

    def rows() -> Iterator[tuple[str]]:
        for one in mail.read(path):
            text = one.text()
            seen[0] += len(text)
            yield (text,)

    return _source(str(path), "mbox", rows(), lambda: min(seen[0] / size, 1.0), (TEXT,))


def is_plain(first: bytes, columns: Sequence[str]) -> bool:
    """Whether a file with this beginning is plain text: not a table by its format or by column names in its first line.

    >>> is_plain(b"a wonderful film\\n", ["text"]), is_plain(b"id,text\\n1,a film\\n", ["text"]), is_plain(b"PAR1", [])
    (True, False, False)
    """
    start = first.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff", b"{", b"[{", b"From ")):
        return False
    line = start.partition(b"\n")[0].decode("utf-8", errors="replace")
    fields = [field.strip().strip("\"'").strip() for field in re.split(r"[,;\t|]", line)]
    return not set(columns) & set(fields)


def read_whole(again: Callable[[], Any], name: str) -> Source:
    """One column, `text`, with one row: the file."""
    rows = ((again().read().decode("utf-8", errors="replace"),) for _ in range(1))
    return _source(name, "a text", rows, lambda: None, (TEXT,))


def read_lines(again: Callable[[], Any], name: str) -> Source:
    """One column, `text`: each line is one."""

    def rows() -> Iterator[tuple[str]]:
        yield from ((_line(line),) for line in again().lines())

    return _source(name, "texts, one a line", rows(), lambda: None, (TEXT,))


def _line(raw: bytes) -> str:
    return raw.removesuffix(b"\r").decode("utf-8", errors="replace")


def _source(name: str, kind: str, rows: Iterator, done: Callable, columns: tuple[str, ...]) -> Source:
    schema = pa.schema([(column, pa.string()) for column in columns])

    def batches() -> Iterator[pa.RecordBatch]:
        while chunk := list(islice(rows, ROWS)):
            yield pa.record_batch([pa.array(cells) for cells in zip(*chunk, strict=True)], schema=schema)

    return Source(name, kind, schema, batches, done, LABEL if LABEL in columns else None, TEXT)
