"""What an intruder holds: a register as values to compare, exact or with noise."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from datetime import time as time_of_day
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Floats, Ints
from sfumato.core.errors import InputError
from sfumato.intruder.attack_options import Shares
from sfumato.schema import IntervalHierarchy, Kind, QuasiIdentifier, Schema
from sfumato.table.preparation import prepared_in_part
from sfumato.table.sources import Source
from sfumato.table.table_files import open_source

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
MOMENT = (
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?"
)
_NUMBER = re.compile(NUMBER)
_MOMENT = re.compile(MOMENT)
_DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()


def number_of(text: str) -> float | None:
    """The number that is written (``12``, ``-3.50``, ``.5``, ``1e-3``); ``None`` without one."""
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def days_of(text: str) -> float | None:
    """Days from 1970-01-01 to the date, or the date-time as it is written without its zone.

    ``None`` for anything but a date of the calendar in ISO form.
    """
    text = text.strip()
    if _MOMENT.fullmatch(text) is None:
        return None
    day, time = text[:10], text[11:]
    try:
        days = date.fromisoformat(day).toordinal() - _EPOCH
        return float(days) if not time else days + _part_of_day(time)
    except ValueError:
        return None


def measure_of(text: str) -> float | None:
    """The number, or the date in days, that is written; ``None`` for anything else."""
    number = number_of(text)
    return days_of(text) if number is None else number


def _part_of_day(time: str) -> float:
    """The share of the day that has passed; fractions of a microsecond are cut off."""
    clock = re.split(r"[ Z+-]", time, maxsplit=1)[0]
    whole, _, fraction = clock.partition(".")
    moment = time_of_day.fromisoformat(whole)
    seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
    return (seconds * 1_000_000 + int(fraction[:6].ljust(6, "0"))) / _DAY


@dataclass(frozen=True, eq=False)
class Texts:
    """A column as its distinct texts, ``None`` for missing, in order of appearance.

    Codes are by row.
    """

    texts: tuple[str | None, ...]
    codes: Ints


def read_texts(source: Source, names: Sequence[str], missing: Collection[str]) -> dict[str, Texts]:
    """Read columns as texts.

    Texts stay as they are; whole and decimal numbers print without zeros at their end, booleans
    as ``true`` and ``false``, dates and date-times in ISO form.

    Parameters
    ----------
    source
        Where the columns are.
    missing
        Texts that mean a missing value, beside empty cells and spaces; numbers compare by value.
    """
    if not names:
        return {}
    table = pa.Table.from_batches(list(source.batches(names)))
    absent = _Missing(missing)
    return {name: _distinct(table.column(name), absent) for name in names}


def everybody(column: Texts, name: str, subject: str) -> Ints:
    """The person of each row, numbered in order of appearance, shape (rows,)."""
    if None in column.texts:
        row = int(np.argmax(column.codes == column.texts.index(None))) + 1
        raise InputError(
            f"column '{name}' of {subject}",
            "must name the person of every row",
            found=f"no person id in row {row}",
        )
    return column.codes


class _Missing:
    """Tells which texts mean that there is no value."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = frozenset(texts)
        numbers = {number_of(text) for text in texts}
        self._numbers = {number for number in numbers if number is not None}

    def __call__(self, text: str, *, typed: bool) -> bool:
        if not text.strip() or text in self._texts:
            return True
        # A column of texts may hold codes such as 099: only numbers compare by value.
        return typed and bool(self._numbers) and number_of(text) in self._numbers


def _distinct(column: pa.ChunkedArray, absent: _Missing) -> Texts:
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    typed = not _is_text(whole.dictionary.type)
    values = [_printed(value) for value in whole.dictionary.to_pylist()]
    found = np.asarray(pc.fill_null(whole.indices.cast(pa.int64()), -1))
    used, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    places: dict[str | None, int] = {}
    place_of = np.empty(len(used), dtype=np.int64)
    for place in np.argsort(first).tolist():
        text = values[used[place]] if used[place] >= 0 else None
        if text is not None and absent(text, typed=typed):
            text = None
        place_of[place] = places.setdefault(text, len(places))
    return Texts(tuple(places), place_of[inverse.reshape(-1)])


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _printed(value: Any) -> str | None:
    match value:
        case None:
            return None
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            # 0.0 is added as it makes -0.0 plain: zero is written in one way.
            return None if np.isnan(value) else np.format_float_positional(value + 0.0, trim="-")
        case Decimal():
            text = f"{value:f}"
            return text.rstrip("0").rstrip(".") if "." in text else text
        case bytes():
            return value.hex()
    if hasattr(value, "hour") and hasattr(value, "year"):
        return _printed_moment(value)
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _printed_moment(moment: Any) -> str:
    """A date-time without its zone; at midnight the date alone."""
    text = str(moment.replace(tzinfo=None).isoformat())
    return text.removesuffix("T00:00:00")


@dataclass(frozen=True, eq=False)
class KnownColumn:
    """A column of the register: its distinct values, and which row has which.

    Attributes
    ----------
    texts
        The distinct values as they are written; ``None`` where the intruder does not know.
    numbers
        The same as numbers, dates as days since 1970-01-01; NaN where it is neither.
    codes
        The place of each row's value in ``texts``, shape (rows,).
    """

    name: str
    texts: tuple[str | None, ...]
    numbers: Floats
    codes: Ints


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What an intruder knows about the persons of a register, numbered in order of appearance.

    Where the numbers of records of the release are known they have shape (persons,).
    """

    persons: int
    person: Ints
    quasi_identifiers: tuple[KnownColumn, ...]
    others: tuple[KnownColumn, ...]
    counts: Ints | None = None


def hold(register: Any, schema: Schema, *, knows: Sequence[str] | None = None) -> Knowledge:
    """What an intruder knows who has this register.

    A missing value is one that the intruder does not know.

    Parameters
    ----------
    register
        A dataframe, or the path of a file, with exact values. Rows with the same id in the
        schema's person column are about one person; without that column each row is a person.
    knows
        The quasi-identifiers that the intruder knows; all that the register has when not given.
    """
    source = prepared_in_part(open_source(register), schema)
    names = _known_names(source, schema, knows)
    has_person = schema.person is not None and schema.person in source.names
    read = read_texts(source, list(source.names), schema.missing)
    rows = len(read[source.names[0]].codes)
    person, persons = np.arange(rows, dtype=np.int64), rows
    if has_person:
        person = everybody(read[str(schema.person)], str(schema.person), source.subject)
        persons = len(read[str(schema.person)].texts)
    others = [name for name in source.names if name not in names and name != schema.person]
    return Knowledge(
        persons=persons,
        person=person,
        quasi_identifiers=tuple(
            _known(name, read[name], schema.quasi_identifiers[name]) for name in names
        ),
        others=tuple(_other(name, read[name]) for name in others),
    )


def is_measured(quasi: QuasiIdentifier, texts: Sequence[str | None]) -> bool:
    """Whether a quasi-identifier's values, as far as known, are numbers or dates, not labels."""
    if quasi.kind is Kind.NUMERIC or isinstance(quasi.hierarchy, IntervalHierarchy):
        return True
    if quasi.kind is Kind.CATEGORICAL or quasi.order is not None:
        return False
    if quasi.kind is Kind.ORDERED and quasi.hierarchy is not None:
        return False
    numbers = [measure_of(text) for text in texts if text is not None]
    return bool(numbers) and None not in numbers


def _known_names(source: Source, schema: Schema, knows: Sequence[str] | None) -> list[str]:
    if knows is not None:
        asked = [knows] if isinstance(knows, str) else list(knows)
        for name in asked:
            if name not in schema.quasi_identifiers:
                raise InputError(
                    f"column '{name}'",
                    "must be a quasi-identifier where the intruder knows it",
                    accepted=", ".join(schema.quasi_identifiers),
                )
            if name not in source.names:
                raise InputError(
                    f"column '{name}'",
                    f"must be a column of {source.subject}, the register",
                    found=f"no such name among its {len(source.names)} columns",
                )
        names = [name for name in schema.quasi_identifiers if name in asked]
    else:
        names = [name for name in schema.quasi_identifiers if name in source.names]
    if not names:
        raise InputError(
            source.subject,
            "must have a quasi-identifier that the intruder knows",
            found="none of the schema's" if knows is None else "none named",
            accepted=", ".join(schema.quasi_identifiers),
        )
    return names


def _known(name: str, column: Texts, quasi: QuasiIdentifier) -> KnownColumn:
    numbers = np.full(len(column.texts), np.nan)
    if is_measured(quasi, column.texts):
        numbers = numbers_of(column.texts)
    return KnownColumn(name, column.texts, numbers, column.codes)


def _other(name: str, column: Texts) -> KnownColumn:
    return KnownColumn(name, column.texts, numbers_of(column.texts), column.codes)


def numbers_of(texts: Sequence[str | None]) -> Floats:
    """Each text as a number, or a date in days; NaN for anything else."""
    numbers = [None if text is None else measure_of(text) for text in texts]
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


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
    errors
        The share of values that are wrong, for all quasi-identifiers or by name.
    missing
        The share of values that the intruder does not know, likewise.
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
    # The values of other rows, as often as each stands in the file.
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
    # By one step of the last digit at least: what is wrong must not be right by rounding.
    away = np.where(np.abs(away) < step, np.where(away < 0, -step, step), away)
    values = column.numbers[column.codes[rows]] + away
    if dates:
        # The years 1 to 9999: other dates have no ISO form of ten signs.
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
