"""Logistic regression: objective, solvers by shape, penalty paths and inference."""
