"""The rules of a review, chosen by its manager."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

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

    Parameters
    ----------
    k
        The minimum allowed anonymity-set size, in records.
    k_floor
        What becomes of a disclosure that would leave less.
    policy
        Which records are in an anonymity set.
    costs
        What is shown as a cost.
    mask_width
        How wide a masked value is drawn.
    start
        How much of every attribute shows at first.
    budget
        KAPR that a worker may spend, in [0, 1]; ``None`` for no limit.
    project_budget
        KAPR of all workers' combined state, in [0, 1]; ``None`` for no limit.
    hints
        Whether a worker is told which cell to open next.
    rare_below, common_from
        The numbers of records that bound the rarity bands.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    k: Annotated[int, Field(ge=1)] = 1
    k_floor: Floor = Floor.REFUSE
    policy: Policy = Policy.CONSISTENT
    costs: Costs = Costs.BOUND
    mask_width: MaskWidth = MaskWidth.TRUE
    start: Mode = Mode.MASKED
    budget: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    project_budget: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    hints: bool = False
    rare_below: Annotated[int, Field(ge=2)] = 5
    common_from: Annotated[int, Field(ge=2)] = 50

    @model_validator(mode="after")
    def _bands_in_order(self) -> Settings:
        if self.common_from < self.rare_below:
            raise ValueError("'common_from' must not be below 'rare_below'")
        return self


PROPOSED = Settings(budget=0.2)
"""What is proposed where a project is made: every cell can be opened, and the budget is the limit.

In the trade-off that docs/review.md shows it holds all that hints name.
"""
