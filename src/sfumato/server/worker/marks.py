"""How marks and rarity are drawn: an icon or a short word, and always a text beside."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from sfumato.review.review_settings import Mark, Rarity

_PATHS = {
    "tick": "M2.5 8.5l3.8 3.8L13.5 4",
    "plus": "M8 2.5v11M2.5 8h11",
    "minus": "M2.5 8h11",
    "unequal": "M2.5 6h11M2.5 10.5h11M11 2.5L5 14",
    "swap": "M2 5h11.5l-3-3M14 11H2.5l3 3",
}
_DRAWN: dict[Mark, tuple[str, str]] = {
    Mark.IDENTICAL: ("tick", ""),
    Mark.DIFFERENT: ("", "DIFF"),
    Mark.MISSING: ("", "missing"),
    Mark.INSERTED: ("plus", ""),
    Mark.DELETED: ("minus", ""),
    Mark.SUBSTITUTED: ("unequal", ""),
    Mark.TRANSPOSED: ("swap", ""),
    Mark.DAY_MONTH_SWAP: ("swap", "day/month"),
    Mark.DAY: ("unequal", "day"),
    Mark.MONTH: ("unequal", "month"),
    Mark.YEAR: ("unequal", "year"),
    Mark.NAME_SWAP: ("swap", "names"),
}
MEANING: dict[Mark, str] = {
    Mark.IDENTICAL: "the values are identical",
    Mark.DIFFERENT: "the values are entirely different",
    Mark.MISSING: "a value is missing",
    Mark.INSERTED: "row 2 has characters that row 1 has not",
    Mark.DELETED: "row 1 has characters that row 2 has not",
    Mark.SUBSTITUTED: "a character was replaced by another",
    Mark.TRANSPOSED: "two neighbouring characters changed places",
    Mark.DAY_MONTH_SWAP: "day and month changed places",
    Mark.DAY: "the day differs",
    Mark.MONTH: "the month differs",
    Mark.YEAR: "the year differs",
    Mark.NAME_SWAP: "given and family name changed places",
}
"""What each mark says, for the legend and for screen readers."""
_BARS = {Rarity.RARE: 1, Rarity.UNCOMMON: 2, Rarity.COMMON: 3}


def draw_mark(mark: Mark) -> SafeString:
    """A mark as it is drawn between the rows.

    Parameters
    ----------
    mark
        The mark.
    """
    icon, word = _DRAWN[mark]
    return format_html(
        '<span class="mark {}">{}<span aria-hidden="true">{}</span>'
        '<span class="hidden">{}. </span></span>',
        mark.name.lower().replace("_", "-"),
        _svg(icon),
        word,
        MEANING[mark],
    )


def draw_rarity(rarity: Rarity) -> SafeString:
    """How rare a value is: one bar for rare, three for common.

    Parameters
    ----------
    rarity
        The band.
    """
    bars = mark_safe(  # noqa: S308 - made of numbers
        "".join(
            f'<rect x="{1 + 5 * place}" y="{9 - 4 * place}" width="3.5" height="{5 + 4 * place}"'
            f' class="{"on" if place < _BARS[rarity] else "off"}"/>'
            for place in range(3)
        )
    )
    return format_html(
        '<span class="rarity {}"><svg viewBox="0 0 16 15" aria-hidden="true">{}</svg>'
        '<span class="hidden">{} value. </span></span>',
        rarity.value,
        bars,
        rarity.value,
    )


def _svg(icon: str) -> SafeString:
    if not icon:
        return SafeString()
    return format_html(
        '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg>', _PATHS[icon]
    )
