"""Texts in files: a folder with a sub-folder for each class, one text a file; an mbox, one mail a row; plain text, one
text a file or one a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from deciban.errors import DataError
from deciban.files.arrow import pa
from deciban.files.reading import Source

ROWS = 1 << 11
TEXT, LABEL = "text", "label"


def read_folder(folder: Path) -> Source:
    """Columns `text` and `label` (the sub-folder)."""
    kinds = sorted(one for one in folder.iterdir() if one.is_dir() and not one.name.startswith("."))
    paths = [(kind.name, path) for kind in kinds for path in sorted(kind.rglob("*")) if path.is_file()]
    if not paths:
        raise DataError(
            f"{folder} is a folder without sub-folders of texts\n\n"
            "hint: give a file; or a folder with one sub-folder for each class and the texts as files in them"
        )
    seen = [0]

    def rows() -> Iterator[tuple[str, str]]:
        for label, path in paths:
            seen[0] += 1
            yield path.read_bytes().decode("utf-8", errors="replace"), label

    return _source(str(folder), "a folder of texts", rows(), lambda: seen[0] / len(paths), (TEXT, LABEL))


def read_mbox(path: Path) -> Source:
    """One column, `text`: what a mail says, and how (see `mail`)."""
    from deciban.mail import messages as mail  # takes its time to import

    size, seen = max(path.stat().st_size, 1), [0]

    def rows() -> Iterator[tuple[str]]:
        for one in mail.read(path):
            text = one.text()
            seen[0] += len(text)
            yield (text,)

    return _source(str(path), "mbox", rows(), lambda: min(seen[0] / size, 1.0), (TEXT,))


def is_plain(first: bytes, columns: Sequence[str]) -> bool:
    """Whether a file that begins so is plain text: no table by its format, or by a first line that names a column.

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
        stream, rest = again(), b""
        while more := stream.read(1 << 16):
            *lines, rest = (rest + more).split(b"\n")
            yield from ((_line(line),) for line in lines)
        if rest:
            yield (_line(rest),)

    return _source(name, "texts, one a line", rows(), lambda: None, (TEXT,))


def _line(raw: bytes) -> str:
    return raw.removesuffix(b"\r").decode("utf-8", errors="replace")


def _source(name: str, kind: str, rows: Iterator, done: Callable, columns: tuple[str, ...]) -> Source:
    schema = pa.schema([(column, pa.string()) for column in columns])

    def batches() -> Iterator[pa.RecordBatch]:
        while chunk := list(islice(rows, ROWS)):
            yield pa.record_batch([pa.array(cells) for cells in zip(*chunk, strict=True)], schema=schema)

    return Source(name, kind, schema, batches, done, LABEL if LABEL in columns else None, TEXT)
