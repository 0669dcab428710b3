"""scikit-learn's own tests of logistic regression, on our class; those of `LogisticRegressionCV` alone are left out."""

from .borrow import borrow

globals().update(borrow("logistic"))
