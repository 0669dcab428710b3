"""Trees among columns against pgmpy and networkx: the same edges, the same tables, the same posteriors."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest

from deciban import TreeAugmentedNB

SETS = {
    "house_votes_84/house_votes_84.csv": "party",
    "soybean/soybean.csv": "class",
    "mushroom/mushroom.csv.gz": "class",
}
LABEL = "class of the row"
every_set = pytest.mark.parametrize("file", SETS)
noisy = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def pgmpy():
    """pgmpy, without what it says beside; a test that asks for it is skipped where it is not there."""
    found = pytest.importorskip("pgmpy")
    logging.disable(logging.WARNING)
    yield found
    logging.disable(logging.NOTSET)


def table(path, target: str, rows: int | None = None) -> tuple[pd.DataFrame, np.ndarray]:
    """Texts, with "?" for what is missing, as pgmpy knows no gaps; `rows` of them, evenly spaced."""
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=str).drop(columns="split", errors="ignore")
    frame = frame.fillna("?")
    if rows is not None:
        frame = frame.iloc[np.linspace(0, len(frame) - 1, rows).astype(int)].reset_index(drop=True)
    return frame.drop(columns=target), frame[target].to_numpy()


def drawn(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    n, d, k = 150, 4 + seed % 3, 2 + seed % 2
    y = rng.integers(0, k, n)
    cells = [y]
    for j in range(d):
        cells.append((cells[j] + (rng.random(n) < 0.5) * rng.integers(0, 3, n)) % (2 + j % 2))
    return pd.DataFrame({f"x{j}": [f"l{c}" for c in cells[j + 1]] for j in range(d)}), np.array([f"c{c}" for c in y])


def network(model: TreeAugmentedNB, X: pd.DataFrame, y: np.ndarray):
    """pgmpy's network of the model's edges, +1 in every table."""
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator

    edges = [(parent, name) for name, parent in model.parents_.items() if parent is not None]
    plus_one = DiscreteBayesianEstimator(prior_type="dirichlet", pseudo_counts=1)
    return DiscreteBayesianNetwork([*edges, *((LABEL, name) for name in X)]).fit(
        X.assign(**{LABEL: y}), estimator=plus_one
    )


def assert_same_answers(model: TreeAugmentedNB, net, X: pd.DataFrame, gaps: bool) -> None:
    from pgmpy.inference import VariableElimination

    asked = VariableElimination(net)
    prior = np.array([net.get_cpds(LABEL).get_value(**{LABEL: label}) for label in model.classes_])
    rows = X.iloc[np.linspace(0, len(X) - 1, 3).astype(int)].astype(object)
    if gaps:
        rows = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.3)
    got = model.predict_proba(rows, priors=prior / prior.sum())
    for i, row in enumerate(rows.to_dict("records")):
        evidence = {name: cell for name, cell in row.items() if isinstance(cell, str)}
        answer = asked.query([LABEL], evidence=evidence, show_progress=False)
        want = [answer.get_value(**{LABEL: label}) for label in model.classes_]
        np.testing.assert_allclose(got[i], want, rtol=0, atol=1e-9)


def assert_same_tables(model: TreeAugmentedNB, net) -> None:
    """θ(x | class, parent) of every column, cell by cell."""
    levels, params = model.levels_, model._fitted_state().params.params
    for j, (name, parent) in enumerate(model.parents_.items()):
        cpd = net.get_cpds(name)
        for c, label in enumerate(model.classes_):
            for a, above in enumerate(levels[parent] if parent else [None]):
                given = {LABEL: label} | ({parent: above} if parent else {})
                want = [cpd.get_value(**{name: level}, **given) for level in levels[name]]
                np.testing.assert_allclose(np.exp(params.tables[j][c, a]), want, rtol=1e-9)


def assert_same_tree(model: TreeAugmentedNB, X: pd.DataFrame, y: np.ndarray) -> None:
    from pgmpy.estimators import TreeSearch

    root = next(name for name, parent in model.parents_.items() if parent is None)
    found = TreeSearch(X.assign(**{LABEL: y}), root_node=root, n_jobs=1).estimate("tan", LABEL, show_progress=False)
    theirs = {edge for edge in found.edges() if edge[0] != LABEL}
    mine = {(parent, name) for name, parent in model.parents_.items() if parent is not None}
    reached = {root, *(name for edge in theirs for name in edge)}  # pgmpy drops what hangs on another root
    assert {edge for edge in mine if edge[1] in reached} == theirs


@noisy
@pytest.mark.parametrize("seed", range(20))
def test_random_tables_have_pgmpy_s_tree_and_posteriors(seed, pgmpy):
    X, y = drawn(seed)
    model = TreeAugmentedNB(backoff=0).fit(X, y)
    assert_same_tree(model, X, y)
    net = network(model, X, y)
    assert_same_tables(model, net)
    assert_same_answers(model, net, X, gaps=seed % 2 == 0)


@noisy
@every_set
def test_shared_tables_have_pgmpy_s_tree(file, pgmpy, shared):
    """pgmpy's search takes long, so it is asked about some rows and columns; the next tests are about all of them."""
    X, y = table(shared(file), SETS[file], 300)
    X = X.iloc[:, :8]
    assert_same_tree(TreeAugmentedNB().fit(X, y), X, y)


@noisy
@every_set
def test_shared_tables_have_pgmpy_s_tables_and_posteriors(file, pgmpy, shared):
    X, y = table(shared(file), SETS[file])
    model = TreeAugmentedNB(backoff=0).fit(X, y)
    net = network(model, X, y)
    assert_same_tables(model, net)
    for gaps in (False, True):
        assert_same_answers(model, net, X, gaps)


def information(a: np.ndarray, b: np.ndarray) -> float:
    """Σ p log(p / (its row's sum · its column's sum)), from the shares of rows with both levels."""
    p = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(p, (a, b), 1 / len(a))
    some = p > 0
    return float((p[some] * np.log((p / np.outer(p.sum(axis=1), p.sum(axis=0)).clip(1e-300))[some])).sum())


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
@every_set
def test_shared_tables_have_the_maximum_spanning_tree(file, shared):
    """networkx's, over information counted class by class, all rows and columns."""
    nx = pytest.importorskip("networkx")
    X, y = table(shared(file), SETS[file])
    codes = X.apply(lambda column: pd.factorize(column)[0]).to_numpy()
    classes = [np.flatnonzero(y == label) for label in np.unique(y)]
    graph = nx.Graph()
    for i in range(X.shape[1]):
        for j in range(i):
            told = sum(len(at) / len(y) * information(codes[at, i], codes[at, j]) for at in classes)
            if told > 1e-12:
                graph.add_edge(X.columns[i], X.columns[j], weight=told)
    best = nx.maximum_spanning_tree(graph)
    mine = {frozenset(edge) for edge in TreeAugmentedNB().fit(X, y).parents_.items() if edge[1] is not None}
    assert len(mine) == best.number_of_edges()
    total = sum(graph.edges[tuple(edge)]["weight"] for edge in mine)
    np.testing.assert_allclose(total, best.size("weight"), rtol=1e-12)
    weights = np.sort([told for *_, told in graph.edges(data="weight")])
    assert mine == {frozenset(edge) for edge in best.edges} or (np.diff(weights) < 1e-12).any()
