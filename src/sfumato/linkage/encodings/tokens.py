"""Cut a value into tokens, and share a field's bits among them."""

from __future__ import annotations

from sfumato.linkage.encodings.spec import FieldEncoding


def tokens_of(value: str, field: FieldEncoding) -> list[str]:
    """The tokens of a standardised value; none where it is empty.

    Runs of ``n`` characters with n - 1 blanks put before and behind; a positional one begins
    with its place from 1 and a blank, as in clkhash.

    Parameters
    ----------
    value
        The value.
    field
        How it is cut.
    """
    if not value:
        return []
    if field.comparison == "exact":
        return [value]
    n, blanks = field.n, " " * (field.n - 1)
    text = f"{blanks}{value}{blanks}"
    runs = [text[at : at + n] for at in range(len(text) - n + 1)]
    if field.positional:
        return [f"{place} {run}" for place, run in enumerate(runs, start=1)]
    return runs


def bits_of(count: int, field: FieldEncoding) -> list[int]:
    """How many positions each of ``count`` tokens sets; the first ones get what is left over."""
    if field.per == "token" or not count:
        return [field.bits] * count
    each, more = divmod(field.bits, count)
    return [each + 1] * more + [each] * (count - more)
