"""Keys, and what is encrypted with them."""
