"""Figures 1 and 2: an association turns 1/3 into 1/2, and not with SLA."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item
from sfumato.semantics.linkage_anonymity import Local, least_levels
from sfumato.semantics.sla import disclosure_risks, semantic_levels
from sfumato.studies.lu_sinnott_verspoor.schemes import Codes, Levels
from sfumato.studies.study import Column, Grid, Section

K = 3
HIERARCHIES = {
    "YoB": Hierarchy.from_columns([["1960-1970", "1971-1980"], ["1960-1980"] * 2], "YoB"),
    "Sex": Hierarchy.from_columns([["F", "M"]], "Sex"),
    "Ethnicity": Hierarchy.from_columns(
        [["Chinese", "Vietnamese", "Australian"], ["Asian", "Asian", "Oceanian"]], "Ethnicity"
    ),
    "Language": Hierarchy.from_columns(
        [
            ["7104 Mandarin", "7101 Cantonese", "1201 English"],
            ["71 Chinese", "71 Chinese", "12 English"],
        ],
        "Language",
    ),
}
HOSPITAL: Codes = np.array(
    [(1, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 1), (0, 1, 1, 0), (0, 1, 2, 2)], dtype=np.int32
)
"""Alice, Ashly, Jessica and Jack of the paper as far as its text tells, and one other person."""
KNOWN = Association((Item("Language", 0, 0),), Item("Ethnicity", 0, 0), 0.3, 0.98)


def example_section() -> Section:
    """The tuple of Alice at both times, as LA and SLA show it, and its risk."""
    alice = HOSPITAL[:1]
    first, second = _hospital("YoB", "Sex", "Ethnicity"), _hospital(*HIERARCHIES)
    paper: Levels = np.array([[1, 1, 1, 0]], dtype=np.int8)
    semantic = semantic_levels(alice, paper, [second], HIERARCHIES, [KNOWN], K)
    cheapest = _least(alice, second)
    rows = [
        ("1", "LA, Figure 1", _least(alice, first), first),
        ("2", "LA, Figure 2 as printed", paper, second),
        ("2", "SLA from there", semantic.levels, second),
        ("2", "LA of least loss", cheapest, second),
    ]
    grid = Grid(
        "figures",
        f"The tuple of one linked person, k = {K}, and the risk of re-identification",
        (
            Column("time", "time"),
            Column("scheme", "scheme"),
            Column("tuple", "tuple shown"),
            Column("risk", "risk"),
            Column("refined", f"knowing {_words(KNOWN)}"),
        ),
        tuple(
            (time, scheme, _tuple(levels), _risk(levels, local), _risk(levels, local, KNOWN))
            for time, scheme, levels, local in rows
        ),
    )
    text = (
        "At time 2 the hospital has Language as well. The tuple of Figure 2 shows Mandarin, from "
        "which a reader of the first release refines Asian to Chinese: of three matching persons "
        "two are left. SLA shows the antecedent's ancestor instead. The tuple of least loss "
        "leaves Chinese in place and shows no Mandarin, so that the association tells nothing new."
    )
    return Section("Figures 1 and 2: what an association is worth", (text,), (grid,))


def _hospital(*names: str) -> Local:
    own = [list(HIERARCHIES).index(name) for name in names]
    trees = [HIERARCHIES[name] for name in names]
    return Local.from_codes("Hospital A", names, trees, HOSPITAL[:, own], k=K)


def _least(codes: Codes, local: Local) -> Levels:
    trees = list(HIERARCHIES.values())
    return least_levels(codes, [local], trees, quasi_identifiers=list(HIERARCHIES))


def _tuple(levels: Levels) -> str:
    cells = zip(HIERARCHIES.values(), levels[0].tolist(), HOSPITAL[0].tolist(), strict=True)
    shown = [tree.label(level, int(tree.ancestors[level, code])) for tree, level, code in cells]
    return f"<{', '.join(shown)}>"


def _risk(levels: Levels, local: Local, *known: Association) -> str:
    risk = float(disclosure_risks(HOSPITAL[:1], levels, [local], HIERARCHIES, known)[0])
    return str(Fraction(risk).limit_denominator(100))


def _words(association: Association) -> str:
    return association.text(HIERARCHIES).partition(",")[0]
