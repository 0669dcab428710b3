"""Coefficients, errors and measures of fit are those of statsmodels' Logit and MNLogit, and of a book's table."""

import csv
import warnings

import numpy as np
import pytest

from deciban import LogisticRegression

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    sm = pytest.importorskip("statsmodels.api")


def table(path, label):
    """(columns, X, labels) of a CSV file; text columns of two values become 0 and 1."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    columns = [name for name in rows[0] if name != label]
    x = np.array([[float(row[c]) if _number(row[c]) else float(row[c] == "Present") for c in columns] for row in rows])
    return columns, x, np.array([row[label] for row in rows])


def _number(text):
    return text.replace(".", "", 1).lstrip("-").isdigit()


def theirs(x, y, robust=False, intercept=True):
    """statsmodels' fit of class codes, coefficients as (m, p)."""
    model = sm.Logit if y.max() == 1 else sm.MNLogit
    a = np.column_stack([np.ones(len(x)), x]) if intercept else x
    kind = {"cov_type": "HC0"} if robust else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model(y, a).fit(disp=0, method="newton", maxiter=200, tol=1e-13, **kind)
    shape = (y.max(), a.shape[1])
    coef, error = (np.asarray(a, dtype=float).T.reshape(shape) for a in (fit.params, fit.bse))
    return fit, coef, error


def ours(x, y, **settings):
    return LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000, **settings).fit(x, y)


def agree(x, y, intercept=True):
    for robust in (False, True):
        fit, coef, error = theirs(x, y, robust, intercept)
        found = ours(x, y, fit_intercept=intercept).summary(robust=robust)
        np.testing.assert_allclose(found.coef, coef, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found.std_error, error, rtol=1e-6)
        np.testing.assert_allclose(found.z, coef / error, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(found.p_value, np.asarray(fit.pvalues).T.reshape(coef.shape), atol=1e-6)
        assert found.log_likelihood == pytest.approx(fit.llf, abs=1e-6)
        assert found.aic == pytest.approx(fit.aic, abs=1e-5)
        assert found.bic == pytest.approx(fit.bic, abs=1e-5)
        if intercept:  # theirs is against an intercept in any case
            assert found.null_log_likelihood == pytest.approx(fit.llnull, abs=1e-6)
            assert found.mcfadden == pytest.approx(fit.prsquared, abs=1e-6)
            assert found.likelihood_ratio_p == pytest.approx(fit.llr_pvalue, abs=1e-9)
        ends = np.asarray(fit.conf_int()).reshape(*coef.shape, 2)
        np.testing.assert_allclose(np.stack([found.low, found.high], axis=2), ends, rtol=1e-5, atol=1e-5)


def test_heart_disease_is_table_4_2_of_the_elements_of_statistical_learning(shared):
    """Hastie, Tibshirani, Friedman, 2nd edition, p. 122."""
    columns, x, y = table(shared("saheart/saheart.csv"), "chd")
    chosen = ["sbp", "tobacco", "ldl", "famhist", "obesity", "alcohol", "age"]
    found = ours(x[:, [columns.index(c) for c in chosen]], y).summary()
    printed = [-4.130, 0.006, 0.080, 0.185, 0.939, -0.035, 0.001, 0.043]
    errors = [0.964, 0.006, 0.026, 0.057, 0.225, 0.029, 0.004, 0.010]
    np.testing.assert_allclose(found.coef[0], printed, atol=1.01e-3)
    np.testing.assert_allclose(found.std_error[0], errors, atol=1.01e-3)
    agree(x, (y == "1").astype(int))


@pytest.mark.parametrize("intercept", [True, False])
def test_two_irises(shared, intercept):
    _, x, species = table(shared("iris/iris.csv"), "species")
    some = species != "setosa"
    agree(x[some], (species[some] == "virginica").astype(int), intercept)


@pytest.mark.parametrize("column", [0, 1])
def test_three_irises_by_a_column_that_does_not_separate_them(shared, column):
    _, x, species = table(shared("iris/iris.csv"), "species")
    agree(x[:, [column]], np.unique(species, return_inverse=True)[1])


def test_three_irises_by_all_columns_are_said_to_be_separated(shared):
    _, x, species = table(shared("iris/iris.csv"), "species")
    with pytest.warns(UserWarning, match="x2` and `x3`, each alone, separate the classes"):
        LogisticRegression(C=np.inf).fit(x, species)


def test_four_vehicles(shared):
    _, x, kind = table(shared("vehicle/vehicle.csv"), "Class")
    agree(x[:, [0, 1, 5, 9]], np.unique(kind, return_inverse=True)[1])
