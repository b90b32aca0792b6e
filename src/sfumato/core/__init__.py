"""Values and small services that every room uses."""
