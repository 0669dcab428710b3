"""BayesNet: what it learns, what it answers, and what it refuses; as a classifier and as a network."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import deciban
from deciban import BayesNet, plots
from deciban.errors import DataError, ModelFileError, NotAdditiveError
from deciban.estimation.left_out import LeftOut
from deciban.networks import network
from deciban.networks.graph import CLASS
from deciban.networks.tables import left_out, log_shares_without
from deciban.plots import networks
from deciban.plots.networks import place

EXAMPLE = Path(__file__).parents[1] / "examples" / "bayesnet.py"
LEVELS = {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "wet": ["dry", "wet"]}
EDGES = [("rain", "sprinkler"), ("rain", "wet"), ("sprinkler", "wet")]
TABLES = {
    "rain": [0.8, 0.2],
    "sprinkler": [[0.6, 0.4], [0.99, 0.01]],
    "wet": [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
}


def grass(**more) -> BayesNet:
    return BayesNet.from_edges(EDGES, levels=LEVELS, tables=TABLES, **more)


def rows(n: int = 300, seed: int = 0, holes: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Three columns, the last of which hangs on the class and the others; and one of noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a, b, noise = rng.integers(0, 3, n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    c = np.where(rng.random(n) < 0.85, (a + b + y) % 3, rng.integers(0, 3, n))
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "noise": noise}).astype(object)
    frame = frame.apply(lambda column: column.map(lambda v: f"{column.name}{v}"))
    return frame.mask(rng.random(frame.shape) < holes, None), np.array(["no", "yes"])[y]


@parametrize_with_checks([BayesNet()])
def test_estimator_passes_the_check(estimator, check):
    check(estimator)


# the classifier


def brute_force(model: BayesNet, frame: pd.DataFrame) -> np.ndarray:
    """log P(x, class) of rows by summing over every way that missing cells might be filled."""
    net = model.network_
    names, out = list(frame.columns), np.zeros((len(frame), len(model.classes_)))
    for row, cells in enumerate(frame.itertuples(index=False)):
        choices = [
            net.levels[net.place[name]] if pd.isna(cell) else [cell] for name, cell in zip(names, cells, strict=True)
        ]
        for filled in product(*choices):
            at = {name: net.levels[net.place[name]].index(v) for name, v in zip(names, filled, strict=True)}
            for c in range(len(model.classes_)):
                at[CLASS] = c
                own = zip(net.scopes, net.tables, strict=True)
                out[row, c] += np.prod([table[tuple(at[net.names[v]] for v in scope)] for scope, table in own])
    return np.log(out)


@pytest.mark.parametrize("edges", [None, [("a", "c"), ("b", "c"), ("c", "noise")]])
def test_missing_cells_are_summed_out_exactly(edges):
    frame, y = rows(holes=0.1)
    model = BayesNet(edges).fit(frame, y)
    new, _ = rows(40, seed=1, holes=0.4)
    new.iloc[0] = None
    want = brute_force(model, new)
    np.testing.assert_allclose(model.predict_joint_log_proba(new), want, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.score_samples(new), np.logaddexp.reduce(want, axis=1), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.log_density(new), model.score_samples(new), rtol=0, atol=1e-10)
    why = model.explain(new, of="yes", against="no")
    np.testing.assert_allclose(why.prior + why.decibans.sum(axis=1), model.decibans(new, against="no")[:, 1], atol=1e-8)
    assert (why.decibans[new.isna().to_numpy()] == 0).all()


def test_search_finds_what_depends_on_what():
    frame, y = rows(2000)
    model = BayesNet(max_parents=3).fit(frame, y)
    assert {frozenset(edge) for edge in model.edges_} >= {frozenset("ac"), frozenset("bc")}
    assert not any("noise" in edge for edge in model.edges_)
    new, truth = rows(500, seed=1)
    assert model.score(new, truth) > BayesNet(max_parents=0).fit(frame, y).score(new, truth) + 0.2


def test_without_parents_it_is_naive_bayes():
    frame, y = rows()
    ours = BayesNet(max_parents=0, prior=1.0, backoff=0, alpha=None).fit(frame, y)
    for name in frame:
        net = ours.network_
        table, levels = net.tables[net.place[name]], net.levels[net.place[name]]
        for c, label in enumerate(ours.classes_):
            count = np.array([((frame[name] == level) & (y == label)).sum() for level in levels])
            np.testing.assert_allclose(table[c], (count + 1 / len(levels)) / (count.sum() + 1))


@pytest.mark.parametrize("smoothing", [{"backoff": 0, "alpha": None}, {"backoff": 3.0}, {"backoff": 2, "alpha": 0.1}])
def test_leaving_out_keeps_the_graph_and_is_exact_for_it(smoothing):
    frame, y = rows(60, holes=0.1)
    model = BayesNet(max_parents=3, **smoothing).fit(frame, y)
    got = model.leave_one_out(frame, y)
    for i in range(0, 60, 7):
        rest = np.arange(60) != i
        again = BayesNet(model.edges_, **smoothing).fit(frame[rest], y[rest])
        np.testing.assert_allclose(got[i], again.predict_log_proba(frame.iloc[[i]])[0], atol=1e-9)


def test_sparse_tables_shrink_to_those_with_fewer_parents():
    frame, y = rows(40)
    net = BayesNet([("a", "c"), ("b", "c")], backoff=5.0, alpha=0.5).fit(frame, y).network_
    levels = {name: net.levels[net.place[name]] for name in frame}

    def share(level: str, among: pd.DataFrame, base: float) -> float:
        return ((among["c"] == level).sum() + 5 * base + 0.5) / (len(among) + 5 + 0.5 * len(levels["c"]))

    for i, a in enumerate(levels["a"]):
        for j, b in enumerate(levels["b"]):
            own = frame[y == "no"]
            for at, level in enumerate(levels["c"]):
                want = ((frame["c"] == level).sum() + 0.5) / (len(frame) + 0.5 * len(levels["c"]))
                for among in (own, own[own["a"] == a], own[(own["a"] == a) & (own["b"] == b)]):
                    want = share(level, among, want)
                assert net.tables[net.place["c"]][0, i, j, at] == pytest.approx(want)


def test_backing_off_makes_few_rows_speak_more_truly():
    frame, y = rows(150)
    new, truth = rows(1000, seed=1)
    losses = [
        log_loss(truth, BayesNet([("a", "c"), ("b", "c")], backoff=m, alpha=alpha).fit(frame, y).predict_proba(new))
        for m, alpha in (("auto", 1.0), (0, None))
    ]
    assert losses[0] < losses[1]


@pytest.mark.parametrize("alpha", [None, 0.7])
def test_evidence_is_the_product_of_the_predictives(alpha):
    frame, y = rows(40)
    model = BayesNet([("a", "c")], prior=2.0, alpha=alpha).fit(frame, y)
    every = [(row, label) for row, label in zip(frame.itertuples(index=False), y, strict=True)]
    total = 0.0
    for i, (row, label) in enumerate(every):
        for name, parents in (("a", []), ("b", []), ("c", ["a"]), ("noise", [])):
            same = [r for r, k in every[:i] if k == label and all(getattr(r, p) == getattr(row, p) for p in parents)]
            cells = frame[[*parents, name]].nunique().prod()
            count = sum(getattr(r, name) == getattr(row, name) for r in same)
            assumed = 2.0 / cells if alpha is None else alpha
            total += np.log((count + assumed) / (len(same) + assumed * frame[name].nunique()))
    assert model.evidence_ == pytest.approx(total)


def test_the_graph_that_was_found_has_more_evidence_than_its_neighbours():
    frame, y = rows(500)
    model = BayesNet(alpha=None).fit(frame, y)
    best = model.evidence_
    assert best == pytest.approx(BayesNet(model.edges_, alpha=None).fit(frame, y).evidence_)
    assert best > BayesNet([], alpha=None).fit(frame, y).evidence_
    for edge in model.edges_:
        assert best >= BayesNet([other for other in model.edges_ if other != edge], alpha=None).fit(frame, y).evidence_


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_parts_of_the_rows_make_the_model_of_all_whatever_their_levels():
    frame, y = rows(90)
    whole = BayesNet().fit(frame, y)
    first = frame["a"] != "a2"
    parts = [BayesNet().fit(frame[which], y[which]) for which in (first, ~first)]
    pieces = BayesNet().partial_fit(frame[~first], y[~first], classes=["no", "yes"]).partial_fit(frame[first], y[first])
    forgot = BayesNet().fit(pd.concat([frame, frame[:20]]), np.append(y, y[:20])).forget(frame[:20], y[:20])
    for other in (parts[0] + parts[1], parts[1] + parts[0], pieces, forgot):
        assert {frozenset(edge) for edge in other.edges_} == {frozenset(edge) for edge in whole.edges_}
        np.testing.assert_allclose(other.predict_proba(frame), whole.predict_proba(frame), atol=1e-9)
        assert other.evidence_ == pytest.approx(whole.evidence_)


def test_numbers_are_cut_and_asked_for_as_numbers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=400)})
    y = np.where(x > 0.5, "high", "low")
    model = BayesNet().fit(frame, y)
    (cut,) = model.cuts_["x"]
    assert model.network_.levels[0] == (f"< {cut:.6g}", f"≥ {cut:.6g}")
    assert model.query(CLASS, {"x": 2.0})["high"] > 0.9
    assert model.query("x", {CLASS: "low"})[f"< {cut:.6g}"] > 0.9
    alone = pd.DataFrame({"x": [-1.0], "z": [np.nan]})
    np.testing.assert_allclose(model.query(CLASS, {"x": -1.0}).values, model.predict_proba(alone)[0])
    assert model.network_.levels[1] == ("(any)",)
    drawn, labels = model.sample(50, random_state=0)
    assert list(drawn.columns) == ["x", "z"]
    assert (model.predict(drawn) == labels).mean() > 0.9


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_columns_of_one_level_of_none_and_of_all_rows_alone_are_no_trouble():
    frame, y = rows(60)
    frame = frame.assign(one="x", none=None, id=[f"r{i}" for i in range(60)])
    model = BayesNet().fit(frame, y)
    assert np.isfinite(model.predict_proba(frame)).all()
    assert not any({"one", "none"} & set(edge) for edge in model.edges_)
    given = BayesNet([("one", "a"), ("none", "b")]).fit(frame, y)
    assert np.isfinite(given.predict_proba(frame)).all()
    assert given.query("b").values.sum() == pytest.approx(1.0)
    assert np.isfinite(given.leave_one_out(frame, y)).all()


@pytest.mark.parametrize(
    ("edges", "what"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], "form a cycle: a → b → c → a"),
        ([("a", "age")], "there is no `age`"),
        ([("a", "b"), ("a", "b")], "is given twice"),
        ([("a", CLASS)], "an edge leads to the class"),
        (["ab"], "is not an edge"),
    ],
)
def test_edges_that_make_no_graph_are_refused(edges, what):
    frame, y = rows()
    with pytest.raises(DataError, match=f"(?s){what}.*hint:"):
        BayesNet(edges).fit(frame, y)


def test_edges_from_the_class_are_understood():
    frame, y = rows()
    assert BayesNet([("kind", "a"), ("a", "c")], target="kind").fit(frame, y).edges_ == [("a", "c")]


def test_bad_rows_are_refused():
    frame, y = rows()
    with pytest.raises(DataError, match="0 sample"):
        BayesNet().fit(frame[:0], y[:0])
    with pytest.raises(DataError, match="a column has the name of the class, `class`"):
        BayesNet(target=CLASS).fit(frame.rename(columns={"a": CLASS}), y)
    with pytest.raises(NotFittedError):
        BayesNet().query("a")
    wide = pd.DataFrame({name: [f"{i}" for i in range(300)] for name in "abc"})
    told = r"(?s)column `c` \(300 levels\), given column `a` .* has a table of 5.4e\+07 cells.*hint: leave out an edge"
    with pytest.raises(DataError, match=told):
        BayesNet([("a", "c"), ("b", "c")]).fit(wide, np.arange(300) % 2)


def test_saved_model_answers_the_same(tmp_path):
    frame, y = rows(holes=0.1)
    model = BayesNet([("a", "c"), ("b", "c")]).fit(frame, y)
    deciban.save(model, tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.query("c", {CLASS: "no"}).values, model.query("c", {CLASS: "no"}).values)
    assert again.evidence_ == model.evidence_


def test_network_of_a_classifier_goes_through_bif(tmp_path):
    frame, y = rows()
    model = BayesNet().fit(frame, y)
    model.to_bif(tmp_path / "m.bif")
    again = BayesNet.from_bif(tmp_path / "m.bif", target=CLASS)
    new, _ = rows(50, seed=1, holes=0.3)
    np.testing.assert_allclose(again.predict_proba(new), model.predict_proba(new), atol=1e-12)
    assert again.predict(new).tolist() == model.predict(new).tolist()


# the network


def test_given_network_predicts_any_of_its_nodes():
    for target in LEVELS:
        model = grass(target=target)
        others = [name for name in LEVELS if name != target]
        frame = pd.DataFrame(list(product(*([*LEVELS[name], None] for name in others))), columns=others)
        got = model.predict_proba(frame)
        for row, cells in zip(got, frame.to_dict("records"), strict=True):
            evidence = {name: cell for name, cell in cells.items() if cell is not None}
            try:
                want = model.query(target, evidence).values
            except DataError:
                continue  # dry though the sprinkler was on and it rained is possible; wet from nothing is not
            np.testing.assert_allclose(row, want, atol=1e-12)
        assert np.isfinite(got).all()
        assert model.classes_.tolist() == LEVELS[target]
        x, y = model.sample(20, random_state=0)
        assert x.shape == (20, 2)
        assert set(y) <= set(LEVELS[target])
        assert model.explain(frame[:3]).decibans.shape[0] == 3


def test_tables_from_rows_are_shares_of_them():
    drawn = grass().sample(20_000, random_state=0, library="pandas")
    assert list(drawn.columns) == list(LEVELS)
    again = BayesNet.from_edges(EDGES, drawn)
    for name, table in zip(again.network_.names, again.network_.tables, strict=True):
        np.testing.assert_allclose(table, TABLES[name], atol=0.02)
    assert again.query("rain", {"wet": "wet"})["yes"] == pytest.approx(0.3577, abs=0.02)


def test_log_density_sums_to_one_and_takes_frames_arrays_and_parts():
    model = grass()
    every = pd.DataFrame(list(product(*LEVELS.values())), columns=list(LEVELS))
    assert np.exp(model.log_density(every)).sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(model.log_density(every.to_numpy()), model.log_density(every))
    np.testing.assert_array_equal(model.log_density(every[["wet", "rain", "sprinkler"]]), model.log_density(every))
    np.testing.assert_allclose(np.exp(model.log_density({"rain": ["no", "yes"]})), [0.8, 0.2])
    assert model.log_density(every).min() == -np.inf  # wet from nothing
    with pytest.raises(DataError, match=r"(?s)`rain` is 'maybe' in row 1.*hint: its levels are 'no', 'yes'"):
        model.log_density({"rain": ["no", "maybe"]})
    with pytest.raises(DataError, match="column `snow` is not a node"):
        model.log_density({"snow": ["no"]})
    with pytest.raises(DataError, match="rows of 2 columns for a network of 3 nodes"):
        model.log_density(every.to_numpy()[:, :2])


def test_given_network_does_not_update_but_saves_and_fits_anew(tmp_path):
    model = grass(target="wet")
    x, y = model.sample(200, random_state=0, library="pandas")
    for change in (model.partial_fit, model.forget, model.leave_one_out):
        with pytest.raises(NotAdditiveError, match="were given"):
            change(x, y)
    with pytest.raises(NotAdditiveError, match="were given"):
        model + model
    deciban.save(model, tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    assert again.query("rain").values.tolist() == model.query("rain").values.tolist()
    model._given = replace(model._given, parents=((2,), (0,), (0, 1)))
    with pytest.raises(ModelFileError, match="its network is none"):
        deciban.save(model, tmp_path / "m.deciban")
    learned = BayesNet(EDGES[:1], target="wet").fit(x, y)
    assert learned.edges_ == EDGES[:1]
    with pytest.raises(DataError, match=r"(?s)no class.*hint: .*target="):
        grass().predict(x)
    with pytest.raises(DataError, match="target is 'snow'"):
        grass(target="snow")


@pytest.mark.parametrize("more", [{}, {"levels": LEVELS}, {"tables": TABLES}, {"rows": {"a": [1]}, "tables": TABLES}])
def test_tables_come_from_one_place(more):
    with pytest.raises(DataError, match="hint: give one of the two"):
        BayesNet.from_edges([], **more)


def test_broken_and_absent_files_are_named(tmp_path):
    path = tmp_path / "broken.bif"
    path.write_text(
        "network x { }\nvariable a { type discrete [ 2 ] { x, y }; }\nprobability ( a ) { table 0.5, 0.6; }\n"
    )
    with pytest.raises(DataError, match=r"(?s)broken\.bif: line 3: .*sum to 1\.1.*hint:"):
        BayesNet.from_bif(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="is not text"):
        BayesNet.from_bif(path)
    with pytest.raises(FileNotFoundError):
        BayesNet.from_bif(tmp_path / "absent.bif")


# the picture


def test_picture_of_a_network_that_is_too_wide_has_edges_of_one_width(monkeypatch):
    monkeypatch.setattr(network, "LONG", 3)
    with pytest.raises(DataError, match=r"(?s)too wide to compute all its edges.*hint: leave out edges"):
        grass().network_.information()
    assert plots.graph(grass()).texts[-1].get_text() == "edges of one width: too wide to measure"


def test_picture_holds_edges_that_bend_beyond_the_boxes():
    """a → d passes two layers of one wide box each."""
    nodes = ["a", "b" * 20, "c" * 20, "d"]
    edges = [(nodes[0], nodes[1]), (nodes[1], nodes[2]), (nodes[2], nodes[3]), (nodes[0], nodes[3])]
    model = BayesNet.from_edges(edges, {name: [0, 1, 1, 0] for name in nodes})
    wide = [networks.PAD * 2 + networks.LETTER * max(2, len(name)) for name in nodes]
    at, routes = place(model.network_.parents, wide)
    bends = [x for route in routes.values() for x, _ in route]
    low, high = plots.graph(model).get_xlim()
    assert low < min(bends) < max(bends) < high
    assert max(bends) > max(x + w / 2 for (x, _), w in zip(at, wide, strict=True))


def test_picture_has_every_node_and_edges_as_wide_as_they_tell(tmp_path):
    model = grass()
    ax = plots.graph(model)
    assert [text.get_text() for text in ax.texts][:3] == list(LEVELS)
    bits = model.network_.information()
    widths = [patch.get_linewidth() for patch in ax.patches[: len(bits)]]
    order = [edge for child in LEVELS for edge in bits if edge[1] == child]
    assert np.argsort(widths).tolist() == np.argsort([bits[edge] for edge in order]).tolist()
    ax.figure.savefig(tmp_path / "grass.svg")
    assert (tmp_path / "grass.svg").read_text().count("<path") > 6


def test_picture_of_a_classifier_and_of_a_wide_network():
    frame, y = rows()
    ax = plots.graph(BayesNet().fit(frame, y))
    assert CLASS in [text.get_text() for text in ax.texts]
    names = [f"n{i}" for i in range(30)]
    lone = BayesNet.from_edges([], levels={n: ["$x$"] for n in names}, tables={n: [1.0] for n in names})
    assert plots.graph(lone, ax) is ax


def test_the_example_runs(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("bayesnet", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path = module.main(str(tmp_path))
    assert path.stat().st_size > 5000
    assert "P(lung | " in capsys.readouterr().out


def test_a_row_is_left_out_of_tables_with_many_parents():
    """24 parents: as many numbers as they have combinations would not fit into memory."""
    rng = np.random.default_rng(0)
    rows, parents, y = rng.integers(-1, 2, 60), rng.integers(-1, 1, (24, 60)), rng.integers(0, 3, 60).astype(np.int32)
    parents[:, :30] = 0  # their only level
    tables = [np.array([40.0, 30.0]), *(rng.integers(40, 50, (3, *[1] * many, 2)) * 1.0 for many in range(25))]
    strengths, given = rng.random(24), [0] * 24
    out = LeftOut.of(None, y, None, None)
    found = np.exp(log_shares_without(tables, 0.5, (2.0, *strengths), 1, given, rows, parents, out))
    whole = (rows == 1) & (parents == 0).all(axis=0)  # whose cells are the cell and its conditions
    at = np.flatnonzero(whole)
    want = left_out(tables, 0.5, (2.0, *strengths), rows[at], [np.zeros(len(at), dtype=int)] * 24, y[at], None)
    np.testing.assert_allclose(found[at], want, rtol=1e-12)
    plain = log_shares_without(
        tables, 0.5, (2.0, *strengths), 1, given, rows, parents, LeftOut.of(None, y, np.ones(len(y)), None)
    )
    np.testing.assert_allclose(found, np.exp(plain), rtol=1e-12)
