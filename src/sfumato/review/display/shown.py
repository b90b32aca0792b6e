"""A value as it is displayed in full."""

from __future__ import annotations

from sfumato.review.attributes import Attribute, AttributeKind
from sfumato.review.display.characters import cleaned, folded, graphemes
from sfumato.review.display.date_layout import layout
from sfumato.review.display.dates import digits, is_digit
from sfumato.review.values import Shown


def shown(attribute: Attribute, text: str | None) -> Shown | None:
    """The value of an attribute as it would be displayed in full; ``None`` where it is missing.

    Characters are graphemes; a category is one. A date is displayed by its digits in the
    attribute's order; its separators are no characters. What is no date is displayed as the text
    that it is, and its separators are characters; but digits alone are set like a date's, so
    that where separators stand follows from the characters. Runs of spaces become one; a text
    without visible characters is missing.

    Parameters
    ----------
    attribute
        What the value is of.
    text
        The value as it is stored.
    """
    text = cleaned(text or "")
    if not text:
        return None
    places: tuple[int | str, ...] | None = None
    if attribute.kind is AttributeKind.CATEGORY:
        characters: tuple[str, ...] = (text,)
    elif attribute.kind is AttributeKind.DATE:
        characters = graphemes(digits(text, attribute.date_order) or text)
        if all(is_digit(each) for each in characters):
            places = layout(attribute.date_order, len(characters))
    else:
        characters = graphemes(text)
    return Shown(
        characters=characters,
        layout=places or tuple(range(len(characters))),
        folded=tuple(
            folded(each, case=attribute.case_sensitive, accents=attribute.accent_sensitive)
            for each in characters
        ),
    )


def text_of(value: Shown) -> str:
    """The text of a value displayed in full.

    Parameters
    ----------
    value
        The value.
    """
    return "".join(
        value.characters[each] if isinstance(each, int) else each for each in value.layout
    )
