"""The text tasks that accuracy is measured on: texts, labels, and which are held out."""

import csv
import gzip
import json
import lzma
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deciban.mail.strip import stripped

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SEEDS = 5
FRESH = 100  # the first of the seeds that were drawn when all settings had been chosen


class Split(NamedTuple):
    texts: list[str]
    labels: np.ndarray
    new: list[str]
    right: np.ndarray
    kind: np.ndarray | None = None  # of each new text, by which results are grouped


@cache
def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if path.suffix == ".xz":
        with lzma.open(path, "rt") as file:
            return [json.loads(line) for line in file]
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def _split(texts: list[str], labels: np.ndarray, held: np.ndarray) -> Split:
    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    return Split([texts[i] for i in train], labels[train], [texts[i] for i in test], labels[test])


def original(strip: tuple[str, ...] = (), seed: int = 0) -> Iterator[Split]:
    """20 Newsgroups as first published, a third held out, by five seeds from this one on."""
    found = rows("newsgroups20/newsgroups20_original.jsonl.xz")
    texts, labels = [stripped(row["text"], strip) for row in found], np.array([row["label"] for row in found])
    for one in range(seed, seed + SEEDS):
        held = np.zeros(len(texts), dtype=bool)
        held[np.random.default_rng(one).permutation(len(texts))[: len(texts) // 3]] = True
        yield _split(texts, labels, held)


def original_clean() -> Iterator[Split]:
    """The same without the headers that name the group."""
    return original(("group headers",))


def original_stripped() -> Iterator[Split]:
    """The same without headers."""
    return original(("headers",))


def original_fresh() -> Iterator[Split]:
    """The same by five seeds that no setting was chosen on."""
    return original(seed=FRESH)


def by_date(strip: tuple[str, ...] = ()) -> Iterator[Split]:
    """20 Newsgroups by date, the published split, full text."""
    found = rows("newsgroups20/newsgroups20_bydate.jsonl.xz")
    texts, labels = [stripped(row["text"], strip) for row in found], np.array([row["label"] for row in found])
    yield _split(texts, labels, np.array([row["split"] == "test" for row in found]))


def by_date_stripped() -> Iterator[Split]:
    """The same without headers, quotes and footers."""
    return by_date(("headers", "quotes", "footers"))


def sms(seed: int = 0) -> Iterator[Split]:
    """SMS spam, 10 folds."""
    found = rows("sms_spam/sms_spam.csv.gz")
    labels = np.array([row["label"] for row in found])
    fold = np.random.default_rng(seed).permutation(len(found)) % 10
    for f in range(10):
        yield _split([row["text"] for row in found], labels, fold == f)


def sms_fresh() -> Iterator[Split]:
    """SMS spam, 10 folds by each of five seeds that no setting was chosen on."""
    for seed in range(FRESH, FRESH + SEEDS):
        yield from sms(seed)


def movies_fresh() -> Iterator[Split]:
    """Film reviews, a tenth held out, by five seeds."""
    found = rows("movie_polarity/movie_polarity.jsonl.xz")
    for seed in range(FRESH, FRESH + SEEDS):
        held = np.zeros(len(found), dtype=bool)
        held[np.random.default_rng(seed).permutation(len(found))[: len(found) // 10]] = True
        yield _split([row["text"] for row in found], np.array([row["label"] for row in found]), held)


def languages() -> Iterator[Split]:
    """75 languages: fitted to sentences; sentences, pairs of words and single words to predict."""
    found = rows("language_id/language_id.csv.gz")
    held = np.array([row["split"] == "test" for row in found])
    kind = np.array([row["kind"] for row in found])[held]
    yield _split([row["text"] for row in found], np.array([row["label"] for row in found]), held)._replace(kind=kind)


def movies() -> Iterator[Split]:
    """Film reviews, the 10 canonical folds."""
    found = rows("movie_polarity/movie_polarity.jsonl.xz")
    labels, fold = np.array([row["label"] for row in found]), np.array([row["fold"] for row in found])
    for f in sorted(set(fold.tolist())):
        yield _split([row["text"] for row in found], labels, fold == f)


TASKS = {
    "original": original,
    "original, group headers stripped": original_clean,
    "original, headers stripped": original_stripped,
    "original, fresh seeds": original_fresh,
    "by date": by_date,
    "by date, all stripped": by_date_stripped,
    "sms": sms,
    "sms, fresh seeds": sms_fresh,
    "languages": languages,
    "movies": movies,
    "movies, fresh seeds": movies_fresh,
}
