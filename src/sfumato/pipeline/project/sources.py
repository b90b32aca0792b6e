"""The sections that say what a project is of: ``[project]`` and ``[sources]``."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, StrictInt, StringConstraints

from sfumato.pipeline.project.frozen import Frozen

SEED_BITS = 63
Seed = Annotated[StrictInt, Field(ge=0, lt=1 << SEED_BITS)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,79}$")]
Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]


class About(Frozen):
    """What the project is called, where its random choices come from, and whom it is for.

    What is said of recipients, purpose, controls, context and reasons stands in both versions of
    the report, the one that may be published included.

    Attributes
    ----------
    name
        Letters, digits, spaces, dots, hyphens and underscores; it stands in reports.
    seed
        Seed of every random choice. Whoever has it and the sources can undo pseudonyms.
    recipients
        Who gets the release.
    purpose
        What they want it for.
    controls
        What keeps them to that: contracts, rooms, deletion.
    context
        What else the reader of the report should know.
    review_date
        When the decision is to be looked at again.
    reasons
        Why columns have their roles, and promises their numbers, by their names.
    """

    name: Name
    seed: Seed
    recipients: Said | None = None
    purpose: Said | None = None
    controls: Said | None = None
    context: Said | None = None
    review_date: date | None = None
    reasons: Annotated[dict[str, Said], Field(default_factory=dict)]


class Source(Frozen):
    """A table that the project starts from.

    Attributes
    ----------
    file
        The table: CSV, Parquet; Excel, SPSS, Stata and SAS with the extra ``formats``.
    delimiter
        The separator of a CSV file; found by itself when not given.
    id
        The column that names each record within the table.
    attach
        Further records of the table's persons by its ids, such as visits; they stand in the
        linked file instead of the table's own.
    """

    file: Path
    delimiter: Annotated[str, StringConstraints(min_length=1, max_length=1)] | None = None
    id: str | None = None
    attach: Path | None = None
