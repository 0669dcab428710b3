"""ROC curves and precision-recall curves of each class against the rest; reliability; confusion matrix; learning curve.

Reliability: of the rows with predicted probability 70 %, about 70 % should be of the class.

Confusion matrix: counts of true and predicted classes, shaded by the share of the true class.

Learning curve: the mean over repeats and a band of one standard deviation, over the number of rows on a log axis.

>>> import numpy as np
>>> ax = draw(np.array([10, 100]), np.array([[0.6, 0.8], [0.7, 0.8]]), "GaussianNB", "accuracy")
>>> ax.get_xscale(), [text.get_text() for text in ax.get_legend().get_texts()]
('log', ['GaussianNB'])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import metrics
from deciban.display import BACKGROUND, COLOURS, GREY, MARKERS, PALE, POSITIVE, TEXT_COLOUR, class_style, truncate
from deciban.plots import style
from deciban.plots.style import probabilities, takes_model


@takes_model(probabilities, "y, proba")
def roc(
    y: Any,
    proba: Any,
    ax: Any = None,
    *,
    classes: Any = None,
    of: Any = None,
    label: str | None = None,
    title: str = "ROC",
) -> Any:
    """ROC curve: true positive rate against false positive rate, of (y, proba) or (model, X, y); returns the axes.

    y are labels, `proba` P(class | x), (n, k), or (n,) of the second of two classes. Two classes are one curve, more
    are one each; `of` selects one class. `label` names the model: curves of other models can be added to the same axes.

    Parameters
    ----------
    y : sequence of labels; or a model
        The true classes; or a fitted model, with its rows and labels in the next two arguments.
    proba : array of shape (n, k) or (n,)
        P(class | x); one column is the second of two classes.
    ax : matplotlib axes, or None
        The axes to draw into; None: new ones.
    classes : sequence of labels, or None
        The labels of the columns of `proba`; None: the sorted labels of y.
    of : label or None
        The class that is drawn.
    label : str or None
        The name of the model in the legend.
    title : str
        The title above the axes.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    precision_recall : Precision over recall.

    Examples
    --------
    >>> ax = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1: area 0.750 (0.057 – 1.000)']
    """
    ax = style.axes(ax, 4.6, 4.4)
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
    for one, look, name in _looks(ax, y, proba, classes, of, label):
        area = metrics.area(one.hit, one.score)
        x, line = metrics.roc(one.hit, one.score)
        text = f"{name}: area {area.value:.3f} ({area.low:.3f} – {area.high:.3f})"
        ax.plot(x, line, color=look.colour, ls=look.style, lw=1.8, label=text, gid="curve", zorder=3)
    style.set_labels(ax, title, "false positive rate", "true positive rate")
    _square(ax, "lower right")
    return ax


@takes_model(probabilities, "y, proba")
def precision_recall(
    y: Any,
    proba: Any,
    ax: Any = None,
    *,
    classes: Any = None,
    of: Any = None,
    label: str | None = None,
    title: str = "Precision and recall",
) -> Any:
    """Precision over recall, in steps, of (y, proba) or (model, X, y); returns the axes. See `roc`.

    The share of the class is a dotted line.

    Parameters
    ----------
    y : sequence of labels; or a model
        The true classes; or a fitted model, with its rows and labels in the next two arguments.
    proba : array of shape (n, k) or (n,)
        P(class | x); one column is the second of two classes.
    ax : matplotlib axes, or None
        The axes to draw into; None: new ones.
    classes : sequence of labels, or None
        The labels of the columns of `proba`; None: the sorted labels of y.
    of : label or None
        The class that is drawn.
    label : str or None
        The name of the model in the legend.
    title : str
        The title above the axes.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    roc : True over false positive rate.

    Examples
    --------
    >>> ax = precision_recall(["ham", "ham", "spam", "spam"], [0.1, 0.4, 0.35, 0.8])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['spam: average precision 0.833']
    """
    ax = style.axes(ax, 4.6, 4.4)
    for one, look, name in _looks(ax, y, proba, classes, of, label):
        recall, precision, average = metrics.precision_recall(one.hit, one.score)
        text = f"{name}: average precision {average:.3f}"
        x, line = np.r_[0.0, recall], np.r_[precision[:1], precision]
        ax.plot(x, line, color=look.colour, ls=look.style, lw=1.8, drawstyle="steps-post", label=text, gid="curve")
        ax.axhline(one.hit.mean(), color=look.colour, lw=0.9, ls=(0, (1, 2)), zorder=1)
    style.set_labels(ax, title, "recall", "precision")
    _square(ax, "lower left")
    return ax


def _looks(ax: Any, y: Any, proba: Any, classes: Any, of: Any, label: str | None) -> list:
    """A style for every class that no curve in the axes has, and its name."""
    found = metrics.one_vs_rest_outcomes(y, proba, classes, of)
    before = sum(line.get_gid() == "curve" for line in ax.lines)
    out = []
    for rank, one in enumerate(found):
        class_name = truncate(str(one.label), 24)
        name = class_name if label is None else label if len(found) == 1 else f"{label}, {class_name}"
        out.append((one, class_style(before + rank, max(len(found), 3)), name))
    return out


def _square(ax: Any, where: str) -> None:
    ax.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.03), aspect="equal")
    style.style_axes(ax, "both")
    style.legend(ax, loc=where)


@takes_model(probabilities, "y, proba")
def reliability(
    y: Any,
    proba: Any,
    ax: Any = None,
    *,
    classes: Any = None,
    of: Any = None,
    bins: int = 10,
    label: str | None = None,
    title: str = "Reliability",
) -> Any:
    """The reliability diagram: observed frequency over predicted probability in bins, of (y, proba) or (model, X, y);
    returns the axes.

    `proba` is P(class | x), (n, k), or (n,) of the second of two classes. Of two classes the second is drawn; of more,
    the most probable class of each row, whichever it is; `of` asks for one class. Bars are 95 % intervals (Wilson); the
    columns at the bottom say how many rows a bin has. Other models go into the same axes, by their `label`.

    Parameters
    ----------
    y : sequence of labels; or a model
        The true classes; or a fitted model, with its rows and labels in the next two arguments.
    proba : array of shape (n, k) or (n,)
        P(class | x); one column is the second of two classes.
    ax : matplotlib axes, or None
        The axes to draw into; None: new ones.
    classes : sequence of labels, or None
        The labels of the columns of `proba`; None: the sorted labels of y.
    of : label or None
        The class that is drawn.
    bins : int
        The number of bins.
    label : str or None
        The name of the model in the legend.
    title : str
        The title above the axes.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    roc : True over false positive rate.

    Examples
    --------
    >>> ax = reliability([0, 0, 0, 1, 1, 1], [0.1, 0.1, 0.6, 0.6, 0.9, 0.9])
    >>> ax.lines[-1].get_xdata().round(2).tolist(), ax.lines[-1].get_ydata().round(2).tolist()
    ([0.1, 0.6, 0.9], [0.0, 0.5, 1.0])
    """
    _, codes, proba = metrics.checked(y, proba, classes)
    one = metrics.reliability_outcome(y, proba, classes, of)
    what = "the most probable class" if one.label is None else f"`{truncate(str(one.label), 24)}`"
    ax = style.axes(ax, 4.6, 4.4)
    before = sum(line.get_gid() == "curve" for line in ax.lines)
    look = class_style(before, 3)
    bars = [bar for bar in metrics.reliability_bins(one.hit, one.score, bins) if bar is not None]
    middle = np.array([at for at, _, _ in bars])
    shares = [metrics.proportion_interval(hits, n) for _, hits, n in bars]
    value = np.array([s.value for s in shares])
    off = np.array([[s.value - s.low for s in shares], [s.high - s.value for s in shares]]).clip(0)
    if not before:
        ax.plot([0, 1], [0, 1], color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
        most = max(n for _, _, n in bars)
        for at, _, n in bars:
            ax.bar(
                (np.floor(min(at, 1 - 1e-9) * bins) + 0.5) / bins, 0.12 * n / most, 0.92 / bins, color=PALE, zorder=0
            )
    ax.errorbar(middle, value, yerr=off, fmt="none", ecolor=look.colour, elinewidth=1.0, alpha=0.55, zorder=2)
    error = metrics.expected_calibration_error(codes, proba)
    text = f"{label}: error {error:.3f}" if label else f"calibration error {error:.3f}"
    ax.plot(middle, value, color=look.colour, marker=look.marker, ms=5, lw=1.2, label=text, gid="curve", zorder=3)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.03), aspect="equal")
    style.style_axes(ax, "both")
    style.set_labels(ax, title, f"predicted probability of {what}", "observed frequency")
    style.legend(ax, loc="best")
    return ax


FULL = 20  # classes up to which counts are written into the cells


@takes_model(lambda model, X, y: ((y, model.predict(X)), {}), "y, predicted")
def confusion_matrix(y: Any, predicted: Any, ax: Any = None, *, classes: Any = None, title: str | None = None) -> Any:
    """Rows of each true class by the class that they were predicted as, of (y, predicted) or (model, X, y); returns the
    axes.

    Parameters
    ----------
    y : sequence of labels; or a model
        The true classes; or a fitted model, with its rows and labels in the next two arguments.
    predicted : sequence of labels
        The predicted classes.
    ax : matplotlib axes, or None
        The axes to draw into; None: new ones.
    classes : sequence of labels, or None
        The order of the classes; None: sorted.
    title : str or None
        The title above the axes.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    roc : True over false positive rate.

    Examples
    --------
    >>> ax = confusion_matrix(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    >>> [text.get_text() for text in ax.texts]
    ['1\\n50 %', '1\\n50 %', '0', '1\\n100 %']
    """
    known = np.union1d(np.asarray(y), np.asarray(predicted)) if classes is None else np.asarray(classes)
    k = len(known)
    table = metrics.confusion(metrics.codes_of(y, known), metrics.codes_of(predicted, known), k)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    side = min(1.8 + 0.62 * k, 9.0)
    ax = style.axes(ax, side + 0.6, side)
    ax.imshow(share, cmap=shades(), vmin=0, vmax=1)
    small = 9 if k <= 8 else 7
    for i in range(k if k <= FULL else 0):
        for j in range(k):
            text = f"{table[i, j]:,.0f}" + (f"\n{100 * share[i, j]:.0f} %" if table[i, j] and k <= 8 else "")
            ink = BACKGROUND if share[i, j] > 0.55 else TEXT_COLOUR
            ax.text(j, i, text, ha="center", va="center", fontsize=small, color=ink, weight="bold" if i == j else None)
    names = [truncate(str(label), 18) for label in known]
    ax.set_xticks(range(k), names, rotation=0 if max(map(len, names)) * k < 40 else 90, fontsize=small)
    ax.set_yticks(range(k), names, fontsize=small)
    style.disable_mathtext(*ax.get_xticklabels(), *ax.get_yticklabels())
    ax.tick_params(length=0, colors=TEXT_COLOUR)
    ax.spines[:].set_visible(False)
    right = f"Confusion: {np.trace(table):,.0f} of {table.sum():,.0f} rows right"
    style.set_labels(ax, right if title is None else title, "predicted", "true")
    return ax


def shades() -> Any:
    """White to blue: a sequential colour map of one hue."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", [BACKGROUND, POSITIVE])


def draw(sizes: np.ndarray, values: np.ndarray, name: str, score: str, ax: Any = None) -> Any:
    """Values (r, s) of a score over sizes (s,), in new axes or added to the curves in `ax`."""
    ax = style.axes(ax, 6.4, 4.2)
    before = sum(line.get_gid() == "curve" for line in ax.lines)
    colour, mark = COLOURS[before % len(COLOURS)], MARKERS[before % len(MARKERS)]
    seen = np.isfinite(values).all(axis=0)  # an infinite loss has no place
    rows, some = sizes[seen], values[:, seen]
    mean = some.mean(axis=0)
    ax.plot(rows, mean, color=colour, marker=mark, ms=4.5, lw=1.8, label=name, gid="curve", zorder=3)
    if len(values) > 1:
        off = some.std(axis=0, ddof=1)
        ax.fill_between(rows, mean - off, mean + off, color=colour, alpha=0.22, lw=0, zorder=2)
    if len(rows):
        _ticks(ax)
    repeats = f", mean ± deviation of {len(values)} repeats" if len(values) > 1 else ""
    ax.set_xlabel("training rows (log scale)")
    ax.set_ylabel(score)
    ax.set_title(f"{score} on rows held out{repeats}", loc="left", fontsize=10.5, color=TEXT_COLOUR)
    ax.legend(frameon=False, loc="lower right" if score == "accuracy" else "upper right", fontsize=9)
    style.style_axes(ax, "both")
    return ax


def _ticks(ax: Any) -> None:
    """1, 2, 5, 10, … where decades alone would be too few ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 3e4 else (1.0, 2.0, 5.0)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}" if at >= 1 else f"{at:g}"))
