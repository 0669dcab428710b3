"""Bytes of a file or of standard input, decompressed while they are read: gzip, bzip2, xz and zstd, detected by their
first bytes.

>>> import gzip, io
>>> stream = Bytes.of(io.BytesIO(gzip.compress(b"a,b")), "some.csv.gz")
>>> stream.head(2), stream.read(9), stream.consumed > 0
(b'a,', b'a,b', True)
"""

from __future__ import annotations

import codecs
import io
import lzma
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from deciban.data.memory import available_memory
from deciban.errors import DataError
from deciban.io.arrow import pa

MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
HEAD, MOST = 1 << 18, 1 << 26  # bytes of a text that are inspected; most of them where lines are long
LONGEST = 1 << 26  # bytes of a line
BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error, pa.ArrowInvalid)


class File(io.FileIO):
    """A file that is closed when it is garbage collected."""

    def __del__(self) -> None:
        self.close()


class Counted:
    """A binary file that counts the bytes read."""

    def __init__(self, raw: Any):
        self.raw, self.count, self.closed = raw, 0, False

    def read(self, size: int = -1) -> bytes:
        out = self.raw.read(size)
        self.count += len(out)
        return out

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


class Bytes(Counted):
    """A decompressed stream whose first bytes can be peeked at, and whose errors name the file."""

    def __init__(self, raw: Any, under: Counted, name: str, kind: str | None):
        super().__init__(raw)
        self.under, self.name, self.kind, self.ahead = under, name, kind, b""

    @classmethod
    def of(cls, file: BinaryIO, name: str) -> Bytes:
        plain = cls(file, Counted(file), name, None)
        plain.raw = plain.under
        first = plain.head(6)
        kind = next((kind for magic, kind in MAGIC.items() if first.startswith(magic)), None)
        if kind is None:
            return plain
        unpacked: Any = (
            lzma.LZMAFile if kind == "xz" else lambda file: pa.CompressedInputStream(pa.PythonFile(file, "r"), kind)
        )
        inner: Any = unpacked(plain)
        return cls(inner, plain.under, name, kind)

    @property
    def consumed(self) -> int:
        """Bytes of the file itself that were read."""
        return self.under.count

    def head(self, size: int) -> bytes:
        """The first bytes, without consuming them."""
        while len(self.ahead) < size:
            more = self._more(size - len(self.ahead))
            if not more:
                break
            self.ahead += more
        return self.ahead[:size]

    def first_lines(self) -> bytes:
        """The first bytes of a text, with some complete lines, without consuming them."""
        size = HEAD
        head = self.head(size)
        while len(head) == size < MOST and head.count(b"\n") + head.count(b"\r") < 3:
            size *= 4
            head = self.head(size)
        return head

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > len(self.ahead):
            out = self.ahead + self._more(size if size < 0 else size - len(self.ahead))
            self.ahead = b""
        else:
            out, self.ahead = self.ahead[:size], self.ahead[size:]
        self.count += len(out)
        return out

    def lines(self) -> Iterator[bytes]:
        """The lines, without the \\n at their ends.

        >>> list(Bytes.of(io.BytesIO(b"a\\n\\nb"), "it").lines())
        [b'a', b'', b'b']
        """
        parts: list[bytes] = []  # of the next line
        number, size = 0, 0
        while chunk := self.read(1 << 16):
            *whole, rest = chunk.split(b"\n")
            if whole:
                yield b"".join([*parts, whole[0]])
                yield from whole[1:]
                number, parts, size = number + len(whole), [], 0
            parts.append(rest)
            size += len(rest)
            if size > LONGEST:
                raise DataError(
                    f"{self.name}, line {number + 1} is longer than {LONGEST >> 20} MB\n\n"
                    "hint: check that the file is complete, and what ends its lines"
                )
        if size:
            yield b"".join(parts)

    def _more(self, size: int) -> bytes:
        try:
            return self.raw.read(size) if size >= 0 else b"".join(self._all())
        except BROKEN as error:
            if self.kind is None:
                raise
            raise DataError(
                f"{self.name} is truncated or damaged in its {self.kind} compression, after {self.consumed:,} "
                "bytes\n\n"
                "hint: copy or download it again, and try `gzip -t` (or xz -t, zstd -t) on it"
            ) from error

    def _all(self) -> Iterator[bytes]:
        most, size = available_memory() if self.kind else float("inf"), 0
        while more := self.raw.read(1 << 20):
            size += len(more)
            if size > most:
                raise DataError(
                    f"{self.name} unpacks to more than the {most / (1 << 30):.1f} GB of memory there are\n\n"
                    "hint: give it as CSV, JSON lines or Parquet, which are read in pieces"
                )
            yield more


class Utf8:
    """Text of any encoding as UTF-8, lines ending in \\n or \\r\\n.

    >>> Utf8(io.BytesIO("a\\rb".encode("utf-16")), "utf-16", old_mac=True).read(100)
    b'a\\nb'
    """

    def __init__(self, stream: Any, encoding: str, old_mac: bool = False):
        self.stream, self.encoding, self.old_mac, self.first = stream, encoding, old_mac, True
        self.decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()

    def read(self, size: int) -> bytes:
        """Some bytes, none only at the end."""
        while True:
            raw = self.stream.read(size)
            out = raw if self.decoder is None else self._decoded(raw)
            if self.first:
                out, self.first = out.removeprefix(codecs.BOM_UTF8), False
            if out or not raw:
                return out.replace(b"\r", b"\n") if self.old_mac else out

    def _decoded(self, raw: bytes) -> bytes:
        try:
            return self.decoder.decode(raw, final=not raw).encode()  # type: ignore[union-attr]
        except UnicodeError as wrong:
            raise DataError(
                f"{self.stream.name} starts as {self.encoding}, but is not ({wrong})\n\n"
                "hint: check that the file is complete, or save it as UTF-8"
            ) from None
