"""Which column may say whose record each record is, told by its values alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Ints
from sfumato.table import sources
from sfumato.table.dependence import exceptions
from sfumato.table.numbering import Accumulator
from sfumato.table.scalars import are_numbers, as_floats
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
LEAST_PAIRS, FEWER_PAIRS = 10, 5
"""A fifth at most of ten pairs by chance is 0.3 % of Poisson's law: no persons have so few."""
MOST_NAMED = 0.8
"""Different values per value from which a constant column names it rather than its stratum."""
_IN_ORDER = 0.9999
"""Correlation of ranks from which one column of numbers is a function of another one."""
_DATE_LIKE = r"^\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
_DATE = r"^\s*\d{4}-\d{2}-\d{2}([T ].*)?\s*$"
_TYPING = 0.999
"""Share of values that are numbers, or dates, from which a column of text is of that type."""
FREE_TEXT_LENGTH = 40
FREE_TEXT_SPACES = 4
"""Mean letters and spaces of values from which they are sentences."""


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


@dataclass(frozen=True)
class PersonCandidate:
    """A column that may say whose record each record is.

    Attributes
    ----------
    constant
        By the columns that are constant within its values, except for few records: the share of
        its records that agree with others of their value.
    strata
        Whether its values are those of strata, such as survey weights, rather than of persons.
    paired
        Whether nothing but another name of each value is constant in it, as of a region's weight.
    """

    name: str
    values: int
    records: int
    constant: Mapping[str, float]
    strata: bool = False
    paired: bool = False

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
    names = columns.column_names if among is None else among
    found = [_looked_at(columns, name) for name in names]
    return likeliest_first(found)


def person_candidates_of(source: sources.Source, among: Iterable[str]) -> list[PersonCandidate]:
    """As `person_candidates`, of a whole file that is read anew for each column that may be one."""
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


def _rows_of(source: sources.Source, rows: Ints) -> pa.Table:
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
    known = [each for each in found if each is not None and not each.strata]
    # A sum over columns that only some have would favour who has more of them.
    common = set.intersection(*(set(each.constant) for each in known)) if known else set()
    compared = common or {each.name for each in known}
    return sorted(
        known,
        key=lambda each: (-sum(each.constant.get(name, 0.0) for name in compared), each.values),
    )


def _rows_looked_at(codes: Codes | Ints, values: pa.Array) -> Ints | None:
    """The records of some values, all of each; ``None`` where these cannot be persons."""
    records, different = int(np.count_nonzero(codes >= 0)), len(values)
    repeats = different < records <= MOST_RECORDS * different
    if different < LEAST_VALUES or not repeats or not may_number(values):
        return None
    parts = -(-records // LOOKED_AT)
    return np.flatnonzero((codes >= 0) & (codes % parts == 0))


def _candidate(
    name: str, codes: Codes | Ints, values: pa.Array, looked_at: pa.Table
) -> PersonCandidate | None:
    """A column as that of the persons; ``None`` where it does not look like that."""
    groups = _coded(looked_at[name])[0]
    first = np.unique(groups, return_index=True)[1]
    agreeing: dict[str, float] = {}
    constant: dict[str, Ints] = {}
    for other in (column_name for column_name in looked_at.column_names if column_name != name):
        of_other = _coded(looked_at[other])[0]
        share = _constant(groups, of_other)
        if share is not None:
            agreeing[other], constant[other] = share, of_other[first]
    own = looked_at[name].take(sources.from_numpy(first)).combine_chunks()
    labels = {
        n for n, each in constant.items()
        if _names_the_same(own, each, looked_at[n]) or _follows(own, each, looked_at[n])
    }  # fmt: skip
    independent = _independent({n: each for n, each in constant.items() if n not in labels})
    if not independent:
        return None
    alone = independent[0]
    if len(independent) == 1 and not (
        _hold_digits(own) and _is_unordered(own, constant[alone], _coded(looked_at[alone])[1])
    ):
        return None
    within = [constant[each] for each in independent]
    paired = len(within) == 1 and _names_each(within[0])
    records = int(np.count_nonzero(codes >= 0))
    return PersonCandidate(name, len(values), records, agreeing, _are_strata(within), paired)


def _names_each(constant: Ints) -> bool:
    return len(np.unique(constant)) >= MOST_NAMED * len(constant)


def _are_strata(constants: Sequence[Ints]) -> bool:
    """Whether what is constant within values hardly ever agrees for two, as it does for persons.

    Each cell of a survey has one weight. Persons who are drawn share cells by chance, as many pairs
    as the shares of the columns' values say, more where columns go together. What names each of the
    values tells nothing.
    """
    coarse = [constant for constant in constants if not _names_each(constant)]
    if not coarse:
        return False
    values = len(coarse[0])
    cells = np.unique(np.stack(coarse), axis=1, return_counts=True)[1]
    shares = [np.unique(each, return_counts=True)[1] / values for each in coarse]
    pairs = float((cells * (cells - 1)).sum()) / 2
    # Pairs that agree by chance: n (n - 1) / 2 times the product of sum p ** 2 over the columns.
    expected = values * (values - 1) / 2 * float(np.prod([share @ share for share in shares]))
    return expected >= LEAST_PAIRS and pairs * FEWER_PAIRS <= expected


def values_of_strata(columns: pa.Table, among: Iterable[str]) -> list[str]:
    """Those of some columns whose values are of strata, such as survey weights."""
    found = (_looked_at(columns, name) for name in among)
    return [each.name for each in found if each is not None and each.strata]


def _looked_at(columns: pa.Table, name: str) -> PersonCandidate | None:
    codes, values = _coded(columns[name])
    rows = _rows_looked_at(codes, values)
    if rows is None:
        return None
    return _candidate(name, codes, values, columns.take(sources.from_numpy(rows)))


def _coded(column: pa.ChunkedArray) -> tuple[Ints, pa.Array]:
    """A column as codes, -1 for missing, and its different values."""
    if pa.types.is_floating(column.type):
        # `pa.scalar` would import pandas.
        none = sources.from_numpy(np.zeros(1), np.ones(1, dtype=np.bool_))[0]
        column = pc.if_else(pc.is_nan(column), none.cast(column.type), column)
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    known = sources.as_numpy(encoded.indices.is_valid())
    codes = np.where(known, sources.as_numpy(encoded.indices), MISSING).astype(np.int64)
    return codes, encoded.dictionary


def may_number(values: pa.Array) -> bool:
    """Whether values can number or name persons: neither amounts, nor dates, nor sentences."""
    if pa.types.is_floating(values.type):
        return bool(pc.all(pc.equal(pc.floor(values), values)).as_py())
    if not sources.is_text(values.type):
        return bool(pa.types.is_integer(values.type))
    known = pc.drop_null(pc.unique(_without_missing(values.cast(pa.large_string()))))
    if len(known) and _share(known, _NUMBER) > _TYPING:
        return _share(known, r"^\s*[+-]?\d+\s*$") == 1.0
    if len(known) and _share(known, _DATE) > _TYPING:
        return False
    if len(known) > 1 and _is_free_text(known):
        return False
    return _share(values, _DATE_LIKE) < MOST_EXCEPTIONS


def _constant(groups: Ints, values: Ints) -> float | None:
    """The share of records that agree with others of their group; ``None`` of what varies in it.

    Constant is what has few exceptions, and fewer than chance would make.
    """
    known = (groups >= 0) & (values >= 0)
    groups, values = groups[known], values[known]
    if not len(groups):
        return None
    # A fixed seed, so that the same file gets the same answer.
    by_chance = exceptions(groups, np.random.default_rng(0).permutation(values))
    if by_chance < LEAST_EXPECTED:
        return None
    found = exceptions(groups, values)
    sizes = np.unique(groups, return_counts=True)[1]
    repeated = int(sizes[sizes > 1].sum())
    if found > MOST_EXCEPTIONS * repeated or found * LESS_THAN_CHANCE > by_chance:
        return None
    return (repeated - found) / len(groups)


def _independent(columns: Mapping[str, Ints]) -> list[str]:
    """The columns without those that follow from another, as a region does from its postcode."""
    kept = list(columns)
    for name in list(kept):
        others = (columns[other] for other in kept if other != name)
        # Removed at once: of two that follow from each other, one has to stay.
        if any(_constant(other, columns[name]) is not None for other in others):
            kept.remove(name)
    return kept


def _names_the_same(values: pa.Array, constant: Ints, other: pa.ChunkedArray) -> bool:
    """Whether one of two columns is the label of the other's codes, and tells nothing more."""
    if len(np.unique(constant)) < len(constant):
        return False
    # Labels of codes are words: of the two, one has digits and the other none.
    return _hold_digits(values) != _hold_digits(_coded(other)[1])


def _follows(values: pa.Array, constant: Ints, other: pa.ChunkedArray) -> bool:
    """Whether one of two columns of numbers is worked out of the other, as a square is."""
    ranks = [_ranks_of_numbers(each) for each in (values, _coded(other)[1])]
    known = constant >= 0
    own, theirs = ranks
    few = len(np.unique(constant[known])) < LEAST_VALUES
    if own is None or theirs is None or few:
        return False
    both = np.corrcoef(own[known], theirs[constant[known]])
    return abs(float(both[0, 1])) > _IN_ORDER


def _ranks_of_numbers(values: pa.Array) -> Ints | None:
    """Numbers, texts of numbers among them, as their places in ascending order, else ``None``."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if sources.is_text(values.type):
        if values.null_count or not are_numbers(values).all():
            return None
    elif not sources.is_number(values.type) or values.null_count:
        return None
    ranks: Ints = np.unique(as_floats(values), return_inverse=True)[1]
    return ranks


def _is_unordered(values: pa.Array, constant: Ints, constants: pa.Array) -> bool:
    """Whether what is constant within each value does not follow the values' order."""
    in_order = constant[np.argsort(_ranks(values))]
    changes = np.count_nonzero(np.diff(in_order))
    by_chance = np.count_nonzero(np.diff(np.random.default_rng(0).permutation(in_order)))
    # What follows the order changes seldom along it, as a region does along its postcodes.
    if 2 * changes <= by_chance:
        return False
    known = in_order >= 0
    ranks = _ranks(constants)[in_order[known]]
    if len(np.unique(ranks)) < 2:
        return True
    return abs(float(np.corrcoef(np.flatnonzero(known), ranks)[0, 1])) < MOST_ORDERED


def _ranks(values: pa.Array) -> Ints:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    ranks: Ints = sources.as_numpy(pc.rank(values, sort_keys="ascending", tiebreaker="first"))
    return ranks.astype(np.int64)


def _hold_digits(values: pa.Array) -> bool:
    texts = values.cast(pa.large_string())
    return _share(texts, r"\d") > 1 - MOST_EXCEPTIONS


def missing_texts_of(column: pa.ChunkedArray) -> tuple[str, ...]:
    """Texts of a column that seem to mean a missing value."""
    if not sources.is_text(column.type):
        return ()
    found = set(pc.unique(pc.utf8_trim_whitespace(column.cast(pa.large_string()))).to_pylist())
    return tuple(text for text in MISSING_TEXTS if text in found)


def _without_missing(texts: pa.Array) -> pa.Array:
    """Texts without spaces at their ends, and without those that mean a missing value."""
    texts = pc.utf8_trim_whitespace(texts)
    marks = pc.is_in(texts, value_set=sources.from_texts([*MISSING_TEXTS, ""]).cast(texts.type))
    return pc.if_else(marks, pa.nulls(1, texts.type)[0], texts)


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
