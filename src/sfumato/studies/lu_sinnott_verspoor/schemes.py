"""LA and SLA on one draw, at both times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.semantics.associations import Association, Shown, accept, mine
from sfumato.semantics.linkage_anonymity import Local, least_levels, squared_errors
from sfumato.semantics.sla import disclosure_risk, disclosure_risks, largest_risks, semantic_levels
from sfumato.studies.lu_sinnott_verspoor.persons import Simulated
from sfumato.studies.lu_sinnott_verspoor.published import KS

Codes = npt.NDArray[np.int32]
Levels = npt.NDArray[np.int8]

SCHEMES = {
    1: ("Gender", "Ethnicity", "Postcode"),
    2: ("Gender", "Ethnicity", "Postcode", "Language"),
}
"""Quasi-identifiers of the registry at each time."""
SUPPORT, CONFIDENCE = 0.01, 0.8
"""The paper gives none."""


@dataclass(frozen=True)
class Outcome:
    """What one scheme gives at one time for one k.

    Attributes
    ----------
    scheme
        LA or SLA.
    time
        1 or 2.
    k
        How many individuals must match.
    risk
        Eq. 3, a share.
    largest
        The same for the reader who believes only what is true of each person.
    loss
        SSE/SST (Eq. 4) over the linkage quasi-identifiers, a share.
    changed
        Distinct tuples that SLA generalised further.
    """

    scheme: str
    time: int
    k: int
    risk: float
    largest: float
    loss: float
    changed: int = 0


def outcomes(draw: Simulated) -> tuple[list[Outcome], tuple[Association, ...]]:
    """LA and SLA at both times for every k, and the associations between them.

    Associations are mined, and all accepted, from the 2-anonymous release at time 1, as in the
    paper. At time 1 there are none to apply.

    Parameters
    ----------
    draw
        The individuals.
    """
    found: list[Outcome] = []
    for k in KS:
        found += _at(draw, 1, k, ())
    known = _known(draw)
    for k in KS:
        found += _at(draw, 2, k, known)
    return found, known


def _known(draw: Simulated) -> tuple[Association, ...]:
    codes, counts = _linked(draw)
    levels = _linkage_levels(draw, codes, 1, min(KS))
    shown = Shown(draw.hierarchies, codes, levels, counts)
    mined = mine([shown], support=SUPPORT, confidence=CONFIDENCE)
    return accept(mined, range(1, len(mined) + 1)).accepted


def _at(draw: Simulated, time: int, k: int, known: tuple[Association, ...]) -> list[Outcome]:
    codes, counts = _linked(draw)
    local = _local(draw, time, k)
    linkage = _linkage_levels(draw, codes, time, k)
    semantic = semantic_levels(codes, linkage, [local], draw.hierarchies, known, k)
    names = list(draw.hierarchies)
    own = [names.index(name) for name in SCHEMES[time]]
    trees = [draw.hierarchies[name] for name in SCHEMES[time]]
    found = []
    for scheme, levels, changed in (
        ("LA", linkage, 0),
        ("SLA", semantic.levels, len(semantic.changes)),
    ):
        risks = disclosure_risks(codes, levels, [local], draw.hierarchies, known)
        risk = float(disclosure_risk(risks, counts))
        lucky = largest_risks(codes, levels, [local], draw.hierarchies, known)
        largest = float(disclosure_risk(lucky, counts))
        loss = squared_errors(codes[:, own], levels[:, own], trees, counts)
        found.append(Outcome(scheme, time, k, risk, largest, loss, changed))
    return found


def _local(draw: Simulated, time: int, k: int) -> Local:
    names = list(draw.hierarchies)
    own = [names.index(name) for name in SCHEMES[time]]
    trees = [draw.hierarchies[name] for name in SCHEMES[time]]
    return Local.from_codes("registry", SCHEMES[time], trees, draw.registry[:, own], k=k)


def _linkage_levels(draw: Simulated, codes: Codes, time: int, k: int) -> Levels:
    return least_levels(
        codes,
        [_local(draw, time, k)],
        list(draw.hierarchies.values()),
        quasi_identifiers=list(draw.hierarchies),
    )


def _linked(draw: Simulated) -> tuple[Codes, npt.NDArray[np.int64]]:
    """The distinct tuples of the linked individuals, and how many have each."""
    return np.unique(draw.linked, axis=0, return_counts=True)
