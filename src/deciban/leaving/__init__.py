"""Rows scored without themselves: what leave-one-out is made of."""
