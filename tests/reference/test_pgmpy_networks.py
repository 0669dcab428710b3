"""The shared networks: they load and come back, and say what pgmpy's variable elimination says."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest
from scipy import stats

from deciban.networks import bif
from deciban.networks.network import Network
from deciban.networks.query import query

NETWORKS = {
    "alarm": (37, 46), "asia": (8, 8), "cancer": (5, 4), "child": (20, 25), "earthquake": (5, 4),
    "hailfinder": (56, 66), "hepar2": (70, 123), "insurance": (27, 52), "sachs": (11, 17), "survey": (6, 6),
    "win95pts": (76, 112),
}  # fmt: skip
QUERIES = 25  # of each network; a thousand say the same


@pytest.fixture
def network(shared):
    return lambda name: bif.parse(shared(f"bayesnets/{name}.bif").read_text())


@pytest.fixture
def theirs(shared):
    def make(name: str):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            logging.getLogger("pgmpy").setLevel(logging.ERROR)
            inference = pytest.importorskip("pgmpy.inference")
            reader = pytest.importorskip("pgmpy.readwrite").BIFReader(str(shared(f"bayesnets/{name}.bif")))
            return inference.VariableElimination(reader.get_model())

    return make


def question(network: Network, rng: np.random.Generator) -> tuple[list[str], dict[str, str]]:
    """One or two targets, and evidence that is possible: cells of a row that was drawn."""
    row, nodes = network.sample(1, rng)[0], rng.permutation(len(network.names))
    count, given = int(rng.integers(1, 3)), int(rng.integers(0, max(2, len(nodes) // 2)))
    evidence = {network.names[i]: network.levels[i][row[i]] for i in nodes[count : count + given]}
    return [network.names[i] for i in nodes[:count]], evidence


@pytest.mark.parametrize("name", NETWORKS)
def test_shared_network_loads_and_comes_back_to_the_last_bit(name, network):
    made = network(name)
    assert (len(made.names), len(made.edges)) == NETWORKS[name]
    again = bif.parse(bif.dump(made))
    assert (again.names, again.levels, again.parents) == (made.names, made.levels, made.parents)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(made.tables, again.tables, strict=True))
    assert len(made.information()) == NETWORKS[name][1]  # exact answers about every edge


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["asia", "cancer", "child", "alarm", "insurance"])
def test_random_queries_have_the_answers_of_pgmpy(name, network, theirs):
    made, other, rng = network(name), theirs(name), np.random.default_rng(0)
    for _ in range(QUERIES):
        targets, evidence = question(made, rng)
        want = other.query(targets, evidence=evidence, show_progress=False)
        values = want.values.transpose([want.variables.index(target) for target in targets])
        for axis, target in enumerate(targets):
            states = want.state_names[target]
            values = values.take([states.index(level) for level in made.levels[made.place[target]]], axis=axis)
        np.testing.assert_allclose(query(made, targets, evidence).values, values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["asia", "cancer", "child", "alarm", "insurance"])
def test_samples_reproduce_the_tables(name, network):
    made = network(name)
    rows = made.sample(20_000, np.random.default_rng(0))
    chances = []
    for scope, table in zip(made.scopes, made.tables, strict=True):
        for at in np.ndindex(table.shape[:-1]):
            those = (rows[:, scope[:-1]] == at).all(axis=1)
            some = table[at] > 0
            seen = np.bincount(rows[those, scope[-1]], minlength=table.shape[-1])
            assert not seen[~some].any()
            expected = those.sum() * table[at][some] / table[at][some].sum()
            if some.sum() > 1 and expected.min() >= 5:
                chances.append(stats.chisquare(seen[some], expected).pvalue)
    assert min(chances) > 0.01 / len(chances)
    assert stats.kstest(chances, "uniform").pvalue > 1e-3
