"""Models whose parameters a user gives instead of rows: the state of such a model.

Its tally is that of no rows, with the class priors as class weights: priors, posterior, samples and explanations follow
as for a model that learned from rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban import families
from deciban.data.blocks import Table
from deciban.data.frames import column_labels
from deciban.decision import check_priors
from deciban.display import format_choices
from deciban.errors import DataError
from deciban.estimation.parameters import read_column, read_parameters, sizes
from deciban.models.model import Known, Spec, State, empty_block, tally_of
from deciban.rows.labels import label_codes
from deciban.rows.schema import Field, Schema
from deciban.tallies import Bundle, ClassWeights


@dataclass(frozen=True, eq=False)
class GivenClasses:
    """Classes and their priors, in the order of a user; a model has them sorted.

    >>> found = GivenClasses.of(["spam", "ham"], {"ham": 0.9, "spam": 0.1}, 2)
    >>> found.sorted.tolist(), found.order.tolist(), found.prior[found.order].tolist()
    (['ham', 'spam'], [1, 0], [0.9, 0.1])
    """

    labels: np.ndarray  # (k,), in the order of the user
    sorted: np.ndarray  # (k,)
    order: np.ndarray  # (k,): sorted[c] is labels[order[c]]
    prior: np.ndarray  # (k,), in the order of the user

    @classmethod
    def of(cls, classes: Any, class_prior: Any, k: int) -> GivenClasses:
        """`classes` by default 0 … k − 1, `class_prior` by default uniform."""
        labels = np.arange(k) if classes is None else np.asarray(classes)
        if labels.ndim != 1 or len(labels) == 0:
            raise DataError(f"`classes` is {classes!r}\n\nhint: give a list of labels")
        found, codes = label_codes(labels)
        if len(found) < len(labels):
            twice = [label for label in found.tolist() if labels.tolist().count(label) > 1]
            raise DataError(f"`classes` names {twice[0]!r} twice\n\nhint: name every class once")
        prior = check_priors("uniform" if class_prior is None else class_prior, labels, "class_prior")
        return cls(labels, found, np.argsort(codes), prior)


def given_state(
    spec: Spec, reader: Any, given: Mapping[str, Any], classes: Any, class_prior: Any, feature_names: Any
) -> State:
    """The state of a model of columns of numbers with given parameters."""
    check_learns_nothing(spec)
    check_one_prior(spec, class_prior)
    family = spec.family(None, Known())
    if not family.parameters:
        raise DataError(
            f"the parameters of this {spec.name} cannot be given: they are averaged out, not estimated\n\n"
            "hint: leave out estimate='bayes'"
        )
    k, d = sizes(family.parameters, given)
    found, names = GivenClasses.of(classes, class_prior, k), column_names(feature_names)
    columns = column_labels(d) if names is None else names.tolist()
    arrays = read_parameters(family.parameters, given, found.labels, columns)
    arrays = {name: family.parameters[name].in_order(value, found.order) for name, value in arrays.items()}
    return state_of(spec, replace(reader, d=len(columns), names=names), found, Known(parameters=arrays))


def given_columns(spec: Spec, reader: Any, columns: Mapping[Any, Any], classes: Any, class_prior: Any) -> State:
    """The state of a model of columns of any kind; `columns` has the parameters of each, by name."""
    check_learns_nothing(spec)
    check_one_prior(spec, class_prior)
    if not isinstance(columns, Mapping) or not columns:
        raise DataError(f"the columns are {columns!r}\n\nhint: give a mapping {{name: {{parameter: values}}}}")
    fields = [field_of(name, own) for name, own in columns.items()]
    kinds = [field.family.parameters for field in fields]
    given = [{key: own[key] for key in own if key not in ("family", "levels")} for own in columns.values()]
    k = len(np.asarray(next(iter(given[0].values()))))
    found = GivenClasses.of(classes, class_prior, k)
    arrays = []
    for field, kind, own in zip(fields, kinds, given, strict=True):
        read = read_column(kind, own, found.labels, str(field.name))
        check_levels(field, read)
        arrays.append({name: kind[name].in_order(value, found.order) for name, value in read.items()})
    texts = all(isinstance(field.name, str) for field in fields)
    names = np.array([field.name for field in fields], dtype=object) if texts else None
    reader = replace(reader, schema=Schema(tuple(fields)), names=names)
    return state_of(spec, reader, found, Known(parameters={"columns": arrays}))


def field_of(name: Any, own: Any) -> Field:
    """A column with the family whose parameters are given; "levels" are those of a nominal column."""
    known = {title: make() for title, make in families.find().items() if make.columnwise}
    known = {title: family for title, family in known.items() if family.parameters}
    if not isinstance(own, Mapping):
        raise DataError(f"the parameters of column `{name}` are {own!r}\n\nhint: give a mapping {{parameter: values}}")
    wanted, levels = {key for key in own if key not in ("family", "levels")}, own.get("levels")
    nominal = [one for one in known.values() if (one.block == "codes") == (levels is not None)]
    fitting = [one for one in nominal if set(one.parameters) == wanted]
    if "family" in own:
        fitting = [known[own["family"]]] if own["family"] in known else []
    if len(fitting) != 1:
        options = [f"{title}: {', '.join(one.parameters)}" for title, one in sorted(known.items())]
        raise DataError(
            f"the parameters {sorted(wanted)} of column `{name}` are those of no family\n\n"
            f"hint: give those of one of {'; '.join(options)}; nominal columns have `levels` too"
        )
    return Field(name, fitting[0], None if levels is None else tuple(levels))


def check_levels(field: Field, arrays: Mapping[str, Any]) -> None:
    """Raise an error unless a nominal column has a probability for each level."""
    if field.levels is not None and arrays["feature_prob"][0].shape[1] != len(field.levels):
        raise DataError(
            f"`feature_prob` of column `{field.name}` has {arrays['feature_prob'][0].shape[1]} probabilities a class "
            f"for {len(field.levels)} levels\n\nhint: give one for each of {list(field.levels)}"
        )


def state_of(spec: Spec, reader: Any, found: GivenClasses, known: Known) -> State:
    """The state of a reader that knows its columns."""
    spec.check(found.sorted, reader, None)
    k = len(found.sorted)
    table = Table(empty_block(reader), np.zeros(0, dtype=np.int32), None, k, reader.schema)
    tally = tally_of(spec.family(reader.schema, known), table)
    weights = ClassWeights(np.ascontiguousarray(found.prior[found.order]))
    return State(spec, reader, found.sorted, Bundle((weights, *tally.parts[1:])), known)


def check_given(state: State) -> None:
    """Raise an error for parameters of a file that are not those of its classes and columns."""
    given, schema = state.known.parameters, state.reader.schema
    assert given is not None
    if schema is None:
        read_parameters(state.family.parameters, given, state.classes, state.reader.columns)
        return
    for field, own in zip(schema.fields, given["columns"], strict=True):
        arrays = read_column(field.family.parameters, own, state.classes, str(field.name))
        check_levels(field, arrays)


def column_names(feature_names: Any) -> np.ndarray | None:
    """Names of columns as `feature_names_in_` has them."""
    if feature_names is None:
        return None
    names = list(feature_names)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise DataError(f"`feature_names` is {feature_names!r}\n\nhint: give a different text for each column")
    return np.array(names, dtype=object)


def check_learns_nothing(spec: Spec) -> None:
    """Raise an error for settings that are chosen by rows."""
    needs = [f"{name}={spec.settings[name]!r}" for name in spec.tune]
    needs += ["calibrate=True"] * spec.calibrate + [spec.weighted_by] * bool(spec.weighted_by)
    needs += ["covariance_estimator"] * (spec.find_covariances is not None)
    if needs:
        raise DataError(
            f"{' and '.join(needs)} needs rows, and a model with given parameters has none\n\n"
            f"hint: leave out {format_choices(needs)}"
        )


def check_one_prior(spec: Spec, class_prior: Any) -> None:
    if class_prior is not None and spec.prior.given is not None:
        raise DataError(
            f"`class_prior` and `{spec.prior.name}` both give the class priors\n\nhint: leave out `{spec.prior.name}`"
        )
