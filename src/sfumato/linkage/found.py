"""What every linkage finds, of clear tables or of encodings: pairs, persons, a linked file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.measure import Measure
from sfumato.linkage.linked.linked_file import linked_table
from sfumato.linkage.linked.person_ids import PersonIds
from sfumato.linkage.linked.schema import LinkedSchema
from sfumato.linkage.linked.stack import Analytic
from sfumato.linkage.manifest import LinkManifest
from sfumato.linkage.outcomes.thresholds import Codes, Thresholds
from sfumato.linkage.pairs.table import named_records, pairs_table
from sfumato.linkage.settle import Settled
from sfumato.linkage.values import Ints, Pairs, Records
from sfumato.schema import Schema

ORDER = 1
"""The stream of the seed that the linked file's order comes from."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Found(ABC):
    """What every linkage finds.

    Attributes
    ----------
    records
        The records that were linked.
    pairs
        Their candidate pairs; the id of the first one is ``p1``.
    settled
        Outcomes, decisions, persons by number, and the errors to be expected.
    person_ids
        The persons' ids, and what became of the persons of an earlier linkage.
    analytic
        What is analysed, by numbers of records.
    linked_schema
        What each column of the linked file is, and what to look at.
    manifest
        What repeats the linkage.
    """

    records: Records
    pairs: Pairs
    settled: Settled
    person_ids: PersonIds
    analytic: Analytic = field(repr=False)
    linked_schema: LinkedSchema = field(repr=False)
    manifest: LinkManifest

    @property
    def outcomes(self) -> Codes:
        """Outcome of each pair: 0 non-match, 1 possible match, 2 match."""
        return self.settled.outcome

    @property
    def thresholds(self) -> Thresholds:
        """Scores from which a pair is a possible match, and a match."""
        return self.settled.thresholds

    @property
    def quality(self) -> tuple[Measure, Measure]:
        """Expected precision and recall; recall counts what is not among the pairs."""
        return self.settled.quality

    @property
    @abstractmethod
    def lost(self) -> float:
        """Expected number of true matches that are not among the pairs."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Numbers about the linkage as plain values; no value of the data."""

    @property
    def seed(self) -> int:
        """Seed of the persons' ids and of the linked file's order."""
        return self.manifest.seed

    @property
    def schema(self) -> Schema:
        """What each column of the linked file is."""
        return self.linked_schema.schema

    @cached_property
    def persons(self) -> pa.Table:
        """Whose each record is: source, id, person."""
        source, ids = named_records(self.records, np.arange(self.records.count))
        return pa.table({"source": source, "id": ids, "person": self.person_ids.ids})

    @property
    def person_sizes(self) -> Ints:
        """Number of records of each person."""
        return np.bincount(self.settled.persons.person)

    @cached_property
    def linked(self) -> pa.Table:
        """The linked file: persons without identities, what is analysed, in a random order."""
        rng = np.random.default_rng([self.seed, ORDER])
        return linked_table(self.analytic, self.person_ids.ids, rng)

    @cached_property
    def pairs_table(self) -> pa.Table:
        """The pairs as pairs.parquet holds them."""
        return pairs_table(self.records, self.pairs, self.outcomes)
