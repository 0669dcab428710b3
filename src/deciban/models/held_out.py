"""Leave-one-out: what the model would say of each row had it never seen that row, without fitting again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from deciban import decision, ops
from deciban.data.blocks import Block, Table, borders
from deciban.data.sampling import draw_rows
from deciban.engines import threads
from deciban.errors import ForgetError, NotAdditiveError
from deciban.models.calibration import Calibration
from deciban.tallies import Bundle

ENOUGH = 1 << 13  # rows to calibrate by
LOST = 700.0  # nats: what a held-out row with probability 0 costs
SPAN = 1 << 18  # cells a span of rows has, at least: its arrays stay in cache


class LeavingOut:
    """Mixin: needs `_check_is_fitted() -> Fitted`, `_table`, `_family`, `_estimate`, `_log_prior`."""

    _check_is_fitted: Callable[[], Any]
    _check_additive: Callable[[], None]
    _training: Callable[..., tuple[Block, np.ndarray]]
    _table: Callable[[Block, np.ndarray, Any], Table]
    _tally_chunk: Callable[[Any, Table], Bundle]
    _family: Callable[..., Any]
    _estimate: Callable[[Any, Bundle], Any]
    _log_prior: Callable[[np.ndarray], np.ndarray]
    _prior: Callable[..., np.ndarray]
    _reads: str
    _set: Callable[..., None]
    _fitted: Any
    _picked: dict[str, float] = {}
    classes_: np.ndarray

    def leave_one_out(self, X, y, sample_weight=None, *, priors=None) -> np.ndarray:
        """Log probabilities of the classes of each row, by the model without that row.

        These are the numbers of fitting once for each row, from one pass: each row is taken out of the sufficient
        statistics in closed form. A calibrated model keeps its temperature and biases.

        Parameters
        ----------
        X, y, sample_weight
            Rows among those that were learned, with the labels and weights they were learned with.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model, as in `predict_proba`.

        Returns
        -------
        ndarray of shape (n, k)
            log P(class | x) in the order of `classes_`; `np.exp` of it are probabilities.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.0], [4.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
        >>> model = GaussianNB(var_smoothing=0.1).fit(X, y)
        >>> model.predict(X).tolist()[3], model.classes_[model.leave_one_out(X, y).argmax(axis=1)].tolist()[3]
        ('b', 'a')
        """
        fitted = self._check_is_fitted()
        self._check_additive()
        x, y = self._training(X, y, reset=False)
        table = self._table(x, y, sample_weight)
        self._check_learned(fitted, table)
        if priors is None:
            prior, fallback = self._held_out_prior(fitted, table), decision.log_prior(fitted.tally.parts[0].n)
        else:
            fallback = self._prior(fitted, priors)
            prior = np.broadcast_to(fallback, (table.n, table.k))
        out = np.empty((table.n, table.k))

        def finish(scores: np.ndarray, start: int, stop: int) -> None:
            if fitted.calibration is not None:
                fitted.calibration.apply(scores)
            scores += prior[start:stop]
            ops.posterior(decision.resolve_impossible_rows(scores, fallback), logs=True, out=out[start:stop])

        self._held_out(fitted.tally, fitted.family, table, finish)
        return out

    def _check_learned(self, fitted: Any, table: Table) -> None:
        """Refuse rows that outweigh their class: they were not learned."""
        n, most = fitted.tally.parts[0].n, np.ones(table.k)
        if table.w is not None:
            most = np.zeros(table.k)
            np.maximum.at(most, table.y, table.w)
        short = np.isin(np.arange(table.k), table.y) & (most > n * (1 + 1e-9))
        if short.any():
            raise ForgetError(
                f"class {self.classes_[short].tolist()} has less weight in the model than one of these rows\n\n"
                "hint: leave out only rows (and weights) that went through fit or partial_fit"
            )

    # inside

    def _held_out(self, tally: Bundle, family: Any, table: Table, finish: Callable | None = None) -> np.ndarray:
        """Log likelihoods (n, k) of each row under every class, the row itself taken out of the tally; or none, where
        `finish` takes them, span by span."""
        spans = borders(table.n, table.x.cells, max(SPAN, table.k * table.d // 4))

        def of(span: tuple[int, int]) -> np.ndarray | None:
            chunk = table.rows(*span)
            with np.errstate(all="ignore"):
                out = self._leave_one_out(family, tally, chunk)
                if not ops.all_finite(out):
                    for row in np.flatnonzero(np.isnan(out).any(axis=1)).tolist():  # no closed form: the long way
                        out[row] = self._without(family, tally, chunk.rows(row, row + 1))
                return out if finish is None else finish(out, *span)

        parts = list(threads.map_ordered(spans, of))
        return np.concatenate(parts) if finish is None else np.empty((0, table.k))

    def _leave_one_out(self, family: Any, tally: Bundle, chunk: Table) -> np.ndarray:
        """The family's closed form; NaN in a row for which it has none."""
        return family.leave_one_out(tally.parts[1], chunk.x, chunk.y, chunk.w)

    def _without(self, family: Any, tally: Bundle, row: Table) -> np.ndarray:
        left = tally - self._tally_chunk(family, row)
        return family.loglik(self._estimate(family, left), row.x)

    def _held_out_prior(self, fitted: Any, table: Table) -> np.ndarray:
        """log priors (n, k) of each row, its own weight taken out."""
        n = fitted.tally.parts[0].n
        if not fitted.family.uses_prior and len(n) > 1:
            return np.zeros((table.n, len(n)))
        if table.w is None:
            which, kinds = table.y, [(c, 1.0) for c in range(table.k)]
        else:
            amounts, at = np.unique(table.w, return_inverse=True)
            pairs, which = np.unique(table.y.astype(np.int64) * len(amounts) + at.ravel(), return_inverse=True)
            kinds = [(int(pair // len(amounts)), amounts[pair % len(amounts)]) for pair in pairs]
        logs = np.empty((len(kinds), len(n)))
        for row, (c, w) in enumerate(kinds):
            left = n.copy()
            left[c] = max(left[c] - w, 0.0)
            logs[row] = self._log_prior(left)
        return logs[which.ravel()]

    def _calibration(self, tally: Bundle, family: Any, table: Table) -> Calibration:
        """Temperature and biases from rows judged by the model without them: all, or some drawn from each class."""
        enough = max(ENOUGH, 512 * table.k)
        if table.n > enough:
            at = draw_rows(table.y, enough)
            w = None if table.w is None else table.w[at]
            table = Table(table.x.take(at), table.y[at], w, table.k)
        prior = self._held_out_prior(self._check_is_fitted(), table)
        return Calibration.fit(self._held_out(tally, family, table), prior, table.y, table.w)

    # settings chosen by leave-one-out

    _tunable: dict[str, tuple[str, tuple[float, ...]]] = {}  # setting → (the word that asks for it, the candidates)

    def _setting(self, name: str) -> Any:
        """A setting's value: what was given, or what leave-one-out chose."""
        value = getattr(self, name)
        if name in self._asked():
            return self._picked.get(name, self._tunable[name][1][0])
        return value

    def _asked(self) -> list[str]:
        """The settings that the rows shall choose."""
        return [
            name
            for name, (word, _) in self._tunable.items()
            if isinstance(getattr(self, name), str) and getattr(self, name) == word
        ]

    @property
    def tuned_(self) -> dict[str, float]:
        """The settings that leave-one-out chose, and their values."""
        self._check_is_fitted()
        return dict(self._picked)

    def _tune(self, table: Table) -> None:
        """Choose what is left to the rows, then calibrate."""
        asked = self._asked()
        if asked:
            grid = product(*(self._tunable[name][1] for name in asked))
            trials = [dict(zip(asked, values, strict=True)) for values in grid]
            losses = [self._held_out_loss(trial, table) for trial in trials]
            self._picked = trials[int(np.argmin(losses))]
            self._set(self._fitted.tally)
        if getattr(self, "calibrate", False):
            fitted = self._fitted
            fitted.calibration = self._calibration(fitted.tally, fitted.family, table)

    def _held_out_loss(self, trial: dict[str, float], table: Table) -> float:
        """The leave-one-out log loss with these settings."""
        self._picked = trial
        self._set(self._fitted.tally)
        fitted = self._fitted
        joint = self._held_out(fitted.tally, fitted.family, table) + self._held_out_prior(fitted, table)
        joint = decision.resolve_impossible_rows(joint, decision.log_prior(fitted.tally.parts[0].n))
        logs = ops.posterior(np.ascontiguousarray(joint), logs=True)
        own = np.maximum(logs[np.arange(table.n), table.y], -LOST)
        return -float(own.sum() if table.w is None else table.w @ own)

    def _check_updatable(self) -> None:
        """Refuse to update, merge or forget what was tuned on all rows at once."""
        self._check_additive()
        needs = [f"{name}={getattr(self, name)!r}" for name in self._asked()]
        if getattr(self, "calibrate", False):
            needs.append("calibrate=True")
        if needs:
            raise NotAdditiveError(
                f"{' and '.join(needs)} looks at all rows at once: no update, merge or forgetting\n\n"
                "hint: fit again on all rows, or fix the setting to a number (see `tuned_`) and leave out `calibrate`"
            )
