"""Thresholds in use and the custodian's own: presets, and measures held against them."""
