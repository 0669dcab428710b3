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
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Append `set`: classes among which the true one is in this share of all rows.",
)
@click.option("--by-class", is_flag=True, help="The share of --coverage holds for the rows of each class.")
@click.option(
    "--calibration",
    metavar="FILE",
    help="Labelled rows for --coverage; by default the training rows that the model keeps.",
)
@click.option("--learned", is_flag=True, help="The rows of --calibration are the training rows of the model.")
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
    coverage: float | None,
    by_class: bool,
    calibration: str | None,
    learned: bool,
    force: bool,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Append the predicted class and the probability of each class to rows.

    DATA is a file, or - for standard input; the new columns are `predicted` and `p_…`. Rows are
    streamed in batches, so that memory does not grow with the file. For a text model, a .txt file is one text, and
    standard input has one text per line, unless it is a table with the text column.

    --coverage 0.9 appends `set`, the classes among which the true one is for nine of ten rows; priors and costs do not
    change it. In CSV the classes are joined by `|`, and a class that contains one is in quotes; JSON, Parquet and Arrow
    have lists.
    """
    import numpy as np

    import deciban
    from deciban.cli import inputs
    from deciban.io import readers

    if coverage is None and (by_class or calibration or learned):
        raise click.UsageError("--by-class, --calibration and --learned are for --coverage")
    if learned and not calibration:
        raise click.UsageError("--learned is for --calibration FILE")
    check_output(output, (model, data, *([calibration] if calibration else [])), force)
    fitted = inputs.loaded(model, data)
    asked = inputs.DecisionOptions.of(fitted, priors, costs, reject)
    how = csv_options(delimiter, no_header)
    sets = None
    if coverage is not None:
        rows = None
        if calibration:
            rows = inputs.LabelledData.of(model, calibration, None, how, talk).whole(talk, "calibrating")
        sets = fitted.set_predictor(by_class, rows, learned)
    lists = (talk.json and output == "-") or readers.holds_lists(output)
    about = deciban.model_info(model)
    source = inputs.questions(fitted, about, data, how)
    columns = inputs.columns_of(fitted, about, source, talk)

    def answers(X: Any) -> Any:
        k = len(fitted.classes_)
        rows = inputs.cells(fitted, X, columns) if X.num_rows else None
        labels, proba = (fitted.classes_[:0], np.zeros((0, k))) if rows is None else asked.answer(rows)
        new = {"predicted": labels}
        if sets is not None:
            found = np.zeros((0, k), dtype=bool) if rows is None else sets.predict(rows, coverage)
            new["set"] = readers.set_column(fitted.classes_, found, lists)
        new |= {f"p_{label}": proba[:, c] for c, label in enumerate(fitted.classes_.tolist())}
        return readers.with_free_names(new, source.names)

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
