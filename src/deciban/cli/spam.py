"""`deciban spam`: train and apply a mail filter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from deciban.cli.options import Terminal, cli_command

SHOWN = 10  # words of a message that are explained


def _mail(function: Callable) -> Callable:
    """The arguments of all three commands."""
    function = click.argument("mails", metavar="MAIL...", nargs=-1, required=True)(function)
    return click.argument("model")(function)


def _sources(mails: tuple[str, ...]) -> list[str | bytes]:
    """Paths of files and folders; standard input as its content."""
    if mails.count("-") > 1:
        raise click.UsageError("- is given twice, but standard input can be read once")
    for mail in mails:
        if mail != "-" and not Path(mail).exists():
            from deciban.errors import DataError

            raise DataError(f"file or folder not found: {mail!r}\n\nhint: check the path; - is standard input")
    from deciban.io.readers import standard_input

    return [standard_input().read() if mail == "-" else mail for mail in mails]


def _label(function: Callable) -> Callable:
    kinds = click.Choice(["ham", "spam"])
    return click.option("--as", "label", type=kinds, required=True, help="What the messages are.")(function)


@cli_command("learn", example="deciban spam learn spam.deciban junk.mbox --as spam")
@_mail
@_label
@click.option("--new", "only_new", is_flag=True, help="Skip messages that were learned before.")
def learn(talk: Terminal, model: str, mails: tuple[str, ...], label: str, only_new: bool) -> None:
    """Learn messages as ham or as spam. The filter MODEL is created if it does not exist.

    MAIL is a file with a message, an mbox, a Maildir or a folder, or - for standard input (one message, or an mbox).
    Copies of a message count once. A message that was learned before is an error, and nothing is learned then. MODEL
    holds the counts of words, and each message as a bag of words.
    """
    from deciban import spam

    number = spam.update_file(Path(model), _sources(mails), label, spam.learn, only_new)
    talk.give(f"{model}: learned {number:,} as {label}", {"model": model, "learned": number, "as": label})


@cli_command("unlearn", example="deciban spam unlearn spam.deciban oops.eml --as ham")
@_mail
@_label
def unlearn(talk: Terminal, model: str, mails: tuple[str, ...], label: str) -> None:
    """Remove messages from a filter. The file has the same bytes as one that never learned them.

    A message that was not learned, or with the other label, is an error, and nothing is removed then.
    """
    from deciban import spam

    number = spam.update_file(Path(model), _sources(mails), label, spam.unlearn)
    talk.give(f"{model}: unlearned {number:,} as {label}", {"model": model, "unlearned": number, "as": label})


@cli_command("check", example="deciban spam check spam.deciban new.eml")
@_mail
@click.option("--explain", is_flag=True, help="Show the evidence of each word, in decibans.")
def check(talk: Terminal, model: str, mails: tuple[str, ...], explain: bool) -> None:
    """Classify each message as ham, unsure or spam. MAIL may be - for standard input.

    The first check after learning fits a regression; its weights are cached in MODEL.weights, which may be deleted.
    Costs: ham classified as spam 100, spam let through 1, "unsure" 0.1.
    """
    from deciban import spam
    from deciban.display import one_line

    if not Path(model).exists():
        raise FileNotFoundError(2, "no filter", model)
    found = spam.check(Path(model), _sources(mails))
    lines = [
        one_line(f"{one['outcome']:6}  P(spam) = {one['spam']:.4f}  {one['source']}  {one['subject']}") for one in found
    ]
    if explain:
        for at, one in enumerate(found):
            lines[at] += "\n" + spam.explain(Path(model), [one["text"]]).text(1, SHOWN)
    talk.give("\n".join(lines), [{key: value for key, value in one.items() if key != "text"} for one in found])


@click.group("spam", commands=[learn, unlearn, check], epilog=f"Example:\n\n  {check.example}")
def command() -> None:
    """A mail filter: learn, unlearn and classify messages."""
