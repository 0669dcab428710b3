"""The report pages that are kept: `python -m tests.reference.golden_reports` writes them after a change that is meant.

The pages have no figures, so that they do not depend on the version of matplotlib. Version and date are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

import deciban

TEST = np.arange(200) % 3 == 0
FOLDER = Path(__file__).parent / "report_pages"
WORDS = {
    "drink": ["tea", "coffee", "milk", "cup", "pour", "sip", "juice"],
    "food": ["cake", "bread", "rice", "plate", "bake", "eat", "soup"],
}
COMMON = ["the", "a", "of", "and", "with", "some", "more", "again", "today", "never"]


def wine() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, levels and missing cells; three classes."""
    found = load_wine(as_frame=True)
    X = found.data[["alcohol", "ash", "magnesium", "hue"]].rename(columns={"hue": "hue <of the wine>"})
    levels = np.array(["pale", "mid & warm", "deep"])
    shade = levels[np.digitize(found.data["color_intensity"], [3.5, 6.0])].astype(object)
    shade[::11] = None
    ash = X["ash"].where(np.arange(len(X)) % 7 != 0)
    bottle = np.arange(len(X)) % 4 + 5.0 * TEST[: len(X)]  # which drifts
    return X.assign(ash=ash, shade=shade, bottle=bottle), np.array(["Barolo", "Grignolino", "Barbera"])[found.target]


def talk(n: int = 120) -> tuple[list[str], np.ndarray]:
    """Texts of two classes; every ninth has words of the other class. No two words are equally frequent."""
    state, texts, labels = 1, [], []

    def pick(words: list[str]) -> str:
        """The first words more often than the last."""
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return words[int(len(words) * (state / 2**31) ** 1.8)]

    for i in range(n):
        label, other = ("drink", "food") if i % 5 < 2 else ("food", "drink")
        of = WORDS[other if i % 9 == 4 else label]
        texts.append(f"{pick(COMMON)} {pick(of)} & {pick(of)} <{pick(COMMON)}>, {pick(of)}!")
        labels.append(label)
    return texts, np.array(labels)


def pages() -> dict[str, str]:
    """{name: page}."""
    X, y = wine()
    test = TEST[: len(y)]
    table = deciban.MixedNB().fit(X[~test], y[~test])
    texts, labels = talk()
    text = deciban.TextClassifier().fit(texts, labels)
    out = {
        "table": deciban.report(
            table, X[test], y[test], train=(X[~test], y[~test]), target="grape", rows=3, figures=False
        ),
        "text": deciban.report(text, texts, labels, title="Drink and <food>", rows=3, figures=False),
    }
    return {name: without_date(page.html) for name, page in out.items()}


def without_date(html: str) -> str:
    out, changed = re.subn(r"deciban \S+, \d{4}-\d\d-\d\d\.", "deciban VERSION, DATE.", html)
    assert changed == 1
    return out


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, html in pages().items():
        (FOLDER / f"{name}.html").write_text(html, encoding="utf-8")
