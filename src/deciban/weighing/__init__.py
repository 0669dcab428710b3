"""Weights for the columns of naive Bayes, by conditional likelihood."""
