"""Pictures. Each function takes `ax=` (by default new axes), draws with matplotlib and returns the axes.

Colours are told apart by every eye, and marks, dashes or numbers say the same without them (`deciban.palette`).

>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
>>> waterfall(model.explain([[2.0]])).get_xlabel()
'decibans'
"""

from deciban.pictures.confusions import confusion_matrix
from deciban.pictures.curves import precision_recall, roc
from deciban.pictures.densities import class_densities
from deciban.pictures.inclusions import inclusion
from deciban.pictures.nomograms import nomogram
from deciban.pictures.own import coefficient_path, learning_curve, waterfall
from deciban.pictures.regions import decision_regions
from deciban.pictures.reliabilities import reliability
from deciban.pictures.sigmoids import sigmoid
from deciban.pictures.words import top_words

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
