"""Parts that make an objective small: each gives `init`, `step` and `done`; `base.solve` is the one loop."""
