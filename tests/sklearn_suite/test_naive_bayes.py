"""scikit-learn's own tests of naive Bayes, on our classes."""

import pytest

from deciban import BernoulliNB, MultinomialNB
from deciban.classifiers.naive_bayes import check_alpha

from .borrow import borrow

globals().update(borrow("naive_bayes"))


@pytest.fixture(autouse=True)
def private_name(monkeypatch):
    """Two of the tests ask a private method of scikit-learn's for the alpha that is used."""

    def used(model):
        return check_alpha(model.alpha, model.force_alpha, vars(model).get("n_features_in_", 0))

    for model in (BernoulliNB, MultinomialNB):
        monkeypatch.setattr(model, "_check_alpha", used, raising=False)
