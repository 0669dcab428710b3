"""`deciban report`: a page to read and to show."""

from __future__ import annotations

import click

from deciban.cli.verb import Talk, how_to_read, known_target, table_options, verb


@verb("report", example="deciban report t.deciban titanic.csv -o report.html")
@click.argument("model")
@click.argument("data")
@click.option("--output", "-o", default="report.html", show_default=True, metavar="FILE", help="The page to write.")
@known_target
@table_options
def command(
    talk: Talk, model: str, data: str, output: str, target: str | None, delimiter: str | None, no_header: bool
) -> None:
    """One page of HTML about a model and these rows: data, metrics, reliability, what the model believes, surprises."""
    import deciban
    from deciban import files
    from deciban.cli import rows

    files.writable(output)
    found = rows.Examples.of(model, data, target, how_to_read(delimiter, no_header), talk)
    X, y = found.whole(talk, "reading")
    deciban.report(found.model, X, y, output, target=found.target)
    talk.give(output, {"report": output})
