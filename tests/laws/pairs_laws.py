"""Laws that hold for every pair of settings, or are refused by an error that names what does not go together."""

from __future__ import annotations

import atexit
import copy
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, wraps
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np

import deciban
from deciban.errors import DecibanError

from ..support.compare import same
from ..support.data import BATCHES, HALF, N
from ..support.settings import TABLE, Case, Setting, cases
from ..support.strategies import EXAMPLES, USUAL

DECIBAN = 10 / np.log(10)
LEFT_OUT = (2, 30)  # rows that leave-one-out is compared at
REFUSALS = (ValueError, TypeError, NotImplementedError, AttributeError)  # by `fit`: scikit-learn's kinds of errors
NAMES = {"missing_cells": "missing|NaN", "sample_weight": "weight", "l1_ratio": "l1_ratio|penalt"}


class Broken(Exception):
    """A law that does not hold."""


class OnlyInMemory(Broken):
    """What `fit` takes and `fit_on` refuses by an error of the library."""


class Refused(Exception):
    """What the library will not do, by its own error."""


def quiet(law: Callable) -> Callable:
    """Without warnings, and on one thread: 72 rows are too few to share."""

    @wraps(law)
    def run(*args: Any) -> Any:
        with warnings.catch_warnings(), deciban.threads(1):
            warnings.simplefilter("ignore")
            return law(*args)

    return run


@dataclass(frozen=True, eq=False)
class Answers:
    """A model and what it says of the rows that are asked about."""

    model: Any
    proba: np.ndarray

    @cached_property
    def attributes(self) -> dict[str, Any]:
        return public(self.model)


def answering(case: Case, learn: Callable[[], Any]) -> Answers | Exception:
    """A model that answers, or the error that came instead: some settings are refused when first asked about."""
    try:
        model = learn()
        return Answers(model, model.predict_proba(case.data.asked))
    except Exception as error:
        return error


@cache
@quiet
def _whole(name: str, place: int) -> Answers | Exception:
    case = all_cases(name)[place]
    return answering(case, case.fit)


@cache
def all_cases(name: str) -> list[Case]:
    return list(cases(name))


@cache
def places(name: str) -> dict[tuple[str, ...], int]:
    return {case.key: place for place, case in enumerate(all_cases(name))}


def whole(case: Case) -> Answers | Exception:
    """The model of all rows, or the error that came instead."""
    return _whole(case.name, places(case.name)[case.key])


def refused(case: Case) -> bool:
    """Whether `fit` does not take these settings."""
    return isinstance(whole(case), Exception)


def fitted(case: Case) -> Any:
    found = whole(case)
    assert isinstance(found, Answers)
    return found.model


def expected(case: Case) -> np.ndarray:
    """What the model of all rows says."""
    found = whole(case)
    assert isinstance(found, Answers)
    return found.proba


def differ(what: str, a: np.ndarray, b: np.ndarray, within: float) -> None:
    if a.shape != b.shape:
        raise Broken(f"{what}: shapes {a.shape} and {b.shape}")
    with np.errstate(invalid="ignore"):
        gap = np.abs(a - b)
    if not (gap <= within).all():
        raise Broken(f"{what}: probabilities differ by {np.nanmax(gap):.2g}" + " or NaN" * bool(np.isnan(gap).any()))


def same_answers(what: str, case: Case, model: Any, within: float | None = None) -> None:
    """Whether a model says what the model of all rows says."""
    if list(model.classes_) != list(fitted(case).classes_):
        raise Broken(f"{what}: classes {list(model.classes_)}")
    within = case.entry.within if within is None else within
    differ(what, expected(case), model.predict_proba(case.data.asked), within)


def public(model: Any) -> dict[str, Any]:
    """Every fitted attribute that `dir` lists."""
    out = {}
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_"):
            value = getattr(model, name)
            if name in ("map_", "best_model_"):
                value = public(value)
            if name == "leaderboard_":  # times differ
                value = {key: own for key, own in vars(value).items() if key != "seconds"}
            out[name] = [public(one) for one in value] if name == "models_" else value
    return out


def same_attributes(what: str, case: Case, model: Any) -> None:
    found = whole(case)
    assert isinstance(found, Answers)
    mine, other = found.attributes, public(model)
    if mine.keys() != other.keys():
        raise Broken(f"{what}: attributes {sorted(mine.keys() ^ other.keys())}")
    unlike = [name for name in mine if not same(mine[name], other[name])]
    if unlike:
        raise Broken(f"{what}: values of {unlike}")


def own(error: Exception) -> Exception:
    """A refusal by this library, or what it is instead."""
    return Refused(str(error)) if isinstance(error, DecibanError) else Broken(f"{type(error).__name__}: {error}")


def attempt(law: Callable) -> Callable:
    """Errors of the library are refusals; any other is a defect."""

    @wraps(law)
    def run(case: Case) -> None:
        try:
            law(case)
        except (Broken, Refused):
            raise
        except Exception as error:
            raise own(error) from error

    return run


# the laws


@attempt
def fit_on(case: Case) -> None:
    """`fit` is `fit_on` of three uneven batches and, asked of single settings, of one table; or all refuse."""
    for data in (case.pieces, case.table)[: 2 if len(case.settings) < 2 else 1]:
        found = answering(case, lambda data=data: case.fit_on(data()))  # type: ignore[misc]
        if isinstance(error := whole(case), Exception):
            check_both_refuse(case, error, found)
        elif isinstance(found, DecibanError):
            raise OnlyInMemory(str(found))
        elif isinstance(found, Exception):
            raise found
        else:
            check_same(case, found)
    if refused(case):
        raise Refused(str(whole(case)))


@attempt
def fit_on_once(case: Case) -> None:
    """Rows that come once are learned like all others; or the error says so, or names the setting."""
    found = answering(case, lambda: case.fit_on(iter(case.pieces())))
    if isinstance(found, DecibanError) and "once" in str(found):
        return
    if isinstance(found, Exception):
        raise found
    check_same(case, found)


def check_same(case: Case, found: Answers) -> None:
    """Whether the model that `fit_on` made is that of `fit`."""
    if list(found.model.classes_) != list(fitted(case).classes_):
        raise Broken(f"classes {list(found.model.classes_)}")
    differ("`fit_on`", expected(case), found.proba, case.entry.within)
    if len(case.settings) < 2:
        look_at(found.model)


def check_both_refuse(case: Case, by_fit: Exception, model: Any) -> None:
    if not isinstance(model, Exception):
        raise Broken("`fit_on` takes what `fit` refuses")
    for error in (by_fit, model):
        if not isinstance(error, REFUSALS):
            raise Broken(f"{type(error).__name__}: {error}")
    if len(case.settings) > 1 and any(
        isinstance(alone(case, s), OnlyInMemory) and named(s, model) for s in case.settings
    ):
        return  # one of them is refused by `fit_on` in any case
    if unnamed("fit", case, str(model)):
        raise Broken(f"`fit_on` refuses by other words: {model}")


def alone(case: Case, setting: Setting) -> Exception | None:
    return outcome("fit_on", Case(case.name, (setting,)))


def named(setting: Setting, error: object) -> bool:
    """Whether a message names a setting."""
    pattern = NAMES.get(setting.name, rf"\b{setting.name.replace('_', '[_ ]')}\b")
    return re.search(pattern, str(error), re.IGNORECASE) is not None


@attempt
def explain(case: Case) -> None:
    """prior + columns = the posterior's log odds."""
    model, X = fitted(case), case.data.asked
    with np.errstate(divide="ignore"):
        logs = np.log(expected(case))
    for of, against in ((None, None), ("a", "c")):  # of the classes
        why = model.explain(X, of=of, against=against)
        each = np.arange(len(why))
        with np.errstate(invalid="ignore"):
            odds = DECIBAN * (logs[each, why.chosen] - logs[each, why.rival])
            parts = why.prior + why.decibans.sum(axis=1)
        known = np.isfinite(odds) & np.isfinite(why.total)
        scale = np.maximum(1.0, np.abs(odds))
        if not (np.abs(np.exp(logs[each, why.chosen]) - why.probability) <= 1e-9).all():
            gap = np.abs(np.exp(logs[each, why.chosen]) - why.probability).max()
            raise Broken(f"the probability explained differs by {gap:.2g}")
        if not (np.abs(why.total - odds) <= 1e-6 * scale)[known].all():
            raise Broken("the total is not the log odds of the posterior")
        if np.isnan(why.decibans).any():
            raise Broken("the evidence of a column is NaN")
        lost = np.isneginf(why.parts.sum(axis=2)).all(axis=1)  # the posterior of such a row is the prior
        known &= np.isfinite(parts) & ~lost
        if not (np.abs(parts - why.total) <= 1e-6 * scale)[known].all():
            raise Broken("prior and columns do not sum to the total")


@cache
def folder() -> Path:
    """Of this process; removed at its end."""
    path = Path(mkdtemp())
    atexit.register(rmtree, path, ignore_errors=True)
    return path


@attempt
def save_load(case: Case) -> None:
    model, path = fitted(case), folder() / "model.deciban"
    deciban.save(model, path)
    loaded = deciban.load(path)
    if not same(expected(case), loaded.predict_proba(case.data.asked)):
        raise Broken("a loaded model predicts otherwise")
    if len(case.settings) < 2 and not same(
        model.explain(case.data.asked).decibans, loaded.explain(case.data.asked).decibans
    ):
        raise Broken("a loaded model explains otherwise")
    same_attributes("a loaded model", case, loaded)


def look_at(model: Any) -> None:
    """Ask for every public name of the class and of the object."""
    try:
        listed = set(dir(model))
        names = {name for cls in type(model).__mro__ for name in vars(cls)} | set(vars(model))
        wrong = [name for name in sorted(names) if name[0] != "_" and hasattr(model, name) != (name in listed)]
    except Exception as error:
        raise Broken(f"`dir` and `hasattr` raise {type(error).__name__}: {error}") from error
    if wrong:
        raise Broken(f"`dir` and `hasattr` differ in {wrong}")


@attempt
def refit(case: Case) -> None:
    """Fitted with other settings before, then with these: a new model. Every name can be asked for."""
    look_at(fitted(case))
    used = case.fit(model=copy.deepcopy(fitted(earlier(case))).set_params(**case.params()))
    if not same(expected(case), used.predict_proba(case.data.asked)):
        raise Broken("a model fitted again predicts otherwise")
    same_attributes("a model fitted again", case, used)


def earlier(case: Case) -> Case:
    """Another case that was fitted: half of the list further on."""
    every = all_cases(case.name)
    start = places(case.name)[case.key] + len(every) // 2
    rest = (every[(start + i) % len(every)] for i in range(len(every)))
    return next(other for other in rest if not refused(other))


@attempt
def partial_fit(case: Case) -> None:
    """Two pieces, the first of which lacks a class, are all rows."""
    model = case.model()
    if not hasattr(type(model), "partial_fit"):
        return
    for at in (slice(0, BATCHES[1]), slice(BATCHES[1], N)):
        X, y, w = case.data.take(at)
        model.partial_fit(X, y, classes=np.unique(case.data.y), **case.weights(w))
    same_answers("`partial_fit`", case, model, 1e-9)


@cache
@quiet
def _first_half(name: str, place: int) -> Any:
    return all_cases(name)[place].fit(slice(0, HALF))


def first_half(case: Case) -> Any:
    return _first_half(case.name, places(case.name)[case.key])


@attempt
def merge(case: Case) -> None:
    model = fitted(case)
    if not hasattr(type(model), "__add__"):
        return
    _ = model + model  # refused, where merging is
    same_answers("a sum of models", case, first_half(case) + case.fit(slice(HALF, N)), 1e-9)


@attempt
def forget(case: Case) -> None:
    model = fitted(case)
    if not hasattr(type(model), "forget"):
        return
    X, y, w = case.data.take(slice(HALF, N))
    less = copy.deepcopy(model).forget(X, y, **case.weights(w)).predict_proba(case.data.asked)
    differ("a model that has forgotten rows", first_half(case).predict_proba(case.data.asked), less, 1e-8)


@attempt
def leave_one_out(case: Case) -> None:
    """The model fitted without a row, where the other rows choose the same structure and the same settings."""
    model = fitted(case)
    if not hasattr(type(model), "leave_one_out"):
        return
    X, y, w = case.data.take(list(LEFT_OUT))
    found = np.exp(model.leave_one_out(X, y, **case.weights(w)))
    for i, row in enumerate(LEFT_OUT):
        less = case.fit(np.delete(np.arange(N), row))
        if same(chosen(model), chosen(less)):
            differ("leave-one-out", found[i : i + 1], less.predict_proba(case.data.take([row])[0]), 1e-8)


def chosen(model: Any) -> list[Any]:
    """What the rows choose: leave-one-out keeps it."""
    return [getattr(model, name, None) for name in ("tuned_", "parents_", "edges_", "missing_", "vocabulary_")]


@attempt
def repetition(case: Case) -> None:
    """A row of weight 3 is three rows, one of weight 0 is none."""
    X, y, _ = case.data.take(np.repeat(np.arange(N), case.data.w.astype(int)))
    same_answers("rows repeated", case, case.model().fit(X, y), max(case.entry.within, 1e-8))


LAWS: dict[str, Callable[[Case], None]] = {
    law.__name__: law
    for law in (fit_on, fit_on_once, explain, save_load, refit, partial_fit, merge, forget, leave_one_out, repetition)
}


def laws_of(name: str) -> list[str]:
    entry = TABLE[name]
    return [law for law in LAWS if law not in entry.without and (not entry.only or law in entry.only)]


def judged(name: str, law: str) -> list[Case]:
    """The cases that a law is asked about: no setting, single settings, and all pairs or some of them."""
    if law == "fit_on_once":
        return [case for case in all_cases(name) if len(case.settings) < 2]
    if law == "repetition":
        return [case for case in all_cases(name) if case.weighted]
    every_pair = law in ("fit_on", "explain")
    if EXAMPLES < USUAL:  # few pairs, or none
        stride, first = 16 if every_pair else len(all_cases(name)), 0
    else:
        stride, first = 1 if every_pair else TABLE[name].stride, list(LAWS).index(law)
    every = enumerate(all_cases(name))
    return [case for place, case in every if len(case.settings) < 2 or (place + first) % stride == 0]


# outcomes


@cache
@quiet
def _outcome(name: str, law: str, place: int) -> Exception | None:
    case = all_cases(name)[place]
    found = whole(case)
    if law == "fit" or (law != "fit_on" and isinstance(found, Exception)):
        return found if isinstance(found, Exception) else None
    try:
        LAWS[law](case)
    except (Broken, Refused) as error:
        return error
    return None


def outcome(law: str, case: Case) -> Exception | None:
    return _outcome(case.name, law, places(case.name)[case.key])


def unnamed(law: str, case: Case, message: str) -> list[str]:
    """Settings that a refusal ought to name and does not. Of two that `fit` does not take together: both; else one."""
    kinds = REFUSALS if law == "fit" else Refused
    if isinstance(outcome(law, Case(case.name, ())), kinds):
        return []
    lacking = [setting.name for setting in case.settings if not named(setting, message)]
    together = law == "fit" and not any(isinstance(outcome(law, Case(case.name, (s,))), kinds) for s in case.settings)
    return lacking if together or len(lacking) == len(case.settings) else []


def failure(law: str, case: Case) -> str | None:
    """What is wrong with a law for these settings; None if it holds, or is refused as it should be."""
    found = outcome(law, case)
    if found is None or (law != "fit_on" and refused(case)):
        return None  # `fit_on` judges settings that `fit` refuses
    if isinstance(found, Refused):
        lacking = unnamed("fit" if law == "fit_on" else law, case, str(found))
        return f"the refusal does not name {' and '.join(lacking)}: {found}" if lacking else None
    return f"{type(found).__name__}: {found}"
