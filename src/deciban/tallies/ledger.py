"""The ledger of a model: class weights, and a tag and a weight for each distinct row that they come from.

A tag is 64 bits that a keyed hash makes of the cells of a row. Ledgers add and subtract like other tallies, so a row
that is removed but was never added has a negative weight: `short` shows it.

The digest of a row (`rows.digests`), with factors of columns that depend on the key, goes through SipHash-2-4
(Aumasson and Bernstein, 2012) with that key. Without the key, one cannot find out from a tag which row it belongs to,
nor construct rows of equal tags. Columns with names count by name, others by position.

>>> import numpy as np
>>> tags, y = np.array([7, 9, 7], dtype=np.uint64), np.array([0, 1, 0], dtype=np.int32)
>>> ledger = RowLedger.from_tags(tags, y, None, 2, "k")
>>> ledger.tag.tolist(), ledger.w.tolist(), ledger.n.tolist()
([7, 9], [2.0, 1.0], [2.0, 1.0])
>>> (ledger - RowLedger.from_tags(tags[1:2], y[:1], None, 2, "k")).short().tolist()  # 9 was learned of class 1
[True, False]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from deciban.errors import DataError, MergeError
from deciban.tallies.basic import ClassWeights
from deciban.tallies.distinct_rows import KeyedRows
from deciban.tallies.exact_tables import ExactTable, weight_by_class

ROWS = 1 << 14  # hashed at a time: their states stay in cache
START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


@dataclass(frozen=True, repr=False)
class LedgerKey:
    """A secret key for the hashes of rows in a ledger.

    With `ledger=True` the hashes have a key that anybody knows: who has the model and a row can find out whether the
    row was learned. With a secret key only those who know the key can. The key is neither printed nor written to model
    files (a pickle holds it): after loading, call `model.set_params(ledger=LedgerKey(...))` before rows are added or
    removed.

    Parameters
    ----------
    secret : str
        A long text that others do not know.

    See Also
    --------
    MixedNB : A density for each column of a table of any type.
    GaussianNB : Normal columns.

    Examples
    --------
    >>> from deciban import GaussianNB, dumps, loads
    >>> model = GaussianNB(ledger=LedgerKey("a long secret")).fit([[0.0], [1.0], [4.0]], ["a", "a", "b"])
    >>> model
    GaussianNB(ledger=LedgerKey(...))
    >>> loads(dumps(model)).set_params(ledger=LedgerKey("a long secret")).forget([[1.0]], ["a"]).class_count_.tolist()
    [1.0, 1.0]
    """

    secret: str

    def __post_init__(self) -> None:
        if not isinstance(self.secret, str) or not self.secret:
            raise DataError("a LedgerKey is made of a text\n\nhint: give a long text that others do not know")

    def __repr__(self) -> str:
        return "LedgerKey(...)"


PUBLIC_KEY = LedgerKey("deciban")


def key_from_setting(ledger: bool | LedgerKey) -> LedgerKey | None:
    """The key of a setting `ledger`; None: there is no ledger."""
    return ledger if isinstance(ledger, LedgerKey) else PUBLIC_KEY if ledger else None


def key_check(key: LedgerKey) -> str:
    """Distinguishes a key from others without revealing it."""
    return _hash(_key_bytes(key), b"ledger check", 8).hex()


def keyed_factors(key: LedgerKey, columns: int | Sequence[Any]) -> np.ndarray:
    """An odd number for each column, by name or position."""
    names, secret = range(columns) if isinstance(columns, int) else columns, _key_bytes(key)
    hashes = [_hash(f"{type(name).__name__} {name}".encode("utf-8", "surrogatepass"), secret, 8) for name in names]
    return np.frombuffer(b"".join(hashes), dtype="<u8").astype(np.uint64) | np.uint64(1)


def row_tags(key: LedgerKey, digest: np.ndarray) -> np.ndarray:
    """The tags of rows with these digests (n,), uint64."""
    secret, out = _key_bytes(key), np.empty_like(digest)
    for start in range(0, len(digest), ROWS):
        out[start : start + ROWS] = siphash(secret, digest[start : start + ROWS])
    return out


@dataclass(frozen=True)
class RowLedger(KeyedRows):
    """The weight of each class and of each distinct row, known by its tag."""

    ROWWISE = ("tag", "y", "w")

    tag: np.ndarray  # (m,), uint64
    key_check: str  # of the key of the tags: those of another key cannot be compared

    @classmethod
    def from_tags(cls, tag: np.ndarray, y, w, k: int, key_check: str) -> RowLedger:
        """Of rows with classes y and weights w (None: 1)."""
        own = np.ones(len(tag)) if w is None else np.array(w, dtype=np.float64)
        return cls(weight_by_class(y, w, k), np.array(y, dtype=np.int32), own, tag, key_check)._joined()

    def _words(self) -> list[np.ndarray]:
        return [self.tag, self.y]

    def _with(self, other: RowLedger, weight: ExactTable) -> RowLedger:
        if other.key_check != self.key_check:
            raise MergeError(
                "the ledgers of these rows have different keys\n\n"
                "hint: use the same LedgerKey; it is not in a model file: model.set_params(ledger=LedgerKey(...))"
            )
        return super()._with(other, weight)

    def __sub__(self, other: Any) -> Any:
        """Without the rows of another ledger; of class weights without a ledger only the weights are known."""
        return super().__sub__(other) if isinstance(other, RowLedger) else ClassWeights(self.weight) - other

    def holds(self, tag: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Whether each of these rows (n,) is among those of the ledger."""
        asked = replace(self, tag=np.append(self.tag, tag), y=np.append(self.y, y).astype(np.int32))
        order, start = asked._order()
        group = np.empty(len(order), dtype=np.intp)
        group[order] = np.repeat(np.arange(len(start)), np.diff(np.append(start, len(order))))
        return np.isin(group[len(self.tag) :], group[: len(self.tag)])

    @property
    def d(self) -> int:
        return 0

    def finite(self) -> bool:
        return bool(np.isfinite(self.n).all() and np.isfinite(self.w).all())

    def sound(self) -> bool:
        tags = self.tag.shape == self.w.shape and self.tag.dtype == np.uint64 and isinstance(self.key_check, str)
        return tags and super().sound() and self.in_order()


def _key_bytes(key: LedgerKey) -> bytes:
    return _hash(key.secret.encode("utf-8", "surrogatepass"), b"ledger key", 16)


def _hash(content: bytes, key: bytes, size: int) -> bytes:
    return blake2b(content, key=key, digest_size=size, person=b"deciban").digest()


def siphash(key: bytes, words: np.ndarray) -> np.ndarray:
    """SipHash-2-4 of messages of eight bytes, as little-endian words (n,).

    >>> key = bytes(range(16))  # the key, and a message of eight bytes, of the authors' test vectors
    >>> hex(siphash(key, np.frombuffer(bytes(range(8)), dtype="<u8"))[0])
    '0x93f5f5799a932462'
    """
    halves = np.frombuffer(key, dtype="<u8").astype(np.uint64)
    state = [np.full(len(words), np.uint64(start) ^ halves[i % 2]) for i, start in enumerate(START)]
    for word in (words.astype(np.uint64), np.uint64(8 << 56)):  # the message, then its length
        state[3] ^= word
        _rounds(state, 2)
        state[0] ^= word
    state[2] ^= np.uint64(0xFF)
    _rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _rounds(v: list[np.ndarray], count: int) -> None:
    for _ in range(count):
        v[0] += v[1]
        v[2] += v[3]
        v[1] = _rotated(v[1], 13) ^ v[0]
        v[3] = _rotated(v[3], 16) ^ v[2]
        v[0] = _rotated(v[0], 32)
        v[2] += v[1]
        v[0] += v[3]
        v[1] = _rotated(v[1], 17) ^ v[2]
        v[3] = _rotated(v[3], 21) ^ v[0]
        v[2] = _rotated(v[2], 32)


def _rotated(word: np.ndarray, bits: int) -> np.ndarray:
    """Rotated to the left."""
    return word << np.uint64(bits) | word >> np.uint64(64 - bits)
