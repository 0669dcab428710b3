"""Models that need several passes, on data in pieces: what `fit` makes in memory, however the rows are cut."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from deciban import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from deciban.engines import stream
from deciban.errors import DataError, NotAdditiveError, SupportError
from deciban.logistic import minimisation, objective
from deciban.logistic.objective import BatchObjective, penalties
from deciban.logistic.problem import tally_classes
from deciban.rows.readers import ArrayReader
from deciban.rows.rows import BatchJob, BatchRows, ColumnRoles


def rows(n: int, d: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, pa.Table]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10, d) + rng.normal(size=d)
    y = (X @ rng.normal(size=(d, k)) / 5 + rng.gumbel(size=(n, k))).argmax(axis=1)
    return X, y, pa.table({**{f"c{j}": X[:, j] for j in range(d)}, "w": rng.uniform(0, 2, n), "label": y})


def cut(table: pa.Table, size: int) -> pa.Table:
    parts = [table.slice(start, size) for start in range(0, len(table), size)]
    return pa.Table.from_batches([batch for part in parts for batch in part.to_batches()])


@pytest.mark.parametrize(
    ("d", "k", "settings"),
    [
        (5, 2, {}),
        (5, 4, {}),
        (5, 2, {"C": np.inf}),
        (5, 3, {"class_weight": "balanced"}),
        (5, 2, {"class_weight": {0: 1.0, 1: 3.0}, "fit_intercept": False}),
        (5, 2, {"solver": "newton-cg", "tol": 1e-9}),
        (30, 20, {"tol": 1e-9}),  # more parameters than Newton's method is used for
        (12, 2, {"l1_ratio": 1.0, "C": 0.02, "tol": 1e-9}),
        (12, 2, {"l1_ratio": 0.5, "C": 0.02, "tol": 1e-9}),
    ],
    ids=str,
)
def test_the_minimum_is_that_of_fit(d, k, settings):
    X, y, table = rows(3000, d, k)
    names = [f"c{j}" for j in range(d)]
    far = LogisticRegression(**settings).fit_on(cut(table, 700), features=names)
    near = LogisticRegression(**{**settings, "tol": 1e-12, "max_iter": 1000}).fit(X, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=0, atol=1e-6 * np.abs(near.coef_).max())
    answers = far.predict_on(table.select(names)).select([f"p_{c}" for c in range(k)])
    np.testing.assert_allclose(np.column_stack(answers.columns), near.predict_proba(X), atol=1e-6)
    again = LogisticRegression(**settings).fit_on(cut(table, 111), features=names)
    np.testing.assert_allclose(again.coef_, far.coef_, rtol=0, atol=1e-8 * np.abs(far.coef_).max())


def test_weights_count_like_repetitions():
    X, y, table = rows(500, 3, 2)
    far = LogisticRegression().fit_on(table, features=["c0", "c1", "c2"], sample_weight="w")
    near = LogisticRegression(tol=1e-10).fit(X, y, table["w"].to_numpy())
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-7)
    np.testing.assert_allclose(far.class_count_, near.class_count_)


def test_odd_batches_are_no_matter():
    X, y, table = rows(600, 3, 3)
    at = np.argsort(y, kind="stable")  # batches that lack classes
    table = table.take(at).drop_columns("w")
    empty = table.slice(0, 0)
    other = table.slice(300).select(["label", "c2", "c0", "c1"])
    far = LogisticRegression().fit_on([table.slice(0, 300), empty, other])
    near = LogisticRegression(tol=1e-10).fit(X[at], y[at])
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-6, atol=1e-8)


def test_a_missing_cell_is_named_with_its_row():
    _, _, table = rows(50, 2, 2)
    values = table["c1"].to_pylist()
    values[33] = None
    table = table.set_column(1, "c1", pa.array(values))
    with pytest.raises(SupportError, match="row 33, column `c1`"):
        LogisticRegression().fit_on(cut(table, 10))


@pytest.mark.parametrize("settings", [{"C": "auto"}, {"penalty": "jeffreys"}, {"solver": "sgd"}], ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_needs_all_rows_reads_them_into_memory(settings, monkeypatch):
    x, y, table = rows(50, 2, 2)
    model = LogisticRegression(**settings)
    near, far = clone(model).fit(x, y), clone(model).fit_on(cut(table, 7), features=["c0", "c1"])
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-9)
    assert far.feature_names_in_.tolist() == ["c0", "c1"]
    monkeypatch.setattr("deciban.rows.rows.LARGEST", 20)
    with pytest.raises(NotAdditiveError, match="all rows in memory"):
        model.fit_on(cut(table, 7), features=["c0", "c1"])


def test_one_class_and_no_rows_are_refused():
    _, _, table = rows(50, 2, 2)
    same = table.set_column(table.schema.get_field_index("label"), "label", pa.array([1] * 50))
    with pytest.raises(DataError, match="at least 2 classes"):
        LogisticRegression().fit_on(same)
    with pytest.raises(DataError, match="no rows"):
        LogisticRegression().fit_on(table.slice(0, 0))


def test_a_failed_fit_changes_nothing():
    _, _, table = rows(50, 2, 2)
    model = LogisticRegression().fit_on(table)
    kept = model.coef_.copy()
    with pytest.raises(DataError):
        model.fit_on(table.slice(0, 0))
    assert (model.coef_ == kept).all()


def holes(table: pa.Table, share: float, d: int) -> tuple[np.ndarray, pa.Table]:
    X = np.column_stack([table[f"c{j}"].to_numpy() for j in range(d)])
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    for j in range(d):
        table = table.set_column(j, f"c{j}", pa.array(X[:, j], from_pandas=True))
    return X, table.drop_columns("w")


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
        QuadraticDiscriminantAnalysis(),
        RegularizedDiscriminantAnalysis(blend=0.3),
    ],
    ids=str,
)
def test_missing_cells_are_filled_in_wherever_the_rows_lie(model):
    _, y, table = rows(400, 4, 3)
    X, table = holes(table, 0.15, 4)
    near = clone(model).fit(X, y)
    far = clone(model).fit_on(cut(table, 57))
    assert far.n_iter_ == near.n_iter_ > 1
    answers = far.predict_on(table.drop_columns("label"))
    got = np.column_stack([answers[f"p_{c}"] for c in range(3)])
    np.testing.assert_allclose(got, near.predict_proba(X), atol=1e-7)


def test_rows_that_come_once_are_learned_from_without_those_that_miss_cells():
    _, _, table = rows(400, 3, 2)
    _, table = holes(table, 0.05, 3)
    with pytest.warns(UserWarning, match="have missing cells"):
        LinearDiscriminantAnalysis().fit_on(iter([table.slice(0, 200), table.slice(200)]))


def test_rows_that_come_once_are_too_few_for_several_passes():
    _, _, table = rows(60, 2, 2)
    with pytest.raises(DataError, match="can be read only once"):
        LogisticRegression().fit_on(iter([table]))


def test_a_column_without_cells_is_named():
    _, _, table = rows(60, 2, 2)
    table = table.drop_columns("w").set_column(1, "c1", pa.array([None] * 60, pa.float64()))
    with pytest.raises(DataError, match="column `c1` is missing in every row"):
        LinearDiscriminantAnalysis().fit_on(table)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", [GaussianNB, MixedNB, BernoulliNB, CategoricalNB])
def test_weights_of_columns_do_not_hang_on_how_the_rows_are_cut(kind, k):
    X, y, table = rows(900, 4, k)
    table = table.drop_columns("w")
    names = table.schema.names[:4]
    if kind is CategoricalNB:
        X = np.clip(X, -2, 2).astype(np.int64) + 2
        table = pa.table({**{name: X[:, j] for j, name in enumerate(names)}, "label": y})
    whole = kind(weights="discriminative").fit_on(table)
    parts = kind(weights="discriminative").fit_on(cut(table, 130))
    np.testing.assert_allclose(parts.class_feature_weights_, whole.class_feature_weights_, atol=1e-7)
    near = kind(weights="discriminative").fit(X, y)
    answers = whole.predict_on(table.select(names))
    far = np.column_stack([answers[f"p_{c}"] for c in range(k)])
    loss = [-np.log(p[np.arange(len(y)), y]).mean() for p in (far, near.predict_proba(X))]
    assert loss[0] < loss[1] + 0.01  # other folds, the same quality


def test_weights_of_columns_of_texts_with_gaps():
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[rng.integers(0, 2, 400)]
    sky = np.where(rng.random(400) < 0.7, y, "no").astype(object)
    sky[::17] = None
    table = pa.table({"sky": sky, "echo": sky, "size": rng.normal(size=400), "label": y})
    whole = MixedNB(weights="discriminative").fit_on(table)
    parts = MixedNB(weights="discriminative").fit_on(cut(table, 57))
    np.testing.assert_allclose(parts.feature_weights_, whole.feature_weights_, atol=1e-7)
    assert whole.feature_weights_[0] < 0.9  # two that say the same


def test_rows_in_columns_order_have_the_same_weighted_posterior():
    X, y, _ = rows(300, 4, 3)
    model = GaussianNB(weights="discriminative").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(np.asfortranarray(X)), model.predict_proba(X), atol=1e-12)


def test_a_checkpoint_of_several_passes_is_refused(tmp_path):
    with pytest.raises(DataError, match="several passes"):
        LogisticRegression().fit_on(rows(60, 2, 2)[2], checkpoint=tmp_path / "half")


def batch_rows(table: pa.Table, features: list[str]) -> BatchRows:
    roles = ColumnRoles(tuple(features), "label")
    reader = ArrayReader("LogisticRegression").of_columns(roles)
    return BatchRows(BatchJob(stream, table, roles), reader, ("LogisticRegression", {}))


def test_rows_that_recur_are_one_of_the_sample_with_all_their_weight():
    rng = np.random.default_rng(0)
    kinds = rng.normal(size=(80, 3))
    at = rng.integers(0, 80, 5000)
    table = pa.table({**{f"c{j}": kinds[at, j] for j in range(3)}, "label": rng.integers(0, 2, 5000)})
    found = []
    for size in (5000, 700, 61):
        discovered, sums = batch_rows(cut(table, size), ["c0", "c1", "c2"]).discover(tally_classes, 64)
        np.testing.assert_array_equal(sums.n, np.bincount(table["label"].to_numpy()))
        ridge, lasso = penalties(3)
        found.append(BatchObjective.of(discovered, ridge, lasso, np.array([1.0, 2.0]), 5000.0).sample.rows)
    for one in found:
        assert 80 <= one.n <= 81  # a quarter more; a kind of row is in it with both of its classes or not at all
        for row, label, weight in zip(one.x.values, one.y, one.w, strict=True):
            same = (kinds[at] == row).all(axis=1) & (table["label"].to_numpy() == label)
            assert weight == (1 + label) * same.sum()  # times the weight of its class
        np.testing.assert_array_equal(one.x.values, found[0].x.values)


def test_the_start_is_no_worse_where_rows_recur(monkeypatch):
    monkeypatch.setattr(objective, "CELLS", 1000 * 8)
    _, _, table = rows(2000, 8, 2)
    names = [f"c{j}" for j in range(8)]
    steps = {
        times: LogisticRegression(C=1.0 / times).fit_on(pa.concat_tables([table] * times), features=names).n_iter_[0]
        for times in (1, 40)
    }
    assert steps[40] <= steps[1] + 1


def test_a_sample_that_lacks_the_rows_that_matter_does_not_stop_wide_data(monkeypatch):
    monkeypatch.setattr(minimisation, "NARROW", 0)
    monkeypatch.setattr(objective, "CELLS", 1000 * 6)
    rng = np.random.default_rng(3)
    X = rng.standard_t(1.2, size=(20_000, 6))
    y = rng.random(20_000) < 1 / (1 + np.exp(-np.clip(X, -5, 5) @ rng.normal(size=6)))
    far = LogisticRegression(tol=1e-8).fit_on(pa.table({**{f"c{j}": X[:, j] for j in range(6)}, "label": y}))
    near = LogisticRegression(solver="newton-cholesky", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6 * np.abs(near.coef_).max())


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("solver", ["auto", "lbfgs", "coordinate"])
def test_a_missing_cell_is_an_error_in_a_row_of_weight_0_too(far, solver):
    X, y, table = rows(40, 2, 2)
    X[3, 1], w = np.nan, np.ones(40)
    w[3] = 0.0
    table = table.set_column(1, "c1", pa.array(X[:, 1])).set_column(2, "w", pa.array(w))
    model = LogisticRegression(solver=solver)
    with pytest.raises(SupportError, match=r"NaN .*row 3, column"):
        _ = model.fit_on(cut(table, 7), sample_weight="w") if far else model.fit(X, y, w)


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("solver", ["auto", "lbfgs", "coordinate"])
def test_cells_whose_squares_overflow_are_an_error(far, solver):
    X, y, table = rows(40, 2, 2)
    X[3, 1] = 1e300
    table = table.set_column(1, "c1", pa.array(X[:, 1])).drop_columns("w")
    model = LogisticRegression(solver=solver)
    with pytest.raises(SupportError, match=r"magnitudes up to 1e\+300"):
        _ = model.fit_on(cut(table, 7)) if far else model.fit(X, y)


@pytest.mark.parametrize("settings", [{}, {"l1_ratio": 1.0, "C": 0.1}, {"solver": "lbfgs"}], ids=str)
def test_a_warm_start_goes_on_from_the_last_fit_wherever_the_rows_lie(settings):
    X, y, table = rows(400, 4, 3)
    table = cut(table.drop_columns("w"), 90)
    model = LogisticRegression(warm_start=True, tol=1e-8, max_iter=1000, **settings).fit(X, y)
    coef = model.coef_.copy()
    assert model.fit_on(table).n_iter_[0] <= 2
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-6 * np.abs(coef).max())
    with pytest.warns(ConvergenceWarning):
        model.set_params(max_iter=0, C=1e-3).fit_on(table)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-6 * np.abs(coef).max())
    with pytest.raises(DataError, match="warm_start"):
        model.fit_on(table, features=["c0", "c1"])


@pytest.mark.parametrize("settings", [{}, {"class_weight": "balanced"}, {"class_weight": {0: 2.0}}], ids=str)
@pytest.mark.parametrize("solver", ["auto", "liblinear"])
def test_attributes_are_those_of_fit(settings, solver):
    _, _, table = rows(400, 3, 2)
    frame, w = table.select(["c0", "c1", "c2"]), table["w"].to_numpy()
    model = LogisticRegression(solver=solver, intercept_scaling=3.0, tol=1e-10, **settings)
    near = clone(model).fit(frame, table["label"].to_pandas().rename("label"), w)
    far = clone(model).fit_on(cut(table, 90), sample_weight="w")
    assert {*vars(near)} - {*vars(far)} == {"_observed"}  # the training rows
    for name in ("coef_", "intercept_", "class_count_", "_means"):
        np.testing.assert_allclose(vars(far)[name], vars(near)[name], rtol=1e-10)
    assert (far.C_, far.n_features_in_, far.target_name_) == (near.C_, 3, "label")
    assert far.feature_names_in_.tolist() == near.feature_names_in_.tolist()


def test_a_chosen_strength_has_a_path_and_a_summary_after_fit_on():
    _, _, table = rows(60, 2, 2)
    model = LogisticRegression(C="auto").fit_on(cut(table.drop_columns("w"), 7))
    assert model.path_.columns == ("c0", "c1")
    assert model.summary().std_error.shape == (1, 3)
    model.set_params(C=1.0).fit_on(cut(table.drop_columns("w"), 7))
    assert "path_" not in vars(model)
    with pytest.raises(DataError, match=r"(?s)the training rows are not available.*summary\(X, y\)"):
        model.summary()


@pytest.mark.parametrize("far", [False, True])
def test_warnings_name_the_line_of_the_caller(far):
    X, y, table = rows(400, 4, 3)
    model = LogisticRegression(max_iter=1, solver="gradient")
    with pytest.warns(ConvergenceWarning) as found:
        _ = model.fit_on(table.drop_columns("w")) if far else model.fit(X, y)
    assert found[0].filename == __file__


def test_a_step_of_newtons_method_is_one_pass(monkeypatch):
    _, _, table = rows(3000, 5, 2)
    passes = []
    total = stream.total
    monkeypatch.setattr(stream, "total", lambda *args, **more: (passes.append(1), total(*args, **more))[1])
    model = LogisticRegression().fit_on(cut(table.drop_columns("w"), 700))
    assert model.n_iter_[0] <= 2  # from the minimum of the sample
    assert len(passes) <= 2 + model.n_iter_[0]  # one pass finds the classes, one is at the starting point


def test_rows_of_no_weight_leave_the_means_of_earlier_ones():
    X, y, _ = rows(60, 3, 2)
    model = LogisticRegression().partial_fit(X, y, classes=[0, 1])
    model.set_params(class_weight={0: 0.0}).partial_fit(100 + X[y == 0], y[y == 0])
    np.testing.assert_allclose(model._means, X.mean(axis=0))
