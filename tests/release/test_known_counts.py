"""``known_counts``: who knows about how many records a person has finds nobody more easily."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from oracles.holders import holders

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError

LEAST = (1, 2, 3, 5, 10, 20, 50, 100, 200)
"""The bands of docs/reference/verdict.md, written once more."""
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


def found_by_two(made: sf.Release, data: pd.DataFrame) -> list[float]:
    """The chance of each person to be found by two codes and the band of a pseudonym.

    Any two of the person's codes are known, and the intruder looks by what of them one pseudonym
    of the person shows.
    """
    rows = made.table.to_pylist()
    labels = {code: place for place, code in enumerate(sorted({each["code"] for each in rows}))}
    records = Counter(each["person"] for each in rows)
    crowds, own, written = defaultdict(dict), defaultdict(set), defaultdict(dict)
    for each, row in zip(rows, made.source_rows, strict=True):
        true, known = int(data["person"][row]), (each["age"], each["sex"])
        crowd = *known, bisect_right(LEAST, records[each["person"]])
        crowds[crowd].setdefault(each["person"], []).append(labels[each["code"]])
        own[true].add((crowd, each["person"]))
        written[true][data["code"][row]] = labels[each["code"]]
    chances = []
    for true, events in written.items():
        sets = [*combinations(events.values(), min(2, len(events)))]
        chances.append(np.mean([by_part(crowds, own[true], known) for known in sets]))
    return chances


def by_part(crowds: dict, own: set, known: tuple[int, ...]) -> float:
    """The best of what is found in one crowd by a part of what is known."""
    found = [0.0]
    for crowd in {each for each, _ in own}:
        mine = {one for each, one in own if each == crowd}
        owner = {"target": mine, "anybody": {-1, -2}}
        found.append(holders(crowds[crowd], owner, [(each, each) for each in known])[0])
    return max(found)


@pytest.mark.parametrize("way", ["split", pytest.param("drop", marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3))])
def test_known_events_of_people_whose_numbers_of_records_are_made_alike(
    seed: int, way: str
) -> None:
    data, events = visits(seed, 250), {"events": {"code": sf.Event(kind="code")}}
    risk = (0.3, 0.2, 0.15, 0.1)[seed]
    made = sf.anonymize(
        data, schema(**events), sf.SharedCounts(4), sf.KnownEvents(2, risk, p95=0.6),
        coarsen_counts=way, seed=seed, effort=0,
    )  # fmt: skip
    told = made.risk.known_events
    assert told is not None
    assert told.counts
    chances = found_by_two(made, data)
    assert len(chances) == told.persons == data["person"].nunique()
    assert told.of(2).found.value == pytest.approx(np.mean(chances))
    assert np.mean(chances) <= risk * (1 + 1e-9)
    assert (made.table["person"].to_pandas().nunique() > len(chances)) is (way == "split")
    assert made.utility.histories.exact > 0  # type: ignore[union-attr]


def test_the_same_release_again() -> None:
    options = {"known_counts": "bands", "suppress": 0.05, "seed": 1}
    made = sf.anonymize(visits(1), schema(), sf.PidKAnonymity(5), **options)
    again = sf.anonymize(visits(1), schema(), sf.PidKAnonymity(5), **options, secret=made.secret)
    assert made.table == again.table


def test_a_band_of_too_few_is_named() -> None:
    with pytest.raises(ConstraintsNotMetError, match=r"people with \d+ to \d+ records"):
        sf.anonymize(visits(0), schema(), sf.PidKAnonymity(7), known_counts="bands")


@pytest.mark.parametrize(
    "options", [{"cap_records": 3}, {"recoding": "full-domain"}, {"population": 9_000}]
)
def test_what_it_does_not_go_with(options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        sf.anonymize(visits(0), schema(), sf.PidKAnonymity(7), known_counts="bands", **options)


def test_classes_of_a_band_are_not_held_against_the_file() -> None:
    """Bands whose values differ have no class that is near the whole file."""
    with pytest.raises(InputError, match="t_closeness"):
        sf.anonymize(visits(0), schema(), sf.TCloseness(0.3), known_counts="bands")
