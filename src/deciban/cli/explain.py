"""`deciban explain`: the evidence of each column for a prediction, in decibans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from deciban.cli.options import Terminal, cli_command, csv_options, priors_option, table_options


@cli_command("explain", example="deciban explain t.deciban titanic.csv --row 3")
@click.argument("model")
@click.argument("data")
@click.option("--row", type=click.IntRange(min=0), default=0, show_default=True, help="First row to explain (0-based).")
@click.option("--rows", "count", type=click.IntRange(min=1), default=1, show_default=True, help="Number of rows.")
@click.option("--of", metavar="CLASS", help="The class to explain; by default the most probable.")
@click.option("--against", metavar="CLASS", help="The class to compare it with; by default the runner-up.")
@click.option("--columns", default=10, show_default=True, help="Number of columns or words to show.")
@click.option(
    "--form",
    type=click.Choice(["decibans", "fractions"]),
    default="decibans",
    show_default=True,
    help="Evidence in decibans, or P(class) P(x | class) as a product of fractions.",
)
@click.option(
    "--error",
    is_flag=False,
    flag_value="auto",
    type=click.Choice(["auto", "robust", "model"]),
    help="Show intervals: robust ones where there are training rows (auto), or by the model's own distributions.",
)
@click.option("--level", default=0.9, show_default=True, help="Probability that an interval contains the evidence.")
@click.option("--training", metavar="FILE", help="Training rows with their labels, for robust intervals.")
@priors_option
@table_options
def command(
    talk: Terminal,
    model: str,
    data: str,
    row: int,
    count: int,
    of: str | None,
    against: str | None,
    columns: int,
    form: str,
    error: str | None,
    level: float,
    training: str | None,
    priors: str | None,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Show the evidence of each column of a row, or of each word of a text.

    Prior + columns = log odds. 10 decibans are odds of 10 : 1. The strongest come first. For a text model, a .txt file
    is one text, and standard input (-) has one text per line. With --form fractions, naive Bayes and Bayesian networks
    show the working by hand instead. With --error, every number has an interval: how much other training rows would
    change it.
    """
    import numpy as np

    import deciban
    from deciban.cli import inputs
    from deciban.io import readers

    fitted = inputs.loaded(model, data)
    about = deciban.model_info(model)
    source = inputs.questions(fitted, about, data, csv_options(delimiter, no_header))
    here = inputs.columns_of(fitted, about, source, talk)
    found = inputs.cells(fitted, readers.some_rows(source, row, count), here)
    pair = {
        key: inputs.label_of(fitted, label, f"--{key}")
        for key, label in (("of", of), ("against", against))
        if label is not None
    }
    if error is None and training is not None:
        error = "auto"
    more: dict[str, Any] = {}
    if error is not None:
        more = {"error": error, "level": level}
    if training is not None:
        known = inputs.LabelledData.of(model, training, None, csv_options(delimiter, no_header), talk)
        more["training"] = known.whole(talk, "reading training rows")
    why = fitted.explain(found, priors=inputs.parse_priors(fitted, priors), form=form, **pair, **more)
    why = replace(why, rows=np.arange(row, row + len(why)))
    talk.give(why.text(count, columns), why.to_dict()["rows"])
