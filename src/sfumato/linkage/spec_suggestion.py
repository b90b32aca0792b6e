"""A specification proposed from the tables: columns, comparisons, blocking rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints, Words
from sfumato.core.errors import InputError, NothingToLinkError
from sfumato.core.number_text import counted
from sfumato.core.optional_packages import quiet
from sfumato.linkage import column_meanings, link_spec
from sfumato.linkage.compared_columns import Found, find_columns
from sfumato.linkage.link_engine import connect
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.standardisation import standardise
from sfumato.schema import Schema
from sfumato.table.preparation import prepared_in_part
from sfumato.table.sources import Source
from sfumato.table.table_files import open_source

# The least gain of a rule, 0.0005, is ten of these.
MATCHES = 20_000
"""True matches that are imagined."""

_WHOLE = {
    link_spec.ColumnKind.GIVEN_NAME: 0.75,
    link_spec.ColumnKind.SURNAME: 0.8,
    link_spec.ColumnKind.FULL_NAME: 0.65,
    link_spec.ColumnKind.DATE: 0.9,
    link_spec.ColumnKind.POSTCODE: 0.8,
    link_spec.ColumnKind.PHONE: 0.65,
    link_spec.ColumnKind.IDENTIFIER: 0.88,
    link_spec.ColumnKind.EMAIL: 0.65,
    link_spec.ColumnKind.ADDRESS: 0.6,
    link_spec.ColumnKind.CATEGORY: 0.92,
    link_spec.ColumnKind.NUMBER: 0.8,
}
"""Share of true matches whose values are equal, by kind."""

_NOT_ANOTHER = 0.9
"""Share of matches whose values are not wholly different, as after a move or a marriage."""

_IN_PART: dict[link_spec.ColumnKind, tuple[tuple[str, float], ...]] = {
    link_spec.ColumnKind.GIVEN_NAME: (("3", 0.5), ("sound", 0.5), ("1", 0.7)),
    link_spec.ColumnKind.SURNAME: (("4", 0.4), ("sound", 0.5), ("2", 0.6)),
    link_spec.ColumnKind.POSTCODE: (("area", 0.5),),
    link_spec.ColumnKind.ADDRESS: (("6", 0.5), ("first", 0.4)),
    link_spec.ColumnKind.PHONE: (("-4", 0.2),),
    link_spec.ColumnKind.IDENTIFIER: (("4", 0.4), ("-4", 0.4)),
    link_spec.ColumnKind.EMAIL: (("user", 0.3),),
}
"""What can be taken of a value, and in which share of the matches that differ it is equal."""

_OF_DATES = ("year", "month", "day")
_OF_FULL = {"first": 0.78, "last": 0.82}


@dataclass(frozen=True)
class Atom:
    """A part that rules can be made of, and whether it agrees in each match; shape (matches,)."""

    part: link_spec.Part
    agrees: Bools


def imagine(
    columns: Sequence[tuple[str, link_spec.ColumnKind, float]], rng: np.random.Generator
) -> list[Atom]:
    """The parts that rules can be made of, and imagined matches in which they agree or not.

    Records differ in quality: the errors of one match in all columns are multiplied by a number
    that is drawn from an exponential distribution of mean 1.

    Parameters
    ----------
    columns
        Name, kind and share of filled values of each column.
    rng
        Where chance comes from.
    """
    quality = rng.exponential(size=MATCHES)
    atoms: list[Atom] = []
    for name, kind, filled in columns:
        there = rng.random(MATCHES) < filled
        # Twice: either record may lack the value.
        there &= rng.random(MATCHES) < filled
        # p^q with q exponential of mean 1: a record of bad quality has more errors in all its
        # columns.
        there &= rng.random(MATCHES) < _NOT_ANOTHER**quality
        parts = _parts(kind, quality, rng)
        atoms += [
            Atom(link_spec.Part(name, take), there & agrees) for take, agrees in parts.items()
        ]
    return atoms


def _parts(
    kind: link_spec.ColumnKind, quality: Floats, rng: np.random.Generator
) -> dict[str, Bools]:
    """By what is taken of the value, whether it agrees in each match."""

    def agrees(share: float) -> Bools:
        return rng.random(MATCHES) < share**quality

    # One draw for all parts: where six characters agree, so do the first four.
    near = rng.random(MATCHES)
    if kind is link_spec.ColumnKind.DATE:
        # Day, month and year err apart: the cube root makes the whole right as often as wanted.
        parts = {take: agrees(_WHOLE[kind] ** (1 / 3)) for take in _OF_DATES}
        return {"": np.logical_and.reduce(list(parts.values())), **parts}
    if kind is link_spec.ColumnKind.FULL_NAME:
        halves = {take: agrees(share) for take, share in _OF_FULL.items()}
        whole = halves["first"] & halves["last"]
        return {"": whole, **halves, "sound": halves["last"] | (near < 0.5)}
    whole = agrees(_WHOLE[kind])
    return {"": whole, **{take: whole | (near < share) for take, share in _IN_PART.get(kind, ())}}


Codes = Words

_MIX = np.uint64(0x9E3779B97F4A7C15)
MISSING = np.uint64(0)


@dataclass(frozen=True)
class Sampled:
    """The parts of a sample of one source: codes, 0 where missing; shape (parts, records)."""

    rows: int
    codes: Codes


def pairs_of(rule: Sequence[int], sources: Sequence[Sampled], mode: link_spec.Mode) -> float:
    """About how many pairs of records are equal in all parts of a rule."""
    counted = [_counts(source, rule) for source in sources]
    pairs = 0.0
    if mode is not link_spec.Mode.LINK_ONLY:
        for source, (_, counts) in zip(sources, counted, strict=True):
            scale = _scale(source)
            # Σ n (n − 1) / 2; a pair is in the sample if both records are.
            pairs += float(np.sum(counts * (counts - 1.0))) / 2 * scale * scale
    if mode is not link_spec.Mode.DEDUPE_ONLY:
        for i, (codes, counts) in enumerate(counted):
            for j in range(i):
                both, at, other = np.intersect1d(
                    codes, counted[j][0], assume_unique=True, return_indices=True
                )
                if len(both):
                    found = float(np.dot(counts[at], counted[j][1][other].astype(np.float64)))
                    pairs += found * _scale(sources[i]) * _scale(sources[j])
    return pairs


def _counts(source: Sampled, rule: Sequence[int]) -> tuple[Codes, Ints]:
    parts = source.codes[list(rule)]
    there = np.all(parts != MISSING, axis=0)
    code = np.zeros(int(there.sum()), dtype=np.uint64)
    for part in parts:
        # A hash by the golden ratio: codes of several parts must not cancel or collide.
        code = (code ^ part[there]) * _MIX
        code ^= code >> np.uint64(29)
    return np.unique(code, return_counts=True)


def _scale(source: Sampled) -> float:
    return source.rows / max(len(source.codes[0]), 1)


MOST_RULES = 10
LEAST_GAIN = 0.0005
"""Share of all matches that a rule must catch and no other does."""
PAIRS_OF_A_RULE = 3
"""Pairs per record whose comparison costs as much as to make the pairs of one more rule."""
PAIRS_PER_RECORD = 25
FEW_PAIRS = 300_000
"""Pairs that are scored without a thought, however few the records."""
_BY_ONE_RULE = 0.3
"""Share of the wanted pairs that one rule may make."""
_STRICT = 3
"""Number of parts of the strictest rules."""
_EXTENDED = 150
"""Number of rules with too many pairs that another part is added to."""


@dataclass(frozen=True)
class Rule:
    """A blocking rule."""

    parts: tuple[int, ...]
    pairs: float
    catches: Bools


def wanted_pairs(records: int, limit: int) -> float:
    """Number of candidate pairs that the rules should make together, at most."""
    # Below the limit by a fifth, as pairs are estimated from samples.
    return float(min(limit * 0.8, FEW_PAIRS + PAIRS_PER_RECORD * records))


def choose_rules(
    atoms: Sequence[Atom], sources: Sequence[Sampled], mode: link_spec.Mode, wanted: float
) -> list[Rule]:
    """The rules that catch most imagined matches for the pairs that they make.

    Greedy: the next rule is the one that catches most of what no rule before it does for what it
    costs, its pairs and a pass over all records, until all that are left catch next to nothing.
    One that only catches what a later rule does, too, as the whole of a date beside its year, goes.

    Parameters
    ----------
    wanted
        Number of pairs that the rules should make together, at most.
    """
    rules = _candidates(atoms, sources, mode, wanted * _BY_ONE_RULE)
    a_pass = PAIRS_OF_A_RULE * sum(source.rows for source in sources)
    caught = np.zeros(MATCHES, dtype=np.bool_)
    chosen: list[Rule] = []
    while len(chosen) < MOST_RULES:
        left = wanted - sum(rule.pairs for rule in chosen)
        gain = {rule.parts: float(np.mean(rule.catches & ~caught)) for rule in rules}
        rules = [r for r in rules if r.pairs <= left and gain[r.parts] >= LEAST_GAIN]
        if not rules:
            break
        # New matches for what a rule costs: its pairs, and one pass over the records.
        best = max(rules, key=lambda rule: gain[rule.parts] / (rule.pairs + a_pass))
        # A rule within the new one makes pairs that this one makes too.
        chosen = [*(rule for rule in chosen if np.any(rule.catches & ~best.catches)), best]
        caught |= best.catches
    return chosen


def _candidates(
    atoms: Sequence[Atom], sources: Sequence[Sampled], mode: link_spec.Mode, most: float
) -> list[Rule]:
    """Rules within the number of pairs, of one part up to three."""
    parts = range(len(atoms))
    rules: list[Rule] = []
    wide: list[Rule] = []
    tried: set[tuple[int, ...]] = set()

    def consider(numbers: tuple[int, ...]) -> None:
        if numbers in tried or not _sensible([atoms[n] for n in numbers]):
            return
        tried.add(numbers)
        catches = np.logical_and.reduce([atoms[n].agrees for n in numbers])
        rule = Rule(numbers, pairs_of(numbers, sources, mode), catches)
        (rules if rule.pairs <= most else wide).append(rule)

    for number in parts:
        consider((number,))
    fine = {rule.parts[0] for rule in rules}
    for two in combinations(parts, 2):
        # A part that is strict enough by itself only loses matches with another one.
        if not fine & set(two):
            consider(two)
    wide = [rule for rule in wide if len(rule.parts) == _STRICT - 1]
    # Those that catch most are worth another part.
    wide.sort(key=lambda rule: -float(np.mean(rule.catches)))
    for rule in wide[:_EXTENDED]:
        for number in parts:
            if number not in fine:
                consider(tuple(sorted({*rule.parts, number})))
    return rules


def _sensible(atoms: Sequence[Atom]) -> bool:
    """Whether no part says what another one says: one per column, but for dates and names."""
    columns = [atom.part.column for atom in atoms]
    if len(set(columns)) == len(columns):
        return True
    for one, other in combinations(atoms, 2):
        if one.part.column == other.part.column:
            takes = {one.part.take, other.part.take}
            if not (takes <= {"year", "month", "day"} or takes <= {"first", "last", "sound"}):
                return False
            if takes == {"last", "sound"}:
                return False
    return True


_OF_PERSONS = {
    link_spec.ColumnKind.GIVEN_NAME,
    link_spec.ColumnKind.SURNAME,
    link_spec.ColumnKind.FULL_NAME,
    link_spec.ColumnKind.DATE,
    link_spec.ColumnKind.IDENTIFIER,
    link_spec.ColumnKind.EMAIL,
    link_spec.ColumnKind.PHONE,
}
"""Kinds of columns of which one at least says who somebody is; categories and places do not."""
SEED = 1
"""Seed of the imagined matches that rules are chosen by."""
_MOST_LOST = 0.3
"""Share of dates that may be none in any spelling, for a column of dates to be compared."""


@dataclass(frozen=True)
class Suggestion:
    """A proposed specification; notes say why, by column and rule, and ask.

    `dump_link_spec` takes them; they have no values of the data.
    """

    spec: link_spec.LinkSpec
    notes: dict[str, str]

    @property
    def text(self) -> str:
        """The specification as TOML, with the notes as comments."""
        return link_spec.dump_link_spec(self.spec, self.notes)


def suggest_links(
    tables: Mapping[str, object],
    schema: Schema | None = None,
    *,
    mode: link_spec.Mode | None = None,
    id_column: str | None = None,
    max_pairs: int = link_spec.MAX_PAIRS,
) -> Suggestion:
    """Propose what to compare and which records to bring together, without labels.

    Columns are chosen by what a sample of them holds, by their names, and by what a schema says
    of them; columns of different names that hold the same are one. Blocking rules are chosen so
    that the matches that they are likely to catch are many and their pairs few.

    Parameters
    ----------
    tables
        Name of each source and its table: anything that `open_source` takes.
    mode
        Which records are compared with which; link-only if not given, dedupe-only for one table.
    id_column
        The column that names the records; looked for if not given.
    max_pairs
        Number of candidate pairs that the rules must not make.

    Raises
    ------
    InputError
        If a table cannot be read, ``[link]`` is not installed, or no rule makes few enough pairs.
    NothingToLinkError
        If nothing that the tables have in common says who people are.
    """
    if mode is None:
        # One table can only be compared with itself.
        mode = link_spec.Mode.LINK_ONLY if len(tables) > 1 else link_spec.Mode.DEDUPE_ONLY
    samples = {name: _sample(data, schema, id_column) for name, data in tables.items()}
    needed = 2 if mode is link_spec.Mode.LINK_ONLY else 1
    meanings = find_columns(samples, schema, sources_needed=min(needed, len(samples)))
    found = meanings.found
    id_column = column_meanings.find_id(samples) if id_column is None else id_column
    found = [each for each in found if each.name != id_column]
    if not any(each.kind in _OF_PERSONS for each in found):
        raise NothingToLinkError(
            "the tables",
            "must say who people are, in columns that they have in common",
            found=f"{counted(len(found), 'such column')}, none of names, dates of birth, numbers "
            "of people, telephones, or addresses of e-mail",
            advice="write a specification that says what the columns are, with their headers in "
            "each table under 'rename'",
        )
    common: dict[str, Any] = {
        "mode": mode,
        "id": id_column,
        "columns": {each.name: _column(each) for each in found},
        "rename": _renamed(found),
        "missing": _missing(samples, found) if schema is None else schema.missing,
        "max_pairs": max_pairs,
    }
    atoms, sources = _rule_parts(samples, found, common)
    records = sum(sample.rows for sample in samples.values())
    rules = choose_rules(atoms, sources, mode, wanted_pairs(records, max_pairs))
    if not rules:
        raise InputError(
            "the tables",
            "must have columns that tell records apart",
            found=f"no blocking rule with at most {max_pairs:,} pairs",
            advice="allow more with max_pairs, or write a specification",
        )
    common["blocking"] = [[str(atoms[part].part) for part in rule.parts] for rule in rules]
    return Suggestion(link_spec.LinkSpec(**common), _notes(found, rules, meanings.questions))


def _sample(data: object, schema: Schema | None, id_column: str | None) -> column_meanings.Sample:
    """A sample of the columns that may say who a person is; the others are not read."""
    source = prepared_in_part(data if isinstance(data, Source) else open_source(data), schema)
    wanted = [
        name
        for name in source.names
        if name != id_column and column_meanings.may_be_compared(name, schema)
    ]
    return column_meanings.take_sample(source, wanted)


def _column(found: Found) -> link_spec.ComparedColumn:
    few = (
        found.kind is link_spec.ColumnKind.CATEGORY and found.distinct <= column_meanings.FEW_VALUES
    )
    return link_spec.ComparedColumn(kind=found.kind, term_frequency=False if few else None)


def _renamed(found: Sequence[Found]) -> dict[str, dict[str, link_spec.Headers]]:
    """Headers that are not found by their column's name."""
    renamed: dict[str, dict[str, link_spec.Headers]] = {}
    for each in found:
        for source, headers in each.headers.items():
            if len(headers) > 1 or link_spec.sql_name(headers[0]) != each.name:
                given = headers if len(headers) > 1 else headers[0]
                renamed.setdefault(source, {})[each.name] = given
    return renamed


def _missing(
    samples: Mapping[str, column_meanings.Sample], found: Sequence[Found]
) -> tuple[str, ...]:
    """Texts that seem to mean a missing value in the columns that are compared."""
    texts: dict[str, None] = {}
    for each in found:
        for source, headers in each.headers.items():
            for header in headers:
                column = samples[source].columns.column(header)
                texts |= dict.fromkeys(column_meanings.missing_words(column))
    return tuple(texts)


def _rule_parts(
    samples: Mapping[str, column_meanings.Sample], found: list[Found], fields: dict[str, Any]
) -> tuple[list[Atom], list[Sampled]]:
    """What rules can be made of, with codes in the samples; drops dates that are none."""
    anything = {**fields, "id": None, "blocking": [[found[0].name]]}
    tables = {name: sample.columns for name, sample in samples.items()}
    with (
        open_sources(tables, link_spec.LinkSpec(**anything)) as opened,
        closing(connect(opened.workspace.path)) as connection,
    ):
        with quiet("standardise the records"):
            made = standardise(connection, opened.identifying, opened.spec)
        looked_at = opened.records.count
        for each in list(found):
            if made.impossible.get(each.name, 0) > _MOST_LOST * each.filled * looked_at:
                found.remove(each)
                del fields["columns"][each.name]
        fields["rename"] = _renamed(found)
        columns = [(each.name, each.kind, each.filled) for each in found]
        atoms = imagine(columns, np.random.default_rng(SEED))
        kinds = {each.name: each.kind for each in found}
        codes = ", ".join(
            f"coalesce(hash({link_spec.part_sql(atom.part, kinds[atom.part.column])}) * "
            f"CAST({link_spec.part_sql(atom.part, kinds[atom.part.column])} "
            "IS NOT NULL AS UTINYINT), 0)"
            for atom in atoms
        )
        sources = []
        with quiet("look at the records"):
            for table, sample in zip(made.tables, samples.values(), strict=True):
                rows = connection.execute(f"SELECT {codes} FROM {table}").fetchnumpy()
                coded = np.array([np.asarray(column) for column in rows.values()], dtype=np.uint64)
                sources.append(Sampled(sample.rows, coded))
    return atoms, sources


def _notes(
    found: Sequence[Found], rules: Sequence[Rule], questions: Sequence[str]
) -> dict[str, str]:
    notes = {"": "\n".join(questions)} if questions else {}
    notes |= {each.name: each.why for each in found}
    for number, rule in enumerate(rules):
        notes[f"blocking {number}"] = f"about {rule.pairs:,.0f} pairs"
    return notes
