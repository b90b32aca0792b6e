"""Options of ``sfumato anonymize`` by theme, each with what becomes of its value."""
