"""`deciban influence`: which training rows made a model predict what it predicts."""

from __future__ import annotations

from dataclasses import replace

import click

from deciban.cli.options import Terminal, cli_command, csv_options, known_target, table_options


@cli_command("influence", example="deciban influence t.deciban titanic.csv --row 3")
@click.argument("model")
@click.argument("data")
@click.option("--row", type=click.IntRange(min=0), default=0, show_default=True, help="Row to predict (0-based).")
@click.option("--query", metavar="FILE", help="File of the row to predict; by default it is one of DATA.")
@click.option("--class", "own", metavar="CLASS", help="The row's true class: show the change of its log loss, too.")
@click.option("--groups", metavar="COLUMN", help="Leave out rows with the same value in this column together.")
@click.option(
    "--top", default=10, show_default=True, type=click.IntRange(min=1), help="Number of rows or groups shown."
)
@click.option(
    "--second-stage", is_flag=True, help="Fit calibration and weights again without each row (4,096 rows at most)."
)
@known_target
@table_options
def command(
    talk: Terminal,
    model: str,
    data: str,
    row: int,
    query: str | None,
    own: str | None,
    groups: str | None,
    top: int,
    second_stage: bool,
    target: str | None,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Show the training rows that a prediction depends on most: how its probabilities change without each.

    DATA are rows that the model learned, with their labels; rows are numbered from 0. All choices of the model are
    held. A row is left out by subtraction, as `deciban forget` does; of logistic regression by one Newton step.
    """
    import deciban
    from deciban.cli import inputs

    how = csv_options(delimiter, no_header)
    known = inputs.LabelledData.of(model, data, target, how, talk)
    rows = known.numbered(talk, "reading", groups, None if query is not None else row)
    asked = rows.asked if query is None else inputs.one_row(known, query, row, how, talk)
    true = None if own is None else inputs.label_of(known.model, own, "--class")
    found = deciban.influence(
        known.model, rows.X, rows.y, asked, groups=rows.column, y_query=true, second_stage=second_stage
    )
    if groups is None:
        found = replace(found, rows=rows.number)
    talk.give(found.text(top), found.to_dict(top))
