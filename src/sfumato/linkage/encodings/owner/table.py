"""Encode an owner's table: standardised, hashed, in an order that says nothing."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import quiet
from sfumato.core.shared_options import Progress, silent
from sfumato.linkage.encodings.encode import encode
from sfumato.linkage.encodings.encoded import Encoded
from sfumato.linkage.encodings.keys import check_secret
from sfumato.linkage.encodings.owner.toml import load_encoding_spec
from sfumato.linkage.encodings.spec import EncodingSpec
from sfumato.linkage.encodings.suggest import suggest_encoding
from sfumato.linkage.model.engine import connect
from sfumato.linkage.model.tables import make_tables
from sfumato.linkage.sources.open import open_sources
from sfumato.linkage.spec.columns import quoted, sql_name
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.spec.model import ComparedColumn, LinkSpec, Mode
from sfumato.linkage.standardise.standardise import UNIQUE_ID
from sfumato.linkage.suggest.suggest import suggest
from sfumato.schema import Schema

SALT_BYTES = 16
_ID = "\0id"


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table's encodings, and how they were made.

    Attributes
    ----------
    encoded
        The encodings, in a random order.
    spec
        How they were made; every owner must use it.
    suggested
        Whether it was made from this table, and not given.
    id_column
        The column whose values went along as ids; ``None`` where records are numbered.
    impossible
        By column of dates: number of values that are no date and count as missing.
    """

    encoded: Encoded
    spec: EncodingSpec
    suggested: bool
    id_column: str | None
    impossible: Mapping[str, int]

    @property
    def empty(self) -> int:
        """Number of records without any value that is encoded."""
        return int(np.count_nonzero(self.encoded.counts == 0))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What somebody should look at."""
        said = [
            f"'{name}': {count:,} values are no dates and count as missing."
            for name, count in self.impossible.items()
            if count
        ]
        if self.empty:
            said.append(f"{self.empty:,} records have no value to encode and match nothing.")
        return tuple(said)


def encode_table(
    table: object,
    secret: bytes,
    spec: EncodingSpec | LinkSpec | str | os.PathLike[str] | None = None,
    *,
    id_column: str | None = None,
    headers: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    schema: Schema | None = None,
    name: str = "table",
    progress: Progress = silent,
) -> EncodedTable:
    """Standardise a table as for linking in clear text, and encode each record.

    Parameters
    ----------
    table
        Anything that `open_source` takes.
    secret
        At least 16 random bytes that the owners share, and the linkage unit never has.
    spec
        The specification that the owners agreed upon, or its file. From a linkage specification,
        or without any, one is made: its bits by how varied the columns of this table are.
    id_column
        The column that names each record; the names go along. Instead of the specification's;
        without any, records are numbered.
    headers
        By column of the specification: its header in this table, where it is another one.
    missing
        Texts that mean a missing value in this table.
    schema
        What the columns are; a sensitive one is refused.
    name
        Name of the table in errors, and in a linkage specification.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the table or the specification cannot be used, or the secret is too short.
    """
    check_secret(secret)
    if isinstance(spec, (str, os.PathLike)):
        spec = load_encoding_spec(Path(spec))
    if spec is None:
        progress("suggest", 0.0)
        spec = suggest({name: table}, schema, id_column=id_column).spec
    if isinstance(spec, LinkSpec):
        own = _asked(spec, name, id_column, headers or {}, missing)
    else:
        own = _by_kinds(spec, name, id_column, headers or {}, missing)
    values, impossible = _standardised(table, own, name, schema, progress)
    suggested = isinstance(spec, LinkSpec)
    if isinstance(spec, LinkSpec):
        kinds = {column: each.kind for column, each in own.columns.items()}
        salt = secrets.token_hex(SALT_BYTES)
        spec = suggest_encoding(values, list(kinds), salt=salt, kinds=kinds)
    shuffled = np.random.default_rng(secrets.randbits(128)).permutation(len(values))
    encoded = encode(
        values.take(pa.array(shuffled)), spec, secret, id_column=_ID, progress=progress
    )
    progress("encode", 1.0)
    return EncodedTable(encoded, spec, suggested, own.id, impossible)


def _asked(
    spec: LinkSpec,
    name: str,
    id_column: str | None,
    headers: Mapping[str, str],
    missing: Sequence[str],
) -> LinkSpec:
    """The compared columns of a linkage specification, of this one table."""
    if spec.splink is not None:
        raise InputError(
            "the specification",
            "must say what its columns hold",
            found="Splink settings",
            advice="let 'sfumato link suggest' propose one",
        )
    columns = {column: each for column, each in spec.columns.items() if each.compare}
    renamed = {c: header for c, header in spec.rename.get(name, {}).items() if c in columns}
    texts = (*spec.missing, *missing)
    return _of_one(name, id_column or spec.id, columns, {**renamed, **headers}, texts)


def _by_kinds(
    spec: EncodingSpec,
    name: str,
    id_column: str | None,
    headers: Mapping[str, str],
    missing: Sequence[str],
) -> LinkSpec:
    """The columns of an encoding."""
    columns = {}
    for field in spec.fields:
        if field.kind is None:
            raise InputError(
                f"column '{field.column}' of the encoding",
                "must say of what kind it is, so that it can be standardised",
                advice="standardise it yourself and call encode, or let sfumato propose one",
            )
        columns[field.column] = ComparedColumn(kind=field.kind)
    return _of_one(name, id_column, columns, headers, missing)


def _of_one(
    name: str,
    id_column: str | None,
    columns: Mapping[str, ComparedColumn],
    headers: Mapping[str, str],
    missing: Sequence[str],
) -> LinkSpec:
    unknown = set(headers) - set(columns)
    if unknown:
        raise InputError(
            "the headers",
            "must be given for columns of the specification",
            found="another column",
            accepted=", ".join(columns),
        )
    return LinkSpec(
        mode=Mode.DEDUPE_ONLY,
        id=id_column,
        columns=dict(columns),
        blocking=[[next(iter(columns))]],
        rename={name: dict(headers)},
        missing=tuple(missing),
    )


def _standardised(
    table: object, spec: LinkSpec, name: str, schema: Schema | None, progress: Progress
) -> tuple[pa.Table, Mapping[str, int]]:
    """Standardised values under the specification's names, with ids; dates that are none."""
    with (
        open_sources({name: table}, spec, schema=schema, varied=False, progress=progress) as opened,
        closing(connect(opened.workspace.path)) as connection,
    ):
        _check_there(opened.identifying[0], spec, name)
        made = make_tables(connection, opened)
        columns = ", ".join(_encoded_sql(name, each.kind) for name, each in spec.columns.items())
        with quiet("read the standardised records"):
            found = connection.execute(
                f"SELECT {columns} FROM {made.tables[0]} ORDER BY {UNIQUE_ID}"
            ).to_arrow_table()
        ids = opened.records.ids[0].cast(pa.string())
    return found.rename_columns(list(spec.columns)).append_column(_ID, ids), made.impossible


def _encoded_sql(name: str, kind: ColumnKind) -> str:
    """A standardised value as it is cut into tokens: what all values have says nothing."""
    own = quoted(sql_name(name))
    return f"replace({own}, '-', '') AS {own}" if kind is ColumnKind.DATE else own


def _check_there(half: Path, spec: LinkSpec, name: str) -> None:
    import pyarrow.parquet as pq

    having = set(pq.read_schema(half).names)
    lacking = [column for column in spec.columns if sql_name(column) not in having]
    if lacking:
        raise InputError(
            f"column '{lacking[0]}'",
            f"must be in {name}",
            found="no such header",
            advice="say how this table calls it, or agree on a specification without it",
        )
