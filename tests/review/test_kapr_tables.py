"""Tables 3-5 of paper 001: every anonymity set, every row value, every score."""

from __future__ import annotations

from fractions import Fraction

import pytest
from review.kapr_oracle import Scratch, table_2

from sfumato.review.disclosure_account import disclosure_state, kapr, row_value
from sfumato.review.review_settings import Mode
from sfumato.review.worker_state import Charge, Opening, Reason, Refusal, WorkerState

TABLE_4_SETS = [3, 1, 1, 2, 1, 2, 1, 2, 1, 2, 3, 3]
TABLE_5_SETS = [1, 1, 1, 2, 1, 2, 1, 2, 1, 2, 2, 2]
NAME, DATE = Fraction(1, 4), Fraction(2, 8)
NONE = Fraction(0)
TABLE_4_SHARES = [
    *[(NAME, NONE, NONE)] * 2,
    *[(NONE, DATE, NONE)] * 4,
    *[(NAME, DATE, NONE)] * 4,
    *[(NONE, NONE, NONE)] * 2,
]
TABLE_4_VALUES = [
    *[Fraction(1, 432), Fraction(1, 144)],
    *[Fraction(1, 144), Fraction(1, 288)] * 2,
    *[Fraction(1, 72), Fraction(1, 144)] * 2,
    *[NONE] * 2,
]
TABLE_5_VALUES = [
    *[Fraction(1, 12)] * 2,
    *[Fraction(1, 12), Fraction(1, 24)] * 4,
    *[Fraction(1, 24)] * 2,
]


def opened(mode: Mode, **rules: object) -> WorkerState:
    """A worker who has opened everything of all six pairs in a mode."""
    worker = WorkerState(table_2(**rules).review(), range(6))
    for pair in range(6):
        assert isinstance(worker.show(pair), Charge)
        if mode is not Mode.MASKED:
            worker.open(pair, Opening((0, 1, 2), mode))
    return worker


def exact(worker: WorkerState) -> Fraction:
    rows = worker.disclosed()
    state = disclosure_state([row.shares for row in rows], [row.set_size for row in rows])
    return kapr(state, worker.review.settings.k, worker.rows, len(worker.review.attributes))


def test_masked_is_0() -> None:
    """Table 3. The paper prints K = 4; the identity marks leave fewer, and the value is 0."""
    worker = opened(Mode.MASKED)
    assert [row.set_size for row in worker.disclosed()] == [4, 4, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3]
    assert exact(worker) == worker.score == worker.units == 0


@pytest.mark.parametrize(
    ("mode", "sets", "values", "score"),
    [
        (Mode.PARTIAL, TABLE_4_SETS, TABLE_4_VALUES, Fraction(31, 432)),
        (Mode.FULL, TABLE_5_SETS, TABLE_5_VALUES, Fraction(3, 4)),
    ],
)
def test_tables_4_and_5(
    mode: Mode, sets: list[int], values: list[Fraction], score: Fraction
) -> None:
    """Every K, every row value as printed (already scaled by 1/(n·d) = 1/36), and the score."""
    worker = opened(mode)
    rows = worker.disclosed()
    assert [row.set_size for row in rows] == sets
    assert [row_value(sum(row.shares), row.set_size) / 36 for row in rows] == values
    assert sum(values) == exact(worker) == score
    assert 0 <= worker.score - float(score) < 1e-9


def test_shares_of_table_4() -> None:
    assert [row.shares for row in opened(Mode.PARTIAL).disclosed()] == TABLE_4_SHARES


def test_k_5_reported_passes_1() -> None:
    worker = opened(Mode.FULL, k=5, k_floor="report")
    assert exact(worker) == Fraction(15, 4)
    assert worker.score == 3.75


def test_k_5_reported_says_so() -> None:
    worker = WorkerState(table_2(k=5, k_floor="report").review(), range(6))
    worker.show(0)
    charge = worker.open(0, Opening((0, 1, 2), Mode.FULL))
    assert isinstance(charge, Charge)
    assert charge.below_k


def test_k_5_refused() -> None:
    """A database of four records has no set of five: nothing that shows a character is opened."""
    worker = WorkerState(table_2(k=5).review(), range(6))
    for pair in range(6):
        worker.show(pair)
        answer = worker.open(pair, Opening((0, 1, 2), Mode.FULL))
        assert isinstance(answer, Refusal)
        assert answer.reason is Reason.FLOOR
        assert set(worker.modes(pair)) == {Mode.MASKED}
    assert worker.score == 0


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("policy", ["paper", "consistent"])
def test_the_oracle_agrees(mode: Mode, policy: str) -> None:
    case = table_2(policy=policy)
    worker = opened(mode, policy=policy)
    rows = Scratch(case).rows(worker.account.shown)
    assert [(list(row.shares), row.set_size) for row in worker.disclosed()] == list(rows.values())


def test_sets_are_of_the_database_and_not_of_the_rows() -> None:
    """Of twelve rows nine show Mary; three records do."""
    worker = opened(Mode.PARTIAL)
    assert worker.disclosed()[0].set_size == 3
    alone = WorkerState(table_2().review(), [5])
    alone.show(5)
    assert alone.disclosed()[0].set_size == 3


def test_characters_are_not_pooled_over_attributes() -> None:
    """1 of 4 and 2 of 8 are 1/4 + 1/4, not 3/12."""
    row = opened(Mode.PARTIAL).disclosed()[6]
    assert row.shares == (Fraction(1, 4), Fraction(2, 8), Fraction(0))
    assert row_value(sum(row.shares), row.set_size) / 36 == Fraction(1, 72)
