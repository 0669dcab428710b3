"""What is printed at a prompt is for reading: no dumps of arrays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deciban import (
    BayesNet,
    BayesOptimal,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    TextClassifier,
    TreeAugmentedNB,
    select_model,
    top_evidence,
)

RNG = np.random.default_rng(0)
N = 300
Y = RNG.choice(["no", "yes"], N)
X = pd.DataFrame({f"x{j}": RNG.normal(size=N) + (Y == "yes") for j in range(4)})
NAMES = X.assign(word=RNG.choice(["a", "b"], N))
VALUES = {
    "explanation": lambda: MixedNB().fit(NAMES, Y).explain(NAMES[:2]),
    "priors": lambda: GaussianNB().fit(X, Y).adapt_priors(X),
    "tally": lambda: MixedNB().fit(NAMES, Y).tally_,
    "tally of levels": lambda: TreeAugmentedNB().fit(NAMES, Y).tally_,
    "tally of numbers": lambda: LinearDiscriminantAnalysis().fit(X, Y).tally_,
    "families": lambda: MixedNB().fit(NAMES, Y).families_,
    "logistic view": lambda: LinearDiscriminantAnalysis().fit(X, Y).as_logistic(),
    "three classes": lambda: LinearDiscriminantAnalysis().fit(X, np.arange(N) % 3).as_logistic(),
    "many columns": lambda: LinearDiscriminantAnalysis().fit(RNG.normal(size=(200, 60)), Y[:200]).as_logistic(),
    "summary": lambda: LogisticRegression().fit(X, Y).summary(),
    "path": lambda: LogisticRegression().path(X, Y, Cs=[0.1, 1.0, 10.0]),
    "path held out": lambda: LogisticRegression().path(X, Y, Cs=[0.1, 1.0, 10.0], held_out="auto"),
    "separation": lambda: LogisticRegression().fit(X, Y).separation(X, Y),
    "strongest": lambda: top_evidence(MixedNB().fit(NAMES, Y), 2),
    "selection": lambda: select_model([GaussianNB(estimate="bayes"), GaussianNB(estimate="bayes", ddof=1)], X, Y),
    "answer": lambda: BayesNet().fit(NAMES, Y).query("word"),
    "model": lambda: MixedNB(alpha=1).fit(NAMES, Y),
    "ensemble": lambda: BayesOptimal([GaussianNB(), MixedNB()], weights=[0.5, 0.5]).fit(X, Y),
    "text": lambda: TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"]).explain("win"),
}


@pytest.mark.parametrize("name", VALUES)
def test_b34_what_is_printed_can_be_read(name):
    value = VALUES[name]()
    told = repr(value)
    assert told == str(value)
    assert len(told) < 1600
    assert "array(" not in told
    assert "0x" not in told


def test_b34_values_say_what_matters():
    assert repr(VALUES["separation"]()) == "no separation: the unpenalised estimate is finite"
    assert "class weights" in repr(VALUES["tally"]())
    view = repr(VALUES["logistic view"]()).splitlines()
    assert view[0] == "log odds of yes against no"
    assert len(view) == 7
    assert "… and 40 more columns" in repr(VALUES["many columns"]())
    path = VALUES["path held out"]()
    assert "best" in repr(path).splitlines()[2 + path.best]
    assert "<table" in path._repr_html_()
