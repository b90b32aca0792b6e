"""Thresholds in use elsewhere, each with its source and how well that is evidenced."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Practice:
    """A threshold that somebody uses.

    Attributes
    ----------
    source
        Who uses it.
    threshold
        The threshold, in words.
    evidence
        Where that is known from.
    """

    source: str
    threshold: str
    evidence: str


PRACTICE = (
    Practice(
        "EMA Policy 0070, Health Canada PRCI (clinical trial data)",
        "risk of at most 0.09",
        "secondary sources",
    ),
    Practice(
        "Ontario IPC 2025",
        "0.09, 0.075 or 0.05 by sensitivity (about 11, 15 or 20 in a class); for a public release "
        "an attack is taken as certain",
        "secondary sources",
    ),
    Practice("CMS (US Medicare)", "no cell of 1 to 10, nor one that can be derived", "primary"),
    Practice(
        "Precedents of cell sizes",
        "3 (0.33), 5 (0.2), 11 (US public files), 20 (public patient data, Canada and US)",
        "El Emam",
    ),
    Practice(
        "CIHI public file",
        "risk of 0.04 to 0.05",
        "BMC Med Inform Decis Mak 2011;11:53",
    ),
    Practice(
        "Cancer registries",
        "5 % (public) or 20 % (research) of the records at high risk",
        "Dankar & El Emam 2010",
    ),
    Practice(
        "HIPAA §164.514(b)(1), expert determination",
        "“very small”, without a number; methods and results must be documented",
        "text of the rule",
    ),
    Practice("ONS (United Kingdom)", "cells below 10 suppressed, rounding to 5", "primary"),
    Practice("UK Longitudinal Linkage Collaboration", "cells below 10 barred, zero too", "primary"),
    Practice("OpenSAFELY", "cells of 7 and fewer suppressed", "its documentation"),
    Practice(
        "Defaults of ARX",
        "highest risk 0.2, records at risk 0.05, success rate 0.05",
        "its source code",
    ),
)
"""For orientation; no legal advice."""
