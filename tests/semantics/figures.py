"""Hospital A of Figures 1 and 2 of paper 002, as far as its text tells."""

from __future__ import annotations

import numpy as np

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item
from sfumato.semantics.local_data import Local, least_levels

YEARS = ("1960-1970", "1971-1980")
SEXES = ("F", "M")
ETHNICITIES = ("Chinese", "Vietnamese")
LANGUAGES = ("7104 Mandarin", "7101 Cantonese", "6302 Vietnamese")
HIERARCHIES = {
    "YoB": Hierarchy.from_columns([YEARS, ["1960-1980"] * 2], "YoB"),
    "Sex": Hierarchy.from_columns([SEXES], "Sex"),
    "Ethnicity": Hierarchy.from_columns([ETHNICITIES, ["Asian"] * 2], "Ethnicity"),
    "Language": Hierarchy.from_columns(
        [LANGUAGES, ["71 Chinese", "71 Chinese", "63 Mon-Khmer"]], "Language"
    ),
}
ASHLY, ALICE, JESSICA, JACK = (1, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 1), (0, 1, 1, 0)
OTHER = (0, 1, 1, 2)
HOSPITAL = np.array([ASHLY, ALICE, JESSICA, JACK, OTHER], dtype=np.int32)
LINKED = HOSPITAL[:1]
MANDARIN_IS_CHINESE = Association((Item("Language", 0, 0),), Item("Ethnicity", 0, 0), 0.3, 0.98)


def hospital(*names: str) -> Local:
    own = [list(HIERARCHIES).index(name) for name in names]
    return Local.from_codes(
        "Hospital A", names, [HIERARCHIES[name] for name in names], HOSPITAL[:, own], k=3
    )


def values(levels) -> tuple[str, ...]:
    return tuple(
        h.label(int(level), int(h.ancestors[level, code]))
        for h, level, code in zip(HIERARCHIES.values(), levels, LINKED[0], strict=True)
    )


def linkage_levels(linked, locals_, hierarchies):
    return least_levels(
        linked, locals_, list(hierarchies.values()), quasi_identifiers=list(hierarchies)
    )
