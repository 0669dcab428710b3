"""Lecture 001, the graphical model figure: naive Bayes as a graph, and arcs where columns depend on each other.

Play tennis. Naive Bayes is a star: given the class, columns are independent. A tree adds one arc for each column but
one, where the mutual information given the class is large. Each node has a table P(node | parents). The evidence
P(data | structure), with tables integrated out, weighs one structure against the other.
"""

import matplotlib.pyplot as plt

from deciban import BayesNet, MixedNB, TreeAugmentedNB, datasets, plots, select_model

X, y = datasets.play_tennis()
rows = X.assign(play=y)

# The star with its tables: maximum likelihood (prior=0), the shares of the rows.
star = BayesNet.from_edges([("play", column) for column in X], rows, target="play", prior=0)
print(star.table("outlook"), end="\n\n")

# Which columns depend on each other, given the class? In nats; for the tree, the strongest pairs count.
tree = TreeAugmentedNB().fit(X, y)
nats = tree.information_
for i, first in enumerate(X):
    for j, second in enumerate(list(X)[:i]):
        print(f"I({first}; {second} | play) = {nats[i, j]:.3f}")
print("parents in the tree:", tree.parents_, end="\n\n")

# Bits to describe the rows: the tree is shorter, in spite of its larger tables.
selection = select_model({"naive": MixedNB(alpha=1), "tree": tree}, X, y)
print(selection)

figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 7.5), layout="constrained", height_ratios=(2, 3))
plots.graph(star, top, tables=True, title="Naive Bayes, with the table of each node")
plots.graph(tree, bottom, title="Tree-augmented naive Bayes")

if __name__ == "__main__":
    plt.show()
