"""A class of two clusters around the other class: linear methods fail (lecture 000, section 7.4, figure 7.2B).

LDA and logistic regression have a line as boundary, and no line separates these classes. QDA has a curve, a covariance
for each class. MixedNB chooses a family for each column, here histograms, and makes no error.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import (
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    QuadraticDiscriminantAnalysis,
    datasets,
    plots,
)

X, y = datasets.multimodal()
models = {
    "LDA": LinearDiscriminantAnalysis(),
    "logistic regression": LogisticRegression(C=np.inf),
    "QDA": QuadraticDiscriminantAnalysis(),
    "MixedNB": MixedNB(),
}
accuracies = {name: model.fit(X, y).score(X, y) for name, model in models.items()}
for name, accuracy in accuracies.items():
    print(f"{name:20} {accuracy:.3f}")

figure, axes = plt.subplots(2, 2, figsize=(7.6, 6.6), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    plots.decision_regions(model, X, y, ax, contours=False, title=f"{name}: {100 * accuracies[name]:.3g} % right")
    ax.get_legend().remove()
axes[0, 1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)

if __name__ == "__main__":
    plt.show()
