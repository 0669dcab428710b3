"""The words that speak loudest for each class of a classifier of texts, each as a text by itself.

    decibans of a word for a class = log odds of the class given that word alone − its prior log odds

>>> from deciban import TextClassifier
>>> model = TextClassifier().fit(["win a prize", "lunch at noon", "a prize"], ["spam", "ham", "spam"])
>>> [(one.word, one.decibans > 0, one.own, one.others) for one in loudest(model, 1)["spam"]]
[('prize', True, 2, 0)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Loud:
    """A word, what it says for a class, and how many texts of the class and of the others had it."""

    word: str
    decibans: float
    own: int
    others: int


def loudest(model: Any, most: int) -> dict[Any, list[Loud]]:
    """For each class so many words that tell it from the rest, the strongest first; none where there is one class."""
    labels = model.classes_.tolist()
    if len(labels) < 2:
        return {label: [] for label in labels}
    view = model._view()
    place = {word: j for j, word in enumerate(view.vocabulary())}
    out = {}
    for c, (label, top) in enumerate(model.top_words(most).items()):
        words = [word for word, _ in top]
        said = np.asarray(model.decibans([*words, ""]))[:, c]
        texts = view.words.table(view.words.rows, np.array([place[word] for word in words], dtype=np.int64))
        found = [
            Loud(word, float(said[i] - said[-1]), round(texts[i, c]), round(texts[i].sum() - texts[i, c]))
            for i, word in enumerate(words)
        ]
        out[label] = sorted(found, key=lambda one: -one.decibans)
    return out
