"""What an intruder knows, and how well."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.intruder.knowledge import KnownColumn, hold, with_noise

SCHEMA = sf.Schema(
    person="id",
    quasi_identifiers={"age": {}, "born": {}, "sex": "categorical", "grade": "ordered"},
    missing=["unknown", "-9"],
)
REGISTER = pa.table(
    {
        "id": [7, 8, 7, 9],
        "name": ["Ann", "Bo", "Ann", "Cy"],
        "age": [30, -9, 31, None],
        "born": [dt.date(1970, 1, 2), dt.date(1969, 12, 31), None, dt.date(1970, 1, 2)],
        "sex": ["f", "unknown", " ", "01"],
        "visits": [2, 1, 2, 5],
    }
)


def _values(column: KnownColumn) -> list[str | None]:
    return [column.texts[code] for code in column.codes]


def test_a_register_by_persons_and_columns() -> None:
    known = hold(REGISTER, SCHEMA)
    assert (known.persons, known.person.tolist()) == (3, [0, 1, 0, 2])
    age, born, sex = known.quasi_identifiers
    assert _values(age) == ["30", None, "31", None]
    assert age.numbers[age.codes[[0, 2]]].tolist() == [30, 31]
    assert np.isnan(age.numbers[age.codes[[1, 3]]]).all()
    assert _values(born) == ["1970-01-02", "1969-12-31", None, "1970-01-02"]
    assert born.numbers[born.codes[[0, 1]]].tolist() == [1, -1]
    assert _values(sex) == ["f", None, None, "01"]
    assert np.isnan(sex.numbers).all()
    assert [column.name for column in known.others] == ["name", "visits"]
    assert known.counts is None


def test_what_the_intruder_knows_may_be_part() -> None:
    known = hold(REGISTER, SCHEMA, knows=["sex", "age"])
    assert [column.name for column in known.quasi_identifiers] == ["age", "sex"]
    assert "born" in [column.name for column in known.others]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"knows": ["zip"]}, "column 'zip' must be a quasi-identifier"),
        ({"knows": ["grade"]}, "column 'grade' must be a column of dataframe, the register"),
        ({"knows": []}, "must have a quasi-identifier that the intruder knows"),
    ],
)
def test_what_cannot_be_known_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        hold(REGISTER, SCHEMA, **fields)
    assert "Ann" not in str(refused.value)


def test_a_row_without_a_person_is_refused_by_its_number() -> None:
    nobody = pa.table({"id": ["a", None], "age": [1, 2]})
    with pytest.raises(InputError, match=r"must name the person of every row.*row 2"):
        hold(nobody, SCHEMA)
    assert hold(pa.table({"age": [1, 1]}), SCHEMA).person.tolist() == [0, 1]


def _many(rng: np.random.Generator, rows: int = 4000) -> pa.Table:
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 20000, rows)]
    return pa.table(
        {
            "age": rng.integers(0, 100, rows) / 4,
            "born": days,
            "sex": [f"name {number}" for number in rng.integers(0, 2000, rows)],
        }
    )


def test_noise_makes_the_share_wrong_and_the_share_unknown() -> None:
    rng = np.random.default_rng(5)
    known = hold(_many(rng), SCHEMA)
    noisy = with_noise(known, {"age": 0.2, "sex": 0.3}, 0.1, rng)
    shares = {"age": 0.2, "born": 0.0, "sex": 0.3}
    for before, after in zip(known.quasi_identifiers, noisy.quasi_identifiers, strict=True):
        pairs = list(zip(_values(before), _values(after), strict=True))
        unknown = sum(new is None for _, new in pairs) / len(pairs)
        wrong = sum(new not in (None, old) for old, new in pairs) / len(pairs)
        assert unknown == pytest.approx(0.1, abs=0.02)
        assert wrong == pytest.approx(0.9 * shares[before.name], abs=0.03)
        assert len(set(after.texts)) == len(after.texts)


def test_wrong_values_are_near_or_of_others_or_slips() -> None:
    rng = np.random.default_rng(6)
    known = hold(_many(rng), SCHEMA)
    noisy = with_noise(known, 1.0, 0.0, rng)
    age, born, sex = noisy.quasi_identifiers
    was_age, was_born, was_sex = known.quasi_identifiers
    off = np.abs(age.numbers[age.codes] - was_age.numbers[was_age.codes])
    assert 0.4 < (off < 1.5).mean() < 0.75
    assert all(len((text or "").partition(".")[2]) <= 2 for text in age.texts)
    days = np.abs(born.numbers[born.codes] - was_born.numbers[was_born.codes])
    assert np.isfinite(days).all()
    assert 0.4 < (days < 1200).mean() < 0.75
    old = set(was_sex.texts)
    slips = sum(text not in old for text in _values(sex)) / len(sex.codes)
    assert 0.15 < slips < 0.55


def test_noise_takes_shares_of_known_columns_only() -> None:
    rng = np.random.default_rng(0)
    known = hold(REGISTER, SCHEMA)
    same = with_noise(known, 0.0, 0.0, rng)
    assert [_values(c) for c in same.quasi_identifiers] == [
        _values(c) for c in known.quasi_identifiers
    ]
    for wrong in (1.5, -0.1, "a", True, float("nan")):
        with pytest.raises(InputError, match="parameter errors must be a share"):
            with_noise(known, wrong, 0.0, rng)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="parameter missing names column 'zip'"):
        with_noise(known, 0.0, {"zip": 0.1}, rng)
