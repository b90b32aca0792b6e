"""Columns of which a release shows next to nothing are named, with what saves them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.release.release_options import Form


def file(records=600):
    rng = np.random.default_rng(6)
    return pa.table(
        {
            "age": rng.integers(20, 80, records),
            "code": rng.choice([f"c{number}" for number in range(300)], records),
            "sex": rng.choice(["f", "m"], records),
        }
    )


SCHEMA = sf.Schema(
    quasi_identifiers={"age": "numeric", "code": "categorical", "sex": "categorical"}
)


@pytest.fixture(scope="module")
def release():
    return sf.anonymize(file(), SCHEMA, sf.KAnonymity(10), ends="tight", seed=1)


def test_a_column_that_is_star_nearly_everywhere_is_named(release):
    shown = release.table.column("code").to_pylist()
    (lost,) = release.lost
    assert lost.column == "code"
    assert lost.hidden == pytest.approx(shown.count("*") / len(shown))
    assert str(lost).startswith("Column 'code' is lost: ")


def test_what_is_said_to_save_it_does(release):
    (lost,) = release.lost
    by_words = {each.words: each for each in lost.remedies}
    sets = by_words["sets as released values"]
    made = {"values": Form.SET, "ends": "tight", "effort": 0}
    again = sf.anonymize(file(), SCHEMA, sf.KAnonymity(10), seed=1, **made)
    found = next(each for each in again.utility.columns if each.column == "code")
    assert sets.hidden == pytest.approx(found.hidden)
    assert sets.ncp == pytest.approx(again.utility.ncp)
    assert not any("c1" in words for words in by_words)


def test_the_remedies_come_best_first_and_all_help(release):
    (lost,) = release.lost
    hidden = [each.hidden for each in lost.remedies]
    assert hidden == sorted(hidden)
    assert max(hidden) < lost.hidden


def test_nothing_is_named_where_nothing_is_lost():
    table = file().drop_columns(["code"])
    schema = sf.Schema(quasi_identifiers={"age": "numeric", "sex": "categorical"})
    assert sf.anonymize(table, schema, sf.KAnonymity(3), seed=1).lost == ()
    assert sf.anonymize(table, schema, sf.KAnonymity(3), seed=1).to_json()["lost"] == []


def test_without_trials_the_columns_are_named_alone(release):
    named = sf.anonymize(file(), SCHEMA, sf.KAnonymity(10), population=9_000, seed=1)
    assert all(each.remedies is None for each in named.lost)
