"""Solvers: each has `init`, `step` and `done`; `base.solve` is the loop of all of them."""
