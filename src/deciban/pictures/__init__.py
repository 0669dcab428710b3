"""One file for each kind of picture; `deciban.plots` has them all."""
