"""Predictions of a fitted model: posteriors, labels, odds and evidence by column, all from the same scores.

A `Posterior` adds class priors to scores: log likelihoods (n, k) up to a term that all classes share. The scores are
those of a family (`FamilyScores`), of a family with feature weights (`WeightedScores`), or calibrated scores of either
(`CalibratedScores`). The evidence by column comes from the same scores, so that explanation and posterior agree.

Where missing levels are averaged over (`AveragedPosterior`), P(class | a) = Σ_b P(class | a, b) P(b), with P(b) the
frequencies of the levels in training. Integrating a missing cell out uses the distribution of each class and gives no
evidence; averaging uses the distribution of all rows and is the mean of the posteriors. Several missing levels are
averaged over together, as if independent.

>>> import pandas as pd
>>> from deciban import MixedNB
>>> X = pd.DataFrame({"viagra": [1, 1, 0, 0, 0, 0], "lottery": [1, 0, 1, 0, 0, 1]}).astype("category")
>>> model = MixedNB(alpha=1, missing="average").fit(X, ["spam", "spam", "spam", "ham", "ham", "ham"])
>>> model.predict_proba(pd.DataFrame({"viagra": [None], "lottery": [1]})).round(3).tolist()
[[0.425, 0.575]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from deciban import decision, display, ops
from deciban.data.blocks import Block, Codes, Mixed, Reals, borders
from deciban.decision import check_priors
from deciban.display import cell_text
from deciban.engines import threads
from deciban.errors import DataError
from deciban.estimation.dirichlet import log_shares
from deciban.estimation.fractions import Factors
from deciban.estimation.linear import LinearScores, Term
from deciban.explain.explanation import PRIOR
from deciban.gaussian.joint import parts_by_pattern
from deciban.models.calibration import Calibration
from deciban.models.feature_evidence import LinearEvidence, PartsEvidence
from deciban.models.feature_weights import FeatureWeights
from deciban.models.joint_tables import JOIN, JointScores
from deciban.rows import inputs

SPAN = 1 << 18  # least number of cells in a span of scored rows
FLOAT = np.dtype(np.float64)
MOST = 1 << 28  # numbers that an explanation may hold: rows × classes × columns
TOGETHER = "(all columns together)"
MISSING = "(missing levels)"


class Evidence(NamedTuple):
    """Scores by column: base + parts.sum(axis=2) is the log joint, up to a term that all classes share."""

    base: np.ndarray  # (k,)
    parts: np.ndarray  # (n, k, d)
    columns: list[str]  # d; one, where columns have no separate parts
    cells: np.ndarray  # (n, d), as in X; NaN or None is missing
    start: str = PRIOR  # what the base is of


class FactoredRows(NamedTuple):
    """P(class) and the factors of p(x | class)."""

    log_prior: np.ndarray  # (k,)
    factors: Factors
    columns: list[str]
    cells: np.ndarray  # (n, d), as in X; NaN or None is missing


# scores: log likelihoods (n, k) up to a term that all classes share


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """Scores of a family with its parameters."""

    family: Any
    params: Any
    finite: ClassVar[bool] = False  # whether scores are finite even for infinite cells, which must then be searched for

    def __call__(self, x: Block) -> np.ndarray:
        return self.family.loglik(self.params, x)

    def shared(self, x: Block) -> np.ndarray | None:
        """The part of the log density that is not in the scores, (n,); None: nothing."""
        return self.family.carrier(self.params, x)

    def log_density(self, x: Block) -> np.ndarray:
        return (self.family.loglik if self.family.density else self.family.log_density)(self.params, x)

    @property
    def has_parts(self) -> bool:
        """Whether the score is a sum over columns."""
        return self.family.splits(self.params)

    def parts(self, x: Block) -> np.ndarray:
        """Scores by column, (n, k, d)."""
        if self.family.has_parts:
            return self.family.parts(self.params, x)
        return parts_by_pattern(x, self.params)  # type: ignore[arg-type]

    def linear(self, degree: int = 1) -> LinearScores | None:
        return self.family.linear(self.params, degree)


@dataclass(frozen=True, eq=False)
class WeightedScores:
    """Scores of a family with feature weights."""

    plain: FamilyScores
    evidence: PartsEvidence | LinearEvidence
    weights: FeatureWeights
    finite: ClassVar[bool] = True
    has_parts: ClassVar[bool] = True
    setting: ClassVar[str] = "weights"

    def __call__(self, x: Block) -> np.ndarray:
        return self.evidence.scores(x, self.weights.table) + self.weights.bias  # type: ignore[arg-type]

    def shared(self, x: Block) -> np.ndarray | None:
        return self.plain.shared(x)

    def log_density(self, x: Block) -> np.ndarray:
        return self.plain.log_density(x)

    @property
    def bias(self) -> np.ndarray:
        return self.weights.bias

    def parts(self, x: Block) -> np.ndarray:
        return self.evidence.parts(x) * self.weights.table  # type: ignore[arg-type]

    def linear(self, degree: int = 1) -> LinearScores | None:
        if not isinstance(self.evidence, LinearEvidence):
            return None
        return self.evidence.linear(self.weights.table).scaled(1.0, self.weights.bias)


@dataclass(frozen=True, eq=False)
class CalibratedScores:
    """temperature · scores + bias"""

    plain: FamilyScores
    calibration: Calibration
    finite: ClassVar[bool] = False
    setting: ClassVar[str] = "calibrate"

    def __call__(self, x: Block) -> np.ndarray:
        return self.calibration.apply(self.plain(x))

    def shared(self, x: Block) -> np.ndarray | None:
        return self.plain.shared(x)

    def log_density(self, x: Block) -> np.ndarray:
        return self.plain.log_density(x)

    @property
    def has_parts(self) -> bool:
        return self.plain.has_parts

    @property
    def bias(self) -> np.ndarray:
        return self.calibration.bias

    def parts(self, x: Block) -> np.ndarray:
        return self.plain.parts(x) * self.calibration.temperature

    def linear(self, degree: int = 1) -> LinearScores | None:
        found = self.plain.linear(degree)
        return None if found is None else found.scaled(self.calibration.temperature, self.calibration.bias)


Scores = FamilyScores | WeightedScores | CalibratedScores | JointScores


def bias_of(scores: Scores) -> np.ndarray | float:
    """The bias of scores for each class, or 0."""
    return 0.0 if isinstance(scores, FamilyScores) else scores.bias


@dataclass(frozen=True, eq=False)
class Posterior:
    """P(class | x) by scores and class priors."""

    classes: np.ndarray
    log_prior: np.ndarray  # (k,), of the classes
    added: np.ndarray  # (k,), added to scores: the same, except for rules without learned priors
    scores: Scores
    reader: Any
    interacts: bool = False  # whether the part of a column depends on other columns
    anchored: ClassVar[bool] = True  # evidence of a cell is absolute, not relative to a reference cell

    def under(self, priors: Any) -> Posterior:
        """The posterior with other class priors."""
        with np.errstate(divide="ignore"):
            given = np.log(check_priors(priors, self.classes))
        return replace(self, log_prior=given, added=given)

    def added_prior(self) -> np.ndarray:
        """log priors (k,) of the posterior."""
        return self.added

    def output(self, X: Any) -> Any:
        """The type of array that predictions for X are returned as."""
        return self.reader.output(X)

    def note(self, name: str, found: Evidence) -> str:
        """Note printed with an explanation by a classifier of that name."""
        return f"columns of this {name} interact: none has a separate part" if found.columns == [TOGETHER] else ""

    # predictions, in the array type of X

    def proba(self, X: Any) -> np.ndarray:
        """P(class | x), (n, k)."""
        x = self.reader.read(X, "predict_proba")
        plain = type(X) is np.ndarray
        if (X.size if plain else x.cells) > SPAN or len(self.added) * (len(X) if plain else x.n) > SPAN:
            return self.reader.output(X).send(self._each(x, partial(ops.posterior, logs=False)))
        ready = type(x) is Reals and x.values.dtype == FLOAT and x.values.flags.aligned
        chunk = x if ready else x.rows(0, len(X) if plain else x.n)
        if isinstance(chunk, Codes):
            self._check_codes(chunk, x)
        with np.errstate(all="ignore"):
            scores = self.scores(chunk)
        if self.scores.finite or not ops.all_finite(scores):
            out = self._finish_carefully(scores, chunk, x, _PROBA, None)
        else:
            out = ops.posterior(scores, False, self.added, scores)
        kept = plain and (X.dtype == FLOAT or not self.reader.keeps_kind)
        return out if kept else self.reader.output(X).send(out)

    def log_proba(self, X: Any) -> np.ndarray:
        """log P(class | x), (n, k)."""
        out = self._each(self.reader.read(X, "predict_log_proba"), partial(ops.posterior, logs=True))
        return self.reader.output(X).send_logs(out)

    def labels(self, X: Any) -> np.ndarray:
        """The most probable class of each row, (n,)."""
        x = self.reader.read(X)
        best = self._each(x, lambda scores, prior, out: (scores + prior).argmax(axis=1))
        return self.reader.output(X).send_labels(self.classes[best])

    def log_odds(self, X: Any, against: Any = None) -> np.ndarray:
        """log of P(class | x) over P(all others | x), or over P(against | x), (n, k)."""
        place = None if against is None else decision.class_index(against, self.classes)
        return self.reader.output(X).send(self.block_log_odds(self.reader.read(X), place))

    def block_log_odds(self, x: Block, against: int | None = None) -> np.ndarray:
        """`log_odds` of a block of rows, as doubles."""
        return decision.log_odds(self._each(x, _joined), against)

    def block_log_proba(self, x: Block) -> np.ndarray:
        """`log_proba` of a block of rows, as doubles."""
        return self._each(x, partial(ops.posterior, logs=True))

    def log_joint(self, X: Any) -> np.ndarray:
        """log P(x, class), (n, k)."""
        return self.reader.output(X).send(self._each(self.reader.read(X), None))

    def joint_scores(self, X: Any) -> np.ndarray:
        """Scores and priors, as doubles: log joints up to a term that all classes share, (n, k)."""
        return self._each(self.reader.read(X, "decision_function"), _joined)

    def log_density(self, X: Any) -> np.ndarray:
        """log p(x), (n,)."""
        joint = self.densities(self.reader.read(X), self.log_prior)
        return self.reader.output(X).send(decision.log_evidence(joint))

    def class_log_density(self, X: Any) -> np.ndarray:
        """log p(x | class), (n, k)."""
        out = self.densities(self.reader.read(X), np.zeros(len(self.classes)))
        return self.reader.output(X).send(out)

    def densities(self, x: Block, added: np.ndarray) -> np.ndarray:
        """The log densities that rows are drawn from, plus numbers (k,), as doubles, (n, k)."""
        return replace(self, added=added)._each(x, None, density=True)

    # evidence by column

    @property
    def splits(self) -> bool:
        """Whether the evidence of a column is independent of the other columns, so that it can be drawn as a scale."""
        return not self.interacts and (self.scores.has_parts or self.reader.d == 1)

    @property
    def separate(self) -> bool:
        """Whether the evidence of a cell does not depend on the other cells, nor on which of them are missing."""
        return self.splits and self.reader.block != "dense"

    @property
    def columns(self) -> list[str]:
        """Names of the columns that evidence is shown of."""
        return self.reader.shown_columns

    def candidates(self) -> list[np.ndarray] | None:
        """Values of each column at which its scale in a nomogram is drawn: ascending floats, or levels of any type.
        None if the model does not know them."""
        plain = self.scores if isinstance(self.scores, FamilyScores) else self.scores.plain
        return self.reader.candidates(plain.family.grid(plain.params, len(self.classes)))

    def block(self, X: Any) -> Block:
        """Rows as the model reads them."""
        return X if isinstance(X, Block) else self.reader.read(X)

    def block_of(self, columns: list[np.ndarray]) -> Block:
        """Columns of candidate values, all of one length, as rows that `evidence` takes too."""
        return self.reader.block_of(columns)

    def evidence(self, X: Any, x: Block | None = None) -> Evidence:
        """Scores by column. If the score is not a sum over columns, all columns have one part together. x: X as a
        block, if it was read."""
        x = self.block(X) if x is None else x
        check_size(x.n, len(self.classes), x.d)
        self._check_codes(x.rows(0, x.n), x)
        x = x.rows(0, x.n)
        split = self.interacts or self.scores.has_parts
        base = self.added + bias_of(self.scores)
        with np.errstate(all="ignore"):
            parts = self.scores.parts(x) if split else (self.scores(x) - bias_of(self.scores))[:, :, None]
        if not ops.all_finite(parts):
            if inputs.infinite(x):
                inputs.raise_not_finite(x, self.reader.names)
            parts = self._parts_of_impossible(parts, x)
        cells = self.reader.cells(X, x)
        if split or self.reader.d == 1:
            return Evidence(base, self.reader.shown_parts(parts), self.columns, cells)
        return Evidence(base, parts, [TOGETHER], _joined_cells(cells))

    def scale_evidence(self, x: Block) -> tuple[Evidence, str]:
        """(the evidence of rows of `block_of`, what it is counted from)"""
        return self.evidence(x), "prior"

    def factors(self, X: Any, tally: Any) -> FactoredRows:
        """p(x | class) of rows as a product of factors, with the counts of the tally that the parameters come from;
        None: there is none."""
        if not isinstance(self.scores, FamilyScores):
            setting = self.scores.setting
            raise DataError(
                f"`{setting}` changes the scores of this {self.reader.model}: they are no product of fractions\n\n"
                f"hint: explain it with {in_decibans()}, or fit without `{setting}`"
            )
        if not self.scores.family.factorises:
            raise DataError(
                f"p(x | class) of this {self.reader.model} is not a product with a factor for each column\n\n"
                f"hint: explain it with {in_decibans()}; naive Bayes and Bayesian networks have such factors"
            )
        x = self.reader.read(X)
        check_size(x.n, len(self.classes), x.d)
        x = x.rows(0, x.n)
        self._check_codes(x, x)
        if inputs.infinite(x):
            inputs.raise_not_finite(x, self.reader.names)
        with np.errstate(all="ignore"):
            found = self.scores.family.cell_factors(tally, self.scores.params, x)
        return FactoredRows(self.added, found, self.reader.columns, self.reader.model_cells(X, x))

    # inside

    def _parts_of_impossible(self, parts: np.ndarray, x: Block) -> np.ndarray:
        """Parts that sum to the scores, of rows too that some or all classes make impossible: a row that all do has no
        evidence, and one whose parts are not defined has its score in equal parts."""
        with np.errstate(all="ignore"):
            scores = self.scores(x) - bias_of(self.scores)
            summed = parts.sum(axis=2)
            same = np.all((summed == scores) | np.isclose(summed, scores, rtol=1e-9, atol=1e-9), axis=1)
        lost = ~(scores.max(axis=1) > -np.inf)
        parts = np.where(same[:, None, None], parts, scores[:, :, None] / parts.shape[2])
        parts[lost] = 0.0
        return parts

    def _run(self, chunk: Block, x: Block, finish: Callable, out: np.ndarray | None = None, start: int = 0) -> Any:
        """finish(scores of a chunk of x, prior, output array)"""
        if isinstance(chunk, Codes):
            self._check_codes(chunk, x)
        with np.errstate(all="ignore"):
            scores = self.scores(chunk)
        if self.scores.finite or not ops.all_finite(scores):
            return self._finish_carefully(scores, chunk, x, finish, out)
        return finish(scores, prior=self.added, out=scores if out is None else out)

    def _finish_carefully(
        self, scores: np.ndarray, chunk: Block, x: Block, finish: Callable, out: np.ndarray | None
    ) -> Any:
        if inputs.infinite(chunk):
            inputs.raise_not_finite(x, self.reader.names)
        joint = decision.resolve_impossible_rows(scores + self.added, self.added + bias_of(self.scores))
        return finish(joint, prior=np.zeros(len(self.added)), out=joint if out is None else out)

    def _each(self, x: Block, finish: Callable | None, density: bool = False) -> np.ndarray:
        """`finish` applied to the scores of all rows, span by span while in cache; without it, log joints."""
        k = len(self.added)
        wide = x.n * self._row_width(k) if x.n > 1 else 0
        spans = borders(x.n, max(x.cells, wide), max(SPAN, k * x.d // 4))
        whole = np.empty((x.n, k) if len(spans) > 1 else (0, 0))

        def run(span: tuple[int, int]) -> np.ndarray:
            chunk = x.rows(*span)
            if finish is None:
                return self._log_joint_of(chunk, x, density)
            return self._run(chunk, x, finish, whole[slice(*span)] if len(spans) > 1 else None, span[0])

        return run(spans[0]) if len(spans) == 1 else _join(whole, threads.map_ordered(spans, run), spans)

    def _row_width(self, k: int) -> int:
        plain = self.scores if isinstance(self.scores, FamilyScores) else self.scores.plain
        return plain.family.row_width(k)

    def _log_joint_of(self, chunk: Block, x: Block, density: bool) -> np.ndarray:
        self._check_codes(chunk, x)
        with np.errstate(all="ignore"):
            scores = self.scores.log_density(chunk) if density else self.scores(chunk)
        if (self.scores.finite or not ops.all_finite(scores)) and inputs.infinite(chunk):
            inputs.raise_not_finite(x, self.reader.names)
        common = self.scores.shared(chunk)
        return scores + self.added if common is None else _added(scores, self.added, common)

    def _check_codes(self, chunk: Block, x: Block) -> None:
        """Raise an error for codes of a chunk of x that are not levels."""
        if isinstance(chunk, Codes) and not inputs.in_support(chunk, "level"):
            inputs.raise_negative(x, self.reader.model, self.reader.names)


_PROBA = partial(ops.posterior, logs=False)


def _joined(scores: np.ndarray, prior: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Log joints, up to a term that all classes share."""
    return np.add(scores, prior, out=out)


def _added(scores: np.ndarray, prior: np.ndarray, common: np.ndarray) -> np.ndarray:
    """scores + prior + common (n,), −∞ where infinities of opposite signs are added: the density is 0."""
    out = scores + prior
    with np.errstate(all="ignore"):
        out += common[:, None]
    if not ops.all_finite(out):
        out[np.isnan(out)] = -np.inf
    return out


def _join(whole: np.ndarray, parts: Any, spans: list[tuple[int, int]]) -> np.ndarray:
    """The parts as one array: copied into `whole` unless already there, or a new array of their own shape."""
    out = whole
    for (start, stop), part in zip(spans, parts, strict=True):
        if start == 0 and (part.ndim, part.dtype) != (whole.ndim, whole.dtype):
            out = np.empty((len(whole), *part.shape[1:]), dtype=part.dtype)
        if part.base is not whole:
            out[start:stop] = part
    return out


def in_decibans() -> str:
    """The form of an explanation that every model has, for hints."""
    return display.option("form='decibans'", "--form decibans")


def check_size(n: int, k: int, d: int) -> None:
    """Raise an error if an explanation of this size would be too large."""
    size = n * k * d
    if size > MOST:
        raise DataError(
            f"an explanation of {n} rows × {k} classes × {d} columns is {size:.1g} numbers\n\n"
            f"hint: explain fewer rows at a time, {max(1, MOST * n // size)} at most"
        )


def _joined_cells(cells: np.ndarray) -> np.ndarray:
    """The cells of each row as one text; None where all of them are missing."""
    texts = [", ".join(cell_text(cell) for cell in row[:3]) + ", …" * (len(row) > 3) for row in cells]
    out = np.array([*texts, None], dtype=object)[:-1]
    out[[all(map(display.is_missing, row)) for row in cells]] = None
    return out[:, None]


@dataclass(frozen=True, eq=False)
class JointPosterior(Posterior):
    """By scores with joint tables, each of which has a line of its own in explanations."""

    def evidence(self, X: Any, x: Block | None = None) -> Evidence:
        x = self.block(X) if x is None else x
        found = super().evidence(X, x)
        tables = self.scores.tables  # type: ignore[union-attr]
        check_size(x.n, len(self.classes), x.d + len(tables.chosen.together))
        joint = self.scores.joint_parts(x.rows(0, x.n))  # type: ignore[union-attr]
        return Evidence(
            found.base,
            np.concatenate([found.parts, joint], axis=2),
            [*found.columns, *(JOIN.join(found.columns[j] for j in columns) for columns in tables.chosen.together)],
            np.hstack([found.cells, tables.joint_cells(found.cells)]),
        )


COMBINATIONS = 1024  # of missing levels in a row, at most
BATCH = 1 << 18  # posteriors held at once


@dataclass(frozen=True, eq=False)
class AveragedPosterior(Posterior):
    """Posteriors averaged over missing levels."""

    levels: tuple[tuple[int, int, np.ndarray, np.ndarray], ...] = ()  # see `levels_of_each`

    @property
    def separate(self) -> bool:
        return super().separate and not self.levels

    def proba(self, X: Any) -> np.ndarray:
        return self.reader.output(X).send(self._each(self.reader.read(X), _PROBA))

    def _run(self, chunk: Any, x: Block, finish: Callable, out: np.ndarray | None = None, start: int = 0) -> Any:
        found = self._of(chunk, start)
        return finish(found, prior=np.zeros(len(self.added)), out=found if out is None else out)

    def _of(self, x: Any, start: int = 0) -> np.ndarray:
        """log P(class | known cells), (n, k)."""
        plain = self.scores if isinstance(self.scores, FamilyScores) else self.scores.plain
        with np.errstate(all="ignore"):
            scores = plain(x)
        if not ops.all_finite(scores) and inputs.infinite(x):
            inputs.raise_not_finite(x, self.reader.names)
        return self.averaged(x, scores, self.added, start)

    def averaged(self, x: Any, scores: np.ndarray, prior: np.ndarray, start: int = 0) -> np.ndarray:
        """The same from uncalibrated scores (n, k), with log priors (k,) or (n, k)."""
        calibration = self.scores.calibration if isinstance(self.scores, CalibratedScores) else None
        prior = np.broadcast_to(prior, scores.shape)
        missing = np.array([np.asarray(x.blocks[b].values)[:, c] < 0 for b, c, *_ in self.levels])
        missing = missing.reshape(len(self.levels), x.n)
        self._check_few(missing, start)
        out = np.empty_like(scores)
        patterns, which = np.unique(missing, axis=1, return_inverse=True)
        for i, pattern in enumerate(patterns.T):
            rows = np.flatnonzero(which.ravel() == i)
            some = [levels for (_, _, *levels), here in zip(self.levels, pattern, strict=True) if here]
            out[rows] = averaged(scores[rows], some, prior[rows], calibration)
        return out

    def evidence(self, X: Any, x: Block | None = None) -> Evidence:
        """Scores by column, with the effect of averaging over missing levels as one more part."""
        x = self.block(X) if x is None else x
        found = super().evidence(X, x)
        with np.errstate(invalid="ignore"):
            rest = np.nan_to_num(self._of(x.rows(0, x.n)) - (found.base + found.parts.sum(axis=2)))
        rest -= rest.mean(axis=1, keepdims=True)  # a term that all classes share is no evidence
        if not self.gaps_in(x):
            return found
        nothing = np.full((len(found.cells), 1), "", dtype=object)
        return Evidence(
            found.base,
            np.concatenate([found.parts, rest[:, :, None]], axis=2),
            [*found.columns, MISSING],
            np.hstack([found.cells, nothing]),
        )

    def factors(self, X: Any, tally: Any) -> FactoredRows:
        if self.gaps_in(self.reader.read(X)):
            raise DataError(
                "missing='average' averages posteriors over missing levels: they are no product of fractions\n\n"
                f"hint: explain rows without missing levels, or use {in_decibans()}"
            )
        return super().factors(X, tally)

    def gaps_in(self, x: Any) -> bool:
        """Whether some row lacks a level."""
        return any((np.asarray(x.blocks[b].values)[:, c] < 0).any() for b, c, *_ in self.levels)

    def _check_few(self, missing: np.ndarray, start: int) -> None:
        """Raise an error for rows with too many combinations of missing levels."""
        sizes = np.array([np.log(len(share)) for *_, share in self.levels])
        many = sizes @ missing
        if (many > np.log(COMBINATIONS) + 1e-9).any():
            row = int(many.argmax())
            raise DataError(
                f"the missing levels of row {row + start} have {np.exp(many[row]):.3g} combinations, more than "
                f"{COMBINATIONS}\n\nhint: use missing='ignore', which integrates them out, or leave out columns of "
                "many levels"
            )


def levels_of_each(
    family: Any, params: tuple, counts: tuple, nominal: list[tuple[int, tuple[int, ...]]]
) -> tuple[tuple[int, int, np.ndarray, np.ndarray], ...]:
    """(block, column in the block, log θ (k, levels), P(level)) of each nominal column with levels, from a product of
    families, its parameters and its tallies."""
    out = []
    for b, _ in nominal:
        factor, p, t = family.factors[b], params[b], counts[b]
        shares = np.exp(log_shares(t.table.sum(axis=0, keepdims=True), t.offset, factor.pseudo_counts(t)))[0]
        parts = zip(p.columns(), np.split(shares, t.offset[1:-1]), strict=True)
        out += [(b, c, logs, share) for c, (logs, share) in enumerate(parts) if len(share)]
    return tuple(out)


def averaged(scores: np.ndarray, missing: list, prior: np.ndarray, calibration: Calibration | None) -> np.ndarray:
    """log Σ_b P(b) P(class | a, b) (n, k). `scores` are the log likelihoods of the known cells a; `missing` holds, for
    each missing column, the log likelihoods of its levels b (k, levels) and P(b); `prior` is (k,), or (n, k) by row."""
    n, k = scores.shape
    added, weight = np.zeros((1, k)), np.zeros(1)  # of every combination of levels
    with np.errstate(divide="ignore"):
        for logs, share in missing:
            added = (added[:, None, :] + logs.T).reshape(-1, k)
            weight = (weight[:, None] + np.log(share)).ravel()
    m, out = len(added), np.empty((n, k))
    step = max(1, BATCH // (m * k))
    prior = np.broadcast_to(prior, (n, k))
    for start in range(0, n, step):
        part = scores[start : start + step]
        each = (part[:, None, :] + added).reshape(-1, k)
        if calibration is not None:
            calibration.apply(each)
        own = np.repeat(prior[start : start + step], m, axis=0)
        each += own
        posterior = ops.posterior(np.ascontiguousarray(resolved(each, own)), logs=True)
        out[start : start + step] = np.logaddexp.reduce(posterior.reshape(len(part), m, k) + weight[:, None], axis=1)
    return out


def resolved(joint: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """`decision.resolve_impossible_rows` with a prior for each row, (n, k)."""
    if not ops.all_finite(joint):
        over = np.isposinf(joint)
        past, lost = over.any(axis=1), ~(np.max(joint, axis=1) > -np.inf)
        joint[past] = np.where(over[past], prior[past], -np.inf)
        joint[lost] = prior[lost]
    return joint


SHOWN = 20  # columns that are printed, at most


@dataclass(frozen=True, eq=False)
class LinearPosterior:
    """A posterior as a logistic (two classes) or softmax (more) function of the columns of a design.

    The design's columns are the cells themselves, unless the model is linear in others only: a nominal column is one of
    0 and 1 for each level (one of two levels: whether it is the second), and `as_logistic(degree=2)` has squares and
    products of two cells. `predict_proba`, `predict` and `decision_function` take the rows that the model takes.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes; coefficients of two classes are for the second.
    coef_, intercept_ : ndarrays of shape (1, columns) and (1,), or (k, columns) and (k,)
        Log odds of two classes, or a score for each of more.
    columns_ : list of str
        Names of the design's columns.
    absent_, present_ : ndarrays of shape (1 or k, columns)
        What a column of the design adds to the scores where it is 0, and where it is 1: the intercept is the log odds
        of the priors plus the sum of `absent_`, and `coef_` is `present_` − `absent_`. Naive Bayes only.
    quadratic_coef_ : ndarray of shape (1 or k, d, d)
        A of xᵀAx + bᵀx + c, where b is the first d columns of `coef_` and c is `intercept_`.
    binarize : float or None
        Cells above it count as 1, others as 0, as in `BernoulliNB`; None: cells are used unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> scores = LinearScores(np.array([[0.0], [2.0]]), np.array([0.0, 1.0]))
    >>> view = LinearPosterior.of(np.array(["a", "b"]), scores, ["size"])
    >>> view.coef_.tolist(), view.intercept_.tolist()
    ([[2.0]], [1.0])
    >>> view.predict(np.array([[0.0], [-1.0]])).tolist()
    ['b', 'a']
    >>> LinearPosterior.of(np.array(["a", "b"]), scores, ["size"], of="a").coef_.tolist()
    [[-2.0]]
    """

    classes_: np.ndarray
    scores: LinearScores  # one row for two classes, else k
    columns_: list[str]
    reader: Any = None  # of rows; None: they are arrays

    @classmethod
    def of(
        cls, classes: np.ndarray, scores: LinearScores, columns: list[str], reader: Any = None, of: Any = None
    ) -> LinearPosterior:
        """From a score for each class; two classes are reduced to their difference, for the class `of`."""
        if of is not None:
            place = decision.class_index(of, classes)
            if len(classes) != 2:
                raise DataError(
                    f"`of` names one of two classes, and there are {len(classes)}\n\n"
                    "hint: leave it out; `coef_` has a row for each class"
                )
            if place == 0:
                classes, scores = classes[::-1], scores.taken([1, 0])
        if len(classes) == 2:
            scores = scores.difference()
        names = columns if scores.terms is None else [term_name(term, columns, reader) for term in scores.terms]
        return cls(classes, scores, names, reader)

    @property
    def coef_(self) -> np.ndarray:
        return self.scores.coef

    @property
    def intercept_(self) -> np.ndarray:
        return self.scores.bias

    @property
    def binarize(self) -> float | None:
        return self.scores.above

    @property
    def absent_(self) -> np.ndarray:
        if self.scores.share is None:
            raise AttributeError("the columns of this model interact: none adds a part of its own where it is 0")
        return self.scores.share

    @property
    def present_(self) -> np.ndarray:
        return self.absent_ + self.coef_

    @property
    def quadratic_coef_(self) -> np.ndarray:
        terms = self.scores.explicit_terms()
        if any(term.level is not None or term.above is not None for term in terms):
            raise AttributeError("some columns of the design are levels: the scores are not a polynomial of the cells")
        d = len({term.columns or term.places for term in terms if len(term.places) == 1})
        out = np.zeros((len(self.coef_), d, d))
        for term, coef in zip(terms, self.coef_.T, strict=True):
            if len(term.places) == 2:
                i, j = term.columns or term.places
                out[:, i, j] += 0.5 * coef
                out[:, j, i] += 0.5 * coef
        return out

    def __repr__(self) -> str:
        """Coefficients in a table: a column for each class, or one for the second of two."""
        two, (m, d) = len(self.classes_) == 2, self.coef_.shape
        title = f"log odds of {self.classes_[-1]} against {self.classes_[0]}" if two else "scores, whose softmax it is"
        head = ["", *(["coef"] if two else [str(label) for label in self.classes_])]
        cells = [("intercept", self.intercept_), *zip(self.columns_[:SHOWN], self.coef_.T, strict=False)]
        rows = [(name, *(display.format_number(float(a)) for a in each[:m])) for name, each in cells]
        more = f"… and {d - SHOWN} more columns" if d > SHOWN else ""
        return display.Table(title, head, rows, notes=[more]).to_text()

    def design(self, X) -> Any:
        """The columns that the posterior is linear in, (n, columns): sparse where X is and they are its cells; NaN is
        missing."""
        if self.scores.terms is not None:
            x = self.reader.read(X)
            blocks = [_dense_cells(block) for block in (x.blocks if isinstance(x, Mixed) else (x,))]
            values = [term.values(blocks[term.block]) for term in self.scores.terms]
            return np.stack(values, axis=1) if values else np.zeros((x.n, 0))
        if not (sparse.issparse(X) or isinstance(X, np.ndarray)):
            X = np.asarray(X) if self.reader is None or isinstance(X, list) else _dense_cells(self.reader.read(X))
        if self.binarize is None:
            return X
        above = (self.binarize < X).astype(np.float64)  # a missing cell stays missing
        return above if sparse.issparse(X) else np.where(np.isnan(np.asarray(X, dtype=np.float64)), np.nan, above)

    def decision_function(self, X) -> np.ndarray:
        """log odds of the second class (n,), or a score for each class (n, k)."""
        X = self.design(X)
        missing = None
        if self.scores.share is not None and not sparse.issparse(X):
            X = np.asarray(X, dtype=np.float64)
            missing = np.isnan(X)
            X = np.nan_to_num(X, posinf=np.inf, neginf=-np.inf)
        scores = X @ self.coef_.T + self.intercept_
        if missing is not None and missing.any():
            scores = scores - missing @ self.absent_.T
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X) -> np.ndarray:
        scores = np.asarray(self.decision_function(X), dtype=np.float64)
        if len(self.classes_) == 2:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        return ops.posterior(np.ascontiguousarray(scores), logs=False)

    def predict(self, X) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _dense_cells(block: Block) -> np.ndarray:
    return np.asarray(block.values) if isinstance(block, Codes) else block.rows(0, block.n).dense()  # type: ignore[union-attr]


def term_name(term: Term, columns: list[str], reader: Any) -> str:
    """The name of a column of a design: `size`, `size²`, `size·age`, `sky=grey`, `sky missing`."""
    at = term.columns or term.places
    first, last = columns[at[0]], columns[at[-1]]
    if len(at) == 2:
        return f"{first}²" if at[0] == at[1] else f"{first}·{last}"
    if term.level is None:
        return first
    schema, known = reader.schema, reader.level_names
    if known is None:
        return first if term.levels == 2 else f"{first}={term.level}"
    if schema is not None and schema.gaps is not None and term.block == len(schema.groups) - 1:
        return f"{first} missing"
    levels = known[at[0]]
    return f"{first}={levels[term.level] if term.level < len(levels) else '(unseen)'}"
