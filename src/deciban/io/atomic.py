"""Files that other processes read or change at the same time.

Atomic writes: write to an unnamed or temporary file, then rename. `file_lock` is for those who read a file, change its
content and write it again: a second process waits, so that no change is lost. `Stamp` detects a change.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
>>> atomic_write(path, lambda file: file.write(b"all of it"))
>>> path.read_text(), len(list(path.parent.iterdir()))
('all of it', 1)
>>> with file_lock(path):
...     atomic_write(path, lambda file: file.write(b"changed"))
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from deciban.errors import DataError, levels_up

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

OPEN_FILES = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")
PATIENCE = 2.0  # seconds of waiting for a lock without a message
PAUSE = 0.02  # seconds between two attempts to get it


def atomic_write(path: str | os.PathLike, fill: Callable[[BinaryIO], Any]) -> None:
    """Write a file atomically: it appears under its name when it is complete and synced to disk. A device or a pipe is
    written to."""
    if _is_special(path):
        with open(path, "ab") as special:
            fill(special)
        return
    path = Path(os.path.realpath(path))  # a link stays a link
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")

    def whole(file: BinaryIO) -> None:
        fill(file)
        file.flush()
        with suppress(FileNotFoundError):
            os.chmod(part if part.exists() else file.fileno(), stat.S_IMODE(os.stat(path).st_mode))
        os.fsync(file.fileno())

    try:
        if not _write_unnamed(part, whole):
            with open(part, "xb") as file:
                whole(file)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _is_special(path: str | os.PathLike) -> bool:
    """Whether a path is a device, a pipe or an open file of this process, which must not be replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or os.fspath(path).startswith(OPEN_FILES)


def _write_unnamed(part: Path, fill: Callable[[BinaryIO], None]) -> bool:
    """Write an unnamed file (Linux), so that a killed process leaves nothing behind."""
    if not os.path.isdir("/proc/self/fd") or not hasattr(os, "O_TMPFILE"):
        return False
    try:
        handle = os.open(part.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError:  # some file systems have none
        return False
    with os.fdopen(handle, "wb") as file:
        fill(file)
        try:
            os.link(f"/proc/self/fd/{handle}", part, src_dir_fd=handle)  # the directory: so that links are followed
        except OSError:
            return False
    return True


@contextmanager
def file_lock(path: str | os.PathLike) -> Iterator[None]:
    """Context manager: one process (or thread) at a time has the lock of a path, the others wait. The lock is a hidden
    file in the same folder; a process that is killed loses its lock. Devices and pipes have none."""
    if _is_special(path):
        yield
        return
    path = Path(os.path.realpath(path))
    lock = path.with_name(f".{path.name}.lock")
    start, quiet = time.monotonic(), True
    while (handle := _try_lock(lock)) is None:
        if quiet and time.monotonic() - start > PATIENCE:
            quiet = False
            warnings.warn(f"waiting for another process that changes {path}", UserWarning, stacklevel=levels_up())
        time.sleep(PAUSE)
    try:
        yield
    finally:
        if sys.platform != "win32":
            lock.unlink(missing_ok=True)  # before it is unlocked: whoever waits for this file sees that it was deleted
        os.close(handle)
        if sys.platform == "win32":
            with suppress(OSError):  # an open file cannot be deleted: another process has it now
                lock.unlink()


def _try_lock(lock: Path) -> int | None:
    """The open, locked file; None if another process has it."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    with suppress(OSError):  # of a lock that is taken, or a file that was deleted
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.stat(lock)):
            return handle
    os.close(handle)
    return None


class Stamp(NamedTuple):
    """Name, size, time and number of a file, to detect a change."""

    name: str
    size: int
    time: int
    number: int

    @classmethod
    def from_path(cls, path: Path) -> Stamp | None:
        """The stamp of a regular file; None: there is none, or it is a pipe or device, whose stamp says nothing."""
        try:
            found = path.stat()
        except OSError:
            return None
        regular = stat.S_ISREG(found.st_mode)
        return cls(str(path), found.st_size, found.st_mtime_ns, found.st_ino) if regular else None

    def check(self) -> None:
        """Raise DataError if the file has changed."""
        if Stamp.from_path(Path(self.name)) != self:
            raise changed_error(self.name)


def changed_error(name: str) -> DataError:
    return DataError(
        f"{name} was changed while it was read\n\n"
        "hint: read it again when it is complete; or let writers rename complete files"
    )
