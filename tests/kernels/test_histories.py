"""The search for how events are written, against chances that are counted one by one."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import histories
from oracles.holders import holders

from sfumato.kernels.history_loops import Events, divided, recodings, unit_risks

LEVELS = 3


@st.composite
def files(draw):
    """Units with a few events each, in one or two classes, and labels in pairs above them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    slots, units = [int(each) for each in rng.integers(2, 7, 2)], rng.integers(2, 9, 2)
    classes, start = [], 0
    for many, size in zip(slots, units.tolist(), strict=True):
        own = []
        for _ in range(size):
            chosen = rng.permutation(many)[: rng.integers(1, many + 1)]
            own.append([(start + int(s), int(rng.integers(1, 3))) for s in sorted(chosen)])
        used = sorted({slot for unit in own for slot, _ in unit})
        number = {slot: start + place for place, slot in enumerate(used)}
        classes.append([[(number[slot], rows) for slot, rows in unit] for unit in own])
        start += len(used)
    return classes, start


def events_of(classes, slots):
    """The arrays of the loops."""
    units = [unit for own in classes for unit in own]
    counts = np.array([len(unit) for unit in units])
    ends = [1 + max(slot for unit in own for slot, _ in unit) for own in classes]
    many = counts[np.repeat(np.arange(len(units)), counts)]
    return Events(
        np.array([0, *ends]),
        np.cumsum([0, *(len(own) for own in classes)]),
        np.cumsum([0, *counts]),
        np.array([slot for unit in units for slot, _ in unit], dtype=np.int32),
        np.array([rows for unit in units for _, rows in unit], dtype=np.int32),
        1.0 / many,
        (many == 1).astype(float),
        np.where(counts > 1, 2 / np.maximum(counts * (counts - 1), 1), 0.0),
    )


def labels_of(slots):
    """Each slot itself, a label above two neighbours, and one above all."""
    own = np.arange(slots)
    return np.stack([own, 100 + own // 2, np.full(slots, 200)], axis=1).astype(np.int32)


@given(files(), st.integers(0, 2**32 - 1))
def test_chances_are_those_of_counting(made, seed):
    classes, slots = made
    labels = labels_of(slots)
    rung = np.random.default_rng(seed).integers(0, LEVELS, slots).astype(np.int8)
    found = unit_risks(events_of(classes, slots), labels, rung)
    written = labels[np.arange(slots), rung]
    for m in (1, 2):
        expected = [chance for own in classes for chance in histories.unit_risks(own, written, m)]
        assert_allclose(found[:, m - 1], expected)


@given(files(), st.floats(0.1, 30))
def test_no_single_move_is_better_and_sums_are_those_of_units(made, rate):
    classes, slots = made
    labels, events = labels_of(slots), events_of(classes, slots)
    losses = np.linspace(0, 1, LEVELS) * (1 + np.arange(slots)[:, np.newaxis] % 3)
    found = recodings(events, labels, losses, np.array([rate * 2, rate]))
    for at in range(2):
        risks = unit_risks(events, labels, found.rung[at])
        assert_allclose([found.one[at].sum(), found.two[at].sum()], risks.sum(axis=0))
        assert_allclose(found.lost[at].sum(), losses[np.arange(slots), found.rung[at]].sum())
    settled = recodings(events, labels, losses, np.array([rate] * 5), start=found.rung[1])
    own = np.arange(slots)

    def total(rung):
        return rate * unit_risks(events, labels, rung)[:, 1].sum() + losses[own, rung].sum()

    least = total(settled.rung[-1])
    for slot in range(slots):
        for rung in range(LEVELS):
            other = settled.rung[-1].copy()
            other[slot] = rung
            assert least <= total(other) + 1e-6


@given(files(), st.integers(2, 4))
def test_what_is_forbidden_is_no_more_than_at_the_top(made, fewest):
    classes, slots = made
    labels, events = labels_of(slots), events_of(classes, slots)
    losses = np.tile(np.linspace(0, 1, LEVELS), (slots, 1))
    top = np.full(slots, LEVELS - 1, dtype=np.int8)
    found = recodings(events, labels, losses, np.array([1e9]), share=0.5, fewest=fewest)
    before = unit_risks(events, labels, top, fewest=fewest).sum()
    assert unit_risks(events, labels, found.rung[0], fewest=fewest).sum() <= before + 1e-9


def told(parts, others, events, silent, m, *, learned):
    """The chance by m events of a unit, given its parts and who else is there, one by one."""
    ids = dict(enumerate([*parts, *others]))
    owner = {"target": set(range(len(parts))), "nobody": {-1, -2}}
    sets = [*combinations([(label, label) for label in events], min(m, len(events)))]
    found = [holders(ids, owner, each, silent) for each in sets]
    return float(np.mean([one[learned] for one in found]))


@given(st.integers(0, 2**32 - 1), st.floats(0.2, 9), st.booleans())
@settings(max_examples=80, deadline=None)
def test_parts_of_a_unit_cost_what_counting_says_and_no_more_than_none_or_all(seed, rate, learned):
    rng = np.random.default_rng(seed)
    own = [(int(slot), int(rng.integers(1, 3))) for slot in range(rng.integers(3, 7))]
    # The others have one event each, so that none of them is divided.
    one = [[(int(rng.integers(7)), int(rng.integers(1, 3)))] for _ in range(rng.integers(1, 9))]
    used = sorted({slot for slot, _ in own} | {unit[0][0] for unit in one})
    one = [[(used.index(unit[0][0]), unit[0][1])] for unit in one]
    labels, losses = labels_of(len(used)), np.array([0.0, 0.5, 1.0])
    rung = rng.integers(0, LEVELS, len(used)).astype(np.int8)
    written = labels[np.arange(len(used)), rung]
    silent = np.zeros(201, dtype=np.bool_)
    silent[200] = True
    terms = {"kept": 1 - losses, "silent": silent, "share": 0.5, "weight": 1.0, "learned": learned}
    events = events_of([[own, *one]], len(used))
    part, spent = divided(events, labels, rung, rate=rate, **terms)
    others = [[int(written[slot])] * rows for ((slot, rows),) in one]

    def total(chosen):
        """What a division of the first unit comes to."""
        parts = {}
        for at, (slot, rows) in zip(chosen, own, strict=True):
            parts.setdefault(at, []).extend([int(written[slot])] * rows)
        known, units = [int(written[slot]) for slot, _ in own], [*parts.values()]
        records = sum(rows for _, rows in own)
        together = sum(len(each) * (len(each) - 1) for each in units) / (records * (records - 1))
        says = sum(rows * (1 - losses[rung[slot]]) for slot, rows in own) / records
        chances = [told(units, others, known, {200}, m, learned=learned) for m in (1, 2)]
        return [*chances, 1 - says * together], 1 - says * together + rate * sum(chances) / 2

    chosen = part[: len(own)].tolist()
    assert_allclose(spent[0], total(chosen)[0])
    again = unit_risks(events, labels, rung, part=part, silent=silent if learned else None)
    assert_allclose(again[0], spent[0, :2])
    assert total(chosen)[1] <= total([0] * len(own))[1] + 1e-8
    assert total(chosen)[1] <= total(range(len(own)))[1] + 1e-8


@given(files(), st.integers(0, 2**32 - 1), st.booleans())
def test_chances_of_units_in_parts_are_those_of_counting(made, seed, learned):
    classes, slots = made
    rng, labels = np.random.default_rng(seed), labels_of(slots)
    rung = rng.integers(0, LEVELS, slots).astype(np.int8)
    silent = np.zeros(201, dtype=np.bool_)
    silent[200] = True
    events = events_of(classes, slots)
    part = np.concatenate(
        [
            np.unique(rng.integers(0, 3, len(unit)), return_inverse=True)[1]
            for own in classes
            for unit in own
        ]
    ).astype(np.int32)
    found = unit_risks(events, labels, rung, part=part, silent=silent if learned else None)
    written, starts, number = labels[np.arange(slots), rung], events.event_start, 0
    for own in classes:
        units = []
        for at, unit in enumerate(own, number):
            parts = {}
            for one, (slot, rows) in zip(part[starts[at] :], unit, strict=False):
                parts.setdefault(int(one), []).extend([int(written[slot])] * rows)
            units.append([*parts.values()])
        for at, unit in enumerate(own):
            others = [one for place, of in enumerate(units) if place != at for one in of]
            known = [int(written[slot]) for slot, _ in unit]
            chances = [told(units[at], others, known, {200}, m, learned=learned) for m in (1, 2)]
            assert_allclose(found[number + at], chances)
        number += len(own)
