"""How many numbers naive Bayes needs, and how many a full table (lecture 000, section 7.5, eq 7.47 to 7.57).

Two classes of m words, each present or absent: a table of p(x | y) has 2^m − 1 free entries for each class, naive
Bayes m probabilities; both have one class prior. With 50,000 words only naive Bayes can be learned.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from deciban import BernoulliNB, datasets
from deciban.display import COLOURS

# three words: p(word | class) by maximum likelihood, and with Laplace's smoothing
X, y = datasets.eight_mails("presence")
three = BernoulliNB(alpha=0).fit(X, y)
naive_3, joint_3 = three.n_parameters_, three.n_parameters_joint_
print(f"three words, two classes: {naive_3} numbers against {joint_3}")
print("p(word | ham), p(word | spam):", three.feature_prob_.round(3).tolist())
print("the same, + 1 over + 2:       ", BernoulliNB(alpha=1).fit(X, y).feature_prob_.round(3).tolist())

# 2,000 generated mails over 50,000 words; five words of a mail are from a hundred of its class
rng = np.random.default_rng(0)
spam = rng.random(2000) < 0.5
words = rng.integers(200, 50_000, (2000, 60))
words[:, :5] = rng.integers(0, 100, (2000, 5)) + 100 * spam[:, None]
counts = sparse.csr_array((np.ones(words.size), (np.repeat(np.arange(2000), 60), words.ravel())), (2000, 50_000))
mails, labels = (counts > 0).astype(np.int64), np.where(spam, "spam", "ham")
many = BernoulliNB().fit(mails[:1500], labels[:1500])
naive_many, digits = many.n_parameters_, int(many.n_parameters_joint_.bit_length() * np.log10(2)) + 1
accuracy = many.score(mails[1500:], labels[1500:])
print(f"50,000 words: {naive_many:,} numbers against one of {digits:,} digits; accuracy {accuracy:.3f} on new mails")

# both numbers by the number of words
sizes = np.arange(1, 41)
models = [BernoulliNB.from_parameters(np.full((2, m), 0.5)) for m in sizes]
naive, joint = [model.n_parameters_ for model in models], [model.n_parameters_joint_ for model in models]
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.semilogy(sizes, joint, color=COLOURS[1], lw=2, ls="--", label="full table: 2 (2^m − 1) + 1")
ax.semilogy(sizes, naive, color=COLOURS[0], lw=2, label="naive Bayes: 2 m + 1")
ax.set(xlabel="m, number of words", ylabel="free parameters", title="Parameters of two classes of m words")
ax.legend(frameon=False)

if __name__ == "__main__":
    plt.show()
