"""Columns that depend on each other: how much, in which tree, and shares of levels in sparse tables."""
