"""scikit-learn's `LogisticRegression` in the usual pipeline: impute, scale, one-hot."""

from collections.abc import Sequence
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

NAME = "logistic"
VERSIONS = ("scikit-learn", "numpy", "scipy")


def make(numeric: Sequence[str], nominal: Sequence[str]) -> Any:
    onehot = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer(
        [
            ("numeric", make_pipeline(SimpleImputer(), StandardScaler()), list(numeric)),
            ("nominal", make_pipeline(SimpleImputer(strategy="most_frequent"), onehot), list(nominal)),
        ]
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000))
