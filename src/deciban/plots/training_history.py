"""Learning, step by step: log-likelihood and gradient by iteration, and the path of the parameters on the objective.

>>> import numpy as np
>>> from deciban import LogisticRegression
>>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
>>> model = LogisticRegression(C=np.inf, solver="newton", history=True).fit(X, y)
>>> training(model).get_ylabel(), error_surface(model, X, y, steps=10).get_xlabel()
('log-likelihood', 'x0')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deciban.data import frames
from deciban.display import BACKGROUND, COLOURS, GREY, MARKERS, STYLES, TEXT_COLOUR, format_number, truncate
from deciban.errors import DataError
from deciban.plots import style

STEPS = 80  # points of the grid in each direction
LEVELS = 14  # contours
MARKED = 30  # most iterations of which each has a marker
WIDE = 1e3  # times its start, and an objective is drawn on a log scale: it diverges
DECADES = 30  # largest ratio of the gradients on a linear axis
ROOM = 0.22  # of the extent of a path, to each side of it


def training(model: Any, ax: Any = None) -> Any:
    """log-likelihood of the training rows by iteration, of a model with `history_`; returns the axes.

    `model` may be a mapping of names to models, which are drawn together. Models without a likelihood (least squares,
    perceptron) are drawn by the objective that they minimise, and so are all others with them. On new axes, the length
    of the gradient is drawn below (`ax.figure.axes[1]`), on a log scale where it changes much.

    Parameters
    ----------
    model : fitted model, or mapping of names to models
        One with `history_`.
    ax : matplotlib axes, or None
        The axes to draw into; None: new ones.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    error_surface : The objective over two parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban import LogisticRegression
    >>> steps = {"newton": {"solver": "newton"}, "L-BFGS": {"solver": "lbfgs"}}
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> models = {name: LogisticRegression(history=True, **solver).fit(X, y) for name, solver in steps.items()}
    >>> ax = training(models)
    >>> [text.get_text() for text in ax.get_legend().get_texts()], ax.figure.axes[1].get_yscale()
    (['newton', 'L-BFGS'], 'log')
    """
    found = _histories(model)
    below = None
    if ax is None:
        plt = style.import_pyplot()
        _, (ax, below) = plt.subplots(2, 1, figsize=(7.0, 5.2), sharex=True, layout="constrained")
    ax = style.axes(ax, 7.0, 3.0)
    likely = all(history.log_likelihood is not None for history in found.values())
    _curves(ax, {name: h.log_likelihood if likely else h.objective for name, h in found.items()})
    style.set_labels(
        ax, _title(model), "" if below is not None else "iteration", "log-likelihood" if likely else "objective"
    )
    if len(found) > 1:
        style.legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if below is not None:
        _curves(below, {name: np.where(h.gradient_norm > 0, h.gradient_norm, np.nan) for name, h in found.items()})
        low, high = below.dataLim.intervaly
        if high > DECADES * low:
            below.set_yscale("log")
        else:
            below.set_ylim(0.0, 1.08 * high)
        style.set_labels(below, "", "iteration", "length of the gradient")
    return ax


def error_surface(
    model: Any,
    X: Any,
    y: Any = None,
    ax: Any = None,
    *,
    parameters: tuple[Any, Any] = (0, 1),
    limits: tuple[tuple[float, float], tuple[float, float]] | None = None,
    steps: int = STEPS,
) -> Any:
    """Contours of the objective over two parameters, and the path of a model with `history_`; returns the axes.

    The objective is −log-likelihood, with the penalty if there is one. `model` may be a mapping of names to models,
    whose paths are drawn over the objective of the first. `parameters` are two names or places in the order of
    coefficients and intercept (`history_.names`); the others stay at the end of the first path. `limits` are those of
    the two axes, by default what holds the paths; values of a path that are not finite are not drawn.

    Parameters
    ----------
    model : fitted model, or mapping of names to models
        One with `history_`.
    X : frame, array or sequence of rows
        The rows.
    y : sequence of labels, or the name of a column of X
        The class of each row.
    ax : matplotlib axes, or None
        The axes to draw into; None: new ones.
    parameters : pair of names or numbers
        The two parameters that are drawn.
    limits : pair of (low, high), or None
        The limits of the two axes; None: what holds the paths.
    steps : int
        The number of points of the grid along each axis.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    training : The objective by iteration.

    Examples
    --------
    >>> from deciban import LeastSquaresClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = LeastSquaresClassifier(solver="gradient", history=True, max_iter=200, tol=1e-3).fit(X, y)
    >>> ax = error_surface(model, X, y, parameters=("intercept", "x0"), steps=10)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('intercept', 'x0')
    """
    X, y = frames.take_target(X, y)
    if y is None:
        raise DataError("`error_surface` needs rows and labels\n\nhint: error_surface(model, X, y)")
    found = _histories(model)
    first, names = next(iter(found.values())), next(iter(found.values())).names
    at = [_place(names, one) for one in parameters]
    if len(at) != 2 or at[0] == at[1]:
        raise DataError(f"`parameters` are {parameters!r}\n\nhint: two of {', '.join(names[:20])}")
    paths = {name: _flat(history)[:, at] for name, history in found.items() if history.names == names}
    if len(paths) < len(found):
        raise DataError("the models have different parameters\n\nhint: fit them on the same columns and classes")
    paths = {name: path[np.isfinite(path).all(axis=1)] for name, path in paths.items()}
    spans = limits or _spans(np.concatenate(list(paths.values())))
    ax = style.axes(ax, 7.0, 5.0)
    last = _flat(first)[np.isfinite(_flat(first)).all(axis=1)][-1]
    objective = next(iter(_models(model).values())).objective(X, y)
    _contours(ax, objective, last, at, spans, steps)
    for rank, (name, path) in enumerate(paths.items()):
        _path(ax, path, truncate(name, 28), rank)
    rest = [f"{names[j]} = {format_number(float(last[j]))}" for j in range(len(names)) if j not in at]
    held = ", ".join(rest) if len(rest) <= 2 else "other parameters as at the end"
    ax.set(xlim=spans[0], ylim=spans[1])
    style.style_axes(ax)
    style.set_labels(ax, "; ".join(filter(None, (_title(model), held))), names[at[0]], names[at[1]])
    ax.plot([], [], ls="", marker="o", mfc=BACKGROUND, mec=TEXT_COLOUR, label="start")
    ax.plot([], [], ls="", marker="*", ms=11, color=TEXT_COLOUR, label="end")
    style.legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)
    return ax


def _models(model: Any) -> dict[str, Any]:
    """The models by name."""
    return (
        {str(name): one for name, one in model.items()} if isinstance(model, Mapping) else {style.called(model): model}
    )


def _title(model: Any) -> str:
    return "" if isinstance(model, Mapping) else style.called(model)


def _histories(model: Any) -> dict[str, Any]:
    models = _models(model)
    if not models:
        raise DataError("no models\n\nhint: give a fitted model, or a mapping of names to models")
    for name, one in models.items():
        if "history_" not in vars(one):
            raise DataError(f"`{name}` has no `history_`\n\nhint: fit it with history=True")
    return {name: vars(one)["history_"] for name, one in models.items()}


def _flat(history: Any) -> np.ndarray:
    """The parameters of each iteration, (t, size)."""
    return history.parameters.reshape(len(history), -1)


def _place(names: list[str], one: Any) -> int:
    """The place of a parameter, given by name or by place."""
    if isinstance(one, str) and one in names:
        return names.index(one)
    if isinstance(one, int | np.integer) and -len(names) <= one < len(names):
        return int(one) % len(names)
    raise DataError(
        f"there is no parameter {one!r}\n\nhint: the parameters are {', '.join(names[:20])}, or their places 0 … "
        f"{len(names) - 1}"
    )


def _curves(ax: Any, values: dict[str, np.ndarray]) -> None:
    """A line for each model, over iterations."""
    for rank, (name, line) in enumerate(values.items()):
        finite = np.isfinite(line)
        iterations = np.arange(len(line))[finite]
        marker = MARKERS[rank % len(MARKERS)] if len(line) <= MARKED else ""
        ax.plot(
            iterations,
            line[finite],
            color=COLOURS[rank % len(COLOURS)],
            ls=STYLES[rank % len(STYLES)],
            lw=1.8,
            marker=marker,
            ms=4.5,
            label=truncate(name, 28),
            zorder=3,
        )
    start = max(float(np.abs(line[0])) for line in values.values())
    if start > 0 and max(np.abs(line[np.isfinite(line)]).max(initial=0.0) for line in values.values()) > WIDE * start:
        ax.set_yscale("symlog", linthresh=start)
    ax.xaxis.get_major_locator().set_params(integer=True)
    style.style_axes(ax, "y")


def _spans(points: np.ndarray) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits that hold all points (n, 2), with room around them."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, ROOM * (high - low), np.maximum(np.abs(high), 1.0))
    (a, c), (b, d) = (low - room).tolist(), (high + room).tolist()
    return (a, b), (c, d)


def _contours(ax: Any, objective: Any, last: np.ndarray, at: list[int], spans: Any, steps: int) -> None:
    """Contours of the objective over two parameters, the others as in `last`: dense near the minimum, where the walls
    are steep elsewhere."""
    across, up = (np.linspace(low, high, steps) for low, high in spans)
    value = np.empty((steps, steps))
    w = np.array(last, dtype=np.float64)
    with np.errstate(all="ignore"):
        for i, b in enumerate(up):
            for j, a in enumerate(across):
                w[at] = a, b
                value[i, j] = objective.slope(w)[0]
    finite = value[np.isfinite(value)]
    if not finite.size or not finite.max() > finite.min():
        return
    levels = finite.min() + (finite.max() - finite.min()) * np.linspace(0.0, 1.0, LEVELS + 1)[1:] ** 2.5
    shades = ax.contourf(across, up, value, levels=[finite.min(), *levels], cmap="Greys", alpha=0.45, zorder=0)
    ax.contour(across, up, value, levels=levels[:-1], colors=GREY, linewidths=0.7, zorder=1)
    bar = ax.figure.colorbar(shades, ax=ax, spacing="uniform", ticks=[finite.min(), *levels[1::2]], format="%.4g")
    bar.set_label("objective", color=TEXT_COLOUR, fontsize=9.5)
    bar.ax.tick_params(colors=TEXT_COLOUR, labelsize=8.5)
    bar.outline.set_edgecolor(GREY)


def _path(ax: Any, path: np.ndarray, name: str, rank: int) -> None:
    """The steps as a line, the start as a ring, the end as a star."""
    colour, small = COLOURS[rank % len(COLOURS)], len(path) <= MARKED
    marker = MARKERS[rank % len(MARKERS)] if small else ""
    ax.plot(*path.T, color=colour, ls=STYLES[rank % len(STYLES)], lw=1.6, marker=marker, ms=4, label=name, zorder=3)
    ax.plot(*path[:1].T, ls="", marker="o", ms=8, mfc=BACKGROUND, mec=colour, mew=1.6, zorder=4)
    ax.plot(*path[-1:].T, ls="", marker="*", ms=13, mfc=colour, mec=BACKGROUND, mew=0.6, zorder=5)
