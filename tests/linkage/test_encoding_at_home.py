"""What an owner does at home: key, agreed specification, a table encoded."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.linkage.encoded_table import (
    dump_encoding_spec,
    encode_table,
    load_encoding_spec,
    read_key,
    write_new_key,
)
from sfumato.linkage.encoding import Encoded, EncodingSpec, FieldEncoding, encode
from sfumato.linkage.link_spec import ColumnKind, LinkSpec
from sfumato.schema import Schema

SECRET = b"a secret of more than sixteen bytes"
SPEC = EncodingSpec(
    fields=(
        FieldEncoding(column="surname", bits=90, kind=ColumnKind.SURNAME),
        FieldEncoding(column="born", n=1, positional=True, bits=60, kind=ColumnKind.DATE),
    ),
    length=256,
)
PEOPLE = {
    "number": ["a", "b", "c"],
    "surname": ["O'Brien", "MÜLLER", "van der Berg"],
    "born": ["1970-03-04", "1981-12-31", "1990-01-20"],
}


def patterns(encoded: Encoded) -> dict[str, bytes]:
    """The pattern of each record."""
    rows = [row.tobytes() for row in encoded.bits]
    return dict(zip(encoded.ids.to_pylist(), rows, strict=True))


def test_values_are_standardised_before_they_are_encoded() -> None:
    other = {
        "number": PEOPLE["number"],
        "Last name": [" o'brien ", "Müller", "Van der Berg"],
        "born": ["4/3/1970", "31.12.1981", "20 Jan 1990"],
    }
    one = encode_table(pa.table(PEOPLE), SECRET, SPEC, id_column="number")
    two = encode_table(
        pa.table(other), SECRET, SPEC, id_column="number", headers={"surname": "Last name"}
    )
    same = {
        name: patterns(one.encoded)[name] == patterns(two.encoded)[name]
        for name in PEOPLE["number"]
    }
    assert same == {"a": True, "b": True, "c": True}
    assert not one.suggested
    assert one.warnings == ()


@pytest.mark.usefixtures("fresh_secrets")
def test_the_order_of_the_rows_says_nothing() -> None:
    rows = 200
    table = pa.table(
        {
            "number": [f"{row}" for row in range(rows)],
            "surname": [f"name{row:03}" for row in range(rows)],
            "born": ["1970-01-01"] * rows,
        }
    )
    orders = [
        encode_table(table, SECRET, SPEC, id_column="number").encoded.ids.to_pylist()
        for _ in range(2)
    ]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(table["number"].to_pylist())


def test_an_encoding_is_that_of_the_standardised_values() -> None:
    plain = pa.table({"id": ["x"], "surname": ["smith"], "born": ["1970-03-04"]})
    made = encode_table(plain, SECRET, SPEC, id_column="id").encoded
    digits = plain.set_column(2, "born", [["19700304"]])
    assert (made.bits == encode(digits, SPEC, SECRET, id_column="id").bits).all()


def test_missing_texts_and_empty_records_set_no_bit() -> None:
    table = pa.table({"id": ["1", "2"], "surname": ["unknown", "Abel"], "born": [None, "5 May"]})
    made = encode_table(table, SECRET, SPEC, id_column="id", missing=["unknown"])
    assert made.empty == 1
    assert made.impossible == {"born": 1}
    assert [said.split()[0] for said in made.warnings] == ["'born':", "Records"]


def test_one_value_throughout_is_no_reason_to_refuse() -> None:
    table = pa.table({"id": ["1", "2"], "surname": ["Abel"] * 2, "born": ["1970-03-04"] * 2})
    assert len(encode_table(table, SECRET, SPEC, id_column="id").encoded) == 2


def test_a_linkage_specification_says_the_columns_and_this_table_the_bits() -> None:
    rng = np.random.default_rng(3)
    names = [f"{a}{b}{c}ner" for a in "bdfghklm" for b in "aeiou" for c in "lmnrs"]
    table = pa.table(
        {
            "who": [str(row) for row in range(200)],
            "family": rng.permutation(names),
            "sex": rng.choice(["f", "m"], 200),
            "diagnosis": rng.choice(["x", "y"], 200),
        }
    )
    spec = LinkSpec(
        id="who",
        columns={"surname": "surname", "sex": "category"},
        blocking=["surname"],
        rename={"clinic": {"surname": "family"}},
    )
    made = encode_table(table, SECRET, spec, name="clinic")
    assert made.suggested
    assert {f.column: f.kind for f in made.spec.fields} == {
        "surname": ColumnKind.SURNAME,
        "sex": ColumnKind.CATEGORY,
    }
    bits = {field.column: field.bits for field in made.spec.fields}
    assert bits["surname"] > 5 * bits["sex"]
    again = encode_table(table, SECRET, spec, name="clinic")
    assert made.spec.salt != again.spec.salt
    schema = Schema(person="who", quasi_identifiers={"sex": "categorical"}, sensitive=["family"])
    with pytest.raises(InputError, match="sensitive column"):
        encode_table(table, SECRET, spec, name="clinic", schema=schema)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"spec": EncodingSpec(fields=(FieldEncoding(column="surname"),))}, "of what kind it is"),
        ({"id_column": "nowhere"}, "column 'nowhere' must be a column of source table"),
        ({"headers": {"given": "x"}}, "must be given for columns of the specification"),
        ({"secret": b"short"}, "at least 16 bytes"),
        ({"secret": "a secret of more than sixteen bytes"}, "must be bytes"),
        ({"table": pa.table({"number": ["1"], "surname": ["x"]})}, "column 'born' must be in"),
        ({"table": pa.table({**PEOPLE, "number": ["a", "a", "b"]})}, "must name each record"),
    ],
)
def test_what_cannot_be_encoded_is_refused(change: dict[str, object], said: str) -> None:
    given_ = {"table": pa.table(PEOPLE), "secret": SECRET, "spec": SPEC, "id_column": "number"}
    asked = {**given_, **change}
    table, secret = asked.pop("table"), asked.pop("secret")
    with pytest.raises(InputError, match=said) as error:
        encode_table(table, secret, asked.pop("spec"), **asked)
    for value in ("O'Brien", "1970", "a secret"):
        assert value not in str(error.value)


# ------------------------------------------------------------------------- specification, key


fields = st.builds(
    FieldEncoding,
    column=st.text(min_size=1, max_size=12),
    comparison=st.sampled_from(["ngram", "exact"]),
    n=st.integers(1, 8),
    positional=st.booleans(),
    bits=st.integers(1, 500),
    per=st.sampled_from(["value", "token"]),
    kind=st.none() | st.sampled_from(ColumnKind),
)


@given(
    st.builds(
        EncodingSpec,
        fields=st.lists(fields, min_size=1, max_size=4, unique_by=lambda f: f.column).map(tuple),
        length=st.sampled_from([64, 1024]),
        folds=st.integers(0, 2),
        hash=st.sampled_from(["blake", "double"]),
        salt=st.binary(max_size=9).map(bytes.hex),
    )
)
def test_a_specification_comes_back_from_toml(
    tmp_path_factory: pytest.TempPathFactory, spec: EncodingSpec
) -> None:
    path = tmp_path_factory.getbasetemp() / "spec.toml"
    path.write_text(dump_encoding_spec(spec), encoding="utf-8")
    assert load_encoding_spec(path) == spec


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("length = 64", "must have a table for each column"),
        ("length = 64\ncolumns = 3", "must have a table for each column"),
        ("length = 64\n[columns]\nx = 3", "must have a table for each column"),
        ('length = "64"\n[columns.x]', "'length' of specification file a.toml must be of the"),
        ("length = 64\nfolds = true\n[columns.x]", "found bool"),
        ("length = 64\ncolour = 1\n[columns.x]", "must have known fields"),
        ('length = 64\n[columns.x]\nkind = "colour"', "must be a known kind"),
        ("length = 64\n[columns.x]\nbits = 0", "at least 1 bit"),
        ("length = 65\n[columns.x]\nbits = 9", "multiple of 64"),
        ("length = [", "must be TOML"),
        ('mode = "sometimes"', "breaks a rule"),
    ],
)
def test_a_file_that_is_no_specification_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(InputError, match=said):
        load_encoding_spec(tmp_path / "a.toml")


def test_a_key_is_new_random_and_for_its_owner_alone(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_new_key(tmp_path / name)
    one, two = read_key(tmp_path / "one"), read_key(tmp_path / "two")
    assert one != two
    assert len(bytes.fromhex(one.decode())) == 32
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o600
    with pytest.raises(InputError, match="must be a new file") as error:
        write_new_key(tmp_path / "one")
    assert one.decode() not in str(error.value)
    assert read_key(tmp_path / "one") == one
    with pytest.raises(InputError, match="folder that exists"):
        write_new_key(tmp_path / "nowhere" / "key")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o620])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    write_new_key(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(InputError, match=f"found mode {mode:04o}"):
        read_key(tmp_path / "key")
    (tmp_path / "key").chmod(0o400)
    assert read_key(tmp_path / "key")


def test_a_key_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("secret\n")
    (tmp_path / "short").chmod(0o600)
    with pytest.raises(InputError, match="at least 16 bytes") as error:
        read_key(tmp_path / "short")
    assert "secret\n" not in str(error.value)
    for name in ("nowhere", "."):
        with pytest.raises(InputError, match=r"is not there|must be a file that can be read"):
            read_key(tmp_path / name)
