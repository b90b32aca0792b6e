"""What protects people follows from the secret of a release, and its classes from the seed."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first

import sfumato as sf
from sfumato.core.secret_keys import Secret, Secrets
from sfumato.release.assembly import person_offsets
from sfumato.release.release_manifest import load_manifest
from sfumato.table.door import open_table

SCHEMA = sf.Schema(person="id", quasi_identifiers=["age", "sex"], sensitive=["ill"])


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(5)
    ids = np.repeat(rng.permutation(5_000)[:120], 2)
    return pa.table(
        {
            "id": ids,
            "age": np.repeat(rng.integers(20, 80, 120), 2),
            "sex": np.repeat(rng.choice(["f", "m"], 120), 2),
            "ill": rng.choice(["a", "b", "c", "d"], 240),
        }
    )


def made(table: pa.Table, k: int = 3, **options: Any) -> Any:
    return sf.anonymize(table, SCHEMA, sf.KAnonymity(k), **{"seed": 1, **options})


def classes(release: Any) -> list[tuple[Any, ...]]:
    shown = release.table.select(["age", "sex", "ill"])
    return sorted(zip(*(each.to_pylist() for each in shown.columns), strict=True))


@pytest.mark.usefixtures("fresh_secrets")
def test_a_seed_gives_the_classes_and_nothing_else(table: pa.Table) -> None:
    one, other = made(table), made(table)
    assert classes(one) == classes(other)
    assert one.secret != other.secret
    assert not set(one.table["id"].to_pylist()) & set(other.table["id"].to_pylist())
    assert one.source_rows.tolist() != other.source_rows.tolist()
    again = made(table, secret=one.secret)
    assert again.table.equals(one.table)


@pytest.mark.parametrize(
    "options", fast_first(2, [{"k": 4}, {"seed": 2}, {"values": "set"}, {"cut": "median"}]), ids=str
)
def test_one_secret_links_no_two_releases(table: pa.Table, options: dict[str, Any]) -> None:
    one, other = made(table, secret=b"s" * 32), made(table, **options, secret=b"s" * 32)
    assert not set(one.table["id"].to_pylist()) & set(other.table["id"].to_pylist())
    changed = table.set_column(1, "age", pa.array(table["age"].to_numpy() + 1))
    assert not set(made(changed, secret=b"s" * 32).table["id"].to_pylist()) & set(
        one.table["id"].to_pylist()
    )
    keyed = [made(table, pseudonym_key=b"k" * 16, **each) for each in ({}, options)]
    assert set(keyed[0].table["id"].to_pylist()) == set(keyed[1].table["id"].to_pylist())
    assert keyed[0].source_rows.tolist() != keyed[1].source_rows.tolist()


def test_the_secret_is_in_nothing_that_is_written(table: pa.Table, tmp_path: Any) -> None:
    release = made(table, pseudonym_key=b"the key of several releases")
    release.write(tmp_path / "r.csv")
    assert not (tmp_path / "release.secret").exists()
    for secret in (bytes(release.secret), b"the key of several releases"):
        written = [path.read_bytes() for path in tmp_path.iterdir()]
        said = [json.dumps(release.to_json(), default=str), repr(release), release.codebook()]
        for each in (*written, *map(str.encode, said), pickle.dumps(release)):
            assert secret not in each
        assert secret.decode() not in repr(release.disclosed.again)
    assert pickle.loads(pickle.dumps(release)).secret is None
    release.write(tmp_path / "r.csv", secret=tmp_path / "inside")
    assert (tmp_path / "inside").read_bytes().strip() == release.secret
    repeated = load_manifest(tmp_path / "release.toml")
    assert repeated.identity == release.manifest.identity


def test_offsets_of_dates_come_from_the_secret(table: pa.Table) -> None:
    opened = open_table(table, SCHEMA)
    one, again, other = (
        person_offsets(opened, Secrets(Secret(secret)), 365).tolist()
        for secret in (b"1" * 32, b"1" * 32, b"2" * 32)
    )
    assert one == again != other
    assert -365 <= min(one) < -300
    assert 300 < max(one) <= 365
