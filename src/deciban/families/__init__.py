"""One file per class-conditional density p(x | class). A file in this folder that names a `FAMILY` is found by looking.

>>> sorted(find())[:3]
['aode', 'bernoulli', 'categorical']
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any


@cache
def find() -> dict[str, Any]:
    """Every family here, by the name of its file."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: module.FAMILY for name, module in modules.items() if hasattr(module, "FAMILY")}
