"""The reference of the command line, from the verbs themselves: `python -m deciban.cli.reference > docs/cli.md`."""

from __future__ import annotations

import inspect

import click

import deciban.errors
from deciban.cli import VERBS, group
from deciban.cli.options import CliCommand

WIDTH = 100
HEAD = """# The command line

Written by `python -m deciban.cli.reference`; a test compares. Data go to stdout, talk to stderr; `-` is standard
input or output. Exit codes: 0 done, 1 the data are at fault, 2 the command line is, 130 stopped by Ctrl-C, which leaves
files as they were. Every error is one paragraph and its cure; `--debug` shows where it was raised.

DATA is CSV or TSV (plain, gzip, bzip2, xz or zstd), Parquet, Arrow, Feather, JSON (lines, an array of objects, or
columns), ARFF, an mbox, or a folder with a sub-folder of texts for each class.

Of a CSV file, encoding, delimiter, decimal mark and header are found by looking. Blank lines, comments, a title and
`sep=;` above the table are skipped; the header is the line that holds the name of the target; a first column without a
name that is different in each row is an index. Where that fails: `--delimiter`, `--header LINE`, `--no-header`.

Blank cells are missing, and so are `?`, `NA`, `N/A`, `NaN` and `null`; in a column of numbers `-`, `.`, `missing` and
`none` too. `1,234.5`, `$12.00`, `12%` and, where the delimiter is not a comma, `1,5` are numbers; a note says how they
are read. Codes with leading zeros are text.
"""


def reference() -> str:
    """All verbs with their help, and what errors mean."""
    parts = [HEAD]
    for name in names():
        command = verb(name)
        above = click.Context(group, info_name="deciban", help_option_names=["-h", "--help"])
        with click.Context(command, above, name, max_content_width=WIDTH, terminal_width=WIDTH) as ctx:
            parts.append(f"## deciban {name}\n\n```text\n{command.get_help(ctx).rstrip()}\n```\n")
    lines = [f"| `{one.__name__}` | {_said(one)} |" for one in errors()]
    parts.append("\n".join(["## Errors\n", "| in Python | means |", "|---|---|", *lines]) + "\n")
    return "\n".join(parts)


def names() -> list[str]:
    """All verbs; one that has verbs of its own by theirs: `spam learn`."""
    out = []
    for name in VERBS:
        command = group.get_command(click.Context(group), name)
        out += [f"{name} {one}" for one in command.commands] if isinstance(command, click.Group) else [name]
    return out


def verb(name: str) -> CliCommand:
    """The verb of that name."""
    found: click.Command | None = group
    for word in name.split():
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word)
    assert isinstance(found, CliCommand)
    return found


def errors() -> list[type]:
    """The classes of errors."""
    members = inspect.getmembers(deciban.errors, inspect.isclass)
    return [one for _, one in members if one.__module__ == deciban.errors.__name__]


def _said(one: type) -> str:
    return " ".join((one.__doc__ or "").split("\n\n")[0].split())


if __name__ == "__main__":
    click.echo(reference(), nl=False)
