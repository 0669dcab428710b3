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
from fnmatch import fnmatchcase
from functools import cache, partial
from io import BufferedWriter, FileIO
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO, NamedTuple

from deciban.errors import DataError, levels_up

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

OPEN_FILES = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")
PATIENCE = 2.0  # seconds of waiting for a lock without a message
PAUSE = 0.02  # seconds between two attempts to get it
PART = ".deciban-{}.part"  # the name of a temporary file
OLD = 86_400.0  # seconds after which the writer of one is taken for dead


def atomic_write(path: str | os.PathLike, fill: Callable[[BinaryIO], Any]) -> None:
    """Write a file atomically: it appears under its name when it is complete and synced to disk. A device or a pipe is
    written to. `fill` is called once."""
    if _is_special(path):
        with BufferedWriter(_NamedFile(path, "a", path)) as special:
            fill(special)
        return
    path = Path(os.path.realpath(path))  # a link stays a link
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    _remove_old_parts(path.parent)
    part = path.with_name(PART.format(secrets.token_hex(8)))
    try:
        if not _write_unnamed(part, path, fill):
            _write_named(part, path, fill)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        _sync_folder(path)


def _is_special(path: str | os.PathLike) -> bool:
    """Whether a path is a device, a pipe or an open file of this process, which must not be replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or os.fspath(path).startswith(OPEN_FILES)


class _NamedFile(FileIO):
    """A file for writing whose errors say which file it is, as those of `open` do."""

    def __init__(self, file: str | os.PathLike | int, mode: str, path: str | os.PathLike):
        super().__init__(file, mode)
        self.path = path

    def write(self, data: Any) -> int:
        with _naming(self.path):
            return super().write(data)

    def close(self) -> None:
        with _naming(self.path):
            super().close()


@contextmanager
def _naming(path: str | os.PathLike) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename = error.filename or os.fspath(path)
        raise


def _write_named(part: Path, path: Path, fill: Callable[[BinaryIO], Any]) -> None:
    with BufferedWriter(_NamedFile(part, "x", path)) as file:
        _complete(file, part, path, fill)


def _write_unnamed(part: Path, path: Path, fill: Callable[[BinaryIO], Any]) -> bool:
    """Write an unnamed file (Linux) and name it, so that a killed process leaves nothing behind."""
    if not os.path.isdir("/proc/self/fd") or not hasattr(os, "O_TMPFILE"):
        return False
    try:
        handle = os.open(part.parent, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:  # some file systems have none
        return False
    here = f"/proc/self/fd/{handle}"
    with BufferedWriter(_NamedFile(handle, "w", path)) as file:
        _complete(file, handle, path, fill)
        try:
            os.link(here, part, src_dir_fd=handle)  # the directory: so that links are followed
        except OSError:
            with open(here, "rb") as unnamed:
                _write_named(part, path, partial(copyfileobj, unnamed))
    return True


def _complete(file: Any, place: Path | int, path: Path, fill: Callable[[BinaryIO], Any]) -> None:
    """Write all of a file to the disk, with the permissions of the file that it will replace."""
    fill(file)
    file.flush()
    with _naming(path):
        with suppress(FileNotFoundError):
            os.chmod(place, stat.S_IMODE(os.stat(path).st_mode))
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    """Write the name of a file to the disk. A failure is a warning: the file is there, and an update that ends in an
    error would be repeated."""
    try:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        warnings.warn(
            f"{path} was written, but it may be lost if the machine stops now: {error}",
            UserWarning,
            stacklevel=levels_up(),
        )


@cache
def _remove_old_parts(folder: Path) -> None:
    """Delete temporary files that killed processes left in a folder a day ago or earlier; once in a process."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if fnmatchcase(entry.name, PART.format("*")) and time.time() - entry.stat().st_mtime > OLD:
                with suppress(OSError):
                    os.unlink(entry)


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
        # deleted before it is unlocked: whoever waits for this file sees that; but Windows deletes no open file
        steps: list[Callable[[], None]] = [lock.unlink, partial(os.close, handle)]
        for step in steps if sys.platform != "win32" else reversed(steps):
            with suppress(OSError):  # the change is made, and a lock that is left is no obstacle
                step()


def _try_lock(lock: Path) -> int | None:
    """The open, locked file; None if another process has it."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with _naming(lock):
            if sys.platform == "win32":
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.stat(lock)):
            return handle
    except (BlockingIOError, PermissionError, FileNotFoundError):  # it is taken, or was deleted meanwhile
        pass
    except BaseException:  # a file system without locks
        os.close(handle)
        raise
    os.close(handle)
    return None


class Stamp(NamedTuple):
    """Name, size, time and number of a file, to detect a change."""

    name: str
    size: int
    time: int
    number: int

    @classmethod
    def from_path(cls, path: str | os.PathLike) -> Stamp | None:
        """The stamp of a regular file; None: there is none, or it is a pipe or device, whose stamp says nothing."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        regular = stat.S_ISREG(found.st_mode)
        return cls(os.fspath(path), found.st_size, found.st_mtime_ns, found.st_ino) if regular else None

    def check(self) -> None:
        """Raise DataError if the file has changed."""
        if Stamp.from_path(self.name) != self:
            raise changed_error(self.name)


def changed_error(name: str) -> DataError:
    return DataError(
        f"{name} was changed while it was read\n\n"
        "hint: read it again when it is complete; or let writers rename complete files"
    )
