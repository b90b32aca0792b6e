"""Exact matching: guess among those who fit, each time anew."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.intruder.candidates.blocks import Blocks, blocks_of
from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.guesses import Identification
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def exact_free(
    file: ReleasedFile,
    knowledge: Knowledge,
    candidates: Candidates,
    rng: np.random.Generator,
) -> Identification:
    """Guess for every released unit one of the register persons who fit, all equally likely.

    A register person may be guessed for several units. O(units log groups).

    Parameters
    ----------
    file
        The released file.
    knowledge
        What the intruder knows; with ``counts`` only persons with as many records as the unit
        has are drawn from.
    candidates
        Which persons fit which class.
    rng
        Source of randomness.

    Returns
    -------
    Identification
        One guess per unit, in their order; without a person and with chance 0 where nobody fits.
    """
    guessed, chance = _drawn(blocks_of(file, knowledge, candidates), rng)
    return Identification(np.arange(file.persons, dtype=np.int64), guessed, chance)


def exact_targeted(
    file: ReleasedFile,
    knowledge: Knowledge,
    candidates: Candidates,
    rng: np.random.Generator,
    *,
    targets: npt.ArrayLike | None = None,
) -> Identification:
    """Guess for every target one of the released units that fit, all equally likely.

    The prosecutor's attack (paper 004, Section 2.1): the intruder knows that the target is in
    the file. O(targets log kinds).

    Parameters
    ----------
    file
        The released file.
    knowledge
        What the intruder knows; with ``counts`` only units with as many records as the target
        has are drawn from.
    candidates
        Which persons fit which class.
    rng
        Source of randomness.
    targets
        Register persons who are known to be in the file; all of them when not given.

    Returns
    -------
    Identification
        One guess per target, in their order; without a unit and with chance 0 where none fits.

    Raises
    ------
    InputError
        If a target is not a number of a register person.
    """
    everybody = np.arange(knowledge.persons, dtype=np.int64)
    chosen = everybody if targets is None else _checked(targets, knowledge.persons)
    guessed, chance = _drawn(blocks_of(file, knowledge, candidates).turned(), rng, chosen)
    return Identification(guessed, chosen, chance)


def _checked(targets: npt.ArrayLike, persons: int) -> Ints:
    numbers = np.asarray(targets)
    whole = numbers.dtype.kind in "iu" or not numbers.size
    if numbers.ndim != 1 or not whole or ((numbers < 0) | (numbers >= persons)).any():
        raise InputError(
            "parameter targets",
            "must hold numbers of register persons",
            accepted=f"0 to {persons - 1}",
        )
    return numbers.astype(np.int64)


def _drawn(
    blocks: Blocks, rng: np.random.Generator, chosen: Ints | None = None
) -> tuple[Ints, Floats]:
    """For each unit a person who fits, drawn uniformly, and the chance of each who fits.

    The persons are laid out group by group; a number below the sum of the sizes of the groups
    that fit says the group, and which person in it.
    """
    kind = blocks.kind if chosen is None else blocks.kind[chosen]
    sizes, fits = blocks.sizes, blocks.fits
    below = np.concatenate([[0], np.cumsum(sizes[fits.indices])]).astype(np.int64)
    first, last = below[fits.indptr[:-1]][kind], below[fits.indptr[1:]][kind]
    fitting = last - first
    some = fitting > 0
    drawn = first[some] + rng.integers(0, fitting[some])
    place = np.searchsorted(below, drawn, side="right") - 1
    by_group = np.argsort(blocks.group, kind="stable")
    starts = np.cumsum(sizes) - sizes
    guessed = np.full(len(kind), -1, dtype=np.int64)
    guessed[some] = by_group[starts[fits.indices[place]] + drawn - below[place]]
    return guessed, np.where(some, 1.0 / np.maximum(fitting, 1), 0.0)
