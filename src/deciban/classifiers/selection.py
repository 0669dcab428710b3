"""Choice of one model: by posterior probability (MAP), description length (MDL), or leave-one-out predictions.

    MAP:  argmax P(D | h) P(h)        MDL:  argmin −log₂ P(D | h) − log₂ P(h)

are the same hypothesis: the most probable one has the fewest total bits. `prior="length"` is the two-part code of
Rissanen (1978): ½ log₂ n bits for each of the p parameters of h, then the rows by the fitted parameters,

    bits = −log₂ P(D | h, θ) + p · ½ log₂ n

where −log₂ P(D | h) above has the parameters integrated out; for many rows the two differ by a constant. `by="loo"`
uses −Σ log₂ P(y_i | x_i, the other rows) instead of −log₂ P(D | h), over held-out rows (up to 8,192, chosen as in
`BayesOptimal`). So does every choice among models whose evidences are not comparable or not defined; the printed table
says why.

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

from deciban import display
from deciban.classifiers import ensemble
from deciban.data import frames
from deciban.errors import DataError
from deciban.models import hypotheses
from deciban.rows.raw_rows import RawArrays

WAYS = ("map", "mdl", "loo")
LENGTH = "length"


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """Description lengths and posterior probabilities of all models, and which was chosen."""

    names: tuple[str, ...]
    of: str  # the probability that `data_bits` measure, in words
    data_bits: np.ndarray  # (m,), −log₂ P(D | h)
    prior_bits: np.ndarray  # (m,), −log₂ P(h), or the bits of its parameters
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
    models: Any,
    X: Any,
    y: Any,
    by: str = "map",
    *,
    prior: Any = None,
    noise: float = 0.0,
    sample_weight: Any = None,
) -> Selection:
    """Fit several models and choose one.

    If a model has no evidence (`evidence_`), or the evidences are not of the same data, the choice is made by
    leave-one-out, and `notes` of the result says so. A model that cannot be fitted to these rows is left out, with a
    warning.

    Parameters
    ----------
    models : list of classifiers, of functions, or of (name, model), or mapping of name to model
        The candidates; they are cloned and fitted. A function of X that returns labels or probabilities is a hypothesis
        that is given, as in `BayesOptimal`.
    X : frame, array or sequence of rows
        The training rows.
    y : sequence of labels, or the name of a column of X
        The labels.
    by : "map", "mdl" or "loo"
        "map": largest posterior probability; "mdl": shortest description, which is the same model; "loo": smallest
        leave-one-out log loss, with the prior as in the other two.
    prior : "length", sequence, mapping by name, or None
        Prior weights of the models, in their order or by name; None: equal. "length": 2 to the power of minus the
        length of the model, ½ log₂ n bits for each parameter (Rissanen 1978); the bits of the data are then those by
        the fitted parameters, so that parameters are not paid for twice. A function has no parameters.
    noise : number
        Of functions that return labels: the probability of a label that differs from h(x), as in `BayesOptimal`. 0: a
        hypothesis that disagrees with a row has no probability.
    sample_weight : sequence or None
        Weights of the rows.

    Returns
    -------
    Selection
        `best` is the fitted model that was chosen; `data_bits`, `prior_bits`, `total_bits` and `weight` compare all
        models. It prints as a table; `to_frame()` is a pandas DataFrame.

    See Also
    --------
    compare : Cross-validates the classifiers that suit the rows.
    BayesOptimal : The mean of several models.

    Examples
    --------
    >>> from deciban import LogisticRegression, select_model
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> found = select_model({"weak": LogisticRegression(C=10.0), "strong": LogisticRegression(C=0.1)}, X, y)
    >>> found.names[found.chosen], found.total_bits.round(1).tolist(), found.of
    ('weak', [5.2, 5.6], 'p(y | X)')

    Functions, of which one has a prior of 1/4; and a curve, of which two parameters must be paid for:

    >>> low, high = (lambda X: X[:, 0] > 1.5), (lambda X: X[:, 0] > 3.5)
    >>> select_model({"low": low, "high": high}, X, y, noise=0.2, prior=[0.25, 0.75]).weight.round(3).tolist()
    [0.25, 0.75]
    >>> print(select_model({"low": low, "curve": LogisticRegression()}, X, y, noise=0.2, prior="length"))
    D: p(y | X) by the fitted parameters
             −log₂ P(D|h)  −log₂ P(h)  total bits  P(h|D)  chosen
      low            3.93        0.00        3.93  0.8452     yes
      curve          3.79        2.58        6.38  0.1548      no
    """
    if by not in WAYS:
        raise DataError(f"by is {by!r}\n\nhint: one of {', '.join(map(repr, WAYS))}")
    by_length = isinstance(prior, str)
    if by_length and (prior != LENGTH or by == "loo"):
        raise DataError(
            f"prior is {prior!r}, by is {by!r}\n\nhint: prior='length' with by='map' or 'mdl', or weights of the models"
        )
    if not 0 <= noise < 1:
        raise DataError(f"noise is {noise!r}\n\nhint: it is a probability below 1, such as 0.1")
    rows = RawArrays(*frames.take_target(X, y), sample_weight)
    members = ensemble.with_classes(ensemble.members_of(models, noise), rows)
    names = [member.name for member in members]
    logs = dict(zip(names, hypotheses.log_weights(None if by_length else prior, names), strict=True))
    found, left_out = ensemble.learn_each(members, lambda member: member.learn(rows))
    value, length, measured, why = None, None, "", []
    if by_length:
        value, length = ensemble.likelihood_and_length(found, rows, "prior='length'")
        measured = f"{found[0].measure()} by the fitted parameters"
    elif by != "loo":
        try:
            value, measured = ensemble.evidence_of_each(found), found[0].measure()
        except hypotheses.NoEvidenceError as wrong:
            why = [f"chosen by leave-one-out: {str(wrong).split(chr(10))[0]}"]
    if value is None:
        scores = ensemble.score_held_out(found, rows, found[0].model.classes_)
        found, left_out = scores.members, {**left_out, **scores.failed}
        value = scores.logs @ scores.weights
        measured = f"p(y | X), leave-one-out ({', '.join(dict.fromkeys(scores.descriptions))})"
    ensemble.warn_left_out(left_out)
    if length is None:
        log_prior = np.array([logs[member.name] for member in found])
        log_prior = log_prior - np.logaddexp.reduce(log_prior)
    else:
        log_prior = -length
    ensemble.check_consistent(found, value, log_prior)
    data, own, total = hypotheses.description_length(value, log_prior)
    weight = hypotheses.posterior(value, log_prior)
    chosen = int(weight.argmax() if by == "map" else total.argmin())
    notes = (*why, *(f"{name} could not be fitted: {reason}" for name, reason in left_out.items()))
    fitted = tuple(member.name for member in found), tuple(member.model for member in found)
    return Selection(fitted[0], measured, data, own, total, weight, chosen, fitted[1], notes)
