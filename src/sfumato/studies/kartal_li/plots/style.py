"""Colours and sizes of the charts of the study."""

from __future__ import annotations

from sfumato.reports.plots.picture import AFTER, LIMIT

OCHRE = "#b8860b"
COLOURS = [LIMIT, OCHRE, AFTER]
WIDTH, HEIGHT = 340, 260
CONSTRAINTS = {
    "k": "k-anonymity (k)",
    "pid_k": "PID-based K-anonymity (K)",
    "g_balance": "g-balance (1/(1 − g))",
}
"""How the legend calls the constraints."""
