"""Arrays by name in one file: the safetensors format, read with suspicion and written whole or not at all.

    length (8 bytes) · header, JSON: {name: {dtype, shape, data_offsets}, …, "__metadata__": {text: text}} · data

The format is so small that a dependency would be larger, and what is needed here is checks: the metadata holds a
`checksum` (SHA-256 of the whole file, the checksum's own digits as zeros): a file is what was written, or is refused.
Arrays of wide numbers come first: each starts where its numbers are aligned.

>>> import numpy as np, pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "a.safetensors"
>>> write(path, {"what": "squares"}, {"x": np.arange(4) ** 2})
>>> with open(path, "rb") as file:
...     header = Header.of(file)
...     header.metadata["what"], header.arrays(file)["x"].tolist()
('squares', [0, 1, 4, 9])
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from deciban.errors import ModelFileError
from deciban.io import atomic

DTYPES = {
    "F64": "<f8", "I64": "<i8", "U64": "<u8", "F32": "<f4", "I32": "<i4", "U32": "<u4",
    "F16": "<f2", "I16": "<i2", "U16": "<u2", "I8": "|i1", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
LONGEST = 100_000_000  # bytes of a header, safetensors' own limit
LINE = 64  # bytes: data start at a cache line
BLANK = "0" * 64  # what stands for the checksum where the checksum is taken
CHUNK = 1 << 24


def write(path: str | os.PathLike | BinaryIO, metadata: Mapping[str, str], arrays: Mapping[str, np.ndarray]) -> None:
    """The file appears under its name when it is complete and on the disk; until then an older one stays. What has
    `write` gets all bytes at once."""
    if not isinstance(path, str | os.PathLike):
        whole = BytesIO()
        _fill(whole, metadata, arrays)
        path.write(whole.getvalue())
        return
    atomic.atomic_write(path, lambda file: _fill(file, metadata, arrays))


def _fill(file: BinaryIO, metadata: Mapping[str, str], arrays: Mapping[str, np.ndarray]) -> None:
    names = sorted(arrays, key=lambda name: -arrays[name].dtype.itemsize)
    header: dict[str, Any] = {"__metadata__": {**metadata, "checksum": BLANK}}
    end = 0
    for name in names:
        a, start = arrays[name], end
        end += a.nbytes
        header[name] = {"dtype": NAMES[little(a.dtype)], "shape": list(a.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(8 + len(text)) % LINE)
    if len(text) > LONGEST:
        raise ModelFileError(f"a header of {len(text)} bytes\n\nhint: the format allows {LONGEST}")
    digest = hashlib.sha256()

    def put(data: Any) -> None:
        digest.update(data)
        file.write(data)

    put(len(text).to_bytes(8, "little"))
    put(text)
    for name in names:
        a = np.ascontiguousarray(arrays[name], dtype=little(arrays[name].dtype))
        if a.nbytes:
            put(memoryview(a).cast("B"))  # type: ignore[arg-type]
    file.seek(8 + text.index(f'"checksum":"{BLANK}"'.encode()) + len('"checksum":"'))
    file.write(digest.hexdigest().encode())


def little(dtype: np.dtype) -> np.dtype:
    return dtype.newbyteorder("<")


@dataclass(frozen=True)
class Header:
    """What a file says it holds; nothing of it is believed before `arrays` has checked."""

    metadata: dict[str, str]
    entries: dict[str, Any]
    raw: bytes  # length and text
    size: int  # of the whole file

    @classmethod
    def of(cls, file: BinaryIO) -> Header:
        """Of a file on the disk, or of bytes in memory (`io.BytesIO`)."""
        if isinstance(file, BytesIO):
            whole = len(file.getbuffer())
        else:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise _broken("it is no regular file")
            whole = found.st_size
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or not 2 <= length <= min(LONGEST, whole - 8):
            raise _broken("it does not start as a model file does")
        text = file.read(length)
        try:
            entries = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
            metadata = entries.pop("__metadata__")
            fine = all(isinstance(value, str) for value in metadata.values())
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            fine = False
        if not fine or len(text) != length:
            raise _broken("its header cannot be read")
        return cls(metadata, entries, start + text, whole)

    def arrays(self, file: BinaryIO) -> dict[str, np.ndarray]:
        """Read once, into one piece of memory that all arrays lie in."""
        places, size = self._places()
        memory = np.empty(size + LINE, dtype=np.uint8)
        first = -memory.ctypes.data % LINE
        data = memory[first : first + size]
        got = 0
        while got < size and (more := file.readinto(memoryview(data)[got : got + CHUNK])):  # type: ignore[attr-defined, arg-type]
            got += more
        if got != size or file.read(1):
            raise _broken("it changed while it was read")
        self._check(data)
        out = {}
        for name, (dtype, shape, start, end) in places.items():
            a = data[start:end].view(dtype).reshape(shape)
            out[name] = a.astype(dtype.newbyteorder("="), copy=False)
        return out

    def _places(self) -> tuple[dict[str, tuple[np.dtype, tuple[int, ...], int, int]], int]:
        """Where each array lies: one after the other, from the header's end to the file's, as large as their shapes."""
        places, end = {}, 0
        for name, entry in self.entries.items():
            try:
                dtype, shape, (start, stop) = np.dtype(DTYPES[entry["dtype"]]), entry["shape"], entry["data_offsets"]
                whole = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in [*shape, start, stop])
                fine = whole and len(shape) <= 32 and start == end and len(entry) == 3
                fine = fine and stop - start == math.prod(shape) * dtype.itemsize and start % dtype.itemsize == 0
            except (KeyError, TypeError, ValueError):
                fine = False
            if not fine:
                raise _broken(f"the array {name[:80]!r} is not where its shape and type would have it")
            places[name], end = (dtype, tuple(shape), start, stop), stop
        if len(self.raw) + end != self.size:
            raise _broken(f"it has {self.size} bytes, its header wants {len(self.raw) + end}")
        return places, end

    def _check(self, data: np.ndarray) -> None:
        told = self.metadata.get("checksum", "")
        digest = hashlib.sha256(self.raw.replace(f'"checksum":"{told}"'.encode(), f'"checksum":"{BLANK}"'.encode(), 1))
        digest.update(data)  # type: ignore[arg-type]
        if digest.hexdigest() != told:
            raise _broken("its checksum does not agree: it was changed or damaged after it was written")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a name twice")
    return out


def _no_number(name: str) -> None:
    raise ValueError(name)


def _broken(why: str) -> ModelFileError:
    return ModelFileError(f"not a model, or a damaged one: {why}\n\nhint: take a copy of it, or save the model again")
