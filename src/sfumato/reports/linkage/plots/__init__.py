"""The pictures of the report on a linkage."""
