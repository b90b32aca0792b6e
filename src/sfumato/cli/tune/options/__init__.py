"""Options of ``sfumato tune`` by theme, each with what becomes of its value."""
