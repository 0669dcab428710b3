"""Lecture 003, subtleties of naive Bayes: the arg max can be right though the posteriors are wrong.

Columns that repeat each other are counted as if they were independent. Left: one of two columns several times; the
accuracy falls slowly, the log loss rises fast. Right: breast cancer, whose 30 columns measure few things: 93 % of the
posteriors are above 0.999, and 3 % of these are wrong; calibrated probabilities are closer to the diagonal.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from deciban import CategoricalNB, GaussianNB, cross_validate, datasets, plots
from deciban.display import NEGATIVE, POSITIVE

# Copies of a column: both carry the same information about y, the first is repeated.
rng = np.random.default_rng(5)
y = rng.integers(0, 2, 2000)
first, second = rng.normal(y, 1.0), rng.normal(y, 1.0)
copies = (1, 2, 5, 10, 20)
scores = [cross_validate(GaussianNB(), np.column_stack([*[first] * n, second]), y) for n in copies]
for n, score in zip(copies, scores, strict=True):
    print(f"{n:2d} copies: accuracy {score.accuracy:.3f}, log loss {score.log_loss:.3f}")

# Play tennis with copies of the temperature: the decision turns.
days, play = datasets.play_tennis()
codes = days.apply(lambda column: pd.factorize(column, sort=True)[0]).to_numpy()
tennis = [
    CategoricalNB(alpha=0).fit(codes[:, [0, 1, 2, 3] + [1] * n], play).predict_proba([[2, 0, 0, 1] + [0] * n])[0, 0]
    for n in range(4)
]
print("P(no | day) with 0, 1, 2, 3 copies of temperature:", np.round(tennis, 3))

# Posteriors near 0 and 1.
cancer = load_breast_cancer()
naive, calibrated = (cross_validate(GaussianNB(calibrate=c), cancer.data, cancer.target) for c in (False, True))
sure = naive.proba.max(axis=1) > 0.999
right_if_sure = float(np.mean((naive.predicted == cancer.target)[sure]))
print(
    f"breast cancer: {sure.mean():.1%} of the rows have a posterior above 0.999; {right_if_sure:.1%} of them are right"
)
print(f"log loss {naive.log_loss:.3f}, calibrated {calibrated.log_loss:.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
left.plot(copies, [score.accuracy for score in scores], color=POSITIVE, marker="o", label="accuracy")
left.plot(copies, [score.log_loss for score in scores], color=NEGATIVE, marker="s", ls="--", label="log loss (nats)")
left.set_xticks(copies, [str(n) for n in copies])
left.set_xlabel("copies of the first column")
left.set_ylabel("out-of-fold score")
left.set_ylim(0)
left.set_title("Redundant columns", loc="left", fontsize=10.5)
left.spines[["top", "right"]].set_visible(False)
left.legend(frameon=False)
for label, score in {"naive Bayes": naive, "calibrated": calibrated}.items():
    plots.reliability(
        cancer.target_names[cancer.target], score.proba, right, classes=cancer.target_names, bins=5, label=label
    )
right.set_title("Reliability, breast cancer", loc="left", fontsize=10.5)
right.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(0, -0.14), ncols=2)

if __name__ == "__main__":
    plt.show()
