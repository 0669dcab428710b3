"""Bayesian networks as values: graphs, tables, exact queries, files, pictures, and the search for a graph."""
