"""Commands in little memory: hostile or large inputs end in a result or in one error with a hint, never in a signal or
without an end. The limit is that of the address space (`ulimit -v`), 600 MB above what the process has at its start."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from pathlib import Path
from resource import RLIMIT_AS, setrlimit

import numpy as np

from deciban.storage import tensors

from .operations import prepare

MORE, PATIENCE = 600 << 20, 120  # bytes, seconds


def one_huge_row() -> None:
    with open("huge.csv", "wb") as file:
        file.write(b"x,y\n1,a\n2,b\n")
        for _ in range(300):
            file.write(b"7" * (1 << 20))
        file.write(b",a\n")


def one_huge_object() -> None:
    with open("huge.jsonl", "wb") as file:
        file.write(b'{"x": "')
        for _ in range(300):
            file.write(b"7" * (1 << 20))
        file.write(b'", "y": "a"}\n')


def many_columns(n: int = 100_000, rows: int = 12) -> None:
    with open("wide.csv", "w") as file:
        file.write(",".join([*(f"c{j}" for j in range(n)), "y"]) + "\n")
        for i in range(rows):
            file.write(",".join([*(str((i * j) % 5) for j in range(n)), "ab"[i % 2]]) + "\n")


def many_levels(n: int = 100_000, classes: int = 2000) -> None:
    with open("levels.csv", "w") as file:
        file.write("level,other,y\n")
        file.writelines(f"level {i % (n // 2)},word {i % 50_000},class {i % classes}\n" for i in range(n))


def long_compressed() -> None:
    """Rows that need 40 times the bytes of their file, and more than the memory."""
    line = b"".join(b"%d.25,%d.5,%s\n" % (i, i % 7, b"yes" if i % 3 else b"no") for i in range(2000)) * 50
    with gzip.open("long.csv.gz", "wb", compresslevel=1) as file:
        file.write(b"x,z,y\n")
        for _ in range(200):
            file.write(line)


def huge_header() -> None:
    with open("h.deciban", "wb") as file:
        file.write((99_000_000).to_bytes(8, "little") + b'{"__metadata__": {"deciban": "')
        file.truncate(8 + 99_000_000)


def huge_array(size: int = 1 << 32) -> None:
    """A model whose last array is this long, as its header and its checksum say: the file has a hole there."""
    with open("m.deciban", "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        data = file.read()
    content = json.loads(header["__metadata__"][tensors.KEY])
    content["checksum"] = tensors.BLANK
    header["__metadata__"][tensors.KEY] = json.dumps(content, separators=(",", ":"))
    last = max((name for name in header if name != "__metadata__"), key=lambda name: header[name]["data_offsets"])
    start, width = header[last]["data_offsets"][0], np.dtype(tensors.DTYPES[header[last]["dtype"]]).itemsize
    header[last] |= {"shape": [size // width], "data_offsets": [start, start + size]}
    text = json.dumps(header, separators=(",", ":")).encode()
    blank = len(text).to_bytes(8, "little") + text
    checksum = hashlib.sha256(blank).hexdigest()
    with open("h.deciban", "wb") as file:
        file.write(blank.replace(tensors._mark(tensors.BLANK), tensors._mark(checksum), 1))
        file.write(data[:start])
        file.truncate(len(blank) + start + size)


CASES: dict[str, Callable[[], None]] = {  # commands, and who makes their data
    "fit -q huge.csv -o f.deciban": one_huge_row,
    "predict m.deciban huge.csv -o out.csv": one_huge_row,
    "fit -q huge.jsonl -t y -o f.deciban": one_huge_object,
    "fit -q wide.csv -t y --model gaussian -o f.deciban": many_columns,
    "fit -q wide.csv -t y --model lda -o f.deciban": many_columns,
    "fit -q wide.csv -t y --stream -o f.deciban": many_columns,
    "fit -q levels.csv -t y --model mixed -o f.deciban": many_levels,
    "fit -q levels.csv -t y --stream -o f.deciban": many_levels,
    "fit -q long.csv.gz -t y --model gaussian -o f.deciban": long_compressed,
    "fit -q wide.csv -t y --model lda -o out.deciban": partial(many_columns, 20_000),
    "score h.deciban rows.csv": huge_header,
    "predict h.deciban rows.csv": huge_array,
    "show h.deciban": partial(huge_array, 1 << 40),
}
SHORT = ("predict h.deciban rows.csv",)


def limited(arguments: list[str], limit: int) -> tuple[int, str, str]:
    """(exit code, output, standard error) of Python with these arguments, under this limit from its start."""
    env = os.environ | {"DECIBAN_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env=env,
        timeout=PATIENCE,
        check=False,
        preexec_fn=lambda: setrlimit(RLIMIT_AS, (limit, limit)),
    )
    return done.returncode, done.stdout, done.stderr


def baseline() -> int:
    """The address space of a process that has imported what commands need, in bytes."""
    code = "import deciban.cli.inputs, deciban.io.readers as r; deciban.MixedNB; print(open('/proc/self/statm').read())"
    return int(limited(["-c", code], 1 << 40)[1].split()[0]) * os.sysconf("SC_PAGE_SIZE")


def memory(count: int, rng: random.Random, folder: Path) -> str:
    """Commands in little memory: one for a count of 1, else all."""
    if not Path("/proc/self/statm").exists():
        return "nothing was tried: this system does not say how much memory a process has"
    outcomes = []
    with chdir(folder):
        prepare(folder)
        limit = baseline() + MORE
        for line in SHORT if count == 1 else CASES:
            CASES[line]()
            code, _, message = limited(["-m", "deciban", *line.split()], limit)
            assert code in (0, 1), f"{line}: exit code {code}: {message}"
            if code == 1:
                assert message.count("error: ") == 1, f"{line}: {message}"
                assert "\nhint: " in message, f"{line}: {message}"
                assert "Traceback" not in message, f"{line}: {message}"
            for name in ("huge.csv", "huge.jsonl", "long.csv.gz", "h.deciban", "f.deciban", "out.deciban", "out.csv"):
                Path(name).unlink(missing_ok=True)
            outcomes.append(code)
    return f"{len(outcomes)} commands in {MORE >> 20} MB: {outcomes.count(1)} errors, {outcomes.count(0)} results"
