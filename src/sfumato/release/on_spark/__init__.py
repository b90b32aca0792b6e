"""The tree on Spark: upper levels by aggregation, then every subtree on one executor."""
