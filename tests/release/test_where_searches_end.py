"""Where a search for a release begins and ends: each rule is shown on both of its sides."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sfumato.release import database_release, histories, lost_columns, regrouping


def test_what_drawn_sets_say_is_taken_three_standard_errors_higher():
    """Of four persons the mean has half of one's error; 1 is the most."""
    each, many = np.full(4, 0.5), np.zeros(4, dtype=bool)
    mean, p95 = histories.worse(each, many, 0.01)
    assert [mean - 0.5, p95 - 0.5] == pytest.approx([0.15, 0.3])
    assert histories.worse(each, many, 1.0)[1] == 1


@pytest.mark.parametrize(("levels", "rungs"), [((4, 4), 16), ((4, 5), 4), ((2,) * 28, 2)])
def test_sixteen_ways_to_write_an_event_are_tried_or_the_ends(levels, rungs):
    columns = [SimpleNamespace(losses=(0.0,) * each) for each in levels]
    assert len(histories._rungs(columns)) == rungs


@pytest.mark.parametrize(("gained", "settled"), [(0.0019, True), (0.0021, False)])
def test_a_pass_that_gains_less_than_a_five_hundredth_is_the_last(gained, settled):
    part = SimpleNamespace(losses=[1.0, 0.5, 0.5 - gained])
    [of] = {c for c in vars(regrouping).values() if hasattr(c, "settled")}
    assert of.settled(part) is settled


@pytest.mark.parametrize(("persons", "taken"), [(20_000, None), (20_001, 10_001)])
def test_remedies_are_tried_on_twenty_thousand_persons(persons, taken):
    table = SimpleNamespace(persons=persons, person=np.arange(persons), take=len)
    found = lost_columns._some(table)
    assert (found is table) if taken is None else (found == taken)


def test_shares_of_a_manifest_have_six_decimals():
    [of] = {c for c in vars(database_release).values() if hasattr(c, "_shown")}
    release = SimpleNamespace(shares={"a": (1 / 3,) * len(database_release.WAYS)})
    assert {*of._shown.fget(release)["a"].values()} == {0.333333}
