"""Time of settings, and of one row for classifiers that no other library has: a task of ours compared with a simpler
one.

The two are timed in turn, as in a race.
"""

from statistics import median

from bench.data import load
from bench.other import Comparison
from bench.peers import Peer
from bench.race import TimedLibrary
from bench.tasks import Cost


def compare(cost: Cost, ours: Peer, repeats: int) -> Comparison:
    one, other = (TimedLibrary(task, load(task.recipe), ours) for task in (cost.task, cost.reference))
    times = [(one.seconds(), other.seconds()) for _ in range(repeats)]
    first, second = (median(column) for column in zip(*times, strict=True))
    return Comparison(f"{cost.name} ({cost.task.recipe})", cost.task.name, first, cost.reference.name, second)
