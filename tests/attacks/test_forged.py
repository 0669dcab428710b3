"""Files that were changed on purpose, with a right checksum: what loads is what `fit` could have made."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deciban
from deciban import GaussianNB, LogisticRegression
from deciban.composites.discretised import ColumnCuts
from deciban.errors import DataError, ModelFileError
from deciban.storage import checkpoint, tensors

from ..support.forgery import fill, forge

X = np.random.default_rng(0).normal(size=(40, 3))
y = np.arange(40) % 2


def refused(model, path, change):
    deciban.save(model, path)
    deciban.load(path)
    forge(path, change)
    with pytest.raises(ModelFileError):
        deciban.load(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "f.deciban"


def filled(name, value):
    return lambda metadata, arrays: fill(metadata, arrays, name, value)


MODELS = [
    GaussianNB(),
    deciban.BernoulliNB(),
    deciban.MultinomialNB(),
    deciban.CategoricalNB(),
    deciban.PoissonNB(),
    deciban.MixedNB(),
    deciban.LinearDiscriminantAnalysis(),
    deciban.QuadraticDiscriminantAnalysis(),
    deciban.AODE(),
    deciban.BayesNet(),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_f1_negative_and_contradicting_sums_are_refused(path, model):
    model.fit(np.abs(X).round(), y)
    deciban.save(model, path)
    with open(path, "rb") as file:
        arrays = dict(tensors.Header.from_file(file).arrays(file))
    sums = [name for name, a in arrays.items() if name.startswith("fitted.tally") and a.dtype == np.float64 and a.size]
    for name in sums:
        if not name.endswith(("mean", "rows", "sums")) or isinstance(model, deciban.MultinomialNB | deciban.PoissonNB):
            refused(model, path, filled(name, -5.0))
        if name.endswith(("counts", ".w", "scatter")):
            refused(model, path, lambda metadata, arrays, name=name: arrays[name].flat.__setitem__(1, 1e9))


def test_f1_parts_with_other_weights_than_the_classes_are_refused(path):
    def change(metadata, arrays):
        parts = metadata["fitted"]["state"]["tally"]["with"]["parts"]["tuple"][1]["with"]["parts"]["tuple"]
        parts[0]["with"]["weight"], arrays["other"] = {"array": "other"}, np.array([30.0, 10.0])

    refused(GaussianNB().fit(X, y), path, change)


def test_f1_more_ones_than_rows_are_refused(path):
    model = deciban.BernoulliNB().fit(np.abs(X).round(), y)
    refused(model, path, filled("fitted.tally.parts.1.sums", 21.0))


@pytest.mark.parametrize(
    "classes", [["a", "a"], ["b", "a"], [["x"], "b"], [None, "b"], [{"float": "nan"}, {"float": "inf"}], [1, "b"]]
)
def test_f2_classes_are_distinct_and_ascending(path, classes):
    def change(metadata, arrays):
        metadata["about"]["classes"] |= {"objects": classes, "kind": "O"}

    refused(GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]), path, change)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef_", np.nan),
        ("coef_", np.inf),
        ("intercept_", np.nan),
        ("class_count_", -1.0),
        ("_means", np.nan),
        ("_observed.curvature.information", np.nan),
        ("_observed.curvature.theta", np.inf),
    ],
)
def test_f3_coefficients_are_numbers(path, name, value):
    refused(LogisticRegression().fit(X, y), path, filled(f"learned.{name}", value))


def test_f3_what_is_known_of_the_rows_has_the_shapes_of_the_coefficients(path):
    def change(metadata, arrays):
        arrays["learned._observed.curvature.information"] = np.eye(2)

    refused(LogisticRegression().fit(X, y), path, change)


@pytest.mark.parametrize("read", [deciban.load, deciban.model_info])
def test_s4_a_number_of_columns_that_the_file_cannot_hold_is_refused(path, read):
    deciban.save(GaussianNB().fit(X, y), path)

    def change(metadata, arrays):
        metadata["learned"]["n_features_in_"] = metadata["about"]["columns"] = 10**12
        reader = metadata["fitted"]["state"]["reader"]["dict"]
        reader[1][reader[0].index("d")] = 10**12

    forge(path, change)
    with pytest.raises(ModelFileError, match="columns"):
        read(path)


def test_s4_a_table_of_long_texts_is_refused(path):
    deciban.save(GaussianNB().fit(X, y), path)

    def change(metadata, arrays):
        labels = ["a" * (1 << 20), *(f"b{i:06}" for i in range(1 << 12))]
        metadata["about"]["classes"] = {"objects": labels, "shape": [len(labels)], "kind": 1}

    forge(path, change)
    with pytest.raises(ModelFileError, match="texts"):
        deciban.load(path)


def test_s4_words_that_overlap_are_refused(path):
    deciban.save(deciban.TextClassifier().fit(["a film", "a book"], ["x", "y"]), path)

    def change(metadata, arrays):
        name = next(name for name in arrays if name.endswith("offsets"))
        arrays[name] = np.array([0, 4, 0, 4])

    forge(path, change)
    with pytest.raises(ModelFileError, match="words"):
        deciban.model_info(path)


def stopped_job(folder, monkeypatch):
    """A checkpoint of a job that was stopped, and how to go on."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    for i in range(4):
        pq.write_table(pa.table({"x": np.arange(100.0), "y": ["a", "b"] * 50}), folder / f"{i}.parquet")

    def stop(rows, share):
        if rows >= 200:
            raise KeyboardInterrupt

    def learn(**how):
        return GaussianNB().fit_on(str(folder / "*.parquet"), target="y", checkpoint=folder / "c.bin", **how)

    with pytest.raises(KeyboardInterrupt):
        learn(progress=stop)
    return folder / "c.bin", learn


@pytest.mark.parametrize("value", [np.nan, -1.0, 1e300])
@pytest.mark.parametrize(
    "name",
    ["total.tally.parts.0.weight", *(f"total.tally.parts.1.parts.0.{of}" for of in ("squares", "sums")), "total.rows"],
)
def test_f4_forged_checkpoints_are_refused(tmp_path, monkeypatch, name, value):
    path, learn = stopped_job(tmp_path, monkeypatch)
    if name == "total.rows" and value != -1.0:
        value = 7
    if name.endswith("sums") and value == -1.0:
        value = -1e9
    forge(path, filled(name, value))
    with pytest.raises(DataError, match=r"c\.bin"):
        learn()


def test_f4_checkpoints_with_wrong_parts_are_refused(tmp_path, monkeypatch):
    path, learn = stopped_job(tmp_path, monkeypatch)
    whole = path.read_bytes()
    for part, value in [("at", {"pieces": -1, "rows": 200, "types": {"dict": [[], []]}}), ("at", {}), ("total", {})]:
        path.write_bytes(whole)
        forge(path, lambda metadata, arrays, part=part, value=value: metadata.update({part: value}))
        with pytest.raises(DataError, match=r"c\.bin"):
            learn()
    path.write_bytes(whole)
    assert learn().class_count_.tolist() == [200.0, 200.0]


def levels(metadata, arrays):
    arrays["fitted.tally.parts.1.levels"] += 1


def closed(metadata, arrays):
    metadata["fitted"]["state"]["closed"] = 3


def reader(name, value):
    def change(metadata, arrays):
        own = metadata["fitted"]["state"]["reader"]["dict"]
        own[1][own[0].index(name)] = value

    return change


def learned(name, value):
    return lambda metadata, arrays: metadata["learned"].update({name: value})


def setting(name, value):
    return lambda metadata, arrays: metadata["settings"].update({name: value})


KEPT = deciban.TextClassifier("nb-logistic").fit(["a film", "a book", "some film", "no book"], ["x", "y"] * 2)
MANY = {
    "levels that no column has": (deciban.TreeAugmentedNB().fit(np.abs(X).round(), y), levels),
    "a switch that is a number": (GaussianNB().fit(X, y), closed),
    "ignored columns that are no names": (GaussianNB().fit(X, y), reader("ignored", 7)),
    "names of other columns": (GaussianNB().fit(X, y), reader("labels", {"tuple": ["a"]})),
    "weights that no rows have": (GaussianNB().fit(X, y), filled("fitted.tally.parts.0.weight", 1e155)),
    "weights that are too small": (GaussianNB().fit(X, y), filled("fitted.tally.parts.0.weight", 1e-310)),
    "means whose squares overflow": (GaussianNB().fit(X, y), filled("fitted.tally.parts.1.parts.0.sums", 1e162)),
    "squares without an inverse": (
        deciban.LinearDiscriminantAnalysis().fit(X, y),
        filled("fitted.tally.parts.1.scatter", 1e-310),
    ),
    "weights that do not add up to 1": (deciban.BayesOptimal().fit(X, y), filled("learned.weights_", 0.9)),
    "a prior of no models": (deciban.BayesOptimal().fit(X, y), setting("prior", {"set": [1]})),
    "no calibration": (KEPT, lambda metadata, arrays: metadata["learned"].pop("_calibration")),
    "texts of one key that are no copies": (KEPT, filled("learned._words.kept.key", 7)),
    "no weights of words": (KEPT, lambda metadata, arrays: metadata["learned"].pop("_trained")),
    "sums over rows of no weight": (GaussianNB().fit(X, y), filled("fitted.tally.parts.1.parts.1.part.weight", 1e-310)),
    "a tally of its own": (LogisticRegression().fit(X, y), learned("_state", [])),
    "texts that were not counted": (KEPT, filled("learned._words.kept.value", 99)),
    "a penalty without strength": (LogisticRegression().fit(X, y), learned("C_", 0.0)),
    "training rows that are none": (LogisticRegression().fit(X, y), learned("_observed", None)),
    "a likelihood of no rows": (
        LogisticRegression().fit(X, y),
        filled("learned._observed.curvature.information", 1e-310),
    ),
    "a setting beyond doubles": (deciban.ComplementNB().fit(np.abs(X).round(), y), setting("alpha", 10**400)),
}


@pytest.mark.parametrize("what", MANY)
def test_models_that_could_not_answer_are_refused(path, what):
    refused(MANY[what][0], path, MANY[what][1])


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("at", "pieces", 2**63),
        ("total", "kinds", 3),
        ("total", "again", True),
        ("total", "tally", {"of": "Bundle", "with": {"parts": {"tuple": []}}}),
    ],
)
def test_checkpoints_of_no_job_are_refused(tmp_path, monkeypatch, part, key, value):
    path, learn = stopped_job(tmp_path, monkeypatch)
    forge(path, lambda metadata, arrays: metadata[part].update({key: value}))
    with pytest.raises(DataError, match=r"c\.bin"):
        learn()


def test_checkpoints_with_the_sums_of_other_columns_are_refused(tmp_path, monkeypatch):
    path, learn = stopped_job(tmp_path, monkeypatch)

    def change(metadata, arrays):
        for name in ("sums", "squares"):
            arrays[f"total.tally.parts.1.parts.0.{name}"] = np.ones((2, 2))

    forge(path, change)
    with pytest.raises(DataError, match=r"c\.bin"):
        learn()


def test_the_strength_of_a_penalty_is_a_double(path):
    def change(metadata, arrays):
        metadata["learned"]["C_"] = 10**400

    refused(LogisticRegression(C="auto").fit(X, y), path, change)


def test_tables_have_the_levels_of_their_columns(path):
    model = deciban.MixedNB().fit({"sky": ["grey", "blue", "red", "blue"]}, [0, 1, 0, 1])

    def change(metadata, arrays):
        name = next(name for name in arrays if name.endswith("counts"))
        arrays[name] = np.pad(arrays[name], ((0, 0), (0, 1)))
        arrays[name.removesuffix("counts") + "levels"] += 1

    refused(model, path, change)


@pytest.mark.parametrize("temperature", [1e308, 0.0, -1.0])
def test_scores_times_a_temperature_are_numbers(path, temperature):
    def change(metadata, arrays):
        metadata["fitted"]["state"]["calibration"]["with"]["temperature"] = temperature

    refused(GaussianNB(calibrate=True).fit(X, y), path, change)


@pytest.mark.parametrize(
    "cut", [ColumnCuts((2**70, 2**71), 0, 1), ColumnCuts((0,), -(2**70), 2**70), ColumnCuts((), 0, 2**70)]
)
def test_cuts_of_any_whole_numbers_are_numbers(cut):
    assert cut.edges.dtype == np.float64


@pytest.mark.parametrize("change", [{"shape": 1e300}, {"kappa": {"int": hex(10**400)}}, {"cuts": "none"}])
def test_f1_families_of_impossible_settings_are_refused(path, change):
    def forged(metadata, arrays):
        def visit(node):
            for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
                visit(one)
            if isinstance(node, dict) and isinstance(node.get("with"), dict) and change.keys() <= node["with"].keys():
                node["with"].update(change)

        visit(metadata)

    refused(deciban.MixedNB().fit(X, y), path, forged)


def test_forged_mixes_are_refused(tmp_path):
    path, rng = tmp_path / "m.deciban", np.random.default_rng(0)
    model = deciban.AutoClassifier(["gaussian", "lda"]).fit(rng.normal(size=(40, 2)), np.arange(40) % 2)
    deciban.save(model, path)
    whole, name = path.read_bytes(), "learned.weights_"
    numbers = [0, -1.0, 2, "1", None, True, [1.0], {"float": "nan"}, {"float": "inf"}, {"int": hex(10**400)}]
    changes = [lambda m, a, v=v: m["learned"].__setitem__("temperature_", v) for v in numbers]
    changes += [lambda m, a, v=v: a[name].fill(v) for v in (0.0, -1.0, np.nan, 1e300)]
    changes += [lambda m, a: a["learned.class_count_"].fill(-1.0), lambda m, a: m["learned"].pop("temperature_")]
    for change in changes:
        path.write_bytes(whole)
        forge(path, change)
        with pytest.raises(ModelFileError):
            deciban.load(path)
