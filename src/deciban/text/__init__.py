"""Texts → counts of words → scores of classes."""
