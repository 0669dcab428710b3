"""Processes that change one file at the same time lose nothing; a process that is killed leaves the former model or the
new one. Children are forked from a process that has imported everything, has no threads, and reads no tables itself."""

from __future__ import annotations

import os
import random
import shlex
import signal
import time
from collections.abc import Callable
from contextlib import chdir
from importlib import import_module
from pathlib import Path

import numpy as np

import deciban
import deciban.io.readers
import deciban.spam
from deciban.cli import main
from deciban.io import atomic
from deciban.mail.message import parse

from .operations import DATE, rows_as_csv

PATIENCE = 60.0  # seconds after which a child hangs
for name in ("fit", "forget", "inputs", "merge", "spam", "update"):  # so that no child has to import them
    import_module(f"deciban.cli.{name}")


def run(line: str, setting: Callable[[], None] = lambda: None) -> int:
    """Start a command in a process of its own; its number."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            setting()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            main(shlex.split(line))
        except SystemExit as ended:
            code = ended.code
        finally:
            os._exit(code)
    return child


def exit_codes(children: list[int]) -> list[int]:
    """Wait for processes; AssertionError if one hangs."""
    left, codes, end = set(children), {}, time.monotonic() + PATIENCE
    while left and time.monotonic() < end:
        for child in list(left):
            number, status = os.waitpid(child, os.WNOHANG)
            if number:
                left.remove(child)
                codes[child] = os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    for child in left:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert not left, f"{len(left)} processes hang"
    return [codes[child] for child in children]


def complete(*lines: str, setting: Callable[[], None] = lambda: None) -> None:
    """Run commands at the same time; all must succeed."""
    codes = exit_codes([run(line, setting) for line in lines])
    assert not any(codes), f"exit codes {codes} of {lines}"


def class_counts(path: str) -> dict[str, float]:
    model = deciban.load(path)
    return dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True))


def labels_of(path: str) -> dict[str, float]:
    labels = [line.rpartition(",")[2] for line in Path(path).read_text().split()[1:]]
    return {label: float(labels.count(label)) for label in sorted(set(labels))}


def make_models() -> None:
    for name, n in (("rows", 200), ("a", 30), ("b", 50)):
        Path(f"{name}.csv").write_text(rows_as_csv(n, n))
    Path("all.csv").write_text(rows_as_csv(200, 200) + rows_as_csv(50, 50).partition("\n")[2])
    for name in ("all", "b"):
        complete(f"fit -q {name}.csv --model mixed --updatable -o {name}.deciban")


PAIRS = {  # commands, and the tables that the model has more and less of afterwards
    ("update m.deciban a.csv", "update m.deciban b.csv"): ("a.csv", "b.csv", None),
    ("update m.deciban a.csv", "forget m.deciban b.csv"): ("a.csv", None, "b.csv"),
    ("merge m.deciban b.deciban -o m.deciban --force", "update m.deciban a.csv"): ("a.csv", "b.csv", None),
}


def concurrent(count: int, rng: random.Random, folder: Path) -> str:
    """Pairs of writers of one model, and groups of eight that teach a filter that does not exist yet."""
    with chdir(folder):
        make_models()
        start = Path("all.deciban").read_bytes()
        for number in range(count):
            lines, tables = list(PAIRS.items())[number % len(PAIRS)]
            Path("m.deciban").write_bytes(start)
            first = run(lines[0])
            time.sleep(rng.choice([0.0, rng.uniform(0.0, 0.03)]))
            assert exit_codes([first, run(lines[1])]) == [0, 0], lines
            expected = labels_of("all.csv")
            for table, sign in zip(tables, (1, 1, -1), strict=True):
                for label, rows in (labels_of(table) if table else {}).items():
                    expected[label] += sign * rows
            found = class_counts("m.deciban")
            assert found == expected, f"{lines} leave {found}, not {expected}"
        mails = [f"Subject: mail {i}\n\nbody word{i}\n".encode() for i in range(8)]
        for i, mail in enumerate(mails):
            Path(f"{i}.eml").write_bytes(mail)
        for _ in range(count):
            Path("f.deciban").unlink(missing_ok=True)
            complete(*(f"spam learn f.deciban {i}.eml --as {rng.choice(['ham', 'spam'])}" for i in range(8)))
            learned = deciban.spam.already_learned(deciban.load("f.deciban"), [parse(mail) for mail in mails])
            assert len(learned) == 8, f"{len(learned)} of 8 messages were learned"
        left = [name for name in os.listdir() if name.startswith(".")]
        assert not left, f"{left} are left"
    return f"{count} pairs of writers and {count} groups of 8 `spam learn`: nothing was lost"


def with_named_parts() -> None:
    """Write as where there are no unnamed files, and take any temporary file for one of a dead process."""
    atomic._write_unnamed = lambda *_: False  # type: ignore[assignment]
    atomic.OLD = 0.0


def kills(count: int, rng: random.Random, folder: Path) -> str:
    """Kill `update` and `forget` at any moment, with unnamed temporary files and with named ones; and processes that
    save again and again."""
    with chdir(folder):
        make_models()
        stopped = most = 0
        for setting in (lambda: None, with_named_parts):
            for verb, start in (("update", "b.deciban"), ("forget", "all.deciban")):
                killed = KilledCommand(f"{verb} -q m.deciban b.csv", Path(start).read_bytes(), setting)
                for _ in range(count // 4 + (count % 4 > 0)):
                    stopped += killed.kill(rng)
                    most = max(most, len(parts()))
                killed.run()
            assert setting is not with_named_parts or not parts(), f"{parts()} are left"
        saved = kills_of_saves(max(count // 10, 2), rng)
    return (
        f"{count} kills of `update` and `forget`, {stopped} before the change: each left the former model or the new "
        f"one; temporary files at a time: {most}; {saved} saves with {max(count // 10, 2)} kills: none was lost"
    )


def parts() -> list[str]:
    return [name for name in os.listdir() if name.endswith(".part")]


class KilledCommand:
    """A command that changes m.deciban, its duration, and the models of before and after."""

    def __init__(self, line: str, start: bytes, setting: Callable[[], None]):
        self.line, self.start, self.setting = line, start, setting
        self.seconds = min(self.run() for _ in range(3))
        self.before, self.after = content(deciban.loads(start)), content(deciban.load("m.deciban"))
        assert self.before != self.after

    def run(self) -> float:
        """Run it whole; the seconds that it takes."""
        Path("m.deciban").write_bytes(self.start)
        begin = time.monotonic()
        complete(self.line, setting=self.setting)
        return time.monotonic() - begin

    def kill(self, rng: random.Random) -> bool:
        """Kill it at a random moment, half of the time near its end; whether it had not changed the model yet."""
        Path("m.deciban").write_bytes(self.start)
        child = run(self.line, self.setting)
        time.sleep(self.seconds * rng.uniform(rng.choice([0.0, 0.6]), 1.1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = content(deciban.load("m.deciban"))
        assert found in (self.before, self.after), f"{self.line}: neither the former model nor the new one"
        return found == self.before


def content(model: object) -> bytes:
    return deciban.dumps(model, date=DATE)


def kills_of_saves(count: int, rng: random.Random) -> int:
    """Kill processes that update a model and save it in a loop: every save that had returned is there."""
    rows = np.random.default_rng(0).normal(size=(100, 40))
    start = deciban.QuadraticDiscriminantAnalysis().fit(rows, ["a", "b"] * 50)
    deciban.save(start, "q.deciban")
    total = 0
    for _ in range(count):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            while True:
                deciban.save(deciban.load("q.deciban").partial_fit(rows, ["a", "b"] * 50), "q.deciban")
                os.write(writer, b".")
        os.close(writer)
        with open(reader, "rb") as pipe:
            saves = len(pipe.read(1))
            time.sleep(rng.uniform(0.0, 0.05))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            saves += len(pipe.read())
        found = deciban.load("q.deciban").class_count_.sum() / 100 - 1
        assert found in (total + saves, total + saves + 1), f"{total + saves} saves have returned, {found:g} are there"
        total = int(found)
    return total
