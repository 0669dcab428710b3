"""scikit-learn-intelex, where it is installed; only its logistic regression is raced."""

from typing import Any

from sklearnex import linear_model

NAME = "scikit-learn-intelex"


def make(class_name: str, **kwargs: Any) -> Any:
    if class_name != "LogisticRegression":
        raise AttributeError(class_name)
    return linear_model.LogisticRegression(**kwargs)
