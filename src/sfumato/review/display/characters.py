"""Characters as a reader counts them, and as they are compared."""

from __future__ import annotations

import unicodedata

import regex

_INVISIBLE = regex.compile(r"[\p{Cc}\p{Bidi_Control}\u00AD\u200B\u2060\uFEFF]")
_GRAPHEME = regex.compile(r"\X")
_ACCENT = regex.compile(r"[\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF]")


def cleaned(text: str) -> str:
    """A text in Unicode's composed form; single spaces, and no characters that cannot be seen.

    Joiners stay: they are part of emoji and of Persian and Indic words.

    Parameters
    ----------
    text
        A value as it is stored.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    spaced = " ".join(unicodedata.normalize("NFC", text).split())
    return " ".join(_INVISIBLE.sub("", spaced).split())


def graphemes(text: str) -> tuple[str, ...]:
    """What a reader counts as the characters of a text (Unicode Standard Annex 29).

    Parameters
    ----------
    text
        A cleaned text.
    """
    if text.isascii():
        return tuple(text)
    return tuple(_GRAPHEME.findall(text))


def folded(character: str, *, case: bool, accents: bool) -> str:
    """A character as it is compared.

    Parameters
    ----------
    character
        One grapheme, or a category's whole text.
    case, accents
        Whether they count; where they do not they are removed.
    """
    if character.isascii():
        return character if case else character.lower()
    result = character if case else character.casefold()
    if not accents:
        bare = _ACCENT.sub("", unicodedata.normalize("NFD", result))
        result = bare or result
    return unicodedata.normalize("NFC", result)
