"""scikit-learn's naive Bayes with more care: numbers cut into ten quantile bins, everything to `CategoricalNB`.

Not what most users write, but often the better model; it is here so that the comparison is not with a weak rival only.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

NAME = "naive Bayes, binned"
VERSIONS = ("scikit-learn", "numpy")
BINS = 10


def make(numeric: Sequence[str], nominal: Sequence[str]) -> Any:
    bins = KBinsDiscretizer(BINS, encode="ordinal", quantile_method="averaged_inverted_cdf", subsample=None)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    columns = ColumnTransformer(
        [
            ("numeric", make_pipeline(SimpleImputer(), bins), list(numeric)),
            ("nominal", make_pipeline(codes, SimpleImputer(strategy="most_frequent")), list(nominal)),
        ]
    )
    return make_pipeline(columns, CategoricalNB())
