"""Propose a linkage specification, for a person to read and edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import quiet
from sfumato.linkage.model.engine import connect
from sfumato.linkage.sources.open import open_sources
from sfumato.linkage.spec.blocking import part_sql
from sfumato.linkage.spec.columns import sql_name
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.spec.model import MAX_PAIRS, ComparedColumn, LinkSpec, Mode
from sfumato.linkage.standardise.standardise import standardise
from sfumato.linkage.suggest.agreement import Atom, imagine
from sfumato.linkage.suggest.columns import (
    FEW_VALUES,
    Found,
    find_columns,
    find_id,
    may_be_compared,
)
from sfumato.linkage.suggest.counting import Sampled
from sfumato.linkage.suggest.rules import Rule, choose_rules, wanted_pairs
from sfumato.linkage.suggest.sample import Sample, take_sample
from sfumato.schema import Schema
from sfumato.table.person_column import profile_column
from sfumato.table.preparation import prepared_in_part
from sfumato.table.sources import Source
from sfumato.table.table_files import open_source

SEED = 1
"""Seed of the imagined matches that rules are chosen by."""
_MOST_LOST = 0.3
"""Share of dates that may be none in any spelling, for a column of dates to be compared."""


@dataclass(frozen=True)
class Suggestion:
    """A proposed specification.

    Attributes
    ----------
    spec
        The proposal.
    notes
        Why, by column and rule, as `dump_link_spec` takes them; without values of the data.
    """

    spec: LinkSpec
    notes: dict[str, str]


def suggest(
    tables: Mapping[str, object],
    schema: Schema | None = None,
    *,
    mode: Mode | None = None,
    id_column: str | None = None,
    max_pairs: int = MAX_PAIRS,
) -> Suggestion:
    """Propose what to compare and which records to bring together, without labels.

    Columns are chosen by their names, what a schema says of them, and a sample of the data;
    blocking rules so that the matches that they are likely to catch are many and their pairs few.

    Parameters
    ----------
    tables
        Name of each source and its table: anything that `open_source` takes.
    schema
        What the columns are, where that is known.
    mode
        Which records are compared with which; link-only if not given, dedupe-only for one table.
    id_column
        The column that names the records; looked for if not given.
    max_pairs
        Number of candidate pairs that the rules must not make.

    Raises
    ------
    InputError
        If a table cannot be read, ``[link]`` is not installed, nothing that can be compared is
        found, or no rule makes few enough pairs.
    """
    if mode is None:
        mode = Mode.LINK_ONLY if len(tables) > 1 else Mode.DEDUPE_ONLY
    samples = {name: _sample(data, schema, id_column) for name, data in tables.items()}
    needed = 2 if mode is Mode.LINK_ONLY else 1
    found = find_columns(samples, schema, sources_needed=min(needed, len(samples)))
    id_column = find_id(samples) if id_column is None else id_column
    found = [each for each in found if each.name != id_column]
    if not found:
        raise InputError(
            "the tables",
            "must have columns that can be compared",
            found="no name that says so: names, dates of birth, postcodes, telephones, addresses",
            advice="write a specification that says what the columns are",
        )
    common: dict[str, Any] = {
        "mode": mode,
        "id": id_column,
        "columns": {each.name: _column(each) for each in found},
        "rename": _renamed(found),
        "missing": _missing(samples, found) if schema is None else schema.missing,
        "max_pairs": max_pairs,
    }
    atoms, sources = _parts(samples, found, common)
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
    return Suggestion(LinkSpec(**common), _notes(found, rules))


def _sample(data: object, schema: Schema | None, id_column: str | None) -> Sample:
    """A sample of the columns that may say who a person is; the others are not read."""
    source = prepared_in_part(data if isinstance(data, Source) else open_source(data), schema)
    wanted = [name for name in source.names if name != id_column and may_be_compared(name, schema)]
    return take_sample(source, wanted)


def _column(found: Found) -> ComparedColumn:
    few = found.kind is ColumnKind.CATEGORY and found.distinct <= FEW_VALUES
    return ComparedColumn(kind=found.kind, term_frequency=False if few else None)


def _renamed(found: Sequence[Found]) -> dict[str, dict[str, str]]:
    """Headers that are not found by their column's name."""
    renamed: dict[str, dict[str, str]] = {}
    for each in found:
        for source, header in each.headers.items():
            if sql_name(header) != each.name:
                renamed.setdefault(source, {})[each.name] = header
    return renamed


def _missing(samples: Mapping[str, Sample], found: Sequence[Found]) -> tuple[str, ...]:
    """Texts that seem to mean a missing value in the columns that are compared."""
    texts: dict[str, None] = {}
    for each in found:
        for source, header in each.headers.items():
            profile = profile_column(samples[source].columns.column(header))
            texts |= dict.fromkeys(profile.missing_texts)
    return tuple(texts)


def _parts(
    samples: Mapping[str, Sample], found: list[Found], fields: dict[str, Any]
) -> tuple[list[Atom], list[Sampled]]:
    """What rules can be made of, with codes in the samples; drops dates that are none."""
    anything = {**fields, "id": None, "blocking": [[found[0].name]]}
    tables = {name: sample.columns for name, sample in samples.items()}
    with (
        open_sources(tables, LinkSpec(**anything)) as opened,
        closing(connect(opened.workspace.path)) as connection,
    ):
        with quiet("standardise the records"):
            made = standardise(connection, opened.identifying, opened.spec)
        looked_at = opened.records.count
        for each in list(found):
            if made.impossible.get(each.name, 0) > _MOST_LOST * each.filled * looked_at:
                found.remove(each)
                del fields["columns"][each.name]
        columns = [(each.name, each.kind, each.filled) for each in found]
        atoms = imagine(columns, np.random.default_rng(SEED))
        kinds = {each.name: each.kind for each in found}
        codes = ", ".join(
            f"coalesce(hash({part_sql(atom.part, kinds[atom.part.column])}) * "
            f"CAST({part_sql(atom.part, kinds[atom.part.column])} IS NOT NULL AS UTINYINT), 0)"
            for atom in atoms
        )
        sources = []
        with quiet("look at the records"):
            for table, sample in zip(made.tables, samples.values(), strict=True):
                rows = connection.execute(f"SELECT {codes} FROM {table}").fetchnumpy()
                coded = np.array([np.asarray(column) for column in rows.values()], dtype=np.uint64)
                sources.append(Sampled(sample.rows, coded))
    return atoms, sources


def _notes(found: Sequence[Found], rules: Sequence[Rule]) -> dict[str, str]:
    notes = {each.name: each.why for each in found}
    for number, rule in enumerate(rules):
        notes[f"blocking {number}"] = f"about {rule.pairs:,.0f} pairs"
    return notes
