"""A coin: its likelihood, the maximum, the slope, and Laplace's estimate (lecture 000, section 7.1, eq 7.1 to 7.8).

Of m = 7 tosses, h = 5 are heads. The log-likelihood l(φ) = h log φ + (m − h) log(1 − φ) has the slope
dl/dφ = h/φ − (m − h)/(1 − φ), which is 0 at φ = h/m. With a uniform prior, Beta(1, 1), that is the most probable φ
given the tosses; the mean of φ is Laplace's estimate (h + 1)/(m + 2).
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import BernoulliNB, datasets
from deciban.display import COLOURS, GREY

tosses, one_class = datasets.coin(heads=5, tosses=7)

# a model with a given φ, and the likelihood and slope of the tosses there
fair = BernoulliNB.from_parameters(feature_prob=[[0.5]])
fair_value, gradient = fair.log_likelihood(tosses, gradient=True)
fair_slope = float(gradient["feature_prob"][0, 0])
print(f"φ = 0.5:  l = {fair_value:.6f}, slope {fair_slope:.1f}")

# the φ of the largest likelihood
fitted = BernoulliNB(alpha=0).fit(tosses, one_class)
φ, best_value = float(fitted.feature_prob_[0, 0]), fitted.log_likelihood(tosses)
best_slope = float(fitted.log_likelihood(tosses, gradient=True)[1]["feature_prob"][0, 0])
print(f"φ = 5/7:  l = {best_value:.6f}, slope {best_slope:.1f}")

# the mean of φ given the tosses, and the probability of the tosses with φ averaged out
laplace = BernoulliNB(alpha=1).fit(tosses, one_class)
φ_mean, evidence = float(laplace.feature_prob_[0, 0]), laplace.evidence_
print(f"Laplace: φ = {φ_mean:.4f} = 6/9, log P(tosses) = {evidence:.6f}")

# the curve, from one model for each φ
grid = np.linspace(0.08, 0.985, 200)
curve = np.array([BernoulliNB.from_parameters([[p]]).log_likelihood(tosses) for p in grid])
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(grid, curve, color=COLOURS[0], lw=2, label="log-likelihood l(φ)")
near = np.array([0.35, 0.65])
ax.plot(near, fair_value + fair_slope * (near - 0.5), color=COLOURS[1], lw=2, label="slope 6 at φ = 0.5")
ax.plot(0.5, fair_value, "s", color=COLOURS[1])
ax.plot(φ, best_value, "o", color=COLOURS[0], ms=8, label="maximum: φ = 5/7")
ax.axvline(φ_mean, color=GREY, ls="--", label="mean of φ, Laplace: 6/9")
ax.set(xlabel="φ, probability of heads", ylabel="l(φ)", xlim=(0, 1), title="5 heads of 7 tosses")
ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.15, 0.0))

if __name__ == "__main__":
    plt.show()
