"""How the values of a column are written, and the line of the recipe that makes them readable."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.schema.recipe import Cleaning, Holds, Unreadable, first_day
from sfumato.table.cleaning import cleaned
from sfumato.table.common_words import CURRENCIES, MISSING_WORDS, SEXES, UNITS, folded
from sfumato.table.scalars import are_dates, are_outside, as_floats, date_points
from sfumato.table.sources import (
    as_numpy,
    from_numpy,
    is_bytes,
    is_moment,
    is_number,
    is_text,
    matching,
    trimmed,
)

LOOKED_AT = 3_000
"""Different values that decide about how a column is written."""
READABLE = 0.95
"""Share of the cells from which a column is one of numbers or dates; the rest cannot be read."""
DATES_READABLE, DIGITS_READABLE = 0.9, 0.97
"""The same of dates, of which impossible ones are frequent; and of digits without signs, of which
six may be a day by chance."""
STRAYS, BESIDE = 2, 20
"""Different texts that nothing reads, of all those beside a readable one, that mean missing."""
MOST_MARKS = 9
"""Numbers below zero that stand for something else, such as "refused", at most."""
LEAST_WORDS = 0.003
"""Share of the records of a column of words from which one of them stands for a missing value."""
GAP = 1.6
"""So many times the largest other number is one that stands for something else, at least."""
EXCEL, EXCEL_OF_MACS = "days since 1899-12-30", "days since 1904-01-01"
"""How Excel stores dates, and how its files of old Macs do."""
NUMBERED_FROM = 10_000
"""The number of 1927-05-18 in Excel: most dates of living people have a larger one."""
LIFETIME = 99
"""Years before this one that two digits of a year can mean."""

Look = Literal["numbers", "dates", "text", "yes/no", "bytes", "empty"]


@dataclass(frozen=True)
class Habits:
    """How a file writes what can be read in two ways.

    Attributes
    ----------
    decimal
        The sign before decimals; "" where no column tells.
    month_first
        Whether the month stands before the day; ``None`` where no column tells.
    """

    decimal: str = ""
    month_first: bool | None = None


@dataclass(frozen=True, eq=False)
class Doubt:
    """That a column may be read in two ways, which nothing in the file decides.

    Attributes
    ----------
    question
        What somebody must say, without a value.
    chosen, other
        Words for the two ways: the one that the column is read in, and the other one.
    careful
        The line that is right in both ways; ``None`` where the one chosen hides nothing.
    """

    question: str
    chosen: str
    other: str
    otherwise: Form
    careful: Cleaning | None = None

    @property
    def choices(self) -> tuple[str, str]:
        """Words for both ways, the chosen one first."""
        return self.chosen, self.other


@dataclass(frozen=True, eq=False)
class Form:
    """A column as it can be read.

    Attributes
    ----------
    values, counts
        The different values as they are then, and the records that have each. No value of a
        record that misses one.
    cleaning
        The line of the recipe that reads them; ``None`` where none is needed.
    spellings
        Values that differ from another one by case or blanks alone.
    width
        Digits of every value, of numbers that are written with as many; else 0.
    certain
        Whether it can be read in one way only.
    doubt
        The other way in which it may be read, where no other column tells which is right.
    """

    look: Look
    values: pa.Array
    counts: Ints
    records: int
    cleaning: Cleaning | None = None
    unreadable: int = 0
    missing_words: tuple[str, ...] = ()
    spellings: int = 0
    width: int = 0
    certain: bool = True
    doubt: Doubt | None = None

    @property
    def filled(self) -> int:
        """Records that have a value."""
        return int(self.counts.sum())

    @property
    def distinct(self) -> int:
        """Different values."""
        return len(self.values)

    @property
    def told_apart(self) -> int:
        """Different values, that of records which miss one among them."""
        return self.distinct + (self.filled < self.records)

    @property
    def unique(self) -> bool:
        """Whether every value is there once only."""
        return self.filled > 1 and self.distinct == self.filled

    @property
    def whole(self) -> bool:
        """Whether they are whole numbers."""
        if self.look != "numbers" or pa.types.is_integer(self.values.type):
            return self.look == "numbers"
        numbers = self.numbers()
        return bool((numbers == np.floor(numbers)).all())

    def numbers(self) -> Floats:
        """The different values as floats; dates as days since 1970."""
        if self.look == "dates":
            days = self.values.cast(pa.timestamp("us")).cast(pa.int64())
            return as_numpy(days).astype(np.float64) / 86_400_000_000
        return as_floats(self.values)


def form_of(column: pa.ChunkedArray, habits: Habits | None = None) -> Form:
    """How a column is written, by the habits of the file's other columns where they are known."""
    habits = habits or Habits()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values, counts = _counted(column)
    kind = column.type
    if not len(values):
        return Form("empty", values, counts, len(column))
    if is_text(kind):
        return _form_of_text(values.cast(pa.large_string()), counts, len(column), habits)
    if is_number(kind):
        return _form_of_numbers(values, counts, len(column))
    look: Look = "bytes"
    if is_moment(kind):
        form = Form("dates", values, counts, len(column))
        return _without_placeholders(form, values.cast(pa.large_string()), values)
    if pa.types.is_boolean(kind):
        look = "yes/no"
    elif not is_bytes(kind):
        look, values = "text", values.cast(pa.large_string())
    return Form(look, values, counts, len(column))


def habits_of(forms: Iterable[Form]) -> Habits:
    """How a file writes, by its columns that can be read in one way only."""
    decimals: Counter[str] = Counter()
    first: Counter[bool] = Counter()
    for form in forms:
        line = form.cleaning
        if not form.certain:
            continue
        if line is not None and line.decimal:
            decimals[line.decimal[0]] += 1
        elif form.look == "numbers" and not form.whole:
            decimals["."] += 1
        for text in () if line is None else line.date:
            if _DAY_OR_MONTH.match(text):
                first[text.startswith("%m")] += 1
    decimal = decimals.most_common(1)[0][0] if decimals else ""
    tells = first[True] != first[False]
    return Habits(decimal, month_first=first[True] > first[False] if tells else None)


def _counted(column: pa.ChunkedArray) -> tuple[pa.Array, Ints]:
    """The different values, without the missing one, and the records of each."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    found = pc.value_counts(pc.drop_null(column).combine_chunks())
    return found.field(0), as_numpy(found.field(1)).astype(np.int64)


def _form_of_text(values: pa.Array, counts: Ints, records: int, habits: Habits) -> Form:
    texts = trimmed(values)
    marks = _missing_marks(texts, counts)
    if marks.all():
        marks = _blanks_beside(texts, counts, records)
    kept = ~marks
    words = _spelt(texts.filter(from_numpy(marks)))
    if not kept.any():
        return Form("empty", values[:0], counts[:0], records, missing_words=words)
    values, texts, counts = (
        values.filter(from_numpy(kept)),
        texts.filter(from_numpy(kept)),
        counts[kept],
    )
    if _are_plain_dates(texts):
        points = date_points(texts)
        moments = (
            pa.array(points.points).cast(pa.int32()).cast(pa.date32())
            if points.unit == "date"
            else pa.array(points.points).cast(pa.timestamp("us"))
        )
        found = Form("dates", *_merged(moments, counts), records, missing_words=words)
        return _without_placeholders(found, texts, moments)
    looked = _Looked(texts[:LOOKED_AT], counts[:LOOKED_AT], habits)
    # Before numbers, as eight digits of a date are a number, too.
    line, certain = looked.dates()
    look: Look = "dates"
    if line is None:
        (line, certain), look = looked.numbers(), "numbers"
        if line is not None and not _are_strays(values, line):
            line = None
    if line is None:
        return _as_categories(values, counts, records, words)
    form = _read(look, values, counts, records, line, words)
    other = None if certain else _read_otherwise(line, look, habits)
    if other is not None:
        form = _in_doubt(form, _read(look, values, counts, records, other, words))
    if look == "numbers":
        return _with_marks(form, certain=certain, width=_width(texts))
    return replace(form, certain=certain)


def _read_otherwise(line: Cleaning, look: Look, habits: Habits) -> Cleaning | None:
    """The line with day and month, or signs of numbers, exchanged; ``None`` if a habit tells."""
    old = line.model_dump(by_alias=True, exclude_defaults=True)
    if look == "dates":
        turned = [_exchanged(each) if _DAY_OR_MONTH.match(each) else each for each in line.date]
        if habits.month_first is not None or turned == list(line.date):
            return None
        return Cleaning(**{**old, "date": turned})
    if habits.decimal:
        return None
    sign = line.thousands or (line.decimal or (".",))[0]
    signs = (
        {"decimal": sign} if line.thousands else {"decimal": ",."[sign == ","], "thousands": sign}
    )
    kept = {name: each for name, each in old.items() if name not in ("decimal", "thousands")}
    return Cleaning(**{**kept, **signs})


def _exchanged(text: str) -> str:
    # By way of a third sign, or the second exchange would undo the first.
    return text.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")


def _in_doubt(form: Form, otherwise: Form) -> Form:
    """A column with the other way to read it, unless one of them has firsts of months only."""
    if form.look == "dates":
        # Firsts of many months are months. Read otherwise they would be days of one January.
        firsts = [_are_firsts(each) for each in (form, otherwise)]
        if any(firsts):
            return form if firsts[0] else otherwise
    return replace(form, doubt=_doubt(form, otherwise))


def _are_firsts(form: Form) -> bool:
    days = pc.day(form.values.cast(pa.timestamp("us")))
    return form.distinct > 1 and bool(pc.all(pc.equal(days, 1)).as_py())


def _doubt(form: Form, otherwise: Form) -> Doubt:
    """The question which of two ways to read dates or numbers is right."""
    line = form.cleaning or _NUMBERS
    if form.look == "dates":
        old = line.model_dump(by_alias=True, exclude_defaults=True)
        # The year is the same in both readings.
        careful = Cleaning(**{**old, "resolution": "year"})
        words = ["day first", "month first"]
        if any(each.startswith("%m") for each in line.date):
            words.reverse()
        asked = "does the day or the month stand first in its dates? No date tells"
        return Doubt(asked, words[0], words[1], otherwise, careful)
    words = ["thousands", "decimals"] if line.thousands else ["decimals", "thousands"]
    asked = "does the sign before three digits part thousands or decimals? No number tells"
    return Doubt(asked, words[0], words[1], otherwise)


def _are_plain_dates(texts: pa.Array) -> bool:
    """Whether all are dates as the door reads them without a recipe."""
    return (
        bool(are_dates(texts[:100]).all())
        and bool(are_dates(texts).all())
        and not bool(are_outside(texts).any())
    )


def _are_strays(values: pa.Array, line: Cleaning) -> bool:
    """Whether what a line of numbers cannot read is little beside the numbers."""
    trial = line.model_copy(update={"unreadable": _AS_MISSING})
    read = pc.drop_null(cleaned(values, trial).values)
    numbers = pc.count_distinct(read).as_py()
    return len(read) == len(values) or (numbers > 2 and len(values) - len(read) <= 0.5 * numbers)


def _missing_marks(texts: pa.Array, counts: Ints) -> Bools:
    """Which texts stand for a missing value; a code of letters among others like it does not."""
    marks = np.array(
        [
            not text or (len(text) <= 18 and folded(text) in MISSING_WORDS)
            for text in texts.to_pylist()
        ]
        if len(texts) <= LOOKED_AT
        else _few_marks(texts),
        dtype=np.bool_,
    )
    if not marks.any() or marks.all():
        return marks
    words = marks & matching(texts, r"\p{L}")
    if counts[words].sum() < LEAST_WORDS * counts.sum() and _mostly_letters(texts):
        marks &= ~words
    others = pc.utf8_length(texts.filter(from_numpy(~marks & matching(texts, r"^\p{L}+$"))))
    lengths = Counter(others.to_pylist())
    for place in np.flatnonzero(marks).tolist():
        text = texts[place].as_py()
        # NA is Namibia among codes of countries, and ND North Dakota among those of states.
        alike = lengths[len(text)]
        if text.isalpha() and len(text) <= 3 and alike > 0.3 * (~marks).sum() and alike > 1:
            marks[place] = False
    return marks


def _blanks_beside(texts: pa.Array, counts: Ints, records: int) -> Bools:
    """Which texts are blank, in a column of nothing but words for a missing value.

    Of several, or of one that other records do not have, each says something: they are values.
    """
    blank = as_numpy(pc.equal(texts, "")).astype(np.bool_)
    spellings = {folded(each) for each in _spelt(texts)}
    beside = int(counts[~blank].sum()) < records
    return blank if len(spellings) + beside > 1 else np.ones(len(texts), dtype=np.bool_)


def _mostly_letters(texts: pa.Array) -> bool:
    return bool(matching(texts, r"^[\p{L} .'-]+$").mean() > 0.5)


def _few_marks(texts: pa.Array) -> Bools:
    short = as_numpy(pc.less_equal(pc.utf8_length(texts), 18))
    marks = np.zeros(len(texts), dtype=np.bool_)
    # Words for nothing are frequent: they stand among the first different values.
    for place in np.flatnonzero(short)[: 10 * LOOKED_AT].tolist():
        text = texts[place].as_py()
        marks[place] = not text or folded(text) in MISSING_WORDS
    return marks


def _spelt(marks: pa.Array) -> tuple[str, ...]:
    return tuple(sorted({mark for mark in marks.to_pylist() if mark}))


def _width(texts: pa.Array) -> int:
    lengths = pc.unique(pc.utf8_length(texts))
    digits = len(lengths) == 1 and bool(matching(texts, r"^\d+$").all())
    return int(lengths[0].as_py()) if digits else 0


_AS_MISSING, _NUMBERS = Unreadable.MISSING, Cleaning(type=Holds.NUMBER)
_DAY_OR_MONTH = re.compile(r"%[dm]\W*%[dm]")
_PLAIN = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_SIGNS = (
    (".", ""),
    (",", ""),
    (",", "."),
    (".", ","),
    (",", " "),
    (".", " "),
    (".", "'"),
    (",", "'"),
)
"""Signs of decimals and of thousands, the likelier ones first."""
_SPACES = "[ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}]"
_MOMENT = r"^(\d{2}[-/.]\d{2}[-/.]\d{4}|\d{4}[-/.]\d{2}[-/.]\d{2})[T ,]+\d{1,2}[:.]\d{2}"


class _Looked:
    """Some texts of a column, held against forms."""

    def __init__(self, texts: pa.Array, counts: Ints, habits: Habits) -> None:
        self.texts, self.counts, self.habits = texts, counts, habits
        self.cells = int(counts.sum())

    def share(self, pattern: str) -> float:
        """Share of the cells that match."""
        return float(self.counts[matching(self.texts, pattern)].sum()) / self.cells

    def enough(self, read: Bools, least: float) -> bool:
        """Whether most of the cells are read, or all but one or two words or numbers."""
        if float(self.counts[read].sum()) >= least * self.cells:
            return True
        others = int((~read).sum())
        plain = matching(self.texts.filter(from_numpy(~read)), r"^\D+$|^-?\d+$")
        return bool(others <= STRAYS and BESIDE * others <= read.sum() and plain.all())

    def numbers(self) -> tuple[Cleaning | None, bool]:
        """The line that reads them as numbers, and whether there is no other."""
        plain = self.share(_PLAIN)
        if plain == 1.0 and not (self._may_be_thousands(".") or self._are_codes()):
            return _NUMBERS, True
        if not self.enough(matching(self.texts, r"\d"), READABLE) or self._are_codes():
            return None, True
        unit = self._unit()
        before = rf"(?i)^(?:{re.escape(unit)}\s*)?" if unit else "^"
        behind = rf"(?:\s*{re.escape(unit)})?$" if unit else "$"
        shares, enough = {}, False
        for decimal, thousands in _SIGNS:
            group = {" ": _SPACES, "'": "['’]"}.get(thousands, re.escape(thousands))
            whole = rf"(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)" if thousands else r"\d+"
            number = rf"[+-]?(?:{whole}(?:{re.escape(decimal)}\d*)?|{re.escape(decimal)}\d+)"
            if not thousands and decimal == ".":
                number += r"(?:[eE][+-]?\d+)?"
            read = matching(self.texts, before + number + behind)
            shares[decimal, thousands] = float(self.counts[read].sum()) / self.cells
            enough |= self.enough(read, READABLE)
        best = max(shares.values())
        if not enough:
            return None, True
        alike = [each for each, share in shares.items() if share >= best - 1e-9]
        decimal, thousands = alike[0]
        certain = True
        for sign, other in ((",", "."), (".", ",")):
            if (sign, "") in alike and (other, sign) in alike and self._may_be_thousands(sign):
                certain = False
                decimal, thousands = (other, sign) if self._means_thousands(sign) else (sign, "")
        fields: dict[str, Any] = {"type": "number"} if decimal == "." and not thousands else {}
        if decimal != "." or thousands:
            fields["decimal"] = decimal
        if thousands:
            fields["thousands"] = thousands
        if unit:
            fields["unit"] = unit
        return Cleaning(**fields), certain

    def _are_codes(self) -> bool:
        """Whether long numbers of several lengths begin with zeros or a plus, as telephones do."""
        digits = self.texts.filter(from_numpy(matching(self.texts, r"^[+]?\d{7,}$")))
        several = pc.count_distinct(pc.utf8_length(digits)).as_py() > 1
        return several and self.share(r"^[+0]\d{6,}$") > 1 - READABLE

    def _may_be_thousands(self, sign: str) -> bool:
        """Whether a sign stands before three digits wherever it stands."""
        with_sign = matching(self.texts, re.escape(sign))
        groups = matching(self.texts, rf"^[+-]?[1-9]\d{{0,2}}{re.escape(sign)}\d{{3}}$")
        return bool(with_sign.any() and (with_sign == groups).all())

    def _means_thousands(self, sign: str) -> bool:
        # A file writes decimals in one way. Where none tells, signs are read as in English.
        if self.habits.decimal:
            return sign != self.habits.decimal
        return sign == ","

    def _unit(self) -> str:
        """The unit that nearly all of them have, of those that are known."""
        behind = pc.extract_regex(self.texts, r"^[^\d]*[\d][\d.,' ]*?\s*(?P<u>[^\d\s.,'][^\s]*)$")
        found = Counter(str(u).casefold() for u in pc.struct_field(behind, "u").to_pylist() if u)
        ahead = pc.extract_regex(self.texts, r"^(?P<u>[^\d\s+.,-]+)\s*\d")
        before = (str(u).casefold() for u in pc.struct_field(ahead, "u").to_pylist() if u)
        found += Counter(each for each in before if each in CURRENCIES)
        unit, count = found.most_common(1)[0] if found else ("", 0)
        return unit if unit in UNITS and count >= 0.5 * len(self.texts) else ""

    def dates(self) -> tuple[Cleaning | None, bool]:
        """The line that reads them as dates, and whether there is no other."""
        if not self.enough(matching(self.texts, r"\d{2}"), DATES_READABLE):
            return None, True
        chosen: list[str] = []
        rest = np.ones(len(self.texts), dtype=np.bool_)
        certain = True
        for _ in range(3):
            best, read, alone = self._best_format(rest, beside=chosen)
            gained = int(self.counts[read & rest].sum())
            if not best or gained < max(0.01 * self.cells, 1 if chosen else 3):
                break
            chosen.append(best)
            certain &= alone
            rest &= ~read
        plain = all(re.fullmatch(r"(%[A-Za-z])+", each) for each in chosen)
        if not chosen or not self.enough(~rest, DIGITS_READABLE if plain else DATES_READABLE):
            return self._days_of_moments()
        if max(map(_exactness, chosen)) < 2 and not self._are_months(chosen):
            return None, True
        fields: dict[str, Any] = {"date": chosen[0] if len(chosen) == 1 else chosen}
        if any("%y" in each for each in chosen):
            fields["pivot"] = _pivot()
        # A month among days has no day: all are read as exactly as the least exact of them.
        levels = {_exactness(each) for each in chosen}
        if 3 not in levels and min(levels) < 3:
            fields["resolution"] = {1: "year", 2: "month"}[min(levels)]
        elif min(levels) < 3:
            fields["resolution"] = "month" if min(levels) == 2 else "year"
        return Cleaning(**fields), certain

    def _days_of_moments(self) -> tuple[Cleaning | None, bool]:
        """The line that reads the day of moments whose time of day it cannot read."""
        if self.share(_MOMENT) < READABLE:
            return None, True
        days = _Looked(pc.utf8_slice_codeunits(self.texts, 0, 10), self.counts, self.habits)
        line, certain = days.dates()
        if line is None or line.resolution is not None:
            return None, True
        return Cleaning(
            **{**line.model_dump(by_alias=True, exclude_defaults=True), "first": 10}
        ), certain

    def _numbers_days(self, rest: Bools) -> bool:
        """Whether most of the rest are numbers of days as Excel has them, from 1927 on."""
        numbers = matching(self.texts, r"^[1-4]\d{4}(\.\d+)?$") & rest
        return bool(self.counts[numbers].sum() > 0.5 * self.counts[rest].sum())

    def _are_months(self, chosen: Sequence[str]) -> bool:
        return any("%m" in each or "%b" in each for each in chosen)

    def _best_format(self, rest: Bools, *, beside: Sequence[str]) -> tuple[str, Bools, bool]:
        """The format that reads most of the rest, what it reads, and whether no other does so.

        Numbers of days are dates only beside dates in another format, as a column has them that
        was typed in partly, and partly read by Excel.
        """
        tried: list[tuple[int, int, str, Bools]] = []
        texts = self.texts.filter(from_numpy(rest))
        formats = _formats(texts, month_first=bool(self.habits.month_first))
        # Amounts of six digits look like days, too, and those of five then like Excel's.
        parted = any(re.search(r"[^%A-Za-z]", each) for each in beside)
        if parted and max(map(_exactness, beside)) == 3 and self._numbers_days(rest):
            formats.insert(0, EXCEL)
        for place, text in enumerate(formats):
            fields: dict[str, Any] = {"date": text, "unreadable": "missing"}
            if "%y" in text:
                fields["pivot"] = _pivot()
            if _exactness(text) < 3:
                fields["resolution"] = "year" if _exactness(text) == 1 else "month"
            line = Cleaning(**fields)
            read = as_numpy(pc.is_valid(cleaned(self.texts, line).values)).astype(np.bool_) & rest
            tried.append((-int(self.counts[read].sum()), place, text, read))
        if not tried:
            return "", rest, True
        tried.sort(key=lambda each: each[:2])
        most = -tried[0][0]
        # A few mistyped days, which only one order of day and month allows, do not decide.
        rivals = [each for each in tried[1:] if -each[0] >= most * 0.995]
        return tried[0][2], tried[0][3], not rivals


def _pivot() -> int:
    """The first of the hundred years that two digits mean."""
    return _this_year() - LIFETIME


def _this_year() -> int:
    return dt.datetime.now(tz=dt.UTC).year


def _exactness(text: str) -> int:
    """3 for days, 2 for months, 1 for years."""
    if "%d" in text or text == EXCEL:
        return 3
    return 2 if any(each in text for each in ("%m", "%b", "%B")) else 1


_IDEOGRAPHS = "年月日년월일"
"""What stands behind year, month and day in Chinese, Japanese and Korean."""


def _formats(texts: pa.Array, *, month_first: bool) -> list[str]:
    """The formats that the shape of most of some texts allows, the likelier ones first."""
    shapes: Counter[str] = Counter()
    for text in texts[:400].to_pylist():
        lengths = re.sub(r"\d+", lambda m: str(len(m[0])), text)
        shapes[re.sub(rf"[^\W\d_{_IDEOGRAPHS}]+", "a", lengths)] += 1
    found: dict[str, None] = {}
    for shape, _ in shapes.most_common(4):
        for each in _formats_of(shape, month_first=month_first):
            found.setdefault(each)
    return list(found)


def _formats_of(shape: str, *, month_first: bool) -> list[str]:  # noqa: C901, PLR0911, PLR0912
    """The formats of one shape: runs of digits as their lengths, runs of letters as ``a``."""
    clock = re.search(r"(T| +|a)([12]:2)(:2)?(\.\d)?(Z|a)?$", shape)
    behind = ""
    if clock and re.search(r"\d", shape[: clock.start()]):
        between = "T" if clock[1] == "a" else clock[1]
        behind = f"{between}%H:%M{':%S' if clock[3] else ''}{'.%f' if clock[4] else ''}"
        shape = shape[: clock.start()]
    days = [("%d", "%m"), ("%m", "%d")]
    if month_first:
        days.reverse()
    if found := re.fullmatch(r"4([-/. ])[12]\1[12]", shape):
        return [f"%Y{found[1]}%m{found[1]}%d{behind}"]
    if found := re.fullmatch(r"[12]([-/. ])[12]\1([24])\.?", shape):
        sign, year = found[1], "%Y" if found[2] == "4" else "%y"
        orders = [f"{a}{sign}{b}{sign}{year}{behind}" for a, b in days]
        return orders if year == "%Y" else [*orders, f"%y{sign}%m{sign}%d{behind}"]
    if found := re.fullmatch(r"[12]([-/. ]+)a(\.?[-/. ,]+)([24])", shape):
        # `%b` takes a point behind the name of a month by itself.
        between = found[2] if found[2] == "." else found[2].replace(".", "", 1)
        return [f"%d{found[1]}%b{between}{'%Y' if found[3] == '4' else '%y'}{behind}"]
    if shape == "2a4":
        return ["%d%b%Y"]
    if found := re.fullmatch(r"a([-/. ]+)[12](,? ?)4", shape):
        return [f"%b{found[1]}%d{found[2]}%Y{behind}"]
    if found := re.fullmatch(
        rf"4([{_IDEOGRAPHS}] ?)[12]([{_IDEOGRAPHS}] ?)[12]([{_IDEOGRAPHS}])", shape
    ):
        return [f"%Y{found[1]}%m{found[2]}%d{found[3]}{behind}"]
    if shape == "14":
        return ["%Y%m%d%H%M%S"]
    if shape == "8":
        return ["%Y%m%d", "%d%m%Y"]
    if shape == "6":
        return ["%y%m%d", "%d%m%y"]
    if found := re.fullmatch(r"[12]([-/. ])4", shape):
        return [f"%m{found[1]}%Y"]
    if found := re.fullmatch(r"4([-/. ])[12]", shape):
        return [f"%Y{found[1]}%m"]
    return ["%Y"] if shape == "4" else []


def _read(
    look: Look, values: pa.Array, counts: Ints, records: int, line: Cleaning, words: tuple[str, ...]
) -> Form:
    """The column as a line reads it; the line is named where it changes anything."""
    trial = line.model_copy(update={"unreadable": _AS_MISSING})
    read = cleaned(values, trial).values
    known = as_numpy(pc.is_valid(read)).astype(np.bool_)
    unreadable = int(counts[~known].sum())
    plain = not unreadable and line == _NUMBERS
    merged, numbers = _merged(read.filter(from_numpy(known)), counts[known])
    if look == "dates" and pa.types.is_integer(merged.type):
        look = "numbers"  # years
    form = Form(look, merged, numbers, records, None if plain else trial, unreadable, words)
    return _without_placeholders(form, values, read) if look == "dates" else form


# Among them are the first days of .NET (0001), SQL Server (1753) and Excel (1899 and 1900).
_NO_DAYS = ("0001-01-01", "1111-11-11", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31",
            "1900-01-01", "1901-01-01")  # fmt: skip
"""First days that programs write where there is no date, the zero of their calendars most often."""
_BEYOND, _ALONE = 50, 10
"""Years ahead in which no date of a person lies; years around a placeholder without any date."""


def _without_placeholders(form: Form, written: pa.Array, read: pa.Array) -> Form:
    """A column of dates without those that stand for none, which its line then calls missing."""
    marks = _placeholders(form)
    if not marks.any():
        return form
    gone = pc.is_in(read, value_set=form.values.filter(from_numpy(marks)))
    texts = _spelt(trimmed(written.cast(pa.large_string())).filter(gone))
    return replace(
        form, values=form.values.filter(from_numpy(~marks)), counts=form.counts[~marks],
        cleaning=_marked(form.cleaning, texts),
    )  # fmt: skip


def _placeholders(form: Form) -> Bools:
    """Which dates stand for none: ends of years far ahead, first days of calendars, alone there."""
    days = form.numbers()
    ends = np.isin(days.astype("M8[D]"), np.array(_NO_DAYS, "M8[D]"))
    of_year = days.astype("M8[D]").astype(str)
    last = np.array([each[-5:] in ("12-31", "01-01", "12-30") for each in of_year], dtype=np.bool_)
    ahead = days > 365.25 * (_this_year() + _BEYOND - 1970)
    marks: Bools = (ahead & last) | ends
    others = days[~marks]
    # Where other dates lie so far ahead, too, the column has such dates.
    if not marks.any() or len(others) < 3 or (ahead & ~last).any():
        return np.zeros(len(days), dtype=np.bool_)
    often = form.counts >= BESIDE * form.counts[~marks].mean()
    room = 365.25 * _ALONE
    alone = (days < others.min() - room) | (days > others.max() + room)
    found: Bools = marks & (alone | often)
    return found


def _merged(values: pa.Array, counts: Ints) -> tuple[pa.Array, Ints]:
    """Different values of those that some spellings made alike."""
    coded = values.dictionary_encode()
    places = as_numpy(coded.indices).astype(np.int64)
    sums = np.bincount(places, weights=counts, minlength=len(coded.dictionary))
    return coded.dictionary, sums.astype(np.int64)


def _as_categories(values: pa.Array, counts: Ints, records: int, words: tuple[str, ...]) -> Form:
    """A column of text, its spellings made one where they differ by case or blanks alone."""
    if len(values) > LOOKED_AT and counts.max() == 1:
        return Form("text", trimmed(values), counts, records, missing_words=words)
    marks = _negatives_among_words(values)
    if marks.any():
        kept, texts = from_numpy(~marks), _spelt(trimmed(values.filter(from_numpy(marks))))
        form = _as_categories(values.filter(kept), counts[~marks], records, words)
        return replace(form, cleaning=_marked(form.cleaning, texts))
    stripped = pc.replace_substring_regex(pc.utf8_trim_whitespace(values), r"\s+", " ")
    small = pc.utf8_lower(stripped)
    different, apart, alike = (len(pc.unique(each)) for each in (values, stripped, small))
    fields: dict[str, Any] = {}
    blanks = bool(pc.any(pc.not_equal(stripped, values)).as_py())
    if blanks:
        fields["strip"] = True
    if alike < apart:
        fields["case"] = "lower"
    read = small if alike < apart else stripped
    renamed = _sexes(read)
    if renamed:
        fields["rename"] = renamed
    line = Cleaning(**fields) if fields else None
    read = values if line is None else cleaned(values, line).values
    merged, numbers = _merged(read, counts)
    return Form("text", merged, numbers, records, line, 0, words, spellings=different - alike)


def _negatives_among_words(values: pa.Array) -> Bools:
    """Which texts are the few whole numbers below zero of a column that holds no other numbers."""
    negative = matching(values, r"^\s*-\d{1,4}\s*$")
    numbers = matching(values, r"^\s*[\d.,]+\s*$")
    if 0 < negative.sum() <= STRAYS and (~negative).sum() > 2 and not numbers.any():
        return negative
    return np.zeros(len(values), dtype=np.bool_)


def _sexes(values: pa.Array) -> dict[str, str]:
    """New names of sexes that are spelled in several ways, such as ``m`` and ``male``."""
    if not 2 < len(values) <= 12:
        return {}
    known = {fromkey: folded(fromkey) for fromkey in dict.fromkeys(values.to_pylist())}
    if len(known) <= 2 or not all(each in SEXES for each in known.values()):
        return {}
    firsts: dict[str, str] = {}
    meant = _meant(set(known.values()))
    for each in sorted(known, key=len):
        firsts.setdefault(meant[known[each]], each)
    renamed = {each: firsts[meant[word]] for each, word in known.items()}
    return {each: new for each, new in renamed.items() if each != new} if len(firsts) == 2 else {}


def _meant(words: set[str]) -> dict[str, str]:
    """The sex of each word: ``m`` is a woman beside ``mujer``, ``h`` or ``hombre``."""
    meant = {word: SEXES[word] for word in words}
    if {"mujer", "mulher", "hombre", "homem"} & words and {"m", "h"} & words and "f" not in words:
        meant |= {"m": "f"} if "m" in words else {}
    return meant


def _form_of_numbers(values: pa.Array, counts: Ints, records: int) -> Form:
    """A column of typed numbers: perhaps dates, perhaps with numbers that mean missing."""
    if pa.types.is_integer(values.type):
        numbers = as_numpy(values).astype(np.int64)
        if (
            len(numbers) > 12
            # Whole numbers such as 20240131 are days of the years 1800 to 2100.
            and np.mean((numbers > 18_000_000) & (numbers < 21_010_000)) > READABLE
        ):
            texts = values.cast(pa.large_string())
            line, certain = _Looked(texts[:LOOKED_AT], counts[:LOOKED_AT], Habits()).dates()
            if line is not None:
                return replace(_read("dates", texts, counts, records, line, ()), certain=certain)
    return _with_marks(Form("numbers", values, counts, records), certain=True, width=0)


def _with_marks(form: Form, *, certain: bool, width: int) -> Form:
    """The column without the numbers that stand for a missing value."""
    numbers = form.numbers()
    marks = _marks_among(numbers, form.counts)
    if not marks.any():
        return replace(form, certain=certain, width=width)
    texts = [f"{number:g}" for number in sorted(numbers[marks].tolist())]
    line = _marked(form.cleaning, texts)
    kept = from_numpy(~marks)
    without = replace(
        form, values=form.values.filter(kept), counts=form.counts[~marks], cleaning=line,
        certain=certain,
    )  # fmt: skip
    if not _may_be_a_limit(numbers, marks):
        return without
    asked = "does its largest number, all nines, mean that much and more, or that it is missing?"
    doubt = Doubt(asked, "that much and more", "missing", without)
    return replace(form, certain=certain, width=width, doubt=doubt)


def as_numbered_dates(form: Form, *, called_date: bool) -> Form | None:
    """A column of numbers as dates, if it is one of days as Excel stores them.

    Dates of events tell it by themselves: their numbers fall on five days of a week alike and
    hardly on the two others. Dates of birth do not; there a header has to say date. Numbers with
    few gaps that are different in every record number these records.
    """
    line = form.cleaning or _NUMBERS
    if form.look != "numbers" or form.distinct <= 12 or line.decimal or line.unit or line.thousands:
        return None
    numbers = form.numbers()
    order = np.argsort(numbers)
    at = np.searchsorted(np.cumsum(form.counts[order]) / form.filled, (0.02, 0.5, 0.98))
    least, middle, most = numbers[order][at].tolist()
    numbering = form.unique and form.distinct > 0.5 * np.ptp(numbers)
    if numbering or numbers.min() < 1 or middle < NUMBERED_FROM:
        return None
    found = ""
    for text in (EXCEL, EXCEL_OF_MACS):
        first, last = (_year_of_number(each, text) for each in (least, most))
        recent = 1990 <= last <= _this_year() + 2
        if recent and (
            (first >= 1990 and _spares_weekends(form, text))
            or (called_date and text == EXCEL and not found)
        ):
            found = text
    if not found:
        return None
    dates = Cleaning(date=(found,)).model_copy(update={"missing": line.missing})
    texts = form.values.cast(pa.large_string())
    read = _read("dates", texts, form.counts, form.records, dates, form.missing_words)
    return replace(read, unreadable=read.unreadable + form.unreadable)


def _year_of_number(number: float, text: str) -> int:
    """The year of a date that is numbered as a format says; no date has a larger one than 9999."""
    since = first_day(text) or dt.date.min
    return (since + dt.timedelta(days=min(int(number), 2_900_000))).year


def _spares_weekends(form: Form, text: str) -> bool:
    """Whether numbers of days fall on Saturdays and Sundays far less often than on other days."""
    since = first_day(text)
    # In fewer records two days of a week may be spared by chance.
    if since is None or form.filled < 200 or form.distinct <= 50:
        return False
    days = np.floor(form.numbers()).astype(np.int64) + since.toordinal() - 1  # Mondays are 0
    shares = np.bincount(days % 7, weights=form.counts, minlength=7) / form.filled
    return bool(shares[5:].max() < 0.6 * shares[:5].min())


def _marked(line: Cleaning | None, texts: Sequence[str]) -> Cleaning:
    """A line that takes some texts for missing values, too."""
    old = line.model_dump(by_alias=True, exclude_defaults=True) if line else {}
    return Cleaning(**{**old, "missing": texts})


_CUT_OFF, _AMOUNT, _CUT_OFF_AMOUNT = 3, 9999, 20
"""So many times the next number, at most, is what numbers are cut off at: Adult's 99,999 is 2.4
times the next one, and of amounts from four digits on a sparse tail may leave more room."""


def _may_be_a_limit(numbers: Floats, marks: Bools) -> bool:
    """Whether nines are as likely where amounts are cut off as they are missing ones."""
    others, top = numbers[~marks], float(numbers[marks].max())
    if marks.sum() != 1 or top < 0 or len(others) <= 12 or float(others.min()) < 0:
        return False
    times = top / float(others.max())
    years = bool(((others >= 1850) & (others <= _this_year() + _BEYOND)).all())
    return not years and (times < _CUT_OFF or (top >= _AMOUNT and times < _CUT_OFF_AMOUNT))


# Beside decimals -2 to -6 may be measured: fewer numbers below zero are marks there.
_MARKS = (1, 7, 8, 9, 77, 88, 99, 777, 888, 999, 7777, 8888, 9999)
_WHOLE_MARKS = (*range(1, 10), 66, 97, 98, *_MARKS)
"""Sizes of the numbers below zero that stand for something else."""


def _marks_among(numbers: Floats, counts: Ints) -> Bools:
    """Which numbers stand for a missing value: a few below zero, or all nines beyond a gap."""
    none = np.zeros(len(numbers), dtype=np.bool_)
    if len(numbers) < 3:
        return none
    negative = (numbers < 0) & (numbers == np.floor(numbers))
    whole = bool((numbers == np.floor(numbers)).all())
    known = _WHOLE_MARKS if whole else _MARKS
    codes = np.isin(-numbers, known)
    few = 0 < negative.sum() <= MOST_MARKS and bool(codes[negative].all())
    marks = (
        negative
        if few and bool((numbers[~negative] >= 0).all()) and (~negative).sum() > 1
        else none
    )
    if (numbers < 0).any() and not marks.any():
        return none
    rest = ~marks
    while rest.sum() > 2:
        top = numbers[rest].max()
        here = rest & (numbers == top)
        others = numbers[rest & (numbers < top)].max()
        # A largest number that is there once may be true, so that two are asked for below.
        nines = top in (88, 99, 888, 999, 9999, 99999, 999999, 8888, 9_999_999)
        if not nines or top < GAP * max(others, 1) or int(counts[here].sum()) < 2:
            break
        marks, rest = marks | here, rest & ~here
    return marks
