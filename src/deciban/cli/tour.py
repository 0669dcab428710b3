"""The demonstration: a small table, a real table, a speed comparison, texts and a report, on data of scikit-learn.

All numbers are computed during the run.
"""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import deciban

Say = Callable[[str], Any]

TENNIS = """outlook temperature humidity windy play
sunny hot high false no · sunny hot high true no · overcast hot high false yes · rainy mild high false yes
rainy cool normal false yes · rainy cool normal true no · overcast cool normal true yes · sunny mild high false no
sunny cool normal false yes · rainy mild normal false yes · sunny mild normal true yes
overcast mild high true yes · overcast hot normal false yes · rainy mild high true no"""
LIBRARIES = {
    "numpy": ("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.polynomial.polynomial", "numpy.ma"),
    "scipy": ("scipy.linalg", "scipy.optimize", "scipy.stats", "scipy.sparse", "scipy.special", "scipy.ndimage"),
    "scikit-learn": (
        "sklearn.metrics",
        "sklearn.preprocessing",
        "sklearn.linear_model",
        "sklearn.model_selection",
        "sklearn.utils",
        "sklearn.datasets",
        "sklearn.naive_bayes",
        "sklearn.decomposition",
    ),
}
OWN_NAMES = re.compile(r"numpy|scipy|sklearn|scikit|learn|\bnp\b|\bsp\b", re.IGNORECASE)


def tour(folder: str | Path = "deciban-demo", rows: int = 200_000, say: Say = print) -> dict[str, Any]:
    """Run the demonstration, write the report into a folder, and return the numbers."""
    start = time.perf_counter()
    data: dict[str, Any] = {"tennis": tennis(say)}
    model, X, y, data["table"] = table(say)
    data["race"] = race(X, y, rows, say)
    data["texts"] = texts(say)
    path = Path(folder) / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    deciban.report(model, X, y, path, title="Breast cancer")
    say(f"\nThe report on the table: {path}")
    data |= {"report": str(path), "seconds": time.perf_counter() - start}
    say(f"All of this took {data['seconds']:.1f} s.")
    return data


def tennis(say: Say) -> dict[str, float]:
    """Fourteen days, and whether one played tennis."""
    head, *days = (line.split() for line in TENNIS.replace(" · ", "\n").splitlines())
    X, y = np.array([day[:-1] for day in days], dtype=object), np.array([day[-1] for day in days])
    model = deciban.MixedNB(alpha=0).fit(_frame(X, head[:-1]), y)
    asked = _frame(np.array([["sunny", "cool", "high", "true"]], dtype=object), head[:-1])
    proba = dict(zip(model.classes_.tolist(), model.predict_proba(asked)[0].tolist(), strict=True))
    say("1. Fourteen days, and whether one played tennis. Today: sunny, cool, humid, windy.\n")
    say(str(model.explain(asked, of="no")))
    say(f"\n   P(yes) = {proba['yes']:.3f}, P(no) = {proba['no']:.3f}; 10 decibans are odds of 10 : 1.")
    return proba


def table(say: Say) -> tuple[Any, Any, np.ndarray, dict[str, Any]]:
    """A real table: the classifier is chosen by held-out log loss."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    names = [name.replace(" ", "_") for name in bunch.feature_names]
    X, y = _frame(bunch.data, names), bunch.target_names[bunch.target]
    calibrated = deciban.auto_fit(X, y, "calibrated")
    best = deciban.auto_fit(X, y)
    board = best.leaderboard
    assert board is not None
    ranked = {name: loss for name, loss in zip(board.names, board.log_loss.tolist(), strict=True) if loss == loss}
    say(f"\n2. Breast cancer ({len(y)} samples, {len(names)} features), benign or malignant.\n")
    say(f"   calibrated naive Bayes, by {calibrated.how}:")
    say("   " + ", ".join(f"{key.replace('_', ' ')} {value:.4f}" for key, value in calibrated.metrics.items()))
    say(f"   log loss in {board.how}: " + ", ".join(f"{name} {loss:.4f}" for name, loss in ranked.items()))
    say(f"   so `{best.kind.name}` is used ({best.kind.words}).\n")
    doubt = int(np.abs(best.model.predict_proba(X)[:, 0] - 0.5).argmin())
    say(f"   Least certain prediction: row {doubt}, which is {y[doubt]}:\n")
    shown = best.model.best_model_ if isinstance(best.model, deciban.AutoClassifier) else best.model
    say(shown.explain(_rows(X, doubt)).text(columns=5).replace("row 0", f"row {doubt}"))
    return calibrated.model, X, y, {"held_out": calibrated.metrics, "log_loss": ranked, "chosen": best.kind.name}


def race(X: Any, y: np.ndarray, rows: int, say: Say) -> dict[str, float]:
    """Speed of naive Bayes compared with scikit-learn's, on rows sampled from the model."""
    from sklearn.naive_bayes import GaussianNB

    many, labels = deciban.GaussianNB().fit(_plain(X), (y == "benign").astype(int)).sample(rows, random_state=0)
    pair = deciban.GaussianNB(), GaussianNB()
    out = {}
    say(f"\n3. {rows:,} rows sampled from the model; naive Bayes compared with scikit-learn's:\n")
    for verb, arguments in (("fit", (many, labels)), ("predict_proba", (many,))):
        ours, theirs = (min(_seconds(getattr(one, verb), *arguments) for _ in range(3)) for one in pair)
        out[verb] = theirs / ours
        say(f"   {verb:14} {1e3 * ours:8.1f} ms, scikit-learn {1e3 * theirs:8.1f} ms: {theirs / ours:.0f} times faster")
    gap = float(np.abs(pair[0].predict_proba(many) - pair[1].predict_proba(many)).max())
    say(f"   largest difference of a probability: {gap:.0e}")
    return out


def texts(say: Say) -> dict[str, Any]:
    """Classify docstrings by library."""
    from sklearn.feature_extraction.text import CountVectorizer

    found = [(text, library) for library, modules in LIBRARIES.items() for text in _docstrings(modules)]
    words, y = [OWN_NAMES.sub(" ", text) for text, _ in found], np.array([library for _, library in found])
    count = CountVectorizer(token_pattern=r"[a-z]{3,}", min_df=2)
    X = count.fit_transform(words)
    test = np.arange(len(y)) % 3 == 0
    model = deciban.MultinomialNB(alpha="auto").fit(X[~test], y[~test])
    right = float(model.score(X[test], y[test]))
    say(f"\n4. {len(y):,} docstrings of {', '.join(LIBRARIES)}, their names removed. Which library is it from?\n")
    say(f"   a third held out: {100 * right:.1f} % right (the largest class has {100 * _largest(y):.1f} %)")
    names = np.array(count.get_feature_names_out())
    theta = np.exp(model.feature_log_prob_)
    for c, label in enumerate(model.classes_):
        rest = np.delete(theta, c, axis=0).mean(axis=0)
        top = np.argsort(-theta[c] * np.log(theta[c] / rest))[:6]
        say(f"   {label:13} {', '.join(names[top])}")
    asked = "the inverse of a positive definite matrix by its Cholesky factor"
    proba = model.predict_proba(count.transform([asked]))[0]
    listed = ", ".join(f"{label} {p:.3f}" for label, p in zip(model.classes_, proba, strict=True))
    say(f"   “{asked}”: {listed}")
    return {"documents": len(y), "accuracy": right}


def _docstrings(modules: tuple[str, ...]) -> list[str]:
    """The docstrings of the public names of some modules, each once."""
    return list(dict.fromkeys(text for name in modules for text in _of_module(import_module(name))))


def _of_module(module: ModuleType) -> Iterator[str]:
    for name in sorted(getattr(module, "__all__", dir(module))):
        try:
            one = getattr(module, name, None)
        except ImportError:  # an experimental name that is not enabled
            continue
        if callable(one) and not name.startswith("_"):
            text = inspect.getdoc(one) or ""
            if len(text) > 200:
                yield text[:2000]


def _frame(cells: np.ndarray, names: list[str]) -> Any:
    from deciban.io import readers

    return readers.table_from_dict({name: cells[:, j] for j, name in enumerate(names)})


def _rows(X: Any, at: int) -> Any:
    return X.slice(at, 1)


def _plain(X: Any) -> np.ndarray:
    return np.column_stack([column.to_numpy() for column in X.columns])


def _largest(y: np.ndarray) -> float:
    return float(np.unique(y, return_counts=True)[1].max() / len(y))


def _seconds(f: Callable, *arguments: Any) -> float:
    start = time.perf_counter()
    f(*arguments)
    return time.perf_counter() - start
