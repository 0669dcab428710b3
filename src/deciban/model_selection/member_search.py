"""Search among candidate models: which predict held-out rows best, and with what weights they are mixed.

Candidates race on samples by content, of which the better half goes on to more rows (successive halving: Jamieson and
Talwalkar 2016). The last ones are compared on all rows, if there is time for it, and fitted to them. The weights of the
mix maximise the probability of held-out rows (stacking: Yao, Vehtari, Simpson and Gelman 2018), found by EM, with three
pseudo-rows that all candidates share equally. So does a temperature: the mean of probabilities that are right is too
cautious (Ranjan and Gneiting 2010).

    mean(class | x) = Σ_m w_m P_m(class | x)
    P(class | x) ∝ prior(class) · (mean(class | x) / prior(class))^temperature

Numbers that a candidate chooses by held-out rows of its own (a penalty, a bandwidth, a shrinkage) are chosen in the
first fold, hold in the other folds, and are chosen again on all rows: most of the time of such a fit is the choice.

The mix is used unless a single candidate predicts held-out rows better than the mix, whose weights are then learned
from other rows than it predicts, by more than one standard error of the difference. On fewer than 300 rows differences
between candidates are mostly noise, and a choice by them would be worse than the mean: every candidate is in the mix.

>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 40)
>>> from deciban import GaussianNB, MixedNB
>>> from deciban.rows.raw_rows import RawArrays
>>> rows = RawArrays(rng.normal(size=(80, 2)) + 2.0 * (y == "b")[:, None], y)
>>> members = [Member.of("normal", GaussianNB()), Member.of("mixed", MixedNB())]
>>> found = MemberSearch(rows, n_folds=5).choose(members)
>>> [member.name for member in found.members], len(found.weights), found.leaderboard.how
(['normal', 'mixed'], 2, '5 folds')
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from deciban import decision, metrics
from deciban.classifiers.base import InvalidParameterError
from deciban.classifiers.ensemble import Member
from deciban.errors import DataError
from deciban.model_selection.leaderboard import Leaderboard, Standing, difference, weighted_mean
from deciban.models import hypotheses
from deciban.rows.raw_rows import HeldOut, RawRows, RawSample

MIX = "(mix)"  # the name of the mix in a leaderboard
FIRST, GROWTH = 1000, 4  # rows of the first sample; how many times as many the next one has
RACE_FOLDS = 3  # in which samples are held out, at most
FEWEST = 3  # candidates that a race keeps at least
PSEUDO_ROWS = 3.0  # by which the weights of the mix are pulled to equal ones
LEAST = 0.02  # weight in the mix below which a candidate is left out
ENOUGH = 300  # rows below which the mix is of all candidates
WEIGHT_FOLDS = 5  # in which the weights of the mix are learned again to judge it
Report = Callable[[str, float | None], None]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Fitted models, their weights, and how all candidates did."""

    members: list[Member]
    weights: np.ndarray  # (m,)
    leaderboard: Leaderboard
    left_out: dict[str, str]  # name → reason
    temperature: float = 1.0  # of the mix


@dataclass(frozen=True, eq=False)
class Predicted:
    """The held-out predictions of one candidate."""

    member: Member
    log_proba: np.ndarray  # (p, k)
    seconds: float  # of one fit, on the rows that it was compared on


@dataclass(frozen=True, eq=False)
class Round:
    """Candidates that predicted the same held-out rows."""

    held: HeldOut
    codes: np.ndarray  # (p,), the class of each row
    predicted: list[Predicted]
    rows: int  # rows that candidates were compared on
    how: str

    @cached_property
    def logs(self) -> np.ndarray:
        """log P (m, p, k) by each candidate."""
        return np.stack([one.log_proba for one in self.predicted])

    @cached_property
    def log_prior(self) -> np.ndarray:
        """Of the classes, (k,)."""
        return decision.log_prior(np.bincount(self.codes, self.held.weights, minlength=self.logs.shape[2]))

    @property
    def own(self) -> np.ndarray:
        """log P of the class of each row by each candidate, (m, p)."""
        return self.logs[:, np.arange(len(self.codes)), self.codes]

    @property
    def scored(self) -> np.ndarray:
        """Rows whose class the other folds have, (p,)."""
        return np.asarray((self.own > -np.inf).any(axis=0))

    def losses(self, log_proba: np.ndarray) -> np.ndarray:
        """−log P(class) of each row (p,), NaN where it is not scored."""
        return np.where(self.scored, -log_proba[np.arange(len(self.codes)), self.codes], np.nan)

    def log_loss(self, log_proba: np.ndarray) -> float:
        """Mean log loss of the rows that are scored."""
        return weighted_mean(self.losses(log_proba), self.held.weights)[0]

    def is_better(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether one prediction (p, k) has a lower log loss than another, by more than one standard error."""
        less, error = difference(self.losses(other), self.losses(one), self.held.weights)
        return less > error

    def weights(self, members: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The weights of some candidates in the mix, from some rows."""
        own, w = self.own[members][:, rows], self.held.weights[rows]
        return hypotheses.stacking_weights(own, np.ones(len(members)), w, PSEUDO_ROWS)

    def temperature(self, members: np.ndarray, weights: np.ndarray, rows: np.ndarray | slice = slice(None)) -> float:
        """The temperature of the mix of some candidates, from some rows."""
        mean = hypotheses.bayes_optimal(self.logs[members][:, rows], weights)
        return hypotheses.best_temperature(mean, self.log_prior, self.codes[rows], self.held.weights[rows])

    def mixed(self) -> np.ndarray:
        """log P (p, k) by the mix: weights and temperature for a row are learned without it."""
        out, every = np.empty_like(self.logs[0]), np.arange(len(self.logs))
        fold = np.arange(len(out)) % WEIGHT_FOLDS  # rows are in the order of classes and contents
        for f in range(WEIGHT_FOLDS):
            rows = fold == f
            if rows.any():
                weights = self.weights(every, ~rows)
                mean = hypotheses.bayes_optimal(self.logs[:, rows], weights)
                out[rows] = hypotheses.sharpened(mean, self.log_prior, self.temperature(every, weights, ~rows))
        return out


@dataclass(eq=False)
class MemberSearch:
    """Compares candidates on rows within a time: no fit is cut, but none is started that would end too late."""

    rows: RawRows
    n_folds: int = 5
    max_time: float | None = None  # seconds
    report: Report = lambda text, share: None
    mixes: bool = True
    left_out: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # name → (rows, time of a fit)

    def __post_init__(self) -> None:
        self.start = time.monotonic()
        self.sample: RawSample = self.rows.sample()
        self.first_error: BaseException | None = None

    def choose(self, members: Sequence[Member]) -> Outcome:
        """The best of the members, or their mix, fitted to all rows. If none could learn, the first error is raised."""
        there, last = list(members), None
        for size in race_sizes(self.sample.rows):
            found = self._compare(there, self.sample.subset(size), size, last is None)
            if found is not None:
                there = self._survivors(found)
                last = replace(found, predicted=[one for one in found.predicted if one.member in there])
        if last is not None and self._is_final(last):
            return self._fitted(last)
        found = self._compare(there, self.rows, self.sample.rows, last is None) or last
        if found is None:
            raise self._nothing_learned()
        return self._fitted(found)

    def alone(self, member: Member, why: str) -> Outcome:
        """One member for rows on which candidates are not compared; it is scored by held-out rows where it can be."""
        found = self._compare([member], self.rows, self.sample.rows) if len(self.sample.y) > 1 else None
        self.left_out.clear()
        self.first_error = None
        fitted = self._fit(member)
        if fitted is None:
            raise self._nothing_learned()
        if found is None or not found.scored.any():
            board = Leaderboard.of([Standing(member.name, None)], why)
        else:
            board = self._board(found)
        board = board.with_weights({member.name: 1.0}, {member.name: why})
        return Outcome([fitted], np.ones(1), board, {})

    # comparison

    def _compare(self, members: Sequence[Member], rows: RawRows, n: int, needed: bool = True) -> Round | None:
        """Held-out predictions of the members; None if there are none. `needed`: the first of them is tried even if
        no time is left."""
        race = rows is not self.rows
        held = rows.sample().hold_out(min(self.n_folds, RACE_FOLDS)) if race else self.sample.hold_out(self.n_folds)
        parts = [rows.without(held.left_out(group)) for group in range(held.groups)]
        some = f" of {n:,} of {self.sample.rows:,} rows" if race else ""
        predicted: list[Predicted] = []
        for number, member in enumerate(members):
            later = sum(self._estimate(one.member, self.sample.rows) for one in predicted)  # their last fits
            own = held.groups * self._estimate(member, n) + self._estimate(member, self.sample.rows)
            if self._left < own + later and not (needed and not predicted):
                self._leave_out(member, self._too_slow(own))
                continue
            out = np.full((len(held.row), len(self.rows.classes)), -np.inf)
            model = member  # with what the first fold chooses
            try:
                for group, part in enumerate(parts):
                    rest = (held.groups - group) * self._estimate(member, n) + self._estimate(member, self.sample.rows)
                    if group and predicted and self._left < rest + later:
                        raise OutOfTime(self._too_slow(rest))
                    fold = f", fold {group + 1} of {held.groups}" if held.groups > 1 else ""
                    self.report(f"{member.name}{some}{fold}", (number + group / held.groups) / len(members))
                    start = time.monotonic()
                    at, found, fitted = model.predict_group(held, group, part, self.rows.classes)
                    self._time(member, n, time.monotonic() - start)
                    out[at] = found
                    model = model.with_choices_of(fitted)
            except InvalidParameterError:
                raise
            except OutOfTime as why:
                self._leave_out(member, str(why))
                continue
            except Exception as wrong:  # of any library
                self._failed(member, wrong)
                continue
            predicted.append(Predicted(member, out, self.seconds[member.name][-1][1]))
        if not predicted:
            return None
        return Round(held, held.codes(self.rows.classes), predicted, n, f"{held.description}{some}")

    def _survivors(self, found: Round) -> list[Member]:
        """The better half of a race, and those that have weight in its mix; the best first."""
        losses = [found.log_loss(one.log_proba) for one in found.predicted]
        weights = found.weights(np.arange(len(losses)))
        order = np.argsort(losses, kind="stable")
        most = max(FEWEST, -(-len(order) // 2))
        kept = [i for place, i in enumerate(order) if place < most or weights[i] > 1 / len(order)]
        for i in order:
            if i not in kept:
                self._leave_out(
                    found.predicted[i].member,
                    f"not in the better half on {found.rows:,} rows (log loss {losses[i]:.4f}, the best "
                    f"{losses[order[0]]:.4f})",
                )
        return [found.predicted[i].member for i in kept]

    def _is_final(self, last: Round) -> bool:
        """Whether the choice of the last race stands: there is time to fit its best candidate to all rows, but not to
        compare those of its mix on them, so that some would be left out."""
        losses = [last.log_loss(one.log_proba) for one in last.predicted]
        weights = last.weights(np.arange(len(losses)))
        each = np.array([self._estimate(one.member, self.sample.rows) for one in last.predicted])
        best, groups = int(np.argmin(losses)), self.sample.hold_out(self.n_folds).groups
        mixed = (weights >= LEAST) & (each <= self._left)
        mixed[best] = True
        return bool(each[best] <= self._left < (groups + 1) * each[mixed].sum())

    # the choice

    def _fitted(self, found: Round) -> Outcome:
        """The members in use, fitted to all rows."""
        board, mix = self._board(found), found.mixed() if self.mixes else None
        losses = np.array([found.log_loss(one.log_proba) for one in found.predicted])
        chosen = np.arange(len(losses))
        weights = found.weights(chosen)
        few = found.held.weights.sum() < ENOUGH  # a weight stands for copies
        while not few and (weights < LEAST).any():
            chosen = chosen[weights >= LEAST] if (weights >= LEAST).any() else chosen[[int(weights.argmax())]]
            weights = found.weights(chosen)
        better = partial(found.is_better, found.predicted[int(losses.argmin())].log_proba)
        if mix is None or (not few and better(mix)):
            chosen = np.argsort(losses, kind="stable")[:1]
        members = self._fit_each(found, chosen, losses)
        names = [one.member.name for one in found.predicted]
        used = np.array([names.index(member.name) for member in members])
        weights = found.weights(used) if len(used) > 1 else np.ones(1)
        own = {member.name: float(w) for member, w in zip(members, weights, strict=True)}
        board = board.with_weights(own, self.left_out)
        temperature = found.temperature(used, weights) if len(used) > 1 else 1.0
        return Outcome(members, weights, board, dict(self.left_out), temperature)

    def _fit_each(self, found: Round, chosen: np.ndarray, losses: np.ndarray) -> list[Member]:
        """The chosen members that could be fitted; if none could, the next best one."""
        others = [i for i in np.argsort(losses, kind="stable") if i not in chosen]
        out: list[Member] = []
        for i in [*chosen[np.argsort(losses[chosen], kind="stable")], *others]:
            if out and i in others:
                break
            member = found.predicted[i].member
            lasts = self._estimate(member, self.sample.rows)
            if out and self._left < lasts:
                self._leave_out(member, self._too_slow(lasts))
                continue
            fitted = self._fit(member)
            out += [] if fitted is None else [fitted]
        if not out:
            raise self._nothing_learned()
        return out

    def _fit(self, member: Member) -> Member | None:
        """The member fitted to all rows; None where it cannot be."""
        self.report(f"{member.name}, all rows", None)
        try:
            return member.learn(self.rows)
        except InvalidParameterError:
            raise
        except Exception as wrong:  # of any library
            self._failed(member, wrong)
            return None

    def _board(self, found: Round) -> Leaderboard:
        w, scored = found.held.weights, found.scored
        standing = partial(Standing.from_predictions, y=found.codes, w=w, scored=scored)
        lines = [standing(one.member.name, log_proba=one.log_proba, seconds=one.seconds) for one in found.predicted]
        if self.mixes and len(lines) > 1:
            lines.append(standing(MIX, log_proba=found.mixed()))
        lines += [Standing(name, None, note=why) for name, why in self.left_out.items()]
        base = metrics.prior_log_loss(found.codes[scored]) if scored.any() else np.nan
        return Leaderboard.of(lines, found.how, base, w)

    # time

    @property
    def _left(self) -> float:
        """Seconds that are left."""
        return np.inf if self.max_time is None else self.max_time - (time.monotonic() - self.start)

    def _time(self, member: Member, n: int, seconds: float) -> None:
        known = self.seconds.setdefault(member.name, [])
        if known and known[-1][0] == n:  # the folds of one round: the longest of them counts
            known[-1] = (n, max(known[-1][1], seconds))
        else:
            known.append((n, seconds))

    def _estimate(self, member: Member, n: int) -> float:
        """Seconds of a fit to n rows, from those to fewer; 0: not known. The time grows by the power of n that the last
        two samples show, in proportion to n where there was one sample."""
        known = self.seconds.get(member.name)
        if not known:
            return 0.0
        rows, seconds = known[-1]
        power = 1.0
        if len(known) > 1 and seconds > 0 and known[-2][1] > 0:
            power = np.log(seconds / known[-2][1]) / np.log(rows / known[-2][0])
        return float(seconds * (n / rows) ** np.clip(power, 0.5, 2.0))

    def _too_slow(self, seconds: float) -> str:
        return f"not fitted: it takes about {seconds:.0f} s, and {max(self._left, 0):.0f} s of max_time are left"

    # members that are left out

    def _leave_out(self, member: Member, why: str) -> None:
        self.left_out[member.name] = why

    def _failed(self, member: Member, wrong: Exception) -> None:
        self.first_error = self.first_error or wrong
        self._leave_out(member, str(wrong).split("\n")[0] or type(wrong).__name__)

    def _nothing_learned(self) -> BaseException:
        if self.first_error is not None:
            return self.first_error
        why = "; ".join(f"{name}: {reason}" for name, reason in self.left_out.items())
        return DataError(f"no classifier could learn from these rows ({why})\n\nhint: check the rows and the target")


class OutOfTime(Exception):
    """A member is left out, as its next fit would end too late."""


def race_sizes(rows: int) -> list[int]:
    """Rows of the samples that candidates race on before they are compared on all rows.

    >>> race_sizes(900), race_sizes(5000), race_sizes(50_000)
    ([], [1000], [1000, 4000])
    """
    out, size = [], FIRST
    while 2 * size < rows and size <= FIRST * GROWTH:
        out.append(size)
        size *= GROWTH
    return out
