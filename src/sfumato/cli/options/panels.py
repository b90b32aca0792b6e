"""Headings under which the help lists options."""

from __future__ import annotations

PROMISES = "Promises"
MAKING = "Making"
