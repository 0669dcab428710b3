"""A spam filter in one file: it learns, unlearns, and says ham, spam or "unsure".

    python examples/spam.py learn spam junk.mbox            a mailbox, Maildir, folder, or single messages
    python examples/spam.py learn ham ~/Maildir
    python examples/spam.py score new.eml                   unsure  P(spam) = 0.6531  new.eml  Lunch?
    python examples/spam.py explain new.eml                 the evidence of each word, in decibans
    python examples/spam.py unlearn ham new.eml             as if it had never been learned, to the last bit
    python examples/spam.py sms [sms_spam.csv.gz]           ten folds of text messages: what is caught, what is blocked

The state is the tally of a `TextClassifier`. Each message brings a word of its own, made of its Message-ID and content,
so the tally itself knows what it has learned: to unlearn a message that it never learned, or under another name, would
take away a word that is not there, which is an error and changes nothing.

To put ham away as spam costs 100 times what it costs to let spam through, to be asked costs a tenth of that:

    spam if 100 · P(ham) < 0.1,   ham if P(spam) < 0.1,   unsure otherwise
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import deciban
from deciban import TextClassifier
from deciban.errors import DecibanError, ForgetError
from deciban.mail import Mail, read

SMS = Path(__file__).resolve().parents[2] / "shared" / "data" / "sms_spam" / "sms_spam.csv.gz"
COSTS, UNSURE = {("ham", "spam"): 100.0, ("spam", "ham"): 1.0}, 0.1
NAME = re.compile(r"\bid[0-9a-f]{32}\b")  # of a message, as a word


def new() -> TextClassifier:
    return TextClassifier(features="words+bigrams", alpha=0.3)


def text_of(mail: Mail) -> str:
    """What is scored; nobody else's name is spoken."""
    return NAME.sub("", mail.text())


def named_text_of(mail: Mail) -> str:
    """What is learned: the text, and the message's own name."""
    return f"id{mail.key} {text_of(mail)}"


def known(model: TextClassifier | None, mails: Iterable[Mail]) -> list[Mail]:
    """Those that were learned, as whatever."""
    words = set() if model is None else set(model.vocabulary_)
    return [mail for mail in mails if f"id{mail.key}" in words]


def learned(model: TextClassifier | None, mails: Iterable[Mail], label: str) -> TextClassifier | None:
    """The model with messages learned, each once; one that it knows already is an error."""
    mails = once_each(mails)
    again = known(model, mails)
    if again:
        raise DecibanError(f"{told(again)} learned already\n\nhint: unlearn first, or pass --new to learn the others")
    if not mails:
        return model
    return (new() if model is None else model).partial_fit([*map(named_text_of, mails)], [label] * len(mails))


def unlearned(model: TextClassifier | None, mails: Iterable[Mail], label: str) -> TextClassifier | None:
    """The model without messages that it learned as `label`; None where nothing is left."""
    mails = once_each(mails)
    strange = set(mails) - set(known(model, mails))
    if strange:
        raise ForgetError(f"{told(strange)} never learned\n\nhint: only what was learned can be unlearned")
    if model is None or not mails:
        return model
    if len(mails) == model.class_count_.sum() and model.classes_.tolist() == [label]:
        return None
    return model.forget([*map(named_text_of, mails)], [label] * len(mails))


def once_each(mails: Iterable[Mail]) -> list[Mail]:
    return list({mail.key: mail for mail in mails}.values())


def told(mails: Iterable[Mail]) -> str:
    first, *more = mails
    return f"{first.subject or first.body[:40]!r}{f' and {len(more)} more were' if more else ' was'}"


def outcomes(model: TextClassifier | None, texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """(ham, unsure or spam; P(spam)) of each text. A filter that knows one side only is unsure."""
    if model is None or len(model.classes_) < 2:
        return ["unsure"] * len(texts), np.full(len(texts), 0.5)
    decided = model.decide(texts, costs=COSTS, reject=UNSURE, rejected="unsure")
    return decided.tolist(), model.predict_proba(texts)[:, model.classes_.tolist().index("spam")]


# the state


def opened(state: Path) -> TextClassifier | None:
    return deciban.load(state) if state.exists() else None


def kept(model: TextClassifier | None, state: Path) -> None:
    if model is None:
        state.unlink(missing_ok=True)
    else:
        deciban.save(model, state)


def change(state: Path, sources: Sequence[Any], label: str, how: Callable, only_new: bool = False) -> int:
    """Learn or unlearn messages, all of them or, if one of them is an error, none; how many there were."""
    model, mails = opened(state), once_each(read(sources))
    if only_new:
        old = set(known(model, mails))
        mails = [mail for mail in mails if mail not in old]
    kept(how(model, mails, label), state)
    return len(mails)


# ten folds of text messages


def sms(path: Path = SMS, folds: int = 10, every: int = 1) -> dict[str, float]:
    """Shares of messages by ten folds; each fold's filter is the whole that unlearned the fold."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::every]
    texts, labels = [row["text"] for row in rows], np.array([row["label"] for row in rows])
    model, out = new().fit(texts, labels), np.empty(len(rows), dtype=object)
    proba = np.empty(len(rows))
    for fold in range(folds):
        here = np.arange(len(rows)) % folds == fold
        some = [text for text, held in zip(texts, here, strict=True) if held]
        model.forget(some, labels[here])
        out[here], proba[here] = outcomes(model, some)
        model.partial_fit(some, labels[here])
    ham, spam = labels == "ham", labels == "spam"
    return {
        "accuracy, P(spam) > 0.5": float(((proba > 0.5) == spam).mean()),
        "ham blocked": float((out[ham] == "spam").mean()),
        "ham unsure": float((out[ham] == "unsure").mean()),
        "spam caught": float((out[spam] == "spam").mean()),
        "spam unsure": float((out[spam] == "unsure").mean()),
        "spam let through": float((out[spam] == "ham").mean()),
    }


# the command


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="A spam filter in one file.")
    parser.add_argument("--state", type=Path, default=Path("spam.deciban"), help="the file (default: %(default)s)")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("learn", "unlearn"):
        one = verbs.add_parser(verb, help=f"{verb} messages")
        one.add_argument("label", choices=["ham", "spam"])
        one.add_argument("sources", nargs="+", help="mailbox, Maildir, folder or message")
    verbs.choices["learn"].add_argument("--new", action="store_true", help="pass over messages that are known")
    for verb in ("score", "explain"):
        verbs.add_parser(verb, help=f"{verb} messages").add_argument("sources", nargs="+")
    verbs.add_parser("sms", help="the experiment").add_argument("path", nargs="?", type=Path, default=SMS)
    asked = parser.parse_args(arguments)
    try:
        return VERBS[asked.verb](asked)
    except DecibanError as bad:
        print(f"error: {bad}", file=sys.stderr)
        return 1


def _learn(asked: argparse.Namespace) -> int:
    number = change(asked.state, asked.sources, asked.label, learned, asked.new)
    print(f"learned {number} as {asked.label}")
    return 0


def _unlearn(asked: argparse.Namespace) -> int:
    number = change(asked.state, asked.sources, asked.label, unlearned)
    print(f"unlearned {number} as {asked.label}")
    return 0


def _score(asked: argparse.Namespace) -> int:
    model = opened(asked.state)
    for source in asked.sources:
        for mail in read(source):
            (outcome,), (chance,) = outcomes(model, [text_of(mail)])
            print(f"{outcome:6}  P(spam) = {chance:.4f}  {source}  {mail.subject}")
    return 0


def _explain(asked: argparse.Namespace) -> int:
    model = opened(asked.state)
    if model is None or len(model.classes_) < 2:
        raise DecibanError("the filter does not know both sides yet\n\nhint: learn ham, and spam")
    for mail in read(asked.sources):
        print(model.explain(text_of(mail)))
    return 0


def _sms(asked: argparse.Namespace) -> int:
    for name, share in sms(asked.path).items():
        print(f"{name:26} {100 * share:7.3f} %")
    return 0


VERBS = {"learn": _learn, "unlearn": _unlearn, "score": _score, "explain": _explain, "sms": _sms}

if __name__ == "__main__":
    sys.exit(main())
