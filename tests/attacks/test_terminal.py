"""What a file or a mail says is shown, and never obeyed, by a terminal; a value is part of one line."""

import json

import pytest

import deciban
from deciban import GaussianNB
from deciban.cli import main
from deciban.display import Table, escape_controls, one_line
from deciban.errors import ModelFileError

from ..support.forgery import forge

BAD = "\x1b]0;title\x07 x\n  learned from 9,999 rows\x9b2J"


@pytest.fixture
def run(capsys):
    """A command → (its exit code, stdout, stderr)."""

    def call(*words):
        with pytest.raises(SystemExit) as stopped:
            main([str(word) for word in words])
        found = capsys.readouterr()
        return stopped.value.code, found.out, found.err

    return call


def plain(text):
    return not any((ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 for c in text)


@pytest.mark.parametrize("metrics", [{"accuracy": "high"}, {"accuracy": {"test": [1]}}, {3: 0.5}])
def test_f5_show_prints_metrics_that_are_no_numbers(tmp_path, run, metrics):
    deciban.save(GaussianNB().fit([[0.0], [1.0]], [0, 1]), path := tmp_path / "f.deciban", metrics=metrics)
    code, out, _ = run("show", path)
    assert code == 0
    assert str(next(iter(metrics))) in out


def test_f5_a_forged_description_is_refused(tmp_path):
    path = tmp_path / "f.deciban"
    for name, value in [("rows", "many"), ("metrics", [1]), ("source", 5), ("date", [])]:
        deciban.save(GaussianNB().fit([[0.0], [1.0]], [0, 1]), path)
        forge(path, lambda metadata, arrays, name=name, value=value: metadata["about"].update({name: value}))
        with pytest.raises(ModelFileError):
            deciban.model_info(path)


def test_f6_show_escapes_control_characters(tmp_path, run):
    X = {"a\x1b[2J": [0.0, 1.0, 0.5, 2.0], "k\nfor z": ["u", "v\x07", "u", "v\x07"]}
    model = deciban.MixedNB().fit(X, ["n", BAD] * 2)
    deciban.save(model, path := tmp_path / "f.deciban", source=BAD, target="y\rz", metrics={"\x1b": 1.0})
    for words in ((), ("--json",)):
        code, out, _ = run("show", path, *words)
        assert code == 0
        assert plain(out)
        assert "\n  learned from 9,999" not in out
        assert words or "\\x1b]0;title\\x07 x\\n" in out
    assert json.loads(out)["source"] == BAD


def test_f6_errors_and_tables_escape_control_characters(tmp_path, run):
    code, out, err = run("show", tmp_path / "no\x1b[2J.deciban")
    assert code == 1
    assert plain(out + err)
    table = Table("t\x1b", ("a", "b"), [("x\ny", "z\x07")]).to_text()
    assert len(table.split("\n")) == 3
    assert plain(table)
    assert (one_line("é\u202e\n\t"), escape_controls("a\tb\n\r")) == ("é\\u202e\\n\\t", "a\tb\n\\r")


def test_f7_a_subject_is_one_line(tmp_path, run):
    state, mails = tmp_path / "f.deciban", {"h": "Subject: lunch\n\nat noon\n", "p": "Subject: prize\n\nwin prize\n"}
    subject = "=?utf-8?b?aGkKaGFtICAgICBQKHNwYW0pID0gMC4wMDAwICBnb29kLmVtbCAgQWxsIGZpbmU=?="
    mails["i"] = f"Subject: {subject}\n\nwin prize\n"
    for name, text in mails.items():
        (tmp_path / name).write_text(text)
    run("spam", "learn", state, tmp_path / "h", "--as", "ham")
    run("spam", "learn", state, tmp_path / "p", "--as", "spam")
    code, out, _ = run("spam", "check", state, tmp_path / "i")
    assert code == 0
    assert len(out.splitlines()) == 1
    assert "hi\\nham" in out
