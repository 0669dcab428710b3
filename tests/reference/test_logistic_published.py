"""Logistic regression on whole tables and on data sets whose estimates were published."""

import csv
import gzip
import json
import lzma
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs
from threadpoolctl import threadpool_limits

from deciban import LogisticRegression

# neovasculisation, pulsatility index, endometrium height · 100 and grade of 79 tumours: Heinze & Schemper, "A solution
# to the problem of separation in logistic regression", Statistics in Medicine 21 (2002)
TUMOURS = """0 13 164 0 · 0 16 226 0 · 0 8 314 0 · 0 34 268 0 · 0 20 128 0 · 0 5 231 0 · 0 17 180 0 · 0 10 168 0
· 0 26 156 0
· 0 17 231 0 · 0 8 201 0 · 0 7 189 0 · 0 20 315 0 · 0 10 123 0 · 0 18 127 0 · 0 16 176 0 · 0 18 200 0 · 0 8 264 1
· 0 29 88 1 · 0 12 127 1 · 0 20 137 1 · 1 38 97 1 · 1 22 114 1 · 1 7 88 1 · 1 25 91 1 · 1 15 58 1 · 0 7 97 1
· 0 28 150 0 · 0 11 133 0 · 0 19 237 0 · 0 10 182 0 · 0 10 313 0 · 0 18 131 0 · 0 14 192 0 · 0 21 164 0
· 0 11 201 0 · 0 17 188 0 · 0 25 193 0 · 0 16 211 0 · 0 19 129 0 · 0 15 172 0 · 0 33 75 0 · 0 24 192 0
· 0 48 184 1 · 0 12 111 1 · 0 19 161 1 · 0 2 118 1 · 1 22 144 1 · 1 40 118 1 · 1 5 93 1 · 1 0 117 1 · 0 21 119 1
· 0 15 106 1 · 0 29 202 0 · 0 15 229 0 · 0 12 233 0 · 0 3 290 0 · 0 20 170 0 · 0 23 141 0 · 0 12 225 0
· 0 22 154 0 · 0 42 197 0 · 0 15 175 0 · 0 13 216 0 · 0 14 257 0 · 0 19 137 0 · 0 12 361 0 · 0 13 204 0
· 0 10 217 0 · 0 12 169 1 · 1 49 27 1 · 0 6 184 1 · 0 5 130 1 · 0 17 96 1 · 1 11 101 1 · 1 21 98 1 · 0 5 35 1
· 1 19 102 1 · 0 33 85 1"""


@pytest.fixture(autouse=True)
def _few_threads():
    """Vectors here are short: threads would only wait for each other."""
    with threadpool_limits(1):
        yield


def tumours():
    table = np.array([[float(cell) for cell in row.split()] for row in TUMOURS.split("·")])
    return table[:, :3] / [1, 1, 100], table[:, 3].astype(int)


def theirs(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Theirs(tol=1e-12, max_iter=100_000, **settings).fit(X, y)


def test_separated_tumours_have_the_published_estimates_of_firth():
    """Coefficients as R's logistf prints them; in the paper, to two digits, with these errors."""
    X, y = tumours()
    assert X.shape == (79, 3)
    found = LogisticRegression("jeffreys").fit(X, y).summary()
    np.testing.assert_allclose(found.coef[0], [3.77455951, 2.92927330, -0.03475175, -2.60416387], atol=1e-6)
    np.testing.assert_allclose(found.std_error[0], [1.49, 1.55, 0.04, 0.78], atol=0.0051)
    with pytest.warns(UserWarning, match=r"quasi-complete separation: column `x0` alone"):
        LogisticRegression(C=np.inf).fit(X, y)


def test_heart_disease_has_the_z_scores_of_table_4_2_and_the_chosen_columns_table_4_3(shared):
    """Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 2nd edition, pp. 122 and 124."""
    with shared("saheart/saheart.csv").open() as file:
        rows = list(csv.DictReader(file))
    y = np.array([int(row["chd"]) for row in rows])

    def summary(columns):
        X = [[float(row[c] == "Present") if c == "famhist" else float(row[c]) for c in columns] for row in rows]
        return LogisticRegression(C=np.inf, tol=1e-10).fit(np.array(X), y).summary()

    whole = summary(["sbp", "tobacco", "ldl", "famhist", "obesity", "alcohol", "age"])
    z = [-4.285, 1.023, 3.034, 3.219, 4.178, -1.187, 0.136, 4.184]
    np.testing.assert_allclose(whole.z[0], z, atol=4e-3)  # theirs stopped a little earlier
    chosen = summary(["tobacco", "ldl", "famhist", "age"])
    np.testing.assert_allclose(chosen.coef[0], [-4.204, 0.081, 0.168, 0.924, 0.044], atol=5.1e-4)
    np.testing.assert_allclose(chosen.std_error[0], [0.498, 0.026, 0.054, 0.223, 0.010], atol=5.1e-4)
    np.testing.assert_allclose(chosen.z[0], [-8.45, 3.16, 3.09, 4.14, 4.52], atol=1.5e-2)


def adult(path, every: int):
    """(standardised numbers and indicators of levels, without first and rare ones; income)."""
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))[::every]
    y = np.array([int(row["income"] == ">50K") for row in rows])
    columns = []
    for name in rows[0]:
        if name in ("income", "split", "education-num"):  # the last says what `education` says
            continue
        cells = np.array([row[name] for row in rows])
        if name in ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week"):
            numbers = cells.astype(float)
            columns.append((numbers - numbers.mean()) / numbers.std())
            continue
        for level in np.unique(cells)[1:]:
            of = y[cells == level]
            if 5 <= of.sum() <= len(of) - 5:
                columns.append((cells == level).astype(float))
    return np.column_stack(columns), y


def agrees_on_adults(X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import statsmodels.api as sm
    rank = np.linalg.matrix_rank(np.column_stack([np.ones(len(X)), X]))
    assert rank == X.shape[1] + 1
    for form in (X, sparse.csr_array(X)):
        got = LogisticRegression(tol=1e-11, max_iter=5000).fit(form, y)
        want = theirs(X, y, solver="newton-cholesky")
        np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(got.intercept_, want.intercept_, rtol=1e-6, atol=1e-6)
    free = LogisticRegression(C=np.inf, tol=1e-11).fit(X, y).summary()
    fit = sm.Logit(y, np.column_stack([np.ones(len(X)), X])).fit(disp=0, method="newton", tol=1e-12)
    np.testing.assert_allclose(free.coef[0], fit.params, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(free.std_error[0], fit.bse, rtol=1e-6, atol=1e-6)
    assert free.log_likelihood == pytest.approx(fit.llf, abs=1e-6)


def test_adult_one_hot_as_scikit_learn_and_statsmodels(shared):
    pytest.importorskip("statsmodels")
    agrees_on_adults(*adult(shared("adult/adult.csv.gz"), every=10))


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_film_reviews_as_scikit_learn(shared, C):
    with lzma.open(shared("movie_polarity/movie_polarity.jsonl.xz"), "rt") as file:
        rows = [json.loads(line) for line in file][::4]
    words = {word: j for j, word in enumerate(sorted({word for row in rows for word in row["text"].split()}))}
    cells = [(i, words[word]) for i, row in enumerate(rows) for word in set(row["text"].split())]
    at = tuple(np.array(cells).T)
    X = sparse.csr_array((np.ones(len(cells)), at), shape=(len(rows), len(words)))
    y = np.array([row["label"] for row in rows])
    want = theirs(X, y, C=C, solver="newton-cg")
    for solver in ("auto", "newton-cg", "lbfgs"):
        got = LogisticRegression(C=C, solver=solver, tol=1e-10, max_iter=5000).fit(X, y)
        np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(got.intercept_, want.intercept_, rtol=1e-6, atol=1e-6)
