"""``sfumato policy``: who may get which linkage, and what must hold for it."""
