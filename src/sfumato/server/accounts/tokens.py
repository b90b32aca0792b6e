"""Tokens of one-time links: random, and stored as a digest only."""

from __future__ import annotations

import hashlib


def digest_of_token(token: str) -> str:
    """What is stored of a token: its SHA-256 in hexadecimal digits.

    Parameters
    ----------
    token
        The random part of a link.
    """
    return hashlib.sha256(token.encode()).hexdigest()
