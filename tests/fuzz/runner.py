"""Runs the cases of a part, each a function of (seed, number of the case), in a process with limits.

A case may answer, or raise an error that a user can expect: one of `deciban.errors`, or a ValueError or TypeError that
this library or scikit-learn's input checks raise. Everything else is a failure: another exception, a RuntimeWarning,
a signal, more than `SECONDS` or more than `MEMORY` above the start. A process that ends is replaced, and the next one
goes on with the next case.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

import deciban
from deciban.errors import DecibanError

os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # other pools reserve memory that a limit counts
SANITIZED = sys.platform.startswith("linux") and hasattr(ctypes.CDLL(None), "__asan_init")  # see `make sanitize`
MEMORY, SECONDS = 1 << 30, 100.0 if SANITIZED else 10.0
SHOWN = 3  # cases of one kind of failure that are printed
EXPECTED_OF = ("/deciban/", "/sklearn/utils/", "/sklearn/base.py")  # who may raise a plain ValueError
T = TypeVar("T")


class WrongAnswer(Exception):
    """An answer that no model may give."""


@dataclass
class Case:
    """One case: its random numbers, a folder of its part, and what came of it."""

    rng: Random
    folder: Path
    failures: list[tuple[str, str]] = field(default_factory=list)  # (kind, details)
    answered: int = 0
    refused: int = 0

    def attempt(self, use: Callable[[], T], allowed: tuple[type[Exception], ...] = ()) -> T | None:
        """What `use` returns; None where it raises an error that a user can expect, or fails."""
        try:
            out = use()
        except Exception as error:
            if is_expected(error) or isinstance(error, allowed):
                self.refused += 1
            else:
                self.failures.append((_kind(error), _details(error)))
            return None
        self.answered += 1
        return out

    def numbers(self) -> np.random.Generator:
        """NumPy's random numbers, of this case."""
        return np.random.default_rng(self.rng.getrandbits(32))


@dataclass(frozen=True)
class Part:
    """A kind of input: `prepare` makes what all cases start from, in a folder; `run` is one case."""

    name: str
    count: int  # of cases, in `make fuzz`
    prepare: Callable[[Path], Any]
    run: Callable[[Any, Case], None]


def is_expected(error: Exception) -> bool:
    """Whether a user can be expected to catch it."""
    if isinstance(error, DecibanError | NotFittedError | InvalidParameterError):
        return True
    if type(error) not in (ValueError, TypeError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    return any(place in last.filename for place in EXPECTED_OF) and (last.line or "").startswith("raise")


def check_proba(p: Any, n: int | None = None) -> None:
    """Raise an error for probabilities that are none."""
    p = np.asarray(p)
    fine = p.ndim == 2 and (n is None or len(p) == n) and np.isfinite(p).all() and (p >= 0).all() and (p <= 1).all()
    if not fine or not (abs(p.sum(axis=1) - 1) < 1e-6).all():
        raise WrongAnswer(f"probabilities {p[:3].tolist()} of shape {p.shape}")


def run(part: Part, count: int, seed: int, only: int | None = None) -> int:
    """Run cases 0 … count − 1, or one of them; print what failed, and return how often."""
    begun, found, totals = time.monotonic(), Counter(), Counter()
    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{part.name}-"))
    try:
        cases = range(count) if only is None else range(only, only + 1)
        start = cases.start
        while start < cases.stop:
            start = _work(part, range(start, cases.stop), count, seed, folder, found, totals)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    failed = sum(found.values())
    for kind, times in found.most_common():
        print(f"{part.name}: {times} × {kind}", flush=True)
    print(
        f"{part.name}: {len(cases)} cases of seed {seed}, {totals['answered']} answers, "
        f"{totals['refused']} expected errors, {failed} failures, {time.monotonic() - begun:.0f} s",
        flush=True,
    )
    return failed


def _work(part: Part, cases: range, count: int, seed: int, folder: Path, found: Counter, totals: Counter) -> int:
    """Run cases in another process, until it ends; the number of the case to go on with."""
    at = mmap.mmap(-1, 8)
    at[:] = struct.pack("q", -1)
    ours, theirs = os.pipe()
    log = folder / "faults"
    child = os.fork()
    if child == 0:
        os.close(ours)
        code = 1
        try:
            _child(part, cases, seed, folder, at, theirs, log)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(theirs)
    shown = time.monotonic()
    with os.fdopen(ours) as lines:
        for line in lines:
            message = json.loads(line)
            totals.update(message["totals"])
            for kind, details in message["failures"]:
                _report(part, seed, message["case"], kind, details, found)
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                print(f"{part.name}: {message['case'] + 1} of {count} cases", flush=True)
    status = os.waitpid(child, 0)[1]
    reached = struct.unpack("q", at[:])[0]
    if status == 0:
        return cases.stop
    if reached < 0:
        raise SystemExit(f"{part.name}: its cases cannot be prepared")
    details = "\n".join(log.read_text(errors="replace").splitlines()[:16])
    if os.WIFSIGNALED(status):
        kind = f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    else:
        kind = f"took more than {SECONDS:.0f} s" if "Timeout" in details else f"exit {os.WEXITSTATUS(status)}"
    _report(part, seed, reached, f"{kind} {_frame(details)}", details, found)
    return reached + 1


def _report(part: Part, seed: int, number: int, kind: str, details: str, found: Counter) -> None:
    found[kind] += 1
    if found[kind] <= SHOWN:
        print(f"{part.name}: case {number} of seed {seed}: {kind}", flush=True)
    if found[kind] == 1:
        print(details, flush=True)


def _child(part: Part, cases: range, seed: int, folder: Path, at: mmap.mmap, pipe: int, log: Path) -> None:
    place = folder / "work"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    os.chdir(place)
    with open(log, "w") as faults, os.fdopen(pipe, "w") as out, deciban.threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = part.prepare(place)
        warnings.simplefilter("error", RuntimeWarning)
        faulthandler.enable(faults)
        _limit_memory()
        for number in cases:
            at[:] = struct.pack("q", number)
            faulthandler.dump_traceback_later(SECONDS, exit=True, file=faults)
            case = Case(Random(f"{part.name} {seed} {number}"), place)
            case.attempt(lambda case=case: part.run(known, case))
            faulthandler.cancel_dump_traceback_later()
            totals = {"answered": case.answered, "refused": case.refused}
            message = {"case": number, "totals": totals, "failures": case.failures}
            print(json.dumps(message), file=out, flush=bool(case.failures) or number % 64 == 0)


def _limit_memory() -> None:
    if sys.platform.startswith("linux") and not SANITIZED:  # the sanitizer reserves more addresses than any limit
        now = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))


def _kind(error: Exception) -> str:
    """Type and place of an error: failures of one kind are counted together."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if "/deciban/" in one.filename] or frames[-1:]
    what = f"{error!s:.40}" if isinstance(error, WrongAnswer) else type(error).__name__
    return f"{what} at {Path(own[-1].filename).name}:{own[-1].lineno}"


def _details(error: Exception) -> str:
    """The error, and the lines that led to it."""
    lines = [f"  {one.filename}:{one.lineno} {one.line}" for one in traceback.extract_tb(error.__traceback__)[1:]]
    caused = [f"  because of {cause!r:.500}"] if (cause := error.__cause__ or error.__context__) else []
    return "\n".join([*lines[-12:], f"  {error!r:.500}", *caused])


def _frame(details: str) -> str:
    """Where our code was when a process ended."""
    own = [line for line in details.splitlines() if "/deciban/" in line]
    return own[0].strip() if own else ""
