"""Races deciban against its baselines; `python -m bench` runs everything and writes the tables."""
