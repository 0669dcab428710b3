"""Print the table of what the lectures define, compute and draw, with what works.

python -m tests.coverage
python -m tests.coverage --page > docs/lectures/calls.md
"""

import sys
import warnings
from collections import Counter

import pytest

from tests.coverage import LECTURES, all_rows, page


def main() -> None:
    print("| id | section | what | call | status |\n|---|---|---|---|---|")
    works: Counter[str] = Counter()
    rows = list(all_rows())
    for row in rows:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                row.check()
            status = "works"
            works[row.name[:3]] += 1
        except pytest.skip.Exception:
            status = "needs data that are not here"
        except Exception as wrong:
            status = f"**{type(wrong).__name__}**"
        cells = [row.name, row.section, row.what, f"`{row.call()}`", status]
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    print("\n| lecture | rows | works |\n|---|--:|--:|")
    for lecture in LECTURES:
        print(f"| {lecture} | {sum(row.name[:3] == lecture for row in rows)} | {works[lecture]} |")
    print(f"| all | {len(rows)} | {sum(works.values())} |")


if __name__ == "__main__":
    if "--page" in sys.argv:
        print(page(), end="")
    else:
        main()
