"""Comparison levels by the kind of a column, from equal to entirely different."""
