"""What every classifier class gets when it is defined: settings by name, and attributes that are there or are not.

>>> from deciban import MixedNB
>>> MixedNB(calibrated=True)
Traceback (most recent call last):
TypeError: MixedNB has no setting `calibrated`
<BLANKLINE>
hint: did you mean `calibrate`?
>>> hasattr(MixedNB(alpha=0).fit([["x"], ["y"]], ["p", "q"]), "evidence_")  # no prior, so no evidence
False
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from inspect import signature
from types import FunctionType
from typing import Any

from deciban.errors import DecibanError, UnavailableError
from deciban.wording import did_you_mean


class Settled:
    """Mixin of every classifier.

    The constructor's signature is read once a class (scikit-learn reads it in every fit, which small tables notice); a
    setting that it does not have is answered with the nearest one; methods that override others have their docstrings;
    and a fitted attribute that cannot be had raises an AttributeError with the reason, as `hasattr` and `dir` expect.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, own in vars(cls).items():  # help() shows what the method that is overridden says
            if isinstance(own, FunctionType) and own.__doc__ is None and not name.startswith("_"):
                own.__doc__ = getattr(getattr(super(cls, cls), name, None), "__doc__", None)
        if "__init__" in cls.__dict__:
            setattr(cls, "__init__", _suggesting(cls.__dict__["__init__"]))  # noqa: B010
        for name in {name for base in cls.__mro__ for name in vars(base) if not name.startswith("_")}:
            own = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
            if isinstance(own, property) and not isinstance(own, Available) and own.fget is not None:
                setattr(cls, name, Available(own.fget, own.fset, own.fdel, own.__doc__))

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()  # type: ignore[misc]


class Available(property):
    """A property whose errors of this library are AttributeErrors too."""

    def __get__(self, model: Any, owner: Any = None) -> Any:
        try:
            return super().__get__(model, owner)
        except DecibanError as wrong:
            if isinstance(wrong, AttributeError):
                raise
            raise UnavailableError(str(wrong)) from wrong


def _suggesting(init: Callable) -> Callable:
    """The constructor, with an error for settings it does not have that says which one may be meant."""
    names = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def constructor(self: Any, *args: Any, **settings: Any) -> None:
        for name in settings:
            if name not in names:
                hint = _of_classes(name, names) or did_you_mean(name, names)
                raise TypeError(f"{type(self).__name__} has no setting `{name}`\n\nhint: {hint}")
        init(self, *args, **settings)

    return constructor


def _of_classes(name: str, names: list[str]) -> str:
    """A hint about settings that weigh classes, which other classifiers have under other names; "" of all others."""
    if name not in ("class_weight", "priors", "class_prior", "prior"):
        return ""
    own = next((one for one in ("priors", "class_prior") if one in names), None)
    if name != "class_weight" and own is not None:
        return f"did you mean `{own}`?"
    if name != "class_weight" and "class_weight" in names:
        return "`class_weight` weighs the rows of each class; predict_proba(X, priors=...) takes other class priors"
    if own is not None:
        return f'{own}="uniform" gives all classes the same weight; {own}={{class: share}} others'
    return 'predict(X, priors="uniform") and predict_proba(X, priors="uniform") give all classes the same weight'
