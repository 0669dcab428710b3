"""`deciban audit`: look for wrong labels, leaks and other defects of a table."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.options import (
    ClassifierOption,
    Terminal,
    check_output,
    cli_command,
    column_options,
    csv_options,
    force_option,
    table_options,
)


@cli_command("audit", example="deciban audit titanic.csv --target survived")
@click.argument("data")
@column_options
@click.option("--groups", metavar="COLUMN", help="The column of the groups, which are compared with each other.")
@click.option(
    "--model",
    cls=ClassifierOption,
    metavar="NAME",
    help="Judge labels by this classifier, instead of discriminants and naive Bayes.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write a page (.html), or all rows, the least credible label first (.csv, .tsv, .parquet, .arrow, .jsonl).",
)
@force_option
@table_options
def command(
    talk: Terminal,
    data: str,
    target: str | None,
    drop: tuple[str, ...],
    text: str | None,
    groups: str | None,
    model: str | None,
    output: str | None,
    force: bool,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Look for wrong labels, leaking columns and other defects of DATA.

    Rows are called by their number, from 0. P(given) is the probability of the given label by models that were learned
    without the row, P(wrong) the probability that the label is wrong. It also finds equal rows with different labels,
    columns of no use, classes of few rows, and with --groups groups that differ.
    """
    import deciban
    from deciban.cli import inputs
    from deciban.io import readers

    if output is not None:
        readers.writable(output)
        check_output(output, (data,), force)

    def whole(source: readers.Source) -> tuple:
        column = inputs.target_of(source, target)
        inputs.check_drop(source, (*drop, *([groups] if groups else [])), column)
        kept = [name for name in source.names if name not in drop or name in (column, groups)]
        parts: list[tuple[Any, Any]] = [
            (readers.selected(batch, kept), []) for batch in inputs.batches(source, talk, "reading")
        ]
        return readers.concat(parts)[0], column, text or source.text

    X, column, words = readers.retry_on_type_change(data, whole, **csv_options(delimiter, no_header))
    if words is None:
        found = deciban.audit(X, column, model, groups)
    else:
        given = None if groups is None else X[groups].to_pylist()
        found = deciban.audit(readers.strings(X, words), X[column].to_pylist(), model, given)
    if output is not None and output.endswith((".html", ".htm")):
        found.report(output)
    elif output is not None and found.label_errors is not None:
        readers.write([readers.table_from_dict(found.label_errors.ranking())], output)
    talk.give(str(found), found.to_dict())
