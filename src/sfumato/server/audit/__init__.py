"""The audit log: append-only, chained, signed."""
