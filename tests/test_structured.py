"""Columns that depend on each other: trees, averaged one-dependence and k-dependence against brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.metrics import mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from deciban import AODE, BayesNet, KDependenceBayes, TreeAugmentedNB, cross_validate
from deciban.classifiers import structured
from deciban.data.blocks import Codes
from deciban.errors import DataError, MergeError
from deciban.families.aode import Aode
from deciban.families.kdb import Kdb
from deciban.families.network import Graph
from deciban.families.tree import Tree
from deciban.networks import tables as backoff
from deciban.networks.dependence import class_information, conditional_information, spanning_tree

from .support.builds import every_build, using
from .support.data import table

CLASSES = [TreeAugmentedNB, AODE, KDependenceBayes]
GRAPH = ((0, 1), (1, 2), (0, 2), (2, 3))
FAMILIES = [
    Tree(),
    Tree(strength=0.0, alpha=0.5),
    Kdb(2),
    Kdb(1, strength=0.0),
    Aode(),
    Aode(strength=0.0),
    Graph(GRAPH),
    Graph(strength=0.0, alpha=None),
]
every_class = pytest.mark.parametrize("cls", CLASSES)
every_family = pytest.mark.parametrize("family", FAMILIES, ids=str)


def rows(n: int = 60, d: int = 5, k: int = 3, seed: int = 0, holes: float = 0.0) -> tuple[Codes, np.ndarray]:
    """Codes of columns that hang on the class and on each other, in a chain."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k).astype(np.int32)
    x = np.empty((n, d), dtype=np.int64)
    for j in range(d):
        before = x[:, j - 1] if j else y
        x[:, j] = np.where(rng.random(n) < 0.5, (before + y * (j % 2)) % (2 + j % 3), rng.integers(0, 2 + j % 3, n))
    x[rng.random((n, d)) < holes] = -1
    return Codes(x), y


def learned(family, x: Codes, y: np.ndarray, w=None):
    t = family.tally(x, y, w, int(y.max()) + 1)
    return t, family.estimate(t)


# scikit-learn's contract


@parametrize_with_checks([TreeAugmentedNB(), AODE(), KDependenceBayes(k=2)])
def test_estimator_passes_the_check(estimator, check):
    if "array_api" not in str(check):
        check(estimator)


# the tree


def independent_information(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """I(X_i; X_j | C), class by class, by scikit-learn."""
    d = x.shape[1]
    out = np.zeros((d, d))
    for i, j in product(range(d), repeat=2):
        if i != j:
            for c in np.unique(y):
                both = (y == c) & (x[:, i] >= 0) & (x[:, j] >= 0)
                whole = ((x[:, i] >= 0) & (x[:, j] >= 0)).sum()
                out[i, j] += both.sum() / whole * mutual_info_score(x[both, i], x[both, j])
    return out


@pytest.mark.parametrize("seed", range(20))
def test_tree_is_the_maximum_spanning_tree_of_the_conditional_information(seed):
    x, y = rows(80 + 7 * seed, 3 + seed % 6, 2 + seed % 3, seed, holes=0.1 * (seed % 3))
    nx = pytest.importorskip("networkx")
    t, p = learned(Tree(), x, y)
    weight = independent_information(x.values, y)
    np.testing.assert_allclose(conditional_information(t), weight, atol=1e-11)
    best = nx.maximum_spanning_tree(nx.from_numpy_array(weight))
    mine = {frozenset((j, parent)) for j, parent in enumerate(p.parents) if parent >= 0}
    assert mine == {frozenset(edge) for edge in best.edges}
    assert p.parents[int(weight.sum(axis=1).argmax())] == -1


def test_equal_edges_and_useless_ones_are_settled_by_the_order_of_the_columns():
    assert spanning_tree(np.ones((4, 4)) - np.eye(4)) == ((-1, 0, 0, 0), (0, 1, 2, 3))
    assert spanning_tree(np.ones((3, 3)) - np.eye(3), root=2) == ((2, 2, -1), (2, 0, 1))
    assert spanning_tree(np.zeros((3, 3))) == ((-1, -1, -1), (0, 1, 2))


def test_root_can_be_chosen_and_tables_turn_around_with_it():
    X, y = table(holes=0.0)
    one, other = (TreeAugmentedNB(root=root, cuts={}).fit(X, y) for root in ("sky", "kind"))
    assert one.parents_["sky"] is None
    assert other.parents_["kind"] is None
    edges = [{frozenset(e) for e in m.parents_.items() if e[1] is not None} for m in (one, other)]
    assert edges[0] == edges[1]
    with pytest.raises(DataError, match=r"(?s)root is 'moon'.*hint:"):
        TreeAugmentedNB(root="moon").fit(X, y)


# likelihoods


def by_completion(family, p, row: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """log p(x | c) of a row with gaps, summed over all that might stand in them."""
    gaps = np.flatnonzero(row < 0)
    every = np.array([row] * int(np.prod(levels[gaps])))
    every[:, gaps] = list(product(*(range(levels[j]) for j in gaps)))
    return logsumexp(family.loglik(p, Codes(every)), axis=0)


@pytest.mark.parametrize("family", [f for f in FAMILIES if not isinstance(f, Aode)], ids=str)
def test_missing_cells_are_summed_out_exactly(family):
    x, y = rows(holes=0.35)
    t, p = learned(family, x, y)
    got = family.loglik(p, x)
    for i in range(40):
        np.testing.assert_allclose(got[i], by_completion(family, p, x.values[i], t.levels), rtol=1e-10, atol=1e-12)


def test_average_is_that_of_all_one_dependence_models():
    """Webb, Boughton and Wang's formula, level by level, with +1 in every table."""
    x, y = rows(40, 4, 2, holes=0.2)
    family = Aode(strength=0.0, least=5.0)
    _, p = learned(family, x, y)
    cells, got = x.values, family.loglik(p, x)
    levels = cells.max(axis=0) + 1

    def share(j: int, b: int, c: int, **given: int) -> float:
        those = (y == c) & (cells[:, j] >= 0)
        for i, a in given.items():
            those &= cells[:, int(i[1:])] == a
        return ((cells[those, j] == b).sum() + 1) / (those.sum() + levels[j])

    for row, (i, c) in ((row, (i, c)) for i, row in enumerate(cells[:15]) for c in (0, 1)):
        there = [j for j in range(4) if row[j] >= 0]
        used = [j for j in there if (cells[:, j] == row[j]).sum() >= 5]
        each = [
            share(a, row[a], c) * np.prod([share(j, row[j], c, **{f"x{a}": row[a]}) for j in there if j != a])
            for a in used
        ]
        want = np.mean(each) if used else np.prod([share(j, row[j], c) for j in there])
        np.testing.assert_allclose(np.exp(got[i, c]), want, rtol=1e-10)


def test_no_level_that_is_frequent_enough_is_naive_bayes():
    x, y = rows()
    rare, plain = Aode(strength=0.0, least=1e9), Kdb(0, strength=0.0)
    np.testing.assert_allclose(rare.loglik(learned(rare, x, y)[1], x), plain.loglik(learned(plain, x, y)[1], x))


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_parents_are_those_that_sahami_takes(most):
    x, y = rows(200, 6)
    t, p = learned(Kdb(most), x, y)
    weight, own = independent_information(x.values, y), class_information(t.crosstab())
    np.testing.assert_allclose(own, [mutual_info_score(x.values[:, j], y) for j in range(6)], atol=1e-11)
    order = np.argsort(-own, kind="stable").tolist()
    for at, j in enumerate(order):
        best = sorted(order[:at], key=lambda i, j=j: -weight[i, j])[:most]
        assert list(p.parents[j]) == best


def test_one_dependence_is_a_tree_where_the_order_allows_it():
    """Same tables, same posteriors, where the tree hangs the same way."""
    x, y = rows(100, 3)
    tree = Tree(strength=0.0)
    _, p = learned(tree, x, y)
    same = Kdb(1, strength=0.0, order=tuple(() if a < 0 else (a,) for a in p.parents))
    np.testing.assert_allclose(same.loglik(learned(same, x, y)[1], x), tree.loglik(p, x), rtol=1e-12)


@every_build
@pytest.mark.parametrize(("k", "d"), [(1, 1), (2, 4), (3, 7), (5, 3), (9, 2), (19, 5)])
def test_averaged_scores_equal_their_specification(build, k, d):
    from deciban.networks import dependence

    x, y = rows(300, d, k, holes=0.2)
    _, p = learned(Aode(least=20.0), x, y)
    odd = Codes(np.asfortranarray(np.r_[x.values, np.full((2, d), -1), np.full((2, d), 99)]))
    with using(build):
        np.testing.assert_allclose(
            dependence.scores(p.parents, odd), dependence.spec(p.parents, odd), rtol=1e-12, atol=1e-12
        )


# back-off


def test_held_out_strength_is_the_one_that_foretells_left_out_rows():
    """Brute force: every row taken out of all tables in turn."""
    x, y = rows(70, 2)
    t = Tree().tally(x, y, None, 3)
    tables = [t.columns()[1].sum(axis=0), t.columns()[1], t.pair(0, 1)]
    for alpha in (0.5, 1.0):
        m1, m2 = backoff.best_strengths(tables, alpha)

        def loss(steps: tuple, alpha: float = alpha) -> float:
            chain = tables[: len(steps) + 1]
            given = [x.values[:, 0]] if len(steps) == 2 else []
            share = backoff.left_out(chain, alpha, steps, x.values[:, 1], given, y, None)
            return -float(np.log(share[np.arange(70), y]).sum())

        assert loss((m1,)) == min(loss((m,)) for m in backoff.GRID)
        assert loss((m1, m2)) == min(loss((m1, m)) for m in backoff.GRID)


@every_family
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.25])
def test_leave_one_out_is_the_estimate_without_the_row(family, weighed, holes):
    x, y = rows(50, 4, holes=holes)
    w = np.random.default_rng(1).choice([0.5, 1.0, 2.0], 50) if weighed else None
    t, p = learned(family, x, y, w)
    got, settled = family.leave_one_out(t, x, y, w), family.fixed(p)
    for i in range(50):
        row = x.rows(i, i + 1)
        left = t - family.tally(row, y[i : i + 1], None if w is None else w[i : i + 1], 3)
        want = settled.loglik(settled.estimate(left), row)[0]
        np.testing.assert_allclose(got[i], want, rtol=1e-9, atol=1e-10)


LEAVING = [
    TreeAugmentedNB(),
    TreeAugmentedNB(backoff=0, alpha=0.5),
    AODE(),
    KDependenceBayes(k=2),
    BayesNet(edges=[("sky", "wet"), ("wet", "kind"), ("sky", "kind")]),
    BayesNet(edges=[("sky", "wet"), ("wet", "kind"), ("sky", "kind")], alpha=None, backoff=1.0),
]


@pytest.mark.parametrize("model", LEAVING, ids=repr)
@pytest.mark.parametrize("missing", ["ignore", "informative"])
@pytest.mark.parametrize("weighed", [False, True])
def test_leave_one_out_takes_lone_levels_away(model, missing, weighed):
    """As a model of the other rows with the same structure: a level that one row has is not known without it."""
    X, y = table(50, holes=0.2)
    X = X[["sky", "wet", "kind", "size"]].copy()
    X["kind"] = X["kind"].astype(object)
    X.loc[5, "sky"] = "only here"
    X.loc[6, ["sky", "wet", "kind"]] = ["here too", True, "and here"]
    X.loc[[7, 8], "kind"] = ["one", "two"]
    X["sky"], X.loc[9, "sky"] = X["sky"].fillna("grey"), None
    w = np.random.default_rng(1).choice([0.5, 1.0, 2.0], 50) if weighed else np.ones(50)
    model = clone(model).set_params(missing=missing, cuts={"size": [0.0, 1.0]}).fit(X, y, w)
    got, settled = model.leave_one_out(X, y, w), model._state.family.fixed(model._state.params)
    for i in [*range(5, 10), *range(0, 50, 7)]:  # the rows with levels of their own, and some others
        rest = np.arange(50) != i
        again = clone(model).fit(X[rest], y[rest], w[rest])
        one = again._state.reader.read(X.iloc[[i]])
        settled = replace(settled, levels=again._state.family.levels)
        joint = settled.loglik(settled.estimate(again.tally_.parts[1]), one) + again._state.log_prior
        np.testing.assert_allclose(got[i], (joint - logsumexp(joint))[0], rtol=1e-9, atol=1e-9)


# evidence


@pytest.mark.parametrize("family", [Tree(strength=0.0, alpha=0.7), Kdb(2, strength=0.0, alpha=0.7)], ids=str)
def test_evidence_is_the_product_of_the_predictives(family):
    x, _ = rows(25, 4, 1)
    y = np.zeros(25, dtype=np.int32)
    t, p = learned(family, x, y)
    given = family.fixed(p)
    total = 0.0
    for i in range(25):
        before = given.tally(x.rows(0, i), y[:i], None, 1).relevel(t.levels)
        total += float(given.loglik(given.estimate(before), x.rows(i, i + 1))[0, 0])
    np.testing.assert_allclose(given.evidence(t), total, rtol=1e-10)
    with pytest.raises(DataError, match=r"(?s)no prior.*hint:"):
        type(family)(alpha=0.0).evidence(t)


def test_average_of_models_has_no_evidence_and_says_so():
    X, y = table()
    assert isinstance(TreeAugmentedNB().fit(X, y).evidence_, float)
    assert isinstance(KDependenceBayes(k=2).fit(X, y).evidence_, float)
    assert not hasattr(AODE().fit(X, y), "evidence_")


# numbers


@every_class
@pytest.mark.parametrize("calibrate", [False, True])
def test_while_all_rows_are_kept_cuts_are_those_of_a_refit(cls, calibrate):
    X, y = table(240, holes=0.1)
    model = cls(calibrate=calibrate)
    parts = [clone(model).fit(X[at], y[at]) for at in (slice(0, 90), slice(90, 240))]
    grown = clone(model).fit(X[:50], y[:50])
    for start in range(50, 240, 38):
        grown.partial_fit(X[start : start + 38], y[start : start + 38])
    whole, less = clone(model).fit(X, y), clone(model).fit(X[:150], y[:150])
    shrunk = clone(model).fit(X, y).forget(X[150:], y[150:])
    for a, b in ((parts[0] + parts[1], whole), (grown, whole), (shrunk, less)):
        assert a.cuts_ == b.cuts_
        assert not a.settled_
        np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    assert cross_validate(model, X, y, folds=3).refitted == ()
    settled = clone(model).set_params(keep_rows=50)
    assert len(cross_validate(settled, X, y, folds=3).refitted) == 3


@every_class
def test_cuts_of_more_rows_than_are_kept_are_settled(cls):
    X, y = table(120, holes=0.1)
    model = cls(keep_rows=0).fit(X, y)
    assert set(model.cuts_) == {"size", "price", "visits", "hour"}
    assert model.cuts_["size"]
    assert model.settled_
    kept = model.cuts_
    model.partial_fit(X.assign(size=X["size"] * 100), y)
    assert model.cuts_ == kept
    model.forget(X.assign(size=X["size"] * 100), y)
    np.testing.assert_allclose(model.predict_proba(X), cls(cuts=kept).fit(X, y).predict_proba(X), rtol=1e-9)
    late = cls(keep_rows=80).fit(X[:60], y[:60])  # of the rows after which not all are kept
    cuts = cls().fit(X[:110], y[:110]).cuts_
    assert late.partial_fit(X[60:110], y[60:110]).cuts_ == late.partial_fit(X[110:], y[110:]).cuts_ == cuts
    assert late._state.sample is None


@every_class
def test_models_with_settled_cuts_merge_if_they_are_the_same(cls):
    X, y = table(120)
    a, b = (cls(keep_rows=20).fit(X[at], y[at]) for at in (slice(0, 60), slice(60, None)))
    with pytest.raises(MergeError, match=r"(?s)cut.*hint:.*cuts="):
        a + b
    np.testing.assert_array_equal((a + a).class_count_, 2 * a.class_count_)
    few = cls(keep_rows=20).fit(X[60:75], y[60:75])  # all of its rows are there, and are cut as those of the other
    np.testing.assert_array_equal((a + few).predict_proba(X), (few + a).predict_proba(X))
    assert (few + a).cuts_ == a.cuts_
    parts = [cls(cuts=a.cuts_).fit(X[at], y[at]) for at in (slice(0, 60), slice(60, None))]
    whole = cls(cuts=a.cuts_).fit(X, y)
    np.testing.assert_allclose((parts[0] + parts[1]).predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    assert cross_validate(cls(cuts=a.cuts_), X, y, folds=3).refitted == ()


@every_class
@pytest.mark.parametrize(
    ("cuts", "says"),
    [
        ({"length": [1.0]}, "cuts name `length`"),
        ({"sky": [1.0]}, "has levels"),
        ({"size": [2.0, 1.0]}, "ascending"),
        ({"size": ["a"]}, "ascending"),
        ({"size": [np.nan]}, "ascending"),
    ],
)
def test_cuts_that_are_none_are_refused_with_a_cure(cls, cuts, says):
    X, y = table()
    with pytest.raises(DataError, match=f"(?s){says}.*" if says == "ascending" else f"(?s){says}.*hint:"):
        cls(cuts=cuts).fit(X, y)


@every_class
def test_drawn_rows_look_like_the_table(cls):
    X, y = table(300)
    model = cls().fit(X, y)
    drawn, labels = model.sample(500, random_state=1)
    assert list(drawn.columns) == list(X.columns)
    assert set(drawn["sky"]) <= set(X["sky"].dropna())
    assert drawn["size"].between(X["size"].min() - 1e-2, X["size"].max() + 1e-2).all()
    assert set(labels) == set(y)


# bad input


@every_class
@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_column_of_one_level_and_one_without_any_cell_say_nothing(cls):
    X, y = table(holes=0.0)
    odd = X.assign(one="same", none=None, flat=3.0)
    plain, model = cls().fit(X, y), cls().fit(odd, y)
    if cls is AODE:  # a parent of one level is naive Bayes among the others: another average
        assert np.isfinite(model.predict_log_proba(odd)).all()
    else:
        np.testing.assert_allclose(model.predict_proba(odd), plain.predict_proba(X), rtol=1e-8)
    why = model.explain(odd[:5])
    assert len(why.columns) == 10


@every_class
def test_empty_table_is_refused_with_a_cure(cls):
    X, y = table()
    with pytest.raises(ValueError, match=r"(?s)0 sample.*hint:"):
        cls().fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"(?s)0 feature.*hint: the frame has no columns"):
        cls().fit(pd.DataFrame(index=range(3)), list("aab"))


@every_class
def test_tables_that_would_not_fit_are_refused_with_their_size(cls, monkeypatch):
    monkeypatch.setattr(structured, "MOST", 1 << 20)
    X = pd.DataFrame({f"id{j}": [f"r{i}" for i in range(400)] for j in range(5)})
    with pytest.raises(DataError, match=r"(?s)5 columns.*GiB.*`id\d` \(400 levels\).*hint:"):
        cls().fit(X, np.arange(400) % 2)


@every_class
def test_levels_never_seen_are_missing_cells(cls):
    X, y = table(holes=0.0)
    model = cls().fit(X, y)
    np.testing.assert_array_equal(
        model.predict_proba(X.assign(sky="octarine")), model.predict_proba(X.assign(sky=None))
    )
