"""Networks as values: answers by brute force, files that come back, graphs and tables that are refused."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deciban.data.blocks import Codes
from deciban.errors import DataError
from deciban.networks import bif
from deciban.networks.graph import cycle, layers, parents_of, topological
from deciban.networks.network import MOST, GivenNetwork, Network, plan
from deciban.networks.query import query
from deciban.networks.search import bdeu, search
from deciban.tallies import DistinctRows

SEEDS = st.integers(0, 9999)


def random_network(seed: int, nodes: int = 6, zeros: bool = False) -> Network:
    rng = np.random.default_rng(seed)
    order = rng.permutation(nodes)
    parents = [()] * nodes
    for i, node in enumerate(order):
        parents[node] = tuple(rng.permutation(order[:i])[: rng.integers(0, 4)].tolist())
    sizes = rng.integers(1, 4, nodes)
    tables = []
    for node in range(nodes):
        table = rng.dirichlet(np.ones(sizes[node]), size=tuple(sizes[p] for p in parents[node]))
        if zeros:
            table = np.where((table < 0.3) & (table < table.max(axis=-1, keepdims=True)), 0.0, table)
            table /= table.sum(axis=-1, keepdims=True)
        tables.append(table)
    levels = tuple(tuple(f"{node}{v}" for v in range(size)) for node, size in enumerate(sizes))
    return Network(tuple("abcdefghij"[:nodes]), levels, tuple(parents), tuple(tables))


def joint(network: Network) -> np.ndarray:
    """P of every combination of levels, one axis a node."""
    out = np.zeros(network.sizes)
    for at in product(*map(range, network.sizes)):
        own = zip(network.scopes, network.tables, strict=True)
        out[at] = np.prod([table[tuple(at[v] for v in scope)] for scope, table in own])
    return out


@given(seed=SEEDS, zeros=st.booleans())
def test_answers_are_those_of_the_whole_joint(seed, zeros):
    network = random_network(seed, zeros=zeros)
    rng, whole = np.random.default_rng(seed), joint(network)
    rows = np.where(rng.random((20, 6)) < 0.4, -1, network.sample(20, rng))
    for kept in ([], [0], [4, 2]):
        got = network.log_joint(rows, kept)
        for row, values in zip(rows, got, strict=True):
            at = tuple(slice(None) if v in kept or row[v] < 0 else slice(row[v], row[v] + 1) for v in range(6))
            part = whole[at].sum(axis=tuple(v for v in range(6) if v not in kept))
            want = part.transpose(np.argsort(np.argsort(kept)) if kept else [])
            np.testing.assert_allclose(np.exp(values), want, rtol=1e-10, atol=1e-300)


@given(seed=SEEDS)
def test_query_is_a_conditional_share_of_the_joint(seed):
    network = random_network(seed)
    whole, level = joint(network), network.levels[1][0]
    answer = query(network, ["d", "a"], {"b": level})
    part = whole[:, 0].sum(axis=(1, 3, 4)).T
    np.testing.assert_allclose(answer.values, part / part.sum(), atol=1e-12)
    assert answer.log_evidence == pytest.approx(np.log(part.sum()))
    assert answer.values.sum() == pytest.approx(1.0)
    top = answer.most_probable
    assert answer[top["d"], top["a"]] == answer.values.max()


def test_answer_is_a_table_with_names():
    network = random_network(3)
    answer = query(network, ["a", "b"])
    frame = answer.to_frame()
    assert list(frame.columns) == ["a", "b", "P"]
    assert frame["P"].sum() == pytest.approx(1.0)
    assert answer.to_frame("polars").shape == frame.shape
    np.testing.assert_array_equal(np.asarray(answer), answer.values)
    assert "P(a, b)" in str(answer)
    assert "<table" in answer._repr_html_()
    with pytest.raises(DataError, match=r"(?s)`a` has no level 'x'.*hint: it has 0"):
        answer["x", "b0"]
    with pytest.raises(DataError, match="1 levels for the targets"):
        answer["a0"]


def test_many_small_factors_stay_numbers():
    """Two thousand links of 1e-3 each, seen: the probability is far below the least double."""
    names = [f"n{i}" for i in range(2000)]
    table = np.array([[0.999, 0.001], [0.999, 0.001]])
    tables = {name: table[0] if i == 0 else table for i, name in enumerate(names)}
    edges = list(pairwise(names))
    chain = Network.of({name: [0, 1] for name in names}, edges, tables)
    row = np.where(np.arange(2000) % 2, 1, -1)[None]
    np.testing.assert_allclose(chain.log_joint(row), 1000 * np.log(0.001), rtol=1e-12)


@given(seed=SEEDS, zeros=st.booleans())
def test_written_network_is_read_to_the_last_bit(seed, zeros):
    network = random_network(seed, zeros=zeros)
    again = bif.parse(bif.dump(network))
    assert (again.names, again.levels, again.parents) == (network.names, network.levels, network.parents)
    for a, b in zip(network.tables, again.tables, strict=True):
        assert a.tobytes() == b.tobytes()


def test_names_that_are_no_words_are_written_in_quotes():
    network = Network.of({"a b": ["x, y", "//z"], "": ["(", ""]}, [], {"a b": [0.5, 0.5], "": [1.0, 0.0]})
    again = bif.parse(bif.dump(network))
    assert (again.names, again.levels) == (network.names, network.levels)
    with pytest.raises(DataError, match="no way to write"):
        bif.dump(Network.of({'"': ["a"]}, [], {'"': [1.0]}))
    with pytest.raises(DataError, match="same as texts"):
        bif.dump(Network.of({"a": [1, "1"]}, [], {"a": [0.5, 0.5]}))


GOOD = """network n { property "by hand"; }
variable a { type discrete [2] { x, y }; property p = 1; }
variable b { type discrete [2] { x, y }; }
probability ( a ) { table 0.25, 0.75; }
probability ( b | a ) { // what follows
  (x) 0.1, 0.9;
  (y) 0.2, 0.8;
}
"""


def test_tables_rows_and_defaults_say_the_same():
    want = bif.parse(GOOD)
    rows = "(x) 0.1, 0.9;\n  (y) 0.2, 0.8;"
    # the child's first level for every parent's level, then its second
    for other in ("table 0.1 0.2 0.9 0.8;", "(x) 0.1 0.9; default 0.2 0.8;", "(y) 0.2, 0.8; /* and */ (x) 0.1, 0.9;"):
        got = bif.parse(GOOD.replace(rows, other))
        np.testing.assert_array_equal(got.tables[1], want.tables[1])
    assert bif.parse(GOOD.replace("b | a", '"b" "a"')).parents == want.parents


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("0.25, 0.75", "0.25, 0.85", 4, "sum to 1.1"),
        ("0.25, 0.75", "0.25; ", 4, "1 numbers where there should be 2"),
        ("0.25, 0.75", "-0.25, 1.25", 4, "≥ 0"),
        ("0.1, 0.9", "0.1, zero", 6, "'zero' is not a number"),
        ("0.1, 0.9", "nan, nan", 6, "sum to nan"),
        ("(y)", "(z)", 7, "`a` has no level 'z'"),
        ("(y)", "(x, y)", 7, "2 levels for 1 parents"),
        ("  (y) 0.2, 0.8;\n", "", 5, "no row for (y)"),
        ("| a", "| c", 5, "no variable 'c'"),
        ("variable b", "variable a", 3, "is given twice"),
        ("{ x, y }; }\np", "{ x, y, z }; }\np", 3, "has 3 levels, says 2"),
        ("type discrete [2] { x, y }; }\np", "type continuous; }\np", 3, "'continuous'"),
        ("probability ( b", "probabilty ( b", 5, "a block 'probabilty'"),
        ("  (y) 0.2, 0.8;\n}\n", "", 7, "the end of the file"),
        ("(y) 0.2", '(y "0.2', 7, "nothing can begin with"),
        ("( a ) { table", "( a | b ) { (x)", 4, "no row for (y)"),
        ("probability ( a ) { table 0.25, 0.75; }", "", 9, "variable `a` has no `probability` block"),
    ],
)
def test_broken_file_is_told_by_its_line(old, new, line, what):
    assert old in GOOD
    with pytest.raises(DataError) as error:
        bif.parse(GOOD.replace(old, new, 1))
    assert f"line {line}: " in str(error.value)
    assert what in str(error.value)
    assert "hint:" in str(error.value)


@given(cut=st.integers(0, len(GOOD) - 1))
def test_file_that_was_cut_off_is_refused_or_whole(cut):
    try:
        network = bif.parse(GOOD[:cut])
    except DataError as error:
        assert "line" in str(error)
    else:
        assert network.names == ("a", "b")


def test_file_with_a_cycle_shows_it():
    text = GOOD.replace("( a ) { table 0.25, 0.75; }", "( a | b ) { default 0.25, 0.75; }")
    with pytest.raises(DataError, match="form a cycle: a → b → a"):
        bif.parse(text)


# graphs


@pytest.mark.parametrize(
    ("edges", "what"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], "form a cycle: a → b → c → a"),
        ([("d", "a"), ("b", "c"), ("c", "b")], "form a cycle: b → c → b"),
        ([("a", "a")], "form a cycle: a → a"),
        ([("a", "x")], "edge a → x: there is no `x`"),
        ([("a", "b"), ("a", "b")], "is given twice"),
        ([("a", "b", "c")], "is not an edge"),
        (["ab"], "is not an edge"),
    ],
)
def test_edges_that_make_no_graph_are_refused(edges, what):
    with pytest.raises(DataError) as error:
        parents_of(list("abcd"), edges)
    assert what in str(error.value)
    assert "hint:" in str(error.value)


@given(seed=SEEDS, nodes=st.integers(1, 9))
def test_a_shown_cycle_is_one(seed, nodes):
    rng = np.random.default_rng(seed)
    parents = tuple(tuple(rng.permutation(nodes)[: rng.integers(0, 3)].tolist()) for _ in range(nodes))
    found = cycle(parents)
    if found:
        assert found[0] == found[-1]
        assert len(set(found)) == len(found) - 1
        assert all(a in parents[b] for a, b in pairwise(found))
    else:
        order = topological(parents)
        assert sorted(order) == list(range(nodes))
        assert all(order.index(p) < order.index(i) for i in range(nodes) for p in parents[i])
        assert all(layers(parents)[p] < layers(parents)[i] for i in range(nodes) for p in parents[i])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"tables": {"a": [0.5, 0.5]}}, "`b` has no table"),
        ({"tables": {"a": [0.5, 0.5], "b": [0.5, 0.5], "c": [1.0]}}, "`c`, which is not a node"),
        ({"tables": {"a": [0.5, 0.5], "b": [0.5, 0.5]}}, r"has shape \(2,\).* make \(2, 2\)"),
        ({"tables": {"a": [0.5, 0.6], "b": [[0.5, 0.5], [0.5, 0.5]]}}, "sums to 1.1"),
        ({"tables": {"a": [-0.5, 1.5], "b": [[0.5, 0.5], [0.5, 0.5]]}}, "not probabilities"),
        ({"tables": {"a": [np.nan, 0.5], "b": [[0.5, 0.5], [0.5, 0.5]]}}, "not probabilities"),
        ({"levels": {"a": ["x", "x"], "b": ["x", "y"]}}, "the levels of `a`"),
        ({"levels": {"a": [], "b": ["x", "y"]}}, "the levels of `a`"),
    ],
)
def test_tables_that_do_not_fit_are_refused(change, what):
    good = {
        "levels": {"a": ["x", "y"], "b": ["x", "y"]},
        "edges": [("a", "b")],
        "tables": {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.5, 0.5]]},
    }
    Network.of(**good)
    with pytest.raises(DataError, match=what):
        Network.of(**{**good, **change})


# questions that have no answer


def test_impossible_evidence_is_told_by_what_contradicts():
    levels = {"a": ["no", "yes"], "b": ["no", "yes"], "c": ["no", "yes"], "d": ["no", "yes"]}
    same = [[1.0, 0.0], [0.0, 1.0]]
    tables = {"a": [0.5, 0.5], "b": same, "c": same, "d": [0.5, 0.5]}
    network = Network.of(levels, [("a", "b"), ("b", "c")], tables)
    with pytest.raises(DataError, match=r"(?s)probability 0: the network rules out a = no with c = yes\n\nhint"):
        query(network, "b", {"d": "yes", "c": "yes", "a": "no"})
    one = Network.of({"a": ["no", "yes"], "b": ["x"]}, [], {"a": [1.0, 0.0], "b": [1.0]})
    with pytest.raises(DataError, match="rules out a = yes"):
        query(one, "b", {"a": "yes"})


@pytest.mark.parametrize(
    ("targets", "evidence", "what"),
    [
        ("z", {}, "no `z`"),
        ("a", {"z": 1}, "no `z`"),
        ("a", {"b": "x"}, "`b` has no level 'x'"),
        ("a", {"a": "a0"}, "`a` is both a target and evidence"),
        ([], {}, "name one or more"),
        (["a", "a"], {}, "name one or more"),
    ],
)
def test_questions_about_what_is_not_there_are_refused(targets, evidence, what):
    network = random_network(3)
    if evidence == {"a": "a0"}:
        evidence = {"a": network.levels[0][0]}
    with pytest.raises(DataError, match=what):
        query(network, targets, evidence)


def grid(side: int) -> Network:
    """Nodes on a square, each below its upper and its left neighbour."""
    names = [f"{i},{j}" for i in range(side) for j in range(side)]
    edges = [(f"{i - 1},{j}", f"{i},{j}") for i in range(1, side) for j in range(side)]
    edges += [(f"{i},{j - 1}", f"{i},{j}") for i in range(side) for j in range(1, side)]
    own = parents_of(names, edges)
    tables = {name: np.full((2,) * (len(p) + 1), 0.5) for name, p in zip(names, own, strict=True)}
    return Network.of({name: [0, 1] for name in names}, edges, tables)


def test_network_that_is_too_wide_says_so_before_it_starts():
    network = grid(32)
    with pytest.raises(DataError, match=r"(?s)too wide.*a table of \d\.\de\+\d\d numbers .*hint: give more evidence"):
        query(network, "31,31")
    evidence = {name: 0 for name in network.names if name.startswith(tuple(f"{i}," for i in range(0, 31, 3)))}
    assert query(network, "31,31", evidence)[0] == pytest.approx(0.5)  # the cure that the hint names


def test_too_many_targets_at_a_time_are_refused():
    names = [f"n{i}" for i in range(30)]
    network = Network.of({name: [0, 1] for name in names}, [], {name: [0.5, 0.5] for name in names})
    with pytest.raises(DataError, match="too wide"):
        query(network, names)


def test_estimated_width_is_that_of_the_largest_table():
    square = grid(4)
    found = plan(square.scopes, square.sizes, [15])
    assert found.largest <= 2**6
    assert set(found.order) == set(range(15))
    assert MOST >= 2**20


# samples, and graphs from them


def test_samples_reproduce_every_table():
    network = random_network(11)
    rows = network.sample(40_000, np.random.default_rng(0))
    chances = []
    for scope, table in zip(network.scopes, network.tables, strict=True):
        for at in np.ndindex(table.shape[:-1]):
            those = (rows[:, scope[:-1]] == at).all(axis=1)
            some = table[at] > 0
            if those.sum() * table[at][some].min() >= 5 and some.sum() > 1:
                seen = np.bincount(rows[those, scope[-1]], minlength=table.shape[-1])
                chances.append(stats.chisquare(seen[some], those.sum() * table[at][some]).pvalue)
    assert len(chances) > 8
    assert min(chances) > 0.05 / len(chances)


def test_mutual_information_is_that_of_the_joint():
    network = random_network(5)
    whole = joint(network)
    for (a, b), bits in network.information().items():
        i, j = network.place[a], network.place[b]
        pair = whole.sum(axis=tuple(v for v in range(6) if v not in (i, j)))
        apart = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0, keepdims=True)
        assert bits == pytest.approx(stats.entropy(pair.ravel(), apart.ravel(), base=2), abs=1e-9)


def brute_force(t: DistinctRows, prior: float, most: int) -> float:
    """The best score of all graphs of three columns."""
    best = -np.inf
    sets = [[own for own in product([0, 1], repeat=3) if not own[i] and sum(own) <= most] for i in range(3)]
    for choice in product(*sets):
        parents = tuple(tuple(np.flatnonzero(own).tolist()) for own in choice)
        if not cycle(parents):
            best = max(best, score(t, parents, prior))
    return best


def score(t: DistinctRows, parents, prior: float) -> float:
    return sum(bdeu(t.counts([*own, i]), prior).sum() for i, own in enumerate(parents))


@given(seed=SEEDS, prior=st.sampled_from([0.5, 1.0, 10.0]))
def test_search_ends_where_no_edge_is_worth_changing(seed, prior):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (60, 3))
    x[:, 2] = np.where(rng.random(60) < 0.8, x[:, 0] ^ x[:, 1], x[:, 2])
    x[:, 1] = np.where(rng.random(60) < 0.4, x[:, 0], x[:, 1])
    t = DistinctRows.of(x, rng.integers(0, 2, 60).astype(np.int32), None, 2)
    found = search(t, prior)
    assert not cycle(found)
    mine, best = score(t, found, prior), brute_force(t, prior, 2)
    assert mine <= best + 1e-9
    assert mine >= score(t, ((), (), ()), prior)
    for i in range(3):  # adding or leaving out one edge gains nothing
        for j in range(3):
            own = set(found[i]) ^ {j}
            other = tuple(tuple(sorted(own)) if b == i else p for b, p in enumerate(found))
            if i != j and len(own) <= 2 and not cycle(other):
                assert score(t, other, prior) <= mine + 1e-7


def test_search_finds_the_graph_that_rows_came_from():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 2000))
    c = np.where(rng.random(2000) < 0.9, (a + b) // 2, rng.integers(0, 3, 2000))
    d = np.where(rng.random(2000) < 0.8, c, rng.integers(0, 3, 2000))
    e = rng.integers(0, 2, 2000)
    t = DistinctRows.of(np.stack([a, b, c, d, e], axis=1), np.zeros(2000, dtype=np.int32), None, 1)
    assert search(t) == ((), (), (0, 1), (2,), ())
    assert search(t, max_parents=0) == ((), (), (), (), ())


def test_columns_of_one_level_and_of_none_have_no_edges():
    rng = np.random.default_rng(0)
    x = np.stack([rng.integers(0, 2, 50), np.zeros(50, dtype=int), np.full(50, -1)], axis=1)
    assert search(DistinctRows.of(x, np.zeros(50, dtype=np.int32), None, 1)) == ((), (), ())


def test_sample_of_a_given_network_given_a_class_that_has_parents():
    """Rows of each class are distributed as the joint says, although the class is below one of the columns."""
    causes = Network(
        ("cause", "class", "effect"),
        (("no", "yes"), ("a", "b"), ("low", "high")),
        ((), (0,), (0, 1)),
        (
            np.array([0.7, 0.3]),
            np.array([[0.9, 0.1], [0.2, 0.8]]),
            np.array([[[0.5, 0.5], [0.1, 0.9]], [[0.8, 0.2], [0.6, 0.4]]]),
        ),
    )
    family, n = GivenNetwork(causes, 1), 40_000
    for c in (0, 1):
        drawn = family.sample(None, np.full(n, c), np.random.default_rng(c))
        cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        want = np.exp(family.loglik(None, Codes(cells)))[:, c]
        got = np.bincount(drawn @ [2, 1], minlength=4) / n
        assert np.abs(got - want).max() < 5 * np.sqrt(0.25 / n)
