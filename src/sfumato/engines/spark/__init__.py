"""Encoding, counting and grouping on Spark: DataFrames in, DataFrames and sums out."""
