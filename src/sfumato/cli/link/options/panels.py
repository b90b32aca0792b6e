"""Headings under which the help lists options."""

from __future__ import annotations

WHAT = "What is linked"
OUTCOMES = "Outcomes"
LINKED = "The linked file"
