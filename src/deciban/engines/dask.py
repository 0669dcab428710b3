"""Dask: partitions are summed on their workers, and the sums are added by a tree of tasks.

It uses the current client (a `LocalCluster` or any other), or without one by Dask's threads. Sums are values
that tasks return, so Dask recomputes those of a lost worker and the result stays exact. Only sums travel:
about one a partition, and one to the client. Dask's dashboard shows how far a pass has come.

>>> import dask.dataframe as dd, pandas as pd
>>> rows = dd.from_pandas(pd.DataFrame({"a": range(10)}), npartitions=3)
>>> total(rows, lambda batch: batch.num_rows)
10
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import add
from typing import Any

import numpy as np

from deciban.data import frames
from deciban.engines.partitions import each_of_partition, sum_of_partition, sum_present, tree_reduce
from deciban.errors import ClusterError, DataError, DecibanError

PATIENCE = 120.0  # seconds to go on without a single worker; `dask.config.set({"deciban.patience": "10 minutes"})`
GLANCE = 1.0  # seconds between two looks at the cluster


def takes(data: Any) -> bool:
    """Whether it is a Dask DataFrame.

    >>> takes([1, 2])
    False
    """
    return type(data).__module__.startswith("dask.") and type(data).__name__ == "DataFrame"


def ready(data: Any) -> Any:
    """The data; raises DataError if they are not for Dask."""
    try:
        import dask.dataframe  # noqa: F401
    except ImportError as bad:
        raise ImportError("this engine needs Dask\n\nhint: pip install 'deciban[dask]'") from bad
    if not takes(data):
        raise DataError(
            f"engine 'dask' reads Dask DataFrames, not a {type(data).__name__}\n\n"
            "hint: dask.dataframe.read_parquet(path) and from_pandas(frame, npartitions=…) make one"
        )
    return data


def names(data: Any) -> list[str]:
    return frames.names(data)


def schema(data: Any) -> Any:
    """The Arrow schema, as far as Dask knows it: columns of objects, or of what Arrow cannot hold, have type null."""
    import pyarrow as pa

    types = {}
    for at, name in enumerate(names(data)):
        try:
            types[name] = _column(data._meta.iloc[:, at]).type
        except DataError:
            types[name] = pa.null()
    return pa.schema(types)


def total(
    data: Any,
    f: Callable[[Any], Any],
    plus: Callable[[Any, Any], Any] = add,
    *,
    columns: Sequence[str] | None = None,
    coded: Sequence[str] = (),
    progress: Any = None,
) -> Any:
    """Σ f(batch) over the partitions in their order; of these columns (None: all), texts as they are."""
    import dask

    frame = _some(data, columns)
    sent = dask.delayed(f, pure=False, traverse=False)  # once to a worker, not with every task
    # one task reads a partition and sums it up: between two, Dask might move the rows to another worker
    parts = frame.map_partitions(_of, sent, plus, meta=(None, "object"), enforce_metadata=False).to_delayed()
    join = dask.delayed(sum_present, pure=False, traverse=False)
    return _result(tree_reduce(dict(enumerate(parts)), lambda group: join(group, plus)))


def transform(data: Any, f: Callable[[Any], Any], schema: Any, columns: Sequence[str] | None = None) -> Any:
    """The same frame, lazily, with the columns that f appends; `columns`: those that f reads."""
    import pandas as pd

    new = schema.names[len(data.columns) :]
    empty = schema.empty_table().select(new).to_pandas()
    meta = pd.concat([data._meta, empty.set_index(data._meta.index[:0])], axis=1)
    return data.map_partitions(_appended, f, new, columns, meta=meta, enforce_metadata=False)


@contextmanager
def kept(data: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Persist the data in the workers' memory. Without a cluster nothing is persisted: it may not fit into memory."""
    if _client() is None:
        yield data
        return
    from distributed import futures_of

    held = _some(data, columns).persist()
    theirs = {id(future) for future in futures_of(data)}  # who persisted the data himself keeps them
    try:
        yield held
    finally:
        for future in futures_of(held):  # which hang in a cycle of references: Dask would keep the rows for long
            if id(future) not in theirs:
                future.release()


def _some(frame: Any, columns: Sequence[str] | None) -> Any:
    """Those columns of a frame, of Dask's or of pandas; their names may be no texts there."""
    if columns is None:
        return frame
    known = dict(zip(names(frame), frame.columns, strict=True))
    return frame[[known[name] for name in columns]]


def _of(frame: Any, f: Callable, plus: Callable, partition_info: Any = None) -> Any:
    return sum_of_partition(_batches(frame), f, plus, partition_info["number"])


def _batches(frame: Any) -> list[Any]:
    """A pandas frame as Arrow batches, at least one."""
    import pyarrow as pa

    table = pa.Table.from_arrays([_column(frame.iloc[:, at]) for at in range(frame.shape[1])], names(frame))
    return table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]


def _column(cells: Any) -> Any:
    """A column of a pandas frame as Arrow has it, a NaN as a missing cell. Numbers without one are not copied."""
    import pyarrow as pa

    if cells.dtype in (np.float64, np.float32):
        numbers = cells.to_numpy()
        with np.errstate(all="ignore"):
            if not np.isnan(numbers.sum()):
                return pa.array(numbers)
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as bad:
        raise DataError(
            f"column `{cells.name}`, of type {cells.dtype}, cannot be read in one of the partitions: {bad}\n\n"
            "hint: a column needs values of one type; leave others out with features=[…], or convert it: astype(str)"
        ) from None


def _appended(
    frame: Any, f: Callable, new: list[str], columns: Sequence[str] | None, partition_info: Any = None
) -> Any:
    """The rows with their index and types as they were, and the new columns."""
    import pandas as pd
    import pyarrow as pa

    batches = _batches(_some(frame, columns))
    found = each_of_partition(batches, f, partition_info["number"])
    answers = [pa.record_batch(wide.columns[-len(new) :], new) for wide in found]
    answers = pa.Table.from_batches(answers).to_pandas()
    return pd.concat([frame, answers.set_axis(frame.index)], axis=1)


def _client() -> Any:
    """The cluster's client that Dask would use now; None: it works in this process."""
    from dask.base import get_scheduler

    return getattr(get_scheduler(), "__self__", None)


def _result(root: Any) -> Any:
    """The value of a task; of several failures the one that the user can fix is raised."""
    client = _client()
    try:
        if client is None:
            return root.compute()
        future = client.compute(root, optimize_graph=False)
        try:
            return _awaited(client, future)
        finally:
            future.release()  # ends what is still under way
    except DecibanError as wrong:
        raise wrong.with_traceback(None) from None


def _awaited(client: Any, future: Any) -> Any:
    from concurrent.futures import CancelledError

    from dask import config
    from dask.utils import parse_timedelta
    from distributed import KilledWorker, wait

    patience = parse_timedelta(config.get("deciban.patience", PATIENCE))
    seen = time.monotonic()
    while True:
        try:
            with suppress(TimeoutError):
                wait(future, timeout=GLANCE)
            if future.done():
                return future.result(timeout=patience)
        except CancelledError as bad:
            raise ClusterError(
                "the connection to the Dask cluster was lost\n\n"
                "hint: check that its scheduler runs (its log has the reason), connect a new Client, and fit again"
            ) from bad
        except KilledWorker as bad:
            raise ClusterError(
                f"Dask's workers died at the same task, {bad.allowed_failures + 1} of them\n\n"
                "hint: most often a partition is larger than a worker's memory: repartition(partition_size='100MB')"
            ) from bad
        workers = _workers(client)
        if workers:
            seen = time.monotonic()
        elif time.monotonic() - seen > patience:
            if workers is None:
                raise ClusterError(
                    f"the scheduler of the Dask cluster has not answered for {patience:g} seconds\n\n"
                    "hint: check that it runs, and fit again with a new Client"
                )
            raise ClusterError(
                f"the Dask cluster has had no workers for {patience:g} seconds\n\n"
                "hint: start some, with memory for a partition each: client.cluster.scale(2); if they take long, wait: "
                'dask.config.set({"deciban.patience": "10 minutes"})'
            )


def _workers(client: Any) -> int | None:
    """The number of workers; None: the scheduler does not respond."""
    try:
        return len(client.sync(client.scheduler.ncores, callback_timeout=10 * GLANCE))
    except (OSError, TimeoutError, AttributeError):  # no scheduler: the client is connecting or closed
        return None
