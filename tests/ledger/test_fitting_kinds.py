"""Who fits a person's classes elsewhere, held against plain counting of every pair."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sfumato.core.arrays import Ints
from sfumato.ledger.fitting_kinds import Candidates, Fit

NOBODY = -1


def drawn(seed: int) -> tuple[Ints, list[Fit], Ints, list[tuple[Ints, Ints, Ints, Ints]]]:
    """Cells of some persons, what they show beside one or two other releases, and a column."""
    rng = np.random.default_rng(seed)
    persons, values = int(rng.integers(1, 60)), int(rng.choice([2, 12, 90]))
    cell = rng.integers(0, int(rng.integers(1, 6)), persons)
    given = []
    for _ in range(int(rng.integers(1, 3))):
        others = int(rng.integers(1, 60))
        classes = np.unique(rng.integers(0, 8, others), return_inverse=True)[1]
        wanted = rng.integers(NOBODY, int(classes.max()) + 1, persons)
        own, theirs = rng.integers(0, values, persons), rng.integers(0, values, others)
        given.append((own, wanted, theirs, classes))
    return cell, [Fit.of(*each) for each in given], rng.integers(0, 3, persons), given


@pytest.mark.parametrize("seed", range(60))
def test_kinds_count_what_persons_do(seed: int) -> None:
    cell, fits, column, given = drawn(seed)
    told = Candidates.of(cell, fits, [column]).counted([column])
    counts, (same,), (right,), hit = told.candidates, told.same, told.right, told.hit
    sets = {
        (tuple(one[of == place]), int(persons[place]))
        for persons, of, one in Candidates.of(cell, fits).sets()
        for place in range(len(persons))
    }
    hits, expected = 0.0, []
    for person in range(len(cell)):
        odds = dict.fromkeys(np.flatnonzero(cell == cell[person]).tolist(), 1.0)
        for own, wanted, theirs, classes in given:
            there = theirs[classes == wanted[person]]
            for each in odds if wanted[person] != NOBODY else ():
                odds[each] *= np.sum(there == own[each]) / max(np.sum(theirs == own[each]), 1)
        likeliest = [each for each in odds if odds[each] >= max(odds.values()) * (1 - 1e-9)]
        hits += (person in likeliest) / len(likeliest)
        left = {each for each in odds if odds[each] > 0} | {person}
        assert counts[person] == len(left)
        assert same[person] == sum(column[each] == column[person] for each in left)
        often = Counter(column[each] for each in left)
        guesses = [value for value, many in often.items() if many == max(often.values())]
        assert right[person] == pytest.approx((column[person] in guesses) / len(guesses))
        expected.append(tuple(sorted(left)))
    assert hit == pytest.approx(hits / len(cell))
    assert sum(number for _, number in sets) <= len(cell)
    assert {tuple(sorted(each)) for each, _ in sets} <= set(expected)
