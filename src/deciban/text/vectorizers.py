"""`CountVectorizer`, `HashingVectorizer` and `TfidfVectorizer`: scikit-learn's settings and results, in C++.

    X[i, j] = how often term j occurs in text i        terms: words, or n-grams of words or characters

They subclass scikit-learn's classes and replace `fit_transform` and `transform`. Settings that the compiled reader does
not support (a tokenizer, an analyzer, an unusual token pattern) use scikit-learn's Python code.

>>> from deciban import CountVectorizer
>>> count = CountVectorizer(stop_words=["the"])
>>> count.fit_transform(["the cat", "the cat, the dog"]).toarray().tolist()
[[1, 0], [1, 1]]
>>> count.get_feature_names_out().tolist()
['cat', 'dog']
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import sklearn.utils
from scipy import sparse
from sklearn.feature_extraction import text as theirs
from sklearn.preprocessing import normalize

from deciban.errors import DataError, NotAdditiveError
from deciban.text.analysis import AnalyzerSpec, CompiledVocabulary, Terms, analyzer_spec, compiled
from deciban.text.reader import Source, fit_transform_counts, hash_counts, transform_counts

_HIDDEN = ("_compiled", "_made")  # made again when needed: not part of a pickle


def _as_set_up(X: sparse.csr_array) -> Any:
    """A sparse array or matrix, as scikit-learn is set up to give; before 1.9 it gave matrices."""
    align = getattr(sklearn.utils, "_align_api_if_sparse", sparse.csr_matrix)
    made = align(X)
    made.has_sorted_indices = made.has_canonical_format = True
    return made


def _source(vectorizer: Any, texts: Any, how: AnalyzerSpec) -> Source:
    if isinstance(texts, str):
        raise DataError(
            "Iterable over raw text documents expected, string object received.\n\nhint: pass a list: [text]"
        )
    content = vectorizer.input == "content"
    strict = content and vectorizer.preprocessor is None  # a preprocessor may take anything
    prepare = how.prepare
    if prepare is None:
        return Source(texts, vectorizer.decode, not content, strict)
    return Source(texts, lambda text: prepare(vectorizer.decode(text)), True, strict)


class CountVectorizer(theirs.CountVectorizer):
    r"""Convert texts to a CSR matrix of term counts, with scikit-learn's settings and results.

    In addition, `partial_fit` adds the new terms of more texts, and texts may be an Arrow, polars or pandas column,
    which is read without a copy.

    Parameters
    ----------
    input : {"content", "filename", "file"}, default "content"
        What the elements of the input are: texts, paths, or open files.
    encoding : str, default "utf-8"
        Encoding of bytes and files.
    decode_error : {"strict", "ignore", "replace"}, default "strict"
        What to do with bytes that cannot be decoded.
    strip_accents : {"ascii", "unicode"} or callable, optional
        Remove accents.
    lowercase : bool, default True
        Convert to lower case.
    preprocessor, tokenizer : callable, optional
        Replace a step of the analysis; scikit-learn's Python code is used then.
    stop_words : {"english"} or list, optional
        Words that are not counted.
    token_pattern : str, default r"(?u)\b\w\w+\b"
        Regular expression of a token.
    ngram_range : tuple (low, high), default (1, 1)
        Sizes of the n-grams.
    analyzer : {"word", "char", "char_wb"} or callable, default "word"
        Whether n-grams are of words, of characters, or of characters inside words.
    max_df, min_df : float or int, default 1.0 and 1
        Drop terms that occur in more (fewer) texts: a share of the texts (float) or their number (int).
    max_features : int, optional
        Keep only the most frequent terms.
    vocabulary : mapping or iterable, optional
        The terms, instead of those of the texts.
    binary : bool, default False
        Set all counts above 0 to 1.
    dtype : type, default np.int64
        Type of the matrix.

    Attributes
    ----------
    vocabulary_ : dict
        Term → column. Built on first access.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.

    See Also
    --------
    TfidfVectorizer : Counts weighted by inverse document frequency.
    HashingVectorizer : No vocabulary, a fixed number of columns.

    Examples
    --------
    >>> CountVectorizer(analyzer="char_wb", ngram_range=(2, 2)).fit(["ab"]).vocabulary_
    {' a': 0, 'ab': 1, 'b ': 2}
    """

    _terms: Terms  # what `fit` found; `vocabulary_` is made of it
    fixed_vocabulary_: bool

    def __getattr__(self, name: str) -> Any:
        if name == "vocabulary_" and "_terms" in vars(self):
            self.vocabulary_ = self._made = self._terms.columns()
            return self.vocabulary_
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __getstate__(self) -> dict:
        return {name: value for name, value in super().__getstate__().items() if name not in _HIDDEN}

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the vocabulary and count the terms; equals `fit(texts).transform(texts)` in one pass.

        Parameters
        ----------
        raw_documents : sequence of str
            The texts.
        y : None
            Not used.

        Returns
        -------
        sparse matrix of shape (n, words)
            The counts or weights of each text.
        """
        self._validate_params()
        how = self._fast(raw_documents)
        if how is None:
            X = super().fit_transform(raw_documents)
            self._forget()
            return X
        self._warn_for_unused_params()
        self._validate_vocabulary()
        if self.fixed_vocabulary_:
            self._forget()
            self._warn_of_capitals()
            return self._looked_up(raw_documents, how)
        source = _source(self, raw_documents, how)
        terms, X = fit_transform_counts(how, source, self.dtype, self.binary, self._limits)
        if len(terms) == 0:
            raise DataError(
                "empty vocabulary; perhaps the documents only contain stop words\n\n"
                "hint: check that the texts are not empty; a default token has two letters or more"
            )
        self._forget()
        self.__dict__.pop("vocabulary_", None)
        self._terms = terms
        return _as_set_up(X)

    def transform(self, raw_documents: Any) -> Any:
        """Count the known terms in texts; others are ignored.

        Parameters
        ----------
        raw_documents : sequence of str
            The texts.

        Returns
        -------
        sparse matrix of shape (n, words)
            The counts or weights of each text.
        """
        if "_terms" not in vars(self):
            self._check_vocabulary()
        how = self._fast(raw_documents)
        return super().transform(raw_documents) if how is None else self._looked_up(raw_documents, how)

    def partial_fit(self, raw_documents: Any, y: Any = None) -> CountVectorizer:
        """Add the terms of more texts. Known terms keep their columns; new ones follow, sorted among themselves.

        Parameters
        ----------
        raw_documents : sequence of str
            The texts.
        y : None
            Not used.

        Returns
        -------
        self
            The same vectorizer, with these texts.

        Examples
        --------
        >>> CountVectorizer().fit(["so it goes"]).partial_fit(["so what"]).vocabulary_
        {'goes': 0, 'it': 1, 'so': 2, 'what': 3}
        """
        self._validate_params()
        if self.vocabulary is not None:
            return self
        if (self.min_df, self.max_df, self.max_features) != (1, 1.0, None):
            raise NotAdditiveError(
                "min_df, max_df and max_features need all texts at once, partial_fit sees some\n\n"
                "hint: leave them out, and choose columns after the last partial_fit"
            )
        learned = vars(self).keys() & {"vocabulary_", "_terms"}  # of which `vocabulary_` is made
        known = dict(self.vocabulary_) if learned else {}
        more = type(self)(**self.get_params(deep=False))
        try:
            words = more.fit(raw_documents).get_feature_names_out()
        except ValueError as nothing:
            if not known or "empty vocabulary" not in str(nothing):
                raise
            words = []
        for word in words:
            known.setdefault(word, len(known))
        self._forget()
        self.fixed_vocabulary_ = False
        self.vocabulary_ = known
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The terms, in the order of their columns.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        ndarray of str
            The words, in the order of the columns.
        """
        if "_terms" in vars(self) and "vocabulary_" not in vars(self):
            return np.array(self._terms.strings(), dtype=object)
        return super().get_feature_names_out(input_features)

    def _forget(self) -> None:
        for name in ("_terms", *_HIDDEN):
            self.__dict__.pop(name, None)

    def _fast(self, texts: Any) -> AnalyzerSpec | None:
        self._validate_ngram_range()
        return None if isinstance(texts, str) else analyzer_spec(self)

    def _warn_of_capitals(self) -> None:
        if self.lowercase and any(any(map(str.isupper, term)) for term in self.vocabulary_ if isinstance(term, str)):
            warnings.warn(
                "Upper case characters found in vocabulary while 'lowercase' is True. These entries will not be "
                "matched with any documents",
                stacklevel=3,
            )

    def _looked_up(self, texts: Any, how: AnalyzerSpec) -> Any:
        known = self._known(how)
        if known is None:
            return super().transform(texts)
        return _as_set_up(transform_counts(known, _source(self, texts, how), self.dtype, self.binary))

    def _known(self, how: AnalyzerSpec) -> CompiledVocabulary | None:
        """The compiled vocabulary, cached; None if a term is not a string."""
        now: Any = self.__dict__.get("vocabulary_")
        terms: Any = self.__dict__.get("_terms")
        # whether `vocabulary_` is unchanged since it was built (or not built yet)
        mine = now is None or (now is self.__dict__.get("_made") and len(now or ()) == len(terms))
        source: Any = terms if mine else now
        of, kept = self.__dict__.get("_compiled", (None, None))
        if of is source and kept.size == len(source) and kept.plan == how:
            return kept
        if mine:
            made = compiled(how, terms)
        elif all(isinstance(term, str) for term in now):
            made = compiled(how, Terms.from_strings(now), np.fromiter(now.values(), dtype=np.int64, count=len(now)))
        else:
            return None
        self._compiled = (source, made)
        return made

    def _limits(self, rows: np.ndarray, totals: Callable[[], np.ndarray], n: int) -> np.ndarray:
        """Mask of the terms that min_df, max_df and max_features keep, with scikit-learn's order of ties."""
        high = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n
        low = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n
        if high < low:
            raise DataError(
                f"max_df corresponds to < documents than min_df: {high:g} and {low:g} of {n}\n\n"
                "hint: whole numbers are rows, fractions are shares of them"
            )
        keep = (rows <= high) & (rows >= low)
        if self.max_features is not None and keep.sum() > self.max_features:
            often = totals().astype(_sum_type(np.dtype(self.dtype)))
            best = (-often[keep]).argsort()[: self.max_features]
            chosen = np.flatnonzero(keep)[best]
            keep = np.zeros(len(rows), dtype=bool)
            keep[chosen] = True
        if not keep.any():
            raise DataError(
                "After pruning, no terms remain. Try a lower min_df or a higher max_df.\n\n"
                f"hint: terms occur in {rows.min()} to {rows.max()} of {n} texts"
            )
        return keep


def _sum_type(dtype: np.dtype) -> np.dtype:
    """The type of a sparse matrix's column sums, which decides the order of ties."""
    if dtype.kind == "u" and np.can_cast(dtype, np.uint):
        return np.dtype(np.uint)
    return np.dtype(np.int_) if np.can_cast(dtype, np.int_) else dtype


class HashingVectorizer(theirs.HashingVectorizer):
    r"""Convert texts to a CSR matrix whose columns are hashes of the terms, with scikit-learn's settings and results.

    Parameters
    ----------
    input : {"content", "filename", "file"}, default "content"
        What the elements of the input are: texts, paths, or open files.
    encoding : str, default "utf-8"
        Encoding of bytes and files.
    decode_error : {"strict", "ignore", "replace"}, default "strict"
        What to do with bytes that cannot be decoded.
    strip_accents : {"ascii", "unicode"} or callable, optional
        Remove accents.
    lowercase : bool, default True
        Convert to lower case.
    preprocessor, tokenizer : callable, optional
        Replace a step of the analysis; scikit-learn's Python code is used then.
    stop_words : {"english"} or list, optional
        Words that are not counted.
    token_pattern : str, default r"(?u)\b\w\w+\b"
        Regular expression of a token.
    ngram_range : tuple (low, high), default (1, 1)
        Sizes of the n-grams.
    analyzer : {"word", "char", "char_wb"} or callable, default "word"
        Whether n-grams are of words, of characters, or of characters inside words.
    n_features : int, default 2**20
        Number of columns.
    binary : bool, default False
        Set all counts above 0 to 1.
    norm : {"l1", "l2"} or None, default "l2"
        Norm to which each row is scaled.
    alternate_sign : bool, default True
        Use the sign of the hash, so that collisions cancel in expectation.
    dtype : type, default np.float64
        Type of the matrix.

    Attributes
    ----------
    None
        There is no state; `fit` only checks the settings.

    See Also
    --------
    CountVectorizer : Counts of words.
    TfidfVectorizer : Weighted counts of words.

    Examples
    --------
    >>> HashingVectorizer(n_features=8).transform(["so it goes"]).shape
    (1, 8)
    """

    def transform(self, X: Any) -> Any:
        """Hash and count the terms of texts. Nothing is learned.

        Parameters
        ----------
        X : sequence of str
            The texts.

        Returns
        -------
        sparse matrix of shape (n, words)
            The counts or weights of each text.
        """
        self._validate_ngram_range()
        how = None if isinstance(X, str) else analyzer_spec(self)
        if how is None:
            return super().transform(X)
        inside = np.dtype(self.dtype) in (np.float32, np.float64)
        norm = self.norm if inside else None
        source = _source(self, X, how)
        made = hash_counts(how, source, self.n_features, self.dtype, self.alternate_sign, self.binary, norm)
        if made.shape[0] == 0:
            raise DataError("Cannot vectorize empty sequence.\n\nhint: pass at least one text")
        if self.norm is not None and not inside:
            made = normalize(made, norm=self.norm, copy=False)
        return _as_set_up(made)


class TfidfVectorizer(theirs.TfidfVectorizer, CountVectorizer):
    r"""Convert texts to a CSR matrix of tf-idf weights: `CountVectorizer`, then scikit-learn's `TfidfTransformer`.

    Parameters
    ----------
    input : {"content", "filename", "file"}, default "content"
        What the elements of the input are: texts, paths, or open files.
    encoding : str, default "utf-8"
        Encoding of bytes and files.
    decode_error : {"strict", "ignore", "replace"}, default "strict"
        What to do with bytes that cannot be decoded.
    strip_accents : {"ascii", "unicode"} or callable, optional
        Remove accents.
    lowercase : bool, default True
        Convert to lower case.
    preprocessor, tokenizer : callable, optional
        Replace a step of the analysis; scikit-learn's Python code is used then.
    analyzer : {"word", "char", "char_wb"} or callable, default "word"
        Whether n-grams are of words, of characters, or of characters inside words.
    stop_words : {"english"} or list, optional
        Words that are not counted.
    token_pattern : str, default r"(?u)\b\w\w+\b"
        Regular expression of a token.
    ngram_range : tuple (low, high), default (1, 1)
        Sizes of the n-grams.
    max_df, min_df : float or int, default 1.0 and 1
        Drop terms that occur in more (fewer) texts: a share of the texts (float) or their number (int).
    max_features : int, optional
        Keep only the most frequent terms.
    vocabulary : mapping or iterable, optional
        The terms, instead of those of the texts.
    binary : bool, default False
        Set all counts above 0 to 1.
    dtype : type, default np.float64
        Type of the matrix.
    norm : {"l1", "l2"} or None, default "l2"
        Norm to which each row is scaled.
    use_idf : bool, default True
        Multiply by the inverse document frequency.
    smooth_idf : bool, default True
        Add one to the document frequencies.
    sublinear_tf : bool, default False
        Replace a count tf by 1 + log(tf).

    Attributes
    ----------
    vocabulary_ : dict
        Term → column.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.
    idf_ : array of shape (d,)
        Inverse document frequency of each term.

    See Also
    --------
    CountVectorizer : Counts of words.
    HashingVectorizer : Counts of words without a vocabulary.

    Examples
    --------
    >>> TfidfVectorizer(norm=None).fit_transform(["so it goes", "so what"]).toarray().round(2).tolist()
    [[1.41, 1.41, 1.0, 0.0], [0.0, 0.0, 1.0, 1.41]]
    """

    def partial_fit(self, raw_documents: Any, y: Any = None) -> Any:
        """Not possible: the weights of known terms would have to change.

        Parameters
        ----------
        raw_documents : sequence of str
            The texts.
        y : None
            Not used.
        """
        raise NotAdditiveError(
            "tf-idf needs all texts at once\n\nhint: CountVectorizer has partial_fit; weigh its counts at the end"
        )
