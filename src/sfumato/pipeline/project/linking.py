"""The sections about who is who, and for whom: ``[link]``, ``[review]`` and ``[policy]``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from sfumato.linkage.link_engine import Engine
from sfumato.linkage.link_options import Comparing, Deduping, ForPeople, Limits, LinkedFile
from sfumato.pipeline.project.frozen import Section, SpecificationPart, declared_fields, with_fields
from sfumato.review.review_settings import CHOSEN, Settings
from sfumato.semantics.request_options import RequestOptions


@with_fields(
    **declared_fields(
        Comparing,
        Deduping,
        Limits,
        ForPeople,
        LinkedFile,
        only=(
            *("dedupe", "one_per_source", "false_match_rate", "missed_match_rate"),
            *("allow_pairs", "engine", "model", "previous", "quasi_identifiers"),
            *("check", "by_uncertainty", "key_file"),
        ),
        usual={"engine": Engine.DUCKDB},
    )
)
class Link(Section):
    """How the sources are linked.

    The other keys are those of the declarations in `sfumato.linkage.link_options`.

    Attributes
    ----------
    specification
        What is compared and how: ``file``, or the fields of link.toml. Without it one is proposed
        as the project runs.
    """

    specification: SpecificationPart | None = None

    @model_validator(mode="after")
    def _both_rates(self) -> Self:
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


@with_fields(**declared_fields(Settings, only=CHOSEN))
class Review(Section):
    """Who looks at possible matches, and how much they may see.

    The other keys are those of `Settings`.

    Attributes
    ----------
    by
        Where they are reviewed.
    unanswered
        What becomes of those that nobody answered.
    folder
        Where people review in a terminal; nothing in it is ever replaced.
    certainty
        A simulated worker opens cells until it is so sure of its answer.
    decisions
        The answers as a file: what ``sfumato review export`` writes of the web application.
    """

    by: Reviewers = Reviewers.NONE
    unanswered: Unanswered = Unanswered.WAIT
    folder: Path = Path("review")
    certainty: Annotated[float, Field(ge=0.5, le=1, allow_inf_nan=False)] = 0.9
    decisions: Path | None = None

    @property
    def settings(self) -> Settings:
        """The rules of the review."""
        return Settings(**{name: getattr(self, name) for name in CHOSEN})


class Undecided(StrEnum):
    """What becomes of a release while associations wait for a decision."""

    WAIT = "wait"
    """The project waits for the custodian."""
    GO_ON = "go on"
    """Only what was accepted counts as known."""


@with_fields(**declared_fields(RequestOptions, required=("file", "request")))
class OnRequest(Section):
    """Who may have what: the release is what a policy's rules allow for a request.

    The other keys are those of `RequestOptions`.

    Attributes
    ----------
    undecided
        What becomes of the release while associations of the ledger wait for a decision.
    """

    undecided: Undecided = Undecided.WAIT
