"""Which releases are joined, pair by pair, and what each person is told by all of a group."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from sfumato.ledger import composition
from sfumato.ledger.composition import LEAST_ALIKE, Handed, Measured
from sfumato.ledger.overlap import People, common_columns
from sfumato.ledger.sketches import Shown


def people_by_id(handed: Mapping[int, Handed]) -> People:
    """The persons of releases that have nobody in common but by the same ids."""
    number: dict[bytes, int] = {}
    of_release = {
        each: np.array(
            [number.setdefault(name, len(number)) for name in one.sketch.persons.tolist()]
        )
        for each, one in handed.items()
    }
    return People(len(number), of_release, ())


def measured_together(handed: Mapping[int, Handed], people: People) -> dict[int, Measured]:
    """What is known of the persons of each release, nothing taken from a shorter way."""
    group, weak = {number: {number} for number in handed}, {}
    for one, other in combinations(handed, 2):
        strong, shown = _joined(handed[one], handed[other], people, (one, other))
        if strong:
            merged = group[one] | group[other]
            group |= dict.fromkeys(merged, merged)
        elif shown:
            weak[one, other] = shown
            weak[other, one] = [(b, a) for a, b in shown]
    measured = {}
    for number, each in handed.items():
        told: dict[int, list[int]] = {}
        for other in sorted(group[number]):
            classes = dict(zip(people.of_release[other], handed[other].sketch.classes, strict=True))
            for person in people.of_release[number].tolist():
                told.setdefault(person, []).append(int(classes.get(person, -1)))
        cells: dict[tuple[int, ...], int] = {}
        cell = np.array(
            [
                cells.setdefault(tuple(told[person]), len(cells))
                for person in people.of_release[number].tolist()
            ],
            dtype=np.int64,
        )
        fits = [
            composition._fit(number, other, pairs, handed, people)
            for (one, other), pairs in weak.items()
            if one == number and other not in group[number]
        ]
        measured[number] = composition._fitting(each, cell, fits) if fits else each.in_cells(cell)
    return measured


def _joined(first: Handed, second: Handed, people: People, pair: tuple[int, int]):
    one, other = (people.of_release[number].tolist() for number in pair)
    common = [(one.index(person), at) for at, person in enumerate(other) if person in one]
    shown = {}
    for a, b in common_columns(first.sketch, second.sketch):
        alike = np.mean([a.digests[i] == b.digests[j] for i, j in common]) if common else 0.0
        recoded = a.shown == b.shown == Shown.RECODED
        hardly = alike < LEAST_ALIKE and Shown.PSEUDONYM in (a.shown, b.shown)
        if common and not recoded and not hardly:
            shown[a, b] = float(alike)
    joined = bool(shown) or composition._rows_tell(first.sketch, second.sketch)
    guessed = joined and pair in people.by_looks
    exact = all(composition._is_exact(a, b, alike) for (a, b), alike in shown.items())
    strong = (first.ordered and second.ordered) or guessed or not exact
    return strong, list(shown)
