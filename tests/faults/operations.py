"""All operations that write a file, and what may follow when a call fails: an error, the former file or the new one,
whole, and nothing else in the folder; or success."""

from __future__ import annotations

import errno
import io
import os
import random
import re
import shlex
import shutil
import warnings
from collections.abc import Callable
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import deciban
from deciban import spam
from deciban.cli import main
from deciban.errors import DecibanError
from deciban.storage import checkpoint, tensors

from .injection import Calls, failing

DATE = datetime(2000, 1, 1, tzinfo=UTC)
CODES = (errno.ENOSPC, errno.EIO)
OLD, CHECKPOINT = b"the former content", b"a whole checkpoint"


def rows_as_csv(n: int, seed: int = 0) -> str:
    """A table of a number, a word and a class."""
    rng = np.random.default_rng(seed)
    x, k = rng.normal(size=n), rng.choice(["a", "b", "c"], n)
    labels = np.where(x + rng.normal(size=n) > 0, "yes", "no")
    return "x,k,class\n" + "".join(f"{a:.4f},{b},{c}\n" for a, b, c in zip(x, k, labels, strict=True))


def prepare(folder: Path) -> None:
    """Files that operations read and replace."""
    with chdir(folder):
        Path("rows.csv").write_text(rows_as_csv(60))
        Path("more.csv").write_text(rows_as_csv(20, 1))
        Path("few.csv").write_text(rows_as_csv(6))  # too few for many folds
        os.mkdir("parts")
        for i in range(3):
            Path(f"parts/{i}.csv").write_text(rows_as_csv(20, i))
        model = fitted()
        for _ in range(2):  # so that rows can be forgotten twice
            model.partial_fit(*_table("more.csv"))
        deciban.save(model, "m.deciban", source="rows.csv", target="class", date=DATE)
        deciban.save(fitted(), "other.deciban", target="class", date=DATE)
        Path("hello.eml").write_text("Subject: Hello\n\nsee you at noon\n")
        Path("prize.eml").write_text("Subject: Prize\n\nclaim your prize now\n")
        Path("lunch.eml").write_text("Subject: Lunch\n\nsoup of the day\n")
        spam.update_file(Path("filter.deciban"), [Path("prize.eml")], "spam", spam.learn)
        spam.update_file(Path("filter.deciban"), [Path("lunch.eml")], "ham", spam.learn)
        for ending in ("csv", "csv.gz", "jsonl", "parquet", "arrow", "html", "bif"):
            Path(f"out.{ending}").write_bytes(OLD)


def fitted() -> Any:
    return deciban.MixedNB().fit_on("rows.csv", target="class")


def _table(path: str) -> tuple[Any, Any]:
    from deciban.io import readers

    table = readers.read(path)
    return table.drop_columns(["class"]), np.array(table["class"].to_pylist())


class CommandError(Exception):
    """A command that ended with exit code 1 and a message."""


def command(line: str) -> None:
    """Run a command in this process; CommandError if it prints an error."""
    out, err = io.StringIO(), io.StringIO()
    code = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(shlex.split(line))
        except SystemExit as ended:
            code = ended.code
    message = err.getvalue()
    assert code in (0, 1), f"exit code {code}: {message}"
    assert "Traceback" not in message, message
    if code == 1:
        wrong = [text for text in message.splitlines() if text.startswith("error: ")]
        assert len(wrong) == 1, message
        raise CommandError(wrong[0])


@contextmanager
def often() -> Any:
    """A checkpoint after every piece."""
    with patch.object(checkpoint, "EVERY", 0.0):
        yield


def fit_with_checkpoint() -> None:
    with often(), deciban.threads(1):
        deciban.MixedNB().fit_on("parts", target="class", checkpoint="fit.checkpoint")


def fit_until_stopped() -> None:
    """A fit that is stopped after its second piece: its checkpoint stays."""

    def stop(rows: int, share: float | None) -> None:
        if rows > 40:
            raise KeyboardInterrupt

    try:
        with often(), deciban.threads(1):
            deciban.MixedNB().fit_on("parts", target="class", checkpoint="fit.checkpoint", progress=stop)
    except KeyboardInterrupt:
        pass


def save_to_file() -> None:
    """A model written to a file that the caller opened, without a buffer, next to the former one."""
    try:
        with open("m.new", "wb", buffering=0) as file:
            deciban.save(deciban.load("other.deciban"), file, date=DATE)
        os.replace("m.new", "m.deciban")
    except OSError as error:
        error.filename = "m.new"  # which the caller knows
        Path("m.new").unlink(missing_ok=True)
        raise


def write_report() -> None:
    deciban.report(deciban.load("m.deciban"), *_table("rows.csv"), "out.html", target="class", figures=False)


def write_network() -> None:
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 3)
    deciban.BayesNet([("class", 0), ("class", 1)]).fit(X, ["a", "b"] * 6).to_bif("out.bif")


def predict(out: str, data: str = "rows.csv") -> Callable[[], Any]:
    return lambda: deciban.load("m.deciban").predict_on(data, out=out)


OPERATIONS: dict[str, Callable[[], Any]] = {
    "save": lambda: deciban.save(deciban.load("other.deciban"), "m.deciban", date=DATE),
    "save to a file object": save_to_file,
    "fit_on with a checkpoint": fit_with_checkpoint,
    "fit_on that is stopped": fit_until_stopped,
    **{
        f"predict_on to {ending}": predict(f"out.{ending}") for ending in ("csv", "csv.gz", "jsonl", "parquet", "arrow")
    },
    "predict_on to a folder": predict("predicted", "parts"),
    "report": write_report,
    "to_bif": write_network,
    "spam.solved": lambda: spam.solved(Path("filter.deciban")),
    **{
        line: (lambda line=line: command(line))
        for line in (
            "fit -q few.csv --stream -o m.deciban",
            "update m.deciban more.csv",
            "forget m.deciban more.csv",
            "merge m.deciban other.deciban -o m.deciban --force",
            *(
                f"predict m.deciban rows.csv -o out.{ending}"
                for ending in ("csv", "csv.gz", "jsonl", "parquet", "arrow")
            ),
            "report m.deciban rows.csv -o out.html --no-figures",
            "spam learn filter.deciban hello.eml --as ham --new",
            "spam learn fresh.deciban hello.eml --as ham --new",
            "spam check filter.deciban hello.eml",
        )
    },
}


def state_of(folder: Path) -> dict[str, bytes]:
    """The content of each file by its name; of models, all but the date."""
    return {
        str(path.relative_to(folder)): _content(path.name, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@cache
def _content(name: str, content: bytes) -> bytes:
    if name.endswith(".deciban"):
        about = {
            key: value for key, value in deciban.model_info(content).items() if key in ("source", "target", "text")
        }
        return deciban.dumps(deciban.loads(content), date=DATE, **about)
    if name.endswith(".checkpoint"):
        with io.BytesIO(content) as file:
            dict(tensors.Header.from_file(file).arrays(file))
        return CHECKPOINT
    return re.sub(rb"\d{4}-\d\d-\d\d", b"", content) if name.endswith(".html") else content


@dataclass
class Trials:
    """An operation, the folder that it starts in, and what a run without a fault makes of it."""

    run: Callable[[], Any]
    template: Path
    place: Path

    def __post_init__(self) -> None:
        self.attempt(None, 0)  # imports, and what is made once in a process
        self.calls = self.attempt(None, 0)[0].seen
        self.before, self.after = state_of(self.template), state_of(self.place)

    def attempt(self, at: int | None, code: int) -> tuple[Calls, Exception | None]:
        """Run the operation in a new copy of the folder; the calls, and the error."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.template, self.place)
        wrong = None
        with chdir(self.place), failing(self.place, at, code) as calls:
            try:
                self.run()
            except (OSError, DecibanError, CommandError) as error:
                wrong = error.with_traceback(None)  # whose frames keep files open
                wrong.__context__ = wrong.__cause__ = None
        return calls, wrong

    def check(self, at: int, code: int) -> None:
        """One call fails: see that the folder is whole, and that the operation succeeds afterwards."""
        calls, wrong = self.attempt(at, code)
        assert calls.failed == self.calls[at], "the calls are not those of the run before"
        found = state_of(self.place)
        locks = [name for name in found if calls.failed == "flock" and name.endswith(".lock")]
        for name in (*calls.kept, *locks):  # what could not be deleted, or locked, is there and no obstacle
            (self.place / name).unlink(missing_ok=True)
            found.pop(name, None)
        allowed = [self.after] if wrong is None else [self.before, self.after]  # files are whole, and all are known
        unexpected = [
            name for name in {**found, **self.before} if all(found.get(name) != one.get(name) for one in allowed)
        ]
        unexpected = [name for name in unexpected if wrong is None or found.get(name) != CHECKPOINT]
        assert not unexpected, f"{wrong!r} leaves {unexpected}"
        if isinstance(wrong, OSError):
            assert wrong.filename, f"{wrong!r} names no file"
        if isinstance(wrong, CommandError):
            assert os.strerror(code) in str(wrong), wrong
        assert not open_files(self.place), f"{open_files(self.place)} is still open"
        with chdir(self.place):
            self.run()
        if found == self.before:
            assert state_of(self.place) == self.after, "a second attempt ends in something else"


def open_files(folder: Path) -> list[str]:
    """The files of a folder that this process has open, but data: those are closed with their reader (Linux)."""
    here = Path("/proc/self/fd")
    names = [os.readlink(one) for one in here.iterdir() if os.path.lexists(one)] if here.exists() else []
    return [name for name in names if name.startswith(str(folder)) and ".csv" not in name]


def check_operation(name: str, folder: Path, codes: tuple[int, ...] = CODES, every_code: bool = True) -> int:
    """Let every call of an operation fail once, with every code or with one after the other; the number of faults."""
    template, place = folder / "template", folder / "place"
    if not template.exists():
        template.mkdir(parents=True)
        prepare(template)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        trials = Trials(OPERATIONS[name], template, place)
        faults = [(at, code) for at in range(len(trials.calls)) for code in codes]
        faults = faults if every_code else [(at, codes[at % len(codes)]) for at in range(len(trials.calls))]
        for at, code in faults:
            try:
                trials.check(at, code)
            except AssertionError as error:
                where = (
                    f"{name}: call {at} of {len(trials.calls)}, {trials.calls[at]}, fails with {errno.errorcode[code]}"
                )
                raise AssertionError(f"{where}: {error}") from error
    return len(faults)


def writes(count: int, rng: random.Random, folder: Path) -> str:
    """Every call of every operation fails, with the first `count` codes."""
    faults = sum(check_operation(name, folder, CODES[:count]) for name in OPERATIONS)
    return (
        f"{faults} calls failed in {len(OPERATIONS)} operations that write: files are whole, and nothing else is left"
    )
