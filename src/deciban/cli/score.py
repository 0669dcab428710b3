"""`deciban score`: how good a model is on rows whose classes are known."""

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
    """Measure a model on labelled rows: accuracy, log loss, calibration, confusion."""
    import deciban
    from deciban.cli import inputs

    found = inputs.LabelledData.of(model, data, target, csv_options(delimiter, no_header), talk)
    priors = inputs.parse_priors(found.model, priors)
    out = deciban.evaluate(found.model, batches=found.pairs(talk, "scoring"), priors=priors)
    talk.give(str(out), out.as_dict())
    if out.as_learned(found.model):
        where = f"deciban show {model}" if found.about["metrics"] else f"deciban report {model} {data}"
        talk.say(f"if it learned from these very rows, the numbers flatter it; see {where}", "note")
