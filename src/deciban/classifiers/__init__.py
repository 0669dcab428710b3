"""The scikit-learn front: constructors store, `fit` learns, everything else is a view of the tally."""
