"""What a network tells, whether its tables were learned or given: answers, densities, rows, a picture, a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from deciban import atomic, cuts, frames
from deciban.coded import Cuts
from deciban.networks import bif, picture
from deciban.networks.answer import Answer, ask
from deciban.networks.network import Network
from deciban.networks.rows import coded, codes_of, named
from deciban.schema import Field, Schema
from deciban.wording import absent

CLASS = "class"  # what the class is called where the labels have no name
MISSING = "(missing)"  # the level of missing cells


class DrawnNetwork:
    """Mixin of structured models that have one graph: needs `_schema`, `_cuts` and parameters with a `network`."""

    _schema: Schema
    _cuts: tuple[Cuts | None, ...] | None
    classes_: np.ndarray
    n_features_in_: int
    _check_is_fitted: Callable[[], Any]

    @property
    def _target(self) -> str:
        """What the class is called: as the labels are, unless a column is called so."""
        names = set(self._schema.names)
        own = self.__dict__.get("target_name_", CLASS)
        name = CLASS if own in names else own
        while name in names:
            name += "_"
        return name

    def _learned_network(self) -> Network:
        fitted = self._check_is_fitted()
        if "network" not in vars(fitted):
            own, d = fitted.params.params.network, self.n_features_in_
            prior = np.exp(fitted.log_prior - np.logaddexp.reduce(fitted.log_prior))
            names = (*self._schema.names, self._target)
            told = map(_told, self._schema.fields, self._cuts or (), fitted.params.gaps)
            levels = (*told, tuple(self.classes_.tolist()))
            vars(fitted)["network"] = Network(names, levels, own.parents, (*own.tables[:d], prior))
        return vars(fitted)["network"]

    def plot(self, ax: Any = None) -> Any:
        """Draw the network in layers, parents above children, edges as wide as the mutual information of their ends;
        returns the axes. `ax.figure.savefig("net.svg")` writes a picture."""
        return picture.draw(self._learned_network(), ax, target=self._target)


class TellingNetwork(DrawnNetwork):
    """Mixin of `BayesNet`: needs `_given` where tables were given, else what `Structured` has."""

    _given: Network
    target: str | None

    @property
    def _target(self) -> str:
        return super()._target if self.target is None else self.target

    @property
    def network_(self) -> Network:
        """The network: names, levels, parents and tables of the nodes. Columns of numbers have intervals as levels."""
        return self._given if "_given" in self.__dict__ else self._learned_network()

    @property
    def edges_(self) -> list[tuple[Any, Any]]:
        """(parent, child) of the network, by name; in a classifier that learned, those between columns."""
        edges = self.network_.edges
        return edges if "_given" in self.__dict__ else [edge for edge in edges if edge[0] != self._target]

    def query(self, targets: Any, evidence: Mapping | None = None) -> Answer:
        """P(targets | evidence), exactly: a table of the targets' levels together. `targets` is a name or several,
        `evidence` has levels by name; of a column that was cut, a number may stand for its interval."""
        network, reads = self.network_, self._readers()
        given = {}
        for name, level in (evidence or {}).items():
            if name in reads and level not in network.levels[network.place[name]]:
                level = reads[name].level(level)
            given[name] = level
        return ask(network, targets, given)

    def _readers(self) -> dict[Any, _Reader]:
        """What makes codes of cells, for each column that was cut or whose missing cells are a level."""
        if "_given" in self.__dict__:
            return {}
        columns = zip(self._schema.names, self._cuts or (), self._check_is_fitted().params.gaps, strict=True)
        levels = dict(zip(self.network_.names, self.network_.levels, strict=True))
        return {name: _Reader(levels[name], cut, bool(gap)) for name, cut, gap in columns if cut is not None or gap}

    def log_density(self, rows: Any) -> np.ndarray:
        """log P(row), (n,): a frame with nodes as columns (the class too), or an array with one column a node. What is
        missing, cells or columns, is summed out (but a missing cell of a column where that is a level has this level);
        a number counts as its interval."""
        network = self.network_
        return network.log_joint(coded(network, rows, self._readers()))

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
        return picture.draw(self.network_, ax, target=self.target if "_given" in self.__dict__ else self._target)

    plot.__doc__ = DrawnNetwork.plot.__doc__

    def to_bif(self, path: str | PathLike) -> None:
        """Write the network as BIF; `from_bif` reads the same bits. Levels become texts."""
        text = bif.dump(self.network_).encode()
        atomic.write(path, lambda file: file.write(text))


@dataclass(frozen=True)
class _Reader:
    """Cells of a column as codes of its levels."""

    levels: tuple
    cut: Cuts | None
    gap: bool  # whether the last level is that of missing cells

    def __call__(self, column: frames.Column) -> np.ndarray:
        if self.cut is None:
            codes = codes_of(column, self.levels)
        else:
            codes = cuts.intervals(np.asarray(column.values, dtype=np.float64), np.array(self.cut.at))
        return np.where(codes < 0, len(self.levels) - 1, codes) if self.gap else codes

    def level(self, cell: Any) -> Any:
        """The level that a number lies in, or that of a missing cell; else the cell as it is."""
        if self.gap and absent(cell):
            return self.levels[-1]
        if self.cut is None or not isinstance(cell, Real) or absent(cell):
            return cell
        return self.levels[int(cuts.intervals(np.array([float(cell)]), np.array(self.cut.at))[0])]


def _told(field: Field, cut: Cuts | None, gap: bool = False) -> tuple:
    """The levels of a column as people know them; the last one is that of missing cells, where they have one."""
    if gap:
        return (*_told(field, cut), MISSING)
    if cut is None:
        return tuple(field.levels or ()) or ("(none)",)
    at = [f"{number:.6g}" for number in cut.at]
    if not at:
        return ("(any)",)
    if len(set(at)) < len(at):
        at = [repr(number) for number in cut.at]
    return (f"< {at[0]}", *(f"{a} – {b}" for a, b in pairwise(at)), f"≥ {at[-1]}")
