"""Sums of reals: what was learned and forgotten leaves no trace, however far off or however cut into parts."""

import tracemalloc
from datetime import datetime
from fractions import Fraction

import numpy as np
import pytest

import deciban
from deciban import GaussianNB
from deciban.errors import ForgetError

from ..support.forgery import forge, read_parts


def bits(model: GaussianNB) -> bytes:
    return model.theta_.tobytes() + model.var_.tobytes()


def test_e1_learning_and_forgetting_changes_no_bit():
    rng = np.random.default_rng(0)
    for _ in range(200):
        X, Z = rng.normal(size=(30, 3)), rng.normal(size=(5, 3))
        y, z = np.arange(30) % 2, np.arange(5) % 2
        model = GaussianNB().fit(X, y)
        before = bits(model)
        assert bits(model.partial_fit(Z, z).forget(Z, z)) == before


def test_e2_one_far_row_leaves_nothing():
    model = GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    before, proba = bits(model), model.predict_proba([[0.6]])
    model.partial_fit([[1e12]], [0]).forget([[1e12]], [0])
    assert bits(model) == before
    np.testing.assert_array_equal(model.predict_proba([[0.6]]), proba)


def test_e2_leaving_a_far_row_out_is_a_refit():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0], [1e12]]), np.array([0, 0, 1, 1, 0])
    for model in (GaussianNB(), GaussianNB(variances="shared"), GaussianNB(ddof=1)):
        left = model.fit(X, y).leave_one_out(X, y)
        for i in range(len(y)):
            refit = type(model)(**model.get_params()).fit(np.delete(X, i, 0), np.delete(y, i))
            np.testing.assert_allclose(left[i], refit.predict_log_proba(X[i : i + 1])[0], rtol=1e-9, atol=1e-9)


def test_e3_far_from_zero_probabilities_stay():
    rng = np.random.default_rng(0)
    X, Z = 1e9 + 1e-3 * rng.normal(size=(200, 4)), 1e9 + 1e-3 * rng.normal(size=(100, 4))
    y, z = np.arange(200) % 2, np.arange(100) % 2
    X[y == 1] += 1e-3
    model = GaussianNB().fit(X, y)
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.partial_fit(Z, z).forget(Z, z).predict_proba(X), before)


def test_e4_merged_parts_have_the_variance_of_one_fit():
    x = np.round((1e15 + 0.1 * np.random.default_rng(0).normal(size=5000)) * 8) / 8
    y = np.arange(5000) % 2
    cells = [Fraction(v) for v in x[y == 0]]
    mean = sum(cells) / len(cells)
    true = float(sum((v - mean) ** 2 for v in cells) / len(cells))

    def fit(start: int, stop: int) -> GaussianNB:
        return GaussianNB(var_smoothing=0).fit(x[start:stop, None], y[start:stop])

    whole, merged = fit(0, 5000), deciban.merge(fit(i, i + 100) for i in range(0, 5000, 100))
    assert abs(whole.var_[0, 0] / true - 1) < 1e-15
    assert bits(merged) == bits(whole)


def test_e5_order_and_parts_are_free():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 3)), rng.integers(0, 2, 20_000)
    order = rng.permutation(20_000)
    whole, other, parts = GaussianNB().fit(X, y), GaussianNB().fit(X[order], y[order]), GaussianNB()
    for i in range(0, 20_000, 1000):
        parts.partial_fit(X[i : i + 1000], y[i : i + 1000], classes=[0, 1])
    assert bits(other) == bits(whole)
    assert bits(parts) == bits(whole)


@pytest.mark.parametrize("rows", [[[2e8], [1e-8]], [[-1.0], [-2.0]], [[7.0], [0.3]]])
def test_sums_that_no_rows_have_are_refused(rows):
    """Σ 1 · Σ x² < (Σ x)², or sums of no rows that are not 0: without tolerance."""
    model = GaussianNB().fit([[1e8], [1e8 + 1], [5.0], [6.0]], [0, 0, 1, 1])
    with pytest.raises(ForgetError):
        model.forget(rows, [0, 0])
    with pytest.raises(ForgetError):
        model.forget([[5.5], [5.5]], [1, 1])


DISCRIMINANTS = [deciban.LinearDiscriminantAnalysis, deciban.QuadraticDiscriminantAnalysis]
ALL = [*DISCRIMINANTS, deciban.RegularizedDiscriminantAnalysis, deciban.FisherDiscriminant]
DATE = datetime(2020, 1, 1)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("far", [64.0, 1e6, 1e12])
@pytest.mark.parametrize("together", [False, True])
def test_e2_one_far_row_leaves_1e_12_in_products_or_a_warning(kind, far, together):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 2
    row = far * np.array([[1.0, 0.5, -1.0]])
    before = kind().fit(X, y).predict_proba(X)
    model = kind().fit(np.vstack([row, X]), [0, *y]) if together else kind().fit(X, y).partial_fit(row, [0])
    if far > 64:
        with pytest.warns(UserWarning, match="exact=True"):
            model.forget(row, [0])
    if far == 64:
        model.forget(row, [0])
        np.testing.assert_allclose(model.predict_proba(X), before, rtol=1e-11 if together else 1e-12, atol=1e-15)
    elif not together:
        np.testing.assert_allclose(model.predict_proba(X), before, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("only", [False, True])
def test_a_level_that_a_class_has_no_more_is_not_far_off(kind, only):
    pd = pytest.importorskip("pandas")
    rng, y = np.random.default_rng(0), np.arange(100) % 2
    port = np.where((y == 1) & (rng.random(100) < 0.5) & (not only), "Q", rng.choice(["C", "S"], 100))
    port[0] = "Q"
    X = pd.DataFrame({"port": port, "age": rng.normal(size=100)})
    kind().fit(X, y).forget(X[:1], y[:1])  # warns of nothing


@pytest.mark.parametrize("kind", ALL)
def test_whole_numbers_warn_of_a_far_row_too(kind):
    X, y = np.array([[-1.0, 0], [1, 0], [0, 1], [0, -1], [4, 4], [6, 5], [5, 6]]), [0, 0, 0, 0, 1, 1, 1]
    model = kind().fit(np.vstack([X, [[1e12, 1.0]]]), [*y, 0])
    with pytest.warns(UserWarning, match="exact=True"):
        model.forget([[1e12, 1.0]], [0])


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("far", [64.0, 1e12, 1e150])
def test_e2_one_far_row_leaves_no_bit_with_exact_products(kind, far):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 2
    row = far * np.array([[1.0, 0.5, -1.0]])
    model = kind(exact=True).fit(X, y)
    before, proba = deciban.dumps(model, date=DATE), model.predict_proba(X)
    together = kind(exact=True).fit(np.vstack([row, X]), [0, *y])
    for other in (model.partial_fit(row, [0]).forget(row, [0]), together.forget(row, [0])):
        assert deciban.dumps(other, date=DATE) == before
        np.testing.assert_array_equal(other.predict_proba(X), proba)


@pytest.mark.parametrize("kind", ALL)
def test_e2_leaving_a_far_row_out_is_a_refit_with_exact_products(kind):
    rng = np.random.default_rng(1)
    X, y = np.vstack([rng.normal(size=(12, 2)), [[1e12, -1e12]]]), np.array([0, 1] * 6 + [0])
    left = kind(exact=True).fit(X, y).leave_one_out(X, y)
    for i in range(len(y)):
        refit = kind(exact=True).fit(np.delete(X, i, 0), np.delete(y, i))
        np.testing.assert_allclose(left[i], refit.predict_log_proba(X[i : i + 1])[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ALL)
def test_e3_e4_far_from_zero_and_merged_no_bit_moves_with_exact_products(kind):
    rng = np.random.default_rng(0)
    X, Z = 1e9 + 1e-3 * rng.normal(size=(200, 4)), 1e9 + 1e-3 * rng.normal(size=(100, 4))
    y, z = np.arange(200) % 2, np.arange(100) % 2
    model = kind(exact=True).fit(X, y)
    before = deciban.dumps(model, date=DATE)
    assert deciban.dumps(model.partial_fit(Z, z).forget(Z, z), date=DATE) == before
    x = 1e15 + 0.1 * rng.normal(size=(1000, 2))
    y = np.arange(1000) % 2
    whole = kind(exact=True).fit(x, y)
    merged = deciban.merge(kind(exact=True).fit(x[i : i + 20], y[i : i + 20]) for i in range(0, 1000, 20))
    assert deciban.dumps(merged, date=DATE) == deciban.dumps(whole, date=DATE)


def test_e4_covariances_of_exact_products_are_those_of_fractions():
    x = 1e15 + 0.1 * np.random.default_rng(0).normal(size=(400, 2))
    model = deciban.QuadraticDiscriminantAnalysis(exact=True, tol=0).fit(x, np.arange(400) % 2)
    rows = [[Fraction(v) for v in row] for row in x[::2].tolist()]
    means = [sum(column) / 200 for column in zip(*rows, strict=True)]
    for i, j in ((0, 0), (0, 1), (1, 1)):
        true = float(sum((row[i] - means[i]) * (row[j] - means[j]) for row in rows) / 200)
        assert model.covariance_[0][i, j] == pytest.approx(true, rel=3e-16, abs=0)


@pytest.mark.parametrize("kind", DISCRIMINANTS)
def test_e3_far_from_zero_discriminants_stay(kind):
    rng = np.random.default_rng(0)
    X, Z = 1e9 + 1e-3 * rng.normal(size=(200, 4)), 1e9 + 1e-3 * rng.normal(size=(100, 4))
    y, z = np.arange(200) % 2, np.arange(100) % 2
    X[y == 1] += 1e-3
    model = kind().fit(X, y)
    before = model.predict_proba(X)
    after = model.partial_fit(Z, z).forget(Z, z).predict_proba(X)
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", DISCRIMINANTS)
def test_e4_merged_parts_have_the_covariances_of_one_fit(kind):
    x = np.round((1e15 + 0.1 * np.random.default_rng(0).normal(size=(5000, 2))) * 8) / 8
    y = np.arange(5000) % 2
    whole = kind(store_covariance=True).fit(x, y)
    merged = deciban.merge(kind(store_covariance=True).fit(x[i : i + 100], y[i : i + 100]) for i in range(0, 5000, 100))
    np.testing.assert_array_equal(merged.means_, whole.means_)
    for a, b in zip(np.atleast_3d(merged.covariance_), np.atleast_3d(whole.covariance_), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=0)


def limbs_at(metadata: dict) -> list[list]:
    """The nodes [k, d, name of the array] of exact sums."""
    found = []

    def visit(node: object) -> None:
        if isinstance(node, dict) and isinstance(node.get("exact"), list):  # else the setting
            found.append(node["exact"])
        for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            visit(one)

    visit(metadata)
    return found


LIMBS = {
    "low far below": lambda node, a: a.__setitem__(0, -(2**63)),
    "low far above": lambda node, a: a.__setitem__(0, 2**63 - 1),
    "low at the end": lambda node, a: a.__setitem__(0, 1 << 20),
    "low at the start": lambda node, a: a.__setitem__(0, -(1 << 20)),
    "low 40": lambda node, a: a.__setitem__(0, 40),
    "low -40": lambda node, a: a.__setitem__(0, -40),
    "many limbs": lambda node, a: a.__setitem__(1, 2**40),
    "minus limbs": lambda node, a: a.__setitem__(1, -1),
    "no limbs": lambda node, a: a.__setitem__(1, 0),
    "zeros": lambda node, a: a.__setitem__(slice(2, None), 0),
    "signs": lambda node, a: a.__setitem__(slice(2, None), -1),
    "large": lambda node, a: a.__setitem__(slice(2, None), 2**63 - 1),
    "many classes": lambda node, a: node.__setitem__(0, 2**40),
    "many columns": lambda node, a: node.__setitem__(1, 2**40),
    "no columns": lambda node, a: node.__setitem__(1, 0),
    "classes of none": lambda node, a: (node.__setitem__(0, 2**62), node.__setitem__(1, 0)),
    "a fraction of a class": lambda node, a: node.__setitem__(0, 1.5),
    "truth": lambda node, a: node.__setitem__(0, True),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("model", [deciban.GaussianNB(), deciban.QuadraticDiscriminantAnalysis(exact=True)], ids=repr)
@pytest.mark.parametrize("name", LIMBS)
def test_forged_limbs_are_refused_or_are_sums(name, model, tmp_path):
    path = tmp_path / "m.deciban"
    rng = np.random.default_rng(0)
    deciban.save(model.fit(rng.normal(size=(20, 2)), np.arange(20) % 2), path)
    whole, many = path.read_bytes(), len(limbs_at(read_parts(path)[0]))
    assert many >= 2
    for which in range(many):
        path.write_bytes(whole)

        def change(metadata, arrays, which=which):
            node = limbs_at(metadata)[which]
            LIMBS[name](node, arrays[node[2]])

        forge(path, change)
        tracemalloc.start()
        try:
            model = deciban.load(path)
            assert np.isfinite(model.predict_proba(rng.normal(size=(3, 2)))).all()
        except deciban.errors.ModelFileError:
            pass
        finally:
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert most < 2e7
