"""Which column may say whose record each record is, told by its values alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.table import sources
from sfumato.table.numbering import Accumulator
from sfumato.table.table import MISSING, Codes

LEAST_VALUES = 20
"""Fewer different values are categories, not persons."""
MOST_RECORDS = 1000
"""More records per value are those of a category, not of a person."""
LOOKED_AT = 10_000
"""Records whose values are held against each other, those of a value all together."""
MOST_EXCEPTIONS = 0.1
"""Largest share of the records in which a constant column may have another value: who moved."""
LESS_THAN_CHANCE = 3.0
"""So many times more exceptions would chance have made, at least."""
LEAST_EXPECTED = 20
"""Fewer exceptions by chance prove nothing: too few values repeat."""
MOST_ORDERED = 0.5
"""Correlation of ranks from which what is constant follows the order of the values."""
_DATE_LIKE = r"^\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
_DATE = r"^\s*\d{4}-\d{2}-\d{2}([T ].*)?\s*$"
_TYPING = 0.999
"""Share of values that are numbers, or dates, from which a column of text is of that type."""
FREE_TEXT_LENGTH = 40
FREE_TEXT_SPACES = 4
"""Mean letters and spaces of values from which they are sentences."""
SCALE_SIZE = 30
"""Most categories of a scale."""


_SCALES = (
    "very low|low|moderate|medium|high|very high",
    "none|minimal|mild|moderate|severe|critical",
    "never|rarely|sometimes|often|always",
    "very poor|poor|fair|good|very good|excellent",
    "strongly disagree|disagree|neutral|agree|strongly agree",
    "small|medium|large",
    (
        "none|preschool|1st-4th|primary|5th-6th|7th-8th|9th|10th|11th|12th|secondary|high school|"
        "hs-grad|some college|some-college|assoc-voc|assoc-acdm|associate|bachelor|bachelors|"
        "master|masters|prof-school|doctorate|phd"
    ),
)
SCALES = tuple(tuple(scale.split("|")) for scale in _SCALES)

MISSING_TEXTS = ("?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "#N/A", ".", "-")

Look = Literal["numbers", "dates", "text", "yes/no", "bytes"]


@dataclass(frozen=True)
class PersonCandidate:
    """A column that may say whose record each record is.

    Attributes
    ----------
    name
        Its name.
    values, records
        Its different values, and the records that have one.
    constant
        By the columns that are constant within its values, except for few records: the share of
        its records that agree with others of their value.
    """

    name: str
    values: int
    records: int
    constant: Mapping[str, float]

    @property
    def reason(self) -> str:
        """Why it may, without a value of the data."""
        return (
            f"its values repeat ({self.values:,} different, {self.records / self.values:.1f} "
            f"records each), and within them {sources.listed(self.constant)} "
            f"{'is' if len(self.constant) == 1 else 'are'} constant"
        )


def person_candidates(
    columns: pa.Table, among: Iterable[str] | None = None
) -> list[PersonCandidate]:
    """The columns that may say whose records these are, the likeliest first.

    A column is one if its values repeat and two or more other columns, which do not follow from
    each other, are constant within them: what does not change about a person. One such column is
    enough where the values hold digits and the column does not follow their order, as the region
    of a postcode or the chapter of a code would. The label of a code does not count. Constant
    means: at most 10 % of the records differ from the others of their value, and at most a third
    of those that would if the column were shuffled. Time is O(n log n) for each pair of columns, n
    at most 10,000 records.

    Parameters
    ----------
    columns
        Columns of the file, missing values as null.
    among
        Names of the columns to ask this of; all of them when not given.
    """
    found = []
    for name in columns.column_names if among is None else among:
        codes, values = _coded(columns[name])
        rows = _rows_looked_at(codes, values)
        if rows is not None:
            found.append(_candidate(name, codes, values, columns.take(sources.from_numpy(rows))))
    return likeliest_first(found)


def person_candidates_of(source: sources.Source, among: Iterable[str]) -> list[PersonCandidate]:
    """As `person_candidates`, of a whole file that is read anew for each column that may be one.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    found = []
    for name in among:
        accumulator = Accumulator(name, source.rows)
        for batch in source.batches([name]):
            accumulator.add(batch.column(0))
        raw = accumulator.finish()
        rows = _rows_looked_at(raw.codes, raw.values)
        if rows is not None:
            looked_at = _rows_of(source, rows)
            found.append(_candidate(name, raw.codes, raw.values, looked_at))
    return likeliest_first(found)


def _rows_of(source: sources.Source, rows: sources.Ints) -> pa.Table:
    """Some records of a file, by their row numbers in ascending order."""
    parts, start = [], 0
    for batch in source.batches(source.names):
        first, last = np.searchsorted(rows, (start, start + batch.num_rows))
        parts.append(batch.take(sources.from_numpy(rows[first:last] - start)))
        start += batch.num_rows
    return pa.Table.from_batches(parts)


def likeliest_first(found: Sequence[PersonCandidate | None]) -> list[PersonCandidate]:
    """Candidates in order.

    What the true one tells apart, a postcode of few persons merges, and what moves splits: its
    records agree more often with others of theirs. Of what agrees alike it is the coarser one.
    """
    known = [each for each in found if each is not None]
    common = set.intersection(*(set(each.constant) for each in known)) if known else set()
    compared = common or {each.name for each in known}
    return sorted(
        known,
        key=lambda each: (-sum(each.constant.get(name, 0.0) for name in compared), each.values),
    )


def _rows_looked_at(codes: Codes | sources.Ints, values: pa.Array) -> sources.Ints | None:
    """The records of some values, all of each; ``None`` where these cannot be persons."""
    records, different = int(np.count_nonzero(codes >= 0)), len(values)
    repeats = different < records <= MOST_RECORDS * different
    if different < LEAST_VALUES or not repeats or not _may_number(values):
        return None
    parts = -(-records // LOOKED_AT)
    return np.flatnonzero((codes >= 0) & (codes % parts == 0))


def _candidate(
    name: str, codes: Codes | sources.Ints, values: pa.Array, looked_at: pa.Table
) -> PersonCandidate | None:
    """A column as that of the persons; ``None`` where it does not look like that.

    Parameters
    ----------
    name, codes, values
        The column, whole.
    looked_at
        Records of some of its values, all columns.
    """
    groups = _coded(looked_at[name])[0]
    first = np.unique(groups, return_index=True)[1]
    agreeing: dict[str, float] = {}
    constant: dict[str, sources.Ints] = {}
    for other in (each for each in looked_at.column_names if each != name):
        of_other = _coded(looked_at[other])[0]
        share = _constant(groups, of_other)
        if share is not None:
            agreeing[other], constant[other] = share, of_other[first]
    own = looked_at[name].take(sources.from_numpy(first)).combine_chunks()
    labels = {n for n, each in constant.items() if _names_the_same(own, each, looked_at[n])}
    independent = _independent({n: each for n, each in constant.items() if n not in labels})
    if not independent:
        return None
    alone = independent[0]
    if len(independent) == 1 and not (
        _hold_digits(own) and _is_unordered(own, constant[alone], _coded(looked_at[alone])[1])
    ):
        return None
    return PersonCandidate(name, len(values), int(np.count_nonzero(codes >= 0)), agreeing)


def _coded(column: pa.ChunkedArray) -> tuple[sources.Ints, pa.Array]:
    """A column as codes, -1 for missing, and its different values."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    codes = sources.as_numpy(pc.fill_null(encoded.indices, MISSING)).astype(np.int64)
    return codes, encoded.dictionary


def _may_number(values: pa.Array) -> bool:
    """Whether values can number or name persons: neither amounts, nor dates, nor sentences."""
    profile = profile_column(pa.chunked_array([values]))
    if profile.look == "numbers":
        return profile.whole
    if profile.look != "text" or profile.free_text or not sources.is_text(values.type):
        return False
    return float(pc.mean(pc.match_substring_regex(values, _DATE_LIKE)).as_py()) < MOST_EXCEPTIONS


def _exceptions(groups: sources.Ints, values: sources.Ints) -> int:
    """Records whose value is not the most frequent one of their group."""
    pairs, counts = np.unique(groups * (values.max() + 1) + values, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // (values.max() + 1), prepend=-1))
    return len(groups) - int(np.maximum.reduceat(counts, starts).sum())


def _constant(groups: sources.Ints, values: sources.Ints) -> float | None:
    """The share of records that agree with others of their group; ``None`` of what varies in it.

    Constant is what has few exceptions, and fewer than chance would make.
    """
    known = (groups >= 0) & (values >= 0)
    groups, values = groups[known], values[known]
    if not len(groups):
        return None
    by_chance = _exceptions(groups, np.random.default_rng(0).permutation(values))
    if by_chance < LEAST_EXPECTED:
        return None
    found = _exceptions(groups, values)
    sizes = np.unique(groups, return_counts=True)[1]
    repeated = int(sizes[sizes > 1].sum())
    if found > MOST_EXCEPTIONS * repeated or found * LESS_THAN_CHANCE > by_chance:
        return None
    return (repeated - found) / len(groups)


def _independent(columns: Mapping[str, sources.Ints]) -> list[str]:
    """The columns without those that follow from another, as a region does from its postcode."""
    kept = list(columns)
    for name in list(kept):
        others = (columns[other] for other in kept if other != name)
        if any(_constant(other, columns[name]) is not None for other in others):
            kept.remove(name)
    return kept


def _names_the_same(values: pa.Array, constant: sources.Ints, other: pa.ChunkedArray) -> bool:
    """Whether one of two columns is the label of the other's codes, and tells nothing more."""
    if len(np.unique(constant)) < len(constant):
        return False
    return _hold_digits(values) != _hold_digits(_coded(other)[1])


def _is_unordered(values: pa.Array, constant: sources.Ints, constants: pa.Array) -> bool:
    """Whether what is constant within each value does not follow the values' order.

    Parameters
    ----------
    values
        The different values.
    constant
        The code of what is constant within each of them.
    constants
        What the codes mean.
    """
    in_order = constant[np.argsort(_ranks(values))]
    changes = np.count_nonzero(np.diff(in_order))
    by_chance = np.count_nonzero(np.diff(np.random.default_rng(0).permutation(in_order)))
    if 2 * changes <= by_chance:
        return False
    known = in_order >= 0
    ranks = _ranks(constants)[in_order[known]]
    if len(np.unique(ranks)) < 2:
        return True
    return abs(float(np.corrcoef(np.flatnonzero(known), ranks)[0, 1])) < MOST_ORDERED


def _ranks(values: pa.Array) -> sources.Ints:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    ranks: sources.Ints = sources.as_numpy(
        pc.rank(values, sort_keys="ascending", tiebreaker="first")
    )
    return ranks.astype(np.int64)


def _hold_digits(values: pa.Array) -> bool:
    texts = values.cast(pa.large_string())
    return float(pc.mean(pc.match_substring_regex(texts, r"\d")).as_py()) > 1 - MOST_EXCEPTIONS


@dataclass(frozen=True)
class Profile:
    """Counts over the first records of one column.

    Attributes
    ----------
    look
        What the values are.
    records, filled, distinct
        Records looked at, those with a value, and different values.
    whole
        Whether all numbers are whole.
    free_text
        Whether the values are sentences rather than names of categories.
    order
        The categories in their order, where they are words of a known scale.
    missing_texts
        Texts that seem to mean a missing value.
    """

    look: Look
    records: int
    filled: int
    distinct: int
    whole: bool = False
    free_text: bool = False
    order: tuple[str, ...] | None = None
    missing_texts: tuple[str, ...] = ()

    @property
    def unique(self) -> bool:
        """Whether every value is there once only."""
        return self.filled > 1 and self.distinct == self.filled

    @property
    def repeats(self) -> float:
        """Records per different value."""
        return self.filled / self.distinct if self.distinct else 0.0


def profile_column(column: pa.ChunkedArray) -> Profile:
    """Look at the values of a column."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    missing_texts: tuple[str, ...] = ()
    if sources.is_text(kind):
        column = column.cast(pa.large_string())
        column, missing_texts = _without_missing(column)
    filled = len(column) - column.null_count
    values = pc.drop_null(pc.unique(column))
    if sources.is_text(kind):
        return _profile_text(values, len(column), filled, missing_texts)
    look: Look = "bytes"
    if sources.is_number(kind):
        look = "numbers"
    elif sources.is_moment(kind):
        look = "dates"
    elif pa.types.is_boolean(kind):
        look = "yes/no"
    elif pa.types.is_time(kind):
        look = "text"
    whole = pa.types.is_integer(kind) or (pa.types.is_floating(kind) and _all_whole(values))
    return Profile(look, len(column), filled, len(values), whole=whole)


def _without_missing(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, tuple[str, ...]]:
    """The texts without spaces around them; those that mean missing as null, and which."""
    column = pc.utf8_trim_whitespace(column)
    known = pa.array([*MISSING_TEXTS, ""], column.type)
    marks = pc.is_in(column, value_set=known)
    found = set(pc.unique(column.filter(marks)).to_pylist())
    empty = pa.scalar(None, column.type)
    return pc.if_else(marks, empty, column), tuple(t for t in MISSING_TEXTS if t in found)


def _all_whole(values: pa.Array) -> bool:
    return bool(pc.all(pc.equal(pc.floor(values), values)).as_py())


def _profile_text(
    values: pa.Array, records: int, filled: int, missing_texts: tuple[str, ...]
) -> Profile:
    distinct = len(values)
    if distinct and _share(values, _NUMBER) > _TYPING:
        whole = _share(values, r"^\s*[+-]?\d+\s*$") == 1.0
        return Profile("numbers", records, filled, distinct, whole, missing_texts=missing_texts)
    if distinct and _share(values, _DATE) > _TYPING:
        return Profile("dates", records, filled, distinct, missing_texts=missing_texts)
    return Profile(
        "text",
        records,
        filled,
        distinct,
        free_text=distinct > 1 and _is_free_text(values),
        order=scale_of(values.to_pylist()) if 1 < distinct <= SCALE_SIZE else None,
        missing_texts=missing_texts,
    )


def _share(values: pa.Array, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(values, pattern)).as_py())


def _is_free_text(values: pa.Array) -> bool:
    length = pc.mean(pc.utf8_length(values)).as_py()
    spaces = pc.mean(pc.count_substring(values, " ")).as_py()
    return bool(length >= FREE_TEXT_LENGTH and spaces >= FREE_TEXT_SPACES)


def scale_of(labels: Iterable[str]) -> tuple[str, ...] | None:
    """The labels in their order from lowest to highest, if they are words of one known scale."""
    found: dict[str, str] = {}
    for label in labels:
        if found.setdefault(label.strip().lower(), label) != label:
            return None
    for scale in SCALES:
        if len(found) > 1 and found.keys() <= set(scale):
            return tuple(found[word] for word in scale if word in found)
    return None
