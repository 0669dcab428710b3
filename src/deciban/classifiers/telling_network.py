"""What a network tells, whether its tables were learned or given: answers, densities, rows, a picture, a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from deciban import atomic, cuts
from deciban.coded import Cuts
from deciban.networks import bif, picture
from deciban.networks.answer import Answer, ask
from deciban.networks.network import Network
from deciban.networks.rows import coded, named
from deciban.schema import Field, Schema


class TellingNetwork:
    """Mixin of `BayesNet`: needs `_given` where tables were given, else what `Structured` has; and `_target`."""

    _given: Network
    _schema: Schema
    _cuts: tuple[Cuts | None, ...] | None
    target: str | None
    classes_: np.ndarray
    n_features_in_: int
    _check_is_fitted: Callable[[], Any]

    @property
    def _target(self) -> str:
        """What the class is called."""
        raise NotImplementedError

    @property
    def network_(self) -> Network:
        """The network: names, levels, parents and tables of the nodes. Columns of numbers have intervals as levels."""
        if "_given" in self.__dict__:
            return self._given
        fitted = self._check_is_fitted()
        if "network" not in vars(fitted):
            own, d = fitted.params.network, self.n_features_in_
            prior = np.exp(fitted.log_prior - np.logaddexp.reduce(fitted.log_prior))
            names = (*self._schema.names, self._target)
            levels = (*map(_told, self._schema.fields, self._cuts or ()), tuple(self.classes_.tolist()))
            vars(fitted)["network"] = Network(names, levels, own.parents, (*own.tables[:d], prior))
        return vars(fitted)["network"]

    @property
    def edges_(self) -> list[tuple[Any, Any]]:
        """(parent, child) of the network, by name; in a classifier that learned, those between columns."""
        edges = self.network_.edges
        return edges if "_given" in self.__dict__ else [edge for edge in edges if edge[0] != self._target]

    def query(self, targets: Any, evidence: Mapping | None = None) -> Answer:
        """P(targets | evidence), exactly: a table of the targets' levels together. `targets` is a name or several,
        `evidence` has levels by name; of a column that was cut, a number may stand for its interval."""
        network, reads = self.network_, self._reads_of_cuts()
        given = {}
        for name, level in (evidence or {}).items():
            inside = name in reads and isinstance(level, Real) and level not in network.levels[network.place[name]]
            given[name] = network.levels[network.place[name]][int(reads[name](level))] if inside else level
        return ask(network, targets, given)

    def _reads_of_cuts(self) -> dict[Any, Any]:
        """For each column that was cut, what makes codes of numbers."""
        if "_given" in self.__dict__:
            return {}
        pairs = zip(self._schema.names, self._cuts or (), strict=True)
        return {name: _Intervals(cut) for name, cut in pairs if cut is not None}

    def log_density(self, rows: Any) -> np.ndarray:
        """log P(row), (n,): a frame with nodes as columns (the class too), or an array with one column a node. What is
        missing, cells or columns, is summed out; a number counts as its interval."""
        network = self.network_
        return network.log_joint(coded(network, rows, self._reads_of_cuts()))

    def sample(self, n_samples: int = 1, random_state=None, *, library: str | None = None) -> Any:
        """Draw rows. Of a classifier: (X, y), X as in training. Of a network without a class: an array (n, nodes) of
        levels; as frame of "pandas", "polars" or "pyarrow" if `library` says so."""
        if "_given" not in self.__dict__:
            return super().sample(n_samples, random_state)  # type: ignore[misc]
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        network = self._given
        codes = network.sample(n_samples, rng)
        if self.target is None:
            return named(network, codes, library)
        at = network.place[self.target]
        return named(network, codes, library, without=at), self.classes_[codes[:, at]]

    def plot(self, ax: Any = None) -> Any:
        """Draw the network in layers, parents above children, edges as wide as the mutual information of their ends;
        returns the axes. `ax.figure.savefig("net.svg")` writes a picture."""
        return picture.draw(self.network_, ax, target=self.target if "_given" in self.__dict__ else self._target)

    def to_bif(self, path: str | PathLike) -> None:
        """Write the network as BIF; `from_bif` reads the same bits. Levels become texts."""
        text = bif.dump(self.network_).encode()
        atomic.write(path, lambda file: file.write(text))


class _Intervals:
    """Numbers of a column that was cut as codes."""

    def __init__(self, cut: Cuts):
        self.at = np.array(cut.at)

    def __call__(self, column: Any) -> Any:
        values = getattr(column, "values", column)
        return cuts.intervals(np.atleast_1d(np.asarray(values, dtype=np.float64)), self.at).squeeze()


def _told(field: Field, cut: Cuts | None) -> tuple:
    """The levels of a column as people know them."""
    if cut is None:
        return tuple(field.levels or ()) or ("(none)",)
    at = [f"{number:.6g}" for number in cut.at]
    if not at:
        return ("(any)",)
    if len(set(at)) < len(at):
        at = [repr(number) for number in cut.at]
    return (f"< {at[0]}", *(f"{a} – {b}" for a, b in pairwise(at)), f"≥ {at[-1]}")
