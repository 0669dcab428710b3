"""Every call of the operating system that a writing operation makes fails once; some fail always."""

import errno
import io
import os
import time
from pathlib import Path

import pytest

import deciban
from deciban.io import atomic

from .operations import OPERATIONS, check_operation


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("faults")


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_call_that_fails_leaves_whole_files(name, folder):
    assert check_operation(name, folder, every_code=False) >= 5


@pytest.mark.parametrize("name", ["save", "predict_on to parquet", "update m.deciban more.csv"])
def test_a_call_that_fails_leaves_whole_files_where_temporary_files_have_names(name, folder, monkeypatch):
    monkeypatch.setattr(atomic, "_write_unnamed", lambda *_: False)
    assert check_operation(name, folder, every_code=False) >= 5


def always(code):
    def fail(*args, **named):
        raise OSError(code, os.strerror(code))

    return fail


def test_a_file_system_that_names_no_unnamed_file_gets_a_copy(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", always(errno.EPERM))
    lines = iter([b"all ", b"of it"])
    atomic.atomic_write(tmp_path / "a", lambda file: file.writelines(lines))
    assert (tmp_path / "a").read_bytes() == b"all of it"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(os.name != "posix", reason="flock")
def test_a_file_system_without_locks_is_an_error_not_a_wait(tmp_path, monkeypatch):
    monkeypatch.setattr("fcntl.flock", always(errno.ENOLCK))
    with pytest.raises(OSError, match=r"m\.deciban\.lock"), atomic.file_lock(tmp_path / "m.deciban"):
        pass


@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX systems")
def test_a_folder_that_cannot_be_synced_is_a_warning(tmp_path, monkeypatch):
    folder, open_handle = tmp_path.resolve(), os.open
    fail = always(errno.EACCES)
    monkeypatch.setattr(
        os, "open", lambda path, flags, *args: (fail if flags == os.O_RDONLY else open_handle)(path, flags, *args)
    )
    with pytest.warns(UserWarning, match="may be lost"):
        atomic.atomic_write(folder / "a", lambda file: file.write(b"content"))
    assert (folder / "a").read_bytes() == b"content"


def test_temporary_files_of_killed_processes_are_deleted_after_a_day(tmp_path):
    old, recent, other = (tmp_path / name for name in (".deciban-1.part", ".deciban-2.part", "my.part"))
    for path, age in ((old, 1.1), (recent, 0.9), (other, 2.0)):
        path.touch()
        os.utime(path, (time.time() - age * atomic.OLD,) * 2)
    atomic.atomic_write(tmp_path / "a", lambda file: file.write(b"content"))
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "a", recent, other])


class Narrow(io.RawIOBase):
    """A file without a buffer that takes few bytes at a time, and no more than `room`."""

    def __init__(self, room):
        self.content, self.room = b"", room

    def write(self, data):
        took = bytes(data)[: min(100, self.room - len(self.content))]
        self.content += took
        return len(took)


def test_a_file_that_takes_few_bytes_gets_all_of_a_model_or_there_is_an_error():
    model = deciban.GaussianNB().fit([[0.0], [1.0]], [0, 1])
    deciban.save(model, file := Narrow(10**6))
    assert deciban.loads(file.content).class_count_.tolist() == [1, 1]
    with pytest.raises(OSError, match="no more bytes"):
        deciban.save(model, Narrow(1000))


def test_a_model_that_cannot_be_read_is_not_taken_for_another_file(tmp_path, monkeypatch, capfd):
    from ..support.cli import output

    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("x,y\n" + "1,a\n2,b\n" * 9)
    Path("m.deciban").write_bytes(b"a model")
    monkeypatch.setattr(deciban, "model_info", always(errno.EIO))
    assert os.strerror(errno.EIO) in output("fit -q rows.csv -o m.deciban", capfd, 1)[1]
