"""Texts of any type → counts of terms, by the compiled reader.

Texts are read in chunks (pointers to the texts, and references that keep them alive) by threads, each with its own
lexicon; lexicons are merged in sorted order.

    texts ─ chunks → pieces (number, count) ─ merge lexicons → terms in order ─ fill → CSR with sorted columns

Term numbers depend on thread scheduling, the result does not: terms are sorted by code points, so every run and any
number of threads give the same matrix. A piece is freed once its rows are filled in.

>>> [len(chunk) for chunk in chunks(Source(["one", "two"]))]
[2]
>>> from deciban.text.analysis import DEFAULT, AnalyzerSpec
>>> terms, X = fit_transform_counts(AnalyzerSpec(0, 1, 1, DEFAULT, True), Source(["to be or not", "To BE"]), np.int64)
>>> terms.strings(), X.toarray().tolist()
(['be', 'not', 'or', 'to'], [[1, 1, 1, 1], [1, 0, 0, 1]])
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from deciban import ops
from deciban.data import frames
from deciban.engines.threads import map_ordered
from deciban.errors import DataError
from deciban.text.analysis import NO_COLUMN, AnalyzerSpec, CompiledVocabulary, Terms, stop_word_lexicon

ROWS, LETTERS = 1024, 1 << 19  # of a chunk, at most; about


@dataclass(frozen=True)
class Source:
    """Texts to read: a list, an array, an Arrow column or any iterable. `decode` converts an element to str."""

    texts: Iterable
    decode: Callable[[Any], Any] | None = None
    always: bool = False  # whether `decode` is for every text, or only for one that is not a str
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
            raise not_a_text(None, row + documents.bad)
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
    """The texts of an Arrow column (pandas and polars have them too) without a copy; None if it is not one."""
    _check_arrow(texts)
    if hasattr(texts, "__arrow_c_stream__"):
        return ops.core().arrow_documents(texts.__arrow_c_stream__())
    return ops.core().arrow_document(*texts.__arrow_c_array__()) if hasattr(texts, "__arrow_c_array__") else None


def _check_arrow(texts: Any) -> None:
    """Raise an error for a column of pyarrow whose offsets lead out of its bytes."""
    if type(texts).__module__.partition(".")[0] != "pyarrow":
        return
    from deciban.io.source import pa, validate_column

    try:
        validate_column(texts)
    except pa.ArrowInvalid as error:
        raise DataError(f"the column of texts is damaged ({error})\n\nhint: read it again") from None


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
        raise not_a_text(text, row)
    try:
        made = source.decode(text)
    except UnicodeError as broken:
        broken.add_note(f"in row {row}\n\nhint: name the encoding, or decode_error='replace' or 'ignore'")
        raise
    if not isinstance(made, str):
        raise not_a_text(made, row)
    return made


def not_a_text(text: Any, row: int) -> DataError:
    """The error about a row that is not a text."""
    hint = "hint: missing texts can be left out, or filled with ''"
    if isinstance(text, float) and text != text:
        return DataError(f"np.nan is an invalid document, expected byte or unicode string. It is row {row}\n\n{hint}")
    return DataError(f"row {row} is {text!r:.40} ({type(text).__name__}), not a text\n\n{hint}")


TERMS = 1 << 17  # spelt out at a time
Select = Callable[[np.ndarray, Callable[[], np.ndarray], int], np.ndarray]


@dataclass(frozen=True, eq=False)
class Worker:
    """The state of one counting thread."""

    lexicon: Any
    workspace: Any


def _count(source: Source, analysis: Any, workers: list[Worker], new: Callable[[], Worker], grow: bool) -> list:
    """(worker, piece) of each chunk. Workers are popped from the list and put back; `new` makes one if none is free."""
    core = ops.core()

    def one(chunk: Chunk) -> tuple[Worker, Any]:
        try:
            worker = workers.pop()
        except IndexError:
            worker = new()
        try:
            piece = core.text_count(
                worker.lexicon, grow, worker.workspace, analysis, chunk.documents, chunk.start, chunk.stop
            )
        finally:
            workers.append(worker)
        return worker, _check_piece(piece, chunk)

    return list(map_ordered(chunks(source), one))


def _check_piece(piece: Any, chunk: Chunk) -> Any:
    if piece.bad < 0:
        return piece
    row = chunk.row + piece.bad
    if piece.why == "utf8":
        raise DataError(f"row {row} is not UTF-8\n\nhint: decode the column from bytes again")
    raise DataError(
        f"row {row} holds a surrogate, which cannot be encoded as UTF-8\n\n"
        "hint: text.encode('utf-8', 'replace').decode() makes it '?'"
    )


def fit_transform_counts(
    plan: AnalyzerSpec, source: Source, dtype: Any, binary: bool = False, select: Select | None = None
) -> tuple[Terms, sparse.csr_array]:
    """The terms of the texts, sorted, and how often each occurs in each. `select(rows, totals, n)` says which to keep,
    given in how many of the n rows each term occurs, and totals(), how often each does at all."""
    workers: list[Worker] = []
    new = lambda: Worker(stop_word_lexicon(plan), ops.core().Workspace())  # noqa: E731
    pieces = _count(source, plan.compiled(), workers, new, True)
    terms, place = _merge_lexicons(plan, workers, pieces, binary, select)
    queue = deque((place[id(worker)], piece) for worker, piece in pieces)
    del workers, pieces  # lexicons are of no more use, and pieces go as they are filled in
    return terms, _to_csr(queue, len(terms), dtype, binary)


def _merge_lexicons(
    plan: AnalyzerSpec, workers: list[Worker], pieces: list, binary: bool, select: Select | None
) -> tuple[Terms, dict]:
    """The terms to keep, and by worker the column of each of its lexicon's numbers."""
    merged = ops.core().Merged([worker.lexicon for worker in workers], [worker.workspace for worker in workers])
    for level in range(1, plan.max_n + 1 if plan.analyzer == 0 else 2):
        for _ in map_ordered(range(len(workers)), partial(merged.sort, level=level)):
            pass
        merged.join(level)
    rows = np.empty(len(merged), dtype=np.int64)
    merged.rows(rows)
    chosen = rows > 0  # the others are only parts of longer n-grams
    rows = rows if chosen.all() else rows[chosen]
    place = _places(merged, workers, chosen)
    if select is not None and len(rows):
        n, d = sum(len(piece) for _, piece in pieces), len(rows)
        keep = select(rows, lambda: _totals(pieces, place, d, binary), n)
        if not keep.all():
            chosen[chosen], rows = keep, rows[keep]
            place = _places(merged, workers, chosen)
    order = _by_frequency(rows)
    del rows
    return _term_strings(merged, _columns(chosen), order), place


def _by_frequency(rows: np.ndarray) -> np.ndarray:
    """Terms from the commonest to the rarest; 16 bits are sorted in linear time."""
    common = np.minimum(rows, np.iinfo(np.int16).max, out=rows).astype(np.int16)
    return np.argsort(-common, kind="stable").astype(np.uint32)


def _columns(chosen: np.ndarray) -> np.ndarray:
    columns = np.cumsum(chosen, dtype=np.uint32)
    columns -= 1
    columns[~chosen] = NO_COLUMN
    return columns


def _places(merged: Any, workers: list[Worker], chosen: np.ndarray) -> dict[int, np.ndarray]:
    """By worker: the column of each of its lexicon's numbers."""
    columns, places = _columns(chosen), {}
    for p, worker in enumerate(workers):
        places[id(worker)] = np.empty(merged.numbers(p), dtype=np.uint32)
        merged.columns(p, columns, places[id(worker)])
    return places


def _totals(pieces: list, place: dict[int, np.ndarray], size: int, binary: bool) -> np.ndarray:
    total = np.zeros(size, dtype=np.int64)
    for worker, piece in pieces:
        ops.core().text_survey(piece, place[id(worker)], binary, np.empty(len(piece), dtype=np.int64), total)
    return total


def _term_strings(merged: Any, columns: np.ndarray, order: np.ndarray) -> Terms:
    spans = [(at, min(at + TERMS, len(columns))) for at in range(0, len(columns), TERMS)]
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    for _ in map_ordered(spans, lambda span: merged.lengths(*span, columns, offsets[1:])):
        pass
    np.cumsum(offsets, out=offsets)
    letters = np.empty(offsets[-1], dtype=np.uint8)
    for _ in map_ordered(spans, lambda span: merged.spell(*span, columns, offsets, letters)):
        pass
    return Terms(letters, offsets, order)


def transform_counts(known: CompiledVocabulary, source: Source, dtype: Any, binary: bool = False) -> sparse.csr_array:
    """How often each term of a vocabulary occurs in each text."""
    core = ops.core()
    new = lambda: Worker(known.lexicon, core.Workspace())  # noqa: E731
    pieces = _count(source, known.plan.compiled(), known.workers, new, False)
    queue = deque((known.column, piece) for _, piece in pieces)
    del pieces  # they go as they are filled in
    return _to_csr(queue, known.size, dtype, binary)


def _to_csr(queue: deque, columns: int, dtype: Any, binary: bool) -> sparse.csr_array:
    """CSR of the pieces in the queue, which is emptied."""
    core = ops.core()
    starts = np.concatenate([[0], np.cumsum([len(piece) for _, piece in queue], dtype=np.int64)]).astype(np.int64)
    lengths = np.empty(starts[-1], dtype=np.int64)

    def survey(job: tuple[int, tuple]) -> None:
        p, (column, piece) = job
        core.text_survey(piece, column, binary, lengths[starts[p] : starts[p + 1]], None)

    def fill(job: tuple[int, tuple]) -> None:
        p, (column, piece) = job
        core.text_fill(piece, column, columns, binary, indptr[starts[p] : starts[p + 1] + 1], indices, data)

    for _ in map_ordered(enumerate(queue), survey):
        pass
    indptr, indices, data = _allocate_csr(lengths, dtype)
    for _ in map_ordered(enumerate(_drain(queue)), fill):
        pass
    return _csr(data, indices, indptr, columns, dtype)


def _drain(queue: deque) -> Iterator:
    while queue:
        yield queue.popleft()


def _allocate_csr(lengths: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    cells = int(indptr[-1])
    kernel = np.dtype(dtype) if np.dtype(dtype) in (np.float32, np.float64) else np.dtype(np.int64)
    return indptr, np.empty(cells, dtype=np.int32), np.empty(cells, dtype=kernel)


def _csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: int, dtype: Any) -> sparse.csr_array:
    wide = np.int64 if indptr[-1] > np.iinfo(np.int32).max else np.int32  # SciPy has one type for both
    cells = data.astype(dtype, copy=False), indices.astype(wide, copy=False), indptr.astype(wide, copy=False)
    X = sparse.csr_array(cells, shape=(len(indptr) - 1, columns))
    X.has_sorted_indices = X.has_canonical_format = True
    return X


NORMS = {None: 0, "l1": 1, "l2": 2}


def hash_counts(
    plan: AnalyzerSpec, source: Source, columns: int, dtype: Any, signs: bool, binary: bool, norm: str | None
) -> sparse.csr_array:
    """The texts' tokens, added up in the columns that their hashes name."""
    core, analysis, stops = ops.core(), plan.compiled(), stop_word_lexicon(plan)
    workspaces: list[Any] = []

    def one(chunk: Chunk) -> Any:
        workspace = workspaces.pop() if workspaces else core.Workspace()
        piece = core.text_hash(stops, workspace, analysis, chunk.documents, chunk.start, chunk.stop, columns, signs)
        workspaces.append(workspace)
        return _check_piece(piece, chunk)

    queue = deque(map_ordered(chunks(source), one))
    lengths = [np.empty(len(piece), dtype=np.int64) for piece in queue]
    for piece, length in zip(queue, lengths, strict=True):
        piece.lengths(length)
    indptr, indices, data = _allocate_csr(np.concatenate([np.empty(0, dtype=np.int64), *lengths]), dtype)
    starts = indptr[np.cumsum([0, *map(len, lengths)])]

    def fill(job: tuple[int, Any]) -> None:
        p, piece = job
        core.text_fill_hashed(piece, binary, NORMS[norm], int(starts[p]), indices, data)

    for _ in map_ordered(enumerate(_drain(queue)), fill):
        pass
    return _csr(data, indices, indptr, columns, dtype)
