"""For every test and every example in a docstring."""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

MARKS = {  # of the tests in a folder or file, or of one test
    "tests/defects/test_command.py": "slow",
    "tests/defects/test_contract_warnings.py": "slow",
    "tests/defects/test_ensemble.py": "slow",
    "tests/defects/test_files.py": "slow",
    "tests/defects/test_heldout.py": "slow",
    "tests/defects/test_plots_of_models.py": "slow",
    "tests/defects/test_priors.py": "slow",
    "tests/defects/test_rows_as_dictionaries.py": "slow",
    "tests/defects/test_text.py": "slow",
    "tests/faults": "slow",
    "tests/laws/test_compiled_loss.py::test_curvature_equals_its_specification": "slow",
    "tests/laws/test_dialects.py": "slow",
    "tests/laws/test_digests.py::test_a_million_rows_of_small_whole_numbers_have_distinct_digests": "slow",
    "tests/laws/test_refit.py": "slow",
    "tests/laws/test_setting_pairs_dask.py": "dask",
    "tests/laws/test_without_compiled.py": "slow",
    "tests/reference": "slow",
    "tests/sklearn_suite": "slow",
    "tests/test_bayes_joint.py::test_density_integrates_to_one": "slow",
    "tests/test_chosen_strength.py": "slow",
    "tests/test_cli.py::test_a_closed_pipe_is_no_error": "slow",
    "tests/test_cli.py::test_fit_finds_the_leak_and_leaves_names_out": "slow",
    "tests/test_cli.py::test_pipes_in_and_out": "slow",
    "tests/test_cli.py::test_streaming_learns_what_the_whole_learns": "slow",
    "tests/test_cli_start.py": "slow",
    "tests/test_cli_text.py": "slow",
    "tests/test_contract.py": "slow",
    "tests/test_demo.py": "slow",
    "tests/test_documented_api.py": "slow",
    "tests/test_engines_dask.py": "dask",
    "tests/test_engines_spark.py": "spark",
    "tests/test_engines_spark_files.py": "spark",
    "tests/test_engines_spark_lost_cluster.py": "spark",
    "tests/test_engines_stream.py::test_killed_job_goes_on_and_ends_in_the_same_bits": "slow",
    "tests/test_engines_stream.py::test_missing_extra_names_its_cure": "slow",
    "tests/test_ensemble.py::test_stacking_passes_scikit_learns_checks_but_those_that_take_a_weight_for_copies": "slow",
    "tests/test_expectation.py::test_any_number_of_threads_gives_the_same_bits": "slow",
    "tests/test_fingerprints.py::test_dask_has_the_fingerprint_of_memory": "dask",
    "tests/test_fingerprints.py::test_spark_has_the_fingerprint_of_memory": "spark",
    "tests/test_hard_numbers.py": "slow",
    "tests/test_laplace.py": "slow",
    "tests/test_learn_on.py": "slow",
    "tests/test_leaving_out.py::test_chosen_settings_are_the_best_of_the_candidates_by_brute_force": "slow",
    "tests/test_leaving_out.py::test_leave_one_out_is_fitting_without_the_row": "slow",
    "tests/test_logistic_bad_input.py::test_checks_of_scikit_learn_pass_but_for_data_without_an_answer": "slow",
    "tests/test_logistic_columns.py::test_the_compiled_descent_is_its_specification": "slow",
    "tests/test_mixed_laws.py::test_leave_one_out_is_learning_without_the_row": "slow",
    "tests/test_modelfile_abuse.py": "slow",
    "tests/test_packaging.py::test_family_in_one_file_on_the_registry_path_is_used_everywhere": "slow",
    "tests/test_pictures.py": "slow",
    "tests/test_plots.py": "slow",
    "tests/test_public_names.py::test_a_type_checker_finds_a_wrong_setting_and_a_wrong_name": "slow",
    "tests/test_quality_bench.py": "slow",
    "tests/test_report.py": "slow",
    "tests/test_report_browser.py": "browser",
    "tests/test_report_texts.py": "slow",
    "tests/test_separation.py": "slow",
    "tests/test_storage.py::test_a_model_has_the_same_bytes_in_every_process": "slow",
    "tests/test_storage.py::test_every_dataclass_that_a_model_holds_is_registered": "slow",
    "tests/test_storage.py::test_loading_a_gaussian_model_imports_the_code_of_no_other": "slow",
    "tests/test_structured.py::test_leave_one_out_takes_lone_levels_away": "slow",
    "tests/test_structured.py::test_tree_is_the_maximum_spanning_tree_of_the_conditional_information": "slow",
    "tests/test_vectorizers.py": "slow",
}
ROOT = Path(__file__).parent


@cache
def marks_of(path: Path, name: str) -> list[str]:
    """The marks of a test, by its file and its name without parameters."""
    inside = path.relative_to(ROOT)
    keys = [f"{inside.as_posix()}::{name}", *(one.as_posix() for one in (inside, *inside.parents))]
    return [MARKS[key] for key in keys if key in MARKS]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their name and the file or folder that they are in."""
    for item in items:
        for mark in marks_of(item.path, item.name.partition("[")[0]):
            item.add_marker(mark)


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Pictures that a test has drawn are not kept: matplotlib warns of more than 20."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
