"""Families made of families."""
