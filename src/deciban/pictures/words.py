"""The words that speak loudest: bars to the right for a class, to the left against it."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import drawing
from deciban.errors import DataError
from deciban.palette import AGAINST, FOR, INK
from deciban.pictures.forms import is_model
from deciban.wording import short, signed

UNITS = {
    "decibans": "decibans",
    "evidence": "decibans",
    "log_odds": "log odds (nats)",
    "kl": "share of the KL divergence (nats)",
}


def top_words(
    words: Any,
    values: Any = None,
    ax: Any = None,
    *,
    measure: str | None = None,
    most: int = 10,
    title: str = "Strongest words",
    both: bool = True,
    of: Any = None,
) -> Any:
    """The words (or any names) with the largest values, and with `both` those with the smallest; returns the axes.

    Parameters
    ----------
    words, values : sequences
        Names and one number for each; or, alone, what `TextClassifier.top_words` gives for a class; or a fitted
        `TextClassifier`.
    measure : str, optional
        What the values are, for the axis: "decibans", "evidence", "log_odds", "kl", or any other name. Words of
        `TextClassifier.top_words` bring it along. Of a model: "decibans" of each word as a text by itself, or
        what its `top_words` is to rank them by.
    most : int, default 10
        How many words on either side.
    both : bool, default True
        Whether the smallest values are drawn, too. Of a model with two classes these are the words of the other
        one, if the measure is "decibans".
    of : label, optional
        The class of a model whose words are drawn, by default the last.

    Examples
    --------
    >>> ax = top_words(["the", "prize", "meeting"], [0.1, 12.0, -9.5], measure="decibans", most=1)
    >>> [label.get_text() for label in ax.get_yticklabels()], ax.get_xlabel()
    (['prize', 'meeting'], 'decibans')
    >>> from deciban import TextClassifier
    >>> model = TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"])
    >>> top_words(model.top_words(2, by="log_odds")["spam"]).get_xlabel()
    'log odds (nats)'
    >>> top_words(model, most=1).get_title(loc="left")
    'Strongest words: spam'
    """
    if is_model(words):
        measure = measure or "decibans"
        label, words, values = _of_model(words, of, measure, most, both)
        title = f"{title}: {short(str(label), 24)}"
    measure = measure or getattr(words, "measure", None)
    if values is None:
        words, values = _parted(words)
    evidence = np.asarray(values, dtype=np.float64)
    if evidence.shape != (len(words),):
        raise DataError(f"{len(words)} words, but values of shape {evidence.shape}\n\nhint: give one number a word")
    order = np.argsort(-evidence, kind="stable")
    chosen = [*order[:most], *order[max(most, len(order) - most) :]] if both else order[:most]
    size = evidence[chosen]
    ax = drawing.axes(ax, 4.6, 0.9 + 0.24 * max(len(chosen), 2))
    reach = float(np.abs(size).max(initial=1e-9))
    for place, value in enumerate(size):
        ax.barh(place, value, height=0.68, color=FOR if value >= 0 else AGAINST)
        side = 1 if value >= 0 else -1
        at, ha = value + 0.015 * reach * side, "left" if side > 0 else "right"
        ax.text(at, place, signed(value).replace("-", "−"), va="center", ha=ha, fontsize=8, color=INK)
    ax.set_yticks(range(len(chosen)), [short(str(words[j]), 28) for j in chosen])
    drawing.literal(*ax.get_yticklabels())
    ax.axvline(0, color=INK, lw=0.8)
    low, high = min(size.min(initial=0.0), 0.0), max(size.max(initial=0.0), 0.0)
    pad = 0.18 * (high - low or 1.0)
    ax.set(xlim=(low - pad * (low < 0), high + pad * (high > 0)), ylim=(len(chosen) - 0.4, -0.6))
    drawing.plain(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    drawing.titled(ax, title, UNITS.get(measure, measure) if measure else "value")
    return ax


def _of_model(model: Any, of: Any, measure: str, most: int, both: bool) -> tuple[Any, list[str], list[float]]:
    """(label, words, values): the strongest words of a class; of two classes those of the other count against it."""
    if not hasattr(model, "top_words"):
        raise DataError(
            f"{type(model).__name__} has no words\n\n"
            "hint: top_words(model) of a TextClassifier, or top_words(words, values)"
        )
    found = model.top_words(most, **({} if measure == "decibans" else {"by": measure}))
    labels = list(found)
    label = labels[-1] if of is None else of
    if label not in labels:
        raise DataError(f"class {label!r} is not among {labels}\n\nhint: `of` is a class of the model")
    words, values = _parted(found[label])
    rest = [other for other in labels if other != label] if both and len(labels) == 2 else []
    if measure == "decibans":  # of each word as a text by itself
        words += [word for other in rest for word, _ in found[other] if word not in words]
        said = np.asarray(model.decibans([*words, ""]))[:, labels.index(label)]
        values = (said[:-1] - said[-1]).tolist()
    return label, words, values


def _parted(pairs: Any) -> tuple[list[Any], list[float]]:
    """Names and numbers of (name, number) pairs."""
    try:
        return [word for word, _ in pairs], [float(value) for _, value in pairs]
    except (TypeError, ValueError):
        raise DataError(
            f"`words` is a {type(pairs).__name__} and there are no values\n\n"
            "hint: give a TextClassifier, words and one number for each, or model.top_words()[label]"
        ) from None
