"""``sfumato ledger``: what was released to whom."""
