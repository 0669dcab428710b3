"""Lecture 001: linear and quadratic discriminants, naive Bayes, texts."""

from tests.coverage import row


@row("001-01", "quiz Q1", "which classifiers are linear")
def _():
    raise NotImplementedError


@row("001-02", "quiz Q3", "prediction for x6")
def _():
    raise NotImplementedError


@row("001-03", "quiz Q3", "without penalty the rows are separable")
def _():
    raise NotImplementedError


@row("001-04", "quiz Q3", "the table of five rows")
def _():
    raise NotImplementedError


@row("001-05", "recap figure (also 002, 004)", "the bare sigmoid curve")
def _():
    raise NotImplementedError


@row("001-06", "LDA", "log-odds ratio w₀ + xᵀw")
def _():
    raise NotImplementedError


@row("001-07", "LDA", "pooled Σ: divided by N, or unbiased by N − K")
def _():
    raise NotImplementedError


@row("001-08", "LDA", "class 1 if the log-odds are > 0")
def _():
    raise NotImplementedError


@row("001-09", "K classes", "δ_y(x) = xᵀΣ⁻¹μ_y − ½μ_yᵀΣ⁻¹μ_y + log P(y)")
def _():
    raise NotImplementedError


@row("001-10", "K classes", "output = arg max δ_y")
def _():
    raise NotImplementedError


@row("001-11", "re-coding (also 002 feature space φ)", "LDA or logistic regression in x1, x2, x1x2, x1², x2²")
def _():
    raise NotImplementedError


@row("001-12", "Fig 4.1 left (also 002 decision regions)", "three classes, linear boundaries")
def _():
    raise NotImplementedError


@row("001-13", "Fig 4.1 right", "quadratic boundaries by LDA in five dimensions")
def _():
    raise NotImplementedError


@row("001-14", "QDA", "own Σ_y")
def _():
    raise NotImplementedError


@row("001-15", "QDA", "δ_y(x) with −½ log det Σ_y")
def _():
    raise NotImplementedError


@row("001-16", "QDA", "QDA has more parameters")
def _():
    raise NotImplementedError


@row("001-17", "QDA", "bias and variance: LDA against QDA by sample size")
def _():
    raise NotImplementedError


@row("001-18", "Fig 4.6", "LDA in five dimensions beside QDA: differences are small")
def _():
    raise NotImplementedError


@row("001-19", "scaling up", "language from the first few words")
def _():
    raise NotImplementedError


@row("001-20", "scaling up", "LDA with more columns than rows")
def _():
    raise NotImplementedError


@row("001-21", "NB assumption", "P(x_j given y) = P(x_j given y, x_k), looked at")
def _():
    raise NotImplementedError


@row("001-22", "graphical model figure", "naive Bayes as a graph")
def _():
    raise NotImplementedError


@row("001-23", "training (also 002, 004 ℓ)", "log L of all parameters on the sample")
def _():
    raise NotImplementedError


@row("001-24", "training (also 002 argmax)", "log L at other parameters: the fit is the maximum")
def _():
    raise NotImplementedError


@row("001-25", "decision boundary (also 003)", "log-odds = log prior odds + Σ log ratios")
def _():
    raise NotImplementedError


@row("001-26", "decision boundary", "w_j0 and w_j1")
def _():
    raise NotImplementedError


@row("001-27", "decision boundary", "w₀ = log prior odds + Σ w_j0, w_j = w_j1 − w_j0")
def _():
    raise NotImplementedError


@row("001-28", "text", "P(y = c) of a text model")
def _():
    raise NotImplementedError


@row("001-29", "text (also 003 P(w_k given v_j))", "P(word given class) of all words of a text model")
def _():
    raise NotImplementedError


@row("001-30", "text", "topics: Politics, Finance, Sports, Arts")
def _():
    raise NotImplementedError


@row("001-31", "text", "a word not seen in training")
def _():
    raise NotImplementedError


@row("001-32", "Laplace", "no example of the class gives 1/2")
def _():
    raise NotImplementedError


@row("001-33", "Laplace", "all examples have x_j = 1: Pr(x_j = 0) = 1/(n + 2)")
def _():
    raise NotImplementedError


@row("001-34", "Laplace", "a frequent word is only slightly biased")
def _():
    raise NotImplementedError


@row("001-35", "20 newsgroups (also 003)", "the collection, 1000 texts a group")
def _():
    raise NotImplementedError


@row("001-36", "20 newsgroups (also 003)", "naive Bayes 89 %, a third held out")
def _():
    raise NotImplementedError


@row("001-37", "multi-class", "one classifier of 20 values")
def _():
    raise NotImplementedError


@row("001-38", "multi-class", "20 one-against-all classifiers")
def _():
    raise NotImplementedError


@row("001-39", "multi-class", "one against all is unbalanced")
def _():
    raise NotImplementedError


@row("001-40", "Table 3.1", "the word of each group")
def _():
    raise NotImplementedError


@row("001-41", "Table 3.1", "the score column θ log(θ/θ_rest)")
def _():
    raise NotImplementedError


@row("001-42", "Table 3.1", "the column θ̂")
def _():
    raise NotImplementedError


@row("001-43", "Gaussian NB", "normal columns, P(y) binomial; MLE of μ and σ²")
def _():
    raise NotImplementedError


@row("001-44", "Gaussian NB", "same Σ: LDA; own Σ: QDA; diagonal Σ: Gaussian NB")
def _():
    raise NotImplementedError


@row("001-45", "Gaussian NB (also 002)", "one diagonal Σ for all classes: linear posterior")
def _():
    raise NotImplementedError


@row("001-46", "Bayesian networks", "new arcs where columns depend")
def _():
    raise NotImplementedError


@row("001-47", "Bayesian networks", "conditional table at each node")
def _():
    raise NotImplementedError


@row("001-48", "Bayesian networks", "the annotated graph, drawn")
def _():
    raise NotImplementedError
