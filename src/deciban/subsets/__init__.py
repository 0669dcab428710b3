"""Naive Bayes averaged over all subsets of its columns."""
