"""Two events under one parent, beside a count over all people."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from few_cases import fast_first
from made_databases import made_database

import sfumato as sf
from sfumato.kernels import class_counts
from sfumato.risk.known_events import measure_known_events, with_ties
from sfumato.table.database_guess import guess_database
from sfumato.table.stacked_tables import open_stack


def _naive(stack, class_of) -> float:
    """Mean over people of 1 / people of the class whom two events fit, of one stay if they are."""
    table = stack.table
    columns = [table.source.column(name).to_pylist() for name in table.schema.events]
    (parent,) = table.parents
    rows: dict[int, list[tuple[tuple[object, ...], int]]] = {p: [] for p in range(table.persons)}
    for record in range(table.records):
        event = tuple(column[record] for column in columns)
        if any(value is not None for value in event):
            rows[table.person[record]].append((event, int(parent[record])))
    where = {int(p): int(c) for p, c in zip(table.person, class_of, strict=True)}
    chances = []
    for person, own in rows.items():
        others = [rows[other] for other in rows if where[other] == where[person]]
        every = sorted({event for event, _ in own}, key=repr)
        known = [*combinations(every, min(2, len(every)))]
        of_person = []
        for events in known:
            stays = [{at for event, at in own if event == each and at >= 0} for each in events]
            tied = len(events) == 2 and bool(stays[0] & stays[1])
            fitting = sum(_fits(each, events, tied) for each in others)
            of_person.append(1 / fitting)
        chances.append(np.mean(of_person))
    return float(np.mean(chances))


def _fits(rows, events, tied) -> bool:
    return any(
        all(row[0] == event for row, event in zip(chosen, events, strict=True))
        and not (tied and (len({at for _, at in chosen}) > 1 or chosen[0][1] < 0))
        for chosen in permutations(rows, len(events))
    )


@pytest.mark.parametrize("seed", fast_first(1, [1, 2]))
def test_ties_are_counted_as_by_hand(seed):
    made = made_database(seed, people=60, empty=0.3, wards=False)
    stack = open_stack(sf.Tables(made.frames, guess_database(made.frames).schema))
    class_of = (stack.table.person % 3).astype(np.int32)
    told = measure_known_events(stack.table, class_of, 3)
    assert told is not None
    assert told.of(2).found.value == pytest.approx(_naive(stack, class_of))


def test_ties_find_more_than_the_same_events_anywhere():
    from dataclasses import replace

    made = made_database(3, people=300, wards=False)
    table = open_stack(sf.Tables(made.frames, guess_database(made.frames).schema)).table
    class_of = (table.person % 3).astype(np.int32)
    tied = measure_known_events(table, class_of, 3)
    loose = measure_known_events(replace(table, parents=()), class_of, 3)
    assert tied is not None
    assert loose is not None
    assert tied.of(1).found.value == loose.of(1).found.value
    assert tied.of(2).found.value > loose.of(2).found.value


def test_what_ties_find_in_one_class_may_be_learned_in_another():
    """Found by half in a class that shows no more, by a fifth in one that does: ties find there."""
    told = class_counts.Holders(np.array([0.5]), np.array([0.2]), np.array([2], np.int32), 0)
    held = SimpleNamespace(known_low=np.array([0, 1], np.int32))
    ties = SimpleNamespace(raised=lambda persons, known, found: np.ones(1))
    sets = np.array([[0, 1]], np.int32)
    found = with_ties(told, held, np.zeros(1, np.int32), sets, ties)
    assert (found.found[0], found.learned[0]) == (1.0, 1.0)
    silent = told._replace(learned=np.zeros(1))
    assert with_ties(silent, held, np.zeros(1, np.int32), sets, ties).learned[0] == 0


def test_people_without_rows_hide_no_value():
    """h and l of each sensitive column, among people of whom its table has rows."""
    made = made_database(4, people=60, wards=False)
    tables = sf.Tables(made.frames, guess_database(made.frames).schema)
    table = open_stack(tables).table
    risk = sf.assess(tables)
    owner = made.frames["admissions"].set_index("admission")["patient"]
    people = made.frames["patients"].set_index("patient")
    cells = people[["birth_year", "sex", "zip"]].apply(tuple, axis=1)
    for name in ("diagnoses.icd", "labs.test", "admissions.ward"):
        frame, column = name.split(".")
        rows = made.frames[frame]
        whose = rows["patient"] if "patient" in rows else rows["admission"].map(owner)
        values = defaultdict(lambda: defaultdict(set))
        for person, value in zip(whose, rows[column], strict=True):
            values[cells[person]][person].add(value)
        shares, distinct = [], []
        for own in values.values():
            often = Counter(value for each in own.values() for value in each)
            shares.append(max(often.values()) / len(own))
            distinct.append(len(often))
        assert len(values) < risk.classes
        assert risk.sensitive[name].max_gsar.value == pytest.approx(max(shares))
        assert risk.sensitive[name].avg_gsar.value == pytest.approx(np.mean(shares))
        assert risk.sensitive[name].l_distinct == min(distinct)
    assert table.part_of is not None


def test_the_order_of_references_changes_no_parent() -> None:
    made = made_database(12, people=40, two_paths=True)
    schema = guess_database(made.frames).schema
    parents = []
    for turned in (False, True):
        tables = {
            name: own.model_copy(update={"of": dict(sorted(own.of.items(), reverse=turned))})
            for name, own in schema.tables.items()
        }
        asked = schema.model_copy(update={"tables": tables})
        parents.append(open_stack(sf.Tables(made.frames, asked)).table.parents)
    assert max(len(own.of) for own in schema.tables.values()) > 1
    for one, other in zip(*parents, strict=True):
        assert one.tolist() == other.tolist()
