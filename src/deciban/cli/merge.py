"""`deciban merge`: merge several models."""

from __future__ import annotations

import click

from deciban.cli.options import Terminal, check_model_output, cli_command, force_option


@cli_command("merge", example="deciban merge a.deciban b.deciban -o both.deciban")
@click.argument("models", nargs=-1, required=True)
@click.option("--output", "-o", required=True, metavar="FILE", help="The file to write.")
@force_option
def command(talk: Terminal, models: tuple[str, ...], output: str, force: bool) -> None:
    """Merge models. The result equals a model fitted to all their rows.

    The models must be updatable: `deciban fit --updatable`.
    """
    import deciban
    from deciban.io import readers
    from deciban.io.atomic import file_lock

    readers.writable(output)
    check_model_output(output, models, force)
    with file_lock(output):
        merged = deciban.merge(models)
        infos = [deciban.model_info(model) for model in models]
        sources = [about["source"] for about in infos if about["source"]]
        target, text = infos[0].get("target"), infos[0].get("text")
        deciban.save(merged, output, source=" + ".join(dict.fromkeys(sources)) or None, target=target, text=text)
    rows = float(merged.class_count_.sum())
    line = f"{output}: {len(models)} models, {rows:,.0f} rows, {len(merged.classes_)} classes"
    talk.give(line, {"model": output, "models": list(models), "rows": rows, "classes": merged.classes_})
