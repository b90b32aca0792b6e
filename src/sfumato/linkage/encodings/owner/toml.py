"""The specification that all owners encode by, as a TOML file, both ways without loss."""

from __future__ import annotations

import os
import tomllib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import tomlkit

from sfumato.core.errors import InputError
from sfumato.linkage.encodings.spec import EncodingSpec, FieldEncoding
from sfumato.linkage.spec.kinds import ColumnKind
from sfumato.linkage.spec.model import LinkSpec
from sfumato.linkage.spec.toml import load_link_spec

_HEADER = """\
How records are encoded. Every owner must use this same file, and the same key: what is encoded
otherwise cannot be compared. It holds no key and no value of the data, but says by its bits how
varied a column is. The linkage unit does not need it."""
_OWN = ("length", "folds", "hash", "salt", "info")
_TYPES = {"str": str, "int": int, "bool": bool, "ColumnKind | None": str}


def dump_encoding_spec(spec: EncodingSpec) -> str:
    """Write a specification as TOML text.

    Parameters
    ----------
    spec
        The specification.
    """
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


def load_encoding_spec(path: str | os.PathLike[str]) -> EncodingSpec | LinkSpec:
    """Read the specification of an encoding, or a linkage specification to make one from.

    Parameters
    ----------
    path
        A file that `dump_encoding_spec` or `dump_link_spec` wrote.

    Raises
    ------
    InputError
        If it is neither.
    """
    file = Path(path)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        given = {}
    if "length" not in given:
        return load_link_spec(file)
    return _encoding(given, f"specification file {file.name}")


def _encoding(given: dict[str, Any], subject: str) -> EncodingSpec:
    columns = given.pop("columns", None)
    tables = isinstance(columns, dict) and all(isinstance(v, dict) for v in columns.values())
    if not tables or not columns:
        raise InputError(subject, "must have a table for each column", accepted="[columns.surname]")
    own = _checked(EncodingSpec, given, subject)
    encoded = []
    for name, said in columns.items():
        kept = _checked(FieldEncoding, said, f"column '{name}' of {subject}")
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
        if type(value) is not types[name]:
            raise InputError(
                f"'{name}' of {subject}",
                "must be of the right type",
                found=type(value).__name__,
                accepted=types[name].__name__,
            )
    return dict(given)


def _kind(word: str, subject: str) -> ColumnKind:
    try:
        return ColumnKind(word)
    except ValueError:
        raise InputError(
            f"'kind' of {subject}",
            "must be a known kind",
            accepted=", ".join(kind.value for kind in ColumnKind),
        ) from None
