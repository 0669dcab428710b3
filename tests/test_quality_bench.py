"""The pieces of the quality tables, on a table small enough to check by hand."""

import doctest
import json
import sys
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import brier_score_loss, log_loss

pd = pytest.importorskip("pandas")
pytest.importorskip("bench", reason="the benchmarks are not part of the package")

from bench import evaluate, frame_race, libraries, measures, quality_report, quality_tables, tables  # noqa: E402
from bench.measures import Measures, calibration_error, measure  # noqa: E402

BASELINES = [c for c in libraries.found().values() if hasattr(c, "VERSIONS")]
COLUMNS = [(("height", "width"), ()), ((), ("colour", "code")), (("height",), ("colour", "code"))]


def small(numeric=("height", "width"), nominal=("colour", "code"), n=60, split=None):
    """Two classes told apart by everything, with holes and one level that occurs once."""
    rng = np.random.default_rng(3)
    y = np.arange(n) % 2
    X = pd.DataFrame(
        {
            "height": y + rng.normal(size=n),
            "width": 10 * y + rng.normal(size=n),
            "colour": pd.Series(np.where(y + rng.normal(size=n) > 0.5, "red", "blue"), dtype=object),
            "code": pd.Series(rng.integers(3, size=n).astype(str), dtype=object),
        }
    )
    X.loc[0, "code"] = "once"
    X.loc[5, :] = None
    classes = np.array(["no", "yes"])
    return tables.Table("small", X[[*numeric, *nominal]], y, classes, tuple(numeric), tuple(nominal), split)


def dummy(name="dummy", **more):
    return SimpleNamespace(NAME=name, make=lambda *_: DummyClassifier(strategy="prior"), **more)


def write_shared(folder):
    table = small()
    frame = table.X.assign(height=table.X["height"].round(3), answer=table.labels)
    (folder / "wine").mkdir()
    frame.to_csv(folder / "wine" / "wine.csv", index=False)
    entry = {
        "name": "wine",
        "target": "answer",
        "split": None,
        "numeric": ["height", "width"],
        "nominal": ["colour", "code"],
        "files": [{"path": "wine/wine.csv"}],
    }
    (folder / "manifest.json").write_text(json.dumps([entry]))


def test_the_examples_run():
    for module in (measures, libraries):
        assert doctest.testmod(module).failed == 0


def test_calibration_error_equals_a_hand_computation():
    # (14/15, 1] has 0.95 and 1, one of two right; (9/15, 10/15] its upper edge 2/3, right; (6/15, 7/15] 0.45, wrong
    confidence, right = np.array([0.95, 1.0, 2 / 3, 0.45]), np.array([True, False, True, False])
    expected = 2 / 4 * abs(0.5 - 0.975) + 1 / 4 * (1 - 2 / 3) + 1 / 4 * 0.45
    assert calibration_error(confidence, right) == pytest.approx(expected, rel=1e-12)


def test_calibration_error_equals_a_loop_over_the_bins():
    rng = np.random.default_rng(4)
    confidence, edges = rng.uniform(0.2, 1, size=500), np.linspace(0, 1, 16)
    right = rng.random(500) < confidence
    inside = [(confidence > low) & (confidence <= high) for low, high in pairwise(edges)]
    gaps = [m.mean() * abs(right[m].mean() - confidence[m].mean()) for m in inside if m.any()]
    assert calibration_error(confidence, right) == pytest.approx(sum(gaps), rel=1e-12)


def test_measures_equal_scikit_learns():
    rng = np.random.default_rng(5)
    proba, y = rng.dirichlet(np.ones(4), size=200), rng.integers(4, size=200)
    found = measure(proba, y)
    assert found.log_loss == pytest.approx(log_loss(y, proba), rel=1e-12)
    assert found.accuracy == np.mean(proba.argmax(axis=1) == y)
    assert found.brier == pytest.approx(np.square(proba - np.eye(4)[y]).sum(axis=1).mean(), rel=1e-12)
    two = measure(proba[:, :2] / proba[:, :2].sum(axis=1, keepdims=True), y % 2)
    p = proba[:, 1] / proba[:, :2].sum(axis=1)
    assert two.brier == pytest.approx(2 * brier_score_loss(y % 2, p), rel=1e-12)


def test_a_certain_mistake_costs_36_and_a_nan_has_no_score():
    assert measure(np.array([[1.0, 0.0]]), np.array([1])).log_loss == pytest.approx(-np.log(np.finfo(float).eps))
    with pytest.raises(ValueError, match="row 1 has a probability that is no number"):
        measure(np.array([[1.0, 0.0], [np.nan, 0.5]]), np.array([0, 1]))


def test_folds_are_stratified_cover_every_row_once_and_do_not_change():
    table = small()
    tests = [test for _, test in table.folds()]
    assert len(tests) == 10
    assert sorted(np.concatenate(tests)) == list(range(60))
    assert all(table.y[test].sum() == 3 for test in tests)
    assert all(not set(train) & set(test) for train, test in table.folds())
    assert all(np.array_equal(a, b) for a, (_, b) in zip(tests, table.folds(), strict=True))


def test_a_standard_split_is_kept():
    [(train, test)] = small(split=np.arange(60) < 40).folds()
    assert (list(train), list(test)) == (list(range(40)), list(range(40, 60)))


def test_names_are_read_as_strings_and_empty_fields_as_missing(tmp_path):
    write_shared(tmp_path)
    [table] = tables.load(("wine", "glass"), tmp_path)
    assert set(table.X["code"].dropna()) <= {"0", "1", "2", "once"}
    assert table.X["height"].dtype == np.float64
    assert table.missing == 4
    assert list(table.labels[:2]) == ["no", "yes"]


@pytest.mark.parametrize("library", BASELINES, ids=lambda c: c.NAME)
@pytest.mark.parametrize(("numeric", "nominal"), COLUMNS, ids=["numbers", "names", "both"])
def test_every_baseline_fits_every_kind_of_table(library, numeric, nominal):
    found = evaluate.evaluate(library, small(numeric, nominal, split=np.arange(60) >= 20))
    assert found.rows == 20
    assert 0 <= found.ece <= 1


def test_a_class_absent_from_training_has_probability_0():
    table = small(split=np.arange(60) % 2 == 0)
    assert evaluate.evaluate(dummy(), table).log_loss == pytest.approx(-np.log(np.finfo(float).eps))


def test_answers_are_kept_and_found_again(tmp_path):
    kept, table = evaluate.Kept(tmp_path / "cache.csv"), small()
    first, lasted = evaluate.look_up(BASELINES[0], table, kept)
    again, no_time = evaluate.look_up(BASELINES[0], table, kept)
    assert lasted is not None
    assert no_time is None
    assert again.hits == first.hits
    assert again.log_loss == pytest.approx(first.log_loss, rel=1e-8)


def test_a_key_changes_with_the_cells_the_labels_the_split_and_the_library():
    table = small()
    cells = table.X.copy()
    cells.loc[3, "height"] = 99.0
    others = [
        tables.Table("small", cells, table.y, table.classes, table.numeric, table.nominal),
        tables.Table("small", table.X, 1 - table.y, table.classes, table.numeric, table.nominal),
        tables.Table("small", table.X, table.y, table.classes, table.numeric, table.nominal, np.arange(60) < 40),
    ]
    keys = [evaluate.key(BASELINES[0], t) for t in (table, *others)] + [evaluate.key(BASELINES[1], table)]
    assert len(set(keys)) == len(keys)
    assert evaluate.key(BASELINES[0], table) == keys[0]


def test_a_library_without_versions_is_never_kept(tmp_path):
    kept = evaluate.Kept(tmp_path / "cache.csv")
    assert evaluate.look_up(dummy(), small(), kept)[1] is not None
    assert not kept.path.exists()


THEIRS = Measures(rows=100, hits=50, log_loss=1.0, brier=0.2, ece=0.4)


def scores(*ours):
    """A set for each (hits, log loss) of ours."""
    made = (Measures(rows=100, hits=hits, log_loss=loss, brier=0.1, ece=0.1) for hits, loss in ours)
    return {f"set{i}": {"deciban": m, "naive Bayes": THEIRS} for i, m in enumerate(made)}


def test_the_summary_counts_ties_as_not_better_and_no_answer_as_lost():
    found = scores((60, 0.5), (50, 0.9), (40, 1.1)) | {"failed": {"naive Bayes": THEIRS}}
    a = quality_report.against(found, "naive Bayes")
    assert (a.sets, a.better["log_loss"], a.better["accuracy"], a.ties) == (4, 2, 1, 1)
    assert a.ece_ratio == pytest.approx(0.25)
    assert [met for *_, met in quality_report.verdict(a)] == [False, False, True]


def test_the_page_has_every_set_and_marks_the_best():
    races = [frame_race.FrameResult("pandas", "MixedNB()", ours_s=1, baseline_s=9, pairs=(9.0,))]
    page = quality_report.page([small()], scores((60, 0.5)), races)
    assert "| set0 | **0.5000** | 1.0000 |" in page
    assert "| set0 | **60.00%** | 50.00% |" in page
    assert "9.00× (missed)" in page


def test_the_command_prints_what_it_is_asked_for_and_says_what_is_not_there(tmp_path, monkeypatch, capsys):
    write_shared(tmp_path)
    monkeypatch.setattr(quality_tables, "CACHE", tmp_path / "cache.csv")
    broken = SimpleNamespace(NAME="broken", make=lambda *_: DummyClassifier(strategy="constant"))
    monkeypatch.setattr(libraries, "found", lambda: {"dummy": dummy(), "broken": broken})
    quality_tables.main(["--only", "wine,glass", "--data", str(tmp_path)])
    said = capsys.readouterr()
    assert "| wine |" in said.out
    assert "skipped glass" in said.err
    assert "wine: broken failed" in said.err


def test_a_race_runs_on_every_frame_that_is_installed():
    table = small(nominal=())
    kinds = [kind for kind, _ in frame_race.frames(table)]
    assert kinds == ["pandas"] + ["polars"] * ("polars" in sys.modules)
    make = dummy().make
    result = frame_race.race(("pandas", table.X), table.labels, ("dummy", make), make, repeats=2)
    assert len(result.pairs) == 2
