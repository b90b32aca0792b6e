"""``sfumato review``: at the terminal, without a server."""
