"""Readers and writers of tables in files."""
