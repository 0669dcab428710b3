"""One compiled module, and a library of kernels for each instruction set, of which the processor's best is used."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deciban import ops

KNOWN = ["v1", "v3", "v4"]
pytestmark = pytest.mark.skipif(ops.core() is None, reason="nothing was compiled")
several = pytest.mark.skipif("v1" not in ops.instruction_sets(), reason="one instruction set, part of the module")


def run_python(code: str, *args: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=False, env=os.environ | env
    )


USED = "from deciban import ops; print(ops.core().instruction_set())"


def test_best_instruction_set_of_the_processor_is_used():
    assert run_python(USED, DECIBAN_ISA="").stdout.split() == ops.instruction_sets()[-1:]


@several
def test_instruction_sets_are_listed_from_the_lowest_to_the_best():
    assert ops.instruction_sets() == KNOWN[: len(ops.instruction_sets())]


@pytest.mark.parametrize("name", ops.instruction_sets())
def test_environment_variable_names_a_lower_one(name):
    assert run_python(USED, DECIBAN_ISA=name).stdout.split() == [name]


@pytest.mark.parametrize("name", ["v2", "V1", "avx2", "v5"])
def test_any_other_name_is_an_error_that_lists_what_may_be_used(name):
    out = run_python(USED, DECIBAN_ISA=name)
    assert out.returncode != 0
    assert f"InstructionSetError: DECIBAN_ISA is `{name}`" in out.stderr
    assert "hint: " in out.stderr
    assert all(f"`{one}`" in out.stderr for one in ops.instruction_sets())


def test_module_refuses_an_instruction_set_that_it_does_not_have():
    before = ops.core().instruction_set()
    with pytest.raises(ValueError, match="v9"):
        ops.core().use("v9")
    assert ops.core().instruction_set() == before


def test_instruction_set_is_restored_after_an_error():
    before = ops.core().instruction_set()
    for name in ops.instruction_sets():
        with pytest.raises(ZeroDivisionError), ops.instruction_set(name):
            assert ops.core().instruction_set() == name
            1 / 0  # noqa: B018
        assert ops.core().instruction_set() == before


def libraries() -> list[Path]:
    return sorted(Path(ops.core().__file__).parent.glob("_kernels_*.so"))


@several
def test_libraries_lie_in_the_folder_of_the_module():
    assert {f"_kernels_{name}.so" for name in ops.instruction_sets()} <= {path.name for path in libraries()}


@several
@pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm")
def test_library_exports_one_symbol():
    """Anything else that it exported could be merged with a function of the same name in another library."""
    for path in libraries():
        listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True)
        assert [line.split()[-1].startswith("deciban_kernels_") for line in listed.stdout.splitlines()] == [True]


LOADED = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("_core", sys.argv[1])
spec.loader.exec_module(importlib.util.module_from_spec(spec))
"""


@several
@pytest.mark.parametrize("content", [None, b"no library"])
def test_module_without_its_library_is_an_import_error_that_names_the_file(tmp_path, content):
    module = shutil.copy(ops.core().__file__, tmp_path)
    path = tmp_path / f"_kernels_{ops.instruction_sets()[-1]}.so"
    if content is not None:
        path.write_bytes(content)
    out = run_python(LOADED, str(module))
    assert out.returncode != 0
    assert "ImportError" in out.stderr
    assert path.name in out.stderr


@several
@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a compiler")
def test_library_of_another_build_is_refused(tmp_path):
    module = shutil.copy(ops.core().__file__, tmp_path)
    source, path = tmp_path / "other.cpp", tmp_path / f"_kernels_{ops.instruction_sets()[-1]}.so"
    source.write_text('extern "C" const void* deciban_kernels_0123456789abcdef() { return nullptr; }\n')
    subprocess.run(["c++", "-shared", "-fPIC", source, "-o", path], check=True)
    out = run_python(LOADED, str(module))
    assert out.returncode != 0
    assert "deciban_kernels_" in out.stderr
