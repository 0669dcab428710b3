"""scikit-learn's own tests of naive Bayes, on our classes."""

from .borrow import borrow

globals().update(borrow("naive_bayes"))
