"""What every reader gives: names of columns, and batches of rows, one at a time, of a file of any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from deciban.files.arrow import pa

ROWS = 1 << 16  # of a batch, where the reader may choose
Piece = Callable[[], Iterator[pa.RecordBatch]]  # a run of rows that a thread may read by itself
Cut = Callable[[Sequence[str] | None, Sequence[str]], Iterator[Piece]]
Stamp = tuple[str, int, int]  # name, size and time of a file, by which a change is told


@dataclass(frozen=True)
class Source:
    """A table in a file. `batches` may be gone through once.

    >>> rows = pa.record_batch({"a": [1, 2]})
    >>> some = Source("small", "made here", rows.schema, lambda: iter([rows]))
    >>> some.names, some.table().num_rows
    (['a'], 2)
    """

    name: str
    kind: str  # of file, in words
    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]
    done: Callable[[], float | None] = field(default=lambda: None)  # share of the file that was read; None: unknown
    target: str | None = None  # the column that such a file has its classes in
    text: str | None = None  # and its texts
    bulk: float = 0.0  # bytes that all rows may need in memory, roughly
    notes: Sequence[str] = ()  # how the file was read, where that is not plain; some come with the rows
    delimiter: str | None = None  # of a CSV file
    lines: Callable[[Sequence[str]], Iterator[tuple[pa.Table, pa.Array]]] | None = None  # those columns, and the text
    cut: Cut | None = None  # see `pieces`; None: batches come from one reader
    rows: int | None = None  # where the file says
    like: Any = None  # what the rows came as, where that is no file; [frame]: frames, one by one
    heads: Sequence[str] | None = None  # of a CSV file: the names above all cells of its lines
    header: str = ""  # of a CSV file: which line was taken for what
    named: bool = True  # whether the file names its columns
    stamps: tuple[Stamp, ...] = ()  # of its files; none: it may not be there again

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    def pieces(self, columns: Sequence[str] | None = None, coded: Sequence[str] = ()) -> Iterator[Piece]:
        """The rows in their order, in runs whose borders depend on the file alone; those columns, or all. Texts of
        `coded` columns may come as codes with a dictionary, which is quicker where there are few."""
        if self.cut is not None:
            return self.cut(columns, coded)
        wanted = None if columns is None else list(columns)
        return (partial(_alone, batch if wanted is None else batch.select(wanted)) for batch in self.batches())

    def table(self) -> pa.Table:
        """All rows at once."""
        batches = list(self.batches())
        if not batches:
            return self.schema.empty_table()
        return pa.concat_tables([pa.Table.from_batches([b]) for b in batches], promote_options="permissive")


def _alone(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    yield batch
