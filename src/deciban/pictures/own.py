"""Pictures that things draw of themselves: a row's evidence, a path of penalties, a learning curve."""

from __future__ import annotations

from typing import Any

from deciban.pictures.forms import takes_model


@takes_model(lambda model, X, y: ((model.explain(X),), {}), "explanation", needs_y=False, holds="parts")
def waterfall(explanation: Any, row: int = 0, ax: Any = None, columns: int = 10) -> Any:
    """One row of an explanation, or of (model, X), from its prior through its strongest columns to its total; returns
    the axes.

    >>> from deciban import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> ax = waterfall(model.explain([[2.0]]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['prior', 'x0 = 2', 'total']
    """
    return explanation.plot(row, ax, columns)


@takes_model(lambda model, X, y: ((model.path(X, y),), {}), "path", holds="Cs")
def coefficient_path(path: Any, ax: Any = None, *, of: Any = None, columns: int = 8, standard: bool = True) -> Any:
    """The coefficients of a path of penalties (`LogisticRegression.path`, or `path_` where C="auto"), or of (model, X,
    y), whose path is made; returns the axes.

    One line a column, over C from a strong penalty to a weak one. The `columns` that are strongest (at the best C, if
    rows were held out) have a colour and their name at the right edge. `standard`: times the deviation of the column,
    so that columns of different units compare. `of` is the class whose coefficients are drawn, by default the last.

    >>> from deciban import LogisticRegression
    >>> path = LogisticRegression().path([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]], [0, 1, 0, 1])
    >>> ax = coefficient_path(path)
    >>> [text.get_text() for text in ax.texts]
    ['x0', 'x1']
    """
    return path.plot(ax, of=of, columns=columns, standard=standard)


def _curve_of(model: Any, X: Any, y: Any) -> tuple[tuple, dict]:
    from deciban.learning import curves  # which draws itself, and so needs the plots

    return (curves.learning_curve(model, X, y),), {}


@takes_model(_curve_of, "curve", holds="sizes")
def learning_curve(curve: Any, ax: Any = None, *, score: str = "accuracy", label: str | None = None) -> Any:
    """A learning curve (of `deciban.learning_curve`), or that of (model, X, y), over the rows learned from, on a log
    axis; returns the axes.

    The band is the deviation of the repeats. `score` may be "log_loss". More curves go into the same axes, each in a
    colour and with a mark of its own.

    >>> import deciban
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]] * 9, [0, 0, 1, 1] * 9
    >>> curve = deciban.learning_curve(deciban.GaussianNB(), X, y, [4, 20])
    >>> ax = learning_curve(curve)
    >>> ax.lines[0].get_xdata().tolist(), ax.get_ylabel()
    ([4, 20], 'accuracy')
    """
    return curve.plot(ax, score=score, label=label)
