"""``sfumato link encode``: what an owner does at home, so that no identifier leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli.link.options.encodings import (
    EncodedFile,
    EncodingSpecFile,
    Headers,
    Missing,
    SecretFile,
    Table,
    headers_of,
)
from sfumato.cli.link.options.tables import Id, SchemaOfTables, load_schema_of
from sfumato.cli.output import check_apart, print_json, progress_bar, say, warn
from sfumato.cli.parameters import Json

if TYPE_CHECKING:
    from sfumato.linkage.encodings.owner.table import EncodedTable


def encode(
    table: Table,
    output: EncodedFile,
    key_file: SecretFile,
    spec: EncodingSpecFile = None,
    id_column: Id = None,
    column: Headers = None,
    missing: Missing = None,
    schema: SchemaOfTables = None,
    json: Json = False,
) -> None:
    """Encode a table at home, so that it can be linked without showing an identifier.

    Each record becomes one keyed Bloom filter (CLK) over its columns, under its id. All owners
    need the same key and the same specification: the first one sends both to the others, and to
    nobody else. 'sfumato link A.encoded B.encoded' matches what was encoded, without either.

    An encoding is not an anonymous record: treat it as personal data. Ids go along as they are.
    """
    from sfumato.core.atomic import all_or_none, check_target, write_text
    from sfumato.linkage.asked import stem_of
    from sfumato.linkage.encodings.file import write_encoded
    from sfumato.linkage.encodings.owner.key_file import read_key
    from sfumato.linkage.encodings.owner.table import encode_table
    from sfumato.linkage.encodings.owner.toml import dump_encoding_spec

    beside = output.with_name(f"{output.name}.toml")
    for target in (output, beside):
        check_target(target)
    check_apart((output, beside), (table, key_file, schema))
    check_apart((output,), (spec,))
    key = read_key(key_file, (table, spec, schema))
    with progress_bar() as progress:
        made = encode_table(
            table,
            key,
            spec,
            id_column=id_column,
            headers=headers_of(column or []),
            missing=missing or [],
            schema=load_schema_of(schema),
            name=stem_of(table),
            progress=progress,
        )
        with all_or_none():
            if made.suggested:
                check_apart((beside,), (spec,))
                write_text(beside, dump_encoding_spec(made.spec))
            write_encoded(made.encoded, output)
    warn(made.warnings)
    if json:
        print_json(_plain(made))
    else:
        typer.echo(_told(made))
    say(f"Wrote {output}")
    if made.suggested:
        say(f"Wrote {beside}. The other owners need it: encode --spec {beside.name}")


def _plain(made: EncodedTable) -> dict[str, Any]:
    encoded, spec = made.encoded, made.spec
    return {
        "records": len(encoded),
        "columns": [field.column for field in spec.fields],
        "id": made.id_column,
        "specification": "made" if made.suggested else "given",
        "length": encoded.length,
        "mean_bits": float(encoded.counts.mean()),
        "without_values": made.empty,
        "fingerprint": {"key": encoded.key_check, "specification": encoded.spec_check},
        "warnings": list(made.warnings),
    }


def _told(made: EncodedTable) -> str:
    encoded = made.encoded
    columns = ", ".join(field.column for field in made.spec.fields)
    return "\n".join(
        [
            f"Records      {len(encoded):,}, {_named_by(made.id_column)}",
            f"Columns      {columns}",
            f"Encodings    {encoded.length:,} bits, {encoded.counts.mean():,.0f} of them set",
            f"Key          {encoded.key_check} (a fingerprint, equal for all owners)",
            f"Settings     {encoded.spec_check} (likewise, of the specification)",
        ]
    )


def _named_by(id_column: str | None) -> str:
    return "numbered from 1" if id_column is None else f"under their ids in {id_column}"
