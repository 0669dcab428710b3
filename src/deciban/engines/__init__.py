"""Engines add tallies; they know no model. `total(chunks, f)` equals the sum of f over the chunks, in their order."""
