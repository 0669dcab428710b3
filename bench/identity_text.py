"""`python -m bench.identity_text`: whether our vocabularies and matrices are scikit-learn's, on whole collections.

Compared are the vocabulary, and the type, shape, dtypes and arrays of the matrices that our `fit_transform` and
`transform` make of all texts with scikit-learn's. Each comparison runs in a process of its own, and one that is in
results/text_identity.csv is not written again. Writes its table into README.md; ends with 1 if anything differs.

Example:
    python -m bench.identity_text --only "sms"
"""

import argparse
import csv
import subprocess
import sys
from typing import Any

import numpy as np
from sklearn.feature_extraction import text as theirs

import deciban
from bench import report
from bench.text_tasks import rows

RESULTS = report.RESULTS / "text_identity.csv"
FIELDS = ("texts", "settings", "rows", "columns", "cells", "answer")
NAMES = {
    "20 Newsgroups, original": "newsgroups20/newsgroups20_original.jsonl.xz",
    "20 Newsgroups, by date": "newsgroups20/newsgroups20_bydate.jsonl.xz",
    "sms_spam": "sms_spam/sms_spam.csv.gz",
    "language_id": "language_id/language_id.csv.gz",
    "random Unicode": None,
}
WB = {"analyzer": "char_wb", "ngram_range": (2, 4)}
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "words": ("CountVectorizer", {}),
    "words 1–2": ("CountVectorizer", {"ngram_range": (1, 2)}),
    "char 1–3": ("CountVectorizer", {"analyzer": "char", "ngram_range": (1, 3)}),
    "char_wb 2–4": ("CountVectorizer", WB),
    "hashed words": ("HashingVectorizer", {}),
    "hashed char_wb 2–4": ("HashingVectorizer", WB),
}
# Letters of many scripts, some that grow or depend on their neighbours, marks, blanks, emoji; no lone surrogates
ODD = "aB_9 zZ'-.\n\t\x00\x1c\x85\xa0éÉßẞİıσςΣΑǅµÅ\u0301\u0307\u200d日本語кИא١²ⅷℌ𝔸𐐀😀👩🏽\u3000\u2028"


def texts(name: str) -> list[str]:
    path = NAMES[name]
    return random_texts() if path is None else [row["text"] for row in rows(path)]


def random_texts(number: int = 10_000) -> list[str]:
    """Up to 60 characters each, half of them odd ones, half any code points but surrogates."""
    rng = np.random.default_rng(0)
    odd, out = np.array([ord(c) for c in ODD]), []
    for length in rng.integers(0, 61, number):
        points = rng.integers(0, sys.maxunicode - 2047, length)
        points[points >= 0xD800] += 2048
        mixed = np.where(rng.random(length) < 0.5, rng.choice(odd, length), points)
        out.append("".join(map(chr, mixed)))
    return out


def differs(ours: Any, baseline: Any) -> str:
    """The first thing in which two matrices are not the same, or nothing."""
    baseline.sort_indices()  # after `fit_transform` theirs are not
    if type(ours) is not type(baseline):
        return "type"
    for part in ("shape", "dtype"):
        if getattr(ours, part) != getattr(baseline, part):
            return part
    for part in ("indptr", "indices", "data"):
        mine, other = getattr(ours, part), getattr(baseline, part)
        if mine.dtype != other.dtype or not np.array_equal(mine, other):
            return part
    return ""


def compare(name: str, how: str) -> list[str]:
    """A line of the results."""
    kind, options = SETTINGS[how]
    given = texts(name)
    baseline, ours = getattr(theirs, kind)(**options), getattr(deciban, kind)(**options)
    expected = baseline.fit_transform(given)
    answer = differs(ours.fit_transform(given), expected) or differs(ours.transform(given), expected)
    if not answer and kind == "CountVectorizer" and ours.vocabulary_ != baseline.vocabulary_:
        answer = "vocabulary"
    answer = f"{answer} differs" if answer else "identical"
    return [name, how, str(len(given)), str(expected.shape[1]), str(expected.nnz), answer]


def read() -> list[dict[str, str]]:
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def table(found: list[dict[str, str]]) -> str:
    cells = {(row["texts"], row["settings"]): row for row in found}
    lines = []
    for name in NAMES:
        here = [cells.get((name, how)) for how in SETTINGS]
        answers = [f"{row['answer']} ({int(row['cells']) / 1e6:,.1f} M)" if row else "–" for row in here]
        lines.append((name, next((row["rows"] for row in here if row), "–"), *answers))
    return report.markdown(("collection", "texts", *SETTINGS), lines, left=1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.identity_text", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", metavar="SUBSTRING", default="", help="collections and settings with this in the name"
    )
    parser.add_argument("--one", nargs=2, metavar=("TEXTS", "SETTINGS"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        csv.writer(sys.stdout).writerow(compare(*args.one))
        return
    wanted = [(name, how) for name in NAMES for how in SETTINGS if args.only in f"{name}, {how}"]
    for name, how in wanted:
        if (name, how) not in {(row["texts"], row["settings"]) for row in read()}:
            command = [sys.executable, "-m", "bench.identity_text", "--one", name, how]
            line = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            row = dict(zip(FIELDS, next(csv.reader([line])), strict=True))
            print(*row.values(), sep=" · ", flush=True)
            report.write_csv(RESULTS, [*read(), row])
    report.between(report.HERE / "README.md", "text identity", table(read()))
    raise SystemExit(any(row["answer"] != "identical" for row in read()))


if __name__ == "__main__":
    main()
