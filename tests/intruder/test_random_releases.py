"""Honest releases exceed what they predict no more often than the interval allows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from intruder.generated import drawn
from scipy.stats import binom

from sfumato.core.errors import ConstraintsNotMetError
from sfumato.intruder.attack import attack
from sfumato.intruder.staging import matching

RELEASES = 200
BEYOND = 0.025
"""Share of honest attacks that may lie above the interval of what is allowed."""
NAMES = ("exact", "multi_record", "inference", "row_order", "identifiers")


@pytest.fixture(scope="module")
def counts() -> tuple[Counter[str], Counter[str]]:
    """How often each attack ran on 200 random releases, and how often it exceeded its prediction.

    File, schema, promises, recoding, form, suppression and missing values are drawn at random;
    the repetitions that only make the interval of one-to-one matching are left out.
    """
    ran: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "ROUNDS", 1)
        for number in range(RELEASES):
            case = drawn(np.random.default_rng([9, number]))
            try:
                release = case.release(seed=number)
            except ConstraintsNotMetError:
                continue
            several = case.schema.person is not None
            names = (*NAMES, "counts") if several else NAMES
            found = attack(release, counts=several, attacks=names, seed=number)
            ran.update(outcome.attack for outcome in found.outcomes)
            broken.update(outcome.attack for outcome in found.broken)
    return ran, broken


def test_most_could_be_made(counts: tuple[Counter[str], Counter[str]]) -> None:
    ran, _ = counts
    assert ran["exact_free"] > 0.95 * RELEASES
    assert ran["exact_counts"] > 0.4 * RELEASES


def test_no_attack_exceeds_its_prediction_more_often_than_by_chance(
    counts: tuple[Counter[str], Counter[str]],
) -> None:
    """Each attack's number of excesses is within the 99.9 % end of what 2.5 % gives."""
    ran, broken = counts
    for name, number in ran.items():
        assert broken[name] <= binom.ppf(0.999, number, BEYOND), name
    assert sum(broken.values()) <= BEYOND * sum(ran.values())
