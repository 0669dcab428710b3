"""Two ways to call a picture: with a model and its rows, `(model, X, y)`, or with what is to be drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from deciban import frames
from deciban.errors import DataError


def takes_model(
    prepare: Callable[[Any, Any, Any], tuple[tuple, dict]], other: str, needs_y: bool = True, holds: str = ""
) -> Callable:
    """Decorate a picture so that it takes `(model, X, y)`, too.

    `prepare(model, X, y)` gives the arguments that the picture takes instead, and settings; `other` names these
    arguments in errors; `holds` is an attribute that the first of them has, by which it is told from a table.

    >>> @takes_model(lambda model, X, y: ((y, model.predict(X)), {}), "y, predicted")
    ... def count_right(y, predicted):
    ...     return int(sum(a == b for a, b in zip(y, predicted)))
    >>> from deciban import GaussianNB
    >>> count_right(GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]), [[0.5], [4.5]], [0, 1])
    2
    """

    def decorate(draw: Callable) -> Callable:
        name, form = draw.__name__, "(model, X, y)" if needs_y else "(model, X)"

        @wraps(draw)
        def either(*args: Any, **more: Any) -> Any:
            if not args or not is_model(args[0]):
                if args and holds and not hasattr(args[0], holds):
                    raise DataError(
                        f"`{other}` is a {type(args[0]).__name__}\n\nhint: {name}{form}, or {name}({other})"
                    )
                return draw(*args, **more)
            rest, given = list(args[1:]), dict(more)
            X = rest.pop(0) if rest else given.pop("X", None)
            y = rest.pop(0) if rest and needs_y else given.pop("y", None)
            if X is None or (y is None and needs_y):
                raise DataError(f"`{name}` of a model needs rows\n\nhint: {name}{form}, or {name}({other})")
            X, y = frames.take_target(X, y)
            told, settings = prepare(args[0], X, y)
            return draw(*told, *rest, **{**settings, **given})

        return either

    return decorate


def is_model(thing: Any) -> bool:
    """Whether it predicts: a classifier, a pipeline, a search."""
    return hasattr(thing, "predict") and hasattr(thing, "fit") and not isinstance(thing, type)


def called(model: Any) -> str:
    """What to call a model: the steps of a pipeline one by one."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list):
        return " → ".join(called(step) for _, step in steps if step not in (None, "passthrough"))
    return type(model).__name__


def probabilities(model: Any, X: Any, y: Any) -> tuple[tuple, dict]:
    """(y, P(class | x)) and the classes of its columns."""
    if not hasattr(model, "predict_proba"):
        raise DataError(
            f"{called(model)} has no `predict_proba`\n\nhint: a picture of probabilities needs a model of them"
        )
    return (y, model.predict_proba(X)), {"classes": model.classes_}
