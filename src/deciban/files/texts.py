"""Texts in files: a folder with a sub-folder for each class, one text a file; or an mbox, one mail a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from deciban.errors import DataError
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


def _source(name: str, kind: str, rows: Iterator, done: Callable, columns: tuple[str, ...]) -> Source:
    schema = pa.schema([(column, pa.string()) for column in columns])

    def batches() -> Iterator[pa.RecordBatch]:
        while chunk := list(islice(rows, ROWS)):
            yield pa.record_batch([pa.array(cells) for cells in zip(*chunk, strict=True)], schema=schema)

    return Source(name, kind, schema, batches, done, LABEL if LABEL in columns else None, TEXT)
