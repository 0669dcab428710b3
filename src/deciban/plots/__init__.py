"""Plots. Each function takes `ax=` (by default new axes), draws with matplotlib and returns the axes.

The palette is safe for colour-blind readers, and marks, dashes or numbers say the same without colours.

>>> from deciban import GaussianNB, plots
>>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
>>> plots.waterfall(model.explain([[2.0]])).get_xlabel()
'decibans'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deciban.plots.curves import confusion_matrix, precision_recall, reliability, roc
    from deciban.plots.distributions import densities, sigmoid
    from deciban.plots.evidence import coefficient_path, inclusion, interaction, learning_curve, top_words, waterfall
    from deciban.plots.influences import influence
    from deciban.plots.networks import graph
    from deciban.plots.nomograms import nomogram
    from deciban.plots.regions import decision_regions
    from deciban.plots.training_history import error_surface, training

_HOMES = {
    "coefficient_path": "evidence",
    "confusion_matrix": "curves",
    "decision_regions": "regions",
    "densities": "distributions",
    "error_surface": "training_history",
    "graph": "networks",
    "inclusion": "evidence",
    "influence": "influences",
    "interaction": "evidence",
    "learning_curve": "evidence",
    "nomogram": "nomograms",
    "precision_recall": "curves",
    "reliability": "curves",
    "roc": "curves",
    "sigmoid": "distributions",
    "top_words": "evidence",
    "training": "training_history",
    "waterfall": "evidence",
}


def __getattr__(name: str) -> Any:
    """Import plots on first access, to keep `import deciban` fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'deciban.plots' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"deciban.plots.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


__all__ = [
    "coefficient_path",
    "confusion_matrix",
    "decision_regions",
    "densities",
    "error_surface",
    "graph",
    "inclusion",
    "influence",
    "interaction",
    "learning_curve",
    "nomogram",
    "precision_recall",
    "reliability",
    "roc",
    "sigmoid",
    "top_words",
    "training",
    "waterfall",
]
