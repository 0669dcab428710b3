"""Lecture 003: Bayesian classification, naive Bayes, missing values, MDL."""

from tests.coverage import row


@row("003-01", "Bayesian approach", "hypotheses as answers or as functions")
def _():
    raise NotImplementedError


@row("003-02", "Bayes optimal", "P(h given D) 0.4, 0.3, 0.3 voting +, −, −")
def _():
    raise NotImplementedError


@row("003-03", "Bayes optimal", "the MAP hypothesis and what it says (+)")
def _():
    raise NotImplementedError


@row("003-04", "Bayes optimal", "Σ P(v given h) P(h given D) with soft P(v given h)")
def _():
    raise NotImplementedError


@row("003-05", "Bayes optimal (also MAP)", "P(h given D) from data, for given functions")
def _():
    raise NotImplementedError


@row("003-06", "Bayes optimal", "no other method with the same hypotheses is better on average")
def _():
    raise NotImplementedError


@row("003-07", "Gibbs", "draw one hypothesis by P(h given D)")
def _():
    raise NotImplementedError


@row("003-08", "Gibbs", "E[Gibbs] ≤ 2 E[Bayes optimal]")
def _():
    raise NotImplementedError


@row("003-09", "Gibbs", "one model is asked instead of all")
def _():
    raise NotImplementedError


@row("003-10", "NB", "v_NB = arg max P(v) Π P(x_i given v)")
def _():
    raise NotImplementedError


@row("003-11", "play tennis", "the table of 14 rows")
def _():
    raise NotImplementedError


@row("003-12", "play tennis", "the table of counts by value and class")
def _():
    raise NotImplementedError


@row("003-13", "play tennis", "the table of fractions 2/9, 3/5, …")
def _():
    raise NotImplementedError


@row("003-14", "play tennis", "9/14, 5/14")
def _():
    raise NotImplementedError


@row("003-15", "play tennis", "0.0053 and 0.0206")
def _():
    raise NotImplementedError


@row("003-16", "play tennis", "the product of fractions as on the board")
def _():
    raise NotImplementedError


@row("003-17", "play tennis", "posterior 0.205, 0.795")
def _():
    raise NotImplementedError


@row("003-18", "play tennis", "… and by the defaults of the library")
def _():
    raise NotImplementedError


@row("003-19", "play tennis, numeric", "temperature and humidity as numbers")
def _():
    raise NotImplementedError


@row("003-20", "subtleties", "arg max can be right though posteriors are wrong")
def _():
    raise NotImplementedError


@row("003-21", "subtleties", "posteriors too close to 0 or 1")
def _():
    raise NotImplementedError


@row("003-22", "subtleties", "redundant attributes do harm")
def _():
    raise NotImplementedError


@row("003-23", "subtleties", "… in play tennis: copies of temperature")
def _():
    raise NotImplementedError


@row("003-24", "zero frequency", "overcast never with 'no': probability 0")
def _():
    raise NotImplementedError


@row("003-25", "zero frequency (also 004)", "add 1 to each count")
def _():
    raise NotImplementedError


@row("003-26", "zero frequency", "another constant")
def _():
    raise NotImplementedError


@row("003-27", "numeric", "sample mean; standard deviation with n − 1")
def _():
    raise NotImplementedError


@row("003-28", "numeric", "density f(66) for mean 73, deviation 6.2 = 0.0340")
def _():
    raise NotImplementedError


@row("003-29", "numeric", "f(66 given yes) from the rows")
def _():
    raise NotImplementedError


@row("003-30", "numeric (figure)", "the two bells over the temperatures")
def _():
    raise NotImplementedError


@row("003-31", "numeric", "missing cells stay out of mean and deviation")
def _():
    raise NotImplementedError


@row("003-32", "categorical variables", "multivariate Bernoulli: product over bits")
def _():
    raise NotImplementedError


@row("003-33", "categorical variables", "'Viagra' and 'pill': dependence spoils the probability, not the decision")
def _():
    raise NotImplementedError


@row("003-34", "classify text", "P(+), P(−), P(doc given +), P(doc given −)")
def _():
    raise NotImplementedError


@row("003-35", "classify text", "P(doc given v) = Π over positions; order does not matter")
def _():
    raise NotImplementedError


@row("003-36", "20 newsgroups", "the hockey article")
def _():
    raise NotImplementedError


@row("003-37", "20 newsgroups figure", "learning curve, one third withheld")
def _():
    raise NotImplementedError


@row("003-38", "eight mails", "the texts e1 … e8")
def _():
    raise NotImplementedError


@row("003-39", "eight mails", "stop words d, e; vocabulary a, b, c")
def _():
    raise NotImplementedError


@row("003-40", "eight mails", "table of bits, table of counts")
def _():
    raise NotImplementedError


@row("003-41", "Bernoulli", "sums (2,3,1), (3,1,1)")
def _():
    raise NotImplementedError


@row("003-42", "Bernoulli", "two pseudo-documents: θ = (3/6, 4/6, 2/6), (4/6, 2/6, 2/6)")
def _():
    raise NotImplementedError


@row("003-43", "multinomial", "sums (5,9,3), (11,3,3)")
def _():
    raise NotImplementedError


@row("003-44", "multinomial", "one pseudo-count a word: θ = (0.3, 0.5, 0.2), (0.6, 0.2, 0.2)")
def _():
    raise NotImplementedError


@row("003-45", "the same by TextClassifier", "texts in, lecture's numbers out")
def _():
    raise NotImplementedError


@row("003-46", "prediction", "a model from given θ")
def _():
    raise NotImplementedError


@row("003-47", "prediction", "P(x given ⊕) = 0.222, P(x given ⊖) = 0.148")
def _():
    raise NotImplementedError


@row("003-48", "prediction", "maximum likelihood class (priors left out)")
def _():
    raise NotImplementedError


@row("003-49", "prediction", "likelihood ratio 3/2")
def _():
    raise NotImplementedError


@row("003-50", "prediction", "spam while prior odds > 2/3")
def _():
    raise NotImplementedError


@row("003-51", "prediction", "prior odds 1/2 → posterior odds 3/4")
def _():
    raise NotImplementedError


@row("003-52", "prediction", "multinomial likelihoods with 4!: 0.054, 0.1728")
def _():
    raise NotImplementedError


@row("003-53", "prediction", "ratio 5/16, ham: the opposite decision")
def _():
    raise NotImplementedError


@row("003-54", "missing values", "training: cell left out; prediction: attribute left out")
def _():
    raise NotImplementedError


@row("003-55", "missing values", "P(Y given lottery) averaged over Viagra: 0.625, 0.375")
def _():
    raise NotImplementedError


@row("003-56", "missing values", "the averaging form in naive Bayes")
def _():
    raise NotImplementedError


@row("003-57", "likelihood ratio", "3.5e-5 / 7.4e-6 = 4.73")
def _():
    raise NotImplementedError


@row("003-58", "posterior odds", "0.45, 0.67, 1.9, 4.0 from the full table")
def _():
    raise NotImplementedError


@row("003-59", "posterior odds", "MAP: ham, ham, spam, spam")
def _():
    raise NotImplementedError


@row("003-60", "marginal likelihoods", "the two tables 0.40, 0.12; 0.21, 0.13 as a naive model")
def _():
    raise NotImplementedError


@row("003-61", "marginal likelihoods", "0.62, 1.1, 3.0, 5.4")
def _():
    raise NotImplementedError


@row("003-62", "marginal likelihoods", "three of four decisions agree")
def _():
    raise NotImplementedError


@row("003-63", "logistic", "posterior odds = ratio × prior odds; logs add")
def _():
    raise NotImplementedError


@row("003-64", "logistic", "ln ratio = xβ, β₀ = ln prior odds")
def _():
    raise NotImplementedError


@row("003-65", "MAP and MDL", "arg max P(D given h)P(h) over fitted models")
def _():
    raise NotImplementedError


@row("003-66", "MAP and MDL", "brute-force MAP and version space over given functions")
def _():
    raise NotImplementedError


@row("003-67", "MAP and MDL", "−log₂ P(D given h) − log₂ P(h), bits")
def _():
    raise NotImplementedError


@row("003-68", "MAP and MDL", "the same hypothesis by MAP and by MDL")
def _():
    raise NotImplementedError


@row("003-69", "MAP and MDL", "Occam: the shorter hypothesis where both explain")
def _():
    raise NotImplementedError


@row("003-70", "MAP and MDL", "length of the hypothesis itself (bits of its description)")
def _():
    raise NotImplementedError


@row("003-71", "logistic", "xβ + β₀ shown term by term")
def _():
    raise NotImplementedError
