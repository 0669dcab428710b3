"""`deciban report`: a page to read and to show."""

from __future__ import annotations

import click

from deciban.cli.options import Talk, check_output, force_option, how_to_read, known_target, table_options, verb


@verb("report", example="deciban report t.deciban titanic.csv -o report.html")
@click.argument("model")
@click.argument("data")
@click.option("--output", "-o", default="report.html", show_default=True, metavar="FILE", help="The page to write.")
@known_target
@force_option
@table_options
def command(
    talk: Talk,
    model: str,
    data: str,
    output: str,
    target: str | None,
    force: bool,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Write a page of HTML about a model and labelled rows.

    It shows the data, metrics, reliability, what the model believes, and surprises.
    """
    import deciban
    from deciban.cli import inputs
    from deciban.io import readers

    readers.writable(output)
    check_output(output, (model, data), force)
    found = inputs.Examples.of(model, data, target, how_to_read(delimiter, no_header), talk)
    X, y = found.whole(talk, "reading")
    deciban.report(found.model, X, y, output, target=found.target)
    talk.give(output, {"report": output})
