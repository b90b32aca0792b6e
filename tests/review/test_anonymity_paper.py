"""The anonymity sets printed in Tables 3 to 5 of the paper (001, Section 4.3)."""

from itertools import combinations

import pytest
from oracles.anonymity_sets import Naive

from sfumato.review.anonymity_database import Database
from sfumato.review.anonymity_index import Index
from sfumato.review.disclosure_account import Review
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    Costs,
    DateOrder,
    Mode,
    Policy,
    Seen,
    Settings,
)
from sfumato.review.worker_state import Opening, Refusal, WorkerState

ATTRIBUTES = (
    Attribute(name="Name", kind=AttributeKind.VARIABLE),
    Attribute(name="DOB", kind=AttributeKind.DATE, date_order=DateOrder.DAY_MONTH_YEAR),
    Attribute(name="Race", kind=AttributeKind.CATEGORY),
)
COLUMNS = (
    ["Mary", "Mark", "Mary", "Mary"],
    ["08/09/1964", "08/09/1964", "09/08/1964", "09/08/1964"],
    ["Hispanic", "Hispanic", "Black", "Black"],
)
PARTIAL = [(3, 1), (1, 2), (1, 2), (1, 2), (1, 2), (3, 3)]
FULL = [(1, 1), (1, 2), (1, 2), (1, 2), (1, 2), (2, 2)]
PLACES = (frozenset({3}), frozenset({1, 3}), frozenset())
"""Where names and dates that differ do; the category has no partial disclosure."""
EVERY = (frozenset(range(4)), frozenset(range(8)), frozenset({0}))


def knowledge(left, right, *, full):
    """What each row of a pair shows: identity marks, and the characters that differ or all."""
    same = [column[left] == column[right] for column in COLUMNS]
    return tuple(
        Seen(twice=same[place], positions=EVERY[place] if full else shown)
        for place, shown in enumerate(
            frozenset() if same[place] else PLACES[place] for place in range(3)
        )
    )


@pytest.mark.parametrize(("full", "printed"), [(False, PARTIAL), (True, FULL)])
def test_sizes_are_those_of_the_tables(full, printed):
    index, naive = Index.build(Database.of(ATTRIBUTES, COLUMNS)), Naive.of(ATTRIBUTES, COLUMNS)
    for pair, expected in zip(combinations(range(4), 2), printed, strict=True):
        shows = knowledge(*pair, full=full)
        for of in (index, naive):
            sizes = tuple(len(of.members(record, shows, Policy.PAPER)) for record in pair)
            assert sizes == expected
        masked = tuple(Seen(twice=each.twice) for each in shows)
        members = index.members(pair[0], masked, Policy.PAPER)
        opened = dict(enumerate(shows))
        assert index.size_after(members, pair[0], opened, Policy.PAPER) == expected[0]


def test_a_value_shown_in_full_is_equal_or_not():
    """Ann, shown in full, is neither Anna nor Annette: the floor k counts Ann alone."""
    names = Attribute(name="Name", kind=AttributeKind.VARIABLE)
    columns = (["Ann", "Anna", "Annette", "Ann"],)
    index, naive = Index.build(Database.of((names,), columns)), Naive.of((names,), columns)
    for of in (index, naive):
        whole = (Seen(positions=frozenset(range(3))),)
        assert list(of.members(0, whole, Policy.PAPER)) == [0, 3]
        part = (Seen(positions=frozenset({0, 1})),)
        assert len(of.members(0, part, Policy.PAPER)) == 4


@pytest.mark.parametrize("costs", Costs)
@pytest.mark.parametrize("mode", [Mode.PARTIAL, Mode.FULL])
def test_the_floor_holds_for_names_that_begin_others(costs, mode):
    """Partial disclosure of ``ab`` beside ``ba`` shows all of it; ``abc`` is no companion."""
    names = Attribute(name="Name", kind=AttributeKind.VARIABLE)
    columns = (["ab", "ba", "abc", "bad"],)
    settings = Settings(budget=None, policy=Policy.PAPER, k=2, costs=costs)
    index = Index.build(Database.of((names,), columns))
    worker = WorkerState(Review((names,), settings, index, [0], [1]), range(1))
    worker.show(0)
    assert isinstance(worker.open(0, Opening((0,), mode)), Refusal)
