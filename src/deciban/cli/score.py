"""`deciban score`: evaluate a model on labelled rows."""

from __future__ import annotations

import click

from deciban.cli.options import Terminal, cli_command, csv_options, known_target, priors_option, table_options


@cli_command("score", example="deciban score t.deciban titanic.csv")
@click.argument("model")
@click.argument("data")
@known_target
@priors_option
@table_options
def command(
    talk: Terminal,
    model: str,
    data: str,
    target: str | None,
    priors: str | None,
    delimiter: str | None,
    no_header: bool,
) -> None:
    """Print accuracy, log loss, Brier score, calibration error and the confusion matrix of a model on labelled rows."""
    import deciban
    from deciban.cli import inputs

    found = inputs.LabelledData.of(model, data, target, csv_options(delimiter, no_header), talk)
    priors = inputs.parse_priors(found.model, priors)
    out = deciban.evaluate(found.model, batches=found.pairs(talk, "scoring"), priors=priors)
    talk.give(str(out), out.as_dict())
    if out.as_learned(found.model):
        where = f"deciban show {model}" if found.about["metrics"] else f"deciban report {model} {data}"
        talk.say(f"these may be the training rows: the scores may be optimistic; see {where}", "note")
