"""What the demo asks for, and where its linkage goes."""

from __future__ import annotations

CLINICS = ("hospital", "practice")
"""The clinics whose patients are linked."""
G_BALANCE, H_AFFILIATION = 0.9, 0.5
"""What every class of the release keeps to."""
LINKAGE = "linked"
"""The folder of the linkage within that of the demo."""
