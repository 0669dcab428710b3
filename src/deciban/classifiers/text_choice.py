"""Which smoothing suits the texts: alpha, what it multiplies, and how much the words of a text depend on each other.

Every candidate is judged by the log loss of texts that are left out, each with its copies, among the texts that the
tally keeps. A model of long texts is asked about short ones too: one question in ten is taken to be a piece of ten
words. What is chosen follows from the tally, so it is the same after updates, merges and forgetting as after one fit.

    Σ (0.9 log loss of the text + 0.1 log loss of its piece) + (ln alpha)² + 0.1 (ln dependence / 0.03)² + 2 [corpus]

The last three terms are worth a few texts: a few texts stay near Laplace's rule, thousands choose freely. Kind by kind,
alpha walks along its grid to where the best dependence has the least sum.

>>> from deciban import TextClassifier
>>> texts, labels = ["tea and milk", "tea", "cake and milk", "cake"], ["drink", "drink", "food", "food"]
>>> model = TextClassifier().fit(texts * 9, labels * 9)
>>> model.tuned_
{'alpha': 1.0, 'smoothing': 'even', 'dependence': 0.01}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from deciban import ops
from deciban.calibration import Calibration
from deciban.classifiers.leaving_out import LOST
from deciban.classifiers.text_view import View
from deciban.text.left_out_words import LeftOut
from deciban.text.word_weights import MODELS, design_effect

ALPHAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
DEPENDENCES = (0.0, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3)
KINDS = ("even", "corpus")
PIECE, PIECES = 10, 0.1  # words; the share of questions that are such pieces
START = 0.3  # where alpha begins its walk
ALPHA_PULL, DEPENDENCE_PULL, CORPUS_PULL = 1.0, 0.1, 2.0
USUAL_DEPENDENCE, LEAST_DEPENDENCE = 0.03, 0.001


@dataclass(frozen=True)
class Judged:
    """Kept texts, each to be judged without itself and its copies."""

    view: View

    @cached_property
    def texts(self) -> np.ndarray:
        """Which of the kept texts; one without which nothing is left of its class is none of them."""
        kept: Any = self.view.tally.kept
        at = kept.judged()
        return at[kept.copies[at] < self.view.tally.n[kept.label[at]]]

    @cached_property
    def y(self) -> np.ndarray:
        kept: Any = self.view.tally.kept
        return kept.label[self.texts].astype(np.int64)

    @cached_property
    def w(self) -> np.ndarray:
        """What each text counts for, a sample of a large class more: (n,), 1 on average."""
        n = self.view.tally.n
        share = n / np.maximum(np.bincount(self.y, minlength=len(n)), 1)
        return share[self.y] / share[self.y].mean()

    @cached_property
    def prior(self) -> np.ndarray:
        kept: Any = self.view.tally.kept
        return self.view.held_out_prior(self.y, kept.copies[self.texts])

    def left_out(self, piece: int | None = None) -> LeftOut:
        """The texts, or pieces of so many words of them, to be scored by a tally without the whole texts."""
        tally = self.view.tally
        kept: Any = tally.kept
        part = None if piece is None else kept.pieces(self.texts, piece)
        return self.view.leaving_out(kept.matrix(tally.d)[self.texts], self.y, kept.copies[self.texts], part)

    def loss(self, scores: np.ndarray) -> float:
        """Σ log loss over the texts."""
        logs = ops.posterior(np.ascontiguousarray(scores + self.prior), logs=True)
        return -float(self.w @ np.maximum(logs[np.arange(len(self.y)), self.y], -LOST))

    def calibration(self) -> Calibration:
        """Temperature and biases of the view's own settings."""
        return Calibration.fit(self.left_out().scores(self.view.settings.family()), self.prior, self.y, self.w)


def choose(view: View, asked: tuple[str, ...]) -> dict[str, Any]:
    """The asked of "alpha", "smoothing" and "dependence" for which texts left out have the least log loss."""
    judged = Judged(view)
    given = view.settings
    if not len(judged.y) or view.tally.k < 2:
        best = {"alpha": 1.0, "smoothing": "even", "dependence": USUAL_DEPENDENCE}
        return {name: best[name] for name in asked}
    kinds = KINDS if "smoothing" in asked else (given.smoothing,)
    alphas = ALPHAS if "alpha" in asked else (given.alpha,)
    dependences = DEPENDENCES if "dependence" in asked else (given.dependence,)
    lengths = (None,) if given.model == "bernoulli" else (None, PIECE)
    shares = np.array([1.0] if given.model == "bernoulli" else [1.0 - PIECES, PIECES])
    left_out = [(one := judged.left_out(piece), one.words(given.family())[:, None]) for piece in lengths]
    tried: dict[tuple[str, int], tuple[float, float]] = {}

    def trial(kind: str, at: int) -> tuple[float, float]:
        """(the sum to be least, the dependence that makes it so)."""
        if not 0 <= at < len(alphas):
            return np.inf, 0.0
        if (kind, at) not in tried:
            family = replace(given, alpha=alphas[at], smoothing=kind, dependence=0.0).family()
            scored = [(one.scores(family), words) for one, words in left_out]
            pull = ALPHA_PULL * np.log(alphas[at]) ** 2 + CORPUS_PULL * (kind == "corpus")
            losses = [
                shares @ [judged.loss(scores / design_effect(words, one)) for scores, words in scored]
                + pull
                + _pull(one)
                for one in dependences
            ]
            tried[kind, at] = min(zip(map(float, losses), dependences, strict=True))
        return tried[kind, at]

    for kind in kinds:
        at = int(np.argmin(np.abs(np.log(np.array(alphas) / START))))
        while trial(kind, at) > min(trial(kind, at - 1), trial(kind, at + 1)):
            at += 1 if trial(kind, at + 1) < trial(kind, at - 1) else -1
    kind, at = min(tried, key=lambda one: tried[one][0])
    best = {"alpha": alphas[at], "smoothing": kind, "dependence": tried[kind, at][1]}
    return {name: best[name] for name in asked}


def _pull(dependence: float) -> float:
    return DEPENDENCE_PULL * float(np.log(max(dependence, LEAST_DEPENDENCE) / USUAL_DEPENDENCE)) ** 2


def asked_of(model: str, alpha: Any, smoothing: str, dependence: float | None) -> tuple[str, ...]:
    """The settings that are left to the texts: none where alpha is given, or naive Bayes is not the model."""
    if model not in MODELS or alpha != "auto":
        return ()
    names = ["alpha"]
    names += ["smoothing"] * (model == "multinomial" and smoothing == "auto")
    names += ["dependence"] * (model != "bernoulli" and dependence is None)
    return tuple(names)
