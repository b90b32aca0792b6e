"""Households that have the same members as k - 1 others, by the released cells alone."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_households import SCHEMA, households

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.risk.reidentification import sharing_composition

SHOWN = ("age", "sex", "region")


def sharing(table: pa.Table) -> list[int]:
    """How many households of a file have the same members as each: sets, and nothing of ours."""
    cells: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for row in table.to_pylist():
        member = tuple(str(row[name]) for name in SHOWN)
        assert cells[row["home"]].setdefault(row["id"], member) == member
    composed = [tuple(sorted(members.values())) for members in cells.values()]
    often = Counter(composed)
    return [often[each] for each in composed]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "others", "options"),
    [
        (3, (), {}),
        (5, (), {"ends": "snapped"}),
        (4, (), {"cut": "median"}),
        (3, (sf.GBalance(0.7), sf.HAffiliation(0.7)), {}),
        (3, (sf.LDiversity(2, attribute="disease"),), {"values": "bounds"}),
        (3, (sf.MarketerRisk(0.1), sf.SharedCounts(2)), {"coarsen_counts": "drop"}),
    ],
)
def test_every_household_has_the_same_members_as_k_others(k, others, options):
    table = households(200, 1, visits=3, housed=0.5)
    release = sf.anonymize(
        table, SCHEMA, sf.HouseholdK(k), *others, suppress=0.2, seed=1, **options
    )
    shown = release.table
    if options.get("values") == "bounds":
        both = [
            f"{low} {high}"
            for low, high in zip(
                *(shown[f"age_{end}"].to_pylist() for end in ("low", "high")), strict=True
            )
        ]
        shown = shown.append_column("age", pa.array(both))
    found = sharing(shown)
    assert min(found) >= k
    assert release.risk.household.household_k == min(found)
    assert release.risk.household.avg_composition_risk.value == pytest.approx(
        np.mean([1 / each for each in found])
    )
    assert release.risk.pid_k >= k
    for other in others:
        assert other.keeps(other.reached(release.risk, "disease")[0])


def test_who_lives_together_is_shown_by_fresh_names_and_only_then():
    table = households(50, 2)
    release = sf.anonymize(table, SCHEMA, sf.HouseholdK(3), suppress=0.2, seed=1)
    true = dict(zip(table["id"].to_pylist(), table["home"].to_pylist(), strict=True))
    source = [table["id"][int(row)].as_py() for row in release.source_rows]
    shown = release.table["home"].to_pylist()
    assert not set(shown) & set(true.values())
    pairs = {(true[person], home) for person, home in zip(source, shown, strict=True)}
    assert len(pairs) == len(set(shown)) == len({true[person] for person in source})
    assert "home" not in sf.anonymize(table, SCHEMA, sf.PidKAnonymity(3), seed=1).columns


@settings(deadline=None, max_examples=30)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=25
    )
)
def test_compositions_are_counted_as_multisets(rows):
    household, person, class_of = (
        np.array(each, dtype=np.int32) for each in zip(*rows, strict=True)
    )
    person = household * 4 + person
    members = defaultdict(set)
    for home, who, of in zip(household.tolist(), person.tolist(), class_of.tolist(), strict=True):
        members[home].add((who, of))
    composed = {home: tuple(sorted(of for _, of in own)) for home, own in members.items()}
    often = Counter(composed.values())
    expected = [often[composed[home]] for home in sorted(composed)]
    assert sharing_composition(class_of, person, household).tolist() == expected


@pytest.mark.slow
def test_loses_less_than_households_that_are_released_as_one_class():
    release = sf.anonymize(households(800, 3), SCHEMA, sf.HouseholdK(3), suppress=0.2, seed=1)
    assert release.utility.ncp < 0.4
    assert sum(column.lost for column in release.utility.columns) == 0


def test_the_order_of_the_records_and_the_names_change_nothing_but_ties():
    table = households(200, 4)
    mixed = table.take(np.random.default_rng(0).permutation(table.num_rows))
    one, other = (
        sf.anonymize(each, SCHEMA, sf.HouseholdK(3), suppress=0.2, effort=0, seed=1)
        for each in (table, mixed)
    )
    assert one.utility.ncp == pytest.approx(other.utility.ncp, rel=0.02)
    again = sf.anonymize(
        table, SCHEMA, sf.HouseholdK(3), suppress=0.2, effort=0, seed=1, secret=one.secret
    )
    assert again.table.equals(one.table)


def test_rare_sizes_are_left_out_only_as_far_as_is_allowed():
    table = households(200, 5)
    large = pa.table(
        {
            "id": [f"q{place}" for place in range(9)],
            "home": ["palace"] * 9,
            "age": list(range(20, 29)),
            "sex": ["f"] * 9,
            "region": ["r0"] * 9,
            "disease": ["flu"] * 9,
        }
    )
    both = pa.concat_tables([table, large])
    with pytest.raises(ConstraintsNotMetError, match="suppress 9 people"):
        sf.anonymize(both, SCHEMA, sf.HouseholdK(3), effort=0, seed=1)
    release = sf.anonymize(both, SCHEMA, sf.HouseholdK(3), suppress=0.05, effort=0, seed=1)
    assert release.table.num_rows == table.num_rows


def test_refuses_what_it_does_not_go_with():
    table, alone = households(100, 6), SCHEMA.model_copy(update={"household": None})
    with pytest.raises(InputError, match="needs the column that says who lives together"):
        sf.anonymize(table.drop(["home"]), alone, sf.HouseholdK(2))
    for options in (
        {"recoding": "full-domain"},
        {"population": 10_000},
        {"coarsen_counts": "split"},
    ):
        beside = [sf.SharedCounts(2)] if "coarsen_counts" in options else []
        with pytest.raises(InputError, match="must be left out"):
            sf.anonymize(table, SCHEMA, sf.HouseholdK(2), *beside, **options)
    twice = pa.concat_tables([table, table.slice(0, 1).set_column(1, "home", pa.array(["hx"]))])
    with pytest.raises(InputError, match=f"another household in row {twice.num_rows}"):
        sf.anonymize(twice, SCHEMA, sf.HouseholdK(2))
