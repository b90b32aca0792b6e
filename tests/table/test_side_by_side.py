"""Columns that are encoded in several threads give what they give one after the other."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.core.errors import InputError
from sfumato.schema import Schema
from sfumato.table import door
from sfumato.table.door import open_table

RECORDS = 40


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "WORTH_THREADS", RECORDS // 4)


def test_they_say_the_same_in_the_same_order(request: pytest.FixtureRequest) -> None:
    data = pa.table(
        {
            "p": ["P1", "P2", " P2", "P1"] * 10,
            "a": ["2024", "2024-01-31", "x ", None] * 10,
            "b": ["1"] * 39 + [" x"],
            "c": [7] * RECORDS,
            "s": ["u", "u", "v ", None] * 10,
        }
    )
    schema = Schema(person="p", quasi_identifiers=["a", "b", "c"], sensitive="s")
    alone = open_table(data, schema)
    request.getfixturevalue("side_by_side")
    beside = open_table(data, schema)
    assert beside.warnings == alone.warnings
    spaces = [said[: said.index(":")] for said in alone.warnings if "with spaces" in said]
    assert spaces == [f"column '{name}'" for name in "pabs"]
    assert beside.schema == alone.schema
    for one, other in zip(
        [*alone.quasi_identifiers, *alone.sensitive],
        [*beside.quasi_identifiers, *beside.sensitive],
        strict=True,
    ):
        assert one.name == other.name
        assert one.codes.tolist() == other.codes.tolist()
        assert list(map(one.domain.label, range(one.domain.size))) == list(
            map(other.domain.label, range(other.domain.size))
        )


@pytest.mark.usefixtures("side_by_side")
def test_the_first_of_the_schema_is_refused_first() -> None:
    wrong = ["x", "1", "2", "3"] * 10
    data = pa.table({"s": pa.nulls(RECORDS), "b": wrong, "a": wrong, "c": range(RECORDS)})
    schema = Schema(quasi_identifiers=dict.fromkeys("cab", "numeric"), sensitive="s")
    for _ in range(5):
        with pytest.raises(InputError, match="column 'a'"):
            open_table(data, schema)
