"""What workers share: pairs that fit the database, shapes of masks, and what is kept for all."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap
from review.kapr_oracle import TABLE_2, Case, Scratch, cases, clicks, table_2

from sfumato.core.errors import InputError
from sfumato.review import disclosure_account as shared
from sfumato.review.anonymity_database import least_shape
from sfumato.review.anonymity_index import Index
from sfumato.review.disclosure_account import Review
from sfumato.review.review_settings import Costs, Mode, Settings
from sfumato.review.worker_state import Charge, Opening, Reason, Refusal, WorkerState


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ([0], [1, 2], "two rows each"),
        ([0], [4], "records of the database"),
        ([-1], [0], "records of the database"),
        ([0, 2], [1, 2], "two records each"),
    ],
)
def test_pairs_must_fit_the_database(left: list[int], right: list[int], said: str) -> None:
    whole = table_2().review()
    with pytest.raises(InputError, match=said):
        Review(whole.attributes, whole.settings, whole.index, left, right)


def test_attributes_must_be_the_databases() -> None:
    whole = table_2().review()
    with pytest.raises(InputError, match="those of the database"):
        Review(TABLE_2[:2], whole.settings, whole.index, [0], [1])
    with pytest.raises(InputError, match="at least one"):
        Review((), whole.settings, whole.index, [0], [1])


def test_a_pair_must_be_one() -> None:
    with pytest.raises(InputError, match="one of the review's"):
        table_2().review().facts(6)


@given(cases(), st.booleans(), st.data())
def test_the_least_shape_counted_one_by_one(case: Case, lengths: bool, data: st.DataObject) -> None:
    scratch, count = Scratch(case), len(case.columns[0])
    members = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    groups = Counter(
        tuple(
            None
            if value is None
            else (
                scratch.counts[place][value.folded] >= 2,
                scratch.band(place, value) if attribute.rarity else None,
                len(value.characters) if lengths else None,
            )
            for place, (attribute, value) in enumerate(
                zip(case.attributes, scratch.values[member], strict=True)
            )
        )
        for member in members
    )
    database = case.review().index.database
    assert least_shape(database, BitMap(members), lengths=lengths) == min(groups.values())


@given(cases(costs=Costs.BOUND), clicks())
def test_what_is_kept_for_all_records_is_what_each_would_find(case: Case, asked: list) -> None:
    told = []
    for large in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shared, "LARGE", large)
            worker = WorkerState(case.review(), range(len(case.pairs)))
            for pair in range(len(case.pairs)):
                worker.show(pair)
            for number, opening in asked:
                pair = number % len(case.pairs)
                if worker.account.modes(pair) is not None:
                    worker.open(pair, opening)
            told.append((worker.units, [worker.costs(pair) for pair in worker.account.shown]))
    assert told[0] == told[1]


def test_a_large_set_is_grouped_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixed masks of full rows look alike: what opening them could leave is asked for once."""
    monkeypatch.setattr(shared, "LARGE", 0)
    calls = []
    least = Index.least
    monkeypatch.setattr(
        Index, "least", lambda self, *given: calls.append(given) or least(self, *given)
    )
    columns = (("ann", "bob", "eva", "max"), ("x", "y", "x", "y"))
    case = Case(
        (TABLE_2[0], TABLE_2[2]),
        columns,
        ((0, 1), (2, 3)),
        Settings(budget=None, mask_width="fixed"),
    )
    worker = WorkerState(case.review(), [0, 1])
    for pair in (0, 1):
        worker.show(pair)
        worker.costs(pair)
    assert len(calls) == 3  # the name, the race, both


def test_a_mark_that_could_leave_too_few_is_not_shown() -> None:
    """Eva or one of two Anns, of race x: an identity mark on the name would tell which."""
    columns = (("eva", "ann", "ann", "bob"), ("x", "x", "y", "y"))
    for k in (1, 2):
        case = Case((TABLE_2[0], TABLE_2[2]), columns, ((0, 3), (0, 1)), Settings(budget=None, k=k))
        worker = WorkerState(case.review(), [0, 1])
        worker.show(0)
        assert isinstance(worker.open(0, Opening((1,), Mode.FULL)), Charge)
        answer = worker.show(1)
        if k == 1:
            assert isinstance(answer, Charge)
        else:
            assert isinstance(answer, Refusal)
            assert answer.reason is Reason.FLOOR
            assert worker.account.modes(1) is None
