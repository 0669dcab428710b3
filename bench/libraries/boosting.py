"""scikit-learn's `HistGradientBoostingClassifier` with its defaults: a far anchor, trees instead of evidence.

It reads missing cells itself; names go in as categorical codes, the rarest of more than 254 levels as one.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

NAME = "boosting"
VERSIONS = ("scikit-learn", "numpy")


def make(numeric: Sequence[str], nominal: Sequence[str]) -> Any:
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=254)
    columns = ColumnTransformer([("nominal", codes, list(nominal)), ("numeric", "passthrough", list(numeric))])
    trees = HistGradientBoostingClassifier(categorical_features=list(range(len(nominal))), random_state=0)
    return make_pipeline(columns, trees)
