"""One file per library. A peer is a module with `NAME` and `make(class_name, **kwargs)`.

`make` gives an unfitted estimator with scikit-learn's contract, and raises AttributeError for a class the
library lacks. A new file here is raced without being named anywhere else.
"""

import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol

OURS = "deciban"
REFERENCE = "scikit-learn"  # the required ratios are against this one


class Peer(Protocol):
    NAME: str

    def make(self, class_name: str, **kwargs: Any) -> Any: ...


def found() -> dict[str, Peer]:
    """All peers whose library is installed, by name."""
    peers = {}
    for module in iter_modules(__path__, prefix=f"{__name__}."):
        try:
            peer = import_module(module.name)
        except ImportError as error:
            print(f"skipped {module.name}: {error}", file=sys.stderr)
        else:
            peers[peer.NAME] = peer
    return peers  # type: ignore[return-value]
