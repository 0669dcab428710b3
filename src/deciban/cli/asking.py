"""What users ask of a prediction: priors, costs and rejects, as they write them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from deciban.cli.rows import label_of


@dataclass(frozen=True)
class Asked:
    """A model and how to ask it."""

    model: Any
    priors: Any
    costs: dict[tuple[Any, Any], float]
    reject: float | None

    @classmethod
    def of(cls, model: Any, priors: str | None, costs: tuple[str, ...], reject: float | None) -> Asked:
        return cls(model, parsed_priors(model, priors), dict(parsed_cost(model, cost) for cost in costs), reject)

    def answer(self, X: Any) -> tuple[Any, np.ndarray]:
        """(labels, probabilities) of rows; a label that is not given is None."""
        proba = np.asarray(self.model.predict_proba(X, priors=self.priors))
        if not self.costs and self.reject is None:
            return self.model.classes_[proba.argmax(axis=1)], proba
        labels = self.model.decide(X, costs=self.costs or None, reject=self.reject, priors=self.priors)
        return labels.tolist(), proba


def parsed_priors(model: Any, text: str | None) -> Any:
    """`yes=0.2,no=0.8` as probabilities by class, made to sum to 1; or `uniform`: what `priors` of a model takes."""
    if text is None or text == "uniform":
        return text
    given = {}
    for part in text.split(","):
        name, _, value = part.rpartition("=")
        given[label_of(model, name.strip(), "--priors")] = number(value, "--priors", part)
    absent = [label for label in model.classes_.tolist() if label not in given]
    if absent:
        raise click.BadParameter(f"no prior for {absent}", param_hint="--priors")
    whole = sum(given.values()) or 1.0
    return {label: weight / whole for label, weight in given.items()}


def parsed_cost(model: Any, text: str) -> tuple[tuple[Any, Any], float]:
    """`spam:ham=5`: what taking spam for ham costs."""
    pair, _, value = text.rpartition("=")
    cost = number(value, "--costs", text)
    true, colon, decided = pair.partition(":")
    if not colon:
        raise click.BadParameter(f"{text!r} does not name two classes, TRUE:DECIDED", param_hint="--costs")
    return (label_of(model, true.strip(), "--costs"), label_of(model, decided.strip(), "--costs")), cost


def number(text: str, option: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{whole!r} does not end in =NUMBER", param_hint=option) from None
