"""Read and write BIF, the interchange format of Bayesian networks.

    network asia { }
    variable smoke { type discrete [ 2 ] { yes, no }; }
    probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }

A table may also be one list (`table`, the parents' levels cycling first, the child's last) or have a `default` row;
`property` lines and comments are skipped. Numbers are written so that the same bits are read again.

>>> text = "network n {} variable a { type discrete [2] {x, y}; } probability ( a ) { table 0.25, 0.75; }"
>>> parse(text).tables[0].tolist(), parse(dump(parse(text))).names
([0.25, 0.75], ('a',))
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NoReturn

import numpy as np

from deciban.display import format_list
from deciban.errors import DataError
from deciban.networks.graph import parents_of
from deciban.networks.network import CLOSE, Network

TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/            # nothing
      | "(?P<quoted>[^"\n]*)"
      | (?P<sign>[{}()\[\];,|])
      | (?P<word>[^\s{}()\[\];,|"]+)""",
    re.VERBOSE | re.DOTALL,
)
WORD = re.compile(r'[^\s{}()\[\];,|"]+')


@dataclass(frozen=True)
class Token:
    text: str
    line: int
    sign: bool  # whether it is punctuation


def _tokens(text: str) -> Iterator[Token]:
    at, line = 0, 1
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            _refuse(line, f"nothing can begin with {text[at]!r}", "a quote has an end in the same line")
        kind = found.lastgroup
        if kind is not None:
            yield Token(found[kind], line, kind == "sign")
        line += text.count("\n", at, found.end())
        at = found.end()
    yield Token("", line, True)


def _refuse(line: int, what: str, hint: str) -> NoReturn:
    raise DataError(f"line {line}: {what}\n\nhint: {hint}")


class BifParser:
    """The text from its start to its end."""

    def __init__(self, text: str):
        self.tokens = list(_tokens(text))
        self.at = 0
        self.levels: dict[str, list[str]] = {}
        self.parents: dict[str, list[str]] = {}
        self.tables: dict[str, np.ndarray] = {}

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.now
        if self.at + 1 < len(self.tokens):
            self.at += 1
        return token

    def here(self, sign: str) -> bool:
        return self.now.sign and self.now.text == sign

    def expect(self, sign: str, inside: str) -> None:
        token = self.take()
        if not (token.sign and token.text == sign):
            got = repr(token.text) if token.text else "the end of the file"
            _refuse(token.line, f"{got} where {sign!r} should be, in {inside}", "check whether the file is truncated")

    def word(self, inside: str) -> Token:
        token = self.take()
        if token.sign:
            got = repr(token.text) if token.text else "the end of the file"
            _refuse(token.line, f"{got} where a name should be, in {inside}", "check whether the file is truncated")
        return token

    def number(self, inside: str) -> float:
        token = self.word(inside)
        try:
            return float(token.text)
        except ValueError:
            _refuse(token.line, f"{token.text!r} is not a number, in {inside}", "decimals have a point")

    # sentences

    def read(self) -> Network:
        while self.now.text or not self.now.sign:
            token = self.word("the list of blocks")
            if token.text == "network":
                self._skip_block()
            elif token.text == "variable":
                self._variable()
            elif token.text == "probability":
                self._probability(token.line)
            else:
                _refuse(token.line, f"a block {token.text!r}", "blocks are `network`, `variable` and `probability`")
        return self._network()

    def _skip_block(self) -> None:
        while not self.here("{"):
            if not self.now.text:
                self.expect("{", "`network`")
            self.take()
        self.take()
        while not self.here("}"):
            self._skip_sentence()
        self.take()

    def _skip_sentence(self) -> None:
        while not self.here(";"):
            if not self.now.text or self.here("}"):
                self.expect(";", "a property")
            self.take()
        self.take()

    def _variable(self) -> None:
        named = self.word("`variable`")
        name = f"variable `{named.text}`"
        if named.text in self.levels:
            _refuse(named.line, f"{name} is given twice", "every variable has one block")
        self.expect("{", name)
        levels: list[str] = []
        while not self.here("}"):
            token = self.word(name)
            if token.text == "property":
                self._skip_sentence()
                continue
            kind = self.word(name).text if token.text == "type" else token.text
            if kind != "discrete":
                _refuse(token.line, f"{name} is {kind!r}", "only variables of `type discrete` can be read")
            self.expect("[", name)
            count = self.number(name)
            self.expect("]", name)
            self.expect("{", name)
            levels = [level.text for level in self._list("}", name)]
            self.expect(";", name)
            if len(levels) != count or len(set(levels)) != count:
                _refuse(token.line, f"{name} has {len(levels)} levels, says {count:g}", "name each level once")
        self.take()
        if not levels:
            _refuse(named.line, f"{name} has no levels", "write `type discrete [ 2 ] { yes, no };`")
        self.levels[named.text] = levels

    def _list(self, end: str, inside: str) -> list[Token]:
        """Words with or without commas between them, up to a sign."""
        out = []
        while not self.here(end):
            out.append(self.word(inside))
            if self.here(","):
                self.take()
        self.take()
        return out

    def _probability(self, line: int) -> None:
        self.expect("(", "`probability`")
        names = [self.word("`probability`")]
        while not self.here(")"):
            if self.here("|") or self.here(","):
                self.take()
            names.append(self.word("`probability`"))
        self.take()
        own, *parents = (name.text for name in names)
        inside = f"the table of `{own}`"
        for name in names:
            if name.text not in self.levels:
                _refuse(name.line, f"no variable {name.text!r}, in {inside}", "its `variable` block comes first")
        if own in self.tables:
            _refuse(line, f"{inside} is given twice", "every variable has one")
        if len(set(parents)) < len(parents):
            _refuse(line, f"a parent is given twice, in {inside}", "name every parent once")
        self.parents[own] = parents
        shape = tuple(len(self.levels[name]) for name in (*parents, own))
        self.tables[own] = self._table(own, parents, np.full(shape, np.nan), inside, line)

    def _table(self, own: str, parents: list[str], table: np.ndarray, inside: str, line: int) -> np.ndarray:
        self.expect("{", inside)
        while not self.here("}"):
            start = self.now.line
            if self.here("("):
                self.take()
                row = table[tuple(self._codes(parents, inside, start))]
                row[:] = self._numbers(len(row), inside)
                self._check_sum(row, start, inside)
                continue
            kind = self.word(inside).text
            if kind == "property":
                self._skip_sentence()
            elif kind == "default":
                row = self._numbers(table.shape[-1], inside)
                self._check_sum(row, start, inside)
                table[:] = np.where(np.isnan(table), row, table)
            elif kind == "table":
                values = np.array(self._numbers(table.size, inside)).reshape(table.shape[-1], *table.shape[:-1])
                table = np.ascontiguousarray(np.moveaxis(values, 0, -1))
                for row in table.reshape(-1, table.shape[-1]):
                    self._check_sum(row, start, inside)
            else:
                _refuse(start, f"{kind!r} in {inside}", "rows are `table …;`, `(levels) …;` or `default …;`")
        self.take()
        if np.isnan(table).any():
            levels = [self.levels[name] for name in parents]
            first = next(row for row in product(*levels) if np.isnan(table[tuple(map(list.index, levels, row))]).any())
            _refuse(line, f"{inside} has no row for ({', '.join(first)})", "give one for all parents' levels")
        return table

    def _codes(self, parents: list[str], inside: str, line: int) -> list[int]:
        given = self._list(")", inside)
        if len(given) != len(parents):
            _refuse(line, f"{len(given)} levels for {len(parents)} parents, in {inside}", "one level a parent")
        for parent, level in zip(parents, given, strict=True):
            if level.text not in self.levels[parent]:
                known = ", ".join(self.levels[parent])
                _refuse(level.line, f"`{parent}` has no level {level.text!r}, in {inside}", f"it has {known}")
        return [self.levels[parent].index(level.text) for parent, level in zip(parents, given, strict=True)]

    def _numbers(self, count: int, inside: str) -> list[float]:
        line, out = self.now.line, []
        while not self.here(";"):
            out.append(self.number(inside))
            if self.here(","):
                self.take()
        self.take()
        if len(out) != count:
            _refuse(line, f"{len(out)} numbers where there should be {count}, in {inside}", "one for each level")
        return out

    def _check_sum(self, row, line: int, inside: str) -> None:
        values = np.asarray(row)
        if not ((values >= 0).all() and abs(values.sum() - 1) <= CLOSE):
            what = f"probabilities {format_list((f'{v:g}' for v in values), 6, '')}"
            _refuse(line, f"{what} sum to {values.sum():.6g}, in {inside}", "they are ≥ 0 and sum to 1")

    def _network(self) -> Network:
        if not self.levels:
            _refuse(self.now.line, "there is no variable", "check that this is a BIF file")
        for name in self.levels:
            if name not in self.tables:
                _refuse(
                    self.now.line,
                    f"variable `{name}` has no `probability` block",
                    "check whether the file is truncated",
                )
        edges = [(parent, child) for child in self.levels for parent in self.parents[child]]
        parents = parents_of(list(self.levels), edges)
        tables = tuple(self.tables[name] for name in self.levels)
        return Network(tuple(self.levels), tuple(map(tuple, self.levels.values())), parents, tables)


def parse(text: str) -> Network:
    """The network that a BIF text describes; an error names the line."""
    return BifParser(text).read()


def _named(name: object) -> str:
    """A name as a word, or in quotes where it is none."""
    text = str(name)
    if '"' in text or "\n" in text:
        raise DataError(f"BIF has no way to write the name {text!r}\n\nhint: leave out quotes and line ends")
    return text if WORD.fullmatch(text) and not text.startswith(("//", "/*")) else f'"{text}"'


def dump(network: Network) -> str:
    """The network as BIF text. Levels become texts."""
    for name, own in zip(("the nodes", *network.names), (network.names, *network.levels), strict=True):
        if len(set(map(str, own))) < len(own):
            raise DataError(f"two names of {name} are the same as texts\n\nhint: rename one")
    names, lines = [_named(name) for name in network.names], ["network unknown {", "}"]
    for name, own in zip(names, network.levels, strict=True):
        levels = ", ".join(map(_named, own))
        lines += [f"variable {name} {{", f"  type discrete [ {len(own)} ] {{ {levels} }};", "}"]
    for name, own, table in zip(names, network.parents, network.tables, strict=True):
        given = f" | {', '.join(names[p] for p in own)}" if own else ""
        lines.append(f"probability ( {name}{given} ) {{")
        for at in np.ndindex(table.shape[:-1]):
            when = ", ".join(_named(network.levels[p][code]) for p, code in zip(own, at, strict=True))
            lines.append(f"  {f'({when})' if own else 'table'} {', '.join(map(repr, table[at].tolist()))};")
        lines.append("}")
    return "\n".join([*lines, ""])
