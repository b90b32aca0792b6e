"""Where what is told to the public begins: each limit is shown on both of its sides."""

from __future__ import annotations

import pytest

from sfumato.reports import audience


@pytest.mark.parametrize(
    ("persons", "told"), [(9, {"fewer_than": 10}), (10, 10), (0, {"fewer_than": 10})]
)
def test_counts_below_ten_are_not_told(persons, told):
    assert audience._coarse_count(persons) == told


@pytest.mark.parametrize(
    ("of", "told"), [(1_000, {"about": 0.33}), (50, {"about": 0.4}), (20, None)]
)
def test_ten_of_those_whom_a_share_is_of_lie_within_one_step(of, told):
    assert audience._coarse_share(0.333, of) == told


@pytest.mark.parametrize(("pid_k", "fewest"), [(9, 1), (10, 10)])
def test_classes_of_ten_persons_may_be_told(pid_k, fewest):
    found = audience.fewest_persons({"pid_k": pid_k})
    assert (found >= 10) is (pid_k >= 10)
    assert fewest <= max(found, 1)
