"""Bayesian networks: graphs, tables, exact queries, BIF files and structure learning."""
