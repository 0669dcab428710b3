"""A few of the processes that `python -m tests.faults` starts, ends and kills."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize(("part", "count"), [("concurrent", 3), ("kills", 8), ("disks", 1), ("memory", 1)])
def test_a_few_faults_of_each_kind(part, count):
    command = [sys.executable, "-m", "tests.faults", part, str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
