"""What files of a series tell together, beside loops over their people."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.risk.intruders import SeveralFiles, _cells


@st.composite
def files(draw: st.DrawFn) -> SeveralFiles:
    people, number = draw(st.integers(1, 12)), draw(st.integers(1, 5))

    def drawn(most: int) -> np.ndarray:
        one = st.integers(0, most)
        return np.array(draw(st.lists(one, min_size=people, max_size=people)), dtype=np.int64)

    columns = draw(st.sampled_from([[], ["a"], ["a", "b"]]))
    said = {name: [drawn(2) for _ in range(number)] for name in columns}
    left = np.minimum(drawn(number), number - 1) * drawn(1)
    for now, *before in said.values():
        for person in np.flatnonzero(left):  # their records go on as they were last
            for each in (now, *before[left[person] :]):
                each[person] = before[left[person] - 1][person]
    return SeveralFiles(drawn(3).astype(np.int32), said, left)


@given(files())
def test_who_left_is_among_those_of_the_class_who_have_not_changed_since(
    found: SeveralFiles,
) -> None:
    home, (of, one), chance = found.among_unchanged()
    for person, last in enumerate(found.left.tolist()):
        same = [
            other
            for other in range(len(home))
            if found.class_of[other] == found.class_of[person]
            and (
                not last
                or all(
                    then[other] == now[other]
                    for now, *before in found.said.values()
                    for then in before[last - 1 :]
                )
            )
        ]
        assert one[of == home[person]].tolist() == same
        assert chance[person] == pytest.approx(1 / len(same))
    assert np.isin(of, home).all()


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-(2**62), 2**62)), min_size=1))
def test_cells_are_told_apart_by_all_that_is_alike(rows: list[tuple[int, int]]) -> None:
    cell, chance = _cells([*np.array(rows, dtype=np.int64).T])
    for person, row in enumerate(rows):
        alike = [other for other, each in enumerate(rows) if each == row]
        assert np.flatnonzero(cell == cell[person]).tolist() == alike
        assert chance[person] == pytest.approx(1 / len(alike))
