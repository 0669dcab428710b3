"""Solvers: each has `init`, `step` and `done`; `base.solve` is the loop."""
