"""The cells of one column as its line of the recipe says that they are to be read.

Work is done once for each distinct value; what it does to the records is counted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Ints
from sfumato.schema.recipe import Case, Cleaning, Resolution, StepCount, first_day
from sfumato.table import scalars, sources
from sfumato.table.table import EPOCH

BLANKS = r"[\s\p{Zs}\x{200b}\x{feff}]"
"""One blank, no-break ones and those without width included (RE2)."""
_ASCII = 0x80

MONTHS = """
jan january januar januari janvier janv jän jänner enero ene gennaio gen janeiro styczeń sty
feb february februar februari février fevrier févr fevr fév fev febrero febbraio fevereiro luty lut
mar march märz maerz mär mrz mars marzo maart mrt março marco marts marzec marca
apr april avril avr abril abr aprile kwiecień kwietnia kwi
may mai mayo maggio mag mei maio maj maja
jun june juni juin junio giugno giu junho czerwiec czerwca cze
jul july juli juillet juil julio luglio lug julho lipiec lipca lip
aug august août aout aoû agosto ago augustus augusti sierpień sierpnia sie
sep sept september septembre septiembre settembre set setembro wrzesień września wrz
oct october oktober okt octobre octubre ottobre ott outubro out październik października paź
nov november novembre noviembre novembro listopad listopada lis
dec december dezember dez décembre decembre déc diciembre dic dicembre dezembro grudzień gru
""".strip().splitlines()
"""Names of the months: English, German, French, Spanish, Italian, Dutch, Portuguese, Swedish,
Danish and Polish."""


@dataclass(frozen=True, eq=False)
class Cleaned:
    """A column after its line of the recipe.

    Attributes
    ----------
    values
        As long as the column; null where there is no value or none that can be read.
    first
        Position of the first of them; -1 without any.
    """

    values: pa.Array = field(repr=False)
    counts: Mapping[str, StepCount]
    unreadable: Mapping[str, int]
    first: int = -1


def cleaned(
    values: pa.Array, line: Cleaning, missing: Sequence[str] = (), *, name: str = ""
) -> Cleaned:
    """Read the cells of a column as a line of the recipe says.

    Costs a pass over the cells, and the work on each distinct value. Cells are of any type that the
    door knows; the line makes no column of others.
    """
    # A null within a dictionary would be one of the distinct values: missing is what has no index.
    if not pa.types.is_dictionary(values.type) or values.dictionary.null_count:
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if _is_done(values.type, line, missing):
            return Cleaned(values, _counts(name, line), {})
        values = values.dictionary_encode()
    kind = result_type(values.type, line)
    if not len(values.dictionary):
        return Cleaned(pa.nulls(len(values), kind), _counts(name, line), {})
    # A missing cell points behind the last value, so that one look-up serves all cells.
    known = sources.as_numpy(pc.fill_null(values.indices.cast(pa.int64()), len(values.dictionary)))
    work = _Work(values.dictionary, np.bincount(known, minlength=len(values.dictionary) + 1)[:-1])
    texts = (*line.missing, *missing)
    work.blank()
    if texts:
        work.drop("missing", scalars.mean_missing(work.values, texts))
        if sources.is_text(work.values.type):
            # What means missing may be typed with no-break blanks, or another script's minus.
            work.drop("missing", _among(_marks_as_ascii(work.values), texts))
    _spell(work, line)
    if line.reads("number"):
        _read_numbers(work, line, texts)
    elif line.reads("date"):
        _read_dates(work, line)
    found = work.values.take(pc.fill_null(values.indices, 0))
    gone = np.append(work.gone, True)[known]
    if gone.any():
        found = pc.if_else(sources.from_numpy(~gone), found, pa.scalar(None, found.type))
    unreadable, first = work.unreadable_cells(known)
    return Cleaned(found.cast(kind), work.counts(_counts(name, line)), unreadable, first)


def _counts(name: str, line: Cleaning) -> dict[str, StepCount]:
    """A count of nothing for every step of a line."""
    return {step: StepCount(name, step, what) for step, what in line.steps().items()}


def result_type(kind: pa.DataType, line: Cleaning) -> pa.DataType:
    """The type of a column after its line of the recipe, by its type before."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if line.derives:
        return pa.date32() if line.parts else pa.int64()
    spelled = bool(line.strip or line.case or line.rename or line.first) or line.reads("text")
    if line.reads("number"):
        return kind if sources.is_number(kind) and not spelled else pa.float64()
    if line.reads("date"):
        kept = line.kept_resolution
        if sources.is_moment(kind) and not spelled and line.resolution is None:
            return kind
        if kept is None:
            return pa.timestamp("us")
        return pa.int64() if kept is Resolution.YEAR else pa.date32()
    return pa.string() if spelled or sources.is_text(kind) else kind


def _is_done(kind: pa.DataType, line: Cleaning, missing: Sequence[str]) -> bool:
    """Whether a typed column is already what the line makes of it."""
    as_it_is = not sources.is_text(kind) and result_type(kind, line) == kind
    return as_it_is and not line.missing and not missing and line.resolution is None


class _Work:
    """The distinct values of a column on their way, and how many cells hold each."""

    def __init__(self, values: pa.Array, cells: Ints) -> None:
        self.values = values.cast(pa.large_string()) if sources.is_text(values.type) else values
        self.cells = cells
        self.gone = np.zeros(len(values), dtype=np.bool_)
        self._changed: dict[str, int] = {}
        self._missing: dict[str, int] = {}
        self._unreadable: dict[str, Bools] = {}

    def _sum(self, marked: Bools) -> int:
        return int(self.cells[marked & ~self.gone].sum())

    def blank(self) -> None:
        """Take blank texts as the missing values that they are."""
        if sources.is_text(self.values.type):
            self.gone |= sources.matching(self.values, f"^{BLANKS}*$")

    def drop(self, step: str, marked: Bools) -> None:
        """Make values missing."""
        self._missing[step] = self._missing.get(step, 0) + self._sum(marked)
        self.gone = self.gone | marked

    def put(self, step: str, values: pa.Array, changed: Bools) -> None:
        """Put other values in their place."""
        self._changed[step] = self._changed.get(step, 0) + self._sum(changed)
        self.values = values

    def spell(self, step: str, texts: pa.Array) -> None:
        """Put other texts in their place."""
        self.put(step, texts, sources.flags(pc.not_equal(texts, self.values)))

    def refuse(self, step: str, kinds: Mapping[str, Bools]) -> None:
        """Set aside what cannot be read, by its kind."""
        for kind, marked in kinds.items():
            there = marked & ~self.gone
            if self._sum(there):
                self._unreadable[kind] = there
            self.drop(step, there)

    def as_texts(self) -> None:
        """Turn typed values into the texts that they print as."""
        if not sources.is_text(self.values.type):
            self.values = sources.from_texts(scalars.printed(self.values))

    def counts(self, steps: Mapping[str, StepCount]) -> dict[str, StepCount]:
        """What the steps did."""
        return {
            step: replace(
                step_count,
                changed=self._changed.get(step, 0),
                made_missing=self._missing.get(step, 0),
            )
            for step, step_count in steps.items()
        }

    def unreadable_cells(self, known: Ints) -> tuple[dict[str, int], int]:
        """How many cells cannot be read, by their kind, and where the first of them is."""
        if not self._unreadable:
            return {}, -1
        every = np.append(np.logical_or.reduce(list(self._unreadable.values())), False)
        counts = {kind: int(self.cells[each].sum()) for kind, each in self._unreadable.items()}
        return counts, int(np.argmax(every[known]))


def _among(texts: pa.Array, wanted: Sequence[str]) -> Bools:
    plain = pc.utf8_trim_whitespace(texts)
    return sources.flags(pc.is_in(plain, value_set=sources.from_texts(wanted)))


def _spell(work: _Work, line: Cleaning) -> None:
    """The steps on texts: blanks, case, renamed values, first characters."""
    if not (line.strip or line.case or line.rename or line.first or line.reads("text")):
        return
    if not sources.is_text(work.values.type):
        work.as_texts()
    if line.strip:
        ends = pc.replace_substring_regex(work.values, f"^{BLANKS}+|{BLANKS}+$", "")
        work.spell("strip", pc.replace_substring_regex(ends, f"{BLANKS}+", " "))
    if line.case is not None:
        spelled = pc.utf8_lower if line.case is Case.LOWER else pc.utf8_upper
        work.spell("case", spelled(work.values))
    if line.rename:
        place = pc.index_in(work.values, value_set=sources.from_texts(line.rename))
        new = sources.from_texts(line.rename.values()).take(place)
        work.spell("rename", pc.coalesce(new, work.values))
    if line.first is not None:
        work.spell("first", pc.utf8_slice_codeunits(work.values, 0, line.first))


@cache
def _ascii_marks() -> dict[int, str]:
    """Digits of all scripts, blanks, minus signs and apostrophes, as ASCII writes them."""
    found: dict[int, str] = {}
    for letter in map(chr, range(_ASCII, 0x20000)):
        kind = unicodedata.category(letter)
        if kind == "Nd":
            found[ord(letter)] = str(unicodedata.decimal(letter))
        elif kind == "Zs":
            found[ord(letter)] = " "
    found |= dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2212, 0xFE63, 0xFF0D), "-")
    found |= dict.fromkeys((0x2018, 0x2019, 0x02BC), "'")
    return found | dict.fromkeys((0x200B, 0x200E, 0x200F, 0xFEFF), "")


def _marks_as_ascii(texts: pa.Array) -> pa.Array:
    """The texts without blanks around them, digits and signs of all scripts as in ASCII."""
    texts = texts.cast(pa.large_string())
    if (sources.texts_of(texts)[1] >= _ASCII).any():
        strange = sources.matching(texts, r"[^\x00-\x7f]")
        marks = _ascii_marks()
        plain = [
            text.translate(marks) for text in texts.filter(sources.from_numpy(strange)).to_pylist()
        ]
        texts = pc.replace_with_mask(texts, sources.from_numpy(strange), sources.from_texts(plain))
    return pc.utf8_trim_whitespace(texts)


def _read_numbers(work: _Work, line: Cleaning, missing: Sequence[str]) -> None:
    """Texts as floats; typed numbers stay what they are."""
    if sources.is_number(work.values.type):
        return
    work.as_texts()
    given = work.values
    plain = _marks_as_ascii(given)
    if line.unit:
        # The longest first: RE2 takes the first alternative that fits, and mg/dl begins with mg.
        units = "|".join(_escaped(unit) for unit in sorted(line.unit, key=len, reverse=True))
        plain = pc.replace_substring_regex(plain, rf"(?i)^([+-]?)\s*(?:{units})\s*", r"\1")
        plain = pc.replace_substring_regex(plain, rf"(?i)\s*(?:{units})$", "")
    plain = pc.replace_substring_regex(plain, r"^([+-])\s+", r"\1")
    decimal = "|".join(map(_escaped, line.decimal or (".",)))
    whole = r"\d+"
    if line.thousands is not None:
        sign = _escaped(line.thousands)
        # India parts by twos before the last three digits. Other groups are no thousands: where a
        # point parts them, 1.5 would read as 15.
        whole = rf"(?:\d{{1,3}}(?:{sign}\d{{3}})+|\d{{1,2}}(?:{sign}\d{{2}})+{sign}\d{{3}}|\d+)"
    number = rf"^[+-]?(?:{whole}(?:(?:{decimal})\d*)?|(?:{decimal})\d+)(?:[eE][+-]?\d+)?$"
    read = sources.matching(plain, number)
    if line.thousands is not None:
        plain = pc.replace_substring_regex(plain, sign, "")
    if line.decimal and line.decimal != (".",):
        plain = pc.replace_substring_regex(plain, decimal, ".")
    floats = scalars.as_floats(pc.if_else(sources.from_numpy(read), plain, "0"))
    floats = floats + 0.0  # no negative zero
    if missing:
        work.drop("missing", read & scalars.mean_missing(sources.from_numpy(floats), missing))
    # From 2**53 on floats skip whole numbers, so that two codes could become one.
    large = read & (np.abs(floats) >= scalars.LIMIT)
    work.refuse("number", _kinds_of_text(given, ~read) | {"numbers of 2**53 or more": large})
    work.put("number", sources.from_numpy(floats), read & ~scalars.are_numbers(given))


def _escaped(text: str) -> str:
    """A text, its signs as in ASCII, as a pattern of RE2."""
    return re.sub(r"[!-/:-@\[-`{-~]", r"\\\g<0>", text.translate(_ascii_marks()))


def _kinds_of_text(given: pa.Array, marked: Bools) -> dict[str, Bools]:
    """What kinds of text cannot be read; each is of the first kind that fits."""
    kinds: dict[str, Bools] = {}
    if not marked.any():
        return kinds
    plain, rest = _marks_as_ascii(given), marked
    # An error may show no value: it names the kind of what cannot be read.
    for kind, pattern in (
        ("numbers", r"^[+-]?\d+$"),
        ("dates", r"^(\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}|\d{4}-\d{2})([ T].*)?$"),
        ("numbers with other signs between their digits", r"^[+-]?\d*([ ,.']\d+)+[.,]?$"),
        ("numbers behind a sign such as <", r"^[<>~=≤≥±]+\s*[\d.,]+"),
        ("numbers with other text, such as a unit", r"^[^\d]{0,9}[+-]?\d[\d.,' ]*[^\d]{0,20}$"),
    ):
        fits = rest & sources.matching(plain, pattern)
        if fits.any():
            kinds[kind], rest = fits, rest & ~fits
    return kinds | {"other text": rest}


def _read_dates(work: _Work, line: Cleaning) -> None:
    """Texts and whole numbers as dates; typed dates only lose what the resolution leaves out."""
    if sources.is_moment(work.values.type):
        if line.resolution is not None:
            days, rest = scalars.days_and_rest(work.values)
            _put_dates(work, line, days * scalars.DAY + rest, as_text=False)
        return
    work.as_texts()
    given = work.values
    plain = _marks_as_ascii(given)
    moments = np.zeros(len(given), dtype=np.int64)
    waiting, impossible = np.ones(len(given), dtype=np.bool_), np.zeros(len(given), dtype=np.bool_)
    for text in line.formats:
        found, fits, valid = _by_format(plain, text, line.pivot)
        moments = np.where(waiting & valid, found, moments)
        waiting &= ~valid
        impossible |= fits & ~valid
        if not waiting.any():
            break
    impossible &= waiting
    kinds = {"no date of the calendar": impossible} | _kinds_of_text(given, waiting & ~impossible)
    if "dates" in kinds:
        kinds["dates in another form"] = kinds.pop("dates")
    work.refuse("date", kinds)
    _put_dates(work, line, moments, as_text=True)


def _put_dates(work: _Work, line: Cleaning, moments: Ints, *, as_text: bool) -> None:
    """Put dates in the place of texts, as exact as the resolution says."""
    kept, days = line.kept_resolution, moments // scalars.DAY
    values: pa.Array
    if kept is None:
        values = sources.from_numpy(moments).view(pa.timestamp("us"))
    elif kept is Resolution.YEAR:
        years = days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64)
        values = sources.from_numpy(years + 1970)
    else:
        if kept is Resolution.MONTH:
            months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
            days = scalars.first_days(months)
        values = sources.from_numpy(days.astype(np.int32)).view(pa.date32())
    if as_text:
        before = pc.utf8_trim_whitespace(work.values)
        after = sources.from_texts(scalars.printed(values)) if len(values) else before
        changed = sources.flags(pc.not_equal(before, after))
    else:
        exact = (
            np.full(len(moments), -1)
            if kept is Resolution.YEAR
            else sources.as_integers(values.cast(pa.int32())) * scalars.DAY
        )
        changed = exact != moments
    work.put("date", values, changed)


def _by_format(texts: pa.Array, text: str, pivot: int | None) -> tuple[Ints, Bools, Bools]:
    """Microseconds since 1970 of each text, which texts fit the format, which are dates."""
    since = first_day(text)
    if since is not None:
        return _by_number(texts, (since - EPOCH).days)
    parts = pc.extract_regex(texts, _pattern(text))
    fits = sources.flags(pc.is_valid(parts))
    names = {each.name for each in parts.type}

    def part(name: str, default: str) -> Ints:
        if name not in names:
            return np.full(len(texts), int(default), dtype=np.int64)
        digits = pc.fill_null(pc.struct_field(parts, name), default)
        return sources.as_integers(
            pc.if_else(sources.are_equal(digits, ""), default, digits).cast(pa.int64())
        )

    year = part("Y", "1970")
    if "y" in names and pivot is not None:
        year = pivot + (part("y", "0") - pivot) % 100
    month = part("m", "1")
    if "b" in names:
        named = pc.utf8_lower(pc.utf8_normalize(pc.struct_field(parts, "b"), form="NFC"))
        month = sources.as_integers(pc.fill_null(pc.index_in(named, value_set=_month_names()), -1))
        month = _month_numbers()[month]
    months, day = (year - 1970) * 12 + month - 1, part("d", "1")
    valid = fits & (month >= 1) & (month <= 12) & (year >= 1) & (day >= 1)
    months = np.where(valid, months, 0)
    days = scalars.first_days(months) + day - 1
    hour, minute, second = part("H", "0"), part("M", "0"), part("S", "0")
    valid &= (
        (days < scalars.first_days(months + 1))
        & (days >= scalars.FIRST_DAY)
        & (days <= scalars.LAST_DAY)
    )
    valid &= (hour < 24) & (minute < 60) & (second < 60)
    moments = days * scalars.DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000
    if "f" in names:
        fraction = pc.utf8_rpad(pc.fill_null(pc.struct_field(parts, "f"), ""), 6, "0")
        moments = moments + sources.as_integers(
            pc.utf8_slice_codeunits(fraction, 0, 6).cast(pa.int64())
        )
    return np.where(valid, moments, 0), fits, valid


def _by_number(texts: pa.Array, since: int) -> tuple[Ints, Bools, Bools]:
    """As `_by_format`, of numbers of days since one that is itself counted from 1970."""
    fits = sources.matching(texts, r"^[+-]?\d{1,7}(\.\d*)?$")
    numbers = scalars.as_floats(pc.if_else(sources.from_numpy(fits), texts, "0"))
    days = np.floor(numbers).astype(np.int64) + since
    valid = fits & (days >= scalars.FIRST_DAY) & (days <= scalars.LAST_DAY)
    return np.where(valid, days * scalars.DAY, 0), fits, valid


@cache
def _pattern(text: str) -> str:
    """A format as a pattern of RE2 with a group for each directive."""
    found, place = "^", 0
    pieces = re.findall(r"%.|[^%]+", text, re.DOTALL)
    for place, piece in enumerate(pieces):
        follows = pieces[place + 1 : place + 2]
        joined = bool(follows) and follows[0][0] == "%" and follows[0] not in ("%%", "%b", "%B")
        if piece == "%%":
            found += "%"
        elif piece[0] != "%":
            found += re.sub(r"\\?\s+", r"\\s+", _escaped(piece))
        elif piece in ("%b", "%B"):
            found += r"(?P<b>\p{L}+)\.?"
        elif piece == "%Y":
            found += r"(?P<Y>\d{4})"
        elif piece == "%f":
            found += r"(?P<f>\d{1,9})"
        else:
            after_digits = place > 0 and pieces[place - 1][0] == "%" and pieces[place - 1] != "%%"
            # Without a sign between them parts need two digits each, or they could be cut in
            # several ways. The first part may have one digit, as spreadsheets drop its zero.
            exact = piece == "%y" or after_digits or (joined and place > 0)
            found += rf"(?P<{piece[1]}>\d{{{'2' if exact else '1,2'}}})"
    return found + "$"


@cache
def _month_names() -> pa.Array:
    return sources.from_texts(name for names in MONTHS for name in dict.fromkeys(names.split()))


@cache
def _month_numbers() -> Ints:
    """The month of each name, and 0 behind them for others."""
    sizes = [len(dict.fromkeys(names.split())) for names in MONTHS]
    return np.append(np.repeat(np.arange(1, 13), sizes), 0)
