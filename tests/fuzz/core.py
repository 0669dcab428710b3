"""Calls of the compiled module with arguments that are nearly right: `python -m tests.fuzz.core COUNT [SEED [NAMES]]`.

Arguments of real calls are recorded while models learn and predict. Then every function is called with them, one or two
changed: another shape, another type, other numbers, an array left out. Arrays end where memory that cannot be read
begins, so that a kernel that goes beyond one ends this process. Under the address sanitizer (`make sanitize`) they are
what malloc returns, as it knows the end of those to the byte. `python -m tests.fuzz core` runs every instruction set.
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import re
import resource
import subprocess
import sys
import warnings
from collections import defaultdict
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

import deciban
from deciban import ops
from deciban.ops import leave_one_out, logistic
from deciban.ops.spec import Shrunk
from deciban.tallies import exact

from .runner import SANITIZED

PAGE, MEMORY = mmap.PAGESIZE, 6 << 30
COUNT = 1_000  # calls of every function, in `make fuzz`
NUMBERS = [-(2**31), -2, -1, 0, 1, 2, 3, 7, 8, 9, 100, 2**23, 2**31 - 1]
SIZES = NUMBERS[:-1] if SANITIZED else NUMBERS  # where memory is short, the sanitizer's `new` ends the process
Calls = dict[str, list[tuple]]


class Fences:
    """Arrays that end at memory that cannot be read; each call of `copy` uses the next piece of memory."""

    def __init__(self, pieces: int = 64, pages: int = 64):
        self.size, self.next, self.pieces = pages * PAGE, 0, []
        libc = ctypes.CDLL(None, use_errno=True)
        for _ in range(pieces):
            memory = mmap.mmap(-1, self.size + PAGE)
            start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            assert libc.mprotect(ctypes.c_void_p(start + self.size), PAGE, 0) == 0
            self.pieces.append(memory)

    def copy(self, a: np.ndarray) -> np.ndarray:
        a = np.ascontiguousarray(a)
        if SANITIZED or a.dtype.hasobject or a.nbytes > self.size or a.nbytes == 0:
            return a.copy()
        self.next = (self.next + 1) % len(self.pieces)
        out = np.frombuffer(self.pieces[self.next], a.dtype, a.size, self.size - a.nbytes).reshape(a.shape)
        out[...] = a
        return out


class Recorder:
    """The compiled module, keeping a few of the arguments of each function."""

    def __init__(self, core: Any):
        self._core, self.calls = core, defaultdict(list)

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._core, name)
        if isinstance(function, type):
            return function

        def call(*args: Any) -> Any:
            kept = self.calls[name]
            if len(kept) < 12 and all(_bytes(arg) < 1 << 16 for arg in args):
                kept.append(tuple(_copied(arg) for arg in args))
            return function(*args)

        return call


def _bytes(arg: Any) -> int:
    return arg.nbytes if isinstance(arg, np.ndarray) else sum(map(_bytes, arg)) if isinstance(arg, list | tuple) else 0


def _copied(arg: Any) -> Any:
    if isinstance(arg, list | tuple):
        return type(arg)(_copied(one) for one in arg)
    return arg.copy() if isinstance(arg, np.ndarray) else arg


def record_calls() -> Calls:
    """Arguments of the functions, from models that learn and predict."""
    core, rng = ops.core(), np.random.default_rng(0)
    ops._core = exact.compiled = recorder = Recorder(core)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _use_models(rng)
    finally:
        ops._core = exact.compiled = core
    return recorder.calls


def _use_models(rng: np.random.Generator) -> None:
    d = deciban
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    X[y == 1] += 2
    holes, counts, codes = X.copy(), rng.poisson(2.0, size=(40, 3)), rng.integers(0, 4, (40, 3))
    holes[::7, 1] = np.nan
    w = rng.random(40)
    rows = [X, X.astype(np.float32), np.asfortranarray(X), holes, sp.csr_matrix(counts * 1.0), sp.csr_matrix(holes)]
    for cells_ in rows:
        for weights in (None, w):
            model = d.GaussianNB().fit(cells_, y, sample_weight=weights)
            model.predict_proba(cells_)
    for one in (d.MultinomialNB, d.BernoulliNB, d.ComplementNB, d.PoissonNB):
        for cells_ in (counts.astype(float), sp.csr_matrix(counts * 1.0), sp.csr_matrix(counts, dtype=np.float32)):
            one().fit(cells_, y).predict_proba(cells_)
    d.BernoulliNB(binarize=0.5).fit(holes, y).predict_proba(holes)
    for classes in (y, y % 2):
        for one in (d.LinearDiscriminantAnalysis, d.QuadraticDiscriminantAnalysis, d.FisherDiscriminant):
            one().fit(X, classes).leave_one_out(X, classes)
        d.RegularizedDiscriminantAnalysis().fit(X, classes).leave_one_out(X, classes)
        d.QuadraticDiscriminantAnalysis(estimate="bayes").fit(X, classes).leave_one_out(X, classes)
        d.QuadraticDiscriminantAnalysis(exact=True).fit(X, classes, w).predict_proba(X)
        d.GaussianNB().fit(X, classes).leave_one_out(X, classes)
        d.PoissonNB().fit(counts, classes).leave_one_out(counts, classes)
        d.MixedNB().fit(X, classes).leave_one_out(X, classes)
        d.MixedNB(interactions="auto").fit(np.tile(codes, (4, 1)), np.tile(classes, 4))
        for one in (d.CategoricalNB, d.AODE, d.TreeAugmentedNB, d.KDependenceBayes):
            one().fit(codes, classes).predict_proba(codes)
        for cells_ in (X, X.astype(np.float32), sp.csr_matrix(X), sp.csr_matrix(X, dtype=np.float32)):
            for solver, lasso in product(("newton", "gradient", "coordinate", "auto"), (0.0, 0.5)):
                with suppress(ValueError):  # a setting that does not go with another
                    d.LogisticRegression(solver=solver, l1_ratio=lasso).fit(cells_, classes)
            d.LogisticRegression().partial_fit(cells_, classes, classes=[0, 1, 2])
    texts = ["spam and eggs", "ham and ham again", "eggs", "no spam today"] * 5
    labels = ["a", "b", "b", "a"] * 5
    for settings in ({}, {"model": "logistic"}, {"ngram_range": (1, 2)}):
        d.TextClassifier(**settings).fit(texts, labels).predict_proba(texts)
    d.HashingVectorizer(n_features=64).fit_transform(texts)
    d.CountVectorizer(max_features=3).fit_transform(texts)
    d.TextClassifier().fit(texts, labels).partial_fit(["some more words"], ["a"])
    labels64 = np.array([2000, 5, 7] * 400)
    d.GaussianNB().fit(rng.normal(size=(1200, 2)), labels64)
    d.GaussianNB().fit(rng.normal(size=(1200, 2)), np.array(["p", "q"] * 600))
    core, y32, block = ops.core(), y.astype(np.int32), deciban.data.blocks
    reals, sparse = block.Reals(X), sp.csr_matrix(X)
    sparse = block.Counts(sparse.indptr, sparse.indices, sparse.data, 3)
    factor, table = np.arange(1, 4, dtype=np.uint64), np.arange(5, dtype=np.uint64)
    for x in (reals, sparse):
        coef = logistic.pack(x, rng.normal(size=(3, 4)))
        logistic.product(x, w, coef, coef, 3)
        ops.digests.add_digests(x, factor, np.zeros(40, dtype=np.uint64))
    ops.digests.add_digests(block.Codes(codes), factor, np.zeros(40, dtype=np.uint64))
    ops.digests.add_level_digests(block.Codes(codes), [table] * 3, np.zeros(40, dtype=np.uint64))
    ops.digests.stirred(table)
    offset, theta = np.array([0, 4, 8, 12]), rng.random((2, 12, 3)) + 0.1
    folds, p = (y32 % 2).astype(np.int32), rng.dirichlet(np.ones(3), 40)
    ops.table_gains(block.Codes(codes), y32, folds, w, w, p, offset, theta, [(0,), (0, 1), (0, 1, 2)], 8.0)
    ops.sums(block.Reals(holes), y32, w, 3)
    for x in (reals, block.Reals(holes.astype(np.float32)), block.ColumnBlock(list(holes.T)), sparse):
        for weights, above in product((None, w), (None, 0.5)):
            n, total, *squares = ops.exact_sums(x, y32, weights, 3, above, squares=above is None)
            exact.ratio(total, n)
            if squares:
                exact.mean_and_squares(n, total, *squares)
    (total + total).part([2, 0]).to_doubles()
    exact.ExactSums.from_doubles(X).negative()
    ops.in_rows(block.ColumnBlock([X[:, 0], X[:, 1]]))
    columns, some = sp.csc_matrix(X), rng.normal(size=6)
    q = rng.random((2, 40))
    logistic.lasso_columns(columns, q, q, some, some, np.ones(3), np.ones(3), np.arange(6), 0.1, 3)
    one = np.ones(3)
    leave_one_out.loo_normal(X, y32, X[:3], X[3:6], one, one, 0.0)
    shrunk = Shrunk(X[0], rng.normal(size=(2, 3, 3)), X[:2], rng.normal(size=(2, 4, 3)))
    leave_one_out.loo_shrunk(X, shrunk, 0.1, 0.2, 0.3)
    core.strings(np.frombuffer(b"abcdef", dtype=np.uint8), np.array([0, 2, 2, 6]))
    keys = np.zeros((3, 40), dtype=np.int32)
    bounds = np.array([[0, 10], [10, 30], [30, 40]])
    known = np.array([-5, 3, 4, 9]), np.array([0, 2, 3, 4]), np.zeros((3, 4))
    core.count(*known, [keys], [bounds], [np.zeros(0)])
    core.count_weighed(*known, [keys], [bounds], [np.zeros(0)])
    core.count_weighed(*known, [keys], [bounds], [w])
    core.supervised_cuts(np.ones((3, 2, 5)), np.zeros((3, 5), dtype=np.uint8))
    core.has_leading_zeros(np.frombuffer(b"a,b\n1,0.5\n2020-01-02,-01\n", dtype=np.uint8), ord(","))
    leave_one_out.series(X, w, rng.normal(size=(2, 3, 3)))
    core.long_dots([X[:, 0].copy(), X[:, 1].copy()], X[:, 2].copy(), np.zeros(2))
    core.long_plus([X[:, 0].copy(), X[:, 1].copy()], np.ones(2), np.zeros(40))


def random_array(rng: np.random.Generator, dtype: Any, dims: int) -> np.ndarray:
    """An array of any small shape, of any numbers."""
    shape = tuple(rng.choice([0, 1, 2, 3, 4, 8, 9, 40], size=dims))
    if np.dtype(dtype).kind == "f":
        return rng.choice([0.0, 1.0, -1.0, np.nan, np.inf, 0.5], size=shape).astype(dtype)
    return rng.choice(NUMBERS, size=shape).astype(np.int64).astype(dtype)


def changed(rng: np.random.Generator, arg: Any) -> Any:
    """A value like this one that may not go with the others."""
    if isinstance(arg, bool) or arg is None:
        return rng.choice([True, False, 3])
    if isinstance(arg, int | np.integer):
        return int(rng.choice([*SIZES, arg + 1, arg - 1]))
    if isinstance(arg, float):
        return float(rng.choice([0.0, -1.0, np.nan, np.inf, 1e300]))
    if isinstance(arg, list):
        out = list(arg)
        if out and rng.random() < 0.5:
            out[rng.integers(len(out))] = changed(rng, out[0])
        return out if rng.random() < 0.5 else out[:-1]
    if isinstance(arg, tuple):
        at = rng.integers(len(arg))
        return (*arg[:at], changed(rng, arg[at]), *arg[at + 1 :])
    if type(arg).__name__ == "CheckedColumns":
        return type(arg)(random_array(rng, np.int32, 1), int(rng.choice(SIZES)))
    if type(arg).__name__ in ("CodeRange32", "CodeRange64"):
        return ops.core().code_range(random_array(rng, np.dtype(f"int{type(arg).__name__[-2:]}"), 2))
    if not isinstance(arg, np.ndarray):
        return arg
    how = rng.integers(6)
    if how == 0 or arg.size == 0:
        return random_array(rng, arg.dtype, arg.ndim if rng.random() < 0.8 else rng.integers(1, 4))
    if how == 1:
        return arg.astype(rng.choice([np.float64, np.float32, np.int64, np.int32, np.uint8]))
    if how == 2:
        axis = rng.integers(arg.ndim)
        return np.delete(arg, rng.integers(arg.shape[axis]), axis=axis)
    if how == 3:
        axis = rng.integers(arg.ndim)
        return np.repeat(arg, 2, axis=axis)
    out = arg.copy()
    at = rng.integers(out.size, size=1 + rng.integers(3))
    out.flat[at] = random_array(rng, arg.dtype, 1)[:1] if how == 4 else rng.choice(out.ravel(), len(at))[: len(at)]
    return out


def arguments(rng: np.random.Generator, known: list[tuple], signatures: list[str], fences: Fences) -> list:
    """The arguments of one more call."""
    if known and rng.random() < 0.85:
        args = list(known[rng.integers(len(known))])
        for at in rng.integers(len(args), size=rng.choice([0, 1, 1, 1, 2])):
            args[at] = changed(rng, args[at])
    else:
        args = [_of_type(rng, kind) for kind in _types(signatures[rng.integers(len(signatures))])]
    return [_fenced(arg, fences) for arg in args]


def _fenced(arg: Any, fences: Fences) -> Any:
    if isinstance(arg, list | tuple):
        return type(arg)(_fenced(one, fences) for one in arg)
    return fences.copy(arg) if isinstance(arg, np.ndarray) else arg


def _types(signature: str) -> list[str]:
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    return [part.split(": ", 1)[1] for part in re.split(r", (?=\w+: )", inside)] if inside else []


def _of_type(rng: np.random.Generator, kind: str) -> Any:
    if "ndarray" in kind:
        if "None" in kind and rng.random() < 0.3:
            return None
        dtype = re.search(r"dtype=(\w+)", kind)[1]
        dims = re.search(r"shape=\(([^)]*)\)", kind)
        one = lambda: random_array(rng, dtype, dims[1].count("*") if dims else rng.integers(1, 4))  # noqa: E731
        return [one() for _ in range(rng.integers(4))] if "Sequence" in kind else one()
    if kind.startswith("int"):
        return int(rng.choice(SIZES))
    if kind.startswith("float"):
        return float(rng.choice([0.0, 1.0, np.nan]))
    if kind.startswith("bool"):
        return bool(rng.integers(2))
    return rng.choice([0, 1])


LEFT_OUT = {"use"}  # the instruction set stays


def run(count: int, seed: int) -> int:
    """Call every function so many times, with each instruction set in a process of its own; how many of them failed."""
    failed = 0
    for isa in ops.instruction_sets():
        print(f"core: instruction set {isa}; of each function: its name, calls to start from, answers", flush=True)
        command = [sys.executable, "-m", "tests.fuzz.core", str(count), str(seed)]
        code = subprocess.run(command, env=os.environ | {"DECIBAN_ISA": isa}, check=False).returncode
        print(f"core: instruction set {isa}, {count} calls of every function of seed {seed}, exit {code}", flush=True)
        failed += code != 0
    return failed


def main(count: int, seed: int = 0, *names: str) -> None:
    """Call every function so many times, and print how often each has answered and refused."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    core, calls, fences = ops.core(), record_calls(), Fences()
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # a size that is too large is no crash
    functions = [name for name in dir(core) if type(getattr(core, name)).__name__ == "nb_func" and name not in LEFT_OUT]
    for name in names or functions:
        rng = np.random.default_rng([seed, *name.encode()])
        function, kept = getattr(core, name), calls.get(name, [])
        signatures = [line for line in function.__doc__.splitlines() if line.startswith(name + "(")]
        print(name, len(kept), end=" ", flush=True)
        answered = 0
        for _ in range(count):
            with suppress(ValueError, TypeError, RuntimeError, MemoryError):
                function(*arguments(rng, kept, signatures, fences))
                answered += 1
        print(answered, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
