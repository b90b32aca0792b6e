"""What attacks work on, what comes of one, and how an attack is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from sfumato.core.arrays import Bools, Floats
from sfumato.core.declaration import Progress
from sfumato.core.measure import Measure
from sfumato.intruder.attack_result import Claims
from sfumato.intruder.attack_subject import Held
from sfumato.intruder.candidates import Candidates, Identification, find_candidates
from sfumato.intruder.knowledge import Knowledge
from sfumato.intruder.reading import ReleasedFile
from sfumato.intruder.referee import judgements
from sfumato.intruder.referee.attack_odds import CalibrationBin, Outcome, calibration
from sfumato.intruder.referee.criteria import (
    Criterion,
    Finding,
    Tolerance,
    chance_of_each,
    persons_at_risk,
    persons_found,
)
from sfumato.risk.population.match_distribution import MatchDistribution
from sfumato.schema import Schema


@dataclass(frozen=True, eq=False)
class Staged:
    """What one attack ended with.

    Attributes
    ----------
    calibration
        Guesses grouped by the intruder's own chance; empty where that says nothing.
    warnings
        What was found although nothing was predicted about it.
    assuming
        What nobody is taken to know, so that what it found is not held against it; or empty.
    """

    outcome: Outcome
    calibration: tuple[CalibrationBin, ...] = ()
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    assuming: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Scene(Held):
    """The released file, what the intruder holds, and what only the referee knows.

    Attributes
    ----------
    claims
        What was predicted; for the referee.
    tolerance
        The tolerable chance that a person, or a value of one, is found.
    against_register
        Whether the intruder holds a register of its own rather than the original.
    review
        The folder of a clerical review, or ``None``.
    published
        Published hierarchies by quasi-identifier, where they are others than the schema's.
    """

    claims: Claims
    tolerance: Tolerance
    seed: int
    against_register: bool
    priors: tuple[ReleasedFile, ...]
    review: Path | None
    progress: Progress
    schema: Schema
    published: Mapping[str, str | Path]

    @property
    def threshold(self) -> float:
        """Chance above which a right guess counts as exposed."""
        return self.tolerance.person

    @cached_property
    def candidates(self) -> Candidates:
        """Which register persons fit which released class."""
        return find_candidates(self.file, self.knowledge)

    @cached_property
    def true_candidates(self) -> Candidates:
        """The same by what is true of them."""
        # Without errors both are one object, and the search takes most of the time.
        same = self.exact is self.knowledge
        return self.candidates if same else find_candidates(self.file, self.exact)

    @cached_property
    def uncounted(self) -> Knowledge:
        """What the intruder holds, without numbers of records."""
        return replace(self.knowledge, counts=None)

    def rng(self, name: str) -> np.random.Generator:
        """Randomness of one attack, the same whichever others run."""
        return np.random.default_rng([self.seed, *name.encode()])

    def claim(self, name: str, column: str | None = None) -> Measure | None:
        """What was predicted, or ``None``."""
        return self.claims.get(name, column)

    def calibrated(self, guesses: Identification) -> tuple[CalibrationBin, ...]:
        """How right the intruder was about his own chances."""
        return calibration(*self._made(guesses))

    def _made(self, guesses: Identification) -> tuple[Floats, Bools]:
        """The intruder's chance of each guess that was made, and whether it is right."""
        made = (guesses.unit >= 0) & (guesses.person >= 0)
        owner = judgements.owners(self.file, self.truth)
        return guesses.chance[made], owner.right(guesses.unit[made], guesses.person[made])

    def judged(
        self,
        name: str,
        what: str,
        guesses: Identification,
        predicted: str,
        *,
        calibrated: bool = False,
        one_to_one: bool = False,
        surest: bool = False,
        targeted: bool = False,
        own: MatchDistribution | None = None,
        criterion: Criterion | None = None,
    ) -> Staged:
        """How an identification went, as `judge_identification` judges it.

        Parameters
        ----------
        calibrated
            Whether chances are held against how often they came true.
        one_to_one, surest, targeted, own
            As `judge_identification` takes them.
        criterion
            What the guesses are held against beside the prediction; nothing where not given.
        """
        outcome = judgements.judge_identification(
            guesses,
            self.truth,
            self.file,
            attack=name,
            what=what,
            one_to_one=one_to_one,
            predicted=self.claim(predicted),
            threshold=self.threshold,
            surest=surest,
            own=own,
            targeted=targeted,
        )
        findings: tuple[Finding, ...] = ()
        if criterion is not None:
            chance, right = self._made(guesses)
            found = persons_found(
                criterion, name, right, chance, self.tolerance.person, one_to_one=one_to_one
            )
            findings = (found,)
        return Staged(outcome, self.calibrated(guesses) if calibrated else (), findings=findings)

    def at_risk(
        self, staged: Staged, guesses: Identification, criterion: Criterion, *, targeted: bool
    ) -> Staged:
        """The same with everybody's chance by exact matching held against the tolerance."""
        chance = chance_of_each(guesses, self.candidates, self.file, self.truth, targeted=targeted)
        name = staged.outcome.attack
        found = persons_at_risk(criterion, name, chance, self.tolerance.person)
        return replace(staged, findings=(found,))


Stage = Callable[[Scene], Iterable[Staged]]
"""An attack: what came of it, maybe under several claims."""


Of = Literal["all", "one_per_class", "surest"]
CLAIMED: tuple[tuple[str, Of, str], ...] = (
    ("", "one_per_class", "one of each class, drawn at random"),
    ("_surest", "surest", "only the classes of which the intruder expects most"),
)
"""What an attempt is about, against an average over classes and against a maximum."""

# The 95 % interval of a share of 1,000 is within 3 points, however large the file is.
TARGETS = 1_000
"""Persons, or households, who are looked for, drawn where there are more."""


@dataclass(frozen=True)
class Act:
    """An attack that can be staged.

    Attributes
    ----------
    place
        Where it comes in the order in which attacks run.
    lacks
        What it lacks in a scene, in words; empty where it can run.
    essential
        Whether nothing is called within these without it, even where it cannot run. Others are
        for somebody who holds more.
    """

    name: str
    place: int
    stage: Stage
    lacks: Callable[[Scene], str]
    criteria: frozenset[Criterion]
    essential: bool = False


PROMISED = frozenset({Criterion.PROMISES})


SINGLED = frozenset({Criterion.SINGLING_OUT})


LINKED = frozenset({Criterion.LINKABILITY})


INFERRED = frozenset({Criterion.INFERENCE})


def nothing(_scene: Scene) -> str:
    """What an attack lacks that needs nothing more."""
    return ""


def sensitive_shown(scene: Scene) -> str:
    """What an attack on values lacks, in words."""
    return "" if scene.file.sensitive else "a sensitive column in the released file"


def sensitive_and_true(scene: Scene) -> str:
    """What an attack on values lacks that needs true values of persons, in words."""
    return sensitive_shown(scene) or another(scene)


def several_releases(scene: Scene) -> str:
    """What an attack on several releases lacks, in words."""
    return "another release (priors)" if not scene.priors else another(scene)


def another(scene: Scene) -> str:
    """What an attack lacks that needs true values of persons, in words."""
    return "a register or original other than the file itself" if scene.itself else ""
