"""Blocks of cells, columns of frames, samples of rows."""
