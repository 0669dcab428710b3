"""`deciban report`: a page to read and to show."""

from __future__ import annotations

import click

from deciban.cli.verb import Talk, how_to_read, table_options, verb


@verb("report", example="deciban report t.deciban titanic.csv -o report.html")
@click.argument("model")
@click.argument("data")
@click.option("--output", "-o", default="report.html", show_default=True, metavar="FILE", help="The page to write.")
@click.option("--target", "-t", metavar="COLUMN", help="The column of the classes; by default that of training.")
@table_options
def command(
    talk: Talk, model: str, data: str, output: str, target: str | None, delimiter: str | None, no_header: bool
) -> None:
    """One page of HTML about a model and these rows: data, metrics, reliability, what the model believes, surprises."""
    import deciban
    from deciban import files
    from deciban.cli import rows

    fitted, about = deciban.load(model), deciban.about(model)
    how = how_to_read(delimiter, no_header)
    column = rows.target_of(rows.opened(fitted, data, how), target or about.get("target"))
    source = rows.opened(fitted, data, how, column)
    here = rows.columns_of(fitted, {**about, "target": column}, source, talk)
    X, y = files.joined([(X.select(here), y) for X, y in rows.labelled(source, column, talk, "reading")])
    deciban.report(fitted, rows.cells(fitted, X, here), rows.as_learned(fitted, y), output)
    talk.give(output, {"report": output})
