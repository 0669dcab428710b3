"""The state of a text classifier: a tally of words; how texts get in, and views get out.

What is tuned (the smoothing, a calibration) or trained (logistic regression) follows from the tally and the texts that
it keeps. It is made when a view is first asked for, kept until the tally or a setting changes, and stored in files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from operator import is_
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from deciban.calibration import Calibration
from deciban.classifiers.parts import Part, Reading
from deciban.classifiers.steady import unfitted
from deciban.classifiers.text_choice import Judged, asked_of, choose
from deciban.classifiers.text_features import Features
from deciban.classifiers.text_logistic import blank_weights, trained
from deciban.classifiers.text_view import Settings, View, listed
from deciban.decision import check_priors
from deciban.errors import DataError, NotAdditiveError
from deciban.frames import missing_rows
from deciban.labels import label_codes
from deciban.mail.posts import check_parts, stripped
from deciban.text.vocabulary import Terms
from deciban.text.word_scores import check_texts
from deciban.text.word_tally import WordTally
from deciban.text.word_weights import MODELS, WordWeights

_MADE = ("_seen", "_reader")  # from tally and settings, when asked for: not part of a pickle or file
Read = Callable[[Any], tuple[Terms, sparse.csr_array]]


class TextState:
    """Mixin: needs the settings of `TextClassifier`."""

    model: str
    features: Any
    ngram_range: Any
    alpha: Any
    smoothing: str
    dependence: float | None
    counts: bool
    stop_words: Any
    min_df: Any
    max_df: Any
    priors: Any
    class_weight: Any
    calibrate: bool
    strip: Any
    C: Any
    classes_: np.ndarray
    _words: WordTally
    _tuned_for: str  # a hash of the settings that the next three were made with; "": they are to be made
    _picked: dict[str, Any]
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
        unlabelled = missing_rows(labels if isinstance(labels, (list, tuple)) else y)  # a NaN in a list is a text in y
        if unlabelled:
            raise DataError(f"the label of text {unlabelled[0]} is missing\n\nhint: leave out texts without a label")
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
            return self.classes_, WordTally.of(terms, X, y, len(self.classes_), self._keeps)
        finally:
            self.classes_ = kept

    # texts in data of any size

    def _learn_on(self, job: Any) -> None:
        bare = self._plain()
        bare._reset()
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
        tally = WordTally.of(terms, X, y, len(classes), self._keeps)
        return Part(classes, np.bincount(y, minlength=len(classes)), tally)

    def _readable(self, rows: Any, columns: Sequence[str]) -> Any:
        from deciban.files import cells

        texts = cells.strings(rows, columns[0])
        return self._texts(texts.to_pylist()) if self.strip else texts

    # the state

    def _reset(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") or name in _MADE]:
            del self.__dict__[name]
        self._columns = None
        self._untune()

    def _untune(self) -> None:
        self._tuned_for, self._picked, self._calibration, self._trained = "", {}, None, None
        self.__dict__.pop("_seen", None)

    def _set(self, tally: WordTally) -> None:
        self._words = tally
        self._untune()

    @property
    def _asked(self) -> tuple[str, ...]:
        return asked_of(self.model, self.alpha, self.smoothing, self.dependence)

    def _sound_choice(self, picked: Any) -> bool:
        """Whether these can have been chosen: asked of what comes from a file."""
        if not isinstance(picked, dict) or not set(picked) <= set(self._asked):
            return False
        alpha, dependence = picked.get("alpha", 1.0), picked.get("dependence", 0.0)
        numbers = isinstance(alpha, float) and alpha > 0 and isinstance(dependence, float) and 0 <= dependence < 1
        return numbers and picked.get("smoothing", "even") in ("even", "corpus")

    @property
    def _keeps(self) -> str | None:
        """Which texts the tally must keep: "all", "some" or none."""
        if self.model not in MODELS:
            return "all"
        return "some" if self._asked or self.calibrate else None

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

    def _settle(self) -> None:
        """Make the choices that a file holds, so that equal texts make equal files. A regression, which takes long, is
        in the file only where it was made."""
        if self.__sklearn_is_fitted__() and self.model in MODELS:
            self._view()

    @property
    def _is_trained(self) -> bool:
        """Whether the weights of a logistic model are there, and not to be solved for at the next question."""
        return self._trained is not None and self._tuned_for == self._settings_hash()

    def _weights(self) -> dict[str, np.ndarray]:
        """The weights of a logistic model as arrays, which `_take_weights` takes."""
        found: Any = self._view().weights
        return {name: value for name, value in vars(found).items() if isinstance(value, np.ndarray)}

    def _take_weights(self, weights: dict[str, np.ndarray] | None) -> bool:
        """Take weights that `_weights` gave for these very texts; False, and nothing changes, where they cannot be."""
        if weights is None:
            return False
        k, view = len(self.classes_), View(self._settings(), self._words, self._features())
        blank = blank_weights(self.model, bool(self.counts), view.words)
        try:
            arrays: Any = weights
            made = replace(blank, **arrays)
        except TypeError:
            return False
        if not made.sound(view.words.d, k):
            return False
        self._tuned_for, self._trained = self._settings_hash(), made
        self.__dict__.pop("_seen", None)
        return True

    def __getstate__(self) -> dict:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _MADE}

    # the view

    def _features(self) -> Features:
        if "_reader" not in self.__dict__:
            self._reader = self._columns or Features.of(self.features, self.ngram_range)
        return self._reader

    def _view(self) -> View:
        """The tally as the settings see it; kept until either changes."""
        given = (
            self.model, self.features, self.ngram_range, self.alpha, self.smoothing, self.dependence, self.counts,
            self.strip, self.stop_words, self.min_df, self.max_df, self.priors, self.class_weight, self.C,
            self.calibrate,
        )  # fmt: skip
        seen = self.__dict__.get("_seen")
        if seen is None or not all(map(is_, seen[0], given)):
            listed(self.stop_words)
            now = self._settings_hash()
            if self._tuned_for != now:
                self._tune(now)
            seen = self._seen = (given, View(self._settings(), self._words, self._features(), self._trained))
        return seen[1]

    def _settings_hash(self) -> str:
        """Of all that a view depends on beside the tally."""
        now = self.get_params(deep=False)
        now = {name: sorted(one) if isinstance(one, set | frozenset) else one for name, one in now.items()}
        now = {name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in now.items()}
        return blake2b(repr(sorted(now.items())).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def _settings(self) -> Settings:
        """Those of the view, with what was chosen."""
        picked = self._picked
        given = {"alpha": self.alpha, "smoothing": self.smoothing, "dependence": self.dependence}
        plain = {"alpha": 1.0, "smoothing": "even", "dependence": 0.0}  # where the texts have no say
        alpha, smoothing, dependence = (
            picked.get(name, plain[name] if one in ("auto", None) else one) for name, one in given.items()
        )
        if dependence and self.model not in ("multinomial", "complement"):
            raise DataError(
                f"`dependence` is {dependence:g}, but model={self.model!r} has no use for it\n\n"
                "hint: it is for 'multinomial' and 'complement'; leave it out"
            )
        return Settings(
            self.model, alpha, smoothing, dependence, self.counts, self.stop_words, self.min_df, self.max_df,
            None if self.priors is None else self._class_probabilities(self.priors), self._class_weights(),
        )  # fmt: skip

    def _class_probabilities(self, priors: Any) -> np.ndarray:
        return check_priors(priors, self.classes_)

    def _class_weights(self) -> np.ndarray | None:
        """What a text of each class counts for, (k,)."""
        if self.class_weight is None:
            return None
        n = self._words.n
        if isinstance(self.class_weight, str):
            return n.sum() / (len(n) * np.maximum(n, 1.0))
        known = self.classes_.tolist()
        unknown = [label for label in self.class_weight if label not in known]
        if unknown:
            raise DataError(f"class_weight names {unknown[0]!r}\n\nhint: the classes are {known}")
        out = np.array([float(self.class_weight.get(label, 1.0)) for label in known])
        if not (np.isfinite(out) & (out > 0)).all():
            raise DataError(f"class_weight is {out.tolist()}\n\nhint: weights are finite numbers > 0")
        return out

    def _tune(self, now: str) -> None:
        """Choose the smoothing, calibrate or train, by the texts that are kept."""
        self._untune()
        k, asked, train = len(self.classes_), self._asked, self.model not in MODELS
        if k < 2 and train:
            raise DataError(
                f"all texts are {self.classes_.tolist()[0]!r}, and model={self.model!r} needs two classes\n\n"
                "hint: naive Bayes can start with one"
            )
        if asked or train or (self.calibrate and k > 1):
            kept = self._words.kept
            if kept is None or (train and not kept.whole):
                raise DataError(
                    "this setting needs texts that the model has not kept\n\nhint: set it before `fit`, and fit again"
                )
            if train:
                view = View(self._settings(), self._words, self._features())
                X, y = kept.matrix(self._words.d)[:, view.kept], kept.label
                w = view.settings.class_weight
                self._trained = trained(
                    self.model, bool(self.counts), view.words, X, y, self.C, self._settings().alpha, w
                )
            else:
                if asked:
                    self._picked = choose(View(self._settings(), self._words, self._features()), asked)
                if self.calibrate and k > 1:
                    judged = Judged(View(self._settings(), self._words, self._features()))
                    self._calibration = judged.calibration() if len(judged.y) else None
        self._tuned_for = now


def plain_labels(classes: np.ndarray) -> np.ndarray:
    """Labels in as little room as they need: the same classes are the same array, wherever they came from."""
    if classes.dtype.kind == "U" or (classes.dtype.kind == "O" and all(type(c) is str for c in classes)):
        return np.array(classes.tolist(), dtype=np.str_)
    return classes


def _comparable(a: np.ndarray, b: np.ndarray) -> bool:
    kinds = {"".join("t" if kind in "UO" else "n" for kind in array.dtype.kind) for array in (a, b)}
    return len(kinds) == 1
