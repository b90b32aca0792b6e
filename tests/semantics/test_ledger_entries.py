"""The ledger: what is noted is read back, and nothing that names a person is noted."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import stat
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from semantics.ledgers import (
    CODES,
    HIERARCHIES,
    LANGUAGE,
    LEVELS,
    PERSONS,
    association,
    entry,
    members,
    opened,
)

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import State
from sfumato.semantics.request_ledger import RequestLedger
from sfumato.semantics.requested_content import Members, ReleaseFacts, Tuples, Value, shown_tuples


def test_a_release_is_read_back_as_it_was_noted(tmp_path: Path) -> None:
    given_entry = entry(associations=(association(),))
    with opened(tmp_path) as ledger:
        made = ledger.append(given_entry)
    with opened(tmp_path, make=False) as ledger:
        [found] = ledger.releases()
        tuples = ledger.tuples(found.number)
    assert found == made
    for field in dataclasses.fields(ReleaseFacts):
        assert getattr(found, field.name) == getattr(given_entry, field.name), field.name
    assert (found.number, found.tuples, found.smallest, found.digests) == (2, 5, 1, False)
    assert found.intersection.endswith("not claimed: no digests")
    assert (tuples.attributes, tuples.values) == (
        given_entry.tuples.attributes,
        given_entry.tuples.values,
    )
    np.testing.assert_array_equal(tuples.codes, given_entry.tuples.codes)
    np.testing.assert_array_equal(tuples.counts, given_entry.tuples.counts)


def test_tuples_hold_what_was_shown_and_count_individuals() -> None:
    tuples, tuple_of = shown_tuples(
        HIERARCHIES, CODES, LEVELS, persons=np.array([0, 1, 0, 3, 4, 0])
    )
    shown = [
        tuple(
            None if code < 0 else values[code]
            for values, code in zip(tuples.values, row, strict=True)
        )
        for row in tuples.codes
    ]
    mandarin, asian = Value(0, "7104 Mandarin"), Value(1, "61 Asian")
    assert shown[tuple_of[0]] == shown[tuple_of[1]] == (mandarin, asian)
    assert shown[tuple_of[2]] == (Value(1, "71 Chinese"), asian)
    assert shown[tuple_of[4]] == (Value(2, "*"), None)
    assert tuples.counts[tuple_of].tolist() == [2, 2, 1, 1, 1, 1]
    assert "7101 Cantonese" not in {value.label for value in tuples.values[0]}


@given(
    st.lists(
        st.tuples(st.integers(-1, 3), st.integers(0, 2), st.integers(-1, 2), st.integers(0, 2),
                  st.integers(0, 4)),
        max_size=40,
    )
)  # fmt: skip
def test_tuples_agree_with_counting_by_hand(rows: list[tuple[int, ...]]) -> None:
    table = np.array(rows, dtype=np.int32).reshape(-1, 5)
    codes, levels, persons = table[:, [0, 2]], table[:, [1, 3]], table[:, 4]
    tuples, tuple_of = shown_tuples(HIERARCHIES, codes, levels, persons=persons)

    def shown(hierarchy: Hierarchy, code: int, level: int) -> Value | None:
        if level == hierarchy.height:
            return Value(level, "*")
        return None if code < 0 else Value(level, hierarchy.labels[level][
            hierarchy.ancestors[level, code]])  # fmt: skip

    by_hand = [
        tuple(
            shown(hierarchy, code, level)
            for hierarchy, code, level in zip(HIERARCHIES.values(), row, above, strict=True)
        )
        for row, above in zip(codes.tolist(), levels.tolist(), strict=True)
    ]
    people = Counter(text for text, _ in set(zip(by_hand, persons.tolist(), strict=True)))
    assert len(tuples) == len(people)
    for row, number in enumerate(tuple_of):
        values = tuple(
            None if code < 0 else tuples.values[place][code]
            for place, code in enumerate(tuples.codes[number])
        )
        assert values == by_hand[row]
        assert tuples.counts[number] == people[values]
    back = tuples.shown(HIERARCHIES)
    again, _ = shown_tuples(HIERARCHIES, back.codes, np.asarray(back.levels), counts=tuples.counts)
    assert again.values == tuples.values
    assert again.codes.tolist() == tuples.codes.tolist()
    assert again.counts.tolist() == tuples.counts.tolist()


def test_tuples_outlive_a_code_list_in_another_order() -> None:
    tuples, _ = shown_tuples(HIERARCHIES, CODES, LEVELS)
    turned = LANGUAGE.restricted(LANGUAGE.leaves[::-1], "hierarchy")
    again, _ = shown_tuples(
        {"language": turned, "ethnicity": HIERARCHIES["ethnicity"]},
        (shown := tuples.shown({**HIERARCHIES, "language": turned})).codes,
        np.asarray(shown.levels),
        counts=tuples.counts,
    )

    def texts(one: Tuples) -> set[tuple[object, ...]]:
        return {
            (*(one.values[j][c] if c >= 0 else None for j, c in enumerate(row)), int(count))
            for row, count in zip(one.codes, one.counts, strict=True)
        }

    assert texts(again) == texts(tuples)
    fewer = LANGUAGE.restricted(["5203 Hindi"], "hierarchy")
    with pytest.raises(InputError, match="must have every label") as refused:
        tuples.shown({**HIERARCHIES, "language": fewer})
    assert "Mandarin" not in str(refused.value)


def test_digests_tell_a_persons_tuples_to_the_holder_of_the_key(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        release = ledger.append(entry(), members=members())
        assert release.digests
        assert "not claimed" not in release.intersection
        digests = ledger.digests(release.number)
        assert digests is not None
        assert digests.persons.tolist() == sorted(digests.persons.tolist())
        people = ["emil", "anna", "zoe"]
        index, tuples = digests.tuples_of(ledger.person_digests(people))
    _, tuple_of = shown_tuples(HIERARCHIES, CODES, LEVELS)
    expected = [
        (people.index(person), int(number))
        for person, number in zip(PERSONS, tuple_of, strict=True)
        if person in people
    ]
    assert sorted(zip(index.tolist(), tuples.tolist(), strict=True)) == sorted(expected)


def test_digests_of_several_releases_can_be_intersected(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        first = ledger.append(entry(), members=members())
        second = ledger.append(entry(), members=Members(["dora", "yves"], np.array([0, 1])))
        one, other = ledger.digests(first.number), ledger.digests(second.number)
        assert one is not None
        assert other is not None
        both = np.intersect1d(one.persons, other.persons)
        assert both.tolist() == ledger.person_digests(["dora"]).tolist()


def test_without_members_there_are_no_digests(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        assert ledger.digests(ledger.append(entry()).number) is None
    assert [path.name for path in (tmp_path / "keys").glob("*.key")] == ["signing.key"]


def test_no_person_is_in_the_ledger_or_its_texts(tmp_path: Path) -> None:
    people = Members([f"canary-{name}" for name in PERSONS], members().tuples)
    with opened(tmp_path) as ledger:
        release = ledger.append(entry(), members=people)
        digests = ledger.digests(release.number)
        texts = repr((people, release, digests, ledger.tuples(release.number)))
        stored = b"".join(path.read_bytes() for path in (tmp_path / "book").iterdir())
    assert b"canary" not in stored
    assert "canary" not in texts
    assert b"R. Searcher" in stored


@pytest.mark.parametrize(
    "wrong",
    [
        Members(["canary"], np.array([0, 1])),
        Members(["canary"], np.array([5])),
        Members(["canary"], np.array([-1])),
        Members(["canary"], np.array([0.0])),
    ],
)
def test_members_that_do_not_fit_are_refused(tmp_path: Path, wrong: Members) -> None:
    with opened(tmp_path) as ledger:
        with pytest.raises(InputError, match="members of a release") as refused:
            ledger.append(entry(), members=wrong)
        assert "canary" not in str(refused.value)
        assert ledger.releases() == []


def test_another_key_of_persons_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        number = ledger.append(entry(), members=members()).number
        (tmp_path / "keys" / "persons.key").write_bytes(bytes(32))
        with pytest.raises(InputError, match=r"persons\.key .*another key"):
            ledger.digests(number)
        (tmp_path / "keys" / "persons.key").unlink()
        with pytest.raises(InputError, match=r"persons\.key"):
            ledger.digests(number)


def test_releases_are_chosen_by_linkage_and_requester(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        for linkage, requester in (("a", "x"), ("a", "y"), ("b", "x")):
            ledger.append(entry(linkage=linkage, requester=requester))
        assert [each.number for each in ledger.releases()] == [2, 3, 4]
        assert [each.number for each in ledger.releases(linkage="a")] == [2, 3]
        assert [each.number for each in ledger.releases(requester="x")] == [2, 4]
        assert [each.number for each in ledger.releases(linkage="a", requester="x")] == [2]


def test_an_empty_release_is_noted(tmp_path: Path) -> None:
    empty, _ = shown_tuples(HIERARCHIES, CODES[:0], LEVELS[:0])
    with opened(tmp_path) as ledger:
        nobody = Members([], np.zeros(0, dtype=np.int64))
        release = ledger.append(entry(tuples=empty, individuals=0), members=nobody)
        assert (release.tuples, release.smallest, release.digests) == (0, None, True)
        assert len(ledger.tuples(release.number)) == 0
        digests = ledger.digests(release.number)
        assert digests is not None
        assert len(digests) == 0
        assert ledger.verify().whole


@pytest.mark.parametrize(
    "changes",
    [
        {"requester": ""},
        {"policy_hash": " "},
        {"k": 0},
        {"quasi_identifiers": ()},
        {"quasi_identifiers": ("postcode",)},
        {"figures": {"LA": {"risk": float("nan")}}},
    ],
)
def test_an_entry_that_lacks_something_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InputError):
        entry(**changes)


def test_an_entry_that_is_no_release_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        for number in (0, 1, 2):
            with pytest.raises(InputError, match=f"entry {number} must be a release"):
                ledger.tuples(number)


def test_decisions_are_entries_and_the_last_one_holds(tmp_path: Path) -> None:
    mandarin, hindi = association(1), association(2)
    with opened(tmp_path) as ledger:
        assert ledger.associations() == []
        found = ledger.propose([mandarin, hindi], "miner")
        assert [each.state for each in found] == [State.PROPOSED] * 2
        ledger.decide([hindi.id], "reject", "noise", "carol")
        (kept,) = ledger.decide([mandarin.id], "accept", "known to all", "carol")
        assert (kept.state, kept.note, kept.by) == (State.ACCEPTED, "known to all", "carol")
        again = ledger.propose([dataclasses.replace(mandarin, confidence=0.5)], "miner")
        assert (again[0].state, again[0].confidence, again[0].found) == (
            State.ACCEPTED, 0.5, (2, 5),
        )  # fmt: skip
        ledger.append(entry(associations=tuple(ledger.associations())))
        assert [each.state for each in ledger.associations()] == [State.ACCEPTED, State.REJECTED]
        assert ledger.associations()[0].by == "carol"
        ledger.decide([mandarin.id], "reject", "no secret", "olga")
        assert ledger.associations()[0].note == "no secret"
        assert ledger.releases()[0].associations[0].state == State.ACCEPTED
        assert ledger.verify().entries == 7


def test_an_association_fits_the_hierarchies_again() -> None:
    known = association().known(HIERARCHIES)
    assert known.text(HIERARCHIES).startswith("language 7104 Mandarin -> ethnicity 6101 Chinese")
    assert association().text == "language 7104 Mandarin -> ethnicity 6101 Chinese"
    with pytest.raises(InputError, match="must have every label"):
        association().known({**HIERARCHIES, "language": HIERARCHIES["ethnicity"]})
    with pytest.raises(InputError, match="must have a hierarchy"):
        association().known({})


def test_a_decision_needs_a_known_association_a_note_and_a_name(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        ledger.propose([association()], "miner")
        with pytest.raises(InputError, match="must be one that was found"):
            ledger.decide([association(2).id], "accept", "why", "carol")
        with pytest.raises(InputError, match="note"):
            ledger.decide([association().id], "accept", " ", "carol")
        with pytest.raises(InputError, match="by"):
            ledger.decide([association().id], "accept", "why", "")
        with pytest.raises(InputError, match="must be text"):
            ledger.decide([association().id], "accept", "why", "canary\udcff")
        assert ledger.head().number == 2


def test_files_and_keys_are_their_owners_only(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        with opened(tmp_path) as ledger:
            ledger.append(entry(), members=members())
            files = [*(tmp_path / "book").iterdir(), *(tmp_path / "keys").iterdir()]
            assert len(files) == 6, "the file, its journal and index, two keys, its head"
            assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
            connection = ledger._log.connection
            settings = [
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("journal_mode", "synchronous", "secure_delete")
            ]
    finally:
        os.umask(umask)
    assert settings == ["wal", 2, 1]


@pytest.mark.parametrize("table", ["entry", "part"])
def test_the_file_refuses_to_change_and_to_delete(tmp_path: Path, table: str) -> None:
    with opened(tmp_path) as ledger:
        ledger.append(entry())
    connection = sqlite3.connect(tmp_path / "book" / "ledger.sqlite")
    column = {"entry": "detail", "part": "content"}[table]
    for text in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(text)
    connection.close()


@pytest.mark.slow
def test_a_million_persons_are_noted_and_read_in_seconds(tmp_path: Path) -> None:
    import time

    rng = np.random.default_rng(1)
    tuples, persons = 50_000, 1_000_000
    values = tuple(tuple(Value(0, f"{i:03}") for i in range(100)) for _ in range(5))
    codes = rng.integers(0, 100, (tuples, 5), dtype=np.int32)
    tuple_of = rng.integers(0, tuples, persons)
    names = tuple(f"q{i}" for i in range(5))
    table = Tuples(names, values, codes, np.bincount(tuple_of, minlength=tuples))
    started = time.process_time()
    with opened(tmp_path) as ledger:
        made = ledger.append(
            entry(tuples=table, quasi_identifiers=names), members=Members(range(persons), tuple_of)
        )
    with opened(tmp_path) as ledger:
        assert ledger.verify().whole
        np.testing.assert_array_equal(ledger.tuples(made.number).codes, codes)
        digests = ledger.digests(made.number)
        assert digests is not None
        sample = rng.integers(0, persons, 1000)
        index, found = digests.tuples_of(ledger.person_digests(map(int, sample)))
        np.testing.assert_array_equal(index, np.arange(1000))
        np.testing.assert_array_equal(found, tuple_of[sample])
    spent = time.process_time() - started
    assert (tmp_path / "book" / "ledger.sqlite").stat().st_size < 40e6
    assert spent < 30, "a few seconds on an idle machine"


def test_open_wants_keys_outside_the_ledgers_folder(tmp_path: Path) -> None:
    for keys in (tmp_path, tmp_path / "keys", tmp_path / "x" / ".." / "keys"):
        with pytest.raises(InputError, match="must be outside the ledger's folder"):
            RequestLedger.open(tmp_path / "ledger.sqlite", keys, make=True)
    assert list(tmp_path.iterdir()) == []
