"""The command line: every verb does what its library function does, and bad input gets one paragraph and a cure."""

import gzip
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import deciban
from deciban.cli import VERBS
from deciban.cli.reference import errors, names, reference, verb
from deciban.io import readers

from .support.cli import exit_code, passengers
from .support.data import ROOT


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with data and models, made by the command itself."""
    folder = tmp_path_factory.mktemp("cli")
    kept = Path.cwd()
    os.chdir(folder)
    Path("titanic.csv").write_text(passengers())
    Path("more.csv").write_text(passengers(40, 1))
    for model, data in (("u", "titanic.csv"), ("a", "titanic.csv"), ("b", "more.csv")):
        exit_code(f"fit -q {data} --target survived --model mixed -o {model}.deciban")
    Path("junk.mbox").write_text("From x\nSubject: prize\n\nclaim your prize\n\nFrom y\nSubject: win\n\nwin now\n")
    Path("new.eml").write_text("Subject: lunch\n\nat noon\n")
    Path("oops.eml").write_text("Subject: oops\n\nwhat a prize\n")
    exit_code("spam learn -q spam.deciban new.eml oops.eml --as ham")
    exit_code("fit -q titanic.csv --target survived -o t.deciban --model calibrated")
    deciban.save(deciban.load("t.deciban"), "c.deciban", target="survived", rows=False)
    Path("k.deciban").write_bytes(Path("t.deciban").read_bytes())
    yield folder
    os.chdir(kept)


def table(path: str) -> pa.Table:
    return readers.read(path)


# what is documented


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_example_of_the_help_runs(name, place, monkeypatch, capfd):
    example = verb(name).example
    assert example.startswith(f"deciban {name}")
    if name == "demo":
        pytest.skip("the tour has a test of its own")
    assert exit_code(example.removeprefix("deciban ")) == 0, capfd.readouterr().err


def test_every_verb_option_and_error_is_in_the_reference_and_it_is_up_to_date():
    text = (ROOT / "docs" / "cli.md").read_text()
    assert text == reference(), "python -m deciban.cli.reference > docs/cli.md"
    for name in names():
        assert f"## deciban {name}\n" in text
        assert verb(name).help
        for option in verb(name).params:
            assert isinstance(option, click.Argument) or (option.help and option.opts[0] in text), (name, option)
    for error in errors():
        assert error.__doc__
        assert f"`{error.__name__}`" in text


def test_every_file_of_a_verb_is_listed():
    found = {path.stem for path in (ROOT / "src/deciban/cli").glob("*.py") if "\n@cli_command(" in path.read_text()}
    assert found == set(VERBS)


def test_the_command_uses_public_names_alone():
    for path in (ROOT / "src/deciban/cli").glob("*.py"):
        for line in path.read_text().splitlines():
            words = line.split()
            if words[:1] == ["from"] and words[1].startswith("deciban."):
                assert words[1].split(".")[1] in ("cli", "errors", "display", "progress", "io"), (path.name, line)
            if words[:2] == ["from", "deciban"]:
                named = {word.strip(",") for word in words[3:]}
                assert named <= {"spam", "display", "__version__"}, (path.name, line)


# what verbs do


def test_fit_finds_the_leak_and_leaves_names_out(place, capfd):
    assert exit_code("fit titanic.csv -t survived -o x.deciban --model mixed --json") == 0
    out, err = capfd.readouterr()
    told = json.loads(out)
    assert list(told["leakage"]) == ["boat"]
    assert list(told["dropped_columns"]) == ["name"]
    assert "--drop boat" in err
    assert told["columns"] == ["sex", "age", "fare", "boat", "body"]
    assert deciban.model_info("x.deciban")["target"] == "survived"


@pytest.mark.slow
def test_fit_of_the_best_prints_what_learn_finds(place, capfd):
    assert exit_code("fit titanic.csv -t survived --drop boat -o x.deciban --json") == 0
    told = json.loads(capfd.readouterr().out)
    X = table("titanic.csv").drop_columns(["boat"])
    X, y, _ = readers.split(X, "survived")
    best = deciban.auto_fit(X, y)
    assert told["model"] == best.kind.name
    assert told["metrics"] == pytest.approx(best.metrics)
    assert {"joint", "logistic", "calibrated-rda"} <= set(told["compared"])
    model = deciban.load("x.deciban")
    assert np.allclose(model.predict_proba(X), best.predict_proba(X))
    assert exit_code("predict x.deciban titanic.csv -o x.csv") == 0
    assert np.allclose(table("x.csv")["p_1"], best.predict_proba(X)[:, 1])
    assert exit_code("explain x.deciban titanic.csv --row 3") == 0
    assert exit_code("show x.deciban") == 0


def test_updatable_models_learn_forget_and_are_chosen(place, capfd):
    assert exit_code("fit titanic.csv -t survived --updatable -o up.deciban --json") == 0
    told = json.loads(capfd.readouterr().out)
    assert set(told["compared"]) == {"joint", "weighted", "calibrated", "mixed"}
    assert exit_code("update -q up.deciban more.csv -o more.deciban") == 0
    assert deciban.load("more.deciban").class_count_.sum() == 160
    assert exit_code("forget -q more.deciban more.csv") == 0


def test_predict_gives_the_probabilities_of_the_model_and_keeps_the_lines(place, capfd):
    assert exit_code("predict t.deciban titanic.csv") == 0
    lines = capfd.readouterr().out.splitlines()
    given = Path("titanic.csv").read_text().splitlines()
    assert all(line.startswith(old + ",") for line, old in zip(lines, given, strict=True))
    model = deciban.load("t.deciban")
    X = table("titanic.csv").select(list(model.feature_names_in_))
    found = np.array([line.rsplit(",", 3)[1:] for line in lines[1:]])
    assert np.array_equal(found[:, 1:].astype(float), model.predict_proba(X))
    assert np.array_equal(found[:, 0].astype(int), model.predict(X))


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow", "jsonl"])
def test_predict_writes_what_the_ending_says(ending, place):
    assert exit_code(f"predict t.deciban titanic.csv -o out.{ending}") == 0
    found = table(f"out.{ending}")
    assert found.num_rows == 120
    model = deciban.load("t.deciban")
    X = table("titanic.csv").select(list(model.feature_names_in_))
    assert np.allclose(found["p_1"].to_numpy(), model.predict_proba(X)[:, 1], rtol=1e-15)


def test_predict_takes_priors_costs_and_rejects(place, capfd):
    model = deciban.load("k.deciban")
    X = table("titanic.csv").select(list(model.feature_names_in_))
    assert (
        exit_code("predict k.deciban titanic.csv --priors 0=0.2,1=0.8 --costs 1:0=3 --reject 0.3 -o out.parquet") == 0
    )
    found = table("out.parquet")
    wanted = model.decide(X, costs={(1, 0): 3}, reject=0.3, priors=[0.2, 0.8])
    assert found["predicted"].to_pylist() == wanted.tolist()
    assert None in wanted.tolist()
    assert np.array_equal(found["p_1"].to_numpy(), model.predict_proba(X, priors=[0.2, 0.8])[:, 1])


STRANGE = {
    "windows": passengers().replace("\n", "\r\n"),
    "mark": "\ufeff" + passengers(),
    "blank lines": passengers().replace("\n", "\n\n", 7),
    "no last line end": passengers().rstrip("\n"),
    "a cell over two lines": passengers().replace("Passenger, no. 5", "Passenger,\n\nno. 5"),
    "a stray quote": passengers().replace('"Passenger, no. 7"', 'Pass"enger'),
    "other order": "\n".join(
        ",".join(line.split(",")[::-1]) for line in passengers().replace(", no", " no").splitlines()
    ),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_strange_files_give_the_same_answers(kind, place):
    Path("strange.csv").write_bytes(STRANGE[kind].encode())
    assert exit_code("predict -q t.deciban strange.csv -o out.csv") == 0
    assert exit_code("predict -q t.deciban titanic.csv -o plain.csv") == 0
    assert table("out.csv")["p_1"].equals(table("plain.csv")["p_1"])
    assert table("out.csv").num_rows == 120


def test_a_small_block_cuts_rows_nowhere(place, monkeypatch):
    from deciban.io import csv

    monkeypatch.setattr(csv, "LINES_BLOCK", 100)
    Path("strange.csv").write_text(STRANGE["a cell over two lines"])
    assert exit_code("predict t.deciban strange.csv -o out.csv") == 0
    monkeypatch.undo()
    assert exit_code("predict t.deciban titanic.csv -o plain.csv") == 0
    assert table("out.csv")["p_1"].equals(table("plain.csv")["p_1"])


def test_explain_is_the_models_explanation(place, capfd):
    assert exit_code("explain k.deciban titanic.csv --row 3") == 0
    model = deciban.load("k.deciban")
    why = model.explain(table("titanic.csv").select(list(model.feature_names_in_)).slice(3, 1))
    assert capfd.readouterr().out.strip() == str(why).replace("row 0", "row 3")
    assert exit_code("explain k.deciban titanic.csv --row 3 --json --of 1") == 0
    (told,) = json.loads(capfd.readouterr().out)
    assert told["prior"] + sum(one["decibans"] for one in told["columns"].values()) == pytest.approx(told["total"])


def test_score_agrees_with_the_model(place, capfd):
    assert exit_code("score t.deciban titanic.csv --json") == 0
    told = json.loads(capfd.readouterr().out)
    model = deciban.load("t.deciban")
    X, y, _ = readers.split(table("titanic.csv"), "survived")
    assert told["accuracy"] == pytest.approx(model.score(X.select(list(model.feature_names_in_)), y))
    assert np.sum(told["confusion"]) == told["rows"] == 120


def test_update_forget_and_merge_equal_what_happens_in_memory(place):
    assert exit_code("fit -q titanic.csv -t survived --model mixed -o one.deciban") == 0
    assert exit_code("update -q one.deciban more.csv -o both.deciban") == 0
    assert exit_code("merge -q a.deciban b.deciban -o merged.deciban") == 0
    assert exit_code("forget -q both.deciban more.csv -o back.deciban") == 0
    X, y, _ = readers.split(table("titanic.csv"), "survived")
    more, labels, _ = readers.split(table("more.csv"), "survived")
    kept = list(deciban.load("one.deciban").feature_names_in_)
    model = deciban.MixedNB().fit(X.select(kept), y)
    first = model.predict_proba(X.select(kept))
    model.partial_fit(more.select(kept), labels)
    for name in ("both", "merged"):
        assert np.allclose(
            deciban.load(f"{name}.deciban").predict_proba(X.select(kept)), model.predict_proba(X.select(kept))
        )
    assert np.allclose(deciban.load("back.deciban").predict_proba(X.select(kept)), first)


def test_update_learns_new_classes(place):
    Path("third.csv").write_text("survived,sex,age,fare,boat,body\n" + "2,male,3,4,Z,5\n" * 5)
    assert exit_code("update -q a.deciban third.csv -o third.deciban") == 0
    assert deciban.load("third.deciban").classes_.tolist() == [0, 1, 2]


def test_a_model_that_knows_nothing_is_told_of(place, capfd):
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal()},{rng.normal()},{'ab'[i % 2]}" for i in range(60)]
    Path("noise.csv").write_text("\n".join(["x,z,y", *lines]) + "\n")
    assert exit_code("fit noise.csv -t y --model gaussian -o noise.deciban") == 0
    out, err = capfd.readouterr()
    assert "(class frequencies: 0.6931)" in out
    assert "no better than the class frequencies" in err
    assert exit_code("fit titanic.csv -t survived --model mixed -o x.deciban") == 0
    assert "class frequencies" not in capfd.readouterr().err


def test_rows_that_may_be_those_of_training_are_pointed_out(place, capfd):
    assert exit_code("fit -q titanic.csv -t survived --model mixed -o own.deciban") == 0
    capfd.readouterr()
    assert exit_code("score own.deciban titanic.csv") == 0
    assert "deciban show own.deciban" in capfd.readouterr().err
    assert exit_code("score own.deciban more.csv") == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("group", ["", "spam"])
def test_no_verb_is_answered_with_help_as_it_is_printed(group, capfd):
    assert exit_code(group) == 2
    out, err = capfd.readouterr()
    assert not out
    assert err.startswith(f"Usage: deciban {group}".rstrip())
    assert "\n\nCommands:\n" in err


def test_streaming_learns_what_the_whole_learns(place, capfd):
    parquet.write_table(table("titanic.csv"), "titanic.parquet", row_group_size=30)
    assert exit_code("fit titanic.parquet -t survived --stream -o s.deciban --json") == 0
    told = json.loads(capfd.readouterr().out)
    X, y, _ = readers.split(table("titanic.csv").select([*told["columns"], "survived"]), "survived")
    whole = deciban.auto_fit(X, y, "mixed")
    assert told["metrics"] == pytest.approx(whole.metrics)
    assert told["validation"] == "10 folds, repeated 3 times"
    assert list(told["leakage"]) == ["boat"]
    assert np.allclose(deciban.load("s.deciban").predict_proba(X), whole.model.predict_proba(X))


def test_show_tells_evidence_for_each_class(place, capfd):
    assert exit_code("show k.deciban --json") == 0
    told = json.loads(capfd.readouterr().out)
    assert {one["column"] for one in told["top_evidence"]["1"]} >= {"sex", "boat"}
    assert told["rows"] == 120


@pytest.mark.slow
def test_compare_ranks_by_log_loss(place, capfd):
    assert exit_code("compare titanic.csv -t survived --drop boat --json") == 0
    told = json.loads(capfd.readouterr().out)
    losses = [one["log_loss"] for one in told["ranked"]]
    assert losses == sorted(losses)
    assert {"lda", "logistic"} <= {one["name"] for one in told["ranked"]}  # whose columns are coded
    assert "multinomial" in told["unfit"]
    assert told["ranked"][0]["name"] in told["advice"]


# bad input


BAD = {
    "missing file": ("fit titanc.csv -t survived", "titanic.csv"),
    "a folder": ("fit nothing -t survived", "sub-folder"),
    "a folder of unlike tables": ("fit . -t survived", "hint"),
    "misspelt target": ("fit titanic.csv -t survivd", "did you mean --target survived?"),
    "no target": ("fit titanic.csv", "--target COLUMN"),
    "one value": ("fit same.csv -t y", "at least two classes"),
    "wrong delimiter": ("fit titanic.csv -t survived --delimiter ;", "--delimiter"),
    "truncated gzip": ("fit cut.csv.gz -t survived", "damaged"),
    "ragged": ("fit ragged.csv -t survived", "line 4"),
    "ragged, predicted": ("predict -q t.deciban ragged.csv", "line 4"),
    "other columns": ("predict t.deciban other.csv", "learned from"),
    "binary garbage": ("fit garbage.bin -t y", "binary"),
    "garbage as a model": ("predict garbage.bin titanic.csv", "hint"),
    "an empty file": ("fit empty.csv -t y", "empty"),
    "only a header": ("fit header.csv -t y", "no rows"),
    "an amount": ("fit amount.csv -t y", "looks continuous"),
    "text where numbers were": ("predict -q t.deciban words.csv", "number"),
    "no such row": ("explain t.deciban titanic.csv --row 1000", "120 rows"),
    "no such class": ("explain t.deciban titanic.csv --of 7", "classes are 0, 1"),
    "not additive": ("update c.deciban more.csv", "--updatable"),
    "never learned": ("forget b.deciban titanic.csv", "hint"),
    "unknown model name": ("fit titanic.csv -t survived --model mixd", "'mixed'"),
    "no such folder": ("predict t.deciban titanic.csv -o nowhere/out.csv", "mkdir"),
    "free texts": ("fit texts.csv -t y", "--text COLUMN"),
    "no such text": ("fit texts.csv -t y --text txt", "'text'"),
    "never learned as spam": ("spam unlearn spam.deciban new.eml --as spam", "hint"),
    "no filter": ("spam learn t.deciban new.eml --as spam", "not a spam filter"),
    "broken JSON": ("fit broken.jsonl -t y", "line 2"),
    "nowhere to write": ("fit titanic.csv -t survived -o nowhere/m.deciban", "mkdir -p nowhere"),
    "a folder to write": ("fit titanic.csv -t survived -o nothing", "name a file"),
    "nowhere for a page": ("report t.deciban titanic.csv -o nowhere/r.html", "mkdir -p nowhere"),
    "nowhere for both": ("merge a.deciban b.deciban -o nowhere/m.deciban", "mkdir -p nowhere"),
    "nowhere for more": ("update u.deciban more.csv -o nowhere/m.deciban", "mkdir -p nowhere"),
    "a target that was learned from": ("score t.deciban titanic.csv -t sex", "--target survived"),
    "amounts": ("fit titanic.csv -t fare", "the target looks continuous"),
    "a few amounts": ("fit few.csv -t y", "the target looks continuous"),
    "a class for each row": ("fit titanic.csv -t name", "--text"),
    "an ending that is none of ours": ("predict t.deciban titanic.csv -o out.xlsx", ".parquet"),
}


@pytest.fixture
def bad(place):
    Path("nothing").mkdir(exist_ok=True)
    Path("same.csv").write_text("x,y\n1,a\n2,a\n3,a\n")
    Path("cut.csv.gz").write_bytes(gzip.compress(passengers(2000).encode())[:-2000])
    Path("ragged.csv").write_text("survived,sex,age\n1,male,2\n0,male,3\n1,female\n")
    Path("other.csv").write_text("height,weight\n1,2\n")
    Path("garbage.bin").write_bytes(np.random.default_rng(0).bytes(5000))
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("x,y\n")
    Path("amount.csv").write_text("x,y\n" + "".join(f"{i % 5},{i % 300}.5\n" for i in range(600)))
    Path("few.csv").write_text("x,y\n" + "".join(f"{i % 5},{i % 3 + 0.5}\n" for i in range(60)))
    Path("words.csv").write_text("sex,age,fare,boat\nmale,old,3,A\n")
    texts = "".join(f"{'word ' * 12}{i},{'more ' * 12}{i},{i % 2}\n" for i in range(60))
    Path("texts.csv").write_text("text,notes,y\n" + texts)
    Path("broken.jsonl").write_text('{"x": 1, "y": 2}\n{"x": \n')


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_gets_one_paragraph_and_a_cure(kind, bad, capfd):
    command, cure = BAD[kind]
    before = set(os.listdir())
    assert exit_code(command) == 1
    out, err = capfd.readouterr()
    assert cure in err
    assert err.startswith("error: ")
    assert err.count("\n") == 2
    assert "\nhint: " in err
    assert "Traceback" not in err
    assert not out or "predict" in command
    assert set(os.listdir()) == before


def test_debug_shows_where_it_was(bad, capfd):
    assert exit_code("fit same.csv -t y --debug") == 1
    assert "Traceback" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["fitt x", "fit", "fit a.csv --colour", "explain m d --row -1", "merge a.deciban"])
def test_bad_usage_ends_with_2(command, capfd):
    assert exit_code(command) == 2
    assert "error: " in capfd.readouterr().err


# pipes and interruptions


def run(command: str, **more):
    return subprocess.run([sys.executable, "-m", "deciban", *shlex.split(command)], capture_output=True, **more)


def test_pipes_in_and_out(place):
    piped = run("predict t.deciban -", input=Path("titanic.csv").read_bytes())
    assert exit_code("predict t.deciban titanic.csv -o out.csv") == 0
    assert piped.stdout == Path("out.csv").read_bytes()
    assert piped.stderr == b""


def test_a_closed_pipe_is_no_error(place):
    Path("long.csv").write_text(passengers(20_000))
    command = f"{sys.executable} -m deciban predict t.deciban long.csv | head -1"
    out = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert out.stdout.startswith("survived,")
    assert out.stderr == ""


def test_ctrl_c_leaves_no_half_written_file(place):
    command = [sys.executable, "-m", "deciban", "predict", "t.deciban", "-", "-o", "half.csv"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(passengers(30).encode())  # and no end of it
        process.stdin.flush()
        for _ in range(60):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(1)
                break
            except subprocess.TimeoutExpired:
                continue
        process.kill()
    assert process.returncode in (1, 130, -signal.SIGINT)
    assert not [name for name in os.listdir() if "half" in name]


def test_show_takes_a_model_of_a_pandas_frame(place, capfd):
    frame = pd.DataFrame({"a": np.arange(20.0), "b": ["u", "v"] * 10, "c": [True, False] * 10})
    for model in (deciban.MixedNB(), deciban.TreeAugmentedNB(), deciban.LogisticRegression()):
        deciban.save(model.fit(frame, ["no"] * 10 + ["yes"] * 10), "p.deciban")
        command = [sys.executable, "-m", "deciban", "show", "p.deciban"]  # a process of its own imports no pandas
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
        assert shown.returncode == 0, shown.stderr
        assert "decibans" in shown.stdout
