"""`deciban score`: how good a model is on rows whose classes are known."""

from __future__ import annotations

import click

from deciban.cli.verb import Talk, how_to_read, table_options, verb


@verb("score", example="deciban score t.deciban titanic.csv")
@click.argument("model")
@click.argument("data")
@click.option("--target", "-t", metavar="COLUMN", help="The column of the classes; by default that of training.")
@click.option("--priors", metavar="CLASS=P,…", help="Other class priors than those of training, or `uniform`.")
@table_options
def command(
    talk: Talk,
    model: str,
    data: str,
    target: str | None,
    priors: str | None,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Accuracy, log loss, Brier score, calibration, and what was taken for what."""
    import deciban
    from deciban.cli import asking, rows

    fitted, about = deciban.load(model), deciban.about(model)
    how = how_to_read(delimiter, no_header)
    column = rows.target_of(rows.opened(fitted, data, how), target or about.get("target"))
    source = rows.opened(fitted, data, how, column)
    here = rows.columns_of(fitted, {**about, "target": column}, source, talk)
    found = rows.labelled(source, column, talk, "scoring")
    pairs = ((rows.cells(fitted, X, here), rows.as_learned(fitted, y)) for X, y in found)
    out = deciban.assess(fitted, pairs, priors=asking.parsed_priors(fitted, priors))
    talk.give(str(out), out.as_dict())
