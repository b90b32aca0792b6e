"""What an intruder knows wrongly, and what not at all."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.intruder.attack_options import Shares
from sfumato.intruder.knowledge.hold import numbers_of
from sfumato.intruder.knowledge.knowledge import Floats, Ints, Knowledge, KnownColumn

Bools = npt.NDArray[np.bool_]
HALF = 0.5
NEARBY = 0.02
"""Standard deviation of a number that is nearly right, as a share of the column's range."""


def with_noise(
    knowledge: Knowledge, errors: Shares, missing: Shares, rng: np.random.Generator
) -> Knowledge:
    """The knowledge with some quasi-identifiers wrong and some unknown, row by row.

    Half of the wrong numbers and dates are near the true ones (normal, with 2 % of the column's
    range as standard deviation, but at least one step of its last digit off), the others are
    those of another row. Half of the wrong texts have a typing slip (a letter or digit replaced,
    left out, or exchanged with the next), the others are those of another row.

    Parameters
    ----------
    knowledge
        What is true.
    errors
        The share of values that are wrong, for all quasi-identifiers or by name.
    missing
        The share of values that the intruder does not know, likewise.
    rng
        Source of randomness.

    Raises
    ------
    InputError
        If a share is not within 0 to 1, or a name is not that of a known quasi-identifier.
    """
    names = [column.name for column in knowledge.quasi_identifiers]
    wrong = _by_name(errors, names, "errors")
    unknown = _by_name(missing, names, "missing")
    return replace(
        knowledge,
        quasi_identifiers=tuple(
            _noisy(column, wrong[column.name], unknown[column.name], rng)
            for column in knowledge.quasi_identifiers
        ),
    )


def _by_name(shares: Shares, names: list[str], parameter: str) -> dict[str, float]:
    given = shares if isinstance(shares, Mapping) else dict.fromkeys(names, shares)
    for name, share in given.items():
        if name not in names:
            raise InputError(
                f"parameter {parameter}",
                f"names column '{name}', which is not among what the intruder knows",
                accepted=", ".join(names),
            )
        if not _is_share(share):
            raise InputError(
                f"parameter {parameter}", "must be a share", accepted="a number from 0 to 1"
            )
    return {name: float(given.get(name, 0.0)) for name in names}


def _is_share(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 <= value <= 1  # type: ignore[operator]


def _noisy(
    column: KnownColumn, errors: float, missing: float, rng: np.random.Generator
) -> KnownColumn:
    rows = len(column.codes)
    known = np.array([text is not None for text in column.texts])[column.codes]
    hidden = known & (rng.random(rows) < missing)
    wrong = np.flatnonzero(known & ~hidden & (rng.random(rows) < errors))
    texts: list[str | None] = [column.texts[code] for code in column.codes.tolist()]
    measured = np.isfinite(column.numbers)[column.codes]
    slipped = rng.random(len(wrong)) < HALF
    near = _nearby(column, wrong, rng)
    other = rng.permutation(np.flatnonzero(known)) if known.any() else np.empty(0, np.int64)
    for place, row in enumerate(wrong.tolist()):
        text = texts[row]
        if text is None:
            continue
        if not slipped[place]:
            texts[row] = column.texts[column.codes[other[place]]]
        elif measured[row]:
            texts[row] = near[place]
        else:
            texts[row] = _slip(text, rng)
    for row in np.flatnonzero(hidden).tolist():
        texts[row] = None
    distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    codes: Ints = np.fromiter((distinct[text] for text in texts), dtype=np.int64, count=rows)
    numbers = numbers_of(tuple(distinct)) if measured.any() else np.full(len(distinct), np.nan)
    return KnownColumn(column.name, tuple(distinct), numbers, codes)


def _nearby(column: KnownColumn, rows: Ints, rng: np.random.Generator) -> list[str]:
    """A value near that of each row, as many decimals as the column has; dates by whole days."""
    finite: Floats = column.numbers[np.isfinite(column.numbers)]
    if not len(finite):
        return [""] * len(rows)
    example = next(
        text
        for text, number in zip(column.texts, column.numbers, strict=True)
        if text is not None and np.isfinite(number)
    )
    dates = example[4:5] == "-" and len(example) > len("0000-00")
    decimals = 0 if dates else _decimals(column)
    step = 10.0**-decimals
    away = rng.normal(0.0, NEARBY * max(float(np.ptp(finite)), step), len(rows))
    away = np.where(np.abs(away) < step, np.where(away < 0, -step, step), away)
    values = column.numbers[column.codes[rows]] + away
    if dates:
        days = np.clip(np.rint(np.nan_to_num(values)), -719_162, 2_932_896).astype(np.int64)
        return [str(day) for day in days.astype("datetime64[D]")]
    return [f"{value:.{decimals}f}" for value in np.nan_to_num(values)]


def _decimals(column: KnownColumn) -> int:
    """The most decimal places that a text has, up to 9."""
    return max(min(len((text or "").partition(".")[2]), 9) for text in column.texts)


def _slip(text: str, rng: np.random.Generator) -> str:
    """The text with one typing slip."""
    if not text:
        return text
    place = int(rng.integers(len(text)))
    kind = int(rng.integers(3))
    if kind == 0 and len(text) > 1:
        return text[:place] + text[place + 1 :]
    if kind == 1 and place + 1 < len(text) and text[place] != text[place + 1]:
        return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    letters = string.digits if text[place].isdigit() else string.ascii_lowercase
    choices = [letter for letter in letters if letter != text[place].lower()]
    return text[:place] + choices[int(rng.integers(len(choices)))] + text[place + 1 :]
