"""Learning curves: how good a model becomes with more rows."""
