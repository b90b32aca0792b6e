"""Which columns of two tables hold the same, by their values; headers are weak evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.optimize import linear_sum_assignment

from sfumato.core.arrays import Floats
from sfumato.linkage.link_spec import ColumnKind, sql_name
from sfumato.table.header_words import named, words_of


class Form(StrEnum):
    """How the values of a column are written."""

    EMPTY = "empty"
    DATE = "date"
    EMAIL = "e-mail"
    NUMBER = "number"
    """Whole numbers, of as many digits as there may be."""
    MEASURE = "measure"
    """Numbers with decimals."""
    LETTERS = "letters"
    MIXED = "mixed"
    """Letters and digits, or digits with other signs."""


_USUAL = 0.9
"""Share of the values that are written in a form, of a column of that form."""
_DATE = (
    r"^\d{4}[-/. ]\d{1,2}[-/. ]\d{1,2}(\D.*)?$|^\d{1,2}[-/. ]\d{1,2}[-/. ](\d{4}|\d{2})(\D.*)?$"
    r"|^\d{1,2}(st|nd|rd|th)?[-/., ]*[A-Za-z]{3,9}[-/., ]*(\d{4}|\d{2})$"
    r"|^[A-Za-z]{3,9}[-/., ]*\d{1,2}(st|nd|rd|th)?[-/., ]+\d{4}$"
    r"|^(1[89]|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"
    r"|^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])(19|20)\d\d$"
)
_YEAR = r"^(?P<year>\d{4})[-/. ]|[-/., ](?P<last>\d{4})(?:\D.*)?$"
_YEAR_COMPACT = r"^(?P<year>(?:1[89]|20)\d\d)\d{4}$|^\d{4}(?P<last>(?:19|20)\d\d)$"


@dataclass(frozen=True, eq=False)
class Content:
    """What a column holds, as far as a sample shows it."""

    texts: pa.ChunkedArray

    @cached_property
    def filled(self) -> pa.ChunkedArray:
        """The values that are there."""
        return pc.drop_null(self.texts)

    @cached_property
    def form(self) -> Form:
        """How most values are written."""
        values = self.filled
        if not len(values):
            return Form.EMPTY
        # Half is enough: nothing else is written with an @ between.
        if self.share(r"^[^@\s]+@[^@\s]+$") > _USUAL / 2:
            return Form.EMAIL
        if self.share(_DATE) > _USUAL:
            return Form.DATE
        if self.share(r"^-?\d+([.]0+)?$") > _USUAL:
            return Form.NUMBER
        if self.share(r"^-?\d*[.,]?\d+$") > _USUAL:
            return Form.MEASURE
        return Form.LETTERS if self.share(r"^[^\d]*\p{L}[^\d]*$") > _USUAL else Form.MIXED

    def share(self, pattern: str) -> float:
        """Share of the values that a pattern finds."""
        if not len(self.filled):
            return 0.0
        return float(pc.mean(pc.match_substring_regex(self.filled, pattern)).as_py())

    @cached_property
    def _plain(self) -> pa.ChunkedArray:
        """The values without case, accents, signs and leading zeros, missing ones among them."""
        plain = pc.utf8_lower(pc.utf8_normalize(self.texts, "NFKD"))
        plain = pc.replace_substring_regex(plain, r"[.]0+$|[^\p{L}\p{N}]", "")
        return pc.replace_substring_regex(plain, r"^0+(\d)", r"\1")

    def repeats(self, other: Content) -> bool:
        """Whether nearly all records say the same in this column and in another one of them."""
        return float(pc.mean(pc.equal(self._plain, other._plain)).as_py() or 0.0) > _REPEATED

    @cached_property
    def _counted(self) -> tuple[pa.Array, Floats]:
        """Different values without case, accents and signs, and the share of each."""
        counts = pc.value_counts(pc.drop_null(self._plain).combine_chunks())
        number = np.asarray(counts.field("counts"), dtype=np.float64)
        return counts.field("values"), number / max(number.sum(), 1.0)

    @property
    def values(self) -> pa.Array:
        """The different values, without case, accents, signs and leading zeros."""
        return self._counted[0]

    @property
    def shares(self) -> Floats:
        """The share of each of them among the values; shape (values,)."""
        return self._counted[1]

    @property
    def telling(self) -> float:
        """Number of different values per value."""
        return len(self.values) / max(len(self.filled), 1)

    @cached_property
    def lengths(self) -> Floats:
        """Share of the values of each length, from 0 to 40 and more."""
        length = np.minimum(np.asarray(pc.utf8_length(self.values)), 40)
        return np.asarray(np.bincount(length, weights=self.shares, minlength=41), dtype=np.float64)

    @cached_property
    def years(self) -> Floats:
        """The years of dates, of those that have four digits, in order."""
        found = []
        for pattern in (_YEAR, _YEAR_COMPACT):
            parts = pc.extract_regex(self.filled.combine_chunks(), pattern)
            year, last = parts.field("year"), parts.field("last")
            text = pc.if_else(pc.equal(year, ""), last, year)
            text = text.filter(pc.fill_null(pc.not_equal(text, ""), False))
            found.append(np.asarray(pc.drop_null(text).cast(pa.int64()), dtype=np.float64))
        return np.sort(np.concatenate(found))

    @cached_property
    def whole(self) -> Floats:
        """Whole numbers by record; not a number where there is none; shape (records,)."""
        text = self.texts.combine_chunks()
        plain = pc.replace_substring_regex(text, r"[.]0+$", "")
        right = pc.fill_null(pc.match_substring_regex(plain, r"^\d{1,15}$"), False)
        number = pc.if_else(right, plain, pa.scalar(None, plain.type)).cast(pa.float64())
        return np.asarray(pc.fill_null(number, np.nan))

    def numbers_records(self, rows: int) -> bool:
        """Whether the values are as numbers given in turn: different, and without large gaps."""
        # A number given in turn is there for each record, and never twice.
        if self.telling < 1 or len(self.filled) < len(self.texts):
            return False
        digits = pc.replace_substring_regex(self.values, r"\D", "")
        if not pc.all(pc.match_substring_regex(digits, r"^\d{1,15}$")).as_py():
            return False
        number = np.asarray(digits.cast(pa.int64()))
        return bool(len(np.unique(number)) == len(number) and np.ptp(number) < 1.5 * rows + 10)


_REPEATED = 0.95
"""Share of the records from which a column says what another one of its table says."""
FEW = 60
"""Different values up to which columns are compared by how frequent each of them is."""
_LEAST_SHARED = 3
"""Different values that two columns must share, unless both have fewer."""
_LEAST_ALIKE = {Form.DATE: 0.65, Form.NUMBER: 0.6, Form.EMAIL: 0.0}
"""Likeness from which two columns may hold the same, by how the values are written."""
_LEAST = 0.08
"""The same, of texts that are written otherwise."""


def likeness(one: Content, other: Content) -> float:
    """How far two columns hold the same, from 0 to 1.

    Of dates one less the largest difference of the two distributions of years (Kolmogorov and
    Smirnov). Of few different values one less the total variation distance. Of others the mean
    of that and of the share of the records whose value the other column has as well, times the
    agreement of the lengths.
    """
    forms = {one.form, other.form}
    if Form.EMPTY in forms or (len(forms) > 1 and forms & {Form.DATE, Form.EMAIL, Form.MEASURE}):
        return 0.0
    if forms == {Form.DATE}:
        alike = _same_years(one.years, other.years)
        return alike if alike >= _LEAST_ALIKE[Form.DATE] else 0.0
    if forms == {Form.LETTERS, Form.NUMBER}:
        return 0.0
    place = np.asarray(
        pc.fill_null(pc.index_in(one.values, value_set=other.values), -1), dtype=np.int64
    )
    at = np.flatnonzero(place >= 0)
    fewest = min(len(one.values), len(other.values))
    # One or two values in common, as 0 or unknown, are in many columns.
    if len(at) < min(_LEAST_SHARED, fewest):
        return 0.0
    mine, theirs = one.shares[at], other.shares[place[at]]
    # 1 − total variation distance is Σ min(p, q).
    same = float(np.minimum(mine, theirs).sum())
    # Many names are in one table once: that they are in the other at all says more than how often.
    covered = float(mine.sum() + theirs.sum()) / 2
    if max(len(one.values), len(other.values)) <= FEW:
        return same if same >= _LEAST_ALIKE[Form.NUMBER] else 0.0
    lengths = float(np.minimum(one.lengths, other.lengths).sum())
    alike = (same + covered) / 2 * lengths
    # Small numbers of any meaning are the same ones; long ones are not by chance.
    if forms == {Form.NUMBER} and fewest < 1000 and one.telling + other.telling < 1:
        return alike if same >= _LEAST_ALIKE[Form.NUMBER] / 2 and alike > 0.4 else 0.0
    return alike if Form.EMAIL in forms or alike >= _LEAST else 0.0


def _same_years(one: Floats, other: Floats) -> float:
    if not len(one) or not len(other):
        return 0.0
    points = np.unique(np.concatenate([one, other]))
    below = [np.searchsorted(each, points, side="right") / len(each) for each in (one, other)]
    # 1 − sup |F − G|.
    return 1.0 - float(np.abs(below[0] - below[1]).max())


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table, or several that make one; ``kind`` is by its header, if that says it."""

    headers: tuple[str, ...]
    kind: ColumnKind | None
    content: Content

    @property
    def own(self) -> str:
        """Its header as a name; that of parts is empty."""
        return sql_name(self.headers[0]) if len(self.headers) == 1 else ""


_NEAR = {ColumnKind.ADDRESS, ColumnKind.CATEGORY, ColumnKind.NUMBER, ColumnKind.POSTCODE}
"""Kinds that headers do not tell apart well."""
_MARGIN = 1.25
"""How much more alike two columns must be than either of them and a third one."""


def _said(one: Column, other: Column) -> float:
    """What the headers say for the two, as a factor."""
    if one.own and one.own == other.own:
        return 1.5
    if one.kind is None or other.kind is None:
        return 1.0
    if one.kind is other.kind:
        return 1.3
    return 0.8 if {one.kind, other.kind} <= _NEAR else 0.3


@dataclass(frozen=True)
class Matching:
    """The counterparts among the columns of two tables, by place, and those that are doubtful.

    These hold the same as far as one sees, but no more than others do.
    """

    pairs: tuple[tuple[int, int], ...]
    doubtful: tuple[tuple[int, int], ...]


def counterparts(one: Sequence[Column], other: Sequence[Column]) -> Matching:
    """The columns of two tables that hold the same, each in one pair at most.

    The pairs are those whose likeness is largest in sum. A pair whose columns are nearly as much
    like another one is doubtful, unless the headers are the same.
    """
    if not one or not other:
        return Matching((), ())
    score = np.array(
        [[likeness(a.content, b.content) * _said(a, b) for b in other] for a in one],
        dtype=np.float64,
    )
    # All at once: the best pair first could leave another column with a wrong one.
    rows, columns = linear_sum_assignment(score, maximize=True)
    pairs: list[tuple[int, int]] = []
    doubtful: list[tuple[int, int]] = []
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        found = score[row, column]
        if found <= 0:
            continue
        rivals = max(
            _best_rival(score[row], column, other), _best_rival(score[:, column], row, one)
        )
        same = one[row].own and one[row].own == other[column].own
        clear = same or found >= _MARGIN * rivals
        (pairs if clear else doubtful).append((row, column))
    return Matching(tuple(pairs), tuple(doubtful))


def _best_rival(scores: Floats, chosen: int, columns: Sequence[Column]) -> float:
    """The best score of another column than the chosen one that does not say the same as it."""
    content = columns[chosen].content
    rivals = sorted((score, place) for place, score in enumerate(scores) if place != chosen)
    for score, place in reversed(rivals):
        # A column that says the same is no rival: either would do.
        if score <= 0 or not columns[place].content.repeats(content):
            return float(max(score, 0.0))
    return 0.0


_MONTHS, _DAYS = 12, 31
_NO_DATES = 0.03
"""Share of impossible dates up to which three columns may be parts of one."""


_OF_MONTH, _OF_DAY = "month mon mm mob m monat mes mois dobmm", "day dd d dob tag dia jour dobdd"
_OFTEN = 2.0
"""Times as often as others may the most frequent month, or day, come: of births all are alike."""


def _are_even(values: Floats, most: int) -> bool:
    """Whether the numbers from 1 to the most are about as frequent as each other."""
    counts = np.bincount(values[~np.isnan(values)].astype(np.int64).clip(0))
    usual = counts.sum() / most
    # Three standard errors beside: of few records the most frequent one is so by chance.
    return bool(counts.max(initial=0) <= _OFTEN * usual + 3 * np.sqrt(usual))


def date_parts(
    contents: Sequence[Content], headers: Sequence[str] = ()
) -> list[tuple[int, int, int]]:
    """Columns that hold year, month and day of one date each, by their places.

    Numbers that reach from 1 to 12 and from 1 to 31, and years; together they are days of the
    calendar. A part goes with those that stand nearest to it.

    Parameters
    ----------
    contents
        The columns of a table, in order.
    headers
        Their headers: a month or day by its header may be one more often than others.
    """
    said = [words_of(header) for header in headers] or [()] * len(contents)
    whole = {i: content.whole for i, content in enumerate(contents) if content.form is Form.NUMBER}
    years: list[int] = []
    months: list[int] = []
    days: list[int] = []
    for place, values in whole.items():
        known = values[~np.isnan(values)]
        several = len(np.unique(known))
        if len(known) < 2 or known.min() < 0:
            continue
        # Some cells may be wrong: extremes would rule out the column for one of them.
        low, high = np.quantile(known, [0.01, 0.99])
        if low >= 1800 and high <= 2100 and several > 1:
            years.append(place)
        for most, least, word, places in (
            (_MONTHS, 1, _OF_MONTH, months),
            (_DAYS, _MONTHS + 1, _OF_DAY, days),
        ):
            fits = low >= 1 and least <= high <= most and several > most / 2
            if fits and (named(said[place], word) or _are_even(known, most)):
                places.append(place)
    parts: list[tuple[int, int, int]] = []
    taken: set[int] = set()
    triples = [(y, m, d) for y in years for m in months for d in days]
    # Parts of one date stand side by side.
    triples.sort(key=lambda each: max(each) - min(each))
    for triple in triples:
        if not taken & set(triple) and _are_dates(*(whole[place] for place in triple)):
            parts.append(triple)
            taken |= set(triple)
    return parts


def _are_dates(year: Floats, month: Floats, day: Floats) -> bool:
    """Whether nearly all records have a date, or none of its parts."""
    there = np.isfinite([year, month, day])
    complete = there.all(axis=0)
    if complete.sum() < (1 - 3 * _NO_DATES) * max(int(there.any(axis=0).sum()), 1):
        return False
    years, months, days = (each[complete].astype(np.int64) for each in (year, month, day))
    in_year = (months >= 1) & (months <= _MONTHS) & (days >= 1)
    first = (years - 1970) * _MONTHS + np.clip(months, 1, _MONTHS) - 1
    # By the calendar, as the length of a month depends on the year.
    begin, end = (each.astype("M8[M]").astype("M8[D]") for each in (first, first + 1))
    length = (end - begin).astype(np.int64)
    return bool(np.mean(~(in_year & (days <= length))) <= _NO_DATES)


@dataclass(frozen=True)
class Split:
    """A column of full names in one table, and two columns of another.

    They are in the order of the names in the full one.
    """

    full: int
    parts: tuple[int, int]


def split_name(one: Sequence[Column], other: Sequence[Column]) -> Split | None:
    """Full names in the one table whose first and last words the other has in two columns."""
    best, found = 0.0, None
    apart = [(j, column) for j, column in enumerate(other) if _may_be_name(column, words=False)]
    for place, column in enumerate(one):
        if not _may_be_name(column, words=True):
            continue
        first, last = (Content(halve) for halve in _halves(column.content.texts))
        scores = [[likeness(half, each.content) for _, each in apart] for half in (first, last)]
        whole = max((likeness(column.content, each.content) for each in other), default=0.0)
        for i, (given, _) in enumerate(apart):
            for j, (surname, _) in enumerate(apart):
                both = min(scores[0][i], scores[1][j])
                if i != j and both > max(best, whole):
                    best, found = both, Split(place, (given, surname))
    return found


def _may_be_name(column: Column, *, words: bool) -> bool:
    content = column.content
    if content.form is not Form.LETTERS or len(content.values) < FEW / 10:
        return False
    several = content.share(r"\S[,\s]+\S")
    return several > _USUAL if words else several < 0.5


def _halves(texts: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """The first and the last word of each text, as standardising a full name orders them."""
    turned = pc.replace_substring_regex(texts, r"^([^,]+),\s*(.*[^, ].*)$", r"\2 \1")
    return (
        pc.replace_substring_regex(turned, r"^\s*(\S+).*$", r"\1"),
        pc.replace_substring_regex(turned, r"^.*?(\S+)\s*$", r"\1"),
    )
