"""Files that were changed on purpose, with a right checksum."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from deciban.storage import tensors


def read_parts(path: Path) -> tuple[dict, dict[str, np.ndarray]]:
    """The metadata and arrays of a model file or checkpoint."""
    with open(path, "rb") as file:
        header = tensors.Header.from_file(file)
        return dict(header.metadata), {name: a.copy() for name, a in header.arrays(file).items()}


def forge(path: Path, change: Callable[[dict, dict], object]) -> None:
    """Change the metadata and arrays of a model file or checkpoint in place."""
    metadata, arrays = read_parts(path)
    change(metadata, arrays)
    tensors.write(path, metadata, arrays)
