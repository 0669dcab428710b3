"""What all commands share: help with an example, common options, printing, and error messages."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

STOPPED = 130
FOR_PYTHON = re.compile(r"sklearn\.|features=")  # hints that do not apply to the command line
CLI_HINT = "`deciban fit --model mixed` takes any columns; or leave this one out: --drop COLUMN"
NOT_PLAIN = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")  # what JSON leaves unescaped
HEADER = "deciban.header"  # key of the value of --header, for `csv_options`


class CliCommand(click.Command):
    """A command whose help ends in an example that can be run."""

    def __init__(self, *args: Any, example: str, **more: Any):
        super().__init__(*args, **more)
        self.example = example
        self.short_help = first_sentence(self.help)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write("Example:\n" + textwrap.indent(self.example.strip(), "  ") + "\n")


class ClassifierOption(click.Option):
    """An option for the name of a classifier, whose help lists the names."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        import deciban  # slow to import

        known = ", ".join(deciban.list_classifiers())
        if self.help and known not in self.help:
            self.help = f"{self.help} One of {known}."
        return super().get_help_record(ctx)


def first_sentence(text: str | None) -> str:
    """
    >>> first_sentence("Do this, as e.g. that. And more.")
    'Do this, as e.g. that.'
    """
    paragraph = " ".join((text or "").strip().partition("\n\n")[0].split())
    end = re.search(r"[.?](?= [A-Z])", paragraph)
    return paragraph[: end.end()] if end else paragraph


@dataclass(frozen=True)
class Terminal:
    """Prints messages to stderr, and data to stdout, as text or as JSON."""

    json: bool
    quiet: bool

    def say(self, text: str, kind: str = "") -> None:
        """Print a message to stderr."""
        if not self.quiet:
            mark = click.style(f"{kind}: ", bold=True) if kind else ""
            click.echo(mark + _visible(text), err=True)

    def give(self, text: str, data: Any) -> None:
        """Print the result to stdout."""
        click.echo(_json(data) if self.json else _visible(text))

    @contextmanager
    def warned(self) -> Iterator[None]:
        """Context manager: print each UserWarning once, as one line; hide other warnings."""
        seen: set[str] = set()

        def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            text = " ".join(str(message).split())
            if issubclass(category, UserWarning) and text not in seen:
                seen.add(text)
                self.say(text, "warning")

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield

    @contextmanager
    def bar(self, what: str) -> Iterator[Callable[[int, float | None], None]]:
        """Context manager: a progress bar if stderr is a terminal; its callback takes (rows so far, fraction done)."""
        from deciban.progress import row_progress

        with row_progress(not self.quiet and sys.stderr.isatty(), what, transient=True) as advance:
            yield advance or (lambda rows, share: None)


def _visible(text: str) -> str:
    from deciban.display import escape_controls  # slow to import

    return escape_controls(text)


def _json(data: Any) -> str:
    """JSON, with escapes for all characters that a terminal may take for commands."""
    text = json.dumps(finite(data), ensure_ascii=False, default=plain, indent=2)
    return NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def finite(data: Any) -> Any:
    """Replace NaN and infinities, which JSON does not have, by None.

    >>> finite({"log_loss": [0.5, float("nan")], "rows": 2})
    {'log_loss': [0.5, None], 'rows': 2}
    """
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    if hasattr(data, "tolist"):
        return finite(data.tolist())
    return None if isinstance(data, float) and not math.isfinite(data) else data


def plain(value: Any) -> Any:
    """Convert NumPy numbers and arrays, and any other object, to a type of JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return value if isinstance(value, int | float) else str(value)


def options(*given: Callable) -> Callable[[Callable], Callable]:
    """Combine several options (and arguments) into one decorator, in the order of the help."""

    def add(function: Callable) -> Callable:
        for option in reversed(given):
            function = option(function)
        return function

    return add


_common = options(
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--quiet", "-q", is_flag=True, help="Suppress notes and progress."),
    click.option("--debug", is_flag=True, expose_value=False, help="Show where an error was raised."),
)


def cli_command(name: str, example: str) -> Callable[[Callable], CliCommand]:
    """Make a function (talk, …) a command with the common options."""

    def make(function: Callable) -> CliCommand:
        def run(as_json: bool, quiet: bool, **arguments: Any) -> Any:
            from deciban.display import on_command_line  # slow to import

            check_names(click.get_current_context())
            talk = Terminal(as_json, quiet)
            with on_command_line(), talk.warned():
                return function(talk, **arguments)

        run.__doc__ = function.__doc__
        run.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        return click.command(name, cls=CliCommand, example=example)(_common(run))

    return make


def check_names(ctx: click.Context) -> None:
    """Raise a usage error for an empty file name, as of a variable of the shell that is not set."""
    for option in ctx.command.params:
        given = ctx.params.get(option.name or "")
        names = given if isinstance(given, tuple) else (given,)
        if "" in names and (isinstance(option, click.Argument) or option.name == "output"):
            raise click.BadParameter("the name of the file is empty", ctx, option)


table_options = options(  # how to read a CSV file where detection fails
    click.option("--delimiter", metavar="CHAR", help=r"Delimiter of a CSV file (\t: tab)."),
    click.option(
        "--header",
        type=click.IntRange(min=1),
        metavar="LINE",
        expose_value=False,
        callback=lambda ctx, option, line: ctx.meta.__setitem__(HEADER, line),
        help="Line of a CSV file with the column names (1-based).",
    ),
    click.option("--no-header", is_flag=True, help="A CSV file has no header: columns are named x0, x1, …"),
)
column_options = options(  # target and features
    click.option("--target", "-t", metavar="COLUMN", help="The column of the classes."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Exclude this column (repeatable)."),
    click.option("--text", metavar="COLUMN", help="Use the words of this column as the only features."),
)
known_target = click.option(
    "--target", "-t", metavar="COLUMN", help="The column of the classes; by default that of training."
)
priors_option = click.option(
    "--priors", metavar="CLASS=P,…", help="Class priors instead of those of training, or `uniform`."
)


force_option = click.option("--force", is_flag=True, help="Allow overwriting a file that is an input, or no model.")


def check_output(output: str | os.PathLike, inputs: Sequence[str | os.PathLike], force: bool) -> None:
    """Raise DataError if the output is one of the inputs, or would be one the next time."""
    from deciban.errors import DataError
    from deciban.io import readers

    for one in inputs if not force else ():
        if os.path.exists(output) and os.path.exists(one) and os.path.samefile(output, one):
            raise DataError(
                f"{output} is an input and would be overwritten\n\nhint: name another file, or pass --force"
            )
        readers.check_not_read(one, output)


def check_model_output(output: str | os.PathLike, inputs: Sequence[str | os.PathLike], force: bool) -> None:
    """Raise DataError if the output is one of the inputs, or a file that is no model."""
    import deciban
    from deciban.errors import DataError, ModelFileError

    check_output(output, inputs, force)
    if not force and os.path.isfile(output) and os.path.getsize(output):
        try:
            deciban.model_info(output)
        except ModelFileError as error:
            raise DataError(f"{output} exists and is no model\n\nhint: name another file, or pass --force") from error


def csv_options(delimiter: str | None, no_header: bool) -> dict[str, Any]:
    """The table options as `readers.open_path` takes them."""
    delimiter = delimiter and delimiter.replace("\\t", "\t")
    if delimiter is not None and len(delimiter) != 1:
        raise click.BadParameter(f"{delimiter!r} is not one character", param_hint="--delimiter")
    ctx = click.get_current_context()
    line, target = ctx.meta.get(HEADER), ctx.params.get("target")
    if line and no_header:
        raise click.BadParameter("--header and --no-header exclude each other", param_hint="--header")
    return {"delimiter": delimiter, "header": 0 if no_header else line, "expected": (target,) if target else ()}


def print_error(error: BaseException, debug: bool) -> int:
    """Print an error and its hint; returns the exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.exceptions.Abort | KeyboardInterrupt):
        click.echo("stopped: no file was written", err=True)
        return STOPPED
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return 2
    if isinstance(error, click.UsageError):
        where = f"\n\nhint: {error.ctx.command_path} --help" if error.ctx and error.ctx.parent else ""
        message = error.format_message()
        click.echo(_error(message if "hint:" in message else message + where), err=True)
        return 2
    if debug:
        click.echo(_visible("".join(traceback.format_exception(error))), err=True, nl=False)
    click.echo(_error(error_message(error)), err=True)
    return 1


def error_message(error: BaseException) -> str:
    """The message for users."""
    from deciban.errors import DecibanError

    if isinstance(error, DecibanError):
        what, _, hint = str(error).partition("\n\nhint: ")
        return f"{what}\n\nhint: {CLI_HINT}" if FOR_PYTHON.search(hint) else str(error)
    if isinstance(error, ImportError):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"file not found: {error.filename}\n\nhint: check the path"
    if isinstance(error, IsADirectoryError):
        return f"{error.filename} is a folder\n\nhint: name a file"
    if isinstance(error, OSError):
        return f"{error}\n\nhint: check the free space on the disk and the permissions"
    if isinstance(error, MemoryError):
        return "not enough memory\n\nhint: `deciban fit --stream` and `deciban predict` need little memory"
    return f"{error or type(error).__name__}\n\nhint: `--debug` shows where this came from"


def _error(text: str) -> str:
    """An error as one paragraph, then its hint."""
    wrong, _, hint = text.partition("\n\nhint: ")
    mark = click.style("error: ", fg="red", bold=True)
    return mark + _visible(" ".join(wrong.split()) + (f"\nhint: {' '.join(hint.split())}" if hint else ""))
