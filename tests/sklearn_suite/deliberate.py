"""The scikit-learn tests that we fail on purpose, at most eight: test id → how ours is better.

An id is as pytest prints it after the folder: `test_naive_bayes.py::test_gnb_partial_fit[float32]`.
Listed tests must fail (strict xfail).
"""

DELIBERATE: dict[str, str] = {}
