"""What attacks work on, what comes of one, and how an attack is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sfumato.core.arrays import Floats, Ints
from sfumato.core.declaration import Progress
from sfumato.core.errors import InputError
from sfumato.core.extensions import Extension
from sfumato.core.measure import Measure
from sfumato.core.phrases import Phrase
from sfumato.intruder.attack_result import Claims
from sfumato.intruder.attack_subject import Held
from sfumato.intruder.candidates import Candidates, Identification, find_candidates
from sfumato.intruder.knowledge import Knowledge
from sfumato.intruder.reading import ReleasedFile
from sfumato.intruder.referee import judgements
from sfumato.intruder.referee.attack_odds import CalibrationBin, Outcome, calibration
from sfumato.intruder.referee.weighed_evidence import Speaks
from sfumato.risk.population.match_distribution import MatchDistribution
from sfumato.schema import Schema


@dataclass(frozen=True, eq=False)
class Staged:
    """What one attack ended with.

    Attributes
    ----------
    calibration
        Guesses grouped by the intruder's own chance; empty where that says nothing.
    speaks
        The number of its row that it speaks about; ``None`` for a note.
    """

    outcome: Outcome
    calibration: tuple[CalibrationBin, ...] = ()
    warnings: tuple[str, ...] = ()
    speaks: Speaks | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Scene(Held):
    """The released file, what the intruder holds, and what only the referee knows.

    Attributes
    ----------
    claims
        What was predicted; for the referee.
    against_register
        Whether the intruder holds a register of its own rather than the original.
    review
        The folder of a clerical review, or ``None``.
    published
        Published hierarchies by quasi-identifier, where they are others than the schema's.
    """

    claims: Claims
    seed: int
    against_register: bool
    priors: tuple[ReleasedFile, ...]
    review: Path | None
    progress: Progress
    schema: Schema
    published: Mapping[str, str | Path]

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
        made = (guesses.unit >= 0) & (guesses.person >= 0)
        owner = judgements.owners(self.file, self.truth)
        right = owner.right(guesses.unit[made], guesses.person[made])
        return calibration(guesses.chance[made], right)

    def judged(
        self,
        name: str,
        what: str,
        guesses: Identification,
        predicted: str,
        *,
        calibrated: bool = False,
        surest: bool = False,
        targeted: bool = False,
        own: MatchDistribution | None = None,
        **speaks: Any,
    ) -> Staged:
        """How an identification went, as `judge_identification` judges it, which takes the same."""
        outcome = judgements.judge_identification(
            guesses,
            self.truth,
            self.file,
            attack=name,
            what=what,
            one_to_one=speaks.get("one_to_one", False),
            predicted=self.claim(predicted),
            surest=surest,
            own=own,
            targeted=targeted,
        )
        # Of targets all were looked for; of the surest guesses the chance of one is meant.
        about = Speaks("person", **speaks) if surest else self.found_people(**speaks)
        about = replace(about, people=None) if targeted else about
        return Staged(outcome, self.calibrated(guesses) if calibrated else (), speaks=about)

    def found_people(self, *, knows_more: bool = False, **speaks: Any) -> Speaks:
        """That guesses for released people speak about the share of them who are found.

        A person with several pseudonyms is guessed several times, which no row of a verdict is
        about.
        """
        known = self.truth.owner >= 0
        units = len(np.unique(self.file.unit[known]))
        divided = units > int(self.truth.released.sum())
        return Speaks("found", people=self.file.persons, knows_more=knows_more or divided, **speaks)


Stage = Callable[[Scene], Iterable[Staged]]
"""An attack: what came of it, maybe under several claims."""


Of = Literal["all", "one_per_class", "surest"]
CLAIMED: tuple[tuple[str, Of, str], ...] = (
    ("", "one_per_class", Phrase("one of each class, drawn at random")),
    ("_surest", "surest", Phrase("only the classes of which the intruder expects most")),
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
    row
        The intruder for whose row of the verdict it is evidence, or ``review``.
    lacks
        What it lacks in a scene, in words; empty where it can run.
    """

    name: str
    place: int
    row: str
    stage: Stage
    lacks: Callable[[Scene], str]


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


def added_act(extension: Extension) -> Act:
    """The attack that another package adds: it guesses, and our referee judges.

    It is given what our own guesses are: the file as an outsider reads it, what the intruder knows,
    and randomness; never the truth.
    """

    def stage(scene: Scene) -> Iterator[Staged]:
        with extension.at_work():
            said = extension.part(scene.file, scene.uncounted, scene.rng(extension.name))
            unit, person = (np.asarray(each, dtype=np.int64) for each in (said.unit, said.person))
            chance = np.asarray(said.chance, dtype=np.float64)
        _check_guesses(extension, scene, unit, person, chance)
        what = Phrase(
            "Guesses of the {attack}, which are no evidence for the verdict.", attack=str(extension)
        )
        guesses = Identification(unit, person, chance)
        yield replace(scene.judged(extension.name, what, guesses, "marketer"), speaks=None)

    return Act(extension.name, 1_000, "stranger", stage, nothing)


def _check_guesses(
    extension: Extension, scene: Scene, unit: Ints, person: Ints, chance: Floats
) -> None:
    """Refuse guesses about records or people that are not there, or a second one for a record."""
    named = unit[unit >= 0]
    if (
        unit.ndim == 1
        and unit.shape == person.shape == chance.shape
        and (unit < scene.file.persons).all()
        and (person < scene.knowledge.persons).all()
        and len(np.unique(named)) == len(named)
        and ((chance >= 0) & (chance <= 1)).all()
    ):
        return
    raise InputError(
        f"the {extension}",
        "must guess once for a released person, by numbers of the file and of the register",
        advice="ask the authors of the package",
    )
