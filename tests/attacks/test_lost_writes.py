"""Writes that were lost without an error: processes and threads that change one model, outputs that are cut off, files
that change while they are read, outputs that replace something else."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from unittest.mock import ANY

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import deciban
from deciban import spam
from deciban.cli import starting
from deciban.engines.threads import workers
from deciban.errors import DataError
from deciban.io import atomic, readers

from ..support.cli import exit_code, output


def table(n: int, seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    x, k = rng.normal(size=n), rng.choice(["a", "b", "c"], n)
    labels = np.where(x + rng.normal(size=n) > 0, "yes", "no")
    return "x,k,class\n" + "".join(f"{a:.4f},{b},{c}\n" for a, b, c in zip(x, k, labels, strict=True))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder with a table of 300 rows and a model of them."""
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text(table(300))
    deciban.save(deciban.MixedNB().fit_on("s.csv", target="class"), "s.deciban", target="class")
    return tmp_path


def test_w1_a_filter_of_one_class_is_shown(place, capfd):
    spam.update_file(Path("f.deciban"), b"Subject: Prize\n\n", "spam", spam.learn)
    assert json.loads(output("show f.deciban --json", capfd)[0])["rows"] == 1
    assert "learned from 1 rows" in output("show f.deciban", capfd)[0]


def test_w1_threads_learn_all_messages(tmp_path):
    state = tmp_path / "f.deciban"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: spam.update_file(state, f"Subject: {i}\n\n".encode(), "ham", spam.learn), range(8)))
    assert deciban.model_info(state)["rows"] == 8


def test_w1_weights_of_a_filter_are_those_of_the_version_that_was_read(tmp_path, monkeypatch):
    state = tmp_path / "f.deciban"
    spam.update_file(state, [b"Subject: Lunch\n\n", b"Subject: Lunch\n\nat noon"], "ham", spam.learn)
    spam.update_file(state, [b"Subject: Prize\n\n", b"Subject: Prize\n\nnow"], "spam", spam.learn)
    open_filter, more = spam.open_filter, [b"Subject: Lunch\n\nprize", b"Subject: Lunch\n\nprize prize"]

    def opened(path):
        model = open_filter(path)
        if more:  # another process learns between the reading of the model and that of its digest
            monkeypatch.setattr(spam, "open_filter", open_filter)
            spam.update_file(path, more, "ham", spam.learn)
        return model

    monkeypatch.setattr(spam, "open_filter", opened)
    assert spam.solved(state).class_count_.sum() == 6
    assert spam.solved(state).class_count_.sum() == 6


def test_w2_who_waits_for_long_gets_a_message(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "PATIENCE", 0.05)
    path, order, held = tmp_path / "m.deciban", [], Event()

    def first():
        with atomic.file_lock(path):
            held.set()
            time.sleep(0.2)
            order.append("first")

    with ThreadPoolExecutor(1) as pool:
        pool.submit(first)
        assert held.wait(10)
        with (
            pytest.warns(UserWarning, match=f"waiting for another process that changes {path}"),
            atomic.file_lock(path),
        ):
            order.append("second")
    assert order == ["first", "second"]


def test_w2_a_lock_that_a_killed_process_left_is_no_obstacle(tmp_path):
    (tmp_path / ".m.deciban.lock").touch()
    with atomic.file_lock(tmp_path / "m.deciban"):
        pass
    assert not list(tmp_path.iterdir())


UPDATED = [
    deciban.GaussianNB(),
    deciban.MixedNB(),
    deciban.LogisticRegression(),
    deciban.Perceptron(),
    deciban.BayesOptimal(
        [("a", deciban.GaussianNB()), ("b", deciban.LinearDiscriminantAnalysis())], weights=[0.5, 0.5]
    ),
    deciban.TextClassifier(),
]


@pytest.mark.parametrize("model", UPDATED, ids=lambda model: type(model).__name__)
def test_w14_threads_that_update_one_model_lose_no_rows(model):
    rng, y = np.random.default_rng(0), np.arange(30) % 2
    texts = isinstance(model, deciban.TextClassifier)
    X = [f"win a prize now {i}" for i in range(30)] if texts else rng.normal(size=(30, 3)) + y[:, None]
    model = clone(model).partial_fit(X, y, classes=[0, 1])
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: model.partial_fit(X, y), range(20)))
    finally:
        sys.setswitchinterval(before)
    assert model.class_count_.sum() == 21 * 30


def test_w14_an_update_that_fails_keeps_what_other_threads_learn(monkeypatch):
    model = deciban.TextClassifier().partial_fit(["win"], ["spam"])
    started, fail = Event(), Event()

    def read(self):
        started.set()
        fail.wait(10)
        raise OSError

    with ThreadPoolExecutor(2) as pool:
        with monkeypatch.context() as patch:
            patch.setattr(type(model), "_reader", read)
            failing = pool.submit(model.partial_fit, ["prize"], ["spam"])
            assert started.wait(10)
        learning = pool.submit(model.partial_fit, ["lunch"], ["ham"])
        fail.set()
        assert isinstance(failing.exception(), OSError)
        learning.result()
    assert model.class_count_.tolist() == [1, 1]


def test_w15_contexts_of_threads_end_in_any_order():
    usual = workers()
    first, second = deciban.threads(1), deciban.threads(3)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert workers() == 3
    second.__exit__(None, None, None)
    assert workers() == usual
    with deciban.threads(2), deciban.threads(None):
        assert workers() == usual


@pytest.mark.parametrize("n", [float("nan"), 1.5, True, 0, -1, "2"])
def test_w15_a_number_of_threads_is_a_whole_number(n):
    with pytest.raises(DataError, match="whole number"), deciban.threads(n):
        pass


def started(command: str, unbuffered: bool = True, **streams) -> subprocess.Popen:
    """A command in a process of its own."""
    env = {**os.environ, "PYTHONUNBUFFERED": "1" if unbuffered else ""}
    return subprocess.Popen([sys.executable, "-m", "deciban", *command.split()], env=env, **streams)


needs_posix = pytest.mark.skipif(os.name != "posix", reason="POSIX files and pipes")


@needs_posix
def test_w3_output_that_does_not_fit_on_the_disk_is_an_error(place):
    from resource import RLIMIT_FSIZE, setrlimit

    Path("t.csv").write_text(table(20_000))
    limit = lambda: setrlimit(RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
    with open("o.csv", "wb") as out:
        process = started("predict s.deciban t.csv", stdout=out, stderr=subprocess.PIPE, preexec_fn=limit)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.startswith(b"error: ")


@needs_posix
@pytest.mark.parametrize("unbuffered", [False, True])
def test_w4_a_slow_reader_of_a_non_blocking_pipe_gets_all_bytes(unbuffered, monkeypatch):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    raw = io.FileIO(writer, "wb")
    out = io.TextIOWrapper(raw if unbuffered else io.BufferedWriter(raw), write_through=unbuffered)
    text = "0123456789" * 50_000
    with monkeypatch.context() as patch, open(reader, "rb") as read:
        patch.setattr(sys, "stdout", out)
        starting.protect_output()
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(lambda: (time.sleep(0.1), read.read())[1])
            sys.stdout.write(text)
            sys.stdout.flush()
            raw.close()
            assert found.result() == text.encode()
        sys.stdout = None


@needs_posix
@pytest.mark.parametrize("command", ["predict s.deciban t.csv", "explain s.deciban t.csv --rows 2000"])
def test_w5_a_reader_that_closes_the_pipe_ends_the_command_quietly(place, command):
    Path("t.csv").write_text(table(20_000))
    process = started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_r14_closed_streams_are_named(place, capfd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    for command in ("predict s.deciban -", "fit -", "spam learn f.deciban - --as spam"):
        assert output(command, capfd, 1)[1].startswith("error: standard input is closed\nhint: ")
    monkeypatch.setattr(sys, "stdout", None)
    assert output("predict s.deciban s.csv", capfd, 1)[1].startswith("error: standard output is closed\nhint: ")
    assert output("predict s.deciban s.csv --json", capfd, 1)[1].startswith("error: standard output is closed\nhint: ")
    assert exit_code("predict s.deciban s.csv -o o.csv") == 0


def write_rows(path: Path, n: int = 400, shift: float = 0.0) -> None:
    """A file of rows in pieces of 100, or a CSV file."""
    rows = pa.table({"x": np.arange(n) % 7 + shift, "y": ["a", "b"] * (n // 2)})
    if path.suffix == ".parquet":
        pq.write_table(rows, path, row_group_size=100)
    else:
        readers.write([rows], path)


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "arrow"])
@pytest.mark.parametrize("replaced", [0, 2], ids=["a file that was read", "a file to read"])
def test_w6_a_file_that_is_replaced_while_a_folder_is_read_is_an_error(tmp_path, ending, replaced):
    folder = tmp_path / "rows"
    folder.mkdir()
    for i in range(3):
        write_rows(folder / f"{i}.{ending}")
    write_rows(tmp_path / f"new.{ending}", 300, 100.0)
    model = deciban.GaussianNB().fit([[0.0], [1.0]], [0, 1])

    def replace(rows, share):
        if (tmp_path / f"new.{ending}").exists():
            os.replace(tmp_path / f"new.{ending}", folder / f"{replaced}.{ending}")

    with (
        deciban.threads(1),
        pytest.raises(DataError, match=rf"{replaced}.{ending} was changed while it was read\n\nhint: "),
    ):
        model.fit_on(folder, target="y", progress=replace)
    assert model.class_count_.tolist() == [1, 1]
    assert model.fit_on(folder, target="y").class_count_.sum() == 1100


def test_w6_a_file_that_grows_while_it_is_read_is_an_error(tmp_path):
    path = tmp_path / "rows.csv"
    write_rows(path, 40)

    def append(rows, share):
        with path.open("a") as file:
            file.write("1,a\n")

    with pytest.raises(DataError, match="was changed while it was read"):
        deciban.GaussianNB().fit_on(path, target="y", progress=append)


def test_w6_a_file_that_changes_between_two_passes_is_an_error(tmp_path, monkeypatch):
    for i in range(2):
        write_rows(tmp_path / f"{i}.csv", 40)
    calls = []

    def append(rows, share):
        calls.append(rows)
        if len(calls) == 3:  # the first pass is over
            write_rows(tmp_path / "2.csv", 40)

    with deciban.threads(1), pytest.raises(DataError, match="was changed while it was read"):
        deciban.LogisticRegression().fit_on(tmp_path, target="y", progress=append)


@needs_posix
def test_w6_a_pipe_has_no_stamp(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert atomic.Stamp.from_path(tmp_path / "pipe.csv") is None


def test_w7_a_key_of_late_lines_is_a_column(tmp_path):
    path = tmp_path / "l.jsonl"
    rows = ({"x": i % 7, "class": "ab"[i % 2], **({"late": i} if i > 8191 else {})} for i in range(9000))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert readers.read(path).column_names == ["x", "class", "late"]
    assert deciban.MixedNB().fit_on(path, target="class").feature_names_in_.tolist() == ["x", "late"]


def test_w8_fractions_after_whole_numbers_are_kept(tmp_path):
    path = tmp_path / "l.jsonl"
    cells = [i % 2 for i in range(8192)] + [(0.9, 0.1)[i % 2] for i in range(8192)]
    path.write_text("".join(json.dumps({"x": x, "class": "ab"[i % 2]}) + "\n" for i, x in enumerate(cells)))
    model = deciban.GaussianNB().fit_on(path, target="class")
    assert np.allclose(model.theta_.ravel(), [0.45, 0.55])


def test_w9_an_output_that_is_an_input_is_refused(place, capfd):
    Path("rows").mkdir()
    Path("rows/a.csv").write_text(table(40))
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    for command in (
        "fit s.csv -o s.csv",
        "report s.deciban s.csv -o s.csv",
        "report s.deciban rows -o rows/a.csv",
        "predict s.deciban s.csv -o s.deciban",
        "predict s.deciban s.csv -o ./s.csv",
        "predict s.deciban rows -o rows/a.csv",
        "fit rows -o rows/a.csv",
    ):
        assert output(command, capfd, 1)[1].startswith("error: ")
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


def test_w10_models_of_two_files_have_two_names(place, capfd):
    for year in (2024, 2025):
        Path(f"sales.{year}.csv").write_text(table(40))
        output(f"fit -q sales.{year}.csv --model mixed", capfd)
    output("fit -q 'sales.*.csv' --model mixed", capfd)
    assert sorted(path.name for path in place.glob("*.deciban")) == [
        "model.deciban",
        "s.deciban",
        "sales.2024.deciban",
        "sales.2025.deciban",
    ]


def test_w10_a_file_that_is_no_model_is_not_overwritten(place, capfd):
    Path("thesis.tex").write_text("text")
    for command in (
        "fit -q s.csv --model mixed -o thesis.tex",
        "merge s.deciban s.deciban -o thesis.tex",
        "update s.deciban s.csv -o thesis.tex",
    ):
        assert output(command, capfd, 1)[1].startswith("error: thesis.tex exists and is no model\nhint: ")
        assert Path("thesis.tex").read_text() == "text"
    Path("empty").touch()  # as mktemp makes it
    output("update s.deciban s.csv -o empty", capfd)
    output("update s.deciban s.csv -o thesis.tex --force", capfd)
    assert deciban.model_info("thesis.tex") == deciban.model_info("empty") | {"date": ANY}


@needs_posix
def test_w11_pipes_are_written_to_and_stay(place, capfd):
    os.mkfifo("fifo")
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(Path("fifo").read_text)
        output("predict s.deciban s.csv -o fifo", capfd)
        assert found.result(10).count("\n") == 301
        found = pool.submit(Path("fifo").read_bytes)
        output("update s.deciban s.csv -o fifo", capfd)
        assert deciban.model_info(found.result(10))["rows"] == 600
    assert Path("fifo").is_fifo()
    assert not list(place.glob(".*"))


@needs_posix
def test_w11_devices_are_written_to_and_stay(place, capfd):
    output("predict s.deciban s.csv -o /dev/null", capfd)
    assert Path("/dev/null").is_char_device()
    if Path("/dev/stdout").exists():
        assert output("predict s.deciban s.csv -o /dev/stdout", capfd)[0].count("\n") == 301


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow"])
def test_w12_predictions_of_no_rows_have_columns(place, capfd, ending):
    Path("e.csv").write_text("x,k,class\n")
    output(f"predict s.deciban e.csv -o a.{ending}", capfd)
    deciban.load("s.deciban").predict_on("e.csv", out=f"b.{ending}")
    names = ["x", "k", "class", "predicted", "p_no", "p_yes"]
    for path in (Path(f"a.{ending}"), Path(f"b.{ending}")):
        if ending in ("parquet", "arrow"):
            assert readers.read(path).column_names == names
        else:
            text = gzip.decompress(path.read_bytes()) if ending.endswith("gz") else path.read_bytes()
            assert text.decode().replace("\t", ",") == ",".join(names) + "\n"


def test_w12_predictions_of_no_rows_have_columns_on_standard_output(place, capfd):
    Path("e.csv").write_text("x,k,class\n")
    assert output("predict s.deciban e.csv", capfd)[0] == "x,k,class,predicted,p_no,p_yes\n"
    assert output("predict s.deciban e.csv --costs yes:no=5", capfd)[0] == "x,k,class,predicted,p_no,p_yes\n"


def test_w13_predictions_are_not_written_where_they_would_be_read(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / "a.csv").write_text("x,y\n" + "1,a\n2,b\n" * 50)
    model = deciban.MixedNB().fit_on(folder, target="y")
    for data, out in (
        (folder, folder / "out.csv"),
        (folder, folder / "predicted"),
        (f"{folder}/*.csv", folder / "out.csv"),
        (f"{tmp_path}/**/*.csv", folder / "deep" / "out.csv"),
    ):
        with pytest.raises(DataError, match="would be read with"):
            model.predict_on(data, out=out)
    model.predict_on(folder, out=folder / "_out.csv")
    model.predict_on(folder, out=folder / "_predicted")
    model.predict_on(folder, out=tmp_path / "out.csv")
    assert deciban.MixedNB().fit_on(folder, target="y").class_count_.tolist() == [50, 50]


def test_w13_a_file_of_predictions_among_the_data_is_an_error(tmp_path, capfd):
    (tmp_path / "a.csv").write_text("x,y\n" + "1,a\n2,b\n" * 50)
    model = deciban.MixedNB().fit_on(tmp_path / "a.csv", target="y")
    model.predict_on(tmp_path / "a.csv", out=tmp_path / "a.predicted.csv")
    with pytest.raises(DataError, match=r"a\.predicted\.csv holds predictions"):
        deciban.MixedNB().fit_on(tmp_path, target="y")
    assert "would be read" in output(f"predict x.deciban {tmp_path} -o {tmp_path}/out.csv", capfd, 1)[1]


def test_r2_an_empty_name_is_no_folder(place, capfd):
    for command in (
        "fit ''",
        "fit s.csv -o ''",
        "predict s.deciban ''",
        "predict '' s.csv",
        "merge s.deciban '' -o m.deciban",
        "spam learn m.deciban '' --as spam",
    ):
        assert "the name of the file is empty" in output(command, capfd, 2)[1]
    with pytest.raises(DataError, match="the path is empty"):
        deciban.MixedNB().fit_on("", target="class")
    assert sorted(path.name for path in place.iterdir()) == ["s.csv", "s.deciban"]


@pytest.mark.parametrize(
    "command", ["fit s.csv -o -", "update s.deciban s.csv -o -", "merge s.deciban -o -", "report s.deciban s.csv -o -"]
)
def test_r16_standard_output_is_no_file_for_models_and_reports(place, capfd, command):
    assert "standard output" in output(command, capfd, 1)[1]
    assert not Path("-").exists()


def test_r16_other_names_of_a_model_keep_the_former_one(place, capfd):
    os.link("s.deciban", "before.deciban")
    output("update s.deciban s.csv", capfd)
    assert deciban.model_info("before.deciban")["rows"] == 300
    assert deciban.model_info("s.deciban")["rows"] == 600
