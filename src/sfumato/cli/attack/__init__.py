"""``sfumato attack``: hold a released file against what was predicted of it."""
