"""A few of the processes that `python -m tests.faults` starts, limits and kills."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import deciban
from deciban.errors import DataError
from deciban.io import csv

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_few_faults_of_each_kind():
    command = [sys.executable, "-m", "tests.faults", "few"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_columns_that_do_not_fit_into_the_address_space_are_an_error(tmp_path, monkeypatch):
    (tmp_path / "wide.csv").write_text(",".join([*(f"c{j}" for j in range(999)), "y"]) + "\n" + "1," * 999 + "a\n")
    monkeypatch.setattr(csv, "address_space_left", lambda: 1e7)
    with pytest.raises(DataError, match="1,000 columns"):
        deciban.GaussianNB().fit_on(tmp_path / "wide.csv", target="y")
