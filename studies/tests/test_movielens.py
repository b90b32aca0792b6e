"""MovieLens 100K as published: read, joined, refused."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from studies.kartal_li.data_sets import MOVIE, movie_records
from studies.kartal_li.record_disclosure import record_risk_section
from studies.kartal_li.tree_measurement import encode

from sfumato.core.errors import InputError


def test_the_first_lines_as_published(tmp_path: Path) -> None:
    (tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    (tmp_path / "u.user").write_text(
        "186|39|F|executive|00000\n196|49|M|writer|55105\n7|57|M|administrator|91344\n"
    )
    assert movie_records(tmp_path).to_pylist() == [
        {"user": 196, "age": 49, "gender": "M", "zip": 55105, "seen": "242 3 1997-12-04"},
        {"user": 186, "age": 39, "gender": "F", "zip": 0, "seen": "302 3 1998-04-04"},
    ]


def test_days_of_one_month_are_different_sensitive_values(tmp_path: Path) -> None:
    """One movie, one rating; the first two on one day, the third on the next, in UTC."""
    day = 24 * 3600
    midnight = int(datetime(1997, 12, 5, tzinfo=UTC).timestamp())
    stamps = (midnight, midnight + day - 1, midnight + day)
    lines = [f"{user}\t242\t3\t{stamp}" for user, stamp in enumerate(stamps, 1)]
    (tmp_path / "u.data").write_text("\n".join(lines) + "\n")
    people = [f"{user}|30|M|writer|55105" for user in (1, 2, 3)]
    (tmp_path / "u.user").write_text("\n".join(people) + "\n")
    first, second, third = movie_records(tmp_path)["seen"].to_pylist()
    assert first == second != third
    assert encode(movie_records(tmp_path), MOVIE).readings[0].values == 2


def test_zip_codes_are_numbers(tmp_path: Path) -> None:
    """Five digits, with or without four more; other codes are missing, and counted in users."""
    codes = ("00501", "98107-2117", "98107", "V3N4P", "E2A4H", "9810", "981072117", "")
    people = [f"{user}|30|M|writer|{code}" for user, code in enumerate(codes, 1)]
    (tmp_path / "u.user").write_text("\n".join(people) + "\n")
    lines = [f"{user}\t{movie}\t3\t881250949" for user in range(1, 9) for movie in (1, 2)]
    (tmp_path / "u.data").write_text("\n".join(lines) + "\n")
    records = movie_records(tmp_path)
    assert records["zip"].to_pylist()[::2] == [501, 98107, 98107, *[None] * 5]
    encoded = encode(records, MOVIE)
    assert str(encoded.table.quasi_identifiers[2].kind) == "numeric"
    (said, *_) = record_risk_section(encoded, ()).text
    assert "the ZIP code" in said
    assert "5 users miss a value of 'zip'." in said


def test_it_joins_as_a_reader_in_plain_python_does(movielens: Path) -> None:
    users = {}
    for line in (movielens / "u.user").read_text().splitlines():
        user, age, gender, _occupation, code = line.split("|")
        plain = re.fullmatch(r"(\d{5})(-\d{4})?", code)
        users[user] = (int(user), int(age), gender, int(plain[1]) if plain else None)
    expected = []
    for line in (movielens / "u.data").read_text().splitlines():
        user, item, rating, seconds = line.split("\t")
        day = datetime.fromtimestamp(int(seconds), UTC).date()
        expected.append((*users[user], f"{item} {rating} {day}"))
    assert [tuple(record.values()) for record in movie_records(movielens).to_pylist()] == expected
    encoded = encode(movie_records(movielens), MOVIE)
    assert [str(identifier.kind) for identifier in encoded.table.quasi_identifiers] == [
        "numeric",
        "categorical",
        "numeric",
    ]
    assert len(encoded.readings) == 1


def test_ratings_of_unknown_users_are_dropped(movielens: Path) -> None:
    before = movie_records(movielens).num_rows
    with (movielens / "u.data").open("a") as file:
        file.write("9999\t1\t5\t881250949\n")
    assert movie_records(movielens).num_rows == before


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("u.data", "1\t2\tcanary\t881250949", r"column 'rating' of file u\.data .* row 3"),
        ("u.data", "1\t2\t3\tcanary", r"column 'timestamp' of file u\.data .* row 3"),
        ("u.data", "canary\t2\t3\t881250949", r"column 'user' of file u\.data .* row 3"),
        ("u.data", "1\t2\tcanary", r"file u\.data .* another number of cells in row 3"),
        ("u.user", "900|canary|M|writer|canary", r"column 'age' of file u\.user .* row 3"),
        ("u.user", "9|30|M|writer", r"file u\.user .* another number of cells in row 3"),
        ("u.user", "1|30|M|writer|canary", r"column 'user' of file u\.user must name each one"),
    ],
)
def test_what_is_malformed_is_named_without_its_value(
    movielens: Path, name: str, line: str, said: str
) -> None:
    lines = (movielens / name).read_text().splitlines()
    (movielens / name).write_text("\n".join([*lines[:2], line, *lines[2:]]) + "\n")
    with pytest.raises(InputError, match=said) as caught:
        movie_records(movielens)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe\x00canary"])
@pytest.mark.parametrize("name", MOVIE.files)
def test_files_that_are_empty_or_no_text_are_refused(
    movielens: Path, name: str, content: bytes
) -> None:
    (movielens / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"file {name}") as caught:
        movie_records(movielens)
    assert "canary" not in str(caught.value)
