"""The ids that fit known events are those that an oracle finds by trying every assignment."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles.holders import holders

from sfumato.kernels.class_counts import count_holders
from sfumato.risk.known_events import EventCodes, Shown, holding


@st.composite
def files(draw):
    """Records of some persons in some classes: events, labels, and the labels that fit an event."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records, classes = draw(st.integers(1, 24)), draw(st.integers(1, 3))
    persons, events = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    person = rng.integers(persons, size=records).astype(np.int32)
    person = np.unique(person, return_inverse=True)[1].astype(np.int32)
    class_of = rng.integers(classes, size=records).astype(np.int32)
    class_of = np.unique(class_of, return_inverse=True)[1].astype(np.int32)
    if draw(st.booleans()):  # as in a release, each person is in one class
        class_of = class_of[np.unique(person, return_index=True)[1]][person]
        class_of = np.unique(class_of, return_inverse=True)[1].astype(np.int32)
    event = rng.integers(-draw(st.integers(0, 1)), events, size=records).astype(np.int32)
    way = draw(st.sampled_from(["exact", "rolled up", "near"]))
    if way == "rolled up":  # by class: each event has a label that other events may have, too
        up = np.sort(rng.integers(events, size=(classes, events)), axis=1)
        labels = np.where(event < 0, -1, up[class_of, event]).astype(np.int32)
        low = high = labels
    else:
        off = 0 if way == "exact" else 1
        labels = event
        low, high = np.maximum(event - off, 0), np.minimum(event + off, events - 1)
    pseudonym = None
    if draw(st.booleans()):
        pseudonym = (2 * person + rng.integers(2, size=records)).astype(np.int32)
    detailed = rng.random(records) < 0.1 if draw(st.booleans()) else None
    silent = rng.random(events) < 0.3 if draw(st.booleans()) else None
    shown = Shown(labels, low.astype(np.int32), high.astype(np.int32), pseudonym, detailed, silent)
    return event, person, class_of, shown


def told(event, person, class_of, shown, p, t):
    """The ids of a class, which of them are the person's, and the person's events as ranges."""
    ids, owner, detailed = {}, {}, set()
    own = {}
    pseudonym = person if shown.pseudonym is None else shown.pseudonym
    for row in np.flatnonzero(class_of == t).tolist():
        one = int(pseudonym[row])
        ids.setdefault(one, []).extend([int(shown.labels[row])] if shown.labels[row] >= 0 else [])
        owner.setdefault("target" if person[row] == p else int(person[row]), set()).add(one)
        if shown.detailed is not None and shown.detailed[row]:
            detailed.add(one)
        if person[row] == p and event[row] >= 0:
            own[int(event[row])] = (int(shown.low[row]), int(shown.high[row]))
    return ids, owner, [own[each] for each in sorted(own)], detailed


@given(files())
def test_agrees_with_the_oracle(file):
    event, person, class_of, shown = file
    events = int(event.max()) + 1
    codes = EventCodes(("code",), True, event, *2 * [np.arange(events, dtype=np.int32)])
    held = holding(codes, person, class_of, int(class_of.max()) + 1, shown)
    silent = set() if shown.silent is None else set(np.flatnonzero(shown.silent).tolist())
    persons = len(held.own_starts) - 1
    several = len(held.owners) > persons
    keys = list(dict.fromkeys(zip(class_of.tolist(), person.tolist(), strict=True)))
    assert len(keys) == persons
    for number, (t, p) in enumerate(keys):
        ids, owner, ranges, detailed = told(event, person, class_of, shown, p, t)
        if several:  # the oracle looks at parts where anybody of the file has several ids
            owner["nobody"] = {-1, -2}
        start, stop = held.known_starts[number : number + 2].tolist()
        assert stop - start == len(ranges)
        places = range(start, stop)
        for m in range(min(4, len(ranges) + 1)):
            for chosen in combinations(range(len(ranges)), m):
                sets = np.full((1, max(m, 1)), -1, dtype=np.int32)
                sets[0, :m] = [places[each] for each in chosen]
                found = count_holders(held, np.array([number], dtype=np.int32), sets)
                wanted = holders(ids, owner, [ranges[each] for each in chosen], silent, detailed)
                assert found.found[0] == wanted[0]
                if m == 0 and several:  # which of the ids of a person show more is not looked at
                    assert found.learned[0] >= wanted[1]
                else:
                    assert found.learned[0] == wanted[1]


def test_two_codes_below_one_label_need_two_records():
    person = np.array([0, 0, 1, 2, 2], dtype=np.int32)
    event = np.array([0, 1, 0, 0, 0], dtype=np.int32)
    labels = np.zeros(5, dtype=np.int32)
    codes = EventCodes(("code",), True, event, *2 * [np.arange(2, dtype=np.int32)])
    held = holding(codes, person, np.zeros(5, np.int32), 1, Shown(labels, labels, labels))
    found = count_holders(held, np.zeros(2, np.int32), np.array([[0, -1], [0, 1]]))
    assert found.holders.tolist() == [3, 2]


def test_the_number_of_records_may_be_known():
    person = np.array([0, 0, 1, 2], dtype=np.int32)
    event = np.array([0, 1, 0, 0], dtype=np.int32)
    codes = EventCodes(("code",), True, event, *2 * [np.arange(2, dtype=np.int32)])
    held = holding(codes, person, np.zeros(4, np.int32), 1, counts=np.asarray)
    found = count_holders(held, np.arange(3, dtype=np.int32), held.known_starts[:-1, None])
    assert found.found.tolist() == [1.0, 0.5, 0.5]
