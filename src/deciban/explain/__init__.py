"""Explanations: evidence of columns and words in decibans."""
