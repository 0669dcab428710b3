"""From a generative model to the logistic regression of the same posterior, where log p(x | class) is linear in x:

    P(class | x)  ∝  p(x | class) P(class)   ⇒   P(class | x) = softmax(coef · x + intercept)

>>> from deciban import BernoulliNB, LogisticRegression
>>> words = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], ["ham", "ham", "spam", "spam"])
>>> LogisticRegression.from_generative(words).coef_.round(3).tolist()
[[-2.197, 1.099]]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import ops
from deciban.classifiers.origin import Origin
from deciban.errors import DataError
from deciban.inference.likelihood import contrasts
from deciban.inference.observed import Observed


def attributes(model: Any) -> dict[str, Any]:
    """What a logistic regression with the posterior of this model has learned, by name."""
    if not hasattr(model, "as_logistic"):
        raise DataError(
            f"{type(model).__name__} is no generative classifier with `as_logistic`\n\n"
            "hint: pass a fitted LinearDiscriminantAnalysis, MultinomialNB, PoissonNB or BernoulliNB"
        )
    fitted, view = model._check_is_fitted(), model.as_logistic()
    if (view.binarize or 0.0) >= 1.0:
        raise DataError(
            f"binarize={view.binarize:g} makes 0 and 1 the same, and a logistic regression takes cells as they are\n\n"
            "hint: binarize the columns to 0 and 1 first, and fit BernoulliNB with binarize=0"
        )
    k = len(view.classes_)
    if k < 2:
        raise DataError(f"the model has one class, {view.classes_.tolist()}\n\nhint: fit it on rows of two classes")
    if not (ops.whole(view.coef_) and ops.whole(view.intercept_)):
        raise DataError(
            f"this {type(model).__name__} calls some rows impossible, and no finite coefficient says so\n\n"
            "hint: smooth its counts (alpha > 0), and give every class a prior above 0"
        )
    prior = np.exp(model._prior(fitted, None))
    out = {
        "classes_": view.classes_,
        "coef_": np.array(view.coef_, dtype=np.float64),
        "intercept_": np.array(view.intercept_, dtype=np.float64),
        "class_count_": fitted.tally.parts[0].n.sum() * prior / prior.sum(),
        "n_features_in_": model.n_features_in_,
        "n_iter_": np.array([0], dtype=np.int32),
        "_origin": Origin.plain,
    }
    theta = contrasts(out["coef_"], out["intercept_"], True)
    out["_observed"] = Observed(None, None, None, theta, k, True, model._candidates)
    if hasattr(model, "feature_names_in_"):
        out["feature_names_in_"] = model.feature_names_in_
    return out
