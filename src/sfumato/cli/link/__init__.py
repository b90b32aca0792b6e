"""``sfumato link`` and its commands."""
