"""Propose a schema from column names and a look at the data."""
