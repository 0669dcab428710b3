"""Lecture 003, MAP and minimum description length: arg max P(D | h) P(h) = arg min −log₂ P(D | h) − log₂ P(h).

Two penalties of logistic regression with priors 0.1 and 0.9; naive Bayes and a tree on play tennis, by evidence and by
the length of their tables (½ log₂ n bits a parameter); one column that matters against seven. Where both explain the
rows, the shorter hypothesis is chosen (Occam): parameters save fewer bits of the data than they cost. The evidence,
which averages over parameters instead, prefers the tree.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

from deciban import LogisticRegression, MixedNB, TreeAugmentedNB, datasets, select_model
from deciban.display import NEGATIVE, POSITIVE

# MAP and MDL choose the same hypothesis.
X, y = np.arange(6.0)[:, None], [0, 0, 1, 0, 1, 1]
penalties = {"C = 10": LogisticRegression(C=10.0), "C = 0.1": LogisticRegression(C=0.1)}
by_map, by_mdl = (select_model(penalties, X, y, by=by, prior=[0.1, 0.9]) for by in ("map", "mdl"))
print(by_mdl, end="\n\n")

# Structures: the evidence integrates parameters out; prior="length" pays for each of them.
days, play = datasets.play_tennis()
structures = {"naive": MixedNB(alpha=1), "tree": TreeAugmentedNB()}
evidence = select_model(structures, days, play)
tables = select_model(structures, days, play, prior="length")
print(evidence, tables, sep="\n\n")
print("parameters:", [model.n_parameters_ for model in tables.models], end="\n\n")

# Occam: y depends on the first of seven columns.
rng = np.random.default_rng(0)
columns = rng.normal(size=(100, 7))
labels = (columns[:, 0] + rng.logistic(size=100) > 0).astype(int)
one = make_pipeline(ColumnTransformer([("first", "passthrough", [0])]), LogisticRegression(C=np.inf))
lines = select_model({"1 column": one, "7 columns": LogisticRegression(C=np.inf)}, columns, labels, prior="length")
logs = [LogisticRegression().fit(columns[:, :d], labels).evidence_ for d in (1, 7)]
print(lines, f"log evidence of 1 and 7 columns: {np.round(logs, 2)}", sep="\n")

figure, axes = plt.subplots(1, 3, figsize=(9.4, 4.2), layout="constrained")
for ax, found, title in (
    (axes[0], by_mdl, "two penalties, given P(h)"),
    (axes[1], tables, "structures of play tennis"),
    (axes[2], lines, "useful and useless columns"),
):
    ax.bar(range(2), found.data_bits, 0.55, color=POSITIVE, label="data: −log₂ P(D | h)")
    top = ax.bar(range(2), found.prior_bits, 0.55, bottom=found.data_bits, color=NEGATIVE, label="model: −log₂ P(h)")
    ax.bar_label(top, [f"{total:.1f}" for total in found.total_bits], padding=2, fontsize=9)
    ax.set_xticks(range(2), found.names)
    ax.set_title(title, loc="left", fontsize=10.5)
    ax.margins(y=0.12)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("bits")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)

if __name__ == "__main__":
    plt.show()
