"""Plots of results: the evidence of a row, a penalty path, a learning curve.

The words with the strongest evidence: bars to the right for a class, to the left against it.

`inclusion`: the posterior probability that each column is relevant, as bars.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from deciban.decision import reads_texts
from deciban.display import BACKGROUND, NEGATIVE, POSITIVE, TEXT_COLOUR, format_decibans, truncate
from deciban.errors import DataError
from deciban.plots import style
from deciban.plots.style import is_model, takes_model


@takes_model(lambda model, X, y: ((model.explain(X),), {}), "explanation", needs_y=False, holds="parts")
def waterfall(explanation: Any, row: int = 0, ax: Any = None, columns: int = 10) -> Any:
    """Waterfall plot of one explained row: prior, strongest columns, total, in decibans.

    Parameters
    ----------
    explanation : Explanation
        What `model.explain(X)` returns; or pass `model, X` instead.
    row : int, default 0
        Which row of the explanation.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.
    columns : int, default 10
        Number of columns with a bar of their own; the others share one.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    nomogram : The evidence of all values.

    Examples
    --------
    >>> from deciban import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> ax = waterfall(model.explain([[2.0]]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['prior', 'x0 = 2', 'total']
    """
    return explanation.plot(row, ax, columns)


@takes_model(lambda model, X, y: ((model.path(X, y),), {}), "path", holds="Cs")
def coefficient_path(path: Any, ax: Any = None, *, of: Any = None, columns: int = 8, standard: bool = True) -> Any:
    """Plot coefficients over the penalty: one line per column, from a strong penalty (small C) to a weak one.

    The strongest columns (at the best C, if rows were held out) have a colour and their name at the right edge.

    Parameters
    ----------
    path : Path
        What `LogisticRegression.path(X, y)` returns, or `path_` after fitting with C="auto"; or pass `model, X, y`
        instead.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.
    of : label, optional
        The class whose coefficients are drawn; by default the last.
    columns : int, default 8
        Number of columns that are highlighted.
    standard : bool, default True
        Multiply by the standard deviation of the column, so that columns of different units are comparable.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    learning_curve : The score by number of rows.

    Examples
    --------
    >>> from deciban import LogisticRegression
    >>> path = LogisticRegression().path([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]], [0, 1, 0, 1])
    >>> ax = coefficient_path(path)
    >>> [text.get_text() for text in ax.texts]
    ['x0', 'x1']
    """
    return path.plot(ax, of=of, columns=columns, standard=standard)


def _curve_of(model: Any, X: Any, y: Any) -> tuple[tuple, dict]:
    from deciban.model_selection import learning_curve as curves  # which draws itself, and so needs the plots

    return (curves.learning_curve(model, X, y),), {}


@takes_model(_curve_of, "curve", holds="sizes")
def learning_curve(curve: Any, ax: Any = None, *, score: str = "accuracy", label: str | None = None) -> Any:
    """Plot a learning curve (of `deciban.learning_curve`, or of model, X, y) over the number of training rows, on a
    log axis; returns the axes.

    The band is the standard deviation over the repeats. `score` may be "log_loss". Several curves can be drawn into
    the same axes, each with its own colour and marker.

    Parameters
    ----------
    curve : LearningCurve
        What `deciban.learning_curve` returns.
    ax : matplotlib axes, or None
        The axes to draw into; None: new ones.
    score : "accuracy", "log_loss"
        The score.
    label : str or None
        The name of the model in the legend.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    reliability : Frequencies over probabilities.

    Examples
    --------
    >>> import deciban
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]] * 9, [0, 0, 1, 1] * 9
    >>> curve = deciban.learning_curve(deciban.GaussianNB(), X, y, [4, 20])
    >>> ax = learning_curve(curve)
    >>> ax.lines[0].get_xdata().tolist(), ax.get_ylabel()
    ([4, 20], 'accuracy')
    """
    return curve.plot(ax, score=score, label=label)


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
    ax : matplotlib axes, or None
        The axes to draw into; None: new ones.
    measure : str, optional
        What the values are, for the axis: "decibans", "evidence", "log_odds", "kl", or any other name. Words of
        `TextClassifier.top_words` bring it along. Of a model: "decibans" of each word as a text by itself, or
        what its `top_words` is to rank them by.
    most : int, default 10
        How many words on either side.
    title : str
        The title above the axes.
    both : bool, default True
        Whether the smallest values are drawn, too. Of a model with two classes these are the words of the other
        one, if the measure is "decibans".
    of : label, optional
        The class of a model whose words are drawn, by default the last.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    waterfall : The evidence of one row.

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
        title = f"{title}: {truncate(str(label), 24)}"
    measure = measure or getattr(words, "measure", None)
    if values is None:
        words, values = _parted(words)
    evidence = np.asarray(values, dtype=np.float64)
    if evidence.shape != (len(words),):
        raise DataError(f"{len(words)} words, but values of shape {evidence.shape}\n\nhint: give one number a word")
    order = np.argsort(-evidence, kind="stable")
    chosen = [*order[:most], *order[max(most, len(order) - most) :]] if both else order[:most]
    size = evidence[chosen]
    ax = style.axes(ax, 4.6, 0.9 + 0.24 * max(len(chosen), 2))
    text_of = format_decibans if UNITS.get(measure or "") == "decibans" else "{:+.3g}".format
    reach = float(np.abs(size).max(initial=1e-9))
    for place, value in enumerate(size):
        ax.barh(place, value, height=0.68, color=POSITIVE if value >= 0 else NEGATIVE)
        side = 1 if value >= 0 else -1
        at, ha = value + 0.015 * reach * side, "left" if side > 0 else "right"
        ax.text(at, place, text_of(value).replace("-", "−"), va="center", ha=ha, fontsize=8, color=TEXT_COLOUR)
    ax.set_yticks(range(len(chosen)), [truncate(str(words[j]), 28) for j in chosen])
    style.disable_mathtext(*ax.get_yticklabels())
    ax.axvline(0, color=TEXT_COLOUR, lw=0.8)
    low, high = min(size.min(initial=0.0), 0.0), max(size.max(initial=0.0), 0.0)
    pad = 0.18 * (high - low or 1.0)
    ax.set(xlim=(low - pad * (low < 0), high + pad * (high > 0)), ylim=(len(chosen) - 0.4, -0.6))
    style.style_axes(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    style.set_labels(ax, title, UNITS.get(measure, measure) if measure else "value")
    return ax


def _of_model(model: Any, of: Any, measure: str, most: int, both: bool) -> tuple[Any, list[str], list[float]]:
    """(label, words, values): the strongest words of a class; of two classes those of the other count against it."""
    if not reads_texts(model):
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
        decibans = np.asarray(model.decibans([*words, ""]))[:, labels.index(label)]
        values = (decibans[:-1] - decibans[-1]).tolist()
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


def inclusion(model: Any, ax: Any = None, *, most: int = 30) -> Any:
    """The probability that each column of MixedNB(average="subsets") matters, the most probable first; returns the
    axes.

    Parameters
    ----------
    model : fitted classifier
        The model to draw.
    ax : matplotlib axes, or None
        The axes to draw into; None: new ones.
    most : int
        The number of columns that are drawn.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    interaction : What columns say together.

    Examples
    --------
    >>> from deciban import MixedNB
    >>> X, y = [[0, 1], [0, 2], [9, 1], [9, 2]] * 5, [0, 0, 1, 1] * 5
    >>> ax = inclusion(MixedNB(average="subsets", families={0: "student", 1: "student"}).fit(X, y))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0', 'x1']
    """
    chances, names = model.inclusion_, model._posterior().columns
    order = np.argsort(-chances, kind="stable")[:most]
    ax = style.axes(ax, 4.6, 0.9 + 0.24 * max(len(order), 2))
    ax.barh(range(len(order)), chances[order], height=0.68, color=POSITIVE)
    for place, chance in enumerate(chances[order]):
        ax.text(chance + 0.015, place, f"{chance:.2f}", va="center", ha="left", fontsize=8, color=TEXT_COLOUR)
    ax.set_yticks(range(len(order)), [truncate(names[j], 28) for j in order])
    style.disable_mathtext(*ax.get_yticklabels())
    ax.set(xlim=(0, 1.12), ylim=(len(order) - 0.4, -0.6), xticks=[0, 0.25, 0.5, 0.75, 1])
    style.style_axes(ax, "x")
    ax.tick_params(axis="y", length=0)
    of_all = f": {len(order)} of {len(chances)}" if len(order) < len(chances) else ""
    style.set_labels(ax, f"Columns that matter{of_all}", "posterior probability")
    return ax


def interaction(model: Any, columns: Any, ax: Any = None, *, of: Any = None, most: int = 24) -> Any:
    """What columns of MixedNB(interactions="auto") say together about a class, beyond what each says alone: a heat map
    of decibans by the cells of two columns. Of three or four columns, all but the last one are the rows.

    Parameters
    ----------
    model : MixedNB
        Fitted with `interactions="auto"`.
    columns : sequence of names
        A set of columns of `model.interactions_`.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.
    of : label, optional
        The class; by default the last.
    most : int, default 24
        Rows and columns of the picture, at most: those with the most training rows.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    inclusion : Which columns matter.

    Examples
    --------
    >>> from deciban import MixedNB
    >>> X = [["u", "x"], ["u", "y"], ["v", "x"], ["v", "y"]] * 30
    >>> model = MixedNB(interactions="auto").fit(X, ["same", "other", "other", "same"] * 30)
    >>> ax = interaction(model, (0, 1))
    >>> ax.get_title(loc="left")
    'Together for same, against other, in decibans'
    """
    from matplotlib.colors import LinearSegmentedColormap

    table = model.interaction_table(columns, of)
    *above, across = table.levels
    names = [", ".join(cells) for cells in product(*above)]
    values = table.decibans.reshape(len(names), len(across))
    rows = table.rows.reshape(values.shape)
    down, right = (_fullest(rows.sum(axis=axis), most) for axis in (1, 0))
    values, rows = values[np.ix_(down, right)], rows[np.ix_(down, right)]
    ax = style.axes(ax, 2.6 + 0.52 * len(right), 1.6 + 0.34 * len(down))
    far = max(float(np.abs(values).max(initial=0.0)), 1.0)
    map_ = LinearSegmentedColormap.from_list("evidence", [NEGATIVE, BACKGROUND, POSITIVE])
    ax.imshow(np.where(rows > 0, values, np.nan), cmap=map_, vmin=-far, vmax=far, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        text = format_decibans(float(value)).replace("-", "−") if rows[i, j] > 0 else "·"
        ink = BACKGROUND if rows[i, j] > 0 and abs(value) > 0.6 * far else TEXT_COLOUR
        ax.text(j, i, text, ha="center", va="center", fontsize=8, color=ink)
    shown = [truncate(across[j], 22) for j in right]
    ax.set_xticks(range(len(right)), shown, rotation=0 if max(map(len, shown)) < 7 else 90)
    ax.set_yticks(range(len(down)), [truncate(names[i], 32) for i in down])
    style.disable_mathtext(*ax.get_xticklabels(), *ax.get_yticklabels())
    ax.tick_params(length=0, colors=TEXT_COLOUR, labelsize=8.5)
    ax.spines[:].set_visible(False)
    against = "" if table.against is None else f", against {table.against}"
    style.set_labels(
        ax, f"Together for {table.of}{against}, in decibans", table.columns[-1], ", ".join(table.columns[:-1])
    )
    return ax


def _fullest(weight: np.ndarray, most: int) -> np.ndarray:
    """The places of the largest numbers, in order."""
    return np.sort(np.argsort(-weight, kind="stable")[:most])
