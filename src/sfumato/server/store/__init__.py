"""What the application stores in its database; no identifying value is in it unencrypted."""
