"""Frames with columns that are no numbers, into models of counts: an error by name, never a guess. (Other models code
such columns: `tests/laws/test_tables.py`.)"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deciban
from deciban.errors import DataError

Y = [0, 1] * 5
COUNTS = ("MultinomialNB", "ComplementNB", "PoissonNB")
NAMES = (
    "LogisticRegression",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "FisherDiscriminant",
    "GaussianNB",
    "BernoulliNB",
    "CategoricalNB",
    *COUNTS,
)
DAYS = pd.date_range("2020", periods=10)
FRAMES = {  # frame, the column to be named, what it holds
    "a date alone": (pd.DataFrame({"when": DAYS}), "when", "dates"),
    "a date with a zone": (pd.DataFrame({"when": DAYS.tz_localize("UTC")}), "when", "dates"),
    "a date of polars": (pl.DataFrame({"when": DAYS.to_numpy()}), "when", "dates"),
    "a date of Arrow": (pa.table({"when": DAYS}), "when", "dates"),
    "a date among objects": (pd.DataFrame({"when": DAYS.date}), "when", "dates, datetime.date"),
    "a number and a date": (pd.DataFrame({"n": range(10), "when": DAYS}), "when", "dates"),
    "a duration": (pd.DataFrame({"took": pd.to_timedelta(range(10), unit="h")}), "took", "durations"),
    "a period": (pd.DataFrame({"month": pd.period_range("2020", periods=10, freq="M")}), "month", "Period"),
    "text": (pd.DataFrame({"n": range(10), "s": ["a", "b"] * 5}), "s", "text, 'a' in row 0"),
    "digits as text": (pd.DataFrame({"zip": ["01234", "02345"] * 5}), "zip", "text"),
    "categories": (pd.DataFrame({"c": pd.Categorical(["x", "y"] * 5), "b": [True, False] * 5}), "c", "categories"),
    "text of polars": (pl.DataFrame({"n": range(10), "s": ["a", "b"] * 5}), "s", "text"),
    "numbers and text": (pd.DataFrame({"m": [*range(9), "nine"]}, dtype=object), "m", "text, 'nine' in row 9"),
    "lists": (pd.DataFrame({"m": [[1, 2]] * 10}), "m", "list"),
}


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("frame", FRAMES)
def test_b08_b26_columns_that_are_no_numbers_are_named(name, frame):
    X, column, what = FRAMES[frame]
    model = getattr(deciban, name)()
    with pytest.raises(DataError, match=f"column `{column}` holds {what}.*\n\nhint: "):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("name", NAMES)
def test_b08_dates_are_refused_at_prediction_too(name):
    numbers = pd.DataFrame({"when": [1.0, 2, 3, 3, 1, 2, 3, 4, 1, 2], "n": [0, 1, 1, 0, 1, 0, 0, 1, 1, 1]})
    model = getattr(deciban, name)().fit(numbers, Y)
    with pytest.raises(DataError, match="column `when` holds dates"):
        model.predict_proba(numbers.assign(when=DAYS))


@pytest.mark.parametrize("name", ["LogisticRegression", "GaussianNB"])
def test_b08_arrays_of_dates(name):
    with pytest.raises(DataError, match="X holds dates"):
        getattr(deciban, name)().fit(DAYS.to_numpy()[:, None], Y)
    with pytest.raises(DataError, match="column 0 holds dates"):
        getattr(deciban, name)().fit(DAYS.to_numpy(dtype=object)[:, None], Y)
    with pytest.raises(DataError, match="column 0 holds text"):
        getattr(deciban, name)().fit([["a"], ["b"]] * 5, Y)


@pytest.mark.parametrize("name", NAMES)
def test_b26_frames_of_numbers_are_taken_as_before(name):
    plain = np.array([[0, 1], [1, 1], [2, 0], [1, 0], [2, 1], [0, 0], [1, 1], [2, 0], [0, 1], [1, 0]], dtype=float)
    whole, truth = plain[:, 0].astype(int), plain[:, 1] == 1
    same = getattr(deciban, name)().fit(plain, Y).predict_proba(plain)
    for frame in (
        pd.DataFrame({"a": whole, "b": truth}),
        pd.DataFrame({"a": pd.array(whole, dtype="Int64"), "b": pd.array(truth, dtype="boolean")}),
        pd.DataFrame({"a": pd.Series(whole, dtype="int64[pyarrow]"), "b": pd.Series(truth, dtype="bool[pyarrow]")}),
        pd.DataFrame({"a": pd.Series(whole, dtype=object), "b": pd.Series(truth, dtype=object)}),
        pl.DataFrame({"a": whole, "b": truth}),
        pa.table({"a": whole, "b": truth}),
    ):
        assert np.allclose(getattr(deciban, name)().fit(frame, Y).predict_proba(frame), same, atol=1e-12)


def test_task_47_a_hint_for_levels_of_text():
    with pytest.raises(DataError, match=r"hint: MixedNB takes such columns.*OrdinalEncoder"):
        deciban.CategoricalNB().fit([["a"], ["b"]] * 5, Y)
