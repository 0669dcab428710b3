"""The second stage of a model: what is fitted to held-out rows after the tally is known.

Tuned settings, a calibration and feature weights are functions of the tally and the sample of rows that a state keeps.
They are computed by `fit`, and again at the first question after rows were added or removed, so that the model equals
one that was fitted to the same rows.
"""

from __future__ import annotations

from deciban.models import held_out
from deciban.models.learn_feature_weights import weighted
from deciban.models.model import State


def fitted(state: State) -> State:
    """The state with a second stage fitted to its tally and its sample."""
    spec = state.spec
    if not state.stale or state.empty:
        return state
    assert state.sample is not None
    rows = state.sample.selected(state.n)
    if spec.tune:
        state = held_out.tuned(state, rows)
    if spec.calibrate:
        state = held_out.calibrated(state, rows)
    if spec.feature_weights:
        state = weighted(state, rows)
    return state.adjusted(stale=False)
