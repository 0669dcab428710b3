"""What families say of themselves, and that the answers agree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deciban import BayesOptimal, BernoulliNB, GaussianNB, MixedNB
from deciban.classifiers.ensemble import measure_of
from deciban.estimation.family import Family
from deciban.families import find
from deciban.models.hypotheses import NoEvidenceError, check_same_data

from .support.strategies import families, forms, has, plain_rows, tally

every_family = pytest.mark.parametrize("family", families())


@every_family
def test_family_is_one_by_its_base_class(family):
    assert isinstance(family, Family)
    assert family.has_parts == has(family, "parts")
    assert family.density != has(family, "log_density")
    if family.block == "codes":
        assert family.measure == "levels"
    elif family.support == "count":
        assert family.measure != "densities"  # masses are not compared with densities


@every_family
def test_grid_has_values_for_each_column_that_the_family_scores(family):
    rows = plain_rows(family, d=3)
    form = forms(family)[0]
    params = family.estimate(tally(family, rows, form))
    columns = family.grid(params, rows.k)
    assert len(columns) == 3
    assert all(len(values) >= 2 and (np.diff(values) > 0).all() for values in columns)
    low = np.array([[values[0] for values in columns]])
    assert np.isfinite(family.loglik(params, form(low.astype(rows.cells.dtype)))).all()


@pytest.mark.parametrize(("name", "want"), [("gaussian", 12), ("poisson", 6), ("bernoulli", 6), ("multinomial", 4)])
def test_number_of_free_parameters_of_two_classes_and_three_columns(name, want):
    assert find()[name]().n_parameters(None, 2, 3) == want


def test_free_parameters_of_levels_are_all_but_one_of_each_column():
    family = find()["categorical"]()
    x = np.array([[0, 0], [1, 2], [1, 1]])
    params = family.estimate(family.tally(forms(family)[0](x), np.array([0, 1, 1], dtype=np.int32), None, 2))
    assert family.n_parameters(params, 2, 2) == 2 * (1 + 2)


def test_free_parameters_of_independent_columns_add_up():
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 5.0], "sky": ["dark", "dark", "red", "blue"]})
    fitted = MixedNB(families={"size": "gaussian"}).fit(X, [0, 0, 1, 1])._fitted_state()
    assert fitted.family.n_parameters(fitted.params, 2, 2) == 2 * 2 + 2 * 2
    fitted = MixedNB(families={"size": "student"}).fit(X, [0, 0, 1, 1])._fitted_state()
    assert fitted.family.n_parameters(fitted.params, 2, 2) is None


def test_families_without_a_count_of_parameters_say_so():
    assert find()["student"]().n_parameters(None, 2, 3) is None


def test_evidence_of_presences_is_not_compared_with_that_of_densities():
    """A density of numbers and a mass of presences are probabilities of different data, also within `MixedNB`."""
    X, y = np.array([[0.0], [1.0], [1.0], [0.0]] * 5), np.array([0, 1, 1, 0] * 5)
    models = [MixedNB(families=name, alpha=1.0).fit(X, y) for name in ("student", "bernoulli")]
    kinds = [measure_of(model) for model in models]
    assert kinds == ["densities", "presences"]
    with pytest.raises(NoEvidenceError):
        check_same_data(kinds, ["student", "bernoulli"])
    assert [measure_of(model.fit(X, y)) for model in (GaussianNB(), BernoulliNB())] == kinds
    with pytest.warns(UserWarning, match="different data"):
        BayesOptimal(models, weights="evidence").fit(X, y)
