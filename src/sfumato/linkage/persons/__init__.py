"""From scored pairs and people's decisions to persons: one number per record."""
