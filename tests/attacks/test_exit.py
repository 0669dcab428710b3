"""Commands that end while threads of Arrow are at work."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

import pytest

pytest.importorskip("pyarrow")
import deciban as d
from deciban.io import csv


def start(*args: object, **more) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "deciban", *map(str, args)], stderr=subprocess.PIPE, **more)


def test_c6_a_failed_parser_lets_go_of_its_block_before_the_error_is_raised(monkeypatch) -> None:
    started = Event()

    def read_csv(reader, **options):
        def hold(reader) -> None:
            started.set()
            time.sleep(0.05)

        Thread(target=hold, args=(reader,)).start()
        started.wait()
        del reader
        raise ValueError("straddles two blocks")

    monkeypatch.setattr(csv.arrow_csv, "read_csv", read_csv)
    begin = time.perf_counter()
    with pytest.raises(ValueError, match="straddles"):
        csv._read_block(b"a,b\n")
    assert 0.05 <= time.perf_counter() - begin < csv.RELEASE


def test_c6_a_row_that_does_not_end_is_an_error(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "b.csv.gz", "wb", 1) as file:
        file.write(b"x,class\n1,")
        for _ in range(12):
            file.write(b"a" * 2**20)
    runs = [start("fit", tmp_path / "b.csv.gz", "--target", "class", "-o", tmp_path / "x.deciban") for _ in range(2)]
    for run in runs:
        message = run.communicate()[1]
        assert run.returncode == 1, message
        assert b"a row longer than 4 MB" in message
        assert b"Fatal" not in message


def test_c7_ctrl_c_during_predict_ends_with_its_code(tmp_path: Path) -> None:
    small, large, model = tmp_path / "s.csv", tmp_path / "b.csv", tmp_path / "s.deciban"
    small.write_text("x,k,class\n" + "0.5,a,yes\n1.5,b,no\n" * 50)
    large.write_text("x,k,class\n" + "0.5,a,yes\n" * 1_000_000)
    d.save(d.MixedNB().fit_on(small, target="class"), model)
    run = start("predict", model, large, stdout=subprocess.PIPE)
    assert run.stdout.read(8)  # it has begun, and cannot end: the rows are more than a pipe holds
    run.send_signal(signal.SIGINT)
    message = run.communicate()[1]
    assert run.returncode == 130, message
    assert b"stopped: no file was written" in message
