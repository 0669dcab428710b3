"""`deciban report`: write an HTML report about a model."""

from __future__ import annotations

import click

from deciban.cli.options import (
    Terminal,
    check_output,
    cli_command,
    csv_options,
    force_option,
    known_target,
    table_options,
)


@cli_command("report", example="deciban report t.deciban titanic.csv -o report.html")
@click.argument("model")
@click.argument("data")
@click.option("--output", "-o", default="report.html", show_default=True, metavar="FILE", help="The page to write.")
@click.option("--no-figures", is_flag=True, help="Write no figures; matplotlib is not needed then.")
@known_target
@force_option
@table_options
def command(
    talk: Terminal,
    model: str,
    data: str,
    output: str,
    no_figures: bool,
    target: str | None,
    force: bool,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Write an HTML report about a model and labelled rows.

    It shows metrics, calibration, the effects of columns or words, the largest errors, the data, and warnings.
    """
    import deciban
    from deciban.cli import inputs
    from deciban.io import readers

    readers.writable(output)
    check_output(output, (model, data), force)
    found = inputs.LabelledData.of(model, data, target, csv_options(delimiter, no_header), talk)
    X, y = found.whole(talk, "reading")
    deciban.report(found.model, X, y, output, target=found.target, figures=not no_figures)
    talk.give(output, {"report": output})
