"""A disk that is full: standard output, buffered or not, and files that commands write. Exit code 1, an `error:` line,
and nothing half-written under its name."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit
from typing import Any

from deciban.cli import main

from .operations import prepare, state_of
from .processes import exit_codes

PRINTING = (
    "--version",
    "fit --help",
    "families",
    "show m.deciban",
    "show m.deciban --json",
    "predict m.deciban rows.csv",
    "predict m.deciban rows.csv --json",
    "predict m.deciban rows.jsonl",
    "explain m.deciban rows.csv",
    "score m.deciban rows.csv",
    "spam check filter.deciban hello.eml",
    "predict m.deciban rows.csv -o /dev/stdout",
)
WRITING = (
    "fit -q few.csv --stream -o m.deciban",
    "fit -q few.csv --stream -o fresh.deciban",
    "update m.deciban more.csv",
    "forget m.deciban more.csv",
    "merge m.deciban other.deciban -o m.deciban --force",
    *(
        f"predict m.deciban rows.csv -o out.{ending}"
        for ending in ("csv", "csv.gz", "jsonl", "parquet", "arrow", "zst")
    ),
    "predict m.deciban rows.jsonl -o out.csv",
    "report m.deciban rows.csv -o out.html --no-figures",
    "spam learn filter.deciban hello.eml --as ham",
)


def run(line: str, setting: Callable[[], Any], unbuffered: bool) -> tuple[int, str]:
    """(exit code, standard error) of a command in a process of its own; `setting` is called there first."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.dup2(writer, 2)
            setting()
            raw = io.FileIO(1, "w")  # standard output as Python opens it
            out = io.TextIOWrapper(raw if unbuffered else io.BufferedWriter(raw), write_through=unbuffered)
            sys.stdout = sys.__stdout__ = out
            sys.argv = ["deciban", *line.split()]
            main()
        except SystemExit as ended:
            code = ended.code
        finally:
            os._exit(code)
    os.close(writer)
    with open(reader, "rb") as errors:
        message = errors.read().decode()
    return exit_codes([child])[0], message


def print_to(path: str, limit: int | None = None) -> None:
    """Standard output is this file, and no file may be longer than the limit."""
    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    if limit is not None:
        setrlimit(RLIMIT_FSIZE, (limit, limit))


def check_error(line: str, code: int, message: str) -> None:
    assert code == 1, f"{line}: exit code {code}: {message}"
    assert message.count("error: ") == 1, f"{line}: {message}"
    assert "Traceback" not in message, f"{line}: {message}"
    assert "Exception ignored" not in message, f"{line}: {message}"


def disks(count: int, rng: random.Random, folder: Path) -> str:
    """Commands on a full device, and on disks that are full after some bytes, `count` sizes each; a few commands for a
    count of 1."""
    tried = 0
    printing, writing = (lines if count > 1 else rng.sample(lines, 4) for lines in (PRINTING, WRITING))
    with chdir(folder):
        prepare(folder)
        code, message = run("predict m.deciban rows.csv -o rows.jsonl", lambda: None, False)
        assert code == 0, message
        for unbuffered in (False, True):
            for line in printing:
                code, message = run(line, lambda: print_to("printed"), unbuffered)
                assert code == 0, f"{line}: {message}"
                size = os.path.getsize("printed")
                assert size, line
                limits = [size - 1, 0, *(rng.randrange(size) for _ in range(count))][:count]
                settings = [lambda limit=limit: print_to("printed", limit) for limit in limits]
                settings += [lambda: print_to("/dev/full")] if os.path.exists("/dev/full") else []
                for setting in settings:
                    check_error(line, *run(line, setting, unbuffered))
                tried += len(settings)
        os.unlink("printed")
        tried += sum(check_writing(line, count, rng) for line in writing)
        with small_disk(Path("small")) as found:
            tried += check_small_disk(writing) if found else 0
    return f"{tried} commands on full disks: exit code 1 and an error, nothing half-written"


def check_writing(line: str, count: int, rng: random.Random) -> int:
    """No file may be longer than some bytes: the folder stays as it was."""
    before = state_of(Path())
    limits = [1, 0, *(rng.randrange(2, 500) for _ in range(count))][:count]
    for limit in limits:
        check_error(line, *run(line, lambda limit=limit: print_to(os.devnull, limit), False))
        assert state_of(Path()) == before, f"{line}: a disk with room for {limit} bytes has a changed file"
    return len(limits)


@contextmanager
def small_disk(place: Path) -> Any:
    """Context manager: a disk of 32 KiB in a folder; False where this user may not mount one."""
    place.mkdir()
    mounted = sys.platform == "linux" and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", place], capture_output=True, check=False
    )
    try:
        yield mounted and mounted.returncode == 0
    finally:
        if mounted and mounted.returncode == 0:
            subprocess.run(["umount", place], check=True)


def check_small_disk(writing: Sequence[str]) -> int:
    """Files that fit in part: on a disk whose rest is taken by another file, the former model stays."""
    Path("small/m.deciban").write_bytes(Path("m.deciban").read_bytes())
    for ending in ("csv", "csv.gz", "jsonl", "parquet", "arrow"):
        Path(f"small/out.{ending}").write_bytes(b"the former content")
    with open("small/rest", "wb", buffering=0) as rest:
        try:
            while rest.write(bytes(1024)):
                pass
        except OSError:
            pass
    before = state_of(Path("small"))
    lines = [line for line in writing if "m.deciban" in line or "-o out" in line]
    lines = [line.replace("-o m.", "-o small/m.").replace("-o out", "-o small/out") for line in lines]
    lines = [line.replace("update m.", "update small/m.").replace("forget m.", "forget small/m.") for line in lines]
    for line in lines:
        check_error(line, *run(line, lambda: print_to(os.devnull), False))
        assert state_of(Path("small")) == before, f"{line}: a full disk has a changed file"
    return len(lines)
