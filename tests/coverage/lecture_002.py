"""Lecture 002: logistic regression by Newton's method, softmax."""

from tests.coverage import row


@row("002-01", "formulation", "P(C_i given x, D) of K classes")
def _():
    raise NotImplementedError


@row("002-02", "formulation", "are the classes linearly separable")
def _():
    raise NotImplementedError


@row("002-03", "two classes", "a = ln p(x,C1)/p(x,C2), posterior σ(a)")
def _():
    raise NotImplementedError


@row("002-04", "exponential family", "the posterior is linear for other families: Poisson, multinomial, Bernoulli")
def _():
    raise NotImplementedError


@row("002-05", "exponential family", "… and for products of them in one table")
def _():
    raise NotImplementedError


@row("002-06", "multi-class", "softmax of a_k = ln p(x given k)p(k)")
def _():
    raise NotImplementedError


@row("002-07", "maximum likelihood, K classes (also logistic)", "1-of-K targets T")
def _():
    raise NotImplementedError


@row("002-08", "maximum likelihood", "∂ log P/∂θ = 0 at the solution")
def _():
    raise NotImplementedError


@row("002-09", "discriminative", "logistic regression cannot generate x")
def _():
    raise NotImplementedError


@row("002-10", "cross-entropy", "E(w) = −ln P(t given w), at the fit and at any w")
def _():
    raise NotImplementedError


@row("002-11", "Newton", "∇E = Σ (y − t)x̃")
def _():
    raise NotImplementedError


@row("002-12", "Newton", "H = Σ y(1−y) x̃x̃ᵀ")
def _():
    raise NotImplementedError


@row("002-13", "Newton", "w ← w − H⁻¹∇E")
def _():
    raise NotImplementedError


@row("002-14", "Newton", "all steps of one run")
def _():
    raise NotImplementedError


@row("002-15", "Newton figure", "E over w with the steps on it")
def _():
    raise NotImplementedError


@row("002-16", "Newton, step 1 'random value'", "another starting point")
def _():
    raise NotImplementedError


@row("002-17", "Newton", "not guaranteed: a bad start diverges")
def _():
    raise NotImplementedError


@row("002-18", "multi-class", "softmax regression, one w̃_k for each class")
def _():
    raise NotImplementedError


@row("002-19", "multi-class", "likelihood and cross-entropy of K classes at any W")
def _():
    raise NotImplementedError


@row("002-20", "multi-class", "gradient and block Hessian ∇_k∇_j E")
def _():
    raise NotImplementedError


@row("002-21", "solvers", "any solver finds the same w")
def _():
    raise NotImplementedError


@row("002-22", "solvers", "minimise E with somebody else's solver")
def _():
    raise NotImplementedError


@row("002-23", "notation x̃", "a column of ones instead of the intercept")
def _():
    raise NotImplementedError
