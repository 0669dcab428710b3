"""dask-ml's fits on a folder of Parquet files, as `bench.engines` races them.

dask-ml is in no extra of this library. `pip install dask-ml` into an environment of its own, or into this one:

    pip install --no-deps --target PLACE dask-ml dask-glm multipledispatch numba llvmlite sparse
    PYTHONPATH=.:PLACE python -m bench.engines --only dask
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd
from dask_ml.linear_model import LogisticRegression
from dask_ml.naive_bayes import GaussianNB
from pyarrow import parquet

from bench.engines_data import NAMES


def _arrays(folder: Path) -> tuple[Any, Any]:
    """Rows and labels in the same chunks, a file each; read_parquet would lump files together, for each in another way.

    With `meta`: else the scheduler, as it makes the graph, asks for a task that finds it, and waits for itself forever.
    """
    files = sorted(folder.glob("*.parquet"))
    empty = parquet.read_schema(files[0]).empty_table().to_pandas()
    frame = dd.from_map(pd.read_parquet, files, meta=empty)
    return frame[NAMES].to_dask_array(lengths=True), frame["label"].to_dask_array(lengths=True)


def gaussian(folder: Path) -> Any:
    """All that is learned in one computation: one by one the files would be read for each."""
    model = GaussianNB().fit(*_arrays(folder))
    return dask.compute(model.theta_, model.sigma_, model.class_prior_)


def logistic(folder: Path, C: float) -> Any:
    """With the rows in the workers' memory, where it would else read the files at every step."""
    return LogisticRegression(solver="lbfgs", C=C).fit(*dask.persist(*_arrays(folder)))
