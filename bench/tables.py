"""The shared tables: which, without which columns, and how their rows are split.

The data are in a folder next to the repository, if available. `manifest.json` there says which columns hold numbers
and which names; names are read as strings even where they are digits, the target always.
"""

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
FOLDS, SEED = 10, 20
SETS = (
    "adult",
    "mushroom",
    "house_votes_84",
    "horse_colic",
    "heart_cleveland",
    "titanic",
    "penguins",
    "soybean",
    "breast_cancer_diagnostic",
    "breast_cancer_wisconsin",
    "pima",
    "saheart",
    "wine",
    "glass",
    "vehicle",
    "ionosphere",
    "spambase",
    "letter",
    "pendigits",
    "optdigits",
    "iris",
    "sonar",
    "vowel",
)
# Answers in disguise, numbers of patients, free text.
DROPPED = {
    "horse_colic": ("hospital_number", "lesion_1", "lesion_2", "lesion_3", "cp_data", "outcome"),
    "titanic": ("boat", "body", "name", "ticket"),
    "breast_cancer_wisconsin": ("sample_code_number",),
}


@dataclass(frozen=True, eq=False)
class Table:
    """One data set, ready to be fitted."""

    name: str
    X: pd.DataFrame
    y: np.ndarray  # (n,) codes of `classes`
    classes: np.ndarray  # (k,) labels
    numeric: tuple[str, ...]
    nominal: tuple[str, ...]
    split: np.ndarray | None = None  # (n,) bool: the rows of the standard training part

    @property
    def labels(self) -> np.ndarray:
        return self.classes[self.y]

    @property
    def missing(self) -> int:
        return int(self.X.isna().to_numpy().sum())

    def folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(train, test) row numbers: the standard split, else ten stratified folds."""
        if self.split is not None:
            return [(np.flatnonzero(self.split), np.flatnonzero(~self.split))]
        kfold = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
        with warnings.catch_warnings():
            # A class of fewer rows than folds is tested in as many folds as it has rows, and known in all.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return list(kfold.split(self.X, self.y))


def load(names: tuple[str, ...] = SETS, data: Path = SHARED) -> Iterator[Table]:
    """The tables of these names that are there; the others are not."""
    manifest = data / "manifest.json"
    entries = {entry["name"]: entry for entry in json.loads(manifest.read_text())} if manifest.exists() else {}
    for name in names:
        entry = entries.get(name)
        if entry and (data / entry["files"][0]["path"]).exists():
            yield read(entry, data)


def read(entry: dict, data: Path) -> Table:
    """One entry of the manifest as a table."""
    name, target, split = entry["name"], entry["target"], entry["split"]
    numeric, nominal = (
        tuple(column for column in entry[kind] if column not in DROPPED.get(name, ()))
        for kind in ("numeric", "nominal")
    )
    text = dict.fromkeys((*nominal, target, *([split] if split else [])), str)
    path = data / entry["files"][0]["path"]
    frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])
    classes, y = np.unique(frame[target].to_numpy(object).astype(str), return_inverse=True)
    train = (frame[split] == "train").to_numpy() if split else None
    return Table(name, frame[[*numeric, *nominal]], y, classes, numeric, nominal, train)
