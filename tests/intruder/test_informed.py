"""A reader who does to his own file what was done to the linked records, and the defence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first

import sfumato as sf
from sfumato.hierarchies import Hierarchy
from sfumato.intruder.attack import attack
from sfumato.semantics.linkage_anonymity import LinkageAnonymity, informed_risk, release_linked
from sfumato.semantics.local_data import Local, alike_levels, least_levels, shown_alike


def hospital(seed: int) -> tuple[pd.DataFrame, pd.DataFrame, sf.Schema]:
    """A hospital's persons, those of them who were linked, and what each column is."""
    rng = np.random.default_rng(seed)
    n, linked = 2000, 350
    zips = 10000 + np.minimum(rng.gamma(1.2, 900, n).astype(int), 8999)
    whole = pd.DataFrame(
        {
            "patient": [f"p{each}" for each in range(n)],
            "born": rng.integers(1930, 2005, n),
            "sex": rng.choice(["F", "M"], n),
            "zip": zips.astype(str),
        }
    )
    some = whole.sample(linked, random_state=seed)
    schema = sf.Schema(
        person="patient",
        quasi_identifiers={
            "born": {"hierarchy": {"widths": [5, 10, 20]}},
            "sex": {"hierarchy": {"lengths": []}},
            "zip": {"kind": "categorical", "hierarchy": {"lengths": [4, 3, 2]}},
        },
        sensitive=["drug"],
    )
    return whole, some.assign(drug=rng.choice(list("abcdef"), linked)), schema


@pytest.mark.parametrize("informed", fast_first(1, [False, True]))
def test_he_finds_as_many_as_foretold_and_k_holds_where_it_was_asked_for(informed: bool) -> None:
    whole, linked, schema = hospital(1)
    asked = LinkageAnonymity(local=whole, k=3, informed=informed)
    release = asked.apply(linked, schema, seed=1)
    found = attack(release, register=whole, seed=1, attacks=["informed"])
    (outcome,) = found.outcomes
    risk = informed_risk(release.linked, release.levels)
    assert risk is not None
    if not informed:
        assert "explains 100 % of the classes, with k = 3" in outcome.notes[-1]
        assert outcome.success.low is not None
        assert outcome.success.high is not None
        assert outcome.success.low <= risk.value <= outcome.success.high
    else:
        assert risk.value <= 1 / 3
    assert outcome.intruder == "recipient"


def test_another_method_is_not_taken_for_it() -> None:
    whole, linked, schema = hospital(2)
    release = sf.anonymize(linked, schema, sf.PidKAnonymity(3), seed=1, values="hierarchy")
    found = attack(release, register=whole, seed=1, attacks=["informed"])
    assert all(each.attempts == 0 for each in found.outcomes)


def test_hierarchies_of_files_and_dates_are_climbed_as_they_are_published(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    towns = [f"town {each}" for each in range(24)]
    rows = [f"{town};region {number // 4};*" for number, town in enumerate(towns)]
    (tmp_path / "towns.csv").write_text("\n".join(rows), encoding="utf-8")
    days = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 3000, 600), "D")
    whole = pd.DataFrame(
        {
            "patient": [f"p{each}" for each in range(600)],
            "born": days.strftime("%Y-%m-%d"),
            "town": rng.choice(towns, 600),
        }
    )
    schema = sf.Schema(
        person="patient",
        quasi_identifiers={
            "born": {"kind": "numeric", "hierarchy": {"widths": ["month", "year", "decade"]}},
            "town": {"kind": "categorical", "hierarchy": tmp_path / "towns.csv"},
        },
    )
    linked = whole.sample(150, random_state=1)
    release = LinkageAnonymity(local=whole, k=4).apply(linked, schema, seed=1)
    (outcome,) = attack(release, register=whole, seed=1, attacks=["informed"]).outcomes
    risk = informed_risk(release.linked, release.levels)
    assert risk is not None
    assert "explains 100 % of the classes" in outcome.notes[-1]
    assert outcome.success.low is not None
    assert outcome.success.high is not None
    assert outcome.success.low <= risk.value <= outcome.success.high


@pytest.mark.parametrize("seed", range(25))
def test_k_individuals_are_shown_like_each_tuple(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = Hierarchy.from_columns([list("abcdef"), list("xxyyzz"), ["*"] * 6], "test")
    records = rng.choice(6, (40, 2), p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05]).astype(np.int32)
    person = rng.integers(0, 30, 40)
    k = int(rng.integers(2, 6))
    local = Local.from_codes("A", ["one", "two"], [tree, tree], records, person, k)
    levels = alike_levels(local)
    shown = [
        tuple(
            (int(level), int(tree.ancestors[level, code])) for level, code in zip(*row, strict=True)
        )
        for row in zip(levels, local.codes, strict=True)
    ]
    who = [set(each.tolist()) for each in np.split(local.persons, local.start[1:-1])]
    counts = shown_alike(local, levels)
    for cell, count in zip(shown, counts, strict=True):
        alike = set().union(*(own for own, other in zip(who, shown, strict=True) if other == cell))
        assert count == len(alike) >= k
    least = least_levels(local.codes, [local], [tree, tree])
    kept = shown_alike(local, least) >= k
    assert (levels[kept] == least[kept]).all() or (levels == 2).all(axis=1).any()


def test_one_reader_alone_can_be_informed() -> None:
    whole, linked, schema = hospital(3)
    asked = [LinkageAnonymity(local=whole, k=3, informed=True, name=name) for name in "AB"]
    with pytest.raises(sf.InputError, match="several local data sets"):
        release_linked(linked, schema, asked)
