"""For every test and every example in a docstring."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

MARKS = {  # of the tests in a file or folder
    "tests/defects/test_command.py": "slow",
    "tests/defects/test_contract_warnings.py": "slow",
    "tests/defects/test_ensemble.py": "slow",
    "tests/defects/test_files.py": "slow",
    "tests/defects/test_heldout.py": "slow",
    "tests/defects/test_plots_of_models.py": "slow",
    "tests/defects/test_priors.py": "slow",
    "tests/defects/test_text.py": "slow",
    "tests/laws/test_setting_pairs_dask.py": "dask",
    "tests/reference": "slow",
    "tests/sklearn_suite": "slow",
    "tests/test_chosen_strength.py": "slow",
    "tests/test_cli_kills.py": "slow",
    "tests/test_cli_start.py": "slow",
    "tests/test_cli_text.py": "slow",
    "tests/test_contract.py": "slow",
    "tests/test_demo.py": "slow",
    "tests/test_engines_dask.py": "dask",
    "tests/test_engines_spark.py": "spark",
    "tests/test_engines_spark_files.py": "spark",
    "tests/test_engines_spark_lost_cluster.py": "spark",
    "tests/test_hard_numbers.py": "slow",
    "tests/test_laplace.py": "slow",
    "tests/test_learn_on.py": "slow",
    "tests/test_modelfile_abuse.py": "slow",
    "tests/test_pictures.py": "slow",
    "tests/test_plots.py": "slow",
    "tests/test_quality_bench.py": "slow",
    "tests/test_report.py": "slow",
    "tests/test_report_browser.py": "browser",
    "tests/test_report_texts.py": "slow",
    "tests/test_separation.py": "slow",
    "tests/test_vectorizers.py": "slow",
}
ROOT = Path(__file__).parent


@cache
def marks_of(path: Path) -> list[str]:
    inside = path.relative_to(ROOT)
    return [MARKS[one.as_posix()] for one in (inside, *inside.parents) if one.as_posix() in MARKS]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the file or folder that they are in."""
    for item in items:
        for mark in marks_of(item.path):
            item.add_marker(mark)


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Pictures that a test has drawn are not kept: matplotlib warns of more than 20."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
