"""The report on a linkage: what was compared, what was found, what may be missing."""
