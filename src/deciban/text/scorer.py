"""Texts → scores without an intermediate matrix: look up words and add their weights, chunk by chunk.

>>> import numpy as np
>>> from deciban.text.analysis import Terms
>>> from deciban.text.vectorizers import CountVectorizer
>>> start, label = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)
>>> weights = WordWeights(start, label, np.array([2.0, 5.0]), *np.zeros((2, 2)))
>>> known = TextScorer(CountVectorizer(), Terms.from_strings(["ham", "spam"]), weights)
>>> known.scores(["Ham, ham!", "spam and ham", "eggs"]).tolist()
[[2.0, 0.0], [2.0, 5.0], [0.0, 0.0]]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from deciban import ops
from deciban.engines.threads import map_ordered
from deciban.errors import DataError
from deciban.text.analysis import AnalyzerSpec, CompiledVocabulary, Terms, analyzer_spec, compiled
from deciban.text.naive_bayes import WordWeights
from deciban.text.reader import Chunk, Source, Worker, _check_piece, chunks, not_a_text, transform_counts

Count = Callable[[Any], sparse.csr_array]


class TextScorer:
    """A vocabulary and the weights of its words, ready for texts."""

    def __init__(self, vectorizer: Any, terms: Terms, weights: WordWeights, count: Count | None = None):
        self.vectorizer, self.terms, self.weights = vectorizer, terms, weights
        self._count = count  # texts → counts of these words, of a vectoriser with fixed columns

    @cached_property
    def spec(self) -> Any:
        """The analysis of the compiled reader; None where Python reads."""
        return None if self._count else analyzer_spec(self.vectorizer)

    @cached_property
    def vocabulary(self) -> CompiledVocabulary:
        return compiled(self.spec, self.terms)

    @cached_property
    def analysis(self) -> Any:
        return self.spec.compiled()

    @cached_property
    def _as_is(self) -> bool:
        """Whether a str is read without preparation."""
        return self.spec.prepare is None and self.vectorizer.input == "content"

    @cached_property
    def python_vectorizer(self) -> Any:
        """The vectoriser with this vocabulary, where Python reads."""
        out = clone(self.vectorizer)
        return out.set_params(vocabulary=self.terms.columns(), min_df=1, max_df=1.0, max_features=None)

    def scores(self, texts: Any) -> np.ndarray:
        """bias + Σ x (unseen_weight + weight) of each text, (n, k)."""
        if self.spec is None:
            return self.score_counts(self.counts(texts))
        one = texts.tolist() if type(texts) is np.ndarray and texts.shape == (1,) else texts
        if type(one) is list and len(one) == 1 and type(one[0]) is str and self._as_is:  # without threads
            return self._chunk(Chunk(as_documents(one), 0, 1, 0))
        parts = list(map_ordered(chunks(text_source(texts, self.vectorizer, self.spec)), self._chunk))
        return np.concatenate(parts) if parts else np.zeros((0, len(self.weights.unseen_weight)))

    def _chunk(self, chunk: Chunk) -> np.ndarray:
        known, w, core = self.vocabulary, self.weights, ops.core()
        try:
            worker = known.workers.pop()
        except IndexError:
            worker = Worker(known.lexicon, core.Workspace())
        piece = core.text_count(
            known.lexicon, False, worker.workspace, self.analysis, chunk.documents, chunk.start, chunk.stop
        )
        known.workers.append(worker)
        _check_piece(piece, chunk)
        return score_piece(piece, known.column, w)

    def counts(self, texts: Any) -> sparse.csr_array:
        """How often each text has each word, (n, d)."""
        if self._count is not None:
            return self._count(texts)
        if self.spec is not None:
            return transform_counts(
                self.vocabulary, text_source(texts, self.vectorizer, self.spec), np.float64, self.vectorizer.binary
            )
        return sparse.csr_array(self.python_vectorizer.transform(texts), dtype=np.float64)

    def score_counts(self, X: sparse.csr_array, shared: np.ndarray | None = None) -> np.ndarray:
        """The scores of texts that are counted already, with a `shared` weight of each word (d,) in all classes."""
        x = tfidf_scale(X, w := self.weights)
        out = w.bias + w.table().multiplied(x) + (0.0 if shared is None else (x @ shared)[:, None])
        return out / w.tempering.divisor(out, x.sum(axis=1))


def score_piece(piece: Any, column: np.ndarray, w: WordWeights) -> np.ndarray:
    """The scores of a piece of counted texts, (n, k), given the word of each of its numbers."""
    k, counted, unseen = len(w.bias), bool(w.tempering.dependence), w.unseen_weight
    out = np.empty((len(piece), k + counted))
    out[:, :k] = w.bias
    if counted:  # one class more, in which every word has the weight 1: the number of words
        out[:, k], unseen = 0.0, np.append(unseen, 1.0)
    ops.core().text_score(piece, column, w.start, w.label, w.weight, unseen, w.scale, w.term_value, out)
    scores = out[:, :k]
    return scores / w.tempering.divisor(scores, out[:, k] if counted else None)


def tfidf_scale(X: sparse.csr_array, w: WordWeights) -> sparse.csr_array:
    """tf-idf weights of counts, (n, d)."""
    data = w.term_values(X.data)
    if w.scale is not None:
        data = data * w.scale[X.indices]
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        size = np.sqrt(np.bincount(row, data**2, minlength=X.shape[0]))
        data = data / np.where(size > 0, size, 1.0)[row]
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def text_source(texts: Any, vectorizer: Any, how: AnalyzerSpec) -> Source:
    """Texts as the compiled reader takes them."""
    prepare = how.prepare
    if prepare is None:
        return Source(texts, vectorizer.decode, vectorizer.input != "content")
    return Source(texts, lambda text: prepare(vectorizer.decode(text)), True)


def as_documents(texts: list) -> Any:
    """Convert texts to a list for the kernels."""
    out = ops.core().Documents(texts)
    if out.bad >= 0:
        raise not_a_text(texts[out.bad], out.bad)
    return out


def check_texts(texts: Any) -> Any:
    """Raise DataError for a single text where several are expected."""
    if isinstance(texts, str | bytes):
        raise DataError("one text was given, several are expected\n\nhint: pass a list: [text]")
    return texts
