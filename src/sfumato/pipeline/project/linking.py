"""The sections about who is who: ``[link]`` and ``[review]``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from sfumato.linkage.model.engine import Engine
from sfumato.pipeline.project.frozen import (
    Frozen,
    Names,
    Rate,
    Several,
    Share,
    SpecificationPart,
)
from sfumato.review.modes import Mode
from sfumato.review.settings import PROPOSED, Costs, MaskWidth, Policy, Settings


class Link(Frozen):
    """How the sources are linked.

    Attributes
    ----------
    specification
        What is compared and how: ``file``, or the fields of link.toml. Without it one is proposed
        as the project runs.
    dedupe
        Whether records of one person are looked for within a source, too.
    one_per_source
        Whether every source has at most one record per person.
    false_match_rate, missed_match_rate
        The thresholds are found from these rates of errors; both or none.
    allow_pairs
        Candidate pairs above which nothing is scored.
    engine
        Where candidate pairs are made and scored.
    model
        A trained model, such as the model.json of another linkage.
    previous
        Folder of an earlier linkage of some of these sources, whose persons keep their ids.
    quasi_identifiers
        Compared columns that go into the linked file; those of the schema when not given.
    check
        Draw pairs for clerical checks that give intervals of this half width.
    by_uncertainty
        Whether the most doubtful pairs come first.
    key_file
        Key for person ids that are the same in every run; random ones without it.
    """

    specification: SpecificationPart | None = None
    dedupe: bool = False
    one_per_source: bool = False
    false_match_rate: Rate | None = None
    missed_match_rate: Rate | None = None
    allow_pairs: Annotated[int, Field(ge=1)] | None = None
    engine: Engine = Engine.DUCKDB
    model: Path | None = None
    previous: Path | None = None
    quasi_identifiers: Names | None = None
    check: Annotated[float, Field(gt=0, lt=0.5)] | None = None
    by_uncertainty: bool = False
    key_file: Path | None = None

    @model_validator(mode="after")
    def _both_rates(self) -> Link:
        if (self.false_match_rate is None) != (self.missed_match_rate is None):
            raise ValueError("'false_match_rate' and 'missed_match_rate' must come together")
        return self


class Reviewers(StrEnum):
    """Where possible matches are reviewed."""

    NONE = "none"
    """Nowhere: records that nobody joined stay apart."""
    TERMINAL = "terminal"
    """In a terminal, with ``sfumato review play``."""
    SIMULATED = "simulated"
    """By a simulated worker, to try a project out; nobody looks at them."""
    APPLICATION = "application"
    """In the web application, with ``sfumato review create`` and ``sfumato serve``."""


class Unanswered(StrEnum):
    """What becomes of possible matches that nobody answered."""

    WAIT = "wait"
    """The project waits for the answer."""
    APART = "apart"
    """Their records stay apart, and the project goes on."""


def _mode(value: object) -> object:
    """A mode by its word, as on the command line."""
    if isinstance(value, str) and value.upper() in Mode.__members__:
        return Mode[value.upper()]
    return value


Start = Annotated[
    Mode,
    BeforeValidator(_mode, json_schema_input_type=str),
    PlainSerializer(lambda mode: mode.name.lower(), return_type=str),
]


class Review(Frozen):
    """Who looks at possible matches, and how much they may see.

    Attributes
    ----------
    by
        Where they are reviewed.
    unanswered
        What becomes of those that nobody answered.
    k
        Records that what is disclosed must fit at least.
    budget, project_budget
        KAPR that each worker, and all together, may spend; no limit when not given.
    costs, mask_width, policy, start, hints
        As in ``sfumato review play``.
    folder
        Where people review in a terminal; nothing in it is ever replaced.
    certainty
        A simulated worker opens cells until it is so sure of its answer.
    decisions
        The answers as a file: what ``sfumato review export`` writes of the web application.
    """

    by: Reviewers = Reviewers.NONE
    unanswered: Unanswered = Unanswered.WAIT
    k: Annotated[int, Field(ge=1)] = PROPOSED.k
    budget: Rate | None = None
    project_budget: Rate | None = None
    costs: Costs = PROPOSED.costs
    mask_width: MaskWidth = PROPOSED.mask_width
    policy: Policy = PROPOSED.policy
    start: Start = PROPOSED.start
    hints: bool = PROPOSED.hints
    folder: Path = Path("review")
    certainty: Annotated[float, Field(ge=0.5, le=1, allow_inf_nan=False)] = 0.9
    decisions: Path | None = None

    @property
    def settings(self) -> Settings:
        """The rules of the review."""
        return Settings(
            k=self.k,
            budget=self.budget,
            project_budget=self.project_budget,
            costs=self.costs,
            mask_width=self.mask_width,
            policy=self.policy,
            start=self.start,
            hints=self.hints,
        )


class Undecided(StrEnum):
    """What becomes of a release while associations wait for a decision."""

    WAIT = "wait"
    """The project waits for the custodian."""
    GO_ON = "go on"
    """Only what was accepted counts as known."""


class OnRequest(Frozen):
    """Who may have what: the release is what a policy's rules allow for a request.

    Attributes
    ----------
    file
        The policy.
    request
        The policy's request that is answered.
    local
        The data of each database whose readers ask, by the database's name.
    rules
        Files with more rules, beside those that the policy names.
    ledger
        What was released before, and where this release is noted.
    keys
        Where the ledger's keys are, outside its folder.
    association_support, association_confidence
        From when on an association is proposed.
    undecided
        What becomes of the release while associations of the ledger wait for a decision.
    """

    file: Path
    request: str
    local: Annotated[dict[str, Path], Field(default_factory=dict)]
    rules: Annotated[tuple[Path, ...], Several] = ()
    ledger: Path | None = None
    keys: Path | None = None
    association_support: Share = 0.01
    association_confidence: Share = 0.9
    undecided: Undecided = Undecided.WAIT
