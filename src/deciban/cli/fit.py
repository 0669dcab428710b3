"""`deciban fit`: fit a model to a table and write it to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deciban.cli.options import (
    ClassifierOption,
    Terminal,
    check_model_output,
    cli_command,
    column_options,
    csv_options,
    force_option,
    table_options,
)

SHARE = 0.4  # of the memory there is, that rows may take


@cli_command("fit", example="deciban fit titanic.csv --target survived -o t.deciban")
@click.argument("data")
@column_options
@click.option("--output", "-o", metavar="MODEL", help="The file to write; by default DATA with the ending .deciban.")
@click.option(
    "--model",
    "name",
    cls=ClassifierOption,
    default="auto",
    show_default=True,
    metavar="NAME",
    help="The classifier, by a name that `deciban compare --model` takes; auto: the one with the lowest held-out log "
    "loss, or a mix of several where that is not clearly worse.",
)
@click.option("--updatable", is_flag=True, help="Only consider models that `update`, `forget` and `merge` can change.")
@click.option(
    "--ledger",
    is_flag=True,
    help="Fit an updatable model that keeps a keyed hash of every row, so that `forget` refuses rows that were never "
    "learned. The key is DECIBAN_LEDGER_KEY, if that variable is set.",
)
@click.option("--stream", is_flag=True, help="Stream the data in batches (automatic when it does not fit in memory).")
@force_option
@table_options
def command(
    talk: Terminal,
    data: str,
    target: str | None,
    output: str | None,
    name: str,
    updatable: bool,
    ledger: bool,
    drop: tuple[str, ...],
    stream: bool,
    text: str | None,
    force: bool,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Fit a model to DATA and write it to a file.

    DATA is CSV, TSV (plain or compressed), Parquet, Arrow, Feather, JSON lines, ARFF, a folder with a sub-folder of
    texts for each class, or - for standard input. Columns may be numeric or categorical, with missing values. Where a
    single column of free text is all there is, its words are the features. All printed scores are of held-out rows;
    every choice (distribution, smoothing, calibration, weights) is made again in each fold.
    """
    import deciban
    from deciban.cli import inputs
    from deciban.io import readers
    from deciban.io.atomic import file_lock

    how = csv_options(delimiter, no_header)
    out = output or _default_output(data)
    readers.writable(out)
    check_model_output(out, (data,), force)

    streamed, key = stream, inputs.ledger_setting() if ledger else False

    def learn(source: Any) -> Any:
        nonlocal streamed
        column = inputs.target_of(source, target)
        inputs.check_drop(source, drop, column)
        words_of = text or source.text
        room = SHARE * readers.available_memory()
        if streamed or source.bulk > room:
            talk.say(f"{data} is streamed: an updatable naive Bayes model is fitted", "note")
            with talk.bar("learning") as bar:
                return column, deciban.auto_fit_on(source, column, drop=drop, text=words_of, ledger=key, progress=bar)
        try:
            X, y = inputs.read_training_data(source, column, drop, talk, room)
        except readers.ReadAgain:  # a compressed file is larger than it looks
            streamed = True
            raise
        with talk.bar("choosing") as bar:
            return column, deciban.auto_fit(
                X,
                y,
                name,
                updatable=updatable,
                ledger=key,
                callback=lambda what, share: bar(0, share),
                text=words_of,
            )

    column, learned = readers.retry_on_type_change(data, learn, **how)
    learned.model._name_target(column)
    about = {"metrics": learned.metrics, "source": Path(data).name, "target": column, "text": learned.text}
    with file_lock(out):
        deciban.save(learned.model, out, **about)
        kept = deciban.model_info(out)["rows_kept"]
    talk.give(_text(learned, column, out, kept), {**_data(learned, column, out), "rows_kept": kept})
    if learned.metrics and learned.metrics["log_loss"] > learned.baseline_log_loss:
        talk.say("on held-out rows the model is no better than the class frequencies: it may need more rows", "note")
    for leak in learned.leaks:
        talk.say(f"{leak} If not: --drop {leak.column}", "warning")
    for left in learned.unread:
        talk.say(f"`{left}` is free text; to use its words as the only features: --text {left}", "note")
    for note in learned.notes:
        talk.say(note, "note")


def _default_output(data: str) -> str:
    """The name of a model by default."""
    from deciban.io import readers

    stem = "" if data == "-" or readers.is_glob(data) else readers.split_endings(data)[0].strip(".")
    return f"{stem or 'model'}.deciban"


def _text(learned: Any, target: str, out: str, kept: int) -> str:
    model = learned.model
    read = len(model.vocabulary_) if learned.text is not None else model.n_features_in_
    what = "columns" if learned.text is None else f"words of `{learned.text}`"
    head = (
        f"{out}: {type(model).__name__} ({learned.kind.words}), {learned.rows:,} rows, {read:,} {what}, "
        f"{len(model.classes_)} classes of `{target}`"
    )
    rows = [f"keeps {kept:,} training rows, which can be read from the file"] * bool(kept)
    return "\n".join([head, *(f"  {line}" for line in (*learned.lines, *rows))])


def _data(learned: Any, target: str, out: str) -> dict[str, Any]:
    from deciban.cli import inputs

    board = learned.leaderboard
    return {
        "path": out,
        "class": type(learned.model).__name__,
        "model": learned.kind.name,
        "target": target,
        "classes": learned.model.classes_.tolist(),
        "rows": learned.rows,
        "columns": inputs.feature_names(learned.model) or [learned.text],
        "validation": learned.how,
        "held_out_rows": 0 if learned.held_out is None else len(learned.held_out.losses),
        "not_scored": {} if learned.held_out is None else {str(c): n for c, n in learned.held_out.unknown.items()},
        "metrics": learned.metrics,
        "baseline_log_loss": learned.baseline_log_loss if learned.metrics else None,
        "compared": {} if board is None else dict(zip(board.names, board.log_loss.tolist(), strict=True)),
        "weights": {} if board is None else dict(zip(board.names, board.weight.tolist(), strict=True)),
        "unfit": {}
        if board is None
        else {name: why for name, why in zip(board.names, board.notes, strict=True) if why},
        "dropped_columns": {str(name): why for name, why in learned.dropped_columns.items()},
        "leakage": {leak.column: leak.words for leak in learned.leaks},
    }
