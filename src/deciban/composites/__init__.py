"""Families composed of other families: products, choices by column, subset averages, discretised columns."""
