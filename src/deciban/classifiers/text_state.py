"""The state of a text classifier: a tally of words, and what was tuned on it; how texts get in, and views get out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from deciban import ops
from deciban.calibration import Calibration
from deciban.classifiers.leaving_out import ENOUGH, LOST
from deciban.classifiers.parts import Part, Reading
from deciban.classifiers.steady import unfitted
from deciban.classifiers.text_features import Features
from deciban.classifiers.text_logistic import trained
from deciban.classifiers.text_view import Settings, View
from deciban.errors import DataError, NotAdditiveError
from deciban.labels import label_codes
from deciban.mail.posts import check_parts, stripped
from deciban.text.vocabulary import Terms
from deciban.text.word_scores import check_texts
from deciban.text.word_tally import WordTally
from deciban.text.word_weights import MODELS, WordWeights

GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of alpha
TIE = 1e-9  # what a nat of log loss weighs against a text told wrong: nothing, unless as many are
_MADE = ("_seen", "_reader")  # from tally and settings, when asked for: not part of a pickle or file
Read = Callable[[Any], tuple[Terms, sparse.csr_array]]


class TextState:
    """Mixin: needs the settings of `TextClassifier`."""

    model: str
    features: Any
    alpha: Any
    smoothing: str
    counts: bool
    stop_words: Any
    min_df: Any
    max_df: Any
    fit_prior: bool
    calibrate: bool
    strip: Any
    C: Any
    classes_: np.ndarray
    _words: WordTally
    _picked: dict[str, float]
    _calibration: Calibration | None
    _trained: WordWeights | None
    _columns: Features | None  # fitted, where its columns are fixed
    get_params: Callable[..., dict]

    # texts and labels in

    def _texts(self, texts: Any) -> Any:
        """Texts as they are read: without what `strip` names."""
        if type(texts) is not list:
            check_texts(texts)
        if not self.strip:
            return texts
        parts = check_parts(self.strip)
        return [stripped(text, parts) if isinstance(text, str) else text for text in texts]

    def _labelled(self, texts: Any, labels: Any, read: Read) -> tuple[Terms, sparse.csr_array, np.ndarray]:
        """(terms, counts, class codes); sets `classes_`."""
        check_texts(texts)
        y = column_or_1d(labels if not hasattr(labels, "to_numpy") else labels.to_numpy())
        texts = self._texts(texts if hasattr(texts, "__len__") else list(texts))
        if len(texts) != len(y):
            raise DataError(f"{len(texts)} texts and {len(y)} labels\n\nhint: give each text one label")
        if len(y) == 0:
            raise DataError("no texts to learn from\n\nhint: pass at least one text and its label")
        gone = [row for row, label in enumerate(y.tolist()) if label is None or label != label]
        if gone:
            raise DataError(f"the label of text {gone[0]} is missing\n\nhint: leave out texts without a label")
        terms, X = read(texts)
        if X.nnz and X.data.min() < 0:
            raise DataError(
                "the vectoriser gives negative numbers, which are no counts\n\nhint: alternate_sign=False for hashes"
            )
        classes, codes = label_codes(y)
        self.classes_ = plain_labels(classes)
        return terms, X, codes

    def _tally_of(self, texts: Any, labels: Any) -> tuple[np.ndarray, WordTally]:
        """(the classes of these texts, their tally)."""
        kept = self.classes_
        try:
            terms, X, y = self._labelled(texts, labels, self._features().read)
            return self.classes_, WordTally.of(terms, X, y, len(self.classes_))
        finally:
            self.classes_ = kept

    # texts in data of any size

    def _learn_on(self, job: Any) -> None:
        bare = self._plain()
        bare._reset()
        bare._check_additive()
        if not bare._features().open:
            raise NotAdditiveError(
                "this vectoriser's columns are learned from all texts at once\n\n"
                "hint: take features='words', or a CountVectorizer without min_df, max_df and max_features"
            )
        part = job.sum_of_parts(bare)
        if part.tally is None or part.tally.d == 0:
            raise DataError("no text has a word that could be counted\n\nhint: see whether `features` names the texts")
        self._reset()
        self.classes_ = plain_labels(part.classes)
        self.feature_names_in_ = np.array(job.reading.features, dtype=object)
        self._set(part.tally)

    def _part(self, batch: Any, reading: Reading) -> Part:
        if reading.weight is not None:
            raise DataError("a text classifier takes no weights\n\nhint: leave out `sample_weight`")
        classes, y = reading.labels(batch)
        terms, X = self._features().read(self._readable(batch, reading.features))
        return Part(classes, np.bincount(y, minlength=len(classes)), WordTally.of(terms, X, y, len(classes)))

    def _readable(self, rows: Any, columns: Sequence[str]) -> Any:
        from deciban.files import cells

        texts = cells.strings(rows, columns[0])
        return self._texts(texts.to_pylist()) if self.strip else texts

    # the state

    def _reset(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") or name in _MADE]:
            del self.__dict__[name]
        self._picked, self._calibration, self._trained, self._columns = {}, None, None, None

    def _set(self, tally: WordTally) -> None:
        self._words = tally
        self.__dict__.pop("_seen", None)

    def _take(self, more: tuple[np.ndarray, WordTally]) -> None:
        """Add a tally of its own classes."""
        classes, tally = more
        if not _comparable(classes, self.classes_):
            raise DataError(
                f"labels {classes.tolist()[:3]} are of another kind than {self.classes_.tolist()[:3]}\n\n"
                "hint: labels are all texts or all numbers"
            )
        both = plain_labels(np.union1d(self.classes_, classes))
        a, b = (np.searchsorted(both, own) for own in (self.classes_, classes))
        total = self._words.relabel(a, len(both)) + tally.relabel(b, len(both))
        self.classes_ = both
        self._set(total)

    def _plain(self) -> Self:
        out = object.__new__(type(self))
        out.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_seen"})
        return out

    def _check_is_fitted(self) -> WordTally:
        try:
            return self._words
        except AttributeError:
            raise unfitted(self) from None

    def __sklearn_is_fitted__(self) -> bool:
        return "_words" in self.__dict__

    def __getstate__(self) -> dict:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _MADE}

    def _check_additive(self, tuned: bool = False) -> None:
        """Refuse to update, merge or forget where all texts are needed at once."""
        needs = [] if self.model in MODELS else [f"model={self.model!r}"]
        if not tuned:
            needs += ["alpha='auto'"] * (self.alpha == "auto") + ["calibrate=True"] * bool(self.calibrate)
        if needs:
            raise NotAdditiveError(
                f"{' and '.join(needs)} looks at all texts at once: no update, merge or forgetting\n\n"
                "hint: fit again on all texts, or take a naive Bayes model with alpha a number (see `tuned_`)"
            )

    # the view

    def _features(self) -> Features:
        if "_reader" not in self.__dict__:
            self._reader = self._columns or Features.of(self.features)
        return self._reader

    def _view(self) -> View:
        """The tally as the settings see it; kept until either changes."""
        now = (
            self.model, self.alpha, self.smoothing, self.counts, self.stop_words, self.min_df, self.max_df,
            self.fit_prior,
        )  # fmt: skip
        seen = self.__dict__.get("_seen")
        if seen is None or seen[0] != now:
            alpha = self.alpha
            if alpha is None or isinstance(alpha, str):
                chars = getattr(self._features().vectorizer, "analyzer", "word") != "word"
                alpha = self._picked.get("alpha", usual_alpha(self.model, chars))
            settings = Settings(now[0], alpha, *now[2:])
            seen = self._seen = (now, View(settings, self._words, self._features(), self._trained))
        return seen[1]

    def _tune(self, X: sparse.csr_array, y: np.ndarray) -> None:
        """Choose alpha, calibrate or train, with the texts' words (n, columns) at hand."""
        ask, train = isinstance(self.alpha, str), self.model not in MODELS
        if not (ask or train or self.calibrate):
            return
        if len(self.classes_) < 2:
            if train:
                raise DataError(
                    f"all texts are {self.classes_.tolist()[0]!r}, and model={self.model!r} needs two classes\n\n"
                    "hint: naive Bayes can start with one"
                )
            return
        view = self._view()
        X = X[:, np.bincount(X.indices, minlength=X.shape[1]) > 0]  # fixed columns may be empty
        if train:
            self._trained = trained(
                self.model, bool(self.counts), view.words, X[:, view.kept], y, self.C, view.settings.alpha
            )
            self.__dict__.pop("_seen", None)
            return
        X, y = _some(X, y, len(self.classes_))
        tried = [self._tried(X, y, alpha) for alpha in (GRID if ask else (self._view().settings.alpha,))]
        _, alpha, calibration = min(tried, key=lambda one: one[0])
        if ask:
            self._picked = {"alpha": alpha}
            self.__dict__.pop("_seen", None)
        if self.calibrate:
            self._calibration = calibration

    def _tried(self, X: sparse.csr_array, y: np.ndarray, alpha: float) -> tuple[float, float, Calibration | None]:
        """(loss, alpha, calibration) of texts left out: the log loss where it is calibrated, else the share told wrong,
        for naive Bayes is too sure of itself, and by log loss the alpha that blurs most would look best."""
        scores, prior = self._view().held_out(X, y, alpha)
        if not self.calibrate:
            joint = scores + prior
            return float((joint.argmax(axis=1) != y).mean()) + TIE * _log_loss(joint, y), alpha, None
        best = Calibration.fit(scores, prior, y)
        return _log_loss(best.apply(scores) + prior, y), alpha, best


def _log_loss(joint: np.ndarray, y: np.ndarray) -> float:
    logs = ops.posterior(np.ascontiguousarray(joint), logs=True)
    return -float(np.maximum(logs[np.arange(len(y)), y], -LOST).mean())


def usual_alpha(model: str, chars: bool) -> float:
    """What has proved good, by model and kind of features."""
    if model == "bernoulli":
        return 0.01
    return 0.001 if chars and model == "multinomial" else 1.0


def _some(X: sparse.csr_array, y: np.ndarray, k: int) -> tuple[sparse.csr_array, np.ndarray]:
    """All texts, or evenly spaced ones of many."""
    enough = max(ENOUGH, 512 * k)
    if len(y) <= enough:
        return X, y
    at = np.linspace(0, len(y) - 1, enough).astype(np.int64)
    return X[at], y[at]


def plain_labels(classes: np.ndarray) -> np.ndarray:
    """Labels in as little room as they need: the same classes are the same array, wherever they came from."""
    if classes.dtype.kind == "U" or (classes.dtype.kind == "O" and all(type(c) is str for c in classes)):
        return np.array(classes.tolist(), dtype=np.str_)
    return classes


def _comparable(a: np.ndarray, b: np.ndarray) -> bool:
    kinds = {"".join("t" if kind in "UO" else "n" for kind in array.dtype.kind) for array in (a, b)}
    return len(kinds) == 1
