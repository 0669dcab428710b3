"""`fit_on` and `predict_on` by the stream engine: every kind of data, odd batches, errors that name row and column,
checkpoints of jobs that are killed."""

from __future__ import annotations

import inspect
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.covariance import LedoitWolf

import deciban
from deciban import (
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    TextClassifier,
    engines,
)
from deciban.engines import stream
from deciban.errors import DataError, NotAdditiveError, SupportError

from .support.compare import assert_same_bits
from .support.data import table

pa = pytest.importorskip("pyarrow")

from pyarrow import csv, dataset, feather, parquet  # noqa: E402

from deciban.io import csv as delimited  # noqa: E402
from deciban.io import parquet as columnar  # noqa: E402
from deciban.io import readers  # noqa: E402
from deciban.storage import checkpoint  # noqa: E402

X, Y = table(300, seed=1)
ROWS = pa.Table.from_pandas(X.assign(label=Y), preserve_index=False)
PLAIN = ROWS.set_column(2, "kind", ROWS["kind"].cast(pa.string()))  # what CSV and JSON can hold
WHOLE = MixedNB().fit(X, Y)


def written(rows, path) -> str:
    form = path.suffix
    if form == ".parquet":
        parquet.write_table(rows, path, row_group_size=41)
    elif form == ".csv":
        csv.write_csv(rows, path)
    elif form == ".feather":
        feather.write_feather(rows, path, chunksize=53)
    else:
        path.write_text(rows.to_pandas().to_json(orient="records", lines=True))
    return str(path)


def polars():
    return pytest.importorskip("polars")


KINDS = {
    "parquet": lambda at: written(ROWS, at / "rows.parquet"),
    "a path": lambda at: at / written(PLAIN, at / "rows.csv"),
    "feather": lambda at: written(ROWS, at / "rows.feather"),
    "json lines": lambda at: written(PLAIN, at / "rows.jsonl"),
    "folder": lambda at: [written(ROWS.slice(a, 100), at / f"{a}.parquet") for a in (0, 100, 200)] and at,
    "folder of csv": lambda at: [written(PLAIN.slice(a, 150), at / f"{a}.csv") for a in (0, 150)] and str(at),
    "glob": lambda at: (
        [written(ROWS.slice(a, 150), at / f"part{a}.parquet") for a in (0, 150)] and f"{at}/part*.parquet"
    ),
    "dataset": lambda at: dataset.dataset(written(ROWS, at / "rows.parquet")),
    "table": lambda at: ROWS,
    "reader": lambda at: ROWS.to_reader(max_chunksize=70),
    "pandas": lambda at: X.assign(label=Y),
    "frames": lambda at: (X.assign(label=Y)[a : a + 60] for a in range(0, 300, 60)),
    "list of frames": lambda at: [X.assign(label=Y)[:7], X.assign(label=Y)[7:]],
    "batches": lambda at: iter(ROWS.to_batches(max_chunksize=99)),
    "a function": lambda at: lambda: iter(ROWS.to_batches(max_chunksize=99)),
    "polars": lambda at: polars().from_arrow(ROWS),
    "polars lazily": lambda at: polars().from_arrow(ROWS).lazy(),
    "polars frames": lambda at: polars().from_arrow(ROWS).iter_slices(77),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_gives_the_model_of_all_rows(kind, tmp_path):
    data = KINDS[kind](tmp_path)
    assert engines.engine_for(data) is stream
    model = MixedNB().fit_on(data)
    assert model.levels_ == WHOLE.levels_
    assert model.families_ == WHOLE.families_
    np.testing.assert_allclose(model.predict_proba(X), WHOLE.predict_proba(X), rtol=1e-9)


def test_anything_that_exports_an_arrow_stream_is_read():
    class Relation:
        """What DuckDB's relations are like."""

        def __arrow_c_stream__(self, requested_schema=None):
            return ROWS.to_reader(max_chunksize=50).__arrow_c_stream__(requested_schema)

    np.testing.assert_allclose(MixedNB().fit_on(Relation()).predict_proba(X), WHOLE.predict_proba(X), rtol=1e-9)
    assert isinstance(WHOLE.predict_on(Relation()), pa.RecordBatchReader)


def test_index_that_pandas_wrote_into_a_file_is_no_feature(tmp_path):
    X.assign(label=Y).sample(frac=1.0, random_state=0).to_parquet(tmp_path / "rows.parquet")
    assert "__index_level_0__" in parquet.read_schema(tmp_path / "rows.parquet").names
    assert MixedNB().fit_on(tmp_path / "rows.parquet").feature_names_in_.tolist() == X.columns.tolist()


def test_names_of_folders_are_columns(tmp_path):
    for sky in ("grey", "blue"):
        (tmp_path / f"sky={sky}").mkdir()
        rows = ROWS.filter(pa.compute.equal(ROWS["sky"], sky)).drop_columns("sky")
        written(rows, tmp_path / f"sky={sky}" / "rows.parquet")
    some = X["sky"].isin(["grey", "blue"])
    model, whole = MixedNB().fit_on(tmp_path), MixedNB().fit(X[some], Y[some])
    assert model.levels_["sky"] == ["blue", "grey"]
    np.testing.assert_allclose(model.predict_proba(X[some]), whole.predict_proba(X[some]), rtol=1e-9)


def test_csv_blocks_are_parsed_by_threads_with_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 1500)
    path = written(PLAIN, tmp_path / "rows.csv")
    fits = []
    for n in (1, 3):
        with deciban.threads(n):
            fits.append(MixedNB().fit_on(path))
    for a, b in zip(fits[0].tally_.parts, fits[1].tally_.parts, strict=True):
        assert_same_bits(a, b)
    assert sum(1 for _ in readers.open_path(path).pieces()) > 5


def test_csv_column_that_turns_out_late_to_be_of_another_type_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 4096)
    rows = pd.DataFrame(
        {"a": ["1"] * 3000 + ["x"], "b": ["2"] * 3000 + ["2.5"], "label": ["u", "v", "v"] * 1000 + ["u"]}
    )
    rows.to_csv(tmp_path / "rows.csv", index=False)
    model = MixedNB().fit_on(tmp_path / "rows.csv")
    assert model.levels_ == {"a": ["1", "x"]}
    assert model.class_count_.sum() == 3001


def test_few_columns_are_read_and_no_others():
    seen = []

    def count(batch):
        seen.append(batch.schema.names)
        return batch.num_rows

    assert stream.total(ROWS, count, columns=("wet",)) == 300
    assert seen == [["wet"]]


# odd batches


def test_widths_of_numbers_and_columns_that_are_all_missing_make_no_difference():
    kinds = [pa.int8(), pa.int64(), pa.float32(), pa.null(), pa.uint16()]
    x, y = np.arange(25) % 7, np.array(list("ab"))[np.arange(25) % 2]
    tables = []
    for i, kind in enumerate(kinds):
        cells = [None] * 5 if kind == pa.null() else x[5 * i : 5 * i + 5].tolist()
        tables.append(pa.table({"x": pa.array(cells, kind), "label": y[5 * i : 5 * i + 5]}))
    want = np.where((np.arange(25) >= 15) & (np.arange(25) < 20), np.nan, x)[:, None]
    model = GaussianNB().fit_on(tables)
    np.testing.assert_allclose(model.theta_, GaussianNB().fit(want, y).theta_, rtol=1e-12)
    mixed, frame = MixedNB(families={"x": "gaussian"}), pd.DataFrame(want, columns=["x"])
    np.testing.assert_allclose(mixed.fit_on(tables).predict_proba(frame), mixed.fit(frame, y).predict_proba(frame))


def test_column_whose_type_is_not_known_at_first_is_found_out():
    parts = [
        pa.table({"sky": pa.nulls(2), "label": ["a", "b"]}),
        pa.table({"sky": ["grey", "blue"], "label": ["a", "c"]}),
    ]
    model = MixedNB().fit_on(parts)
    assert model.levels_ == {"sky": ["blue", "grey"]}
    assert model.classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(DataError, match=r"`sky` holds texts or truth values in some parts .* numbers in others"):
        MixedNB().fit_on([*parts, pa.table({"sky": [1, 2], "label": ["a", "b"]})])


def test_texts_that_a_frame_has_none_of_may_be_numbers_there():
    """What pandas makes of an empty column."""
    frame = pd.DataFrame({"sky": ["grey", "blue"], "label": ["a", "b"]})
    assert MixedNB().fit_on([frame, frame.assign(sky=np.nan)]).levels_ == {"sky": ["blue", "grey"]}


def test_parts_of_other_processes_are_the_same():
    """What workers of a cluster do: pickle the function, send parts back."""
    import pickle

    seen = []

    class Engine:
        names, schema, takes, ready = stream.names, stream.schema, stream.takes, stream.ready

        @staticmethod
        def total(data, f, plus=None, *, columns=None, coded=(), progress=None):
            f, data = pickle.loads(pickle.dumps(f)), data.select(list(columns))
            parts = [pickle.loads(pickle.dumps(f(batch))) for batch in data.to_batches(max_chunksize=50)]
            seen.append(len(parts))
            return sum(parts[1:], parts[0])

    import types

    engine = types.ModuleType("engine")
    for name in ("names", "schema", "takes", "ready", "total"):
        setattr(engine, name, getattr(Engine, name))
    np.testing.assert_allclose(
        MixedNB().fit_on(ROWS, engine=engine).predict_proba(X), WHOLE.predict_proba(X), rtol=1e-9
    )
    assert seen == [6]


def test_every_engine_of_data_has_the_same_functions():
    functions = ("takes", "ready", "names", "schema", "total", "transform", "kept")
    for name in functions:
        first, *others = [inspect.signature(vars(engine)[name]).parameters for engine in engines.all_engines().values()]
        assert all(list(first) == list(other)[: len(first)] for other in others), name


# errors


def poisoned(row: int, column: str, cell) -> list:
    rows = pd.DataFrame({"a": np.arange(500.0), "b": np.arange(500.0) % 7, "label": np.arange(500) % 2})
    rows[column] = rows[column].astype(object)
    rows.loc[row, column] = cell
    return [rows[i : i + 100].infer_objects() for i in range(0, 500, 100)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (poisoned(321, "b", np.inf), r"infinity .*row 321, column `b`"),
        (poisoned(321, "label", None), r"label in row 321 is missing \(column `label`\)"),
        (poisoned(321, "label", 0.5), r"`label` looks continuous, not like classes: 0.5 in row 321"),
        (poisoned(300, "b", "x"), r"`b` holds text"),
    ],
    ids=["infinity", "no label", "an amount", "text"],
)
def test_error_names_the_row_among_all_and_the_column(data, words):
    for n in (1, 2):
        with deciban.threads(n), pytest.raises(DataError, match=words) as told:
            GaussianNB().fit_on(
                [
                    pa.Table.from_pandas(frame.astype({"b": str}) if "text" in words and i == 3 else frame)
                    for i, frame in enumerate(data)
                ]
            )
        assert told.value.__cause__ is None
        assert "hint:" in str(told.value)


def test_negative_counts_are_refused_by_row_and_name():
    rows = pa.table({"a": [1, 2, 3], "b": [1, -2, 3], "label": [0, 1, 0]})
    with pytest.raises(SupportError, match=r"row 4, column `b`"):
        MultinomialNB().fit_on([rows.set_column(1, "b", [[1, 2, 3]]), rows])


def test_failure_leaves_the_model_as_it_was():
    model = GaussianNB().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(DataError):
        model.fit_on(poisoned(321, "b", np.inf))
    assert model.n_features_in_ == 1


def test_column_that_is_not_there_is_told_with_what_is_near():
    with pytest.raises(DataError, match="did you mean `label`"):
        GaussianNB().fit_on(ROWS, target="labels")
    with pytest.raises(DataError, match="no column `wimd`"):
        GaussianNB().fit_on(ROWS, features=["wimd"])
    with pytest.raises(DataError, match="features"):
        GaussianNB().fit_on(ROWS, features=["label"])


def test_columns_of_one_name_are_told():
    rows = ROWS.append_column("size", ROWS["size"])
    frame = pd.concat([X, X[["size"]]], axis=1).assign(label=Y)
    for data in (rows, frame, iter([frame])):
        with pytest.raises(DataError, match="two columns are named `size`"):
            GaussianNB().fit_on(data, features=["size"])


def test_nothing_to_learn_from_is_told(tmp_path):
    with pytest.raises(DataError, match="no rows"):
        GaussianNB().fit_on(pa.table({"a": pa.array([], pa.float64()), "label": pa.array([], pa.int64())}))
    with pytest.raises(DataError, match="file not found"):
        GaussianNB().fit_on(tmp_path / "no*.parquet")
    with pytest.raises(DataError, match="no engine 'flink'"):
        GaussianNB().fit_on(ROWS, engine="flink")
    with pytest.raises(DataError, match="cannot be read by any engine"):
        GaussianNB().fit_on(17)


def test_settings_that_need_all_rows_read_them_into_memory(monkeypatch):
    rows = pa.table({"a": [1.0, 2.0, 4.0, 3.0], "b": [0.0, 1.0, 0.5, 3.0], "label": [0, 0, 1, 1]})
    model = LinearDiscriminantAnalysis("lsqr", covariance_estimator=LedoitWolf())
    X = np.column_stack([rows["a"], rows["b"]])
    want = clone(model).fit(X, rows["label"].to_numpy()).coef_
    np.testing.assert_allclose(model.fit_on([rows.slice(0, 1), rows.slice(1)]).coef_, want, rtol=1e-12)
    monkeypatch.setattr("deciban.rows.rows.LARGEST", 6)
    with pytest.raises(NotAdditiveError, match=r"`covariance_estimator` needs all rows in memory"):
        model.fit_on([rows.slice(0, 1), rows.slice(1)])


def test_settings_are_chosen_from_data_that_come_once():
    once = GaussianNB(var_smoothing="auto").fit_on(ROWS.to_reader(), features=["size"])
    assert once.tuned_ == GaussianNB(var_smoothing="auto").fit_on(ROWS, features=["size"]).tuned_


def test_too_few_rows_are_refused_as_in_memory():
    rows = pa.table({"a": [1.0, 2.0, 4.0], "label": [0, 0, 1]})
    with pytest.raises(DataError, match="only 1 sample in class 1"):
        QuadraticDiscriminantAnalysis().fit_on(rows)
    with pytest.raises(DataError, match="more than the number of classes"):
        LinearDiscriminantAnalysis().fit_on(rows.slice(1))


def test_data_that_come_once_are_refused_for_several_passes():
    with stream.kept(ROWS) as data:
        assert data is ROWS
    with pytest.raises(DataError, match="can be read only once"), stream.kept(ROWS.to_reader()):
        pass


# answers


def answers(frame) -> np.ndarray:
    return pd.DataFrame(frame)[[f"p_{label}" for label in WHOLE.classes_]].to_numpy()


def test_answers_come_as_the_kind_of_thing_that_the_rows_were():
    want = WHOLE.predict_proba(X)
    out = WHOLE.predict_on(X)
    assert isinstance(out, pd.DataFrame)
    np.testing.assert_allclose(answers(out), want, rtol=1e-12)
    out = WHOLE.predict_on(X[a : a + 100] for a in (0, 100, 200))
    frames = list(out)
    assert all(isinstance(frame, pd.DataFrame) for frame in frames)
    np.testing.assert_allclose(np.concatenate([answers(frame) for frame in frames]), want, rtol=1e-12)
    out = WHOLE.predict_on(ROWS.to_reader(max_chunksize=99))
    assert isinstance(out, pa.RecordBatchReader)
    np.testing.assert_allclose(answers(out.read_all().to_pandas()), want, rtol=1e-12)
    out = WHOLE.predict_on(polars().from_arrow(ROWS).lazy())
    assert isinstance(out, polars().LazyFrame)
    np.testing.assert_allclose(answers(out.collect().to_pandas()), want, rtol=1e-12)
    out = WHOLE.predict_on(polars().from_arrow(ROWS))
    assert isinstance(out, polars().DataFrame)
    np.testing.assert_allclose(answers(out.to_pandas()), want, rtol=1e-12)


def test_file_gives_a_file_whose_own_cells_stay_as_they_are(tmp_path):
    path = tmp_path / "rows.csv"
    PLAIN.to_pandas().assign(code="007").to_csv(path, index=False)
    out = WHOLE.predict_on(path, out=tmp_path / "out.csv")
    assert out == tmp_path / "out.csv"
    lines, before = out.read_text().splitlines(), path.read_text().splitlines()
    assert all(line.startswith(old + ",") for line, old in zip(lines, before, strict=True))
    np.testing.assert_allclose(answers(pd.read_csv(out)), WHOLE.predict_proba(X), rtol=1e-9)
    written(ROWS, tmp_path / "rows.parquet")
    assert WHOLE.predict_on(tmp_path / "rows.parquet", out=tmp_path / "out.parquet") == tmp_path / "out.parquet"
    np.testing.assert_allclose(
        answers(parquet.read_table(tmp_path / "out.parquet").to_pandas()), WHOLE.predict_proba(X)
    )


def test_folder_gives_a_folder(tmp_path):
    for sky in ("grey", "blue"):
        (tmp_path / "rows" / f"sky={sky}").mkdir(parents=True)
        rows = ROWS.filter(pa.compute.equal(ROWS["sky"], sky)).drop_columns("sky")
        written(rows, tmp_path / "rows" / f"sky={sky}" / "some.parquet")
    out = WHOLE.predict_on(tmp_path / "rows", out=tmp_path / "answers")
    assert out == tmp_path / "answers"
    found = readers.read(out).to_pandas()
    np.testing.assert_allclose(answers(found), WHOLE.predict_proba(found[X.columns]), rtol=1e-12)
    assert WHOLE.predict_on(f"{tmp_path}/rows/sky=*", out=tmp_path / "all.parquet") == tmp_path / "all.parquet"
    assert parquet.read_table(tmp_path / "all.parquet").num_rows == len(found)
    with pytest.raises(DataError, match="hint: out="):
        WHOLE.predict_on(f"{tmp_path}/rows/*")


def test_texts_in_files_are_answered(tmp_path):
    pd.DataFrame({"id": ["007", "008"], "text": ["win, win", "12"]}).to_csv(tmp_path / "rows.csv", index=False)
    words = TextClassifier().fit_on(pa.table({"text": ["win", "12 lunch"], "label": ["spam", "ham"]}))
    out = pd.read_csv(words.predict_on(tmp_path / "rows.csv", out=tmp_path / "out.csv"), dtype=str)
    assert out["predicted"].tolist() == ["spam", "ham"]
    assert out["id"].tolist() == ["007", "008"]


def test_names_that_are_taken_get_a_mark():
    rows = ROWS.append_column("predicted", [["?"] * 300])
    assert WHOLE.predict_on(rows).column_names[-4:] == ["predicted_", "p_a", "p_b", "p_c"]


def test_columns_that_the_model_can_do_without_are_told_once():
    with pytest.warns(UserWarning, match="`sky` not in the data") as told:
        out = list(WHOLE.predict_on([X.drop(columns="sky")[:100], X.drop(columns="sky")[100:]]))
    found = np.concatenate([answers(frame) for frame in out])
    assert len(told) == 1
    np.testing.assert_allclose(found, WHOLE.predict_proba(X.assign(sky=None)), rtol=1e-12)
    with pytest.raises(DataError, match="lack `b`"):
        GaussianNB().fit(pd.DataFrame({"a": [0.0, 1], "b": [1.0, 2]}), [0, 1]).predict_on(pa.table({"a": [1.0]}))


def test_every_classifier_answers_on_data():
    rows = pa.table(
        {"text": ["win money", "lunch at noon", "win a prize", ""], "label": ["spam", "ham", "spam", "ham"]}
    )
    words = TextClassifier().fit_on([rows.slice(0, 1), rows.slice(1)])
    assert words.predict_on(rows)["predicted"].to_pylist()[:3] == ["spam", "ham", "spam"]
    whole = TextClassifier().fit(rows["text"].to_pylist(), rows["label"].to_pylist())
    np.testing.assert_array_equal(words.predict_proba(["win"]), whole.predict_proba(["win"]))
    linear = LogisticRegression().fit(X[["size"]].fillna(0.0), Y)
    frame = X[["size"]].fillna(0.0)
    np.testing.assert_allclose(answers(linear.predict_on(frame)), linear.predict_proba(frame), rtol=1e-12)
    unnamed = GaussianNB().fit([[0.0], [1.0]], ["no", "yes"])
    assert unnamed.predict_on(pa.table({"a": [0.9], "b": [5.0]}), features="a")["predicted"].to_pylist() == ["yes"]
    with pytest.raises(DataError, match="which of the columns"):
        unnamed.predict_on(pa.table({"a": [0.9], "b": [5.0]}))


# progress and checkpoints


def test_progress_tells_rows_and_share(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(columnar, "RUN", 1)
    heard = []
    MixedNB().fit_on(written(ROWS, tmp_path / "rows.parquet"), progress=lambda *told: heard.append(told))
    assert heard[-1] == (300, 1.0)
    assert heard == sorted(heard)
    assert len(heard) > 3
    MixedNB().fit_on(ROWS, progress=True)


KILLED = """
    import os, signal, sys
    import deciban
    from deciban.io import parquet
    from deciban.storage import checkpoint
    parquet.RUN, checkpoint.EVERY = 1, 0.0

    def stop(rows, share):
        if share > 0.6:
            os.kill(os.getpid(), signal.SIGKILL)

    deciban.MixedNB().fit_on(sys.argv[1], checkpoint=sys.argv[2], progress=stop)
"""


def assert_goes_on(model, path, kept, features=None) -> None:
    """A job that was stopped goes on, and ends in the bits of one that was not."""
    heard = []
    more = clone(model).fit_on(
        path, features=features, checkpoint=kept, progress=lambda rows, share: heard.append(rows)
    )
    assert heard[0] > 100
    assert not kept.exists()
    whole = clone(model).fit_on(path, features=features)
    assert more.classes_.tolist() == whole.classes_.tolist()
    for a, b in zip(more.tally_.parts, whole.tally_.parts, strict=True):
        assert_same_bits(a, b)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
def test_killed_job_goes_on_and_ends_in_the_same_bits(tmp_path, monkeypatch):
    path, kept = written(ROWS, tmp_path / "rows.parquet"), tmp_path / "fit.checkpoint"
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), path, str(kept)])
    assert done.returncode == -signal.SIGKILL
    assert kept.exists()
    monkeypatch.setattr(columnar, "RUN", 1)
    assert_goes_on(MixedNB(), path, kept)


@pytest.mark.parametrize("model", [GaussianNB(), LinearDiscriminantAnalysis(), MultinomialNB()], ids=repr)
def test_stopped_job_goes_on_and_ends_in_the_same_bits(model, tmp_path, monkeypatch):
    rows = ROWS.set_column(5, "visits", ROWS["visits"].fill_null(0.0))
    path, kept = written(rows, tmp_path / "rows.parquet"), tmp_path / "fit.checkpoint"
    stopped(path, kept, monkeypatch, clone(model), ["visits"])
    assert_goes_on(model, path, kept, ["visits"])


class Stopped(Exception):
    pass


def stopped(path, kept, monkeypatch, model=None, features=None) -> None:
    """A job that has left a checkpoint behind."""
    monkeypatch.setattr(columnar, "RUN", 1)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)

    def stop(rows, share):
        if share > 0.5:
            raise Stopped

    with pytest.raises(Stopped):
        (model or MixedNB()).fit_on(path, features=features, checkpoint=kept, progress=stop)


def test_checkpoint_of_other_data_or_settings_is_refused(tmp_path, monkeypatch):
    path, kept = written(ROWS, tmp_path / "rows.parquet"), tmp_path / "fit.checkpoint"
    stopped(path, kept, monkeypatch)
    with pytest.raises(DataError, match="settings are not those"):
        MixedNB(alpha=2.0).fit_on(path, checkpoint=kept)
    with pytest.raises(DataError, match="settings are not those"):
        MixedNB().fit_on(path, features=["sky"], checkpoint=kept)
    written(ROWS.slice(10), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"files are not those of this one(.|\n)*hint: delete it"):
        MixedNB().fit_on(path, checkpoint=kept)
    kept.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="no whole checkpoint"):
        MixedNB().fit_on(path, checkpoint=kept)
    with pytest.raises(DataError, match="only files can be read from the middle"):
        MixedNB().fit_on(ROWS, checkpoint=kept)


def test_text_and_folders_of_csv_have_checkpoints_too(tmp_path, monkeypatch):
    folder = tmp_path / "rows"
    folder.mkdir()
    for i in range(6):
        texts = [f"word{i} common {j}" for j in range(20)]
        pd.DataFrame({"text": texts, "label": ["a", "b"] * 10}).to_csv(folder / f"{i}.csv", index=False)
    kept = tmp_path / "fit.checkpoint"
    stopped(folder, kept, monkeypatch, TextClassifier())
    heard = []
    model = TextClassifier().fit_on(folder, checkpoint=kept, progress=lambda rows, share: heard.append(rows))
    whole = TextClassifier().fit_on(folder)
    assert heard[0] > 20
    for name in ("letters", "start", "label", "count", "rows", "n"):
        np.testing.assert_array_equal(getattr(model._words, name), getattr(whole._words, name))


# imports


def run(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)


def test_importing_the_library_imports_no_engine():
    done = run("import sys, deciban; print([m for m in ('pyarrow', 'dask', 'pyspark', 'polars') if m in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_missing_extra_names_its_cure():
    done = run("""
        import sys
        sys.modules["pyarrow"] = None
        from deciban import GaussianNB
        try:
            GaussianNB().fit_on("rows.parquet")
        except ImportError as told:
            print(told)
    """)
    assert "pip install 'deciban[" in done.stdout, done.stderr
