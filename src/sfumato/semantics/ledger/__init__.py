"""The ledger: what was released to whom, append-only, chained and signed."""
