"""``known_counts``: who knows about how many records a person has finds nobody more easily."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError

LEAST = (1, 2, 3, 5, 10, 20, 50, 100, 200)
"""The bands of docs/verdict.md, written once more."""
KNOWN = {"age": "numeric", "sex": "categorical"}


def visits(seed: int, persons: int = 400) -> pd.DataFrame:
    """Visits of people of whom a few have many."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(persons), rng.geometric(0.3, persons))
    return pd.DataFrame(
        {
            "person": of,
            "age": rng.integers(20, 90, persons)[of],
            "sex": rng.choice(["F", "M"], persons)[of],
            "code": rng.choice([f"C{n:02d}" for n in range(30)], len(of)),
        }
    )


def schema(**more: object) -> sf.Schema:
    return sf.Schema(person="person", quasi_identifiers=KNOWN, sensitive=["code"], **more)


def candidates(made: sf.Release) -> list[int]:
    """For each person of a released file, how many look the same and have about as many records."""
    rows = made.table.to_pylist()
    records = Counter(each["person"] for each in rows)
    looks = {
        each["person"]: (each["age"], each["sex"], bisect_right(LEAST, records[each["person"]]))
        for each in rows
    }
    alike = Counter(looks.values())
    return [alike[each] for each in looks.values()]


@pytest.mark.parametrize("seed", range(4))
def test_people_of_a_class_have_about_as_many_records(seed: int) -> None:
    data = visits(seed)
    made = sf.anonymize(
        data, schema(), sf.PidKAnonymity(7), known_counts="bands", suppress=0.05, seed=1
    )
    alike = candidates(made)
    assert min(alike) >= 7
    assert len(alike) >= 0.95 * data["person"].nunique()
    own = made.verdict.row("acquaintance").findings
    assert own is not None
    assert own.found.value == pytest.approx(np.mean([1 / each for each in alike]))
    assert own.person.value == pytest.approx(1 / min(alike))
    plain = sf.anonymize(data, schema(), sf.PidKAnonymity(7), seed=1)
    assert min(candidates(plain)) < 7


def test_known_events_are_counted_among_them() -> None:
    """Who knows a code, too, is in a file that keeps it the insider of the verdict by one code."""
    events = {"events": {"code": sf.Event(kind="code")}}
    made = sf.anonymize(
        visits(3, 900), schema(**events), sf.PidKAnonymity(11), sf.KnownEvents(2, 1 / 11),
        known_counts="bands", suppress=0.05, seed=1,
    )  # fmt: skip
    found = made.verdict.found
    assert found is not None
    assert found.insiders["code"].found.low <= 1 / 11
    assert found.acquaintance.person.value <= 1 / 11 + 1e-9


def test_the_same_release_again() -> None:
    options = {"known_counts": "bands", "suppress": 0.05, "seed": 1}
    made = sf.anonymize(visits(1), schema(), sf.PidKAnonymity(5), **options)
    again = sf.anonymize(visits(1), schema(), sf.PidKAnonymity(5), **options, secret=made.secret)
    assert made.table == again.table


def test_a_band_of_too_few_is_named() -> None:
    with pytest.raises(ConstraintsNotMetError, match=r"persons with \d+ to \d+ records"):
        sf.anonymize(visits(0), schema(), sf.PidKAnonymity(7), known_counts="bands")


@pytest.mark.parametrize(
    "options", [{"cap_records": 3}, {"recoding": "full-domain"}, {"population": 9_000}]
)
def test_what_it_does_not_go_with(options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        sf.anonymize(visits(0), schema(), sf.PidKAnonymity(7), known_counts="bands", **options)
