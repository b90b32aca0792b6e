"""Propose a linkage specification from names, a schema and the data."""
