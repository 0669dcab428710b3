"""What `update` and `forget` share: rows go into a model, or out of it, and the file is replaced when all is well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from deciban.cli.verb import Talk, how_to_read, table_options

HINT = "hint: learn a model that can change: deciban fit --updatable"


def change_options(function: Callable) -> Callable:
    """The arguments of both."""
    for option in (
        table_options,
        click.option(
            "--target", "-t", metavar="COLUMN", help="The column of the classes; by default that of training."
        ),
        click.option("--output", "-o", metavar="FILE", help="Where to write the model; by default in its place."),
        click.argument("data"),
        click.argument("model"),
    ):
        function = option(function)
    return function


def changed(
    talk: Talk,
    forget: bool,
    model: str,
    data: str,
    output: str | None,
    target: str | None,
    delimiter: str | None,
    no_header: bool,
) -> None:
    import deciban
    from deciban.cli import rows
    from deciban.errors import NotAdditiveError

    fitted, about = deciban.load(model), deciban.about(model)
    how = how_to_read(delimiter, no_header)
    column = rows.target_of(rows.opened(fitted, data, how), target or about.get("target"))
    source = rows.opened(fitted, data, how, column)
    here, count = rows.columns_of(fitted, {**about, "target": column}, source, talk), 0
    try:
        for X, y in rows.labelled(source, column, talk, "forgetting" if forget else "learning"):
            fitted = _step(fitted, rows.cells(fitted, X, here), rows.as_learned(fitted, y), forget)
            count += len(y)
    except NotAdditiveError as error:
        raise NotAdditiveError(f"{str(error).partition(chr(10))[0]}\n\n{HINT}") from error
    out = output or model
    deciban.save(fitted, out, source=about["source"], target=column, text=about.get("text"))
    total = float(fitted.class_count_.sum())
    word = "forgot" if forget else "learned"
    talk.give(f"{out}: {word} {count:,} rows, {total:,.0f} in all", {"model": out, word: count, "rows": total})


def _step(fitted: Any, X: Any, y: Any, forget: bool) -> Any:
    if forget:
        return fitted.forget(X, y)
    if set(y.tolist()) <= set(fitted.classes_.tolist()):
        return fitted.partial_fit(X, y)
    return fitted + type(fitted)(**fitted.get_params(deep=False)).fit(X, y)  # new classes
