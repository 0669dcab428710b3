"""scikit-learn's own tests of naive Bayes, on our classes."""

import pytest

from deciban import BernoulliNB, MultinomialNB
from deciban.classifiers.naive_bayes import check_alpha

from .borrow import borrow

globals().update(borrow("naive_bayes"))


@pytest.fixture(autouse=True)
def private_name(monkeypatch):
    """Two of the tests ask a private method of scikit-learn's for the alpha that is used."""
    for model in (BernoulliNB, MultinomialNB):
        monkeypatch.setattr(
            model,
            "_check_alpha",
            lambda m: check_alpha(m.alpha, m.force_alpha, vars(m).get("n_features_in_", 0)),
            raising=False,
        )
