"""Scored pairs as files: for programs, and for people who look at them."""
