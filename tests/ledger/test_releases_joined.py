"""The ledger's comparison of many files beside one that looks at every pair of them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.joined_releases import measured_together, people_by_id

import sfumato as sf
from sfumato.ledger import composition
from sfumato.ledger.composition import Handed, Measured, together
from sfumato.ledger.overlap import by_id
from sfumato.ledger.sketches import Shown, Sketch, SketchColumn

PEOPLE = 14


@st.composite
def series(draw: st.DrawFn) -> dict[int, Handed]:
    """Files of one series: classes last, come and go, or one file cuts them anew."""
    home = draw(st.lists(st.integers(0, 3), min_size=PEOPLE, max_size=PEOPLE))
    status = draw(st.lists(st.integers(0, 3), min_size=PEOPLE, max_size=PEOPLE))
    changes = draw(st.sampled_from([0, 1, PEOPLE]))
    ordered = draw(st.booleans())
    handed = {}
    for number in range(draw(st.integers(1, 6))):
        shown = draw(st.sets(st.integers(0, 3), min_size=1))
        missing = draw(st.sets(st.integers(0, PEOPLE - 1), max_size=2))
        there = [each for each in range(PEOPLE) if home[each] in shown and each not in missing]
        there = there or [0]
        for person in draw(st.sets(st.integers(0, PEOPLE - 1), max_size=changes)):
            status[person] = draw(st.integers(0, 3))
        anew = draw(st.integers(0, 5)) == 0
        own = [each % 2 if anew else home[each] for each in there]
        renumbered = np.unique(own, return_inverse=True)[1]
        pseudonyms = draw(st.integers(0, 5)) or number + 1
        handed[3 * number + 2] = Handed(
            sketch(there, renumbered, [status[each] for each in there], pseudonyms),
            ordered=ordered and draw(st.booleans()),
            promises=(sf.PidKAnonymity(3),),
            series="s",
        )
    return handed


def sketch(there: list[int], classes: np.ndarray, status: list[int], secret: int) -> Sketch:
    names = np.array([bytes([each]) * 8 + bytes([each]) * 8 for each in there], dtype="S16")
    digests = np.array([100 * secret + each for each in there], np.uint32)
    said = np.array(status, dtype=np.uint32)
    columns = (
        SketchColumn("id", Shown.PSEUDONYM, "person", True, digests),
        SketchColumn("born", Shown.RECODED, "quasi-identifier", True, digests + 1),
        SketchColumn("status", Shown.UNCHANGED, "sensitive", True, said, said.astype(np.int64)),
    )
    return Sketch(names, classes, columns)


def assert_same(found: dict[int, Measured], expected: dict[int, Measured]) -> None:
    """Equal but for the last bits of sums, of which cells have another order."""
    assert found.keys() == expected.keys()
    for number, each in found.items():
        assert figures(each) == pytest.approx(figures(expected[number]), abs=1e-12)
        assert each.learned.keys() == expected[number].learned.keys()


def figures(each: Measured) -> list[float]:
    more = np.ravel([*each.unkept, *each.learned.values()])
    return [each.found, each.fewest, each.certain, each.looked_at, *more]


@given(series())
def test_what_files_of_a_series_tell_is_what_all_pairs_of_them_tell(
    handed: dict[int, Handed],
) -> None:
    people = people_by_id(handed)
    noted = {
        number: replace(each, noted=Measured.noted(json.loads(json.dumps(asdict(each.alone)))))
        for number, each in handed.items()
    }
    for found in (together(handed), together(noted)):
        assert found.people.count == people.count
        numbers = np.full(people.count, -1)
        for number, own in people.of_release.items():
            numbers[found.people.of_release[number]] = own
        for number, own in people.of_release.items():
            assert numbers[found.people.of_release[number]].tolist() == own.tolist()
        assert_same(found.all, measured_together(handed, people))
        *earlier, last = handed
        before = {number: handed[number] for number in earlier}
        assert_same(found.before, measured_together(before, people))
        assert found.alone == {
            number: each.in_cells(each.sketch.classes) for number, each in handed.items()
        }
        assert last in found.all


def test_what_was_noted_of_a_sketch_is_not_said_of_another_one() -> None:
    one = Handed(sketch([0, 1, 2, 3], np.array([0, 0, 1, 1]), [0, 0, 1, 2], 1))
    noted = replace(one, noted=Measured(found=0.9))
    assert noted.alone.found == 0.9
    whole = noted.showing(replace(one.sketch, classes=np.zeros(4, np.int64)))
    assert whole.alone.found == 0.25
    less = composition.withholding({1: noted}, ["status"])[1]
    assert less.alone.found == 0.5
    assert not less.alone.learned


@given(st.lists(st.binary(min_size=1, max_size=2)), st.lists(st.binary(min_size=1, max_size=2)))
def test_people_are_joined_by_their_digests(first: list[bytes], second: list[bytes]) -> None:
    # Digests that share their first half, which are compared otherwise.
    for head in (b"", b"h" * 8):
        one, other = (
            np.array(sorted({(head + each * 16)[:16] for each in names}), dtype="S16")
            for names in (first, second)
        )
        mine, theirs = by_id(one, other)
        common = sorted(set(one.tolist()) & set(other.tolist()))
        assert one[mine].tolist() == other[theirs].tolist() == common
