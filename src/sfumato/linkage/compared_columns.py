"""Which columns of some tables are compared: those that mean the same, as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.number_text import share_text
from sfumato.linkage import column_meanings
from sfumato.linkage.column_counterparts import (
    Column,
    Content,
    Form,
    counterparts,
    date_parts,
    split_name,
)
from sfumato.linkage.link_sources import joined
from sfumato.linkage.link_spec import RESERVED, ColumnKind, is_latin, sql_name
from sfumato.schema import Schema
from sfumato.table.header_words import words_of

_Group = dict[str, Column]
"""The columns that are one: by the source."""


@dataclass(frozen=True)
class Found:
    """A column that is worth comparing.

    Attributes
    ----------
    headers
        Its header in each source that has it, or the headers that it is joined from.
    filled
        Smallest share of records with a value.
    why
        What was seen, without a value.
    """

    name: str
    kind: ColumnKind
    headers: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, pa.ChunkedArray]
    filled: float
    distinct: int
    why: str


@dataclass(frozen=True)
class Meanings:
    """What was found in the columns of some tables, in the order of the first that has them.

    Questions are what somebody should look at, without values: columns without a counterpart, and
    pairs that nothing but a person can decide on.
    """

    found: list[Found]
    questions: tuple[str, ...]


def find_columns(
    samples: Mapping[str, column_meanings.Sample], schema: Schema | None, *, sources_needed: int
) -> Meanings:
    """The columns to compare, and what nobody but a person can decide.

    Columns are one if they have the same name and kind, or hold the same by their values
    (`sfumato.linkage.column_counterparts`). Year, month and day in three columns are one date;
    names in two columns are one full name where another table has that. What a schema calls
    sensitive or insensitive is left out, and so is a full name beside its parts.

    Parameters
    ----------
    samples
        A sample of each table, by the source's name.
    sources_needed
        Number of sources that must have a column.
    """
    groups: list[_Group] = []
    questions: list[str] = []
    for source, sample in samples.items():
        _add_table(groups, source, _columns_of(sample, schema), questions)
    found: list[Found] = []
    # A new name must be none of a column that is not compared either.
    taken = {
        sql_name(column_name) for s in samples.values() for column_name in s.columns.column_names
    }
    for group in groups:
        direct = all(
            column_meanings.is_direct(h, schema) for each in group.values() for h in each.headers
        )
        kind = _kind_of_group(group) or _kind_of_known(group, schema)
        # A schema's word that a column is a direct identifier is worth a guess by looks.
        if kind is None and direct:
            kind = column_meanings.kind_by_looks(next(iter(group.values())).content.texts)
        if len(group) < sources_needed:
            questions += _without_counterpart(group, kind, list(samples), direct=direct)
        elif kind is not None:
            name = _name_of(group, kind, samples, {each.name for each in found}, taken)
            made = _found(name, kind, group)
            # One value for all tells nobody apart; that of one record is told by other tables'.
            found += [made] if made.distinct > 1 else []
        elif len(group) > 1:
            questions.append(
                f"{_places(group)} hold the same, but not what says who a person is, as far as "
                "one sees. If it does, add it to 'columns', with its headers under 'rename'."
            )
    return Meanings(_without_repeats(_of_one_word(found)), tuple(questions))


def _columns_of(sample: column_meanings.Sample, schema: Schema | None) -> list[Column]:
    """The columns of a table that may say who a person is; parts of a date as one."""
    contents = {
        header: Content(column_meanings.without_missing(sample.columns.column(header)))
        for header in sample.columns.column_names
    }
    headers = list(contents)
    columns: dict[int, Column] = {}
    parts = {
        places: tuple(headers[place] for place in places)
        for places in date_parts(list(contents.values()), headers)
    }
    for places, named_parts in parts.items():
        texts = [contents[part].texts.combine_chunks() for part in named_parts]
        dates = Content(pa.chunked_array([joined(texts, ColumnKind.DATE)]))
        born = any(column_meanings.speaks_of_birth(part) for part in named_parts)
        kind = ColumnKind.DATE if born else None
        # In the place of the first part, so that the order stays that of the table.
        columns[min(places)] = Column(named_parts, kind, dates)
    used = {part for named_parts in parts.values() for part in named_parts}
    for place, (header, content) in enumerate(contents.items()):
        kind = column_meanings.known_kind(header, schema)
        if header in used or not column_meanings.is_borne_out(content.texts, kind):
            continue
        # Row numbers of two tables agree by chance in all their values.
        if kind is None and content.numbers_records(sample.rows):
            continue
        columns[place] = Column((header,), kind, content)
    return [columns[place] for place in sorted(columns)]


def _add_table(
    groups: list[_Group], source: str, columns: list[Column], questions: list[str]
) -> None:
    """Put the columns of a further table to those of the tables before."""
    known = [next(iter(group.values())) for group in groups]
    pairs: dict[int, int] = {}
    split = split_name(known, columns)
    if split is not None:
        joined_at = _join_names(columns, split.parts)
        pairs[split.full] = joined_at
    # Full names may be in either of the tables.
    turned = None if split is not None else split_name(columns, known)
    # Parts that a third table has in two columns, too, cannot be joined for this one.
    if turned is not None and all(len(groups[place]) == 1 for place in turned.parts):
        holder = next(iter(groups[turned.parts[0]]))
        joined_at = _join_names(known, turned.parts)
        del groups[max(turned.parts)]
        groups[joined_at] = {holder: known[joined_at]}
        pairs[joined_at] = turned.full
    # Names in parts, then headers, then values: the surest evidence takes its columns first.
    pairs |= _by_header(known, columns, pairs)
    left = [i for i in range(len(known)) if i not in pairs]
    right = [j for j in range(len(columns)) if j not in pairs.values()]
    matched = counterparts([known[i] for i in left], [columns[j] for j in right])
    pairs |= {left[i]: right[j] for i, j in matched.pairs}
    for i, j in matched.doubtful:
        both = {**groups[left[i]], source: columns[right[j]]}
        questions.append(
            f"{_places(both)} may hold the same, but other columns are as much alike. If they do, "
            "add the column to 'columns', with its headers under 'rename'."
        )
    pairs |= _by_kind(known, columns, pairs)
    for i, j in pairs.items():
        groups[i][source] = columns[j]
    groups += [{source: column} for j, column in enumerate(columns) if j not in pairs.values()]


def _join_names(columns: list[Column], places: tuple[int, int]) -> int:
    """Put one column in the place of two that hold the names of a full one; gives its place."""
    column = _joined_name([columns[place] for place in places])
    first, last = sorted(places)
    columns[first] = column
    del columns[last]
    return first


def _joined_name(parts: Sequence[Column]) -> Column:
    kind = ColumnKind.FULL_NAME
    texts = joined([part.content.texts.combine_chunks() for part in parts], kind)
    headers = tuple(header for part in parts for header in part.headers)
    return Column(headers, kind, Content(pa.chunked_array([texts])))


def _by_header(
    known: Sequence[Column], columns: Sequence[Column], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Columns of one name and kind, unless all their few values are other ones."""
    found: dict[int, int] = {}
    for i, column in enumerate(known):
        for j, other in enumerate(columns):
            alike = column.own and column.own == other.own and column.kind is other.kind is not None
            free = i not in pairs and j not in {*pairs.values(), *found.values()}
            if alike and free and not _written_otherwise(column, other):
                found[i] = j
                break
    return found


def _written_otherwise(one: Column, other: Column) -> bool:
    values = [one.content.values, other.content.values]
    few = all(len(value) <= column_meanings.FEW_VALUES for value in values)
    return few and not pc.any(pc.is_in(values[0], value_set=values[1])).as_py()


_WIDE = {ColumnKind.ADDRESS, ColumnKind.CATEGORY, ColumnKind.NUMBER}
"""Kinds of which a table has several columns that say different things."""


def _words_of(column: Column) -> set[str]:
    """The words of its headers, but those that many have."""
    return {word for header in column.headers for word in words_of(header)} - _COMMON


_COMMON = {"name", "no", "nr", "number", "num", "code", "id", "of", "the"}


def _by_kind(
    known: Sequence[Column], columns: Sequence[Column], pairs: Mapping[int, int]
) -> dict[int, int]:
    """Columns of one kind by their headers, where each table has one of it left, in one form.

    That both are left is no reason where a kind holds much: a sex and an occupation are categories.
    Then the headers must have a word in common.
    """
    found: dict[int, int] = {}
    for kind in ColumnKind:
        left = [i for i, column in enumerate(known) if column.kind is kind and i not in pairs]
        right = [
            j for j, column in enumerate(columns) if column.kind is kind and j not in pairs.values()
        ]
        # With two of a kind left, values would have to tell them apart, and did not.
        if len(left) != 1 or len(right) != 1:
            continue
        one, other = known[left[0]], columns[right[0]]
        apart = kind in _WIDE and not _words_of(one) & _words_of(other)
        if one.content.form is other.content.form and not (apart or _written_otherwise(one, other)):
            found[left[0]] = right[0]
    return found


def _kind_of_group(group: _Group) -> ColumnKind | None:
    """What the columns hold: by a header, or by the values where no header says so."""
    by_header = [each.kind for each in group.values() if each.kind is not None]
    if len(set(by_header)) == 1 or (by_header and len(group) == 1):
        return by_header[0]
    kinds = [column_meanings.kind_by_values(each.content) for each in group.values()]
    by_value = next((kind for kind in kinds if kind is not None), None)
    if by_header:
        return by_value if by_value in by_header else by_header[0]
    return by_value if None not in kinds else None


def _kind_of_known(group: _Group, schema: Schema | None) -> ColumnKind | None:
    """The kind of what a schema calls quasi-identifiers, where nothing else says who a person is.

    What tells nobody apart is given no weight when the weights are estimated.
    """
    known = set() if schema is None else {sql_name(name) for name in schema.quasi_identifiers}
    if len(group) < 2 or not all(each.own in known for each in group.values()):
        return None
    contents = [each.content for each in group.values()]
    if all(content.form in {Form.LETTERS, Form.NUMBER, Form.MIXED} for content in contents):
        few = all(len(content.values) <= column_meanings.FEW_VALUES for content in contents)
        numbers = all(content.form is Form.NUMBER for content in contents)
        return ColumnKind.CATEGORY if few else ColumnKind.NUMBER if numbers else None
    return None


def _places(group: _Group) -> str:
    """The headers of a group, with their sources."""
    return " and ".join(
        f"{', '.join(repr(header) for header in each.headers)} of {source}"
        for source, each in group.items()
    )


def _without_counterpart(
    group: _Group, kind: ColumnKind | None, sources: Sequence[str], *, direct: bool
) -> list[str]:
    """A line for a column that others lack, where it says who a person is as far as one sees."""
    said = direct or any(each.kind is not None for each in group.values())
    if kind is None or not (said or kind in {ColumnKind.DATE, ColumnKind.EMAIL}):
        return []
    lacking = [source for source in sources if source not in group]
    headers = next(iter(group.values())).headers
    name = sql_name(headers[0]) if is_latin(headers[0]) else kind.value.replace(" ", "_")
    cures = ", ".join(f'[rename.{source}] {name} = "its header there"' for source in lacking)
    return [
        (
            f"{_places(group)} ({kind.value}) has no counterpart in {', '.join(lacking)} with "
            f"values written as they are here. If there is one, say so: [columns.{name}] and "
            f"{cures}. If its values are written otherwise, [recipe] of the schema renames them."
        )
    ]


def _name_of(
    group: _Group,
    kind: ColumnKind,
    samples: Mapping[str, column_meanings.Sample],
    taken: set[str],
    headers: set[str],
) -> str:
    """How the specification calls a column: as the first table that has it, if it can.

    A table without the column must have no other one of that name.
    """
    first = next(iter(group.values()))
    legible = all(map(is_latin, first.headers))
    name = (first.own or _stem(list(map(sql_name, first.headers)))) if legible else ""
    of_kind = kind.value.replace(" ", "_")
    if not name or name in RESERVED or (not first.own and name in headers):
        name = f"{of_kind}_{name}".strip("_")
    without = [source for source in samples if source not in group]
    elsewhere = {sql_name(name) for s in without for name in samples[s].columns.column_names}
    number, unique = 1, name
    # A table without the column would have its own of that name taken for it.
    while unique in taken | elsewhere:
        number += 1
        unique = f"{name}_{number}"
    return unique


def _stem(names: Sequence[str]) -> str:
    """What some names begin with, to the end of a word."""
    words = [name.split("_") for name in names]
    common: list[str] = []
    for each in zip(*words, strict=False):
        if len(set(each)) > 1:
            break
        common.append(each[0])
    return "_".join(common)


def _found(name: str, kind: ColumnKind, group: _Group) -> Found:
    texts = {source: each.content.texts for source, each in group.items()}
    filled = min(1 - column.null_count / len(column) for column in texts.values())
    both = pa.chunked_array([chunk for column in texts.values() for chunk in column.chunks])
    distinct = pc.count_distinct(both).as_py()
    why = f"{distinct:,} different values among those looked at"
    if filled < 1:
        why += f", missing in {share_text(1 - filled)}"
    if len({each.own for each in group.values()}) > 1:
        why += "; one column by what it holds, as the headers differ"
    headers = {source: each.headers for source, each in group.items()}
    return Found(name, kind, headers, texts, filled, distinct, why)


_IN_WORDS = 0.2
"""Share of full names of two words and more, below which they are given names, or surnames."""


def _of_one_word(found: list[Found]) -> list[Found]:
    """Take what is called a name, and has one word mostly, for the given name, or surname."""
    kinds = {each.kind for each in found}
    other = ColumnKind.SURNAME if ColumnKind.GIVEN_NAME in kinds else ColumnKind.GIVEN_NAME
    return [
        replace(each, kind=other)
        if each.kind is ColumnKind.FULL_NAME
        and all(Content(text).share(r"\S[,\s]+\S") < _IN_WORDS for text in each.texts.values())
        else each
        for each in found
    ]


def _without_repeats(found: list[Found]) -> list[Found]:
    """Leave out full names beside their parts, and columns that say what another one says."""
    kinds = {each.kind for each in found}
    if {ColumnKind.GIVEN_NAME, ColumnKind.SURNAME} <= kinds:
        found = [each for each in found if each.kind is not ColumnKind.FULL_NAME]
    dates = ColumnKind.DATE in kinds
    kept: list[Found] = []
    for each in found:
        # A year of birth beside the date would count the same agreement twice.
        if dates and each.kind is ColumnKind.NUMBER and _of_birth(each.name):
            continue
        if not any(_same(each, other) for other in kept):
            kept = [other for other in kept if not _same(other, each)]
            kept.append(each)
    return kept


def _of_birth(name: str) -> bool:
    return any(word.startswith(("birth", "born", "dob", "yob")) for word in name.split("_"))


def _same(one: Found, other: Found) -> bool:
    """Whether a column says nothing that another one does not, in nearly all records of a source.

    It has the same value, or is of an address and its words are words of the other one.
    """
    parts = {ColumnKind.ADDRESS, ColumnKind.NUMBER}
    of_address = {one.kind, other.kind} <= parts and ColumnKind.ADDRESS in {one.kind, other.kind}
    for source in set(one.texts) & set(other.texts):
        texts = [each.texts[source].combine_chunks() for each in (one, other)]
        if of_address:
            mine, whole = ([f" {text} " for text in _words(each)] for each in texts)
            within = float(np.mean([a in b for a, b in zip(mine, whole, strict=True)]))
        else:
            within = pc.mean(pc.equal(*texts)).as_py() or 0.0
        if within > 0.95:
            return True
    return False


def _words(texts: pa.Array) -> list[str]:
    """The words of each text in lower case, with single blanks; none where it is missing."""
    plain = pc.replace_substring_regex(pc.utf8_lower(texts), r"[^\p{L}\p{N}]+", " ")
    return list(pc.fill_null(pc.utf8_trim_whitespace(plain), "-").to_pylist())
