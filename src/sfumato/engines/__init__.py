"""Counting over encoded tables, on one machine and beyond; the same file names in each engine."""
