"""Characters of the data that a terminal would act on, or cannot draw, made visible."""

from __future__ import annotations

import unicodedata

from rich.cells import cell_len

_LINES = {"Zl", "Zp"}


def visible(text: str, encoding: str, unknown: str) -> str:
    """A text as a terminal may get it: no control character, nothing that turns its direction.

    Parameters
    ----------
    text
        A character of the data, or the text of a category.
    encoding
        The terminal's encoding. Characters that it lacks show as their numbers.
    unknown
        What stands in place of a character that cannot be drawn.
    """
    kept = "".join(
        "" if unicodedata.category(each) == "Cf" else unknown if _acts(each) else each
        for each in text
    )
    drawn = kept.encode(encoding, errors="backslashreplace").decode(encoding)
    return drawn if cell_len(drawn) else unknown


def _acts(character: str) -> bool:
    category = unicodedata.category(character)
    return category.startswith("C") or category in _LINES
