"""A table encoded by its owner: what is encoded and how, the key's file, the table's file.

Neither the key nor the specification is in the file of the table.
"""

from __future__ import annotations

import math
import os
import secrets
import stat
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import tomlkit

from sfumato.core.atomic import atomic_path
from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import quiet
from sfumato.core.secret_keys import Secret, read_secret
from sfumato.linkage import link_spec
from sfumato.linkage.candidate_pairs import make_tables
from sfumato.linkage.encoding import Encoded, EncodingSpec, FieldEncoding, check_secret, encode
from sfumato.linkage.link_engine import connect
from sfumato.linkage.link_sources import check_ids, open_sources
from sfumato.linkage.spec_suggestion import suggest_links
from sfumato.linkage.standardisation import UNIQUE_ID
from sfumato.schema import Schema

_SPEC = b"sfumato.encoding.specification"
_KEY = b"sfumato.encoding.key"
_PARQUET = b"PAR1"


def write_encoded(encoded: Encoded, target: str | os.PathLike[str]) -> None:
    """Write encodings as Parquet, whole or not at all.

    Columns ``id`` (text) and ``clk`` (binary, length / 8 bytes a record); what tells different
    keys and specifications apart is in the file's metadata.
    """
    width = encoded.bits.shape[1]
    raw = pa.py_buffer(np.ascontiguousarray(encoded.bits))
    patterns = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(encoded), [None, raw])
    table = pa.table({"id": encoded.ids, "clk": patterns}).replace_schema_metadata(
        {_SPEC: encoded.spec_check.encode(), _KEY: encoded.key_check.encode()}
    )
    with atomic_path(target) as path:
        # Nearly all patterns differ, and statistics would only repeat the least and the greatest.
        pq.write_table(table, path, use_dictionary=False, write_statistics=False)


def is_encoded(data: object) -> bool:
    """Whether a table is encodings: in memory, or a file that `write_encoded` wrote.

    Only what the file says of itself is read, whatever its name.
    """
    if isinstance(data, Encoded):
        return True
    if not isinstance(data, (str, os.PathLike)):
        return False
    try:
        with Path(os.fsdecode(data)).open("rb") as file:
            # Four bytes first: other files may be large, and are not to be parsed.
            if file.read(len(_PARQUET)) != _PARQUET:
                return False
        known = pq.read_schema(Path(os.fsdecode(data))).metadata or {}
    except (pa.ArrowInvalid, OSError, ValueError):
        return False
    return _SPEC in known and _KEY in known


def read_encoded(source: str | os.PathLike[str]) -> Encoded:
    """Read what `write_encoded` wrote."""
    path = Path(source)
    subject = f"file {path.name}"
    try:
        # As bytes: given a path, Arrow would take parts of folder names for columns.
        table = pq.read_table(pa.BufferReader(path.read_bytes()))
    except (pa.ArrowInvalid, OSError):
        raise InputError(subject, "must be a Parquet file that can be read") from None
    known = table.schema.metadata or {}
    if table.column_names != ["id", "clk"] or _SPEC not in known or _KEY not in known:
        raise InputError(subject, "must hold encodings that sfumato wrote")
    patterns = table["clk"].combine_chunks()
    width = getattr(patterns.type, "byte_width", 0) if _fixed(patterns.type) else 0
    if not len(table) or not width or width % 8 or patterns.null_count:
        raise InputError(subject, "must hold records, and a pattern of one length for each")
    ids = table["id"].cast(pa.string()).combine_chunks()
    check_ids(ids, "id", subject)
    start = patterns.offset * width
    raw = np.frombuffer(patterns.buffers()[1], np.uint8)[start : start + len(table) * width]
    bits = raw.reshape(len(table), width).copy()
    key_check, spec_check = (known[name].decode("ascii", "replace") for name in (_KEY, _SPEC))
    return Encoded(ids, bits, key_check, spec_check)


def _fixed(kind: pa.DataType) -> bool:
    return bool(pa.types.is_fixed_size_binary(kind))


# A choice: with fewer, agreement in a field of few values could not be told from chance.
FEWEST_BITS = 10
ROUND_TO = 5
"""Bits are rounded, so that an encoding tells little about the data it was proposed from."""
FEW_VALUES = 16
"""Columns with fewer different values than this are compared as equal or not."""


def suggest_encoding(
    table: pa.Table,
    columns: Sequence[str],
    *,
    length: int = 1024,
    folds: int = 0,
    salt: str = "",
    fill: float = 0.5,
    kinds: Mapping[str, link_spec.ColumnKind] | None = None,
) -> EncodingSpec:
    """Propose an encoding: runs by kind of column, bits in proportion to its information.

    A column's information is the entropy of its values, -Σ p log2 p, missing values adding
    nothing: -(1 - p_missing) Σ p log2 p. Durham et al. (2014, "Composite Bloom Filters for
    Secure Record Linkage", IEEE TKDE 26(12)) weigh fields for a composite filter likewise, by
    what agreement in them says. Columns are cut into bigrams, those of digits at their places
    (pairs of digits agree by chance less often than single ones), and those with few values are
    compared whole.

    Parameters
    ----------
    table
        Standardised values like those to be encoded: one owner's, or made-up ones. All owners
        must use the one specification that comes out.
    length, folds, salt
        As in `EncodingSpec`.
    fill
        Share of the bits before folding that a record without missing values is to set, in
        (0, 1). Fewer make blocking on encodings cheaper; half of them hide single tokens best
        among the others.
    """
    if not 0 < fill < 1:
        raise InputError("parameter fill", "must be above 0 and below 1", found=f"{fill}")
    said = {name: _information(table, name) for name in columns}
    total = sum(said.values())
    # B bits thrown into l places leave a share exp(-B / l) of them empty.
    # Hence B = −l log(1 − fill) for the wanted share.
    insertions = -math.log(1 - fill) * (length << folds)
    fields = []
    for name in columns:
        # In proportion to entropy, as agreement in a field says about as many bits.
        bits = round(insertions * said[name] / total / ROUND_TO) * ROUND_TO
        comparison, n, positional = _field_kind(table[name])
        fields.append(
            FieldEncoding(
                column=name,
                comparison=comparison,
                n=n,
                positional=positional,
                bits=max(FEWEST_BITS, bits),
                kind=(kinds or {}).get(name),
            )
        )
    return EncodingSpec(fields=tuple(fields), length=length, folds=folds, salt=salt)


def _information(table: pa.Table, name: str) -> float:
    """Bits that a value of the column says on average."""
    if name not in table.column_names:
        raise InputError(f"column {name!r}", "must be in the table")
    column = _known(table[name])
    counts = pc.value_counts(column).field("counts").to_numpy()
    if len(counts) < 2:
        raise InputError(
            f"column {name!r}",
            "must hold different values to be encoded",
            found="nothing" if not len(counts) else "one value only",
            advice="leave it out",
        )
    share = counts / counts.sum()
    return float(-np.sum(share * np.log2(share)) * len(column) / len(table))


def _known(column: pa.ChunkedArray) -> pa.Array:
    text = column.cast(pa.string()).combine_chunks()
    return text.filter(pc.greater(pc.utf8_length(text), 0))


def _field_kind(column: pa.ChunkedArray) -> tuple[str, int, bool]:
    """Comparison, length of the runs and whether they are positional."""
    values = _known(column)
    if len(values.unique()) < FEW_VALUES:
        return "exact", 1, False
    digits = pc.mean(pc.match_substring_regex(values, r"^[0-9][0-9 /.-]*$")).as_py()
    return "ngram", 2, bool(digits > 0.9)


KEY_BYTES = 32
"""Random bytes of a new key; the file holds them in hexadecimal."""


def write_new_key(path: str | os.PathLike[str]) -> None:
    """Write a new random key to a new file that only its owner may read (mode 0600).

    It must not exist, for a key that is written over is lost.
    """
    file = Path(path)
    subject = f"key file {file.name or file}"
    try:
        # Exclusive, so that no other process can put a file there in between.
        number = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise InputError(
            subject,
            "must be a new file",
            found="a file of that name",
            advice="a key that is written over is lost; choose another name",
        ) from None
    except OSError:
        raise InputError(subject, "must be in a folder that exists and can be written") from None
    with os.fdopen(number, "w", encoding="ascii") as stream:
        stream.write(secrets.token_hex(KEY_BYTES) + "\n")


def read_key(
    path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str] | None] = ()
) -> bytes:
    """The secret that a file holds, blanks and ends of lines around it left out.

    A file that is read as data is no secret.
    """
    file = Path(path)
    subject = f"key file {file.name or file}"
    if not file.exists():
        raise InputError(
            subject,
            "is not there",
            advice="'sfumato link key FILE' makes one, which all owners share",
        )
    secret = read_secret(file, subject, inputs)
    mode = file.stat().st_mode
    # Only POSIX has these bits; others would be refused for nothing.
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(
            subject,
            "must be for its owner's eyes only",
            found=f"mode {stat.S_IMODE(mode):04o}",
            accepted="mode 0600",
            advice="run chmod 600 on it; if others may have read it, make a new key",
        )
    return secret


_HEADER = """\
How records are encoded. Every owner must use this same file, and the same key: what is encoded
otherwise cannot be compared. It holds no key and no value of the data, but says by its bits how
varied a column is. The linkage unit does not need it."""
_OWN = ("length", "folds", "hash", "salt", "info")
_TYPES = {"str": str, "int": int, "bool": bool, "ColumnKind | None": str}


def dump_encoding_spec(spec: EncodingSpec) -> str:
    """Write a specification as TOML text."""
    document = tomlkit.document()
    for line in _HEADER.splitlines():
        document.add(tomlkit.comment(line))
    document.update({name: getattr(spec, name) for name in _OWN})
    columns = tomlkit.table(is_super_table=True)
    for field in spec.fields:
        own = {name: value for name, value in asdict(field).items() if value is not None}
        name = own.pop("column")
        columns.add(name, {key: str(v) if key == "kind" else v for key, v in own.items()})
    document.add("columns", columns)
    return tomlkit.dumps(document)


def load_encoding_spec(path: str | os.PathLike[str]) -> EncodingSpec | link_spec.LinkSpec:
    """Read the specification of an encoding, or a linkage specification to make one from.

    The file is one that `dump_encoding_spec` or `dump_link_spec` wrote.
    """
    file = Path(path)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        given = {}
    if "length" not in given:
        return link_spec.load_link_spec(file)
    return _encoding(given, f"specification file {file.name}")


def _encoding(given: dict[str, Any], subject: str) -> EncodingSpec:
    columns = given.pop("columns", None)
    tables = isinstance(columns, dict) and all(isinstance(v, dict) for v in columns.values())
    if not tables or not columns:
        raise InputError(subject, "must have a table for each column", accepted="[columns.surname]")
    own = _checked(EncodingSpec, given, subject)
    encoded = []
    for name, column in columns.items():
        kept = _checked(FieldEncoding, column, f"column '{name}' of {subject}")
        if "kind" in kept:
            kept["kind"] = _kind(kept["kind"], f"column '{name}' of {subject}")
        encoded.append(FieldEncoding(column=name, **kept))
    return EncodingSpec(fields=tuple(encoded), **own)


def _checked(
    of: type[EncodingSpec] | type[FieldEncoding], given: dict[str, Any], subject: str
) -> dict[str, Any]:
    """Fields of the right names and types."""
    types = {f.name: _TYPES[str(f.type)] for f in fields(of) if str(f.type) in _TYPES}
    types.pop("column", None)
    for name, value in given.items():
        if name not in types:
            raise InputError(subject, "must have known fields", accepted=", ".join(types))
        # Not `isinstance`: true is an int in Python.
        if type(value) is not types[name]:
            raise InputError(
                f"'{name}' of {subject}",
                "must be of the right type",
                found=type(value).__name__,
                accepted=types[name].__name__,
            )
    return dict(given)


def _kind(word: str, subject: str) -> link_spec.ColumnKind:
    try:
        return link_spec.ColumnKind(word)
    except ValueError:
        raise InputError(
            f"'kind' of {subject}",
            "must be a known kind",
            accepted=", ".join(kind.value for kind in link_spec.ColumnKind),
        ) from None


SALT_BYTES = 16
_ID = "\0id"


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table's encodings, and how they were made.

    Attributes
    ----------
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
            f"'{name}': values taken as missing, as they are no dates: {count:,}."
            for name, count in self.impossible.items()
            if count
        ]
        if self.empty:
            said.append(f"Records without a value to encode, linked to nothing: {self.empty:,}.")
        return tuple(said)


def encode_table(
    table: object,
    secret: bytes,
    spec: EncodingSpec | link_spec.LinkSpec | str | os.PathLike[str] | None = None,
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
        spec = suggest_links({name: table}, schema, id_column=id_column).spec
    if isinstance(spec, link_spec.LinkSpec):
        own = _asked(spec, name, id_column, headers or {}, missing)
    else:
        own = _by_kinds(spec, name, id_column, headers or {}, missing)
    values, impossible = _standardised(table, own, name, schema, progress)
    suggested = isinstance(spec, link_spec.LinkSpec)
    if isinstance(spec, link_spec.LinkSpec):
        kinds = {column: each.kind for column, each in own.columns.items()}
        salt = secrets.token_hex(SALT_BYTES)
        spec = suggest_encoding(values, list(kinds), salt=salt, kinds=kinds)
    shuffled = Secret.of(None).stream("order").permutation(len(values))
    encoded = encode(
        values.take(pa.array(shuffled)), spec, secret, id_column=_ID, progress=progress
    )
    progress("encode", 1.0)
    return EncodedTable(encoded, spec, suggested, own.id, impossible)


def _asked(
    spec: link_spec.LinkSpec,
    name: str,
    id_column: str | None,
    headers: Mapping[str, str],
    missing: Sequence[str],
) -> link_spec.LinkSpec:
    """The compared columns of a linkage specification, of this one table."""
    if spec.splink is not None:
        raise InputError(
            "the specification",
            "must say what its columns hold",
            found="Splink settings",
            advice="let 'sfumato link suggest' propose one",
        )
    columns = {column: each for column, each in spec.columns.items() if each.compare}
    renamed: dict[str, link_spec.Headers] = {
        c: header for c, header in spec.rename.get(name, {}).items() if c in columns
    }
    texts = (*spec.missing, *missing)
    return _of_one(name, id_column or spec.id, columns, {**renamed, **headers}, texts)


def _by_kinds(
    spec: EncodingSpec,
    name: str,
    id_column: str | None,
    headers: Mapping[str, str],
    missing: Sequence[str],
) -> link_spec.LinkSpec:
    """The columns of an encoding."""
    columns = {}
    for field in spec.fields:
        if field.kind is None:
            raise InputError(
                f"column '{field.column}' of the encoding",
                "must say of what kind it is, so that it can be standardised",
                advice="standardise it yourself and call encode, or let sfumato propose one",
            )
        columns[field.column] = link_spec.ComparedColumn(kind=field.kind)
    return _of_one(name, id_column, columns, headers, missing)


def _of_one(
    name: str,
    id_column: str | None,
    columns: Mapping[str, link_spec.ComparedColumn],
    headers: Mapping[str, link_spec.Headers],
    missing: Sequence[str],
) -> link_spec.LinkSpec:
    unknown = set(headers) - set(columns)
    if unknown:
        raise InputError(
            "the headers",
            "must be given for columns of the specification",
            found="another column",
            accepted=", ".join(columns),
        )
    return link_spec.LinkSpec(
        mode=link_spec.Mode.DEDUPE_ONLY,
        id=id_column,
        columns=dict(columns),
        blocking=[[next(iter(columns))]],
        rename={name: dict(headers)},
        missing=tuple(missing),
    )


def _standardised(
    table: object, spec: link_spec.LinkSpec, name: str, schema: Schema | None, progress: Progress
) -> tuple[pa.Table, Mapping[str, int]]:
    """Standardised values under the specification's names, with ids; dates that are none."""
    with (
        open_sources({name: table}, spec, schema=schema, varied=False, progress=progress) as opened,
        closing(connect(opened.workspace.path)) as connection,
    ):
        _check_there(opened.identifying[0], spec, name)
        tables = make_tables(connection, opened)
        columns = ", ".join(
            _encoded_sql(name, column.kind) for name, column in spec.columns.items()
        )
        with quiet("read the standardised records"):
            found = connection.execute(
                f"SELECT {columns} FROM {tables.tables[0]} ORDER BY {UNIQUE_ID}"
            ).to_arrow_table()
        ids = opened.records.ids[0].cast(pa.string())
    return found.rename_columns(list(spec.columns)).append_column(_ID, ids), tables.impossible


def _encoded_sql(name: str, kind: link_spec.ColumnKind) -> str:
    """A standardised value as it is cut into tokens: what all values have says nothing."""
    own = link_spec.quoted(link_spec.sql_name(name))
    return f"replace({own}, '-', '') AS {own}" if kind is link_spec.ColumnKind.DATE else own


def _check_there(half: Path, spec: link_spec.LinkSpec, name: str) -> None:
    import pyarrow.parquet as pq

    having = set(pq.read_schema(half).names)
    lacking = [column for column in spec.columns if link_spec.sql_name(column) not in having]
    if lacking:
        raise InputError(
            f"column '{lacking[0]}'",
            f"must be in {name}",
            found="no such header",
            advice="say how this table calls it, or agree on a specification without it",
        )
