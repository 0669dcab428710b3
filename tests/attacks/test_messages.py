"""Options, settings and mails that are wrong: an error of ours that names them, or a right answer."""

import os
import subprocess
import sys

import pytest

import deciban
from deciban import GaussianNB, spam
from deciban.engines.threads import workers
from deciban.errors import DataError
from deciban.mail import message as mail

from ..support.cli import output

BOX = (
    b"From a@b Mon\nSubject: one\n\nhello\n\nFrom a@b Mon\nSubject: two\n"
    b"Content-Disposition: attachment; filename*=utf-8''\xff.exe\nContent-Type: application/\xff\n\nbody\n"
)


def test_r1_one_bad_mail_does_not_fail_a_mailbox(tmp_path):
    assert [one.subject for one in mail.read(BOX)] == ["one", "two"]
    assert spam.update_file(tmp_path / "m.deciban", BOX, "spam", spam.learn) == 2
    for one in mail.read(BOX):
        assert "\n".join(one.tokens()).encode()


@pytest.fixture
def files(tmp_path):
    """Paths of a model and of rows, without blanks."""
    X, y = [[0.0], [1.0], [4.0], [5.0]], ["no", "no", "yes", "yes"]
    deciban.save(deciban.MixedNB().fit({"x": [x for (x,) in X]}, y), model := tmp_path / "s.deciban")
    (rows := tmp_path / "s.csv").write_text("x\n0.5\n")
    return f"{model} {rows}"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--costs yes:no=-5", "a cost is a finite number"),
        ("--costs yes:no=nan", "a cost is a finite number"),
        ("--costs yes:no", "does not end in =NUMBER"),
        ("--costs yes=3", "TRUE:DECIDED"),
        ("--priors yes=0,no=0", "as all are"),
        ("--priors yes=nan,no=1", "'yes' is nan"),
        ("--priors yes=1,no=-1", "'no' is -1"),
    ],
)
def test_r3_bad_costs_and_priors_are_named(files, capfd, option, message):
    assert message in output(f"predict {files} {option}", capfd, 2)[1]


def test_r3_bad_costs_in_python():
    model = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(DataError, match="the cost of 'b' for 'a' is -5"):
        model.decide([[0.0]], costs={("a", "b"): -5})


def test_r4_a_terminal_without_unicode_shows_marks_instead(files):
    for words in (["explain", *files.split()], ["fit", "--help"]):
        found = subprocess.run(
            [sys.executable, "-m", "deciban", *words],
            env={**os.environ, "PYTHONIOENCODING": "latin-1"},
            capture_output=True,
            check=False,
        )
        assert found.returncode == 0, found.stderr
        assert b"?" in found.stdout


@pytest.mark.parametrize("value", ["abc", "0", "-3", "2.5", "²"])
def test_r5_a_wrong_number_of_threads_is_an_error(monkeypatch, value):
    monkeypatch.setenv("DECIBAN_THREADS", value)
    with pytest.raises(DataError, match="DECIBAN_THREADS"):
        workers()
