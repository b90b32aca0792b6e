"""What one run of attacks works on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from sfumato.core.measure import Measure
from sfumato.core.shared_options import Progress
from sfumato.intruder.candidates.candidates import Candidates
from sfumato.intruder.candidates.find import find_candidates
from sfumato.intruder.claims import Claims
from sfumato.intruder.guesses import Identification
from sfumato.intruder.knowledge.knowledge import Knowledge
from sfumato.intruder.reading.released_file import ReleasedFile
from sfumato.intruder.referee.calibration import CalibrationBin, calibration
from sfumato.intruder.referee.outcome import Outcome
from sfumato.intruder.referee.truth import Truth
from sfumato.intruder.referee.units import owners


@dataclass(frozen=True, eq=False)
class Scene:
    """The released file, what the intruder holds, and what only the referee knows.

    Attributes
    ----------
    file
        The released file as an outsider reads it.
    knowledge
        What the intruder holds, errors included.
    truth
        Whose each record is; for the referee.
    claims
        What was predicted; for the referee.
    threshold
        Chance above which a right guess counts as exposed.
    seed
        Seed of every random choice.
    against_register
        Whether the intruder holds a register of its own rather than the original.
    itself
        Whether the file is its own original: everybody is known by the class they are in.
    priors
        Other releases about the same persons, as an outsider reads them.
    review
        The folder of a clerical review, or ``None``.
    progress
        Told how far the work is.
    """

    file: ReleasedFile
    knowledge: Knowledge
    truth: Truth
    claims: Claims
    threshold: float
    seed: int
    against_register: bool
    itself: bool
    priors: tuple[ReleasedFile, ...]
    review: Path | None
    progress: Progress

    @cached_property
    def candidates(self) -> Candidates:
        """Which register persons fit which released class."""
        return find_candidates(self.file, self.knowledge)

    @cached_property
    def uncounted(self) -> Knowledge:
        """What the intruder holds, without numbers of records."""
        return replace(self.knowledge, counts=None)

    def rng(self, name: str) -> np.random.Generator:
        """Randomness of one attack, the same whichever others run.

        Parameters
        ----------
        name
            The attack.
        """
        return np.random.default_rng([self.seed, *name.encode()])

    def claim(self, name: str, column: str | None = None) -> Measure | None:
        """What was predicted, or ``None``.

        Parameters
        ----------
        name
            The measure.
        column
            The sensitive attribute that it is about.
        """
        return self.claims.get(name, column)

    def calibrated(self, guesses: Identification) -> tuple[CalibrationBin, ...]:
        """How right the intruder was about his own chances.

        Parameters
        ----------
        guesses
            What he guessed.
        """
        made = (guesses.unit >= 0) & (guesses.person >= 0)
        right = owners(self.file, self.truth).right(guesses.unit[made], guesses.person[made])
        return calibration(guesses.chance[made], right)


@dataclass(frozen=True, eq=False)
class Staged:
    """What one attack ended with.

    Attributes
    ----------
    outcome
        The referee's verdict.
    calibration
        Guesses grouped by the intruder's own chance; empty where that says nothing.
    """

    outcome: Outcome
    calibration: tuple[CalibrationBin, ...] = ()


Stage = Callable[[Scene], Iterable[Staged]]
"""An attack: what came of it, maybe under several claims."""
