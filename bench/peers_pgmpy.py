"""pgmpy's tree-augmented naive Bayes: `TreeSearch`, +1 in every table, `VariableElimination` row by row."""

from typing import Any, Self

import numpy as np
import pandas as pd
from pgmpy.estimators import TreeSearch
from pgmpy.inference import VariableElimination
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.parameter_estimator import DiscreteBayesianEstimator

LABEL = "class of the row"


class Tan:
    """The class as a node of its own; its share of the rows is plain, as ours is."""

    def __init__(self, root: str):
        self.root = root

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Self:
        rows = X.assign(**{LABEL: y})
        tree = TreeSearch(rows, root_node=self.root, n_jobs=1).estimate("tan", LABEL, show_progress=False)
        plus_one = DiscreteBayesianEstimator(prior_type="dirichlet", pseudo_counts=1)
        self.network = DiscreteBayesianNetwork(tree.edges()).fit(rows[list(tree.nodes())], estimator=plus_one)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.share = counts / counts.sum()
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """(n, k)"""
        asked, known = VariableElimination(self.network), set(self.network.nodes())
        prior = self._values(self.network.get_cpds(LABEL))
        out = np.empty((len(X), len(self.classes_)))
        for i, row in enumerate(X.to_dict("records")):
            evidence = {name: cell for name, cell in row.items() if name in known}
            out[i] = self._values(asked.query([LABEL], evidence=evidence, show_progress=False)) / prior * self.share
        return out / out.sum(axis=1, keepdims=True)

    def _values(self, table: Any) -> np.ndarray:
        return np.array([table.get_value(**{LABEL: label}) for label in self.classes_])
