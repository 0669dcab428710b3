"""`deciban predict`: append labels and probabilities to a stream of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from deciban.cli.options import (
    Terminal,
    check_output,
    cli_command,
    csv_options,
    force_option,
    priors_option,
    table_options,
)


@cli_command("predict", example="deciban predict t.deciban titanic.csv -o answers.csv")
@click.argument("model")
@click.argument("data")
@click.option(
    "--output",
    "-o",
    default="-",
    metavar="FILE",
    help="Where to write: .csv, .tsv (also .gz, .zst), .parquet, .arrow or .jsonl; by default CSV to stdout.",
)
@priors_option
@click.option(
    "--costs",
    multiple=True,
    metavar="TRUE:DECIDED=COST",
    help="Cost of an error, if not 1 (repeatable): predict the class of least expected cost.",
)
@click.option(
    "--reject", type=float, metavar="COST", help="Leave `predicted` empty where every class has a higher expected cost."
)
@force_option
@table_options
def command(
    talk: Terminal,
    model: str,
    data: str,
    output: str,
    priors: str | None,
    costs: tuple[str, ...],
    reject: float | None,
    force: bool,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Append the predicted class and the probability of each class to rows.

    DATA is a file, or - for standard input; the new columns are `predicted` and `p_…`. Rows are
    streamed in batches, so that memory does not grow with the file. For a text model, a .txt file is one text, and
    standard input has one text per line, unless it is a table with the text column.
    """
    import numpy as np

    import deciban
    from deciban.cli import inputs
    from deciban.io import readers

    check_output(output, (model, data), force)
    fitted = inputs.loaded(model, data)
    asked = inputs.DecisionOptions.of(fitted, priors, costs, reject)
    how = csv_options(delimiter, no_header)
    about = deciban.model_info(model)
    source = inputs.questions(fitted, about, data, how)
    columns = inputs.columns_of(fitted, about, source, talk)

    def answers(X: Any) -> Any:
        none = fitted.classes_[:0], np.zeros((0, len(fitted.classes_)))
        labels, proba = asked.answer(inputs.cells(fitted, X, columns)) if X.num_rows else none
        probabilities = {f"p_{label}": proba[:, c] for c, label in enumerate(fitted.classes_.tolist())}
        return readers.with_free_names({"predicted": labels, **probabilities}, source.names)

    def through() -> Iterator[Any]:
        assert source.lines is not None
        pieces = ((X.num_rows, (X, lines)) for X, lines in source.lines(columns) if len(lines))
        for X, lines in inputs.with_progress(source, pieces, talk, "predicting"):
            yield lines, answers(X)

    def with_answers() -> Iterator[Any]:
        for batch in inputs.batches(source, talk, "predicting"):
            yield readers.append_columns(batch, answers(batch))

    empty = source.schema.empty_table()
    if talk.json and output == "-":
        readers.write_lines(with_answers())
    elif readers.can_append_to_lines(source, output):
        lines = readers.or_empty(through(), lambda: ((), answers(empty)))
        readers.write_csv_with_predictions(source, lines, output)
    else:
        tables = readers.or_empty(with_answers(), lambda: readers.append_columns(empty, answers(empty)))
        readers.write(tables, output)
