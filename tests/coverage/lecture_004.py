"""Lecture 004: generative and discriminative models."""

from tests.coverage import row


@row("004-01", "classification", "labels −, + with + as the positive class")
def _():
    raise NotImplementedError


@row("004-02", "logistic regression", "a linear h leaves [0, 1]: why the sigmoid")
def _():
    raise NotImplementedError


@row("004-03", "update rule", "LMS has the same update, another h")
def _():
    raise NotImplementedError


@row("004-04", "generative", "match a new animal against each model")
def _():
    raise NotImplementedError


@row("004-05", "GDA figure", "the normal densities p(x given y) as contours")
def _():
    raise NotImplementedError


@row("004-06", "GDA", "y ~ Bernoulli(φ), x given y ~ N(μ_y, Σ): draw from it")
def _():
    raise NotImplementedError


@row("004-07", "GDA", "ℓ(φ, μ0, μ1, Σ) of the sample")
def _():
    raise NotImplementedError


@row("004-08", "GDA and logistic", "normal classes imply a logistic posterior, not the converse")
def _():
    raise NotImplementedError


@row("004-09", "GDA and logistic", "assumptions hold, few rows: GDA better")
def _():
    raise NotImplementedError


@row("004-10", "GDA and logistic", "many rows: none strictly better")
def _():
    raise NotImplementedError


@row("004-11", "GDA and logistic", "wrong assumptions: logistic regression more robust")
def _():
    raise NotImplementedError


@row("004-12", "NB", "discrete columns")
def _():
    raise NotImplementedError


@row("004-13", "Laplace", "φ_j of k outcomes, unsmoothed")
def _():
    raise NotImplementedError


@row("004-14", "Laplace", "(1 + count) / (k + n)")
def _():
    raise NotImplementedError
