"""Classifiers with the interface of scikit-learn: constructors store settings, `fit` learns, attributes are views."""
