"""Keyed Bloom-filter encodings (CLK): identifiers compared without being shown."""
