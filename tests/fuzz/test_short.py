"""A few cases of each part, with fixed seeds; `make fuzz` runs many."""

import subprocess
import sys

import pytest

COUNTS = {"csr": 120, "tables": 120, "models": 120, "mails": 30, "commands": 20}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are those of Linux")
@pytest.mark.parametrize("part", COUNTS)
def test_every_case_answers_or_is_refused(part):
    command = [sys.executable, "-m", "tests.fuzz", part, str(COUNTS[part]), "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " 0 failures" in done.stdout
