"""A spam filter: learns and unlearns messages, and classifies them as ham, spam or "unsure".

    python examples/spam.py learn spam junk.mbox            a mailbox, Maildir, folder, or single messages
    python examples/spam.py learn ham ~/Maildir
    python examples/spam.py score new.eml                   unsure  P(spam) = 0.6531  new.eml  Lunch?
    python examples/spam.py explain new.eml                 the evidence of each word, in decibans
    python examples/spam.py unlearn ham new.eml             as if it had never been learned, to the last bit
    python examples/spam.py sms [sms_spam.csv.gz]           ten folds of text messages: what is caught, what is blocked
    python examples/spam.py                                 the same

The filter is `deciban.spam`, which is also the command `deciban spam`. The text messages are the SMS Spam Collection as
a CSV file with the columns text and label, by default ../shared/data/sms_spam/sms_spam.csv.gz; they take a few seconds.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deciban.errors import DecibanError
from deciban.mail.message import parse
from deciban.spam import check, classify, explain, learn, new, open_filter, text_of, unlearn, update_file

__all__ = ["classify", "learn", "open_filter", "unlearn", "update_file"]

SMS = Path(__file__).resolve().parents[2] / "shared" / "data" / "sms_spam" / "sms_spam.csv.gz"


# ten folds of text messages


def sms(path: Path = SMS, folds: int = 10, every: int = 1) -> dict[str, float]:
    """Shares of messages by ten folds; each fold's filter is the whole that unlearned the fold."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::every]
    texts = [text_of(parse("\n" + row["text"])) for row in rows]  # a mail without headers
    labels = np.array([row["label"] for row in rows])
    model, out = new().fit(texts, labels), np.empty(len(rows), dtype=object)
    proba = np.empty(len(rows))
    for fold in range(folds):
        here = np.arange(len(rows)) % folds == fold
        some = [text for text, held in zip(texts, here, strict=True) if held]
        model.forget(some, labels[here])
        out[here], proba[here] = classify(model, some)
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
    verbs = parser.add_subparsers(dest="verb")
    for verb in ("learn", "unlearn"):
        one = verbs.add_parser(verb, help=f"{verb} messages")
        one.add_argument("label", choices=["ham", "spam"])
        one.add_argument("sources", nargs="+", help="mailbox, Maildir, folder or message")
    verbs.choices["learn"].add_argument("--new", action="store_true", help="pass over messages that are known")
    for verb in ("score", "explain"):
        verbs.add_parser(verb, help=f"{verb} messages").add_argument("sources", nargs="+")
    verbs.add_parser("sms", help="the experiment").add_argument("path", nargs="?", type=Path, default=SMS)
    asked = parser.parse_args(arguments)
    if asked.verb is None:
        asked = parser.parse_args([*(sys.argv[1:] if arguments is None else arguments), "sms"])
    try:
        return VERBS[asked.verb](asked)
    except DecibanError as bad:
        print(f"error: {bad}", file=sys.stderr)
        return 1


def _learn(asked: argparse.Namespace) -> int:
    number = update_file(asked.state, asked.sources, asked.label, learn, asked.new)
    print(f"learned {number} as {asked.label}")
    return 0


def _unlearn(asked: argparse.Namespace) -> int:
    number = update_file(asked.state, asked.sources, asked.label, unlearn)
    print(f"unlearned {number} as {asked.label}")
    return 0


def _score(asked: argparse.Namespace) -> int:
    for one in check(asked.state, asked.sources):
        print(f"{one['outcome']:6}  P(spam) = {one['spam']:.4f}  {one['source']}  {one['subject']}")
    return 0


def _explain(asked: argparse.Namespace) -> int:
    print(explain(asked.state, [one["text"] for one in check(asked.state, asked.sources)]))
    return 0


def _sms(asked: argparse.Namespace) -> int:
    if not asked.path.exists():
        print(f"error: there is no file {asked.path}\n\nhint: give a CSV file with text and label", file=sys.stderr)
        return 1
    for name, share in sms(asked.path).items():
        print(f"{name:26} {100 * share:7.3f} %")
    return 0


VERBS = {"learn": _learn, "unlearn": _unlearn, "score": _score, "explain": _explain, "sms": _sms}

if __name__ == "__main__":
    sys.exit(main())
