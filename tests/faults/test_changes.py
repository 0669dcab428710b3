"""Data that change while they are read, at one moment for each reader and format."""

import random

import pytest

from .changes import CHANGES, DATA, READERS, check_reader, prepare_models


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("changes")


@pytest.mark.parametrize("name", READERS)
def test_data_that_change_while_they_are_read_are_an_error(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    prepare_models()
    first = list(READERS).index(name)
    for i, data in enumerate(DATA):
        assert check_reader(name, data, CHANGES[(first + i) % len(CHANGES)], 1, random.Random(i)) > 1
