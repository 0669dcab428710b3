"""scikit-learn's own tests of discriminant analysis, on our classes."""

from .borrow import borrow

globals().update(borrow("discriminant_analysis"))
