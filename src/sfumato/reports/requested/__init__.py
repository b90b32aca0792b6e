"""The report on a release on request."""
