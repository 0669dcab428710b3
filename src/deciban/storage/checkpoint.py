"""How far a pass over files has come, in a file: the sum so far, and the pieces that it is the sum of.

A job that was killed continues from there and ends in the same bits, because pieces are always added in their order.
The file has the form of a model file (safetensors, never pickle), is written whole or not at all, and names the data
and the settings that it belongs to: the checkpoint of another job is refused. It is deleted when the job is done.

`fit_on` makes a `Checkpoint` of the user's path; the pass asks it for the `JobCheckpoint` of its data and settings.

>>> import pathlib, tempfile
>>> import numpy as np
>>> from deciban.rows.rows import LabelledTally
>>> path = pathlib.Path(tempfile.mkdtemp()) / "fit.checkpoint"
>>> job = JobCheckpoint(path, {"settings": "GaussianNB()"}, every=0.0)
>>> job.after(Progress(2, 2000, LabelledTally(np.array(["a"], dtype=object), np.array([2000]))))
>>> job.start().rows, job.start().total.classes.tolist()
(2000, ['a'])
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from deciban.engines.stream import Progress
from deciban.errors import DataError, ModelFileError
from deciban.rows.rows import LabelledTally
from deciban.storage import tensors
from deciban.storage.codec import Decoder, Encoder, check_fields
from deciban.storage.invariants import labels_fault, tally_fault
from deciban.storage.registry import is_stored_as

FORMAT = 1
EVERY = 10.0  # seconds between two checkpoints


@dataclass(frozen=True)
class Checkpoint:
    """The file of a checkpoint, for any job."""

    path: str | os.PathLike

    def for_job(self, name: str, settings: Mapping[str, Any], roles: Any, source: Any) -> JobCheckpoint:
        """The checkpoint of one job: a classifier's name and settings, the columns and the opened data."""
        return JobCheckpoint(self.path, job_identity(name, settings, roles, source), weighted=roles.weight is not None)


def job_identity(name: str, settings: Mapping[str, Any], roles: Any, source: Any) -> dict[str, str]:
    """What a checkpoint belongs to, as texts that are compared."""
    if not source.stamps:
        raise DataError(
            f"a checkpoint of {source.name} could not go on: only files can be read from the middle on\n\n"
            "hint: write the rows to files, Parquet or CSV, and give their path"
        )
    encoder = Encoder()
    encoded = encoder.members(dict(settings), "settings")
    digest = hashlib.sha256()
    for array_name, array in encoder.arrays.items():
        digest.update(f"{array_name}{array.dtype}{array.shape}".encode())
        digest.update(array.tobytes())
    columns = (roles.features, roles.target, roles.weight)
    return {
        "files": json.dumps([stamp[:3] for stamp in source.stamps]),  # a copy of a file has another number
        "columns": json.dumps([[field.name, str(field.type)] for field in source.schema]),
        "settings": json.dumps([name, encoded, digest.hexdigest(), *columns]),
    }


class JobCheckpoint:
    """Writes how far a job has come, every few seconds, and reads how far an earlier run of the same job came."""

    def __init__(
        self, path: str | os.PathLike, identity: Mapping[str, str], every: float | None = None, weighted: bool = True
    ):
        self.path, self.identity, self.weighted = Path(path), dict(identity), weighted
        self.every, self.last = EVERY if every is None else every, time.monotonic()

    def after(self, reached: Progress) -> None:
        """Called after every piece."""
        if (
            time.monotonic() - self.last >= self.every
            and isinstance(reached.total, LabelledTally)
            and not reached.total.again
        ):
            self.write(reached)
            self.last = time.monotonic()

    def write(self, reached: Progress) -> None:
        encoder = Encoder()
        at = {"pieces": reached.pieces, "rows": reached.rows, "types": dict(reached.types)}
        metadata = {
            "checkpoint": FORMAT,
            **self.identity,
            "at": encoder.members(at, "at"),
            "total": encoder.members(_parts(reached.total), "total"),
        }
        tensors.write(self.path, metadata, encoder.arrays)

    def start(self) -> Progress | None:
        """Where to continue; None: at the beginning."""
        if not self.path.exists():
            return None
        try:
            with tensors.open_file(self.path) as file:
                header = tensors.Header.from_file(file)
                self._check(header.metadata)
                decoder = Decoder(header.arrays(file))
                at, total = (decoder.members(header.metadata[part]) for part in ("at", "total"))
            reached = Progress(at["pieces"], at["rows"], _whole(total), tuple(at["types"].items()))
            fault = self._fault(reached)
        except (OSError, MemoryError, DataError):
            raise
        except ModelFileError as wrong:
            raise self.refused("no whole checkpoint") from wrong
        except Exception as wrong:  # made on purpose, so anything may be wrong
            raise self.refused(f"no checkpoint ({type(wrong).__name__}: {wrong})") from wrong
        if fault:
            raise self.refused(f"no sum over rows: {fault}")
        return reached

    def _fault(self, reached: Progress) -> str:
        """What is wrong with numbers that a file holds; "": nothing."""
        total = reached.total
        whole = all(isinstance(number, int) and 0 <= number < 1 << 62 for number in (reached.pieces, reached.rows))
        if not whole or not all(isinstance(text, str) for pair in reached.types for text in pair):
            return "pieces and rows are no numbers"
        if total.tally is None:
            return ""
        if total.again:
            return "rows were not added up"
        words = is_stored_as(total.tally, "WordTally")
        wrong = ("" if total.tally.is_consistent() else "its words are none") if words else tally_fault(total.tally)
        if not words and not wrong and len(total.tally.parts) != 2:
            return "it has other parts"
        if fault := labels_fault(total.classes) or wrong:
            return fault
        rows, n = total.rows, total.tally.n if words else total.tally.parts[0].n
        if rows.dtype != np.int64 or rows.shape != (total.tally.k,) or len(total.classes) != total.tally.k:
            return "its rows are not of its classes"
        counted = self.weighted or np.array_equal(rows, n)
        return "" if (rows >= 0).all() and rows.sum() <= reached.rows and counted else "its rows do not add up"

    def _check(self, metadata: Mapping[str, Any]) -> None:
        if metadata.get("checkpoint") != FORMAT:
            raise self.refused("no checkpoint of this version of the library")
        for what, words in self.identity.items():
            if metadata.get(what) != words:
                raise self.refused(f"the checkpoint of another job: its {what} are not those of this one")

    def refused(self, why: str) -> DataError:
        return DataError(f"{self.path} is {why}\n\nhint: delete it to start from the beginning, or name another file")

    def done(self) -> None:
        """The job is complete: delete the file."""
        self.path.unlink(missing_ok=True)


def _parts(total: LabelledTally) -> dict[str, Any]:
    """What a file holds of a sum."""
    out = {one.name: getattr(total, one.name) for one in fields(LabelledTally)}
    if total.sample is not None:
        out["sample"] = total.sample.stored()
    return out


def _whole(parts: dict[str, Any]) -> LabelledTally:
    out = LabelledTally(**parts)
    hash(out.schema)  # raises TypeError for values that cannot be compared
    return check_fields(out)
