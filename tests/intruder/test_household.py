"""A neighbour finds households by their members where these tell them, and by chance elsewhere."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first
from made_households import SCHEMA, households
from scipy.stats import binom

import sfumato as sf
from sfumato.intruder.candidates import find_candidates
from sfumato.intruder.guesses.household_attack import by_members, known_households
from sfumato.intruder.knowledge import hold
from sfumato.intruder.reading import read_release

ONLY = ("household",)


def with_homes(table: pa.Table, release: sf.Release) -> pa.Table:
    """A release as somebody makes it who adds who lives together, under other names."""
    homes = [f"x{table['home'][int(row)].as_py()}" for row in release.source_rows]
    return release.table.append_column("home", pa.array(homes))


def owners(table: pa.Table, release: sf.Release) -> list[str]:
    return [table["id"][int(row)].as_py() for row in release.source_rows]


def test_finds_the_households_of_persons_who_are_k_anonymous():
    table = households(500, 1)
    release = sf.anonymize(table, SCHEMA, sf.PidKAnonymity(10), seed=1)
    found = sf.attack(
        with_homes(table, release), schema=SCHEMA, original=table, truth=owners(table, release),
        attacks=ONLY, seed=1,
    )  # fmt: skip
    mean, surest = found.outcomes
    assert mean.success.value > 0.4
    assert surest.success.value == 1
    assert not found.broken  # the measure foretells it
    assert {each.intruder for each in found.evidence} == {"acquaintance"}


@pytest.mark.parametrize("k", fast_first(1, [3, 6]))
def test_after_the_promise_no_more_is_found_than_by_chance(k):
    right = attempts = 0
    for seed in range(2):
        table = households(300, 10 + seed, visits=2)
        release = sf.anonymize(table, SCHEMA, sf.HouseholdK(k), suppress=0.3, effort=0, seed=seed)
        found = sf.attack(release, original=table, attacks=ONLY, seed=seed)
        mean = found.outcomes[0]
        right, attempts = right + mean.right, attempts + mean.attempts
        assert mean.predicted.value <= 1 / k
    assert binom.sf(right - 1, attempts, 1 / k) > 1e-4
    assert right > 0.3 * attempts / k


def test_fits_are_those_of_trying_all_ways_to_pair_members():
    table = households(60, 2)
    release = sf.anonymize(table, SCHEMA, sf.PidKAnonymity(6), seed=1)
    known = hold(table, SCHEMA)
    file = read_release(with_homes(table, release), SCHEMA, known=known)
    candidates = find_candidates(file, known)
    homes = known_households(known, "home")
    column = next(each for each in file.others if each.name == "home")
    targets = np.unique(homes)
    found = by_members(file, candidates, homes, column, targets, np.random.default_rng(1))
    fits, shown = candidates.fits.toarray(), np.unique(found.shown)
    for place, target in enumerate(targets.tolist()):
        groups = candidates.group[homes == target]
        able = []
        for home in shown.tolist():
            classes = file.class_of[found.shown == home]
            able.append(
                len(classes) == len(groups)
                and any(
                    all(fits[of, group] for of, group in zip(classes, order, strict=True))
                    for order in permutations(groups)
                )
            )
        row = found.can_be[[place]].toarray()[0].astype(bool)
        assert row[found.composition].tolist() == able
        assert found.guesses.chance[place] == pytest.approx(1 / sum(able))


def test_a_household_with_members_left_out_is_still_looked_for():
    table = households(300, 3)
    release = sf.anonymize(table, SCHEMA, sf.PidKAnonymity(2), seed=1)
    shown, own = with_homes(table, release), owners(table, release)
    sizes = dict(zip(*np.unique(table["home"].to_pylist(), return_counts=True), strict=True))
    large = [place for place, home in enumerate(shown["home"].to_pylist()) if sizes[home[1:]] == 5]
    kept = np.setdiff1d(np.arange(shown.num_rows), large[:1])
    found = sf.attack(
        shown.take(kept), schema=SCHEMA, original=table, truth=[own[row] for row in kept],
        attacks=ONLY, seed=1,
    )  # fmt: skip
    assert found.outcomes[0].attempts == len(sizes)


@pytest.mark.slow
def test_needs_a_release_that_shows_who_lives_together():
    table = households(40, 4)
    release = sf.anonymize(table, SCHEMA, sf.PidKAnonymity(3), seed=1)
    assert not [
        each
        for each in sf.attack(release, original=table, seed=1).outcomes
        if "household" in each.attack
    ]
    with pytest.raises(sf.InputError, match="the schema's household column"):
        sf.attack(release, original=table, attacks=ONLY)
