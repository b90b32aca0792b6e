"""Options about the rules of a review, and the words of those with choices."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

RULES = "The rules"


class CostsWord(StrEnum):
    """Words of ``--costs``; see `sfumato.review.settings.Costs`."""

    BOUND = "bound"
    EXACT = "exact"


class WidthWord(StrEnum):
    """Words of ``--mask-width``; see `sfumato.review.settings.MaskWidth`."""

    TRUE = "true"
    FIXED = "fixed"


class PolicyWord(StrEnum):
    """Words of ``--policy``; see `sfumato.review.settings.Policy`."""

    CONSISTENT = "consistent"
    PAPER = "paper"


class StartWord(StrEnum):
    """Words of ``--start``; see `sfumato.review.modes.Mode`."""

    MASKED = "masked"
    PARTIAL = "partial"
    FULL = "full"


Budget = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="KAPR",
        help="KAPR that may be spent, from 0 to 1; no limit without it. Another one later "
        "holds from then on and is recorded; what was spent stays spent.",
        show_default=False,
        rich_help_panel=RULES,
    ),
]
K = Annotated[
    int | None,
    typer.Option(
        "--k",
        min=1,
        metavar="NUMBER",
        help="Records that what is disclosed must fit at least; 1 when not given.",
        show_default=False,
        rich_help_panel=RULES,
    ),
]
CostsOption = Annotated[
    CostsWord | None,
    typer.Option(
        "--costs",
        help="Costs before opening: the most by what shows (bound, the default), or the exact "
        "ones, which tell how frequent a hidden value is.",
        show_default=False,
        rich_help_panel=RULES,
    ),
]
Width = Annotated[
    WidthWord | None,
    typer.Option(
        "--mask-width",
        help="Masked values as wide as they are (true, the default), or all alike.",
        show_default=False,
        rich_help_panel=RULES,
    ),
]
PolicyOption = Annotated[
    PolicyWord | None,
    typer.Option(
        "--policy",
        help="Which records count as fitting: by all that was seen of the record (consistent, "
        "the default), or by its row alone, as in the paper.",
        show_default=False,
        rich_help_panel=RULES,
    ),
]
Start = Annotated[
    StartWord | None,
    typer.Option(
        "--start",
        help="How much shows of each pair at first; masked when not given.",
        show_default=False,
        rich_help_panel=RULES,
    ),
]
WorkerBudget = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="KAPR",
        help="What each worker may spend; 0.2 when not given, 1 for no limit.",
        show_default=False,
        rich_help_panel=RULES,
    ),
]
ProjectBudget = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="KAPR",
        help="What all workers together may.  [default: no limit]",
        show_default=False,
        rich_help_panel=RULES,
    ),
]
Hints = Annotated[
    bool, typer.Option("--hints", help="Say which cell to open next.", rich_help_panel=RULES)
]


def given(
    *,
    budget: float | None = None,
    k: int | None = None,
    costs: CostsWord | None = None,
    mask_width: WidthWord | None = None,
    policy: PolicyWord | None = None,
    start: StartWord | None = None,
    hints: bool | None = None,
) -> dict[str, Any]:
    """The settings that a command line gives.

    Parameters
    ----------
    budget, k, costs, mask_width, policy, start, hints
        The options; ``None`` where one is not given.
    """
    from sfumato.review.modes import Mode
    from sfumato.review.settings import Costs, MaskWidth, Policy

    every = {
        "budget": budget,
        "k": k,
        "costs": None if costs is None else Costs(costs.value),
        "mask_width": None if mask_width is None else MaskWidth(mask_width.value),
        "policy": None if policy is None else Policy(policy.value),
        "start": None if start is None else Mode[start.name],
        "hints": hints,
    }
    return {name: value for name, value in every.items() if value is not None}
