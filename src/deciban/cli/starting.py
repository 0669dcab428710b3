"""Faster start of the command: scikit-learn and pyarrow import scipy.stats and pandas, which rows of files do not need.
In the command's own process the first is imported on first use, the second never. There standard output writes all
bytes or fails: Python's own, if it is unbuffered, drops what a full disk or a slow reader does not take.
"""

from __future__ import annotations

import io
import os
import select
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

LATER, NEVER = "scipy.stats", "pandas"


class Later(ModuleType):
    """A placeholder that imports its module on first attribute access."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class Never:
    """An import finder that hides a module."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name == NEVER:
            raise ModuleNotFoundError(f"the command does without {name}", name=name)


def alone() -> bool:
    """Whether this process ends with the command."""
    return Never in sys.meta_path


def lighten() -> None:
    """Avoid slow imports. Only for a process that ends with the command."""
    sys.modules.setdefault(LATER, Later(LATER))
    sys.meta_path.insert(0, Never)


class ClosedOutput(Exception):
    """The reader of the output has closed its pipe. No OSError, as click handles those itself."""


class WholeWriter(io.RawIOBase):
    """A binary file that writes all bytes that it is given, or raises an error; it waits for a non-blocking pipe."""

    def __init__(self, raw: Any):
        self.raw = raw

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.raw.fileno()

    def isatty(self) -> bool:
        return self.raw.isatty()

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            try:
                written = self.raw.write(rest)
            except BrokenPipeError:
                raise ClosedOutput from None
            if written is None:  # the pipe is full
                select.select([], [self.raw], [])
            else:
                rest = rest[written:]
        return size


def protect_output() -> None:
    """Make writes to standard output whole, buffered or not. Only for a process that ends with the command."""
    out: Any = sys.stdout
    if out is None:
        return
    whole: Any = WholeWriter(out.buffer.raw if isinstance(out.buffer, io.BufferedWriter) else out.buffer)
    sys.stdout = io.TextIOWrapper(
        whole if out.write_through else io.BufferedWriter(whole),
        out.encoding,
        out.errors,
        line_buffering=out.line_buffering,
        write_through=out.write_through,
    )


def drop_output() -> None:
    """Discard what could not be written, or else Python tries again at its end."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except (OSError, ClosedOutput):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
