"""What a linkage of clear tables found beside pairs and persons: a model, pairs for review."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.linkage.checks import Checked, Checks, check_answers
from sfumato.linkage.found import Found
from sfumato.linkage.model.saved import Model
from sfumato.linkage.numbers import expected_json, unless_contradicted
from sfumato.linkage.persons.decisions import Decisions
from sfumato.linkage.spec.model import LinkSpec

_MANY_RECORDS, _LARGE_SHARE = 20, 0.1
"""From so many records, and that share of all of them, one person's records are doubted."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Linkage(Found):
    """Everything that a linkage of clear tables found.

    Attributes
    ----------
    review
        The possible matches by score, with the attributes that people tell records apart by.
    identifying
        All records with those attributes, as a Parquet file; ``None`` where the folder that the
        linkage was read from has none.
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
    origin
        The folder that the linkage was read from, whose specification, schema and model stay as
        they stand there; ``None`` for one that was just made.
    """

    review: pa.Table = field(repr=False)
    identifying: pa.Buffer | Path | None = field(repr=False)
    spec: LinkSpec
    suggested: bool
    notes: dict[str, str] = field(repr=False)
    model: Model = field(repr=False)
    decisions: Decisions | None
    checks: Checks | None = field(repr=False)
    origin: Path | None = None

    @cached_property
    def checked(self) -> Checked | None:
        """What answers to the pairs drawn for checks say; ``None`` where none were drawn."""
        if self.checks is None:
            return None
        return check_answers(self.checks, self.pairs, self.settled.verdicts, self.lost)

    @cached_property
    def expected(self) -> dict[str, Any]:
        """The errors to be expected, as `unless_contradicted` gives them."""
        quality = None if self.checked is None else self.checked.quality
        checks = {each.name: each.to_json() for each in quality or ()}
        return unless_contradicted(expected_json(self), checks)

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Which of the expected precision and recall the checked pairs contradict."""
        return tuple(self.expected.get("contradicted", ()))

    @property
    def lost(self) -> float:
        """Expected number of true matches that blocking has lost."""
        return self.model.lost

    @property
    def warnings(self) -> tuple[str, ...]:
        """What somebody should look at."""
        dates = tuple(
            f"'{name}': {count:,} values are no dates and count as missing."
            for name, count in self.model.impossible.items()
            if count
        )
        return (
            *self.model.notes,
            *dates,
            *self._joined(),
            *self._contradicted(),
            *self.linked_schema.warnings,
        )

    def _joined(self) -> tuple[str, ...]:
        """A warning where one person has so many records that they can hardly be one's."""
        person = self.settled.persons.person
        most = int(np.bincount(person).max(initial=0))
        if most < _MANY_RECORDS or most < _LARGE_SHARE * len(person):
            return ()
        said = (
            f"one person has {most:,} of the {len(person):,} records: records of different people "
            "have probably been joined; see whether what is compared tells people apart."
        )
        return (said,)

    def _contradicted(self) -> tuple[str, ...]:
        """A warning where pairs that people checked speak against the model."""
        if not self.contradicted:
            return ()
        said = (
            "the checked pairs contradict the model: what it expects of "
            f"{' and '.join(self.contradicted)} lies outside the interval of the checks, and is "
            "not shown. See whether what is compared tells people apart."
        )
        return (said,)
