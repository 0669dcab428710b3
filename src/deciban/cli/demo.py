"""`deciban demo`: a tour of the library."""

from __future__ import annotations

import click

from deciban.cli.options import Terminal, cli_command


@cli_command("demo", example="deciban demo")
@click.option("--output", "-o", default="deciban-demo", show_default=True, metavar="FOLDER", help="For the report.")
@click.option(
    "--rows", default=200_000, show_default=True, help="Number of rows of the speed comparison with scikit-learn."
)
def command(talk: Terminal, output: str, rows: int) -> None:
    """Demonstrate the library on data that come with scikit-learn.

    It takes under a minute; all numbers are computed during the run.
    """
    from deciban.cli.tour import tour

    data = tour(output, rows, (lambda line: None) if talk.json else click.echo)
    if talk.json:
        talk.give("", data)
