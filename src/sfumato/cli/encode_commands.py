"""``sfumato link key`` and ``encode``: what owners do at home, so that no identifier leaves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sfumato.cli.declared_options import Given, with_declared
from sfumato.cli.output import check_apart, print_found, progress_bar, say, warn
from sfumato.cli.parameters import Json, argument, file_option, option
from sfumato.core.errors import InputError
from sfumato.linkage.link_options import Comparing

if TYPE_CHECKING:
    from sfumato.linkage.encoded_table import EncodedTable

Table = Annotated[str, argument(metavar="TABLE", help="The table, as DATA of 'assess'.")]
EncodedFile = Annotated[
    Path,
    file_option(
        "--output",
        "-o",
        help="Where the encodings go, such as hospital.encoded. A specification that is made is "
        "written beside them: hospital.encoded.toml.",
    ),
]
SecretFile = Annotated[
    Path,
    file_option(
        "--key-file",
        help="The key that all owners share, readable by you alone; 'sfumato link key' makes one.",
    ),
]
EncodingSpecFile = Annotated[
    Path | None,
    file_option(
        "--spec",
        help="The specification that the owners agreed upon: what the first of them got beside "
        "the encodings. Or link.toml, to make one of its columns. Without it sfumato proposes one.",
    ),
]
Headers = Annotated[
    list[str] | None,
    option(
        "--column",
        metavar="NAME=HEADER",
        help="How this table calls a column of the specification.",
    ),
]
Missing = Annotated[
    list[str] | None,
    option(
        metavar="TEXT",
        help="A text that means a missing value in this table, beside the empty cell.",
    ),
]
SchemaOfTable = Annotated[
    Path | None,
    file_option(
        "--schema", help="What the columns are, as TOML: sensitive ones are never encoded."
    ),
]


def key(file: Annotated[Path, argument(metavar="FILE", help="A new file for the key.")]) -> None:
    """Make the key that owners share to encode their tables: 32 random bytes, for you alone.

    Give it to the other owners by a way that you trust, and to no other person: with the key
    anyone can find out who the encoded people are. Make a new one for every linkage.
    """
    from sfumato.linkage.encoded_table import write_new_key

    write_new_key(file)
    say(
        f"Wrote {file} (mode 0600). Give it to the other owners only, never to the one who "
        "links the encodings."
    )


@with_declared(Comparing, only=("id_column",))
def encode(
    table: Table,
    output: EncodedFile,
    key_file: SecretFile,
    spec: EncodingSpecFile = None,
    column: Headers = None,
    missing: Missing = None,
    schema: SchemaOfTable = None,
    json: Json = False,
    *,
    given: Given,
) -> None:
    """Encode a table at home, so that it can be linked without showing an identifier.

    Each record becomes one keyed Bloom filter (CLK) over its columns, under its id. All owners
    need the same key and the same specification: the first one sends both to the others, and to
    no other person. 'sfumato link A.encoded B.encoded' matches what was encoded, without either.

    An encoding is not an anonymous record: treat it as personal data. Ids go along as they are.
    """
    from sfumato.core.atomic import all_or_none, check_target, write_text
    from sfumato.linkage import encoded_table
    from sfumato.linkage.link import stem_of
    from sfumato.schema import load_schema

    beside = output.with_name(f"{output.name}.toml")
    for target in (output, beside):
        check_target(target)
    check_apart((output, beside), (table, key_file, schema))
    # The specification that is read may stand there: one is written only where none was given.
    check_apart((output,), (spec,))
    key = encoded_table.read_key(key_file, (table, spec, schema))
    with progress_bar() as progress:
        made = encoded_table.encode_table(
            table,
            key,
            spec,
            id_column=given["id_column"],
            headers=_headers_of(column or []),
            missing=missing or [],
            schema=None if schema is None else load_schema(schema),
            name=stem_of(table),
            progress=progress,
        )
        with all_or_none():
            if made.suggested:
                check_apart((beside,), (spec,))
                write_text(beside, encoded_table.dump_encoding_spec(made.spec))
            encoded_table.write_encoded(made.encoded, output)
    warn(made.warnings)
    print_found(_plain(made), _encoding_summary(made), json=json)
    say(f"Wrote {output}")
    if made.suggested:
        say(f"Wrote {beside}. The other owners need it: encode --spec {beside.name}")


def _headers_of(words: list[str]) -> dict[str, str]:
    """Headers by the specification's columns.

    Parameters
    ----------
    words
        A name, an equals sign and a header each.

    Raises
    ------
    InputError
        If one is something else, or a name is there twice.
    """
    headers: dict[str, str] = {}
    for word in words:
        name, sign, header = word.partition("=")
        if not sign or not name or not header or name in headers:
            raise InputError(
                "option --column",
                "must be a column of the specification and its header, once for each",
                accepted="--column surname=last_name",
            )
        headers[name] = header
    return headers


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


def _encoding_summary(made: EncodedTable) -> list[str]:
    encoded = made.encoded
    columns = ", ".join(field.column for field in made.spec.fields)
    return [
        f"Records      {len(encoded):,}, {_named_by(made.id_column)}",
        f"Columns      {columns}",
        f"Encodings    {encoded.length:,} bits, {encoded.counts.mean():,.0f} of them set",
        f"Key          {encoded.key_check} (a fingerprint, equal for all owners)",
        f"Settings     {encoded.spec_check} (likewise, of the specification)",
    ]


def _named_by(id_column: str | None) -> str:
    return "numbered from 1" if id_column is None else f"under their ids in {id_column}"
