"""Pseudonyms of earlier versions and hashes without a salt are undone, new ones are not."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.intruder.guesses import pseudonym_attack
from sfumato.intruder.guesses.pseudonym_attack import by_hash, by_seed

SCHEMA = sf.Schema(person="id", quasi_identifiers=["age"], sensitive=["ill"])
LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


def of_old(persons: int, records: int, seed: int, *, in_bytes: bool = False) -> tuple[Any, Any]:
    """The pseudonym of each person and the order of rows, as versions before secrets drew them."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(records) if records else None
    if in_bytes:
        raw = rng.bytes(10 * persons)
        parts = [raw[10 * place : 10 * place + 10] for place in range(persons)]
        return [base64.b32encode(each).decode().lower() for each in parts], order
    drawn = rng.integers(0, 32, (persons, 16))
    return ["".join(LETTERS[sign] for sign in row) for row in drawn.tolist()], order


def file(persons: int, names: list[str], order: Any) -> tuple[pa.Table, pa.Table]:
    """An original of two records of each person, and a release of it with these pseudonyms."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(persons), 2)
    original = pa.table(
        {
            "id": rng.permutation(9_000)[:persons][person],
            "age": rng.integers(20, 80, persons)[person],
            "ill": rng.choice(["a", "b", "c"], 2 * persons),
        }
    )
    age = pa.array(
        [f"{age // 20 * 20}-{age // 20 * 20 + 19}" for age in original["age"].to_pylist()]
    )
    shown = original.set_column(1, "age", age)
    shown = shown.set_column(0, "id", pa.array([names[each] for each in person.tolist()]))
    return original, shown.take(pa.array(order))


def attacked(shown: Any, **options: Any) -> Any:
    found = sf.attack(shown, attacks=["method"], seed=1, **options)
    return next(each for each in found.outcomes if each.attack == "method")


def ids_of(original: pa.Table, order: Any) -> list[str]:
    return [str(each) for each in original["id"].take(pa.array(order)).to_pylist()]


def test_a_release_of_earlier_versions_is_undone_from_its_file_alone() -> None:
    names, order = of_old(60, 120, 2020)
    original, shown = file(60, names, order)
    alone = attacked(shown, schema=SCHEMA)
    assert alone.right == alone.attempts == 60
    told = attacked(shown, schema=SCHEMA, original=original, truth=ids_of(original, order))
    assert told.right == told.attempts == 60


@pytest.mark.parametrize("in_bytes", [False, True])
@pytest.mark.parametrize(
    ("persons", "records", "seed"),
    [(5, 5, 99), (3, 5, 0), (20, 1_000, 5_003), (400, 2_000, 20_001), (80, 0, 7)],
)
def test_seeds_are_found_whatever_was_drawn_before(
    persons: int, records: int, seed: int, in_bytes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, _ = of_old(persons, records, seed, in_bytes=in_bytes)
    mixed = sorted(names)
    found, _ = by_seed(mixed, records or 2 * persons)
    assert found is not None
    assert [mixed[code] for code in found.code] == [names[rank] for rank in found.rank]
    assert len(found.code) == persons
    monkeypatch.setattr(pseudonym_attack, "SEEDS", seed - 1 if seed else 0)
    if seed:
        assert by_seed(mixed, records or 2 * persons)[0] is None


def test_the_seeds_are_numpys() -> None:
    seeds = np.array([0, 1, 2020, 999_999], dtype=np.uint32)
    state, increment = pseudonym_attack._seeded(seeds)
    ahead = pseudonym_attack._ahead(state, increment, 1_001)
    for place, seed in enumerate(seeds.tolist()):
        generator = np.random.PCG64(seed)
        generator.advance(1_001)
        own = generator.state["state"]
        assert (int(ahead[0][place]) << 64) | int(ahead[1][place]) == own["state"]
        assert (int(increment[0][place]) << 64) | int(increment[1][place]) == own["inc"]
    assert pseudonym_attack.SEEDS == pseudonym_attack.NUMBERS == 1_000_000


def test_nothing_is_found_in_a_release_with_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pseudonym_attack, "SEEDS", 100_000)
    original, _ = file(60, ["-"] * 60, np.arange(120))
    release = sf.anonymize(original, SCHEMA, sf.KAnonymity(3), seed=7)
    found = attacked(release)
    assert found.right == found.attempts == 0


@pytest.mark.parametrize(
    ("name", "length", "upper"), [("md5", 32, False), ("sha1", 12, True), ("sha256", 64, False)]
)
def test_hashes_without_a_salt_are_undone(
    name: str, length: int, upper: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pseudonym_attack, "NUMBERS", 9_000)
    original, _ = file(40, ["-"] * 40, np.arange(80))
    ids = original["id"].to_pylist()[::2]
    made = [hashlib.new(name, str(each).encode()).hexdigest()[:length] for each in ids]
    names = [each.upper() for each in made] if upper else made
    _, shown = file(40, names, np.arange(80))
    truth = ids_of(original, np.arange(80))
    told = attacked(shown, schema=SCHEMA, original=original, truth=truth)
    assert told.right == told.attempts == 40
    alone = attacked(shown, schema=SCHEMA)
    assert alone.right == alone.attempts == 40


def test_ids_are_tried_in_the_form_of_those_that_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pseudonym_attack, "NUMBERS", 10_000)

    def hashed(ids: list[str]) -> list[str]:
        return [hashlib.sha256(each.encode()).hexdigest()[:16] for each in ids]

    ids = [f"P{number:06d}" for number in range(9_000, 9_050)]
    found = by_hash(hashed(ids), ["P000001", "P000002"])
    assert found is not None
    assert sorted(found.ids) == ids
    assert by_hash(hashed([str(number) for number in range(300)]), []) is not None
    salted = [hashlib.sha256(f"pepper{each}".encode()).hexdigest() for each in ids]
    assert by_hash(salted, ids) is None
