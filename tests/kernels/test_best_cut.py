"""Whether sides keep the promises: the search's counts against naive ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels import _tree
from sfumato.kernels.tree_loops import Axes, Known, Limits

ATTRIBUTE_OF = np.array([0, 0, 0, 1, 1], np.int32)


@st.composite
def drawn(draw):
    """Persons with values of two attributes, one node of some of them, and promises."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    persons = draw(st.integers(2, 60))
    held = rng.random((persons, 5)) < draw(st.sampled_from([0.0, 0.2, 0.6]))
    offsets = np.append(0, np.cumsum(held.sum(axis=1))).astype(np.int64)
    none, nothing = np.zeros(persons + 1, np.int64), np.empty(0, np.int32)
    empty = np.empty((persons, 0))
    known = Known(
        records=rng.integers(1, 4, persons), positions=np.empty((0, persons), np.int32),
        members=rng.integers(-1, 2, (1, persons)).astype(np.int32), totals=empty,
        presents=np.empty((persons, 0), np.int64), lowest=empty, highest=empty,
        squares=rng.random(persons), offsets=none, values=nothing, counts=nothing,
        sensitive_offsets=offsets, sensitive=np.nonzero(held)[1].astype(np.int32),
    )  # fmt: skip
    unheld = np.zeros(draw(st.sampled_from([0, 2_000])), np.int32)
    limits = Limits(
        records=0, persons=1, squares=np.inf, attribute_of=np.append(ATTRIBUTE_OF, unheld),
        affiliation=rng.choice([0.3, 0.6, np.inf], 2), distinct=rng.integers(0, 3, 2),
        sharing=int(rng.integers(1, 4)),
    )  # fmt: skip
    start = draw(st.integers(0, persons - 2))
    stop = draw(st.integers(start + 2, persons))
    return rng, known, limits, held, rng.permutation(persons).astype(np.int32), start, stop


def axes_of(known):
    floats, columns = np.empty(0), np.full(len(known.members), 2, np.int64)
    return Axes(
        np.empty(0, bool), np.empty(0, np.int64), columns, True, floats, floats,
        np.empty(0, np.int32), np.zeros(1), np.zeros(1), np.zeros(1),
    )  # fmt: skip


def kept(known, limits, held, part):
    """Whether these persons keep the promises."""
    if min(Counter(known.records[part].tolist()).values()) < limits.sharing:
        return False
    for attribute in range(2):
        shared = held[part][:, attribute == ATTRIBUTE_OF].sum(axis=0)
        if shared.max() > limits.affiliation[attribute] * len(part):
            return False
        if (shared > 0).sum() < limits.distinct[attribute]:
            return False
    return True


@given(drawn())
def test_both_sides_of_every_place(level):
    rng, known, limits, held, order, start, stop = level
    given_ = (known, axes_of(known), limits, 3)
    given_up = rng.random(stop - start - 1) < 0.2
    lost = np.where(given_up, np.inf, 0.5)
    lost, clean = _tree.checked_places(order, start, stop, *given_, lost)
    assert clean
    for end in range(start + 1, stop):
        sides = order[start:end], order[end:stop]
        expected = all(kept(known, limits, held, side) for side in sides)
        assert _tree.place_meets(order, start, end, stop, *given_) == (expected, True)
        if not given_up[end - start - 1]:
            assert np.isfinite(lost[end - start - 1]) == expected


@given(drawn())
def test_members_and_others(level):
    _, known, limits, held, order, start, stop = level
    given_ = (known, axes_of(known), limits, 3)
    part, member = order[start:stop], known.members[0]
    sides = part[member[part] == 1], part[member[part] != 1]
    if all(map(len, sides)):
        expected = all(kept(known, limits, held, side) for side in sides)
        assert _tree.members_meet(order, start, stop, 0, 1, *given_) == (expected, True)


@settings(max_examples=30)
@given(drawn())
def test_persons_numbered_anew_are_the_same(level):
    _, known, _, held, order, start, stop = level
    local = Known(*_tree.known_of(order, start, stop, known))
    for new, old in enumerate(order[start:stop]):
        assert local.records[new] == known.records[old]
        assert local.members[0, new] == known.members[0, old]
        assert local.squares[new] == known.squares[old]
        own = local.sensitive[local.sensitive_offsets[new] : local.sensitive_offsets[new + 1]]
        assert own.tolist() == np.flatnonzero(held[old]).tolist()
