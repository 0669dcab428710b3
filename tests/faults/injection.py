"""Calls of the operating system that fail: `with failing(folder, at=3) as calls:` makes the fourth call that concerns a
file under the folder fail once, and lists all calls. Calls are those of Python: opening, writing, syncing, closing,
linking, renaming, deleting, changing modes, making folders, locking. A file is written through a raw file whose `write`
and `close` are calls like the others, under Python's own buffer: an error comes where a full disk would raise it."""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from deciban.io import atomic

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

PATHS = ("replace", "rename", "link", "unlink", "mkdir", "chmod", "truncate")  # of os, whose argument is a path
HANDLES = ("fsync", "ftruncate", "fdatasync")  # whose argument is a handle


class Calls:
    """The calls so far, and which of them fails."""

    def __init__(self, folder: Path, at: int | None, code: int):
        self.folder, self.at, self.code = os.path.realpath(folder), at, code
        self.seen: list[str] = []
        self.handles: set[int] = set()
        self.kept: list[str] = []  # files whose deletion failed

    def concerns(self, target: Any) -> bool:
        if isinstance(target, int):
            return target in self.handles
        return os.path.abspath(os.fsdecode(target)).startswith(self.folder)

    def fails(self, call: str) -> bool:
        """Count a call; whether it is the one that fails."""
        self.seen.append(call)
        return len(self.seen) - 1 == self.at

    def error(self, path: Any = None) -> OSError:
        return OSError(self.code, os.strerror(self.code), *(() if path is None else (os.fsdecode(path),)))

    @property
    def failed(self) -> str | None:
        """The call that failed; None: the operation made fewer calls."""
        return None if self.at is None or self.at >= len(self.seen) else self.seen[self.at]


class CountedFile(io.FileIO):
    """A file whose calls are counted."""

    calls: Calls

    def __init__(self, file: Any, mode: str):
        if isinstance(file, int):
            self.calls.handles.discard(file)
        elif self.calls.fails("open"):
            raise self.calls.error(file)
        super().__init__(file, mode)

    def write(self, data: Any) -> int:
        if self.calls.fails("write"):
            raise self.calls.error()
        return super().write(data)

    def truncate(self, size: Any = None) -> int:
        if self.calls.fails("truncate"):
            raise self.calls.error()
        return super().truncate(size)

    def close(self) -> None:
        if self.closed:
            return
        fails = self.calls.fails("close")
        super().close()
        if fails:  # as Linux does it: the handle is closed all the same
            raise self.calls.error()


@contextmanager
def failing(folder: Path, at: int | None = None, code: int = errno.ENOSPC) -> Iterator[Calls]:
    """Context manager: the call with this number fails with this error; None: all succeed."""
    calls = Calls(folder, at, code)
    open_file, open_handle, close_handle = builtins.open, os.open, os.close

    class Counted(CountedFile):
        pass

    Counted.calls = calls
    named = atomic._NamedFile

    def opened(file: Any, mode: str = "r", buffering: int = -1, *args: Any, **named: Any) -> Any:
        if isinstance(file, int) or not calls.concerns(file):
            return open_file(file, mode, buffering, *args, **named)
        if set(mode) & set("wax") and "b" in mode:
            return io.BufferedWriter(Counted(file, mode)) if buffering else Counted(file, mode)
        if calls.fails("open"):
            raise calls.error(file)
        return open_file(file, mode, buffering, *args, **named)

    def handle_opened(path: Any, flags: int, *args: Any, **named: Any) -> int:
        if not calls.concerns(path):
            return open_handle(path, flags, *args, **named)
        if calls.fails("open"):
            raise calls.error(path)
        handle = open_handle(path, flags, *args, **named)
        calls.handles.add(handle)
        return handle

    def handle_closed(handle: int) -> None:
        fails = handle in calls.handles and calls.fails("close")
        calls.handles.discard(handle)
        close_handle(handle)
        if fails:
            raise calls.error()

    def counted(name: str, function: Callable) -> Callable:
        def call(target: Any, *args: Any, **named: Any) -> Any:
            if any(calls.concerns(one) for one in (target, *args[:1]) if isinstance(one, int | str | os.PathLike)):
                if name == "unlink" and not os.path.lexists(target):
                    return function(target, *args, **named)
                if calls.fails(name):
                    if name == "unlink":
                        calls.kept.append(os.path.basename(target))
                    raise calls.error(target if name in PATHS else None)
            return function(target, *args, **named)

        return call

    with ExitStack() as patches:
        patches.enter_context(patch.object(atomic, "_NamedFile", type("Named", (named, Counted), {})))
        for module in (builtins, io):
            patches.enter_context(patch.object(module, "open", opened))
        patches.enter_context(patch.object(os, "open", handle_opened))
        patches.enter_context(patch.object(os, "close", handle_closed))
        for name in (*PATHS, *HANDLES):
            if hasattr(os, name):
                patches.enter_context(patch.object(os, name, counted(name, getattr(os, name))))
        if fcntl is not None:
            patches.enter_context(patch.object(fcntl, "flock", counted("flock", fcntl.flock)))
        yield calls
