"""A chest clinic as a Bayesian network (Lauritzen and Spiegelhalter 1988).

    python examples/bayesnet.py [FOLDER] [BIF]

Queries are exact for any evidence and any variable; the picture goes to FOLDER/asia.svg, by default
in a new temporary folder. BIF is a file of another network with the same nodes. Needs matplotlib; takes two seconds.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from deciban import BayesNet, plots

YES = ["yes", "no"]
NODES = ["asia", "smoke", "tub", "lung", "bronc", "either", "xray", "dysp"]
EDGES = [
    ("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc"), ("tub", "either"), ("lung", "either"), ("either", "xray"),
    ("bronc", "dysp"), ("either", "dysp"),
]  # fmt: skip
TABLES = {  # P(yes), P(no), for yes and no of each parent
    "asia": [0.01, 0.99],
    "smoke": [0.5, 0.5],
    "tub": [[0.05, 0.95], [0.01, 0.99]],
    "lung": [[0.1, 0.9], [0.01, 0.99]],
    "bronc": [[0.6, 0.4], [0.3, 0.7]],
    "either": [[[1, 0], [1, 0]], [[1, 0], [0, 1]]],  # tuberculosis or cancer: the X-ray does not distinguish them
    "xray": [[0.98, 0.02], [0.05, 0.95]],
    "dysp": [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],
}


def clinic(path: str | None = None) -> BayesNet:
    """From a file, or as written above."""
    if path is not None:
        return BayesNet.from_bif(path)
    return BayesNet.from_edges(EDGES, levels=dict.fromkeys(NODES, YES), tables=TABLES)


def main(folder: str | None = None, path: str | None = None) -> Path:
    """Ask, show what a doctor would learn step by step, draw."""
    folder = folder or tempfile.mkdtemp(prefix="deciban-")
    net = clinic(path)
    known: dict[str, str] = {}
    print(net.query("lung"))
    for name, level in (("dysp", "yes"), ("xray", "yes"), ("asia", "yes"), ("smoke", "no")):
        known[name] = level
        print(net.query("lung", known))
    print(net.query(["tub", "lung"], known))
    print(f"most probable: {net.query(['tub', 'lung', 'bronc'], known).most_probable}")
    doctor = BayesNet.from_edges(EDGES, net.sample(5000, random_state=0, library="pandas"), target="lung")
    print(f"learned from 5000 patients: P(lung | {known}) = {doctor.query('lung', known)['yes']:.3f}")
    out = Path(folder) / "asia.svg"
    plots.graph(net).figure.savefig(out)
    return out


if __name__ == "__main__":
    print(main(*sys.argv[1:3]))
