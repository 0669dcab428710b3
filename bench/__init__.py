"""Races deciban against its rivals; `python -m bench` runs everything and writes the tables."""
