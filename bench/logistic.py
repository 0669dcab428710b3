"""`python -m bench.logistic`: fits of logistic regression, raced at the same objective.

A fast fit that stops early wins nothing, so every baseline's tolerance is such that it comes near to the minimum, and
its gap (relative distance from the least known value) is listed with its time; above 1e-7 it has not converged, and the
ratio is a lower bound. Ours runs with its defaults, and must come to 1e-7.

Example:
    python -m bench.logistic --only "20,000 × 500" --repeats 3
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bench import peers
from bench.data import Data
from bench.logistic_data import Absent, Adult, Clouds, Correlated, Drawn, Frequent, News, Unscaled
from bench.race import PAUSE_S
from deciban import LogisticRegression
from deciban.logistic.minimisation import minimise

LEAST_GAP = 1e-7
SHRINK = 20
SLOW_S = 5.0  # a fit this long is not repeated


@dataclass(frozen=True)
class Baseline:
    peer: str
    label: str
    kwargs: Mapping[str, Any]
    required: float | None = None
    aim: float | None = None


@dataclass(frozen=True)
class Race:
    name: str
    recipe: Any
    baselines: tuple[Baseline, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    race: str
    baseline: str
    baseline_s: float
    ours_s: float
    baseline_gap: float
    our_gap: float
    baseline_warned: bool
    we_warned: bool
    required: float | None
    aim: float | None

    @property
    def ratio(self) -> float:
        return self.baseline_s / self.ours_s

    @property
    def missed(self) -> bool:
        """Whether ours is slower than asked against one who arrived too, has not arrived, or says so."""
        slow = self.baseline_gap <= LEAST_GAP and self.ratio < (self.required or 0.0)
        return slow or self.our_gap > LEAST_GAP or self.we_warned


def sklearn(solver: str, required: float | None = None, aim: float | None = None, **kwargs: Any) -> Baseline:
    settings_text = "".join(f", {name} {value:g}" for name, value in kwargs.items())
    settings = {"solver": solver, "max_iter": 2000, "random_state": 0, **kwargs}
    return Baseline(peers.REFERENCE, f"scikit-learn {solver}{settings_text}", settings, required, aim)


def intelex(required: float, aim: float) -> Baseline:
    return Baseline("scikit-learn-intelex", "scikit-learn-intelex", {"max_iter": 2000}, required, aim)


L1 = {"l1_ratio": 1.0, "fit_intercept": False}  # an intercept would be penalised by liblinear alone
RACES = (
    Race("binary, 500,000 × 50", Clouds(500_000, 50), (sklearn("lbfgs", 5, 10), intelex(1.3, 2.5))),
    Race("binary, 500,000 × 50, correlated", Correlated(500_000, 50), (sklearn("lbfgs", 5, 10), intelex(1.3, 2.5))),
    Race("binary, 20,000 × 500", Drawn(20_000, 500), (sklearn("lbfgs", 3, 6, tol=1e-5), intelex(1, 2))),
    Race(
        "binary, 20,000 × 500, hardly touching",
        Clouds(20_000, 500),
        (sklearn("lbfgs", 3, 6, tol=1e-8), intelex(1, 2)),
    ),
    Race("10 classes, 1,000,000 × 50", Clouds(1_000_000, 50, 10), (sklearn("lbfgs", 5, 10),)),
    Race(
        "binary, CSR 100,000 × 100,000, 90 a row",
        Frequent(100_000, 100_000),
        (sklearn("lbfgs", 4, 8, tol=1e-6), sklearn("liblinear", 4, 8, tol=1e-6)),
    ),
    Race(
        "20 classes, CSR 20 Newsgroups tf-idf",
        News(),
        (sklearn("lbfgs", 4, 8, tol=1e-6), sklearn("saga", 4, 8, tol=3e-6)),
    ),
    Race(
        "L1, 20,000 × 500, C 0.1",
        Correlated(20_000, 500),
        (sklearn("liblinear", 3, 10, tol=1e-6), sklearn("saga", 3, 10, max_iter=100)),
        {**L1, "C": 0.1},
    ),
    Race(
        "L1, CSR 20 Newsgroups tf-idf, one of five topics, C 10",
        News(one=True),
        (sklearn("liblinear", tol=1e-6),),
        {**L1, "C": 10.0},
    ),
    Race("binary, adult one-hot", Adult(), (sklearn("lbfgs", tol=1e-6),)),
    Race("unscaled columns, 20,000 × 30, 1e-3 … 1e6", Unscaled(20_000, 30), (sklearn("lbfgs", max_iter=100),)),
)


def run(races: Iterable[Race], found: Mapping[str, peers.Peer], repeats: int, shrink: int = 1) -> Iterator[Outcome]:
    for race in races:
        try:
            data = race.recipe.smaller(shrink).make() if shrink > 1 else race.recipe.make()
        except Absent as absent:
            print(f"skipped {race.name}: {absent} is not there", file=sys.stderr)
            continue
        baselines = [baseline for baseline in race.baselines if baseline.peer in found]
        for baseline in race.baselines:
            if baseline not in baselines:
                print(f"skipped {baseline.label}: not installed", file=sys.stderr)
        for outcome in _run(race, data, baselines, found, repeats):
            late = ", missed" if outcome.missed else ""
            print(f"{race.name}: {outcome.ratio:.2f} × {outcome.baseline}{late}", file=sys.stderr, flush=True)
            yield outcome


class Library:
    """One who fits: its least time, how near it came, whether it warned."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make, self.seconds, self.value, self.warned, self.runs = make, np.inf, np.inf, False, 0

    def fit(self, data: Data, value_of: Callable[[Any], float]) -> None:
        if self.runs and self.seconds > SLOW_S:
            return
        model = self.make()
        time.sleep(PAUSE_S)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.perf_counter()
            model.fit(data.X, data.y)
            self.seconds = min(self.seconds, time.perf_counter() - start)
        self.warned = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
        self.value, self.runs = value_of(model), self.runs + 1


def _run(
    race: Race, data: Data, baselines: list[Baseline], found: Mapping[str, peers.Peer], repeats: int
) -> list[Outcome]:
    objective = LogisticRegression(**race.settings).objective(data.X, data.y)
    ours = Library(lambda: LogisticRegression(**race.settings))
    theirs = [Library(_maker(found[baseline.peer], {**baseline.kwargs, **race.settings})) for baseline in baselines]
    for _ in range(repeats):  # in turn: the machine's speed drifts
        for library in (ours, *theirs):
            library.fit(data, lambda model: value_of(objective, model))
    tight = minimise("auto", objective, np.zeros(objective.size), 1e-9, 1000).value
    best = min(tight, ours.value, *(baseline.value for baseline in theirs))
    return [
        Outcome(
            race=race.name,
            baseline=baseline.label,
            baseline_s=them.seconds,
            ours_s=ours.seconds,
            baseline_gap=(them.value - best) / best,
            our_gap=(ours.value - best) / best,
            baseline_warned=them.warned,
            we_warned=ours.warned,
            required=baseline.required,
            aim=baseline.aim,
        )
        for baseline, them in zip(baselines, theirs, strict=True)
    ]


def _maker(peer: peers.Peer, kwargs: dict[str, Any]) -> Callable[[], Any]:
    return lambda: peer.make("LogisticRegression", **kwargs)


def value_of(objective: Any, model: Any) -> float:
    """The objective at a model's parameters."""
    w = np.column_stack([model.coef_, model.intercept_]) if objective.intercept else model.coef_
    lasso = float((np.abs(w) @ objective.lasso).sum())
    return objective.slope(np.ascontiguousarray(w, dtype=np.float64).ravel())[0] + lasso


def main() -> None:
    from bench import logistic_stream, report

    parser = argparse.ArgumentParser(prog="python -m bench.logistic", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", metavar="SUBSTRING", default="", help="races that have this in their name; writes nothing"
    )
    parser.add_argument("--repeats", metavar="N", type=int, default=3, help="timings of each library (default 3)")
    parser.add_argument("--quick", action="store_true", help="1/20 of the rows; writes nothing")
    args = parser.parse_args()
    shrink = SHRINK if args.quick else 1
    outcomes = list(run(_wanted(args.only), peers.found(), args.repeats, shrink))
    streams = list(logistic_stream.run(shrink, args.repeats)) if args.only.lower() in "stream" else []
    if not args.quick and not args.only:
        report.write_logistic(outcomes, streams)
    print(report.logistic_table(outcomes), report.stream_table(streams), sep="\n\n")


def _wanted(only: str) -> list[Race]:
    return [race for race in RACES if only.lower() in race.name.lower()]


if __name__ == "__main__":
    main()
