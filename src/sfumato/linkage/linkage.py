"""What a linkage found: pairs, persons, the linked file, and how good it is expected to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.core.measure import Measure
from sfumato.linkage.checks import Checked, Checks, check_answers
from sfumato.linkage.linked.linked_file import linked_table
from sfumato.linkage.linked.person_ids import PersonIds
from sfumato.linkage.linked.schema import LinkedSchema
from sfumato.linkage.linked.stack import Analytic
from sfumato.linkage.manifest import LinkManifest
from sfumato.linkage.model.saved import Model
from sfumato.linkage.outcomes.thresholds import Codes, Thresholds
from sfumato.linkage.pairs.table import named_records, pairs_table
from sfumato.linkage.persons.decisions import Decisions
from sfumato.linkage.settle import Settled
from sfumato.linkage.spec.model import LinkSpec
from sfumato.linkage.values import Ints, Pairs, Records
from sfumato.schema import Schema

ORDER = 1
"""The stream of the seed that the linked file's order comes from."""


@dataclass(frozen=True, eq=False)
class Linkage:
    """Everything that a linkage found.

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
    review
        The possible matches by score, with the attributes that people tell records apart by.
    spec
        What was linked, and how.
    suggested
        Whether sfumato proposed the specification.
    notes
        Why, by column and rule, where it did.
    model
        The model that scored the pairs.
    decisions
        What people answered.
    checks
        Pairs drawn for clerical checks, where they were asked for.
    manifest
        What repeats the linkage.
    origin
        The folder that the linkage was read from, whose specification, schema and model stay as
        they stand there; ``None`` for one that was just made.
    """

    records: Records
    pairs: Pairs
    settled: Settled
    person_ids: PersonIds
    analytic: Analytic = field(repr=False)
    linked_schema: LinkedSchema = field(repr=False)
    review: pa.Table = field(repr=False)
    spec: LinkSpec
    suggested: bool
    notes: dict[str, str] = field(repr=False)
    model: Model = field(repr=False)
    decisions: Decisions | None
    checks: Checks | None = field(repr=False)
    manifest: LinkManifest
    origin: Path | None = None

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
        """Expected precision and recall; recall counts what blocking may have lost."""
        return self.settled.quality

    @property
    def checked(self) -> Checked | None:
        """What answers to the pairs drawn for checks say; ``None`` where none were drawn."""
        if self.checks is None:
            return None
        return check_answers(self.checks, self.pairs, self.settled.verdicts, self.lost)

    @property
    def lost(self) -> float:
        """Expected number of true matches that blocking has lost."""
        return self.model.lost

    @property
    def seed(self) -> int:
        """Seed of the persons' ids and of the linked file's order."""
        return self.manifest.seed

    @property
    def schema(self) -> Schema:
        """What each column of the linked file is."""
        return self.linked_schema.schema

    @property
    def warnings(self) -> tuple[str, ...]:
        """What somebody should look at."""
        dates = tuple(
            f"'{name}': {count:,} values are no dates and count as missing."
            for name, count in self.model.impossible.items()
            if count
        )
        return (*self.model.notes, *dates, *self.linked_schema.warnings)

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
