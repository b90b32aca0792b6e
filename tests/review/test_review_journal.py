"""The journal: only added to, whole lines only, on the disk first; the session that it keeps."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from sfumato.core.cluster_questions import ClusterQuestions
from sfumato.core.errors import InputError
from sfumato.review.anonymity_database import Database
from sfumato.review.anonymity_index import Index
from sfumato.review.disclosure_account import Review
from sfumato.review.review_decisions import Answer, Event, EventKind, FlagReason
from sfumato.review.review_journal import (
    Beginning,
    Journal,
    NewBudget,
    Shown,
    check_same,
    entry_text,
    folder_lock,
    journal_path,
    journals_in,
    read_beginning,
    read_entry,
    read_journal,
    records_hash,
)
from sfumato.review.review_session import Session
from sfumato.review.review_settings import Attribute, AttributeKind, Mode, Settings
from sfumato.review.worker_state import Charge, Opening, Refusal

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
ATTRIBUTES = (
    Attribute(name="name", kind=AttributeKind.VARIABLE),
    Attribute(name="sex", kind=AttributeKind.CATEGORY),
)
COLUMNS = (("Anna", "Anne", "Bert", "Berta"), ("f", "f", "m", "f"))
IDS = ("p1", "p2")
BEGINNING = Beginning("reviewer", Settings(budget=None), ("p2", "p1"), "0" * 64)
ENTRIES = (
    Shown("p1", "00", NOON),
    Shown("p1", "20", NOON),
    Event("p1", "reviewer", EventKind.DECIDED, NOON, Answer.SAME_LOW),
    Event("p1", "reviewer", EventKind.FLAGGED, NOON, reason=FlagReason.BROKEN),
    NewBudget(0.25, NOON),
)


def session(path: Path, settings: Settings | None = None) -> Session:
    """A session of two pairs; its journal is begun or taken up."""
    rules = settings or Settings(budget=None)
    index = Index.build(Database.of(ATTRIBUTES, COLUMNS))
    review = Review(ATTRIBUTES, rules, index, [0, 2], [1, 3])
    beginning = Beginning("reviewer", rules, ("p2", "p1"), "0" * 64)
    return Session(review, IDS, Journal(path, beginning), now=lambda: NOON)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ((Answer.SAME_HIGH, Answer.SAME_LOW), None),
        ((Answer.SAME_HIGH, Answer.DIFFERENT_LOW), None),
        ((Answer.DIFFERENT_LOW, Answer.DIFFERENT_HIGH), 2),
    ],
    ids=str,
)
def test_of_a_cluster_nothing_is_asked_that_follows(
    tmp_path: Path, said: tuple[Answer, Answer], asked: int | None
) -> None:
    """Of three records two answers settle the third pair, unless both are "different"."""
    review = Review(
        ATTRIBUTES,
        Settings(budget=None),
        Index.build(Database.of(ATTRIBUTES, COLUMNS)),
        [0, 1, 0],
        [1, 2, 2],
    )
    ids = ("p1", "p2", "p3")
    journal = Journal(
        tmp_path / "journal", Beginning("reviewer", Settings(budget=None), ids, "0" * 64)
    )
    own = Session(review, ids, journal, now=lambda: NOON, clusters=ClusterQuestions((ids,)))
    for place, answer in enumerate(said):
        assert own.undecided(-1) == place
        own.show(place)
        assert own.view(place).in_cluster == (place + 1, 3)
        own.decide(place, answer)
    assert own.undecided(-1) == asked


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_an_entry_comes_back(entry: object) -> None:
    assert read_entry(entry_text(entry), "reviewer") == entry  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"time": "x"}', '{"did": "shown"}'])
def test_what_is_no_entry(text: str) -> None:
    assert read_entry(text, "reviewer") is None
    with pytest.raises(InputError, match="must begin as one"):
        read_beginning(text)


def test_a_journal_torn_anywhere_loses_the_torn_line_only(tmp_path: Path) -> None:
    """Cut at every byte: whole lines stay, and it can be added to."""
    path = tmp_path / "review.state"
    journal = Journal(path, BEGINNING)
    for entry in ENTRIES:
        journal.add(entry)
    journal.close()
    data = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    assert len(ends) == 1 + len(ENTRIES)
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        whole = sum(end <= cut for end in ends)
        written = read_journal(path)
        assert (written is None) is (whole == 0)
        if written is not None:
            assert written.entries == ENTRIES[: whole - 1]
        if cut % 7 == 0:
            again = Journal(path, BEGINNING)
            again.add(ENTRIES[0])
            again.close()
            found = read_journal(path)
            assert found is not None
            assert found.entries == (*ENTRIES[: max(whole - 1, 0)], ENTRIES[0])


def test_a_damaged_line_within_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "review.state"
    Journal(path, BEGINNING).close()
    with path.open("a") as file:
        file.write("what\n")
    with pytest.raises(InputError, match="line 2"):
        read_journal(path)


def test_its_owner_alone_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "review.state"
    path.touch(0o644)
    Journal(path, BEGINNING).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_is_no_journal(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    (tmp_path / "review.state").symlink_to(tmp_path / "other")
    with pytest.raises(InputError, match=r"file review\.state"):
        Journal(tmp_path / "review.state", BEGINNING)


def test_each_line_is_on_the_disk_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    path = tmp_path / "review.state"
    journal = Journal(path, BEGINNING)
    monkeypatch.setattr(os, "fsync", lambda _: synced.append(path.read_bytes().count(b"\n")))
    for entry in ENTRIES[:3]:
        journal.add(entry)
    assert synced == [2, 3, 4]


def test_a_folder_that_was_replaced_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "review.state"
    journal = Journal(path, BEGINNING)
    path.unlink()
    with pytest.raises(InputError, match="replaced"):
        journal.add(ENTRIES[0])


def test_one_at_a_time(tmp_path: Path) -> None:
    with (
        folder_lock(tmp_path),
        pytest.raises(InputError, match="one at a time"),
        folder_lock(tmp_path),
    ):
        pass
    with folder_lock(tmp_path):
        pass


def test_names_of_journals(tmp_path: Path) -> None:
    for worker in ("reviewer", "w-1", "two"):
        journal_path(tmp_path, worker).touch()
    names = [path.name for path in journals_in(tmp_path)]
    assert names == ["review.state", "review.two.state", "review.w-1.state"]
    for worker in ("", "../up", "a.b", "ü", "-"):
        with pytest.raises(InputError, match="pseudonym"):
            journal_path(tmp_path, worker)


def test_a_session_is_taken_up_where_it_was_left(tmp_path: Path) -> None:
    one = session(tmp_path / "review.state")
    one.show(0)
    assert isinstance(one.open(0, Opening((0, 1), Mode.FULL)), Charge)
    one.decide(0, Answer.SAME_HIGH)
    one.show(1)
    one.skip(1)
    one.flag(1, FlagReason.OTHER)
    one.journal.close()
    two = session(tmp_path / "review.state")
    assert two.view(0) == one.view(0)
    assert two.view(1) == one.view(1)
    assert two.worker.units == one.worker.units > 0
    assert two.decisions == one.decisions
    assert two.tasks == (1, 0)


def test_what_is_open_stays_open(tmp_path: Path) -> None:
    """Taking an answer back takes back the answer alone."""
    one = session(tmp_path / "review.state")
    one.show(0)
    one.open(0, Opening((0,), Mode.FULL))
    units = one.worker.units
    one.decide(0, Answer.DIFFERENT_LOW)
    assert one.withdraw(0)
    assert not one.withdraw(0)
    assert one.worker.units == units
    assert one.history(0).present.answer is None


def test_skipped_pairs_come_last(tmp_path: Path) -> None:
    one = session(tmp_path / "review.state")
    assert one.undecided(-1) == 0
    one.show(0)
    one.skip(0)
    assert one.undecided(0) == 1
    one.show(1)
    one.decide(1, Answer.SAME_LOW)
    assert one.undecided(1) == 0
    one.decide(0, Answer.SAME_LOW)
    assert one.undecided(1) is None


def test_nothing_changes_where_the_journal_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that is not on the disk is no answer; an opening stops the program."""
    one = session(tmp_path / "review.state")
    one.show(0)

    def full(_file: int, _data: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(InputError, match="no space left"):
        one.decide(0, Answer.SAME_LOW)
    assert one.history(0).present.answer is None
    with pytest.raises(InputError, match="no space left"):
        one.open(0, Opening((0,), Mode.FULL))


def test_a_refused_pair_is_not_shown(tmp_path: Path) -> None:
    rules = Settings(start=Mode.FULL, budget=0.0)
    one = session(tmp_path / "review.state", rules)
    one.show(0)
    view = one.view(0)
    assert view.rendered is None
    assert isinstance(view.refused, Refusal)
    with pytest.raises(InputError, match="shown first"):
        one.decide(0, Answer.SAME_LOW)
    written = read_journal(tmp_path / "review.state")
    assert written is not None
    assert written.entries == ()


@pytest.mark.parametrize(
    "entries",
    [
        (Shown("p9", "00", NOON),),
        (Shown("p1", "20", NOON), Shown("p1", "10", NOON)),
        (Shown("p1", "000", NOON),),
        (Event("p1", "reviewer", EventKind.WITHDRAWN, NOON),),
    ],
    ids=["another pair", "less than before", "other attributes", "nothing to withdraw"],
)
def test_a_journal_that_cannot_be_is_refused(entries: tuple, tmp_path: Path) -> None:
    path = tmp_path / "review.state"
    journal = Journal(path, BEGINNING)
    for entry in entries:
        journal.add(entry)
    journal.close()
    with pytest.raises(InputError):
        session(path)


def test_other_records_are_noticed() -> None:
    table = pa.table({"a": pa.array(["x", None, "yz"], pa.large_string())})
    split = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert records_hash(table) == records_hash(split) == records_hash(split.combine_chunks())
    for values in (["x", "", "yz"], ["xy", None, "z"], ["x", None, "yZ"]):
        other = pa.table({"a": pa.array(values, pa.large_string())})
        assert records_hash(other) != records_hash(table)
    check_same(BEGINNING, ["p1", "p2"], "0" * 64, "review.state")
    with pytest.raises(InputError, match="a review of others"):
        check_same(BEGINNING, ["p1"], "0" * 64, "review.state")
    with pytest.raises(InputError, match="a review of others"):
        check_same(BEGINNING, ["p1", "p2"], "1" * 64, "review.state")
