"""`deciban update`: add rows to a model. `modify_model` is what `update` and `forget` share."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.options import (
    Terminal,
    check_model_output,
    check_output,
    cli_command,
    csv_options,
    force_option,
    known_target,
    options,
    table_options,
)

HINT = "hint: fit an updatable model: deciban fit --updatable"


change_options = options(
    click.argument("model"),
    click.argument("data"),
    click.option("--output", "-o", metavar="FILE", help="Where to write the model; by default over MODEL."),
    known_target,
    force_option,
    table_options,
)


def modify_model(
    talk: Terminal,
    forget: bool,
    model: str,
    data: str,
    output: str | None,
    target: str | None,
    force: bool,
    delimiter: str | None,
    no_header: bool,
) -> None:
    import deciban
    from deciban.cli import inputs
    from deciban.errors import NotAdditiveError
    from deciban.io import readers
    from deciban.io.atomic import file_lock

    out = readers.writable(output or model)
    (check_model_output if output else check_output)(out, (data,), force)
    with file_lock(out):
        found = inputs.LabelledData.of(model, data, target, csv_options(delimiter, no_header), talk, empty=not forget)
        fitted, count = found.model, 0
        inputs.use_ledger_key(fitted, found.about)
        try:
            for X, y in found.pairs(talk, "forgetting" if forget else "learning"):
                fitted = _apply_batch(fitted, X, y, forget)
                count += len(y)
        except NotAdditiveError as error:
            raise NotAdditiveError(f"{str(error).partition(chr(10))[0]}\n\n{HINT}") from error
        about = found.about
        deciban.save(fitted, out, source=about["source"], target=found.target, text=about.get("text"))
    total, before = float(fitted.class_count_.sum()), about.get("fingerprint")
    word, after = "forgot" if forget else "learned", deciban.model_info(deciban.dumps(fitted))["fingerprint"]
    text = f"{out}: {word} {count:,} rows, {total:,.0f} in all"
    if forget:
        text += f"\nfingerprint before {before}\nfingerprint after  {after}"
    found_out = {"model": out, word: count, "rows": total, "fingerprint_before": before, "fingerprint": after}
    talk.give(text, found_out)


def _apply_batch(fitted: Any, X: Any, y: Any, forget: bool) -> Any:
    return fitted.forget(X, y) if forget else fitted.partial_fit(X, y)


@cli_command("update", example="deciban update u.deciban more.csv")
@change_options
def command(talk: Terminal, **asked: Any) -> None:
    """Add rows to a model. The result equals a model fitted to all rows.

    New classes and categories are allowed.

    The model must be updatable: `deciban fit --updatable`. The file is replaced at the end. Processes that
    change the same file wait for each other.
    """
    modify_model(talk, forget=False, **asked)
