"""What engines of partitioned data share: batches of equal size, and tree reduction.

A partition's rows are cut into even batches, whose results are added from left to right; the partitions' sums are added
by groups of `FAN` neighbours, then the groups' sums, and so on. Borders and tree depend on the rows and the partitions
alone: any number of workers, and any order in which they are done, gives the same bits.

>>> tree_reduce(dict(enumerate("abcde")), "".join, fan=2)
'abcde'
>>> import pyarrow as pa
>>> [batch.num_rows for batch in rebatch([pa.record_batch({"a": [1, 2]}), pa.record_batch({"a": [3]})], 2)]
[2, 1]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from operator import add, iadd
from typing import TYPE_CHECKING, Any

from deciban.errors import DecibanError, relocate

if TYPE_CHECKING:
    import pyarrow as pa

FAN = 16  # sums that one worker adds
CELLS = 1 << 20  # of a batch, about: 8 MB


def sum_of_partition(batches: Iterable[pa.RecordBatch], f: Callable, plus: Callable, number: int) -> Any:
    """Σ f(batch) of the rows of one partition; None where there are no batches."""
    plus = iadd if plus is add else plus  # results of f have a single owner
    out = None
    for part in each_of_partition(batches, f, number):
        out = part if out is None else plus(out, part)
    return out


def each_of_partition(batches: Iterable[pa.RecordBatch], f: Callable, number: int) -> Iterator[Any]:
    """f of each even batch of one partition. An error names the row and the partition."""
    rows = 0
    for batch in rebatch(batches):
        try:
            yield f(batch)
        except DecibanError as wrong:
            there = relocate(wrong, rows)
            raise type(wrong)(re.sub(r"\b((?:row|text) \d+)\b", rf"\1 of partition {number}", str(there))) from None
        rows += batch.num_rows


def rebatch(batches: Iterable[pa.RecordBatch], rows: int | None = None) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of so many, by default as many as there may be for so many columns."""
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        rows = rows or batch_rows(batch.num_columns)
        waiting.append(batch)
        held += batch.num_rows
        if held < rows:
            continue
        whole = _one(waiting)
        stop = held // rows * rows
        yield from (whole.slice(start, rows) for start in range(0, stop, rows))
        waiting, held = ([whole.slice(stop)] if held > stop else []), held - stop
    if waiting:
        yield _one(waiting)


def batch_rows(columns: int) -> int:
    """How many rows a batch of so many columns has."""
    from deciban.io.source import ROWS

    return min(ROWS, max(1024, CELLS // max(columns, 1)))


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    import pyarrow as pa

    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def tree_reduce(parts: Mapping[int, Any], join: Callable[[list], Any], fan: int = FAN) -> Any:
    """Join groups of neighbours until one value is left; None if there is none."""
    while len(parts) > 1:
        groups: dict[int, list] = {}
        for number in sorted(parts):
            groups.setdefault(number // fan, []).append(parts[number])
        parts = {number: join(group) if len(group) > 1 else group[0] for number, group in groups.items()}
    return next(iter(parts.values()), None)


def sum_present(values: Iterable[Any], plus: Callable) -> Any:
    """The sum of the values that are not None."""
    some = [value for value in values if value is not None]
    return reduce(plus, some) if some else None
