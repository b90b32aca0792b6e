"""Honest releases exceed what they predict no more often than is allowed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from intruder.generated import drawn
from scipy.stats import binom

from sfumato.core.errors import ConstraintsNotMetError
from sfumato.intruder.attack import attack
from sfumato.intruder.attacks import exact_matching

pytestmark = pytest.mark.slow

RELEASES = 200
BEYOND = 0.025
"""Share of honest attacks that may lie above what is allowed, and of runs that may be caught."""
NAMES = ("exact", "multi_record", "inference", "row_order", "identifiers")


@dataclass
class Tally:
    """How often each attack ran, how often it was above what is allowed, and the runs.

    Attributes
    ----------
    ran, above
        By attack.
    runs, caught
        Number of runs, and of those in which a prediction counts as broken.
    """

    ran: Counter[str] = field(default_factory=Counter)
    above: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    caught: int = 0


@pytest.fixture(scope="module")
def tally() -> Tally:
    """The attacks on 200 random releases.

    File, schema, promises, recoding, form, suppression and missing values are drawn at random;
    the repetitions that only make the interval of one-to-one matching are left out.
    """
    tally = Tally()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_matching, "ROUNDS", 1)
        for number in range(RELEASES):
            case = drawn(np.random.default_rng([9, number]))
            try:
                release = case.release(seed=number)
            except ConstraintsNotMetError:
                continue
            several = case.schema.person is not None
            names = (*NAMES, "counts") if several else NAMES
            found = attack(release, counts=several, attacks=names, seed=number)
            tally.ran.update(outcome.attack for outcome in found.outcomes)
            tally.above.update(outcome.attack for outcome in found.outcomes if outcome.above)
            tally.runs += 1
            tally.caught += bool(found.broken)
    return tally


def test_most_could_be_made(tally: Tally) -> None:
    assert tally.ran["exact_free"] > 0.95 * RELEASES
    assert tally.ran["exact_counts"] > 0.4 * RELEASES


def test_no_attack_is_above_what_is_allowed_more_often_than_by_chance(tally: Tally) -> None:
    """Each attack's number of excesses is within the 99.9 % end of what 2.5 % gives."""
    for name, number in tally.ran.items():
        assert tally.above[name] <= binom.ppf(0.999, number, BEYOND), name
    assert sum(tally.above.values()) <= BEYOND * sum(tally.ran.values())


def test_no_more_runs_are_caught_than_single_attacks_would_be(tally: Tally) -> None:
    """2.5 % is of a run, however many attacks it has."""
    assert sum(tally.above.values()) > 0
    assert tally.caught <= BEYOND * tally.runs
