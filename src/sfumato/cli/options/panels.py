"""Headings under which the help lists options."""

from __future__ import annotations

PROMISED = "Promises"
MAKING = "Making"
REQUESTED = "On request"
