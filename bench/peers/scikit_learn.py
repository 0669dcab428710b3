"""scikit-learn."""

from typing import Any

from sklearn import discriminant_analysis, linear_model, naive_bayes

NAME = "scikit-learn"


def make(class_name: str, **kwargs: Any) -> Any:
    return getattr(_home(class_name), class_name)(**kwargs)


def _home(class_name: str) -> Any:
    if class_name == "LogisticRegression":
        return linear_model
    return discriminant_analysis if class_name.endswith("Analysis") else naive_bayes
