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


def fill(metadata: dict, arrays: dict, name: str, value: float) -> None:
    """Fill an array; exact sums become doubles."""

    def visit(node: object) -> None:
        found = node.get("exact") if isinstance(node, dict) else None
        if isinstance(found, list) and found[-1] == name:
            arrays[name] = np.empty(found[:2])
            del node["exact"]
            node["array"] = name
        for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            visit(one)

    visit(metadata)
    arrays[name].fill(value)


def forge(path: Path, change: Callable[[dict, dict], object]) -> None:
    """Change the metadata and arrays of a model file or checkpoint in place."""
    metadata, arrays = read_parts(path)
    change(metadata, arrays)
    tensors.write(path, metadata, arrays)
