"""The table of `examples/lectures/README.md` lists the scripts that are there, in order."""

import re
from pathlib import Path

from tests.support.gallery import FOLDER

ROW = re.compile(r"^\| \[(\S+\.py)\]\((\S+)\) \| (.+) \| (\d{3}), (.+) \|$", re.MULTILINE)


def listed() -> list[tuple[str, ...]]:
    return ROW.findall((FOLDER / "README.md").read_text())


def test_the_table_lists_exactly_the_scripts():
    assert sorted(name for name, *_ in listed()) == sorted(path.name for path in FOLDER.glob("*.py"))


def test_rows_are_links_in_the_order_of_the_lectures():
    rows = listed()
    numbers = [tuple(map(int, re.findall(r"\d+", name)[:2])) for name, *_ in rows]
    assert numbers == sorted(numbers)
    for name, link, _, lecture, _ in rows:
        assert (link, lecture) == (name, name[:3])


def test_every_script_has_a_test():
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_gallery_*.py"))
    assert not [path.name for path in FOLDER.glob("*.py") if f'"{path.stem}"' not in tests]
