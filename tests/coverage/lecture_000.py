"""Lecture 000: logistic regression, generative models, naive Bayes."""

from tests.coverage import row


@row("000-01", "7.1 eq 7.1", "Bernoulli p(y) = φ^y (1−φ)^(1−y) at a given φ")
def _():
    raise NotImplementedError


@row("000-02", "7.1 eq 7.2–7.4 (also 001)", "log-likelihood of m tosses at the fit, h log φ + (m−h) log(1−φ)")
def _():
    raise NotImplementedError


@row("000-03", "7.1 eq 7.4", "the same at any other φ (the curve l(φ))")
def _():
    raise NotImplementedError


@row("000-04", "7.1 eq 7.5–7.7 (also 001 ∂L/∂θ₁)", "derivative dl/dφ = h/φ − (m−h)/(1−φ), zero at the maximum")
def _():
    raise NotImplementedError


@row("000-05", "7.1 eq 7.8 (also 001 θ₁)", "φ = h/m")
def _():
    raise NotImplementedError


@row(
    "000-06",
    "7.1 (also 001 Bayesian prior)",
    "MLE is MAP with a uniform prior; Laplace is the mean under Beta(1,1)",
)
def _():
    raise NotImplementedError


@row("000-07", "7.2 eq 7.9–7.11 (also 002, 003, 004)", "p(y given x; θ) at a given θ")
def _():
    raise NotImplementedError


@row("000-08", "7.2 eq 7.12 (also 004 ℓ(θ))", "log-likelihood at the fit")
def _():
    raise NotImplementedError


@row("000-09", "7.2 eq 7.12", "l(θ) at a given θ")
def _():
    raise NotImplementedError


@row("000-10", "7.2 eq 7.13", "batch gradient ascent to the maximum")
def _():
    raise NotImplementedError


@row("000-11", "7.2 eq 7.13", "the rule with a chosen learning rate α, step by step")
def _():
    raise NotImplementedError


@row("000-12", "7.2", "θ and l after each step of gradient ascent")
def _():
    raise NotImplementedError


@row("000-13", "7.2", "α too large: the ascent diverges")
def _():
    raise NotImplementedError


@row("000-14", "7.2 eq 7.14 (also 002, 004)", "gradient ∇l(θ) of all rows")
def _():
    raise NotImplementedError


@row("000-15", "7.2 eq 7.15 (also 001, 002, 004)", "the sigmoid g(z) as a function")
def _():
    raise NotImplementedError


@row("000-16", "7.2 Fig 7.1", "100 labels drawn from p(y=1) = 1/(1+exp(−4x−2))")
def _():
    raise NotImplementedError


@row("000-17", "7.2 Fig 7.1", "the generating curve (the solid line of the figure)")
def _():
    raise NotImplementedError


@row("000-18", "7.2 Fig 7.1", "the fitted curve over the 0/1 rows")
def _():
    raise NotImplementedError


@row("000-19", "7.2 Fig 7.1", "generating and fitted curve in one picture")
def _():
    raise NotImplementedError


@row("000-20", "7.2", "maximum likelihood finds θ again")
def _():
    raise NotImplementedError


@row("000-21", "7.2 eq 7.16–7.19 (also 004 g')", "∂h/∂θ = +h(1−h)x")
def _():
    raise NotImplementedError


@row("000-22", "7.2 eq 7.20–7.22 (also 004)", "(y − h)x of one example")
def _():
    raise NotImplementedError


@row("000-23", "7.2 eq 7.23 (also 004)", "per-example rule θ ← θ + α(y − h)x")
def _():
    raise NotImplementedError


@row("000-24", "7.2", "the same update is the perceptron rule")
def _():
    raise NotImplementedError


@row("000-25", "7.2 eq 7.24", "decision point θᵀx = 0")
def _():
    raise NotImplementedError


@row("000-26", "7.2 eq 7.24 (also 003 odds > 1)", "predict the class of higher probability; side of the hyperplane")
def _():
    raise NotImplementedError


@row("000-27", "7.2", "non-linear boundaries by another functional form")
def _():
    raise NotImplementedError


@row("000-28", "7.3 eq 7.25 (also 002, 004)", "posterior from p(x given y), p(y), p(x)")
def _():
    raise NotImplementedError


@row("000-29", "7.3 (also 003 P(x given ⊕))", "p(x given class) itself")
def _():
    raise NotImplementedError


@row("000-30", "7.3", "p(x)")
def _():
    raise NotImplementedError


@row("000-31", "7.3 eq 7.26–7.28 (also 003, 004)", "arg max without the denominator")
def _():
    raise NotImplementedError


@row("000-32", "7.3", "class priors that are known")
def _():
    raise NotImplementedError


@row("000-33", "7.3 (also 004 elephants and dogs)", "learn each class by itself, then combine")
def _():
    raise NotImplementedError


@row("000-34", "7.3 (also 004)", "a generative model draws new examples")
def _():
    raise NotImplementedError


@row("000-35", "7.4 eq 7.29, 7.32 (also 001, 002, 004)", "class priors φ_k = N_k / N")
def _():
    raise NotImplementedError


@row("000-36", "7.4 eq 7.30 (also 001, 002, 004)", "normal density with a given μ and Σ")
def _():
    raise NotImplementedError


@row("000-37", "7.4 eq 7.33 (also 001, 002, 004)", "means μ_k")
def _():
    raise NotImplementedError


@row("000-38", "7.4 eq 7.34 (also 002 S_k)", "own covariances Σ_k, divided by the class's rows")
def _():
    raise NotImplementedError


@row("000-39", "7.4 eq 7.35–7.38", "decision from log p(x given k) + log φ_k")
def _():
    raise NotImplementedError


@row("000-40", "7.4 eq 7.40 (also 002, 004 Σ)", "shared Σ = Σ_k N_k/N S_k")
def _():
    raise NotImplementedError


@row("000-41", "7.4 eq 7.41–7.43 (also 001, 002 w₀)", "constant a of the boundary a + w·x")
def _():
    raise NotImplementedError


@row("000-42", "7.4 eq 7.42 (also 001, 002 w)", "w = Σ⁻¹(μ_k − μ_l)")
def _():
    raise NotImplementedError


@row("000-43", "7.4", "w stands at a right angle on the boundary (drawn)")
def _():
    raise NotImplementedError


@row("000-44", "7.4 Fig 7.2A", "two normal classes with contours, rows, boundary")
def _():
    raise NotImplementedError


@row(
    "000-45",
    "7.4 Fig 7.2B (also 002 'not linearly separable')",
    "two heaps around one: LDA and logistic regression fail",
)
def _():
    raise NotImplementedError


@row("000-46", "7.4", "quadratic boundary of QDA, drawn")
def _():
    raise NotImplementedError


@row("000-47", "7.4", "the quadratic equation itself, xᵀAx + bᵀx + c")
def _():
    raise NotImplementedError


@row("000-48", "7.4 eq 7.44–7.45 (also 002, 004)", "the LDA posterior is a logistic function")
def _():
    raise NotImplementedError


@row("000-49", "7.4", "LDA and logistic regression give different numbers")
def _():
    raise NotImplementedError


@row("000-50", "7.4", "LDA works well though classes are not normal")
def _():
    raise NotImplementedError


@row("000-51", "7.4 eq 7.46", "Fisher's w = (Σ_k + Σ_l)⁻¹(μ_k − μ_l)")
def _():
    raise NotImplementedError


@row("000-52", "7.4", "Fisher equals LDA for equal covariances")
def _():
    raise NotImplementedError


@row("000-53", "7.4", "between-class over within-class variance (signal to noise)")
def _():
    raise NotImplementedError


@row("000-54", "7.5 eq 7.47 (also 004)", "presence vector of a vocabulary")
def _():
    raise NotImplementedError


@row("000-55", "7.5 (also 003)", "bag of words: counts")
def _():
    raise NotImplementedError


@row("000-56", "7.5", "vocabulary of 50,000 words")
def _():
    raise NotImplementedError


@row("000-57", "7.5 eq 7.48, 7.51 (also 001 O(2^m), O(m))", "2^50000 − 1 parameters against 50,000")
def _():
    raise NotImplementedError


@row("000-58", "7.5 eq 7.49 (also 001)", "chain rule: the full conditional table")
def _():
    raise NotImplementedError


@row("000-59", "7.5 eq 7.50–7.51 (also 001, 003)", "p(x given y) = Π p(x_j given y), factor by factor")
def _():
    raise NotImplementedError


@row("000-60", "7.5 eq 7.52–7.54 (also 001, 004)", "φ_j given y, φ_y by maximum likelihood")
def _():
    raise NotImplementedError


@row("000-61", "7.5 eq 7.55 (also 004)", "posterior of spam, absent words counted too")
def _():
    raise NotImplementedError


@row("000-62", "7.5", "a word never seen gives 0/0")
def _():
    raise NotImplementedError


@row("000-63", "7.5 eq 7.56–7.57 (also 001, 003, 004)", "Laplace: + 1 over + 2")
def _():
    raise NotImplementedError


@row("000-64", "7.5 (also 004)", "a spam filter, whole")
def _():
    raise NotImplementedError


@row("000-65", "7.5", "compare naive Bayes with other methods")
def _():
    raise NotImplementedError
