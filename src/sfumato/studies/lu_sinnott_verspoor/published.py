"""Table 2 as printed: disclosure risk and SSE/SST of LA and SLA, in percent."""

from __future__ import annotations

KS = (2, 3, 4)
PUBLISHED: dict[tuple[str, int], dict[str, tuple[float, float, float]]] = {
    ("LA", 1): {"risk": (14.7, 5.2, 3.5), "loss": (13.9, 20.1, 22.1)},
    ("LA", 2): {"risk": (14.7, 5.0, 4.7), "loss": (25.3, 27.0, 28.5)},
    ("SLA", 1): {"risk": (14.7, 5.2, 3.5), "loss": (13.9, 20.1, 22.1)},
    ("SLA", 2): {"risk": (14.7, 4.3, 3.4), "loss": (25.3, 27.3, 28.9)},
}
"""By scheme and time: a figure for each k."""
