"""`deciban demo`: the tour."""

from __future__ import annotations

import click

from deciban.cli.options import Terminal, cli_command


@cli_command("demo", example="deciban demo")
@click.option("--output", "-o", default="deciban-demo", show_default=True, metavar="FOLDER", help="For the report.")
@click.option("--rows", default=200_000, show_default=True, help="How many rows the race with scikit-learn has.")
def command(talk: Terminal, output: str, rows: int) -> None:
    """Show what it can do, on data that every machine has.

    It takes under a minute; all numbers are computed there and then.
    """
    from deciban.cli.tour import tour

    data = tour(output, rows, (lambda line: None) if talk.json else click.echo)
    if talk.json:
        talk.give("", data)
