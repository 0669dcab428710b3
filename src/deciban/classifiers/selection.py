"""Choice of one model: by posterior probability (MAP), description length (MDL), or leave-one-out predictions.

    MAP:  argmax P(D | h) P(h)        MDL:  argmin −log₂ P(D | h) − log₂ P(h)

are the same hypothesis: the most probable one has the fewest total bits. `by="loo"` uses −Σ log₂ P(y_i | x_i, the other
rows) instead of −log₂ P(D | h). So does every choice among models whose evidences are not comparable or not defined;
the printed table says why.

>>> from deciban import GaussianNB, LinearDiscriminantAnalysis, select_model
>>> X, y = [[0.0, 0.1], [1.0, 1.2], [2.0, 1.9], [3.0, 1.0], [4.0, 2.1], [5.0, 3.2]], ["a", "a", "a", "b", "b", "b"]
>>> print(select_model([GaussianNB(estimate="bayes"), LinearDiscriminantAnalysis(estimate="bayes")], X, y))
D: p(X, y), densities
                              −log₂ P(D|h)  −log₂ P(h)  total bits  P(h|D)  chosen
  gaussiannb                         49.37        1.00       50.37  0.0085      no
  lineardiscriminantanalysis         42.49        1.00       43.49  0.9915     yes
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from deciban import display
from deciban.classifiers import ensemble
from deciban.data import frames
from deciban.errors import DataError
from deciban.models import hypotheses

WAYS = ("map", "mdl", "loo")


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """Description lengths and posterior probabilities of all models, and which was chosen."""

    names: tuple[str, ...]
    of: str  # the probability that `data_bits` measure, in words
    data_bits: np.ndarray  # (m,), −log₂ P(D | h)
    prior_bits: np.ndarray  # (m,), −log₂ P(h)
    total_bits: np.ndarray  # (m,)
    weight: np.ndarray  # (m,), posterior probability
    chosen: int
    models: tuple = field(default=())  # fitted
    notes: tuple[str, ...] = ()  # why leave-one-out was used, and which models could not be fitted

    @property
    def best(self) -> Any:
        """The fitted model that was chosen."""
        return self.models[self.chosen]

    def __str__(self) -> str:
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()

    def _table(self) -> display.Table:
        numbers = zip(self.data_bits, self.prior_bits, self.total_bits, self.weight, strict=True)
        rows = [
            (name, f"{data:.2f}", f"{prior:.2f}", f"{total:.2f}", f"{weight:.4f}", "yes" if i == self.chosen else "no")
            for i, (name, (data, prior, total, weight)) in enumerate(zip(self.names, numbers, strict=True))
        ]
        head = ("", "−log₂ P(D|h)", "−log₂ P(h)", "total bits", "P(h|D)", "chosen")
        return display.Table(f"D: {self.of}", head, rows, notes=["; ".join(self.notes)])

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row per model."""
        try:
            import pandas as pd
        except ImportError as bad:
            raise ImportError("to_frame makes a pandas DataFrame\n\nhint: pip install pandas") from bad
        return pd.DataFrame(
            {
                "data_bits": self.data_bits,
                "prior_bits": self.prior_bits,
                "total_bits": self.total_bits,
                "weight": self.weight,
                "chosen": np.arange(len(self.names)) == self.chosen,
            },
            index=list(self.names),
        )


def select_model(
    models: Any, X: Any, y: Any, by: str = "map", *, prior: Any = None, sample_weight: Any = None
) -> Selection:
    """Fit several models and choose one.

    If a model has no evidence (`evidence_`), or the evidences are not of the same data, the choice is made by
    leave-one-out, and `notes` of the result says so. A model that cannot be fitted to these rows is left out, with a
    warning.

    Parameters
    ----------
    models : list of classifiers or of (name, classifier), or mapping of name to classifier
        The candidates; they are cloned and fitted.
    X : frame, array or sequence of rows
        The training rows.
    y : sequence of labels, or the name of a column of X
        The labels.
    by : "map", "mdl" or "loo"
        "map": largest posterior probability; "mdl": shortest description, which is the same model; "loo": smallest
        leave-one-out log loss, with the prior as in the other two.
    prior : sequence, mapping by name, or None
        Prior weights of the models, in their order or by name; None: equal.
    sample_weight : sequence or None
        Weights of the rows.

    Returns
    -------
    Selection
        `best` is the fitted model that was chosen; `data_bits`, `prior_bits`, `total_bits` and `weight` compare all
        models. It prints as a table; `to_frame()` is a pandas DataFrame.

    Examples
    --------
    >>> from deciban import LogisticRegression, select_model
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> found = select_model({"weak": LogisticRegression(C=10.0), "strong": LogisticRegression(C=0.1)}, X, y)
    >>> found.names[found.chosen], found.total_bits.round(1).tolist(), found.of
    ('weak', [5.2, 5.6], 'p(y | X)')
    """
    if by not in WAYS:
        raise DataError(f"by is {by!r}\n\nhint: one of {', '.join(map(repr, WAYS))}")
    pairs = ensemble.name_members(models)
    if not pairs:
        raise DataError("there are no models\n\nhint: give a list of classifiers, or of (name, classifier)")
    logs = dict(zip([name for name, _ in pairs], ensemble.log_prior(prior, [name for name, _ in pairs]), strict=True))
    X, y = frames.take_target(X, y)
    found, left_out = ensemble.each_learned(
        pairs, lambda _, model: clone(model).fit(X, y, **ensemble.fit_kwargs(model, "fit", sample_weight))
    )
    value, measured, why = None, "", []
    if by != "loo":
        try:
            each = [ensemble.log_evidence_of(model) for _, model in found]
            ensemble.same_data([kind for kind, _ in each], [name for name, _ in found])
            value, measured = np.array([number for _, number in each]), each[0][0]
        except ensemble.NoEvidenceError as wrong:
            why = [f"chosen by leave-one-out: {str(wrong).split(chr(10))[0]}"]
    if value is None:
        some = [pair for pair in pairs if pair[0] not in left_out]
        models = [model for _, model in found]
        rows, w, how, failed = ensemble.held_out_of_each(models, some, X, y, models[0].classes_, sample_weight)
        found, left_out = [pair for pair in found if pair[0] not in failed], {**left_out, **failed}
        value = rows @ w
        measured = f"p(y | X), leave-one-out ({', '.join(dict.fromkeys(how))})"
    ensemble.say_left_out(left_out)
    names = tuple(name for name, _ in found)
    log_prior = np.array([logs[name] for name in names])
    log_prior = log_prior - np.logaddexp.reduce(log_prior)
    data, own, total = hypotheses.description_length(value, log_prior)
    weight = hypotheses.posterior(value, log_prior)
    chosen = int(weight.argmax() if by == "map" else total.argmin())
    notes = (*why, *(f"{name} could not be fitted: {reason}" for name, reason in left_out.items()))
    return Selection(names, measured, data, own, total, weight, chosen, tuple(model for _, model in found), notes)
