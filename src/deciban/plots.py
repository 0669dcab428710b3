"""Pictures. Each function takes `ax=` (by default new axes), draws with matplotlib and returns the axes.

Colours are told apart by every eye, and marks, dashes or numbers say the same without them (`deciban.palette`).

>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
>>> waterfall(model.explain([[2.0]])).get_xlabel()
'decibans'
"""

from deciban.pictures.nomograms import nomogram
from deciban.pictures.own import coefficient_path, learning_curve, waterfall

__all__ = ["coefficient_path", "learning_curve", "nomogram", "waterfall"]
