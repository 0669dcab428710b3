"""Arrow data whose offsets lead out of their memory."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import deciban as d
from deciban.errors import DataError
from tests.support.cli import output

pa = pytest.importorskip("pyarrow")


def table(kind=None) -> pa.Table:
    words = pa.array([f"w{i % 5}" for i in range(1000)], kind or pa.string())
    return pa.table({"s": words, "class": ["ab"[i % 2] for i in range(1000)]})


def written(path: Path, whole: pa.Table, at: bytes, skip: int, number: bytes, stream: bool = False) -> Path:
    """A file with a number of it changed."""
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as file, make(file, whole.schema) as writer:
        writer.write_table(whole)
    raw = bytearray(path.read_bytes())
    start = raw.find(at)
    assert start >= 0
    raw[start + skip : start + skip + len(number)] = number
    path.write_bytes(raw)
    return path


OFFSETS = np.arange(0, 40, 2, dtype="i4").tobytes()


@pytest.mark.parametrize("number", [0x7F000000, -5, 1 << 20])
@pytest.mark.parametrize("name", ["b.arrow", "b.feather", "b.arrows"])
def test_c3_offsets_of_files_are_checked(tmp_path: Path, name: str, number: int, capfd) -> None:
    path = written(tmp_path / name, table(), OFFSETS, 40, struct.pack("<i", number), name.endswith("s"))
    with pytest.raises(DataError, match=r"b\.\w+ is not a valid Arrow file"):
        d.MixedNB().fit_on(path, target="class")
    assert "is not a valid Arrow file" in output(f"fit {path} --model mixed -o {tmp_path}/x.deciban", capfd, 1)[1]


def test_c3_levels_of_dictionaries_are_checked(tmp_path: Path) -> None:
    whole = table(pa.dictionary(pa.int32(), pa.string()))
    codes = np.tile(np.arange(5, dtype="i4"), 10).tobytes()
    path = written(tmp_path / "b.arrow", whole, codes, 0, struct.pack("<i", 1 << 30))
    with pytest.raises(DataError, match="is not a valid Arrow file"):
        d.MixedNB().fit_on(path, target="class")


def test_c3_streams_and_tables_that_others_read_are_checked(tmp_path: Path) -> None:
    path = written(tmp_path / "b.arrow", table(), OFFSETS, 40, struct.pack("<i", 0x7F000000), stream=True)
    with pytest.raises(DataError, match="is damaged"), pa.OSFile(str(path)) as file:
        d.MixedNB().fit_on(pa.ipc.open_stream(file), target="class")
    with pa.OSFile(str(path)) as file:
        words = pa.ipc.open_stream(file).read_all()["s"]
    with pytest.raises(DataError, match="is damaged"):
        d.TextClassifier().fit(words, ["a", "b"] * 500)


def test_c3_random_bytes_never_end_the_process(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    whole = table().append_column("x", pa.array(rng.normal(size=1000)))
    path = tmp_path / "b.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, whole.schema) as writer:
        writer.write_table(whole)
    raw = path.read_bytes()
    for _ in range(40):
        changed = bytearray(raw)
        for at in rng.integers(len(raw), size=rng.integers(1, 9)):
            changed[at] = rng.integers(256)
        path.write_bytes(changed)
        with suppress(DataError):
            d.MixedNB().fit_on(path, target="class")


@pytest.mark.parametrize("target", ["s", "class"])
def test_c3_texts_that_are_not_utf8_are_refused(target: str) -> None:
    wrong, fine = pa.array([b"w\xf7", b"b"] * 50, pa.binary()).view(pa.string()), pa.array(["a", "b"] * 50)
    with pytest.raises(DataError, match="`s` has a text that is not UTF-8"):
        d.MixedNB().fit_on(pa.table({"s": wrong, "class": fine}), target=target)
