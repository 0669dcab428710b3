"""Lecture 003, eight mails: texts → bits and counts → θ → likelihood ratio → odds, by hand and by `TextClassifier`.

The mail has the word a three times and b once. As bits its likelihood ratio of spam to ham is 3/2: spam, unless prior
odds are below 2/3. As counts it is 5/16: ham. The picture shows θ of both models, of which the ratios are products.
"""

import matplotlib.pyplot as plt
import numpy as np

from deciban import BernoulliNB, MultinomialNB, TextClassifier, datasets
from deciban.display import NEGATIVE, POSITIVE

texts, labels = datasets.eight_mails()
for text, label in zip(texts, labels, strict=True):
    print(f"{label:>4}: {text}")

# d and e are stop words; one pseudo-document of each class with and without each word.
bits, mail_bits = datasets.eight_mails("presence")[0], {"a": 1, "b": 1, "c": 0}
bernoulli = BernoulliNB().fit(bits, labels)
print(bernoulli.counts_table(fractions=True), end="\n\n")
likelihood = np.exp(bernoulli.class_log_likelihood(mail_bits))[0]  # ham, spam
bernoulli_ratio = float(bernoulli.likelihood_ratio(mail_bits, "spam", "ham")[0])
odds = float(bernoulli.odds(mail_bits, priors={"spam": 1 / 3, "ham": 2 / 3})[0, 1])
print("P(x | ham), P(x | spam) =", likelihood.round(4), f"ratio {bernoulli_ratio:.4f}")
print(f"prior odds 1/2: posterior odds {odds:.4f}; spam while prior odds are above {1 / bernoulli_ratio:.4f}")

# One pseudo-count of each word; with the coefficient 4! / (3! 1! 0!) the likelihoods are those of the counts.
counts, mail_counts = datasets.eight_mails("counts")[0], {"a": 3, "b": 1, "c": 0}
multinomial = MultinomialNB(coefficient=True).fit(counts, labels)
counted = np.exp(multinomial.class_log_likelihood(mail_counts))[0]
multinomial_ratio = float(multinomial.likelihood_ratio(mail_counts, "spam", "ham")[0])
print("P(counts | ham), P(counts | spam) =", counted.round(4), f"ratio {multinomial_ratio:.4f}: ham")

# From texts: the lecture's settings.
words = {"token_pattern": r"\w", "stop_words": ["d", "e"]}
by_counts = TextClassifier(**words, counts=True, smoothing="even", alpha=1).fit(texts, labels)
by_bits = TextClassifier("bernoulli", **words, alpha=1).fit(texts, labels)
from_texts = [float(model.likelihood_ratio(["a a a b"], "spam", "ham")[0]) for model in (by_bits, by_counts)]
print("TextClassifier:", np.round(from_texts, 4))
print(by_counts.word_probabilities())

figure, axes = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained", sharey=True)
for ax, model, title in (
    (axes[0], bernoulli, f"Bernoulli: ratio {bernoulli_ratio:g}, spam"),
    (axes[1], multinomial, f"multinomial: ratio {multinomial_ratio:g}, ham"),
):
    for theta, label, side, colour in zip(
        model.feature_prob_, model.classes_, (0.2, -0.2), (NEGATIVE, POSITIVE), strict=True
    ):
        bars = ax.bar(np.arange(3) + side, theta, 0.38, color=colour, label=label)
        ax.bar_label(bars, [f"{p:.2f}" for p in theta], padding=2, fontsize=8.5)
    ax.set_xticks(range(3), list("abc"))
    ax.set_xlabel("word")
    ax.set_title(title, loc="left", fontsize=10.5)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("θ")
axes[0].set_ylim(0, 0.85)
axes[1].legend(frameon=False, ncols=2, loc="upper right")

if __name__ == "__main__":
    plt.show()
