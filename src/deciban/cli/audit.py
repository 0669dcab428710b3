"""`deciban audit`: look for wrong labels, leaks and other defects of a table."""

from __future__ import annotations

import click

from deciban.cli.options import (
    ClassifierOption,
    Terminal,
    check_output,
    cli_command,
    csv_options,
    force_option,
    table_options,
)


@cli_command("audit", example="deciban audit titanic.csv --target survived")
@click.argument("data")
@click.option("--target", "-t", metavar="COLUMN", help="The column of the classes.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Exclude this column (repeatable).")
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

    def pieces(source: readers.Source) -> tuple:
        column = inputs.target_of(source, target)
        inputs.check_drop(source, (*drop, *([groups] if groups else [])), column)
        whole = readers.concat_batches(inputs.batches(source, talk, "reading"), source)
        return whole.drop_columns([name for name in drop if name != groups]), column, source.text

    X, column, text = readers.retry_on_type_change(data, pieces, **csv_options(delimiter, no_header))
    if text is not None and X.num_columns == 2:
        X, labels = readers.strings(X, text), X[column].to_pylist()
        found = deciban.audit(X, labels, _classifier(model))
    else:
        found = deciban.audit(X, column, _classifier(model), groups)
    if output is not None and output.endswith((".html", ".htm")):
        found.report(output)
    elif output is not None and found.label_errors is not None:
        readers.write([readers.table_from_dict(found.label_errors.columns())], output)
    talk.give(str(found), found.to_dict())
