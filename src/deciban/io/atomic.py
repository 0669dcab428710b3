"""Atomic file writes: write to an unnamed or temporary file, then rename.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
>>> atomic_write(path, lambda file: file.write(b"all of it"))
>>> path.read_text(), len(list(path.parent.iterdir()))
('all of it', 1)
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO


def atomic_write(path: str | os.PathLike, fill: Callable[[BinaryIO], Any]) -> None:
    """Write a file atomically: it appears under its name when it is complete and synced to disk."""
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
