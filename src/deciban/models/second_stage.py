"""The second stage of a model: what is fitted to held-out rows after the tally is known.

Tuned settings, a calibration and feature weights are functions of the tally and the sample of rows that a state keeps.
They are computed by `fit`, and again at the first question after rows were added or removed, so that the model equals
one that was fitted to the same rows. While the sample holds all rows, so are the cuts of numbers, and the tally of the
levels that they make.

Joint tables need counts that the tally of naive Bayes does not have. While the sample holds all rows, it chooses the
tables, and they are counted in it. Beyond that they are *settled*: `known.tables` are the chosen ones, whose counts are
the third part of the tally.
"""

from __future__ import annotations

from deciban.errors import MergeError
from deciban.models import choose_tables, held_out
from deciban.models.choose_tables import with_tables
from deciban.models.learn_feature_weights import weighted
from deciban.models.model import State
from deciban.rows.rows import Rows


def fitted(state: State) -> State:
    """The state with a second stage fitted to its tally and its sample."""
    if not state.stale or state.empty:
        return state
    assert state.sample is not None
    if state.finds_cuts and not state.settled:
        state = state.recut(state.sample.all_rows())
    return with_second_stage(state)


def with_second_stage(state: State) -> State:
    """The same for a state whose cuts are those of its rows."""
    spec = state.spec
    if not spec.second_stage or state.sample is None:
        return state.adjusted(stale=False) if state.stale else state
    rows = state.sample.selected(state.n)
    if spec.tune:
        some = state.sample.resized(min(spec.tune_rows, spec.sample_size)).selected(state.n)
        state = held_out.tuned(state, some)
    if spec.calibrate:
        state = held_out.calibrated(state, rows)
    if spec.feature_weights:
        state = weighted(state, rows)
    if spec.interactions:
        state = with_tables(state, rows)
    return state.adjusted(stale=False)


def with_settled_tables(state: State, rows: Rows) -> State:
    """The state of rows with settled tables, if it needs joint tables and its sample does not hold all rows."""
    if not state.spec.interactions or state.sample is None or state.sample.complete:
        return state
    return choose_tables.settled(state, choose_tables.chosen_by(state), rows)


def settled(state: State) -> State:
    """The state with the tables that its sample, of all rows, chooses."""
    return choose_tables.settled(state, choose_tables.chosen_by(state))


def is_open(state: State) -> bool:
    """Whether the tables of a state can neither be chosen nor counted: some rows are not in the sample."""
    sample = state.sample
    return state.spec.interactions and state.known.tables is None and sample is not None and not sample.complete


def plus(a: State, b: State) -> State:
    """The state of the rows of both states. Where these are too many for a sample, settled tables stay; of two models
    with none, the first one's are taken."""
    known = [one.known.tables for one in (a, b) if one.known.tables is not None]
    if not known:
        both = a.plus(b)
        if not is_open(both):
            return both
        known = [choose_tables.chosen_by(a if a.n.any() else b)]
    if not known[0].equals(known[-1]):
        raise MergeError(
            "the tables of the two models were chosen from the rows of each, so their counts do not add up\n\n"
            "hint: fit one on all rows, or go on with its copies by `partial_fit`: these have the same tables"
        )
    return choose_tables.settled(a, known[0]).plus(choose_tables.settled(b, known[0]))
