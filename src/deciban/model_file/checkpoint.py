"""How far a pass over files has come, in a file: what was added up, and which pieces it is the sum of.

A job that was killed goes on from there and ends in the same bits, for pieces are always added in their order. The file
has the form of a model file (safetensors, never pickle), is written whole or not at all, and tells which data and which
settings it belongs to: those of another job are refused. It goes when the job is done.

>>> import pathlib, tempfile
>>> import numpy as np
>>> from deciban.rows.rows import LabelledTally
>>> keeper = Checkpoint(pathlib.Path(tempfile.mkdtemp()) / "fit.checkpoint", {"settings": "GaussianNB()"}, every=0.0)
>>> keeper.after(Progress(2, 2000, LabelledTally(np.array(["a"], dtype=object), np.array([2000]))))
>>> keeper.start().rows, keeper.start().total.classes.tolist()
(2000, ['a'])
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from deciban.engines.stream import Progress
from deciban.errors import DataError, ModelFileError
from deciban.model_file import tensors
from deciban.model_file.codec import Decoder, Encoder
from deciban.rows.rows import LabelledTally
from deciban.rows.sample import BatchSample

FORMAT = "1"
EVERY = 10.0  # seconds between two checkpoints


def fingerprint(name: str, settings: Mapping[str, Any], roles: Any, source: Any) -> dict[str, str]:
    """What a checkpoint belongs to, in words that are compared."""
    if not source.stamps:
        raise DataError(
            f"a checkpoint of {source.name} could not go on: only files can be read from the middle on\n\n"
            "hint: write the rows to files, Parquet or CSV, and give their path"
        )
    encoder = Encoder()
    told = encoder.members(dict(settings), "settings")
    digest = hashlib.sha256()
    for name, array in encoder.arrays.items():
        digest.update(f"{name}{array.dtype}{array.shape}".encode())
        digest.update(array.tobytes())
    columns = (roles.features, roles.target, roles.weight)
    return {
        "files": json.dumps(source.stamps),
        "columns": json.dumps([[field.name, str(field.type)] for field in source.schema]),
        "settings": json.dumps([name, told, digest.hexdigest(), *columns]),
    }


class Checkpoint:
    """Writes a checkpoint now and then, and finds where an earlier job had come."""

    def __init__(self, path: str | os.PathLike, mark: Mapping[str, str], every: float | None = None):
        self.path, self.mark = Path(path), dict(mark)
        self.every, self.last = EVERY if every is None else every, time.monotonic()

    def after(self, reached: Progress) -> None:
        """Heard of every piece."""
        if (
            time.monotonic() - self.last >= self.every
            and isinstance(reached.total, LabelledTally)
            and not reached.total.again
        ):
            self.write(reached)
            self.last = time.monotonic()

    def write(self, reached: Progress) -> None:
        encoder = Encoder()
        node = {
            "at": encoder.members({"pieces": reached.pieces, "rows": reached.rows, "types": dict(reached.types)}, "at"),
            "total": encoder.members(_parts(reached.total), "total"),
        }
        told = {"checkpoint": FORMAT, "state": json.dumps(node, allow_nan=False), **self.mark}
        tensors.write(self.path, told, encoder.arrays)

    def start(self) -> Progress | None:
        """Where to go on; None: at the beginning."""
        if not self.path.exists():
            return None
        try:
            with open(self.path, "rb", buffering=0) as file:
                header = tensors.Header.of(file)
                arrays = header.arrays(file)
        except ModelFileError as wrong:
            raise self._refused("no whole checkpoint") from wrong
        if header.metadata.get("checkpoint") != FORMAT:
            raise self._refused("no checkpoint of this version of the library")
        for what, words in self.mark.items():
            if header.metadata.get(what) != words:
                raise self._refused(f"the checkpoint of another job: its {what} are not those of this one")
        node, decoder = json.loads(header.metadata["state"]), Decoder(arrays)
        at = decoder.members(node["at"])
        total = _whole(decoder.members(node["total"]))
        return Progress(at["pieces"], at["rows"], total, tuple(at["types"].items()))

    def _refused(self, why: str) -> DataError:
        return DataError(f"{self.path} is {why}\n\nhint: delete it to begin anew, or name another file")

    def done(self) -> None:
        """The job is: the next one begins anew."""
        self.path.unlink(missing_ok=True)


def _parts(total: LabelledTally) -> dict[str, Any]:
    """What a file holds of a sum: rows of a sample as Arrow writes them."""
    out = {one.name: getattr(total, one.name) for one in fields(LabelledTally)}
    if total.sample is not None:
        out["sample"] = total.sample.packed()
    return out


def _whole(parts: dict[str, Any]) -> LabelledTally:
    sample = parts["sample"]
    return LabelledTally(**{**parts, "sample": None if sample is None else BatchSample.unpacked(sample)})
