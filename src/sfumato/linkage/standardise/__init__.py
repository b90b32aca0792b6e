"""Bring values into one spelling before they are compared; one file per kind of column."""
