"""Pictures. Each function takes `ax=` (by default new axes), draws with matplotlib and returns the axes.

Colours are told apart by every eye, and marks, dashes or numbers say the same without them (`deciban.display`).

>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
>>> waterfall(model.explain([[2.0]])).get_xlabel()
'decibans'
"""

from deciban.plots.curves import confusion_matrix, precision_recall, reliability, roc
from deciban.plots.distributions import class_densities, sigmoid
from deciban.plots.evidence import coefficient_path, inclusion, learning_curve, top_words, waterfall
from deciban.plots.nomograms import nomogram
from deciban.plots.regions import decision_regions

__all__ = [
    "class_densities",
    "coefficient_path",
    "confusion_matrix",
    "decision_regions",
    "inclusion",
    "learning_curve",
    "nomogram",
    "precision_recall",
    "reliability",
    "roc",
    "sigmoid",
    "top_words",
    "waterfall",
]
