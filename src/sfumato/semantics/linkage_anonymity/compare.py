"""What linkage anonymity loses beside classic k-anonymity on the linked set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.errors import ConstraintsNotMetError
from sfumato.release.anonymize import anonymize
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.schema import Schema
from sfumato.semantics.linkage_anonymity.keys import Ints
from sfumato.semantics.linkage_anonymity.linked import Linked
from sfumato.semantics.linkage_anonymity.loss import normalised_weights, penalty_table
from sfumato.semantics.linkage_anonymity.result import LinkageRelease
from sfumato.semantics.linkage_anonymity.search import Levels


@dataclass(frozen=True)
class Comparison:
    """NCP over all quasi-identifiers and records of the linked set, its values as the domain.

    Attributes
    ----------
    linkage
        Of linkage k-anonymity.
    local_recoding
        Of classic k-anonymity (k persons per class) by the tree, ``None`` where it is
        impossible.
    full_domain
        The same by full-domain recoding.
    """

    linkage: float
    local_recoding: float | None
    full_domain: float | None

    @property
    def saved(self) -> float | None:
        """NCP that linkage anonymity saves against the better of both, below 0 if it loses."""
        known = [each for each in (self.local_recoding, self.full_domain) if each is not None]
        return min(known) - self.linkage if known else None

    def to_json(self) -> dict[str, float | None]:
        """Plain values."""
        return {
            "linkage": self.linkage,
            "local_recoding": self.local_recoding,
            "full_domain": self.full_domain,
            "saved": self.saved,
        }


def compare_with_classic(linked: Any, release: LinkageRelease, *, seed: int = 0) -> Comparison:
    """Hold a release against classic k-anonymity of the linked set alone, with the same k.

    Classic k-anonymity asks for k persons of the linked set per class over all
    quasi-identifiers, those that the requester does not hold included (paper 002, Section 1).

    Parameters
    ----------
    linked
        The linked records that were released.
    release
        What linkage anonymity made of them.
    seed
        Seed of the classic releases.

    Raises
    ------
    InputError
        If the linked data does not fit the schema.
    """
    schema = release.linked.table.schema
    return Comparison(
        _loss_on_linked(release.linked, release.levels),
        _classic(linked, schema, release.k, "local", seed),
        _classic(linked, schema, release.k, "full-domain", seed),
    )


def _classic(linked: Any, schema: Schema, k: int, recoding: str, seed: int) -> float | None:
    form = "hierarchy" if recoding == "local" else "range"
    asked = PidKAnonymity(k)
    try:
        made = anonymize(linked, schema, asked, recoding=recoding, values=form, seed=seed)
    except ConstraintsNotMetError:
        return None
    return made.utility.ncp


def _loss_on_linked(linked: Linked, levels: Levels) -> float:
    """NCP per record over the values of the linked set, as a release measures it."""
    records = np.bincount(linked.tuple_of, minlength=len(linked.codes))
    total = 0.0
    shares = normalised_weights(linked.weights, len(linked.weights))
    for place, (hierarchy, share) in enumerate(zip(linked.hierarchies, shares, strict=True)):
        codes: Ints = linked.codes[:, place]
        used, own = np.unique(codes[codes >= 0], return_inverse=True)
        moved = np.full(len(codes), -1, dtype=np.int32)
        moved[codes >= 0] = own
        kept = hierarchy.restricted([hierarchy.leaves[each] for each in used], "")
        penalty = penalty_table(kept)[levels[:, place], moved]
        total += float(share * (penalty @ records)) / len(linked.tuple_of)
    return total
