"""scikit-learn."""

from typing import Any

from sklearn import discriminant_analysis, naive_bayes

NAME = "scikit-learn"


def make(class_name: str, **kwargs: Any) -> Any:
    home = discriminant_analysis if class_name.endswith("Analysis") else naive_bayes
    return getattr(home, class_name)(**kwargs)
