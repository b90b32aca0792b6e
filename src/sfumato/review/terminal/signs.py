"""How marks, rarity and modes are drawn, in Unicode or in ASCII, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.review.modes import Mode
from sfumato.review.state.opening import Reason
from sfumato.review.values import Mark, Rarity

MEANING: Mapping[Mark, str] = {
    Mark.IDENTICAL: "identical",
    Mark.DIFFERENT: "entirely different",
    Mark.MISSING: "a value is missing",
    Mark.INSERTED: "row 2 has characters more",
    Mark.DELETED: "row 1 has characters more",
    Mark.SUBSTITUTED: "characters replaced",
    Mark.TRANSPOSED: "neighbours exchanged",
    Mark.DAY_MONTH_SWAP: "day and month exchanged",
    Mark.DAY: "the day differs",
    Mark.MONTH: "the month differs",
    Mark.YEAR: "the year differs",
    Mark.NAME_SWAP: "given and family name exchanged",
}
"""What each mark says."""
MODES: Mapping[Mode, str] = {Mode.MASKED: "masked", Mode.PARTIAL: "partly", Mode.FULL: "in full"}
"""How much shows, in words."""
REFUSED: Mapping[Reason, str] = {
    Reason.BUDGET: "more than the budget holds",
    Reason.PROJECT_BUDGET: "more than the project's budget holds",
    Reason.FLOOR: "fewer than k records could remain",
}
"""Why something is refused."""


@dataclass(frozen=True)
class Signs:
    """The characters that a terminal is drawn with.

    Attributes
    ----------
    marks
        By mark.
    rarity
        By band.
    modes
        By mode, behind the name of an attribute.
    rule, spent, next, left, limit
        The rule between parts, and the parts of a meter.
    hint, more, up, down, dot
        The cell to open next, a cut text, more above and below, and between two words.
    unknown
        In place of a character that cannot be drawn.
    """

    marks: Mapping[Mark, str]
    rarity: Mapping[Rarity, str]
    modes: Mapping[Mode, str]
    rule: str
    spent: str
    next: str
    left: str
    limit: str
    hint: str
    more: str
    up: str
    down: str
    dot: str
    unknown: str


UNICODE = Signs(
    marks={
        Mark.IDENTICAL: "✓",
        Mark.DIFFERENT: "DIFF",
        Mark.MISSING: "missing",
        Mark.INSERTED: "+",
        Mark.DELETED: "−",
        Mark.SUBSTITUTED: "≠",
        Mark.TRANSPOSED: "⇄",
        Mark.DAY_MONTH_SWAP: "⇄ day/month",
        Mark.DAY: "≠ day",
        Mark.MONTH: "≠ month",
        Mark.YEAR: "≠ year",
        Mark.NAME_SWAP: "⇄ names",
    },
    rarity={Rarity.RARE: "▂  ", Rarity.UNCOMMON: "▂▄ ", Rarity.COMMON: "▂▄▆"},
    modes={Mode.MASKED: "○", Mode.PARTIAL: "◐", Mode.FULL: "●"},
    rule="─",
    spent="█",
    next="▓",
    left="░",
    limit="│",
    hint="★",
    more="…",
    up="▲",
    down="▼",
    dot="·",
    unknown="�",
)
ASCII = Signs(
    marks={
        Mark.IDENTICAL: "==",
        Mark.DIFFERENT: "DIFF",
        Mark.MISSING: "missing",
        Mark.INSERTED: "+",
        Mark.DELETED: "-",
        Mark.SUBSTITUTED: "!=",
        Mark.TRANSPOSED: "<>",
        Mark.DAY_MONTH_SWAP: "<> day/month",
        Mark.DAY: "!= day",
        Mark.MONTH: "!= month",
        Mark.YEAR: "!= year",
        Mark.NAME_SWAP: "<> names",
    },
    rarity={Rarity.RARE: "|  ", Rarity.UNCOMMON: "|| ", Rarity.COMMON: "|||"},
    modes={Mode.MASKED: "( )", Mode.PARTIAL: "(/)", Mode.FULL: "(o)"},
    rule="-",
    spent="#",
    next="+",
    left=".",
    limit="|",
    hint="!",
    more=">",
    up="^",
    down="v",
    dot=",",
    unknown="#",
)


def signs_for(encoding: str) -> Signs:
    """The characters that an encoding has.

    Parameters
    ----------
    encoding
        The terminal's encoding.
    """
    return UNICODE if encoding.lower().replace("-", "").startswith("utf") else ASCII
