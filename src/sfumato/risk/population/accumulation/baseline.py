"""How classes would accumulate if the quasi-identifiers went together in a tree of pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.risk.population.accumulation.margins import Margin
from sfumato.risk.population.accumulation.pairs import GAIN, Pair
from sfumato.risk.population.sample import SampleClasses

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

DRAWS = 40_000
"""Persons drawn from the model; the sums over all cells are off by under a percent."""

LEARNT = 100_000
"""Classes that the tree is learnt from; its pairs are then counted over all."""
LEAST = -690.0
"""Logarithm of the least probability of a cell that counts; below it would become 0."""


def cell_probabilities(sample: SampleClasses, rng: np.random.Generator) -> Floats:
    """The probability of the cell of each of `DRAWS` persons drawn from the model.

    The quasi-identifiers form the tree of pairs that tell most of each other (Chow & Liu 1968,
    IEEE Trans. Inf. Theory 14:462-467), by how well each person is foretold by the others; those
    that tell nothing are independent. Without keys the classes count as the values of a single
    quasi-identifier. Shape (`DRAWS`,). O(classes x quasi-identifiers^2).
    """
    keys = sample.keys
    if keys is None:
        margin = Margin(np.arange(len(sample.sizes)), sample.sizes, sample.times)
        drawn = margin.draw(DRAWS, rng)
        return np.exp(np.maximum(margin.log_probability(drawn, rng), LEAST))
    margins = [Margin(codes, sample.sizes) for codes in keys.T]
    some = slice(None, None, 1 + sample.classes // LEARNT)
    codes: dict[int, Ints] = {}
    log = np.zeros(DRAWS)
    for parent, child in _tree(_gains(keys[some], sample.sizes[some])):
        if parent is None:
            codes[child] = margins[child].draw(DRAWS, rng)
            log += margins[child].log_probability(codes[child], rng)
            continue
        both = (margins[parent], margins[child])
        pair = Pair(keys[:, parent], keys[:, child], both, sample.sizes)
        codes[child], chances = pair.follow(codes[parent], rng)
        log += chances
    return np.exp(np.maximum(log, LEAST))


def classes_and_growth(probabilities: Floats, persons: Floats) -> tuple[Floats, Floats]:
    """Expected classes D(m) of m persons in the model, and their growth d log D / d log m.

    The sum over all cells of 1 - exp(-m p) is the mean over persons drawn of that over p.

    Parameters
    ----------
    probabilities
        What `cell_probabilities` drew.
    persons
        The numbers m, shape (points,).
    """
    classes, alone = np.empty(len(persons)), np.empty(len(persons))
    for point, m in enumerate(persons.tolist()):
        classes[point] = np.mean(-np.expm1(-m * probabilities) / probabilities)
        alone[point] = m * np.mean(np.exp(-m * probabilities))
    return classes, alone / classes


def _gains(keys: npt.NDArray[np.int32], sizes: Ints) -> Floats:
    """What each pair of quasi-identifiers tells of each other; symmetric."""
    margins = [Margin(codes, sizes) for codes in keys.T]
    gains = np.zeros((len(margins), len(margins)))
    for second in range(len(margins)):
        for first in range(second):
            both = (margins[first], margins[second])
            pair = Pair(keys[:, first], keys[:, second], both, sizes)
            gains[first, second] = gains[second, first] = pair.gain
    return gains


def _tree(gains: Floats) -> list[tuple[int | None, int]]:
    """Parent and child along the tree of the largest gains (Prim), parents first."""
    order: list[tuple[int | None, int]] = [(None, 0)]
    inside, outside = [0], list(range(1, len(gains)))
    while outside:
        among = gains[np.ix_(inside, outside)]
        row, column = np.unravel_index(int(np.argmax(among)), among.shape)
        child = outside.pop(int(column))
        order.append((inside[row] if among[row, column] > GAIN else None, child))
        inside.append(child)
    return order
