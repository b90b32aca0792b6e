"""The page of a search under thresholds: risk against loss, and what was tried."""
