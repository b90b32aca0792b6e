"""What linked tuples give away, and what they lose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure
from sfumato.semantics.linkage_anonymity.linked import Linked
from sfumato.semantics.linkage_anonymity.loss import certainty_penalties, squared_errors
from sfumato.semantics.linkage_anonymity.matches import matches


@dataclass(frozen=True, eq=False)
class Measured:
    """Risk and loss of generalised linked tuples.

    Attributes
    ----------
    matches
        Matching individuals of each local data set, by its name; each of shape (tuples,).
    risk
        Mean over the linked individuals of 1 / matching individuals (paper 002, Eq. 2-3), in
        the local data set where it is largest. A linked individual of several tuples counts
        with its largest risk.
    squared_error
        SSE / SST over the linkage quasi-identifiers (Eq. 4), in [0, 1].
    ncp
        Weighted certainty penalty over the linkage quasi-identifiers, mean over individuals.
    """

    matches: dict[str, npt.NDArray[np.int64]]
    risk: Measure
    squared_error: float
    ncp: float

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "linkage_risk": self.risk.to_json(),
            "sse_sst": self.squared_error,
            "ncp": self.ncp,
            "smallest_match": {name: int(counts.min()) for name, counts in self.matches.items()},
        }


def measured(linked: Linked, levels: npt.NDArray[np.integer]) -> Measured:
    """Measure the linked tuples at these levels.

    Parameters
    ----------
    linked
        The linked tuples.
    levels
        Level of each value, shape (tuples, QIs).
    """
    counts = {}
    for local in linked.locals_:
        own = linked.columns_of(local)
        counts[local.name] = matches(local, linked.codes[:, own], levels[:, own])
    risks = np.zeros(len(linked.codes))
    for found in counts.values():
        np.maximum(risks, np.where(found > 0, 1 / np.maximum(found, 1), 0.0), out=risks)
    used = linked.linkage_columns
    codes, shown = linked.codes[:, used], levels[:, used]
    hierarchies = [linked.hierarchies[place] for place in used]
    weights = [linked.weights[place] for place in used]
    loss = certainty_penalties(codes, shown, hierarchies, weights)
    return Measured(
        counts,
        Measure("linkage_risk", mean_risk(linked, risks)),
        squared_errors(codes, shown, hierarchies, linked.individuals),
        float(np.average(loss, weights=linked.individuals)) if len(loss) else 0.0,
    )


def mean_risk(linked: Linked, risks: npt.NDArray[np.float64]) -> float:
    """Mean over the linked individuals of the largest risk of their tuples (Eq. 3).

    Parameters
    ----------
    linked
        The linked tuples.
    risks
        Risk of each tuple, shape (tuples,).
    """
    of_person = np.zeros(linked.table.persons)
    np.maximum.at(of_person, linked.table.person, risks[linked.tuple_of])
    return float(of_person.mean()) if len(of_person) else 0.0
