"""Commands run in this process, and a table for them."""

from __future__ import annotations

import io
import shlex
import sys
from typing import Any

import numpy as np
import pytest

from deciban.cli import main


def exit_code(command: str) -> int:
    """Run a command; its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command))
    return ended.value.code


def output(command: str, capfd: Any, code: int = 0) -> tuple[str, str]:
    """(stdout, stderr) of a command that must end with this exit code."""
    capfd.readouterr()
    ended = exit_code(command)
    out, err = capfd.readouterr()
    assert ended == code, err
    return out, err


def passengers(n: int = 120, seed: int = 0) -> str:
    """A CSV table like that of the Titanic: numbers, words, missing cells, a column that knows the outcome."""
    rng = np.random.default_rng(seed)
    lines = ["survived,sex,age,fare,boat,body,name"]
    for i in range(n):
        lived = int(rng.random() < 0.4)
        sex = "female" if rng.random() < (0.7 if lived else 0.2) else "male"
        age = "" if rng.random() < 0.2 else f"{rng.normal(30, 10):.1f}"
        boat = rng.choice(["A", "B", "C"]) if lived and rng.random() < 0.98 else ""
        lines.append(
            f'{lived},{sex},{age},{np.exp(rng.normal(3 + lived, 0.5)):.2f},{boat},{i % 7},"Passenger, no. {i}"'
        )
    return "\n".join(lines) + "\n"


def piped(command: str, text: str, capfd: Any, monkeypatch: Any, code: int = 0) -> tuple[str, str]:
    """(stdout, stderr) of a command that reads this text from standard input."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return output(command, capfd, code)


def printed(command: str, capfd: Any) -> str:
    """What a command that succeeds writes to stdout."""
    return output(command, capfd)[0]
