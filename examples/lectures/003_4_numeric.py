"""Lecture 003, numeric attributes: a normal density for each class, with the sample mean and the deviation by n − 1.

Temperatures of days with play have mean 73 and deviation 6.16, so that f(66 | yes) = 0.034; the densities take the
place of fractions in the product. The picture is the lecture's two bells, with both densities at 66.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import GaussianNB, MixedNB, datasets, plots
from deciban.display import GREY

days, play = datasets.play_tennis(numeric=True)

# f(66) of a density with given parameters, as in the lecture: mean 73, deviation 6.2.
bell = GaussianNB.from_parameters(theta=[[73.0]], var=[[6.2**2]])
given = float(np.exp(bell.class_log_likelihood([[66.0]]))[0, 0])
print(f"f(66) for mean 73, deviation 6.2: {given:.4f}")

# Mean and deviation from the rows: n − 1 by `ddof=1`; the default n is the maximum of the likelihood.
temperature = GaussianNB(var_smoothing=0, ddof=1).fit(days[["temperature"]], play)
means, deviations = temperature.theta_[:, 0], np.sqrt(temperature.var_[:, 0])
density = np.exp(temperature.class_log_likelihood({"temperature": 66.0}))[0]
for label, mean, deviation, f in zip(temperature.classes_, means, deviations, density, strict=True):
    print(f"{label:>3}: mean {mean:.1f}, deviation {deviation:.3f}, f(66 | {label}) = {f:.6f}")

# All four columns: fractions and densities in one product.
model = MixedNB(alpha=0, families="gaussian", ddof=1).fit(days, play)
day = {"outlook": "sunny", "temperature": 66, "humidity": 90, "windy": "true"}
posterior = model.predict_proba(day)[0]
print(model.explain(day, form="fractions"))

figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
plots.densities(days, play, "temperature", ax, model=model, title="Temperature by class, and both densities at 66")
ax.axvline(66, color=GREY, ls=":", lw=1)
for f, label, height in zip(density, temperature.classes_, (0.09, 0.11), strict=True):
    ax.plot([62.5, 66], [height, f], color=GREY, lw=0.8, marker="o", markevery=[1], mfc="black", mec="black", ms=5)
    ax.text(62.2, height, f"f(66 | {label}) = {f:.4f}", ha="right", va="center", fontsize=9)

if __name__ == "__main__":
    plt.show()
