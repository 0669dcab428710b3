"""Texts as counts of words, and what counts of words say of classes."""
