"""`deciban show`: print what a model file holds."""

from __future__ import annotations

from typing import Any

import click

from deciban.cli.options import Terminal, cli_command


@cli_command("show", example="deciban show t.deciban")
@click.argument("model")
@click.option("--evidence", "most", default=5, show_default=True, help="Number of columns to show for each class.")
def command(talk: Terminal, model: str, most: int) -> None:
    """Show the settings, the training data and the strongest evidence of a model.

    The evidence is listed for each class: the values of columns, or the words, with the most decibans.
    """
    import deciban
    from deciban.cli.inputs import check_probabilities

    about = deciban.model_info(model)
    fitted = deciban.load(model)
    check_probabilities(fitted, model)
    compared = len(fitted.classes_) > 1  # one class alone has no evidence, and nothing was chosen for it
    strongest = deciban.top_evidence(fitted, most) if compared else {}
    found = fitted.families_ if isinstance(fitted, deciban.MixedNB) else {}
    families = {str(name): type(one).__name__ for name, one in found.items()}
    settings = fitted._chosen_settings() if compared else {}
    chosen = {key: value for key, value in settings.items() if not isinstance(value, dict)}
    data = {**about, "families": families, "chosen": chosen}
    data["top_evidence"] = {str(label): [_evidence(one) for one in evidence] for label, evidence in strongest.items()}
    what = "words" if fitted._reads_texts else "columns"
    text = _text(model, about, what, chosen, families, strongest)
    if isinstance(fitted, deciban.AutoClassifier):
        board = fitted.leaderboard_
        data["weights"] = dict(zip(fitted.names_, fitted.weights_.tolist(), strict=True))
        data["log_loss"] = dict(zip(board.names, board.log_loss.tolist(), strict=True))
        text += f"\n\n{board}"
    talk.give(text, data)


def _evidence(one: Any) -> dict[str, Any]:
    data = {"column": one.column, "value": one.value, "decibans": one.decibans}
    return data if one.interval is None else {**data, "interval": one.interval}


def _text(
    path: str,
    about: dict[str, Any],
    what: str,
    chosen: dict[str, Any],
    families: dict[str, str],
    strongest: dict[Any, list],
) -> str:
    from deciban.display import format_choices, format_list, one_line

    settings = ", ".join(f"{key}={value!r}" for key, value in about["settings"].items() if value is not None)
    classes = format_choices(about["classes"])
    learned = "not learned from rows" if about["rows"] is None else f"learned from {about['rows']:,.0f} rows"
    dated = f", {about['date']}" if about["date"] else ""
    source = f" of {about['source']}" if about["source"] else ""
    lines = [
        f"{path}: {about['class']} by deciban {about['library']}{dated}",
        f"  {learned}{source}, {len(about['columns']):,} {what}",
        f"  classes of `{about.get('target') or 'y'}`: {classes}",
        f"  settings: {settings}",
    ]
    if about["rows_kept"]:
        lines.append(f"  keeps {about['rows_kept']:,} training rows: they can be read from the file")
    if about["ledger"]:
        lines.append(f"  keeps a hash of every training row, with a {about['ledger']} key")
    if chosen:
        lines.append("  chosen by held-out rows: " + ", ".join(f"{key}={value!r}" for key, value in chosen.items()))
    if about["metrics"]:
        metrics = ", ".join(f"{str(key).replace('_', ' ')} {_metric(value)}" for key, value in about["metrics"].items())
        lines.append(f"  on held-out rows: {metrics}")
    if families:
        lines.append("  columns: " + format_list([f"{name} ({kind})" for name, kind in families.items()], 20, ""))
    for label, evidence in strongest.items():
        if evidence:
            lines += ["", f"  for {label}"]
            lines += [f"    {one}" for one in evidence]
    return "\n".join(map(one_line, lines))


def _metric(value: Any) -> str:
    """A number; what else a user stored, as it is."""
    return f"{value:.4f}" if isinstance(value, float | int) else str(value)
