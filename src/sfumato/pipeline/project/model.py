"""What a project file says, as one value, and what it starts from."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import Field, StrictInt, StringConstraints, model_validator

from sfumato.pipeline.project.frozen import Frozen, InFile, SchemaPart, TablePlace
from sfumato.pipeline.project.linking import Link, OnRequest, Review, Reviewers
from sfumato.pipeline.project.outputs import Attack, Outputs
from sfumato.pipeline.project.releasing import Assess, LedgerSection, Release

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
        The table: CSV, Parquet; Excel, SPSS, Stata and SAS with the extra ``formats``; the URL of a
        table of PostgreSQL or SQLite with the extra ``databases``.
    delimiter
        The separator of a CSV file; found by itself when not given.
    id
        The column that names each record within the table.
    attach
        Further records of the table's persons by its ids, such as visits; they stand in the
        linked file instead of the table's own.
    """

    file: TablePlace
    delimiter: Annotated[str, StringConstraints(min_length=1, max_length=1)] | None = None
    id: str | None = None
    attach: TablePlace | None = None


SourceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$")]


class Project(Frozen):
    """A project: from raw tables to a release and its reports.

    Attributes
    ----------
    about
        ``[project]``: its name and its seed.
    sources
        ``[sources.NAME]``: the tables that it starts from.
    columns
        ``[schema]``: what each column is.
    link
        ``[link]``: how the sources are linked.
    review
        ``[review]``: who looks at possible matches.
    policy
        ``[policy]``: who may have what, where a policy decides about the release.
    assess
        ``[assess]``: what is measured first.
    release
        ``[release]``: promises, where no policy decides.
    ledger
        ``[ledger]``: where releases are remembered; without it they are not.
    attack
        ``[attack]``: what the simulated intruder holds; without it there is no attack.
    outputs
        ``[outputs]``: where the results go.
    """

    about: Annotated[About, Field(alias="project")]
    sources: Annotated[dict[SourceName, Source], Field(min_length=1)]
    columns: Annotated[SchemaPart | None, Field(alias="schema")] = None
    link: Link | None = None
    review: Review = Review()
    policy: OnRequest | None = None
    assess: Assess = Assess()
    release: Release = Release()
    ledger: LedgerSection | None = None
    attack: Attack | None = None
    outputs: Outputs = Outputs()

    @property
    def is_linked(self) -> bool:
        """Whether records are linked: of several sources, or within one."""
        return len(self.sources) > 1 or self.link is not None

    @property
    def columns_are_in_file(self) -> bool:
        """Whether the schema stands in a file of its own."""
        return isinstance(self.columns, InFile)

    @property
    def is_reviewed(self) -> bool:
        """Whether people look at possible matches."""
        return self.is_linked and self.review.by is not Reviewers.NONE

    @model_validator(mode="before")
    @classmethod
    def _ledger_in_its_place(cls, fields: Any) -> Any:
        policy = fields.get("policy") if isinstance(fields, dict) else None
        moved = {"ledger", "keys"} & set(policy) if isinstance(policy, dict) else ()
        if moved:
            raise ValueError(
                "policy: the ledger has a section of its own: write 'ledger' as 'file' and 'keys' "
                "as 'keys' under [ledger]"
            )
        return fields

    @model_validator(mode="after")
    def _fits_together(self) -> Project:
        if not self.is_linked:
            if self.columns is None:
                raise ValueError("schema: must be given where nothing is linked")
            if self.review.by is not Reviewers.NONE:
                raise ValueError("review: is for sources that are linked")
            if any(source.attach is not None for source in self.sources.values()):
                raise ValueError("sources: 'attach' is for sources that are linked")
        promised = self.release.promises or self.release.presets or self.release.thresholds
        if self.policy is None and not promised:
            raise ValueError(
                "release: must promise something, for example g_balance = 0.9, or a policy decides"
            )
        if self.policy is not None and self.release.model_fields_set - {
            "keep_order",
            "pseudonym_key",
        }:
            raise ValueError(
                "release: only 'keep_order' and 'pseudonym_key' can stand beside a policy, whose "
                "rules decide all else"
            )
        if self.policy is not None and self.ledger is not None and self.ledger.to is not None:
            raise ValueError("ledger: 'to' is for a release by promises; a policy names who asks")
        if self.policy is not None and self.attack is not None:
            raise ValueError("attack: is for a release by promises; leave it out beside a policy")
        named = [source.id is not None for source in self.sources.values()]
        if any(named) and not all(named):
            raise ValueError("sources: 'id' must be given for all of them, or for none")
        return self
