"""`deciban compare`: rank classifiers by cross-validated log loss."""

from __future__ import annotations

import click

from deciban.cli.options import ClassifierOption, Terminal, cli_command, column_options, csv_options, table_options


@cli_command("compare", example="deciban compare titanic.csv --target survived --drop boat --drop body")
@click.argument("data")
@column_options
@click.option("--folds", type=click.IntRange(min=2), default=10, show_default=True, help="How many folds; at most 50.")
@click.option(
    "--model",
    "models",
    cls=ClassifierOption,
    multiple=True,
    metavar="NAME",
    help="Compare only this classifier (repeatable): the name of a public class, such as GaussianNB, or a short name.",
)
@table_options
def command(
    talk: Terminal,
    data: str,
    target: str | None,
    folds: int,
    models: tuple[str, ...],
    drop: tuple[str, ...],
    text: str | None,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Cross-validate the classifiers that suit DATA, ranked by log loss.

    ± is the standard error of the log loss, calibration is the expected calibration error (15 bins). Of more than
    10,000 rows, 10,000 are sampled, class by class.
    """
    import deciban
    from deciban.cli import inputs
    from deciban.io import readers

    def pieces(source: readers.Source) -> tuple:
        column = inputs.target_of(source, target)
        inputs.check_drop(source, drop, column)
        return *inputs.read_training_data(source, column, drop, talk), text or source.text

    X, y, text = readers.retry_on_type_change(data, pieces, **csv_options(delimiter, no_header))
    with talk.bar("comparing") as advance:
        out = deciban.compare(X, y, models or None, folds, lambda what, share: advance(0, share), text)
    for name, why in out.dropped_columns.items():
        talk.say(f"`{name}` {why}: dropped", "note")
    for note in out.notes:
        talk.say(note, "note")
    talk.give("\n".join([str(out), "", out.advice, *(_sentence(line) for line in out.not_tried)]), out.as_dict())


def _sentence(line: str) -> str:
    return line[0].upper() + line[1:] + "."
