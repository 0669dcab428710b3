"""Parquet, Feather and Arrow files and streams: types are in the file; rows come by row groups or batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from deciban.errors import DataError
from deciban.files.reading import ROWS, Source

PARQUET, ARROW, FEATHER, STREAM = b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"


def read_parquet(path: Path | pa.BufferReader, name: str) -> Source:
    from pyarrow import parquet  # takes its time to import

    try:
        file = parquet.ParquetFile(path, pre_buffer=False, memory_map=False)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(name, "Parquet", error) from None
    count, seen = file.metadata.num_rows, [0]
    wide = max(1, len(file.schema_arrow.names))

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            for batch in file.iter_batches(batch_size=max(1024, min(ROWS, (1 << 22) // wide)), use_threads=False):
                seen[0] += batch.num_rows
                yield batch
        except (pa.ArrowInvalid, OSError) as error:
            raise _damaged(name, "Parquet", error) from None

    bulk = count * 24.0 * wide
    return Source(name, "Parquet", file.schema_arrow, batches, lambda: seen[0] / max(count, 1), bulk=bulk)


def read_arrow(path: Path | pa.BufferReader, name: str, magic: bytes, size: int | None) -> Source:
    """Arrow files (Feather 2 is one), Arrow streams, and Feather 1."""
    try:
        if magic.startswith(FEATHER):
            from pyarrow import feather

            table = feather.read_table(path)
            return Source(name, "Feather", table.schema, lambda: iter(table.to_batches()), bulk=float(table.nbytes))
        stream = pa.OSFile(str(path)) if isinstance(path, Path) else path
        reader = pa.ipc.open_file(stream) if magic.startswith(ARROW) else pa.ipc.open_stream(stream)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(name, "Arrow", error) from None
    seen = [0]
    many = reader.num_record_batches if magic.startswith(ARROW) else None

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            for batch in (reader.get_batch(i) for i in range(many)) if many is not None else reader:
                seen[0] += 1
                yield from pa.Table.from_batches([batch]).to_batches(max_chunksize=ROWS)
        except (pa.ArrowInvalid, OSError) as error:
            raise _damaged(name, "Arrow", error) from None

    done = (lambda: seen[0] / many) if many else (lambda: None)
    return Source(name, "Arrow", reader.schema, batches, done, bulk=6.0 * (size or 0))


def _damaged(name: str, kind: str, error: Any) -> DataError:
    why = str(error).splitlines()[0].rstrip(".")
    return DataError(f"{name} is no whole {kind} file ({why})\n\nhint: write or copy it again")
