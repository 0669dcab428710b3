"""The `deciban` command. Each command is a module of this package: it parses its arguments, calls one public function,
and prints. Data go to stdout, messages to stderr.

Exit codes: 0 success, 1 data error, 2 usage error, 130 stopped by Ctrl-C, 141 the reader of a pipe has closed it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

import click

from deciban.cli.options import first_sentence, print_error
from deciban.cli.starting import ClosedOutput, drop_output, lighten, protect_output

CLOSED = 141  # 128 + the number of SIGPIPE
VERBS = (
    "fit",
    "predict",
    "explain",
    "influence",
    "score",
    "compare",
    "audit",
    "show",
    "update",
    "forget",
    "merge",
    "report",
    "spam",
    "families",
    "demo",
)


class Verbs(click.Group):
    """The commands in the order of their use; the error about a misspelt one suggests the nearest."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command = import_module(f"deciban.cli.{name}").command
        command.short_help = first_sentence(command.help)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple:
        if args[0] not in VERBS and not args[0].startswith("-"):
            from deciban.errors import did_you_mean

            hint = did_you_mean(args[0], VERBS, "`deciban {}`") or f"the commands are {', '.join(VERBS)}"
            raise click.UsageError(f"there is no command {args[0]!r}\n\nhint: {hint}", ctx)
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from deciban import __version__

        click.echo(f"deciban {__version__}")
        ctx.exit()


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example:\n\n  deciban fit titanic.csv --target survived -o t.deciban",
)
@click.option(
    "--version", "-V", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def group() -> None:
    """Probabilistic classification: from a table to a decision, with the evidence in decibans."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and exit."""
    if argv is None:
        lighten()
        protect_output()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # ? for what the encoding of the terminal does not have
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["help"]:  # deciban help fit
        given = [*given[1:], "--help"]
    try:
        ended = group.main(given, prog_name="deciban", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        code = ended if isinstance(ended, int) else 0
    except (ClosedOutput, BrokenPipeError):  # as of a process that the signal of a closed pipe ends, without a message
        code = CLOSED
    except (click.ClickException, click.exceptions.Abort, KeyboardInterrupt, Exception) as error:
        code = print_error(error, "--debug" in given)
    drop_output()
    sys.exit(code)
