"""Headings under which the help lists options."""

from __future__ import annotations

HELD = "What the intruder holds"
TRUTH = "Whose the records are (for the referee)"
JUDGED = "How it is judged"
