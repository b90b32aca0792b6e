"""The rules of a review, chosen by its manager."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, model_validator

from sfumato.core.declaration import Count, Parameter, Share
from sfumato.review.modes import Mode


class Policy(StrEnum):
    """Which records are in a row's anonymity set."""

    PAPER = "paper"
    """Those that agree with what this row alone discloses, lengths and rarity aside."""
    CONSISTENT = "consistent"
    """Those that agree with all that this worker has seen of the record, in whatever pair."""


class Floor(StrEnum):
    """What becomes of a disclosure that would leave an anonymity set below k."""

    REFUSE = "refuse"
    REPORT = "report"
    """It is allowed, and KAPR may exceed 1."""


class Costs(StrEnum):
    """What is shown as the cost of an opening before it."""

    BOUND = "bound"
    """The dearest cost over all values consistent with what this worker sees."""
    EXACT = "exact"
    """The paper's cost; it tells how frequent the hidden value is."""


class MaskWidth(StrEnum):
    """How wide a masked value is drawn."""

    TRUE = "true"
    """As wide as it is: lengths and the places of edits show."""
    FIXED = "fixed"
    """Always as wide: neither shows until characters are disclosed."""


class Settings(BaseModel):
    """The rules of a review.

    Those of `CHOSEN` are options of ``sfumato review`` and keys of a project file's ``[review]``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    k: Annotated[
        int,
        Parameter("Records that what is disclosed must fit at least.", "NUMBER", Count(1)),
    ] = 1
    k_floor: Annotated[
        Floor, Parameter("What becomes of a disclosure that would leave less than k.")
    ] = Floor.REFUSE
    policy: Annotated[
        Policy,
        Parameter(
            "Which records count as fitting: by all that was seen of the record (consistent), or "
            "by its row alone, as in the paper."
        ),
    ] = Policy.CONSISTENT
    costs: Annotated[
        Costs,
        Parameter(
            "Costs before opening: the most by what shows (bound), or the exact ones, which tell "
            "how frequent a hidden value is."
        ),
    ] = Costs.BOUND
    mask_width: Annotated[
        MaskWidth, Parameter("Masked values as wide as they are (true), or all alike.")
    ] = MaskWidth.TRUE
    start: Annotated[Mode, Parameter("How much shows of each pair at first.")] = Mode.MASKED
    budget: Annotated[
        float | None,
        Parameter(
            "KAPR that each worker may spend, from 0 to 1; 1 is no limit. Another one at a later "
            "start holds from then on and is recorded; what was spent stays spent.",
            "KAPR",
            Share(zero=True, one=True),
            usual="no limit; 0.2 for a new project",
        ),
    ] = None
    project_budget: Annotated[
        float | None,
        Parameter(
            "KAPR that all workers together may spend, from 0 to 1.",
            "KAPR",
            Share(zero=True, one=True),
            usual="no limit",
        ),
    ] = None
    hints: Annotated[
        bool,
        Parameter(
            "Say which cell to open next; may be another at a later start.",
            option="--hints/--no-hints",
        ),
    ] = False
    rare_below: Annotated[
        int, Parameter("Fewer records than this are called rare.", "NUMBER", Count(2))
    ] = 5
    common_from: Annotated[
        int, Parameter("From so many records on a value is called common.", "NUMBER", Count(2))
    ] = 50

    @model_validator(mode="after")
    def _bands_in_order(self) -> Settings:
        if self.common_from < self.rare_below:
            raise ValueError("'common_from' must not be below 'rare_below'")
        return self


CHOSEN = (
    "k",
    "budget",
    "project_budget",
    "costs",
    "mask_width",
    "policy",
    "start",
    "hints",
)
"""What is chosen on a command line or in a project file; the web application knows all."""
PROPOSED = Settings(budget=0.2)
"""What is proposed where a project is made: every cell can be opened, and the budget is the limit.

In the trade-off that docs/review.md shows it holds all that hints name.
"""
