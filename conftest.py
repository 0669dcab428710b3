"""For every test and every example in a docstring."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

MARKS = {  # of the tests in a file or folder
    "tests/sklearn_suite": "slow",
    "tests/reference": "slow",
    "tests/test_cli_kills.py": "slow",
    "tests/test_cli_start.py": "slow",
    "tests/test_contract.py": "slow",
    "tests/test_demo.py": "slow",
    "tests/test_engines_dask.py": "dask",
    "tests/test_engines_spark.py": "spark",
    "tests/test_engines_spark_cluster.py": "spark",
    "tests/test_engines_spark_files.py": "spark",
    "tests/test_hard_numbers.py": "slow",
    "tests/test_modelfile_abuse.py": "slow",
    "tests/test_pictures.py": "slow",
    "tests/test_quality_bench.py": "slow",
    "tests/test_report.py": "slow",
    "tests/test_report_browser.py": "browser",
    "tests/test_report_texts.py": "slow",
    "tests/test_vectorizers.py": "slow",
}
ROOT = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the file or folder that they are in."""
    for item in items:
        path = item.path.relative_to(ROOT)
        for one in (path, *path.parents):
            if one.as_posix() in MARKS:
                item.add_marker(MARKS[one.as_posix()])


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Pictures that a test has drawn are not kept: matplotlib warns of more than 20."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
