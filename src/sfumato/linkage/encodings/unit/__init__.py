"""What the linkage unit does: it has encodings of all owners, and neither a key nor a value."""
