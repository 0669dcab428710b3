"""scikit-learn's own tests of text vectorisers, on our classes."""

from .borrow import borrow

globals().update(borrow("text"))
