"""Benchmarks of deciban against other libraries; `python -m bench` runs everything and writes the tables."""
