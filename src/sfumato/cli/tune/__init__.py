"""``sfumato tune``: its options by theme, and what it prints."""
