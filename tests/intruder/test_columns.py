"""Columns beside the quasi-identifiers: leaks are named, honest ones are not, counts are true."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first
from table.test_column_leaks import HONEST, followers, naive_found, people, schema_of
from table.test_foretelling import KINDS, People, file_of

import sfumato as sf
from sfumato.intruder.attack import attack

MADE = (
    "days between visits", "creatinine and eGFR", "base64 of JSON", "parity of a number",
    "check digits", "a name in base64",
)  # fmt: skip


def released(seed: int, *, repeated: bool) -> tuple[sf.Release, set[str]]:
    honest, leaks = people(seed, repeated=repeated)
    data = honest.assign(**leaks)
    schema = schema_of(data, repeated, accepted=dict.fromkeys(leaks, "to be attacked"))
    release = sf.anonymize(data, schema, sf.PidKAnonymity(5), seed=1)
    return release, set(leaks)


def named(found: sf.Attack) -> Iterator[str]:
    for each in found.warnings:
        if each.startswith("Column '"):
            yield each.split("'")[1]


@pytest.mark.slow
@pytest.mark.parametrize("repeated", fast_first(1, [True, False]), ids=["several", "one record"])
def test_leaks_are_named_and_honest_columns_are_not(repeated: bool) -> None:
    release, leaks = released(5, repeated=repeated)
    found = attack(release, seed=1, attacks=["columns"])
    assert set(named(found)) == leaks
    assert not found.broken
    outcomes = {each.attack for each in found.outcomes}
    assert outcomes == {f"column:{each}" for each in leaks | set(HONEST)}


@pytest.mark.parametrize("kind", [*MADE, "nothing"])
def test_what_is_made_of_columns_is_tried_on_a_release_made_elsewhere(kind: str) -> None:
    p = People(6, 150, 5)
    made = KINDS[kind](p) if kind in KINDS else p.digits(0, 10**6)
    if kind == "a name in base64":
        made = [base64.b64encode(f"n{a}".encode()).decode() for a in p.each(p.ids + 1000)]
    data, schema = file_of(p, made if isinstance(made, dict) else {"further": made}, ("age", "sex"))
    data = data.assign(name=p.each([f"n{each}" for each in p.ids + 1000]))
    schema = schema.model_copy(update={"direct_identifiers": ("name",)})
    order = p.rng.permutation(p.m)
    bands = [f"{each}-{each + 19}" for each in data["age"] // 20 * 20]
    shown = data.drop(columns="name").assign(age=bands, sex="*", id=p.each(p.rng.permutation(p.n)))
    found = attack(
        shown.iloc[order], schema=schema, original=data, truth=data["id"].iloc[order].tolist(),
        seed=1, attacks=["columns"],
    )  # fmt: skip
    leaking = set(made) if isinstance(made, dict) else {"further"}
    assert set(named(found)) == (leaking if kind in MADE else set())


def test_columns_that_follow_from_quasi_identifiers_are_named() -> None:
    data, schema, by = followers(4)
    release = sf.anonymize(data, schema, sf.PidKAnonymity(5), effort=0, seed=1)
    assert set(named(attack(release, seed=1, attacks=["columns"]))) == set(by)


@pytest.mark.slow
def test_a_column_that_tells_an_event_of_which_the_release_says_less_is_named() -> None:
    honest, _ = people(9, repeated=True)
    rng = np.random.default_rng(9)
    admitted = np.datetime64("2021-01-01") + rng.integers(0, 1400, len(honest))
    data = honest.assign(admitted=admitted, discharged=admitted + rng.geometric(0.2, len(honest)))
    events = {"admitted": {"kind": "date", "known": "3 days"}}
    schema = schema_of(data, True, events=events, accepted={"discharged": "to be attacked"})
    hiding = sf.KnownEvents(1, 0.2)
    for promises, told in (([], set()), ([hiding], {"discharged"})):
        release = sf.anonymize(data, schema, sf.PidKAnonymity(5), *promises, effort=0, seed=1)
        found = attack(release, seed=1, attacks=["columns"])
        assert set(named(found)) == told
        assert all("foretells 'admitted'" in each for each in found.warnings if "Column" in each)


@pytest.mark.slow
def test_found_as_a_naive_count_says() -> None:
    release, _ = released(3, repeated=True)
    whole, shown = release.data, attack(release, seed=1, attacks=["columns"])
    outcomes = {each.attack: each for each in shown.outcomes}
    for column in ("house", "days", "icd"):
        chance = naive_found(whole, column)
        one = outcomes[f"column:{column}"]
        assert one.success.low is not None
        assert one.success.high is not None
        assert one.success.low <= chance <= one.success.high
        assert one.baseline.value == pytest.approx(naive_found(whole, None))


@pytest.mark.slow
def test_rows_sorted_within_classes_by_what_is_not_released_are_found() -> None:
    honest, _ = people(5, repeated=False)
    schema = schema_of(honest, False)
    data = honest.sort_values("income")
    for keep_order in (True, False):
        release = sf.anonymize(data, schema, sf.KAnonymity(5), keep_order=keep_order, seed=2)
        rng = np.random.default_rng(0)
        mixed = data.iloc[rng.permutation(len(data))]
        place_of = pd.Series(np.arange(1, len(data) + 1), mixed.index)
        truth = place_of[data.index[release.source_rows]].tolist()
        found = attack(
            release.data, schema=schema, original=mixed, truth=truth, seed=1, attacks=["row_order"]
        )
        (outcome,) = found.outcomes
        assert outcome.broken is keep_order
        if keep_order:
            assert outcome.success.value > 0.75
