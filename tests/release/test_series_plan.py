"""The plan of a series: what settings would have shown of past files, counted once more here."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from release.test_lasting_classes import SCHEMA, cells_by_pseudonym, registry

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.release.series_plan import plan_series


def made(files: list[Any], k: int, every: int) -> list[sf.Release]:
    """The same releases, one after the other."""
    options: dict[str, Any] = {"series": "snapshot", "seed": 3, "effort": 0, "admit_every": every}
    releases = [sf.anonymize(files[0], SCHEMA, sf.PidKAnonymity(k), **options)]
    for each in files[1:]:
        releases.append(sf.anonymize(each, SCHEMA, continues=releases[-1], seed=3))
    return releases


def test_what_classes_cost_that_retire_is_in_the_plan() -> None:
    files = registry(23, people=160, files=3)
    keep, retire = (
        plan_series(files, SCHEMA, [sf.PidKAnonymity(6)], [], [1], leavers=leavers, effort=0)[0]
        for leavers in ("keep", "retire")
    )
    assert keep.shown == 1
    assert retire.shown < 0.9
    assert retire.found["acquaintance"] < keep.found["acquaintance"]


def test_fewer_people_in_classes_of_newcomers_are_tried_beside_as_many() -> None:
    files = registry(22, people=160, files=4)
    promises = [sf.PidKAnonymity(8)]
    found = plan_series(files, SCHEMA, promises, [], [1], [3, 8, 9], seed=3, effort=0)
    by_setting = {each.newcomers_k: each for each in found}
    assert by_setting.keys() == {None, 3}  # as many, or more, are no other setting
    assert by_setting[3].fewest is not None
    assert 3 <= by_setting[3].fewest < 8 <= (by_setting[None].fewest or 0)
    assert by_setting[3].found["stranger"] > by_setting[None].found["stranger"]
    assert by_setting[3].lost[0] == by_setting[None].lost[0]
    assert by_setting[3].lost[1] < by_setting[None].lost[1]


def test_the_plan_counts_what_a_reader_of_the_releases_counts() -> None:
    files = registry(21, people=100, files=4)
    found = plan_series(
        files, SCHEMA, [sf.PidKAnonymity(4)], [8], [1, 3], seed=3, effort=0, suppress=0.0
    )
    by_setting = {(each.k, each.admit_every): each for each in found}
    assert by_setting.keys() == {(k, every) for k in (4, 8) for every in (1, 3)}
    for (k, every), each in by_setting.items():
        shown = [cells_by_pseudonym(release) for release in made(files, k, every)]
        came = {name: number for number in (3, 2, 1, 0) for name in shown[number]}
        sizes = [Counter((cells, came[n]) for n, cells in month.items()) for month in shown]
        shares = [len(size) / len(month) for size, month in zip(sizes, shown, strict=True)]
        assert each.found["stranger"] == pytest.approx(max(shares))
        assert each.found["acquaintance"] >= each.found["stranger"]
        assert each.fewest == min(min(size.values()) for size in sizes) >= k
        assert (each.soon == 1) == (every == 1)
        there = set(files[-1]["id"])
        last = made(files, k, every)[-1].lasting.class_of.keys()
        assert each.shown == pytest.approx(len(there & last) / len(there))
        assert (each.files, each.refused) == (4, ())
        assert each.lost[1] > 0
    assert by_setting[4, 3].soon is not None
    assert by_setting[4, 3].soon < by_setting[4, 1].soon
    assert by_setting[4, 1].found["stranger"] > by_setting[8, 1].found["stranger"]
    worst = [each.found["acquaintance"] for each in found]
    assert all(before >= after for before, after in pairwise(worst))


def test_a_setting_under_which_a_file_is_refused_says_so() -> None:
    first, second, third = registry(7, people=120, files=3)
    files = [first, second, third.assign(status="a")]
    promises = [sf.PidKAnonymity(4), sf.LDiversity(2)]
    found = plan_series(files, SCHEMA, promises, [], [1, 2], effort=0, suppress=0.9)
    assert [each.files for each in found] == [2, 2]
    assert all(each.refused for each in found)
    again = plan_series(files, SCHEMA, [sf.PidKAnonymity(4)], [], [2], effort=0)
    assert [(each.files, each.refused) for each in again] == [(3, ())]


@pytest.mark.parametrize(
    ("files", "promises"),
    [(1, [sf.PidKAnonymity(4)]), (2, [sf.LDiversity(2)])],
)
def test_what_no_plan_can_be_made_of_is_refused(files: int, promises: list[Any]) -> None:
    with pytest.raises(InputError):
        plan_series(registry(1, people=60, files=files), SCHEMA, promises)
