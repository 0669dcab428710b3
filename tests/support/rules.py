"""Tables whose classes follow a rule of several columns."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
CAR = {
    "buying": ("low", "med", "high", "vhigh"),
    "maint": ("low", "med", "high", "vhigh"),
    "doors": ("2", "3", "4", "5more"),
    "persons": ("2", "4", "more"),
    "boot": ("small", "med", "big"),
    "safety": ("low", "med", "high"),
}


def xor(columns: int, n: int, noise: float = 0.0, d: int = 12, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Whether an odd number of the first columns of d is 1; a share of the labels is flipped."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 2, (n, d))
    y = cells[:, :columns].sum(axis=1) % 2
    y = np.where(rng.random(n) < noise, 1 - y, y)
    return pd.DataFrame(cells.astype(float), columns=[f"c{j}" for j in range(d)]), y


def tic_tac_toe() -> tuple[pd.DataFrame, np.ndarray]:
    """All 958 positions in which a game may end (x moves first), and whether x has won."""

    def wins(board: tuple[str, ...], player: str) -> bool:
        return any(all(board[i] == player for i in line) for line in LINES)

    found: set[tuple[str, ...]] = set()
    for crosses in (3, 4, 5):
        for noughts in (crosses - 1, crosses):
            if crosses + noughts > 9:
                continue
            for xs in combinations(range(9), crosses):
                for os in combinations([i for i in range(9) if i not in xs], noughts):
                    board = tuple("x" if i in xs else "o" if i in os else "b" for i in range(9))
                    x, o = wins(board, "x"), wins(board, "o")
                    last = "x" if crosses > noughts else "o"
                    if (
                        (x and not o and last == "x" and _lines_meet(board, "x"))
                        or (o and not x and last == "o" and _lines_meet(board, "o"))
                        or (crosses + noughts == 9 and not x and not o)
                    ):
                        found.add(board)
    boards = sorted(found)
    frame = pd.DataFrame(boards, columns=[f"cell{i}" for i in range(9)])
    return frame, np.array(["won" if wins(board, "x") else "not won" for board in boards])


def _lines_meet(board: tuple[str, ...], player: str) -> bool:
    """Whether one move may have made all lines of a player."""
    full = [set(line) for line in LINES if all(board[i] == player for i in line)]
    return bool(set.intersection(*full))


def car() -> tuple[pd.DataFrame, np.ndarray]:
    """All 1,728 cars of six columns, rated by rules of two or three of them."""
    rows, labels = [], []
    for row in product(*CAR.values()):
        rank = {name: CAR[name].index(cell) for name, cell in zip(CAR, row, strict=True)}
        price = rank["buying"] + rank["maint"]
        room = rank["boot"] + (rank["doors"] > 0) + (rank["persons"] == 2)
        if (
            rank["persons"] == 0
            or rank["safety"] == 0
            or price > 4
            or (rank["buying"] == 3 and rank["maint"] > 0)
            or (rank["safety"] == 1 and room < 2)
        ):
            label = "unacc"
        elif price <= 1 and rank["safety"] == 2 and room > 2:
            label = "vgood"
        elif price <= 2 and room > 1:
            label = "good"
        else:
            label = "acc"
        rows.append(row)
        labels.append(label)
    return pd.DataFrame(rows, columns=list(CAR)), np.array(labels)
