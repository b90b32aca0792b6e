"""Risk and loss of a release, as linkage anonymity and as semantic linkage anonymity show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from sfumato.semantics.linkage_anonymity import (
    Linked,
    certainty_penalties,
    mean_risk,
    measured,
    squared_errors,
)
from sfumato.semantics.linkage_anonymity.search import Levels
from sfumato.semantics.requested.known import Known
from sfumato.semantics.sla import disclosure_risks


@dataclass(frozen=True)
class Figures:
    """Risk and loss of the linked tuples at some levels.

    Attributes
    ----------
    risk
        Mean over the linked individuals of 1 / matching individuals, with the accepted
        associations applied (paper 002, Eq. 2-3).
    risk_unaware
        The same without associations.
    sse_sst
        SSE / SST (Eq. 4), in [0, 1], over the linkage quasi-identifiers and the attributes that
        accepted associations speak about.
    ncp
        Weighted certainty penalty over the same, mean over individuals.
    smallest_match
        Individuals of a local data set who match a tuple as it is shown, at least.
    """

    risk: float
    risk_unaware: float
    sse_sst: float
    ncp: float
    smallest_match: int

    def to_json(self) -> dict[str, float]:
        """Plain values."""
        return asdict(self)


def figures_of(linked: Linked, levels: Levels, known: Known) -> Figures:
    """Measure the linked tuples at these levels.

    Parameters
    ----------
    linked
        The linked tuples.
    levels
        Level of each value, shape (tuples, QIs).
    known
        What readers know.
    """
    hierarchies = dict(zip(linked.quasi_identifiers, linked.hierarchies, strict=True))
    risks = disclosure_risks(linked.codes, levels, linked.locals_, hierarchies, known.accepted)
    plain = measured(linked, levels)
    used = columns_counted(linked, known)
    codes, shown = linked.codes[:, used], levels[:, used]
    trees = [linked.hierarchies[place] for place in used]
    loss = certainty_penalties(codes, shown, trees, [linked.weights[place] for place in used])
    return Figures(
        mean_risk(linked, risks),
        float(plain.risk),
        squared_errors(codes, shown, trees, linked.individuals),
        float(np.average(loss, weights=linked.individuals)) if len(loss) else 0.0,
        min(int(counts.min()) for counts in plain.matches.values()),
    )


def columns_counted(linked: Linked, known: Known) -> Sequence[int]:
    """The columns of linkage quasi-identifiers, and of what accepted associations speak about.

    Parameters
    ----------
    linked
        The linked tuples.
    known
        What readers know.
    """
    spoken = {
        item.attribute for each in known.accepted for item in (*each.antecedent, each.consequent)
    }
    linkage = set(linked.linkage_columns)
    return [
        place
        for place, name in enumerate(linked.quasi_identifiers)
        if place in linkage or name in spoken
    ]
