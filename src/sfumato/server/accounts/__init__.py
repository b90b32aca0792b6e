"""Logging in, accounts, one-time links."""
