"""Texts of any kind → chunks that the compiled reader takes: pointers to the texts where they lie, and who keeps them.

>>> [len(chunk) for chunk in chunks(Source(["one", "two"]))]
[2]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from deciban import frames, ops
from deciban.errors import DataError

ROWS, LETTERS = 1024, 1 << 19  # of a chunk, at most; about


@dataclass(frozen=True)
class Source:
    """Texts to be read: a list, an array, an Arrow column, anything to iterate over. `decode` makes a str of one."""

    texts: Iterable
    decode: Callable[[Any], Any] | None = None
    always: bool = False  # whether `decode` is for every text, or only for one that is no str
    strict: bool = False  # whether only str and bytes may be given to it


@dataclass(frozen=True)
class Chunk:
    documents: Any
    start: int
    stop: int
    row: int  # the number of the documents' first

    def __len__(self) -> int:
        return self.stop - self.start


def chunks(source: Source) -> Iterator[Chunk]:
    """The texts, some at a time; an iterator is not read ahead of its use."""
    row = 0
    for documents in _batches(source):
        if documents.bad >= 0:
            raise unfit(None, row + documents.bad)
        borders = documents.borders(ROWS, LETTERS)
        for start, stop in pairwise(borders):
            yield Chunk(documents, start, stop, row)
        row += len(documents)


def _batches(source: Source) -> Iterator[Any]:
    texts, core = source.texts, ops.core()
    if isinstance(texts, np.ndarray) and texts.ndim != 1:
        raise DataError(f"texts of shape {texts.shape}, one row of texts is needed\n\nhint: pass one column: X[:, 0]")
    if not isinstance(texts, (list, tuple, np.ndarray)):
        if frames.is_frame(texts):
            raise DataError("a table was given, a column of texts is needed\n\nhint: pass one column: X['text']")
        found = None if source.always else _arrow(texts)
        if found is not None:
            yield from found
            return
    row = 0
    for batch in _lists(texts):
        documents = core.Documents(batch) if not source.always else None
        if documents is None or documents.bad >= 0:
            documents = core.Documents([_text(text, row + i, source) for i, text in enumerate(batch)])
        yield documents
        row += len(batch)


def _arrow(texts: Any) -> list | None:
    """The texts of an Arrow column (pandas and polars have them too) where they lie; None if it is no such thing."""
    if hasattr(texts, "__arrow_c_stream__"):
        return ops.core().arrow_documents(texts.__arrow_c_stream__())
    return ops.core().arrow_document(*texts.__arrow_c_array__()) if hasattr(texts, "__arrow_c_array__") else None


def _lists(texts: Any) -> Iterator[list]:
    plain = "tolist" if isinstance(texts, np.ndarray) else "to_pylist" if hasattr(texts, "to_pylist") else ""
    if plain or isinstance(texts, (list, tuple)):
        for start in range(0, len(texts), ROWS):
            part = texts[start : start + ROWS]
            yield getattr(part, plain)() if plain else list(part)
        return
    stream, batch, letters = iter(texts), [], 0
    for text in stream:
        batch.append(text)
        letters += len(text) if isinstance(text, (str, bytes)) else LETTERS // 16
        if len(batch) == ROWS or letters > LETTERS:
            yield batch
            batch, letters = [], 0
    if batch:
        yield batch


def _text(text: Any, row: int, source: Source) -> str:
    if isinstance(text, str) and not source.always:
        return text
    if source.decode is None or (source.strict and not isinstance(text, (str, bytes))):
        raise unfit(text, row)
    try:
        made = source.decode(text)
    except UnicodeError as broken:
        broken.add_note(f"in row {row}\n\nhint: name the encoding, or decode_error='replace' or 'ignore'")
        raise
    if not isinstance(made, str):
        raise unfit(made, row)
    return made


def unfit(text: Any, row: int) -> DataError:
    """The error of a row that is no text."""
    cure = "hint: missing texts can be left out, or filled with ''"
    if isinstance(text, float) and text != text:
        return DataError(f"np.nan is an invalid document, expected byte or unicode string. It is row {row}\n\n{cure}")
    return DataError(f"row {row} is {text!r:.40} ({type(text).__name__}), not a text\n\n{cure}")
