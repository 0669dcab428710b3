"""The scikit-learn tests that we fail on purpose, at most eight: test id → how ours is better.

An id is as pytest prints it after the folder: `test_naive_bayes.py::test_gnb_partial_fit[float32]`.
Listed tests must fail (strict xfail).
"""

SINGULAR = (
    "ours is deliberately better: a class without full rank gets a floor under its variances and a defined answer "
    "(`singular_` names it), where scikit-learn stops with an error"
)

DELIBERATE: dict[str, str] = {
    "test_naive_bayes.py::test_gnb_check_update_with_no_data": (
        "ours is deliberately better: no private update step to go wrong, the state is a tally (law: empty is zero)"
    ),
    "test_discriminant_analysis.py::test_lda_transform": (
        "ours is deliberately better: `transform` works with solver='lsqr' too, where scikit-learn refuses"
    ),
    "test_discriminant_analysis.py::test_qda_regularization[42-svd]": SINGULAR,
    "test_discriminant_analysis.py::test_qda_regularization[42-eigen]": SINGULAR,
}
