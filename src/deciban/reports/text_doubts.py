"""What to doubt about a model of texts: words that decide alone, texts that come again, texts of another kind."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.special import xlogy
from scipy.stats import chi2

from deciban.reports.facts import Facts

SKILL = 0.8  # share of what is to be known about the class, that a single word tells
LEAST = 20  # texts, to suspect a word
TWINS = 0.02  # share of texts that come again
STRANGE = 0.2  # share of words that the model has never seen
FAR = 0.1  # change of the share of texts that have a word
CHANCE = 0.001  # that is ruled out, over all words together
NAMED = 3


def leaks(facts: Facts) -> list[str]:
    """Words that tell the class alone, by whether they are there."""
    if facts.n < LEAST:
        return []
    classes = np.bincount(facts.y, minlength=len(facts.classes))
    there = _texts_with(facts)
    known = _surprise(there) + _surprise(classes - there)
    base = _surprise(classes[None])[0]
    word = int(known.argmin()) if len(known) and base > 0 else 0
    if not len(known) or not base or 1 - known[word] / base < SKILL:
        return []
    right = there[word].max() + (classes - there[word]).max()
    name = facts.model.vocabulary_[word]
    return [
        f"Leak? Whether `{name}` is there tells the class of {100 * right / facts.n:.1f} % of the texts. Is it "
        "there before the class is known?"
    ]


def _texts_with(facts: Facts) -> np.ndarray:
    """How many texts of each class have each word, (d, k)."""
    x = facts.words
    rows = np.repeat(np.arange(facts.n), np.diff(x.indptr))[x.data > 0]
    words, k = x.indices[x.data > 0], len(facts.classes)
    return np.bincount(words * np.int64(k) + facts.y[rows], minlength=x.shape[1] * k).reshape(-1, k)


def _surprise(counts: np.ndarray) -> np.ndarray:
    """Nats that it takes to tell the classes of so many texts, (d,)."""
    return -xlogy(counts, counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).sum(axis=1)


def repeated(facts: Facts) -> list[str]:
    """Texts that come again: with another class, among themselves, or in training."""
    assert facts.texts is not None
    times = Counter(facts.texts)
    classes = Counter(text for text, _ in set(zip(facts.texts, facts.y.tolist(), strict=True)))
    both = sum(count > 1 for count in classes.values())
    out = [f"{both:,} texts come with more than one class: at least one of the labels is wrong."] if both else []
    twins = sum(count for count in times.values() if count > 1) / facts.n
    if facts.anew and twins > TWINS:
        out.append(f"{100 * twins:.0f} % of the texts have a twin among them: the numbers may flatter the model.")
    if facts.train is not None and not facts.anew:
        known = set(facts.train[0])
        again = sum(text in known for text in facts.texts) / facts.n
        if again > TWINS:
            out.append(
                f"{100 * again:.0f} % of these texts are among the training texts: the numbers may flatter the model."
            )
    return out


def mute(facts: Facts) -> list[str]:
    """Texts without any word that the model knows."""
    none = int((np.diff(facts.words.indptr) == 0).sum())
    return [f"{none:,} texts have no word that the model knows: they get the class shares."] if none else []


def drift(facts: Facts) -> list[str]:
    """Words that are more or less common than in training, and words that were never seen."""
    if facts.anew:
        return []
    view = facts.model._view()
    before, after = np.asarray(view.words.texts), _texts_with(facts).sum(axis=1)
    n, m = float(view.tally.n.sum()), float(facts.n)
    pooled = (before + after) / (n + m)
    change = after / m - before / n
    with np.errstate(divide="ignore", invalid="ignore"):
        square = change**2 / (pooled * (1 - pooled) * (1 / n + 1 / m))
    far = (np.abs(change) >= FAR) & (chi2.sf(np.nan_to_num(square), 1) * max(len(change), 1) < CHANCE)
    order = [j for j in np.argsort(-np.abs(change), kind="stable")[: NAMED + far.sum()] if far[j]]
    vocabulary = facts.model.vocabulary_
    out = [
        f"Drift: `{vocabulary[j]}` is in {100 * after[j] / m:.0f} % of these texts, in {100 * before[j] / n:.0f} % of "
        "the training texts."
        for j in order[:NAMED]
    ]
    out += [f"And {len(order) - NAMED} more words that moved."] if len(order) > NAMED else []
    return out + _never_seen(facts)


def _never_seen(facts: Facts) -> list[str]:
    view = facts.model._view()
    if not view.features.open:  # such a vectoriser counts the words that it knows, and nothing else
        return []
    terms, x = view.features.read(facts.model._texts(facts.X))
    known = np.isin(np.array(terms.strings(), dtype=object), np.array(view.tally.terms.strings(), dtype=object))
    whole = np.asarray(x.sum(axis=0)).ravel()
    share = whole[~known].sum() / max(whole.sum(), 1)
    if share < STRANGE:
        return []
    return [f"Drift: {100 * share:.0f} % of the words of these texts were never seen in training."]
