"""What a project file says, as one value."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from sfumato.pipeline.project.frozen import Frozen, InFile, SchemaPart
from sfumato.pipeline.project.linking import Link, OnRequest, Review, Reviewers
from sfumato.pipeline.project.outputs import Attack, Outputs
from sfumato.pipeline.project.releasing import Assess, Release
from sfumato.pipeline.project.sources import About, Source

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
        if self.policy is not None and self.attack is not None:
            raise ValueError("attack: is for a release by promises; leave it out beside a policy")
        named = [source.id is not None for source in self.sources.values()]
        if any(named) and not all(named):
            raise ValueError("sources: 'id' must be given for all of them, or for none")
        return self
