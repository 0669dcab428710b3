"""What the lectures define, compute and draw, a row each: a call by public names, and an assertion of what comes out.

`python -m tests.coverage` prints the table with the counts. A row is a function of at most two statements before its
assertions, so that each thing is available in one or two lines; rows and data that several of them share are names of
the module.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module

LECTURES = ("000", "001", "002", "003", "004")
ROWS: dict[str, Row] = {}


@dataclass(frozen=True)
class Row:
    """One thing of a lecture; `check` raises an AssertionError, or another error, if it does not work."""

    name: str  # lecture and number
    section: str
    what: str
    check: Callable[[], None]

    @property
    def place(self) -> tuple[str, int]:
        """The file and line of the row."""
        return self.check.__code__.co_filename, self.check.__code__.co_firstlineno

    def statements(self) -> list[ast.stmt]:
        """The statements before the first assertion."""
        body = ast.parse(textwrap.dedent(inspect.getsource(self.check))).body[0].body  # type: ignore[attr-defined]
        first = next((at for at, one in enumerate(body) if isinstance(one, ast.Assert)), len(body))
        return body[:first]

    def call(self) -> str:
        """The statements in one line; without any, the assertion."""
        found = "; ".join(ast.unparse(one) for one in self.statements()) or ast.unparse(
            ast.parse(textwrap.dedent(inspect.getsource(self.check))).body[0].body[-1]  # type: ignore[attr-defined]
        )
        return " ".join(found.split())


def row(name: str, section: str, what: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Decorator: the function is the row of that name."""

    def keep(check: Callable[[], None]) -> Callable[[], None]:
        before, place = ROWS.get(name), (check.__code__.co_filename, check.__code__.co_firstlineno)
        assert before is None or before.place == place, f"{name} is there twice"  # a module may be imported twice
        ROWS[name] = Row(name, section, what, check)
        return check

    return keep


def all_rows() -> Iterator[Row]:
    """The rows of all lectures, in order."""
    for lecture in LECTURES:
        import_module(f"tests.coverage.lecture_{lecture}")
    yield from (ROWS[name] for name in sorted(ROWS))


PAGE = """\
# Every call of the lectures

What five lectures define, compute and draw, each with the one or two lines that do it. Names in capitals are rows and
models that several lines share: `TOSSES`, `POINTS` and so on, in `tests/coverage`. Every line runs in the tests, with
the number that must come out. Written by `python -m tests.coverage --page`; a test compares.

"""


def page() -> str:
    """The text of docs/lectures/calls.md."""
    out, before = [], ""
    for one in all_rows():
        if one.name[:3] != before:
            before = one.name[:3]
            out.append(f"{chr(10) if out else ''}## Lecture {before}\n\n| what | call |\n|---|---|")
        cells = (f"{one.what} *({one.section})*", f"`{one.call()}`")
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return PAGE + "\n".join(out) + "\n"
