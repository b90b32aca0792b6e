"""A release of a database: one promise over all tables, and out again as a file per table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Ints
from sfumato.core.atomic import all_or_none, leftovers, write_text, written_at
from sfumato.core.declaration import LAYOUT, layout_of, silent
from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.number_text import share_text
from sfumato.core.secret_keys import Secrets, keyed_pseudonyms, random_pseudonyms
from sfumato.release.histories import ANYTHING
from sfumato.release.promises.k_anonymity import KAnonymity
from sfumato.release.promises.promise import asked_of_households
from sfumato.release.promises.shared_events import KnownEvents
from sfumato.release.release_manifest import file_sha256, tables_sha256
from sfumato.release.release_options import Recoding
from sfumato.release.release_result import Release
from sfumato.release.written_tables import check_folder, shown_names
from sfumato.risk.verdict import Limits
from sfumato.schema import TableSchema, schema_sha256
from sfumato.schema.roles import Unclassified
from sfumato.table import stacked_tables
from sfumato.table.joined_tables import ids_of, in_order
from sfumato.table.sources import NO_LABELS, Labels, from_numpy, from_texts, listed
from sfumato.table.table_files import write_table

WAYS = ("exact", "coarser", ANYTHING)
"""How the cells of a column are released."""
DIGITS = 6
"""Decimals of shares in a manifest."""
KEYS = "keys of "
"""What the pseudonyms of a table's key are drawn for."""


@dataclass(frozen=True)
class TableLoss:
    """What one table keeps.

    Attributes
    ----------
    shares
        By column that may be known, of its released records that say something, the share that
        shows the value as it was, a label above it, and ``*``. Dates show that alone.
    unknown
        Number of its codes of which no lookup table says what they mean.
    """

    table: str
    before: int
    after: int
    shares: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    undated: tuple[str, ...] = ()
    unknown: int = 0

    @property
    def noted(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {
            "rows_before": self.before,
            "rows_after": self.after,
            **({"unknown_codes": self.unknown} if self.unknown else {}),
            **({"shown": self._shown} if self.shares else {}),
            **({"undated": list(self.undated)} if self.undated else {}),
        }

    @property
    def _shown(self) -> dict[str, dict[str, float]]:
        return {
            name: {way: round(share, DIGITS) for way, share in zip(WAYS, shares, strict=True)}
            for name, shares in self.shares.items()
        }

    @property
    def said(self) -> str:
        """What is lost that nobody would look for; empty for nothing."""
        parts = []
        if self.after < self.before:
            parts.append(f"records left out: {self.before - self.after:,} of {self.before:,}")
        if self.unknown:
            parts.append(f"codes in no lookup table, referring to nothing: {self.unknown:,}")
        if self.undated:
            parts.append(f"dates are not released: '*' in all of {listed(self.undated)}")
        return f"table {self.table}: {'; '.join(parts)}." if parts else ""


@dataclass(frozen=True, eq=False)
class ReleasedTables:
    """The released tables of a database.

    Attributes
    ----------
    joined
        All of their rows below each other, as an intruder joins them again.
    """

    joined: pa.Table = field(repr=False)
    original: pa.Table = field(repr=False)
    tables: Mapping[str, pa.Table] = field(repr=False)
    losses: tuple[TableLoss, ...]
    frames: Mapping[str, Any] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, behind that of their table."""
        return tuple(self.types)

    @property
    def types(self) -> Mapping[str, pa.DataType | None]:
        """The columns and their types."""
        return {
            stacked_tables.stacked_name(name, each.name): each.type
            for name, table in self.tables.items()
            for each in table.schema
        }

    @property
    def data(self) -> dict[str, Any]:
        """By name, each table as the kind of dataframe that it was made from; Arrow for a path."""
        from sfumato.table.dataframes import to_frame_like

        return {
            name: to_frame_like(table, None if _is_path(self.frames[name]) else self.frames[name])
            for name, table in self.tables.items()
        }

    @property
    def shown_labels(self) -> Labels:
        """None are handed on."""
        return NO_LABELS

    def lines(self) -> list[list[str]]:
        """What each table keeps, as rows of a table with its heads."""
        rows = [["table", "rows", "before", "column", *WAYS]]
        for loss in self.losses:
            rows.append([loss.table, f"{loss.after:,}", f"{loss.before:,}", "", "", "", ""])
            rows += [
                ["", "", "", name, *map(share_text, shares)] for name, shares in loss.shares.items()
            ]
        return rows

    def arrow(self) -> pa.Table:
        """All rows below each other, as an intruder joins them again."""
        return self.joined

    def records_per_person(self, person: str) -> Mapping[int, int]:
        """How many persons have each number of rows, their own included."""
        records = pc.value_counts(self.joined.column(person).combine_chunks()).field("counts")
        found, persons = np.unique(records.to_numpy(), return_counts=True)
        return dict(zip(found.tolist(), persons.tolist(), strict=True))

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write a file per table to a folder, and give the hash of all of them."""
        folder = Path(path)
        check_folder(folder, self.tables)
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in leftovers(folder):
            leftover.unlink()
        with ExitStack() as undone:
            if is_new:
                undone.callback(folder.rmdir)
            with all_or_none():
                for name, table in self.tables.items():
                    write_table(table, folder / f"{name}.csv")
                digest = tables_sha256(self._files(folder))
            undone.pop_all()
        return digest

    def digests(self, path: str | os.PathLike[str]) -> dict[str, str]:
        """The hash of the file of each table."""
        return {name: file_sha256(file) for name, file in self._files(Path(path)).items()}

    def _files(self, folder: Path) -> dict[str, Path]:
        return {name: written_at(folder / f"{name}.csv") for name in self.tables}

    def write_beside(self, path: str | os.PathLike[str], name: str, text: str) -> None:
        """Write a text beside the folder, which goes out, whole or not at all."""
        write_text(Path(path).with_name(name), text)


def _is_path(data: object) -> bool:
    return isinstance(data, (str, os.PathLike))


def release_database(
    tables: stacked_tables.Tables,
    make: Callable[..., Release],
    promises: Sequence[Any],
    options: Mapping[str, Any],
) -> Release:
    """Release a database: classes of its people, events of all tables, keys as pseudonyms."""
    check_of_tables(promises, options)
    unclassified = Unclassified(options.get("unclassified") or Unclassified.REFUSE)
    progress = options.get("progress") or silent
    stack = stacked_tables.open_stack(
        tables, unclassified, progress=progress, layout=layout_of(options)
    )
    stacked_tables.check_stack(stack)
    making = {name: option for name, option in options.items() if name not in LAYOUT}
    release = make(stack.table, stack.schema, *promises, **making)
    secrets = Secrets.of(release.secret, options.get("pseudonym_key"))
    secrets = secrets.bound(release.manifest.identity, tables.sha256.encode())
    content = _split(stack, release, secrets)
    return replace(
        release,
        content=content,
        manifest=replace(
            release.manifest,
            schema_sha256=schema_sha256(tables.schema),
            input_sha256=tables.sha256,
            tables={loss.table: loss.noted for loss in content.losses},
        ),
        warnings=(*(loss.said for loss in content.losses if loss.said), *release.warnings),
        tried=None,
        cured=None,
    )


def check_of_tables(promises: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Refuse what is not made of several tables, each promise or option with its reason."""
    reasons = {
        "keep_order": "the order of rows tells which belong together",
        "cap_records": "rows that are left out leave references to them",
        "coarsen_counts": "rows that are left out, or divided, leave references to them",
        "known_counts": "the verdict counts numbers of rows by table",
        "known_columns": "events are those of the schema's tables",
        "register": "a register says nothing of the other tables",
        "population": "a population says nothing of the other tables",
        "series": "classes of several tables do not last yet",
        "continues": "classes of several tables do not last yet",
        "withhold": "a column is left out where the schema calls it a direct identifier",
    }
    for name, why in reasons.items():
        if options.get(name):
            raise _not_of_tables(f"parameter {name}", why)
    if str(options.get("engine") or "embedded") == "spark":
        raise _not_of_tables("parameter engine", "references are followed in this process")
    if options.get("recoding") and Recoding(options["recoding"]) is Recoding.FULL_DOMAIN:
        raise _not_of_tables("parameter recoding", "its levels are of one file")
    if "split-pseudonyms" in str(options.get("techniques") or ""):
        raise _not_of_tables(
            "technique split-pseudonyms", "what rows refer to brings them together"
        )
    if asked_of_households([promise for promise in promises if not isinstance(promise, type)]):
        raise _not_of_tables("promise household_k", "tables of households are not read yet")
    for promise in promises:
        if isinstance(promise, Limits):
            raise _not_of_tables("promise_limits", "no plan is tried with several tables",
                                 "promise pid_k and known_events")  # fmt: skip
        if isinstance(promise, KAnonymity):
            raise _not_of_tables("promise k", "it counts rows of all tables", "pid_k counts people")
        if isinstance(promise, KnownEvents) and promise.m > 2:
            raise _not_of_tables(
                "promise known_events",
                "what three rows under one parent tell is not counted",
                "promise it for m = 1 or 2",
            )


def _not_of_tables(subject: str, why: str, advice: str = "leave it out") -> InputError:
    return InputError(subject, "is not made of several tables", found=why, advice=advice)


@dataclass(frozen=True, eq=False)
class _Out:
    """How the rows of a stack leave: the place of each among the released rows, -1 of others."""

    stack: stacked_tables.Stack
    release: Release
    content: pa.Table
    at: Ints

    def rows(self, name: str) -> Ints:
        """The released rows of a table, in the order in which they leave."""
        source = self.release.source_rows
        assert source is not None
        part = self.stack.table.part_of
        assert part is not None
        return np.flatnonzero(part[source] == self.stack.names.index(name))

    def within(self, name: str) -> Ints:
        """Their places among the rows of their own table that stay."""
        source = self.release.source_rows
        assert source is not None
        places: Ints = self.stack.row[source[self.rows(name)]]
        return places


def _split(stack: stacked_tables.Stack, release: Release, secrets: Secrets) -> ReleasedTables:
    """The released rows as a file per table, with a pseudonym for every key."""
    source = release.source_rows
    assert source is not None
    content = release.content.arrow()
    at = np.full(stack.table.records, -1, dtype=np.int64)
    at[source] = np.arange(len(source))
    out = _Out(stack, release, content, at)
    schema = stack.tables.schema
    pseudonyms: dict[str, pa.Array] = {}
    for name in in_order(stack.joined.layout):
        if schema.tables[name].key is not None:
            pseudonyms[name] = _pseudonyms(out, name, pseudonyms, secrets)
    tables: dict[str, pa.Table] = {}
    losses: list[TableLoss] = []
    for name, table in schema.tables.items():
        if table.lookup:
            continue
        tables[name] = _table_out(out, name, table, pseudonyms)
        losses.append(_loss(out, name, table, tables[name]))
    for name, own in schema.tables.items():
        if own.lookup:
            tables[name] = _lookup_out(stack, name, own, pseudonyms[name], tables, secrets)
            before = stack.columns[name].num_rows
            losses.append(TableLoss(name, before, tables[name].num_rows))
    ordered = {name: tables[name] for name in schema.tables}
    _check_references(out, ordered)
    return ReleasedTables(content, stack.file, ordered, tuple(losses), stack.tables.frames)


def _pseudonyms(out: _Out, name: str, above: Mapping[str, pa.Array], secrets: Secrets) -> pa.Array:
    """A pseudonym for each record of a table, by its place, given those of tables ``above``."""
    stack = out.stack
    own = stack.tables.schema.tables[name]
    assert own.key is not None
    if own.persons:
        # Those that the release gave its people.
        column = (
            out.content.column(stacked_tables.stacked_name(name, own.key))
            .cast(pa.string())
            .combine_chunks()
        )
        first = out.rows(name)
        place = np.full(stack.joined.people, -1, dtype=np.int64)
        place[out.within(name)] = first
        return column.take(from_numpy(np.maximum(place, 0), place < 0))
    if own.key in own.of:  # it is that of another table, whose pseudonym it has
        return above[own.of[own.key]].take(from_numpy(stack.joined.parents[name, own.key]))
    if secrets.key is None:
        drawn = random_pseudonyms(stack.columns[name].num_rows, secrets.own.stream(KEYS + name))
        return from_texts(drawn).cast(pa.string())
    ids = ids_of(stack.columns[name].column(own.key)).to_pylist()
    # Of its table, so that two keys of one value have two pseudonyms.
    return from_texts(keyed_pseudonyms([f"{name}\x1f{each}" for each in ids], secrets.key)).cast(
        pa.string()
    )


def _table_out(
    out: _Out, name: str, own: TableSchema, pseudonyms: Mapping[str, pa.Array]
) -> pa.Table:
    """What goes out of a table of people or of events, its columns in the file's order."""
    rows, within = out.rows(name), out.within(name)
    stack, content = out.stack, out.content
    lookups = stacked_tables.lookups_of(stack.tables, name)
    columns: dict[str, Any] = {}
    for column in stack.columns[name].column_names:
        place = stacked_tables.stacked_name(name, column)
        if column in own.of:
            parents = stack.joined.parents[name, column][within]
            shown = pseudonyms[own.of[column]].take(from_numpy(np.maximum(parents, 0), parents < 0))
            if column in lookups:
                # A code that is hidden, or shown as a label, refers to nothing.
                exact = _is_exact(out, name, column, rows)
                shown = pc.if_else(from_numpy(exact), shown, pa.nulls(len(rows), pa.string()))
            columns[column] = shown
        elif column == own.key:
            columns[column] = pseudonyms[name].take(from_numpy(within))
        elif column in own.same:
            columns |= _said_again(out, name, own, column)
        elif column in own.dates:
            # In all rows: which dates are empty would tell, too, and is not measured.
            columns[column] = pa.array([ANYTHING] * len(rows), pa.string())
        elif column in own.quasi_identifiers:
            shown_as = [n for n in content.column_names if n in shown_names(place)]
            columns |= {
                n.partition(".")[2]: content.column(n).take(from_numpy(rows)) for n in shown_as
            }
        elif place in content.column_names:
            columns[column] = content.column(place).take(from_numpy(rows))
    return pa.table(columns)


def _is_exact(out: _Out, name: str, column: str, rows: Ints) -> Any:
    """Which released rows show a code as it was."""
    place = stacked_tables.stacked_name(name, column)
    before = ids_of(out.stack.columns[name].column(column)).take(from_numpy(out.within(name)))
    after = out.content.column(place).take(from_numpy(rows)).cast(pa.string())
    same = pc.fill_null(pc.equal(before, after.combine_chunks()), False)
    return np.asarray(same.to_numpy(zero_copy_only=False))


def _said_again(out: _Out, name: str, own: TableSchema, column: str) -> dict[str, Any]:
    """A quasi-identifier that stands again, as the class of its person shows it."""
    base, date = own.base_of(column)
    rows = out.rows(name)
    if date is not None:
        # No date is released at which it could be said.
        return {column: pa.array([ANYTHING] * len(rows), pa.string())}
    names = shown_names(stacked_tables.stacked_name(out.stack.tables.persons, base))
    found = [name for name in names if name in out.content.column_names]
    ends = ["", "_low", "_high"]
    return {
        f"{column}{ends[names.index(each)]}": out.content.column(each).take(from_numpy(rows))
        for each in found
    }


def _lookup_out(
    stack: stacked_tables.Stack,
    name: str,
    own: TableSchema,
    pseudonyms: pa.Array,
    tables: Mapping[str, pa.Table],
    secrets: Secrets,
) -> pa.Table:
    """The records of a lookup table to which released ones refer."""
    referred: set[str] = set()
    for other, table in stack.tables.schema.tables.items():
        for column, to in table.of.items():
            if to == name and other in tables and column in tables[other].column_names:
                referred |= {*pc.unique(tables[other].column(column)).to_pylist()}
    kept = np.array([pseudonym in referred for pseudonym in pseudonyms.to_pylist()], dtype=np.bool_)
    rows = np.flatnonzero(kept)
    rows = rows[secrets.own.stream(f"order of {name}").permutation(len(rows))]
    columns = {}
    for column in stack.columns[name].column_names:
        if column == own.key:
            columns[column] = pseudonyms.take(from_numpy(rows))
        else:
            columns[column] = stack.columns[name].column(column).take(from_numpy(rows))
    return pa.table(columns)


def _loss(out: _Out, name: str, own: TableSchema, table: pa.Table) -> TableLoss:
    """What a table keeps of its rows and codes."""
    stack, rows = out.stack, out.rows(name)
    count = next(count for count in stack.joined.counts if count.table == name)
    shares: dict[str, tuple[float, ...]] = {}
    events = [
        n
        for n in (*own.events, *stacked_tables.lookups_of(stack.tables, name))
        if n not in own.dates
    ]
    for column in events if not own.persons else ():
        place = stacked_tables.stacked_name(name, column)
        after = out.content.column(place).take(from_numpy(rows)).cast(pa.string())
        says = np.asarray(pc.is_valid(after).to_numpy())
        if not says.any():
            continue
        kept = _is_exact(out, name, column, rows) & says
        nothing = np.asarray(pc.fill_null(pc.equal(after, ANYTHING), False).to_numpy()) & ~kept
        many, ways = says.sum(), (kept, says & ~kept & ~nothing, nothing)
        shares[column] = tuple(float(way.sum() / many) for way in ways)
    shares |= dict.fromkeys(own.dates, (0.0, 0.0, 1.0))
    return TableLoss(name, count.records, table.num_rows, shares, own.dates, count.unknown)


def _check_references(out: _Out, tables: Mapping[str, pa.Table]) -> None:
    """Give no database out of which a reference leads nowhere or is lost, or a key is twice."""
    schema, parents = out.stack.tables.schema, out.stack.joined.parents
    for name, table in schema.tables.items():
        if table.key is not None:
            key = tables[name].column(table.key)
            if key.null_count or len(pc.unique(key)) < len(key):
                raise _broken(name, table.key)
        for column, to in table.of.items():
            cells = tables[name].column(column).drop_null()
            keys = tables[to].column(schema.tables[to].key).combine_chunks()
            there = pc.sum(pc.is_in(cells, value_set=keys)).as_py() or 0
            # Codes of lookup tables may be hidden; every other reference stays.
            led = len(cells)
            if not schema.tables[to].lookup:
                led = int((parents[name, column][out.within(name)] >= 0).sum())
            if not there == led == len(cells):
                raise _broken(name, column)


def _broken(table: str, column: str) -> SfumatoError:
    return SfumatoError(
        f"no release is given out: column '{column}' of {table} is broken in it. This is a mistake "
        "of sfumato; please report it."
    )
