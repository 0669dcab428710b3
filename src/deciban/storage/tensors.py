"""Arrays by name and JSON in one file of the safetensors format.

    length (8 bytes) · header, JSON: {"__metadata__": {"deciban": text}, name: {dtype, shape, data_offsets}, …} · data

The text is JSON: what the caller stores, SHA-256 of each array, and `checksum`, SHA-256 of length and header with the
checksum's own digits as zeros. A file is what was written, or is refused; an array can be checked without the others.

Bytes are those that the package `safetensors` writes (a test compares them), with one metadata key, because the package
does not promise an order of several: equal content makes equal bytes. The package itself is not used, for two reasons.
Its writer copies all arrays twice, or writes to a file of its own, which a killed process leaves behind; here they are
written without a copy, and the file appears when it is complete. Its reader maps a file into memory, and a mapped file
that another process shortens ends this process (SIGBUS) where a read ends in an error; and it accepts names that occur
twice. Here, only arrays that are asked for are read.

>>> import numpy as np, pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "a.safetensors"
>>> write(path, {"what": "squares"}, {"x": np.arange(4) ** 2})
>>> with open(path, "rb") as file:
...     header = Header.from_file(file)
...     header.metadata["what"], header.arrays(file)["x"].tolist()
('squares', [0, 1, 4, 9])
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO, RawIOBase
from typing import Any, BinaryIO

import numpy as np

from deciban.errors import ModelFileError
from deciban.io import atomic

DTYPES = {
    "U64": "<u8", "I64": "<i8", "F64": "<f8", "F32": "<f4", "U32": "<u4", "I32": "<i4",
    "F16": "<f2", "U16": "<u2", "I16": "<i2", "I8": "|i1", "U8": "|u1", "BOOL": "|b1",
}  # in the order of arrays in a file, the widest first: each starts where its numbers are aligned  # fmt: skip
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
KEY = "deciban"  # of the metadata
MAX_HEADER = 100_000_000  # bytes, safetensors' own limit
MAX_DIMENSIONS = 32
ALIGNMENT = 8  # bytes, of the data's start in the file
BLANK = "0" * 64  # in place of the checksum where the checksum is computed
CHUNK = 1 << 24
NO_WAIT = os.O_NONBLOCK if os.name == "posix" else 0
RESERVED = ("checksum", "arrays")


def write(path: str | os.PathLike | BinaryIO, metadata: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file; until it is complete and on the disk, an older file of that name stays. An object with a method
    `write` gets all bytes, in one call if it takes them."""
    buffers = serialize(metadata, arrays)
    if isinstance(path, str | os.PathLike):
        atomic.atomic_write(path, lambda file: file.writelines(buffers))
    else:
        _write_all(path, b"".join(buffers))


def _write_all(file: Any, content: bytes) -> None:
    """Write to any object with a method `write`; a file without a buffer may take a part only, as on a full disk."""
    written = file.write(content)
    while isinstance(file, RawIOBase) and written != len(content):
        if not written:
            raise BlockingIOError(errno.EAGAIN, "the file takes no more bytes")
        content = content[written:]
        written = file.write(content)


def serialize(metadata: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> list[Any]:
    """The buffers that a file consists of: length and header, then each array."""
    own = {name: np.asarray(arrays[name], dtype=little(arrays[name].dtype), order="C") for name in sorted(arrays)}
    buffers = {name: _bytes_of(a) for name, a in own.items()}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in buffers.items()}
    content = {"checksum": BLANK, **metadata, "arrays": digests}
    header: dict[str, Any] = {"__metadata__": {KEY: json.dumps(content, separators=(",", ":"), allow_nan=False)}}
    order, end = list(DTYPES), 0
    for name in sorted(own, key=lambda name: order.index(NAMES[own[name].dtype])):  # stable: then by name
        start, end = end, end + own[name].nbytes
        header[name] = {"dtype": NAMES[own[name].dtype], "shape": own[name].shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    if len(text) > MAX_HEADER:
        raise ModelFileError(f"a header of {len(text)} bytes\n\nhint: the format allows {MAX_HEADER}")
    blank = len(text).to_bytes(8, "little") + text
    checksum = hashlib.sha256(blank).hexdigest()
    del header["__metadata__"]
    return [blank.replace(_mark(BLANK), _mark(checksum), 1), *(buffers[name] for name in header)]


def _mark(checksum: str) -> bytes:
    """How the checksum stands in a header: JSON in a text of JSON."""
    return rf"{{\"checksum\":\"{checksum}\"".encode()


def _bytes_of(a: np.ndarray) -> Any:
    return a.reshape(-1).view(np.uint8)


def little(dtype: np.dtype) -> np.dtype:
    return dtype.newbyteorder("<")


def open_file(path: str | os.PathLike) -> BinaryIO:
    """A file open for reading; a pipe without a writer is opened too, for `Header.from_file` to refuse."""
    return open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | NO_WAIT))


@dataclass(frozen=True)
class Place:
    """Where an array lies in the data, and what it is."""

    dtype: np.dtype
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Header:
    """The header of a file, as it was written: its checksum agrees."""

    metadata: dict[str, Any]  # what the caller stored
    digests: dict[str, str]  # of the arrays
    entries: dict[str, Any]
    length: int  # where the data start
    size: int  # of the whole file

    @classmethod
    def from_file(cls, file: BinaryIO) -> Header:
        """Read from a file on the disk, or from bytes in memory (`io.BytesIO`)."""
        if isinstance(file, BytesIO):
            size = len(file.getbuffer())
        else:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise broken("it is no regular file")
            size = found.st_size
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or not 2 <= length <= min(MAX_HEADER, size - 8):
            raise broken("it does not start as a model file does")
        text = file.read(length)
        entries = _parse_object(text)
        given = entries.pop("__metadata__", None)
        if len(text) != length or not isinstance(given, dict):
            raise broken("its header cannot be read")
        if given.keys() != {KEY} or not isinstance(given[KEY], str):
            raise foreign()
        metadata = _parse_object(given[KEY])
        checksum, digests = (metadata.pop(name, None) for name in RESERVED)
        if not isinstance(checksum, str) or not isinstance(digests, dict):
            raise foreign()
        blank = (start + text).replace(_mark(checksum), _mark(BLANK), 1)
        if hashlib.sha256(blank).hexdigest() != checksum:
            raise damaged()
        return cls(metadata, digests, entries, 8 + length, size)

    @cached_property
    def places(self) -> dict[str, Place]:
        """Where each array lies: one after the other, from the header's end to the file's, as large as their shapes."""
        places: dict[str, Place] = {}
        end = 0
        for name, entry in sorted(self.entries.items(), key=_offset):
            try:
                dtype, shape, (start, stop) = np.dtype(DTYPES[entry["dtype"]]), entry["shape"], entry["data_offsets"]
                whole = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in [*shape, start, stop])
                fine = whole and len(shape) <= MAX_DIMENSIONS and start == end and len(entry) == 3
                fine = fine and stop - start == math.prod(shape) * dtype.itemsize and name in self.digests
            except (KeyError, TypeError, ValueError):
                fine = False
            if not fine:
                raise broken(f"the array {name[:80]!r} is not where its shape and type would have it")
            places[name], end = Place(dtype, tuple(shape), start, stop), stop
        if self.length + end != self.size:
            raise broken(f"it has {self.size} bytes, its header wants {self.length + end}")
        return places

    def arrays(self, file: BinaryIO) -> Arrays:
        """The arrays of the file, each read and checked when it is first asked for."""
        return Arrays(file, self.length, self.places, self.digests)


def _offset(item: tuple[str, Any]) -> tuple[int, int]:
    """Where an entry says that its array lies; arrays of no bytes come before what starts at the same place."""
    try:
        start, stop = item[1]["data_offsets"]
        return int(start), int(stop)
    except (KeyError, TypeError, ValueError, OverflowError):
        return -1, -1  # `places` refuses it


@dataclass(frozen=True, eq=False)
class Arrays(Mapping[str, np.ndarray]):
    """The arrays of an open file by name."""

    file: BinaryIO
    offset: int  # where the data start
    places: dict[str, Place]
    digests: dict[str, str]
    known: dict[str, np.ndarray] = field(default_factory=dict)  # that have been read

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.known:
            self.known[name] = self._read(self.places[name], self.digests[name])
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def _read(self, place: Place, digest: str) -> np.ndarray:
        data = np.empty(place.end - place.start, dtype=np.uint8)
        self.file.seek(self.offset + place.start)
        got = 0
        while got < len(data) and (more := self.file.readinto(memoryview(data)[got : got + CHUNK])):  # type: ignore[attr-defined, arg-type]
            got += more
        if got != len(data):
            raise broken("it changed while it was read")
        if hashlib.sha256(data).hexdigest() != digest:  # type: ignore[arg-type]
            raise damaged()
        a = data.view(place.dtype).reshape(place.shape)
        return a.astype(place.dtype.newbyteorder("="), copy=False)


def _parse_object(text: str | bytes) -> dict[str, Any]:
    """A JSON object without repeated names and without numbers that JSON does not have."""
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise broken("its header cannot be read")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a name occurs twice")
    return out


def _no_number(name: str) -> None:
    raise ValueError(name)


def broken(why: str) -> ModelFileError:
    return ModelFileError(f"not a model, or a damaged one: {why}\n\nhint: take a copy of it, or save the model again")


def damaged() -> ModelFileError:
    return broken("its checksum does not agree: it was changed or damaged after it was written")


def foreign() -> ModelFileError:
    return ModelFileError("a safetensors file, but no model of this library\n\nhint: write models by deciban.save")
