"""What is attacked: a release of this house with what it says of itself, or any file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.measure import Measure
from sfumato.intruder.claims import Claims, claims_of_release
from sfumato.release.release_result import Release
from sfumato.schema import Schema

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Subject:
    """What is attacked.

    Attributes
    ----------
    shown
        The released file: all that the intruder is given of it.
    schema
        What each column of the original is; ``None`` where nobody says it.
    original
        The file that was released, where it is at hand.
    register
        The data that somebody who asked for the release holds, where it is at hand.
    source_rows
        Row of the original of each released record, where it is known.
    claims
        What the release says of itself; ``None`` where it says nothing.
    """

    shown: Any
    schema: Schema | None = None
    original: Any = None
    register: Any = None
    source_rows: Ints | None = None
    claims: Claims | None = None


def subject_of(release: Any) -> Subject:
    """What is attacked, and what it says of itself.

    Parameters
    ----------
    release
        A release of any kind, the path of a file, or a dataframe.
    """
    if isinstance(release, Release):
        return Subject(
            shown=release.table,
            schema=release.schema,
            original=release.original,
            source_rows=release.source_rows,
            claims=claims_of_release(release),
        )
    if type(release).__module__.startswith("sfumato.semantics"):
        return _linked(release)
    return Subject(shown=release)


def _linked(release: Any) -> Subject:
    """A release of linked data: on request (SLA), or under linkage anonymity alone (LA)."""
    from sfumato.semantics.linkage_anonymity import LinkageRelease
    from sfumato.semantics.requested import RequestedRelease

    if isinstance(release, RequestedRelease):
        about = release.manifest["release"]
        return Subject(
            shown=release.table,
            schema=release.asked.schema,
            original=release.asked.data,
            register=next(iter(release.asked.local.values())),
            source_rows=_rows(release.table.num_rows, about["seed"], keep=about["keep_order"]),
            claims=_linkage_claims(release.figures["SLA"].risk, release.k),
        )
    if isinstance(release, LinkageRelease):
        table = release.linked.table
        return Subject(
            shown=release.table,
            schema=table.schema,
            original=release.original,
            source_rows=_rows(table.records, release.seed, keep=_kept(release.table, table.source)),
            claims=_linkage_claims(release.measured.risk.value, release.k),
        )
    return Subject(shown=release)


def _rows(records: int, seed: int, *, keep: bool) -> Ints:
    """The order in which linked records leave, which their seed says."""
    kept = np.arange(records, dtype=np.int64)
    return kept if keep else np.random.default_rng(seed).permutation(records)


def _kept(shown: pa.Table, source: pa.Table) -> bool:
    """Whether the columns that are released unchanged are in the order of the original."""
    both = [name for name in source.column_names if name in shown.column_names]
    same = [name for name in both if shown.field(name).type == source.field(name).type]
    return bool(same) and all(shown.column(name).equals(source.column(name)) for name in same)


def _linkage_claims(risk: float, k: int) -> Claims:
    """The mean over linked individuals of 1 / matching individuals, and at most 1 / k for each.

    That is about somebody who holds local data; nothing is claimed about an acquaintance, who knows
    who is among the linked.
    """
    mean, most = Measure("linkage_risk", risk), Measure("linkage_k", 1 / k)
    return Claims({}, own=True, against_register={"marketer": mean, "journalist": most})
