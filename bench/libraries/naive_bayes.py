"""scikit-learn's naive Bayes as its user would write it.

Numbers alone: mean, then `GaussianNB`. Names alone: codes, then `CategoricalNB`; an unseen level becomes NaN
and, like a missing cell, the most frequent level, because `CategoricalNB` raises on a code it has not seen.
Both kinds: one-hot columns beside the numbers, then `GaussianNB`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

NAME = "naive Bayes"
VERSIONS = ("scikit-learn", "numpy")


def make(numeric: Sequence[str], nominal: Sequence[str]) -> Any:
    if not nominal:
        return make_pipeline(SimpleImputer(), GaussianNB())
    if not numeric:
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        return make_pipeline(codes, SimpleImputer(strategy="most_frequent"), CategoricalNB())
    onehot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = ColumnTransformer(
        [
            ("numeric", SimpleImputer(), list(numeric)),
            ("nominal", make_pipeline(SimpleImputer(strategy="most_frequent"), onehot), list(nominal)),
        ]
    )
    return make_pipeline(columns, GaussianNB())
