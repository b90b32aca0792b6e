"""Attack a released file for real, and hold what was found against what was predicted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from sfumato.core.declaration import keywords, taken
from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress, drawn_seed, silent
from sfumato.intruder.attack_options import (
    AttackOptions,
    Circumstances,
    Holding,
    Judging,
    Referee,
)
from sfumato.intruder.candidates.find import find_candidates
from sfumato.intruder.claims import Claims, claims_of_file
from sfumato.intruder.held import Given, Held, held_against
from sfumato.intruder.held_words import in_words, warnings_of
from sfumato.intruder.reading.read import read_release
from sfumato.intruder.reading.released_file import ReleasedFile
from sfumato.intruder.referee.calibration import CalibrationBin
from sfumato.intruder.referee.judge_run import judge_run
from sfumato.intruder.referee.outcome import Outcome
from sfumato.intruder.result import Attack
from sfumato.intruder.review_alone import attack_review, check_alone
from sfumato.intruder.staging.registry import ACTS, check_names, chosen
from sfumato.intruder.staging.scene import Scene
from sfumato.intruder.subject import Subject, subject_of
from sfumato.schema import Schema


@keywords(Holding, Referee, Judging, Circumstances)
def attack(
    release: Any = None,
    *,
    schema: Schema | None = None,
    progress: Progress = silent,
    **options: Unpack[AttackOptions],
) -> Attack:
    """Attack a released file as an intruder would, and compare with what was predicted.

    The intruder reads the released file with a parser that shares no code with the release, and
    holds a register; the referee alone knows whose each record is, counts right guesses, and
    shows a prediction as broken that they exceed beyond what chance allows.

    Parameters
    ----------
    release
        What ``anonymize`` or ``anonymize_requested`` returned, the path of a released file, or a
        dataframe; of sfumato or of another tool. With ``review`` it may be left out.
    schema
        What each column of the original is; that of a `Release` where not given.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the files do not fit the schema or each other, nobody says whose the records are, or a
        parameter is out of range.
    """
    holding, referee, judging, given = taken(options, Holding, Referee, Judging, Circumstances)
    check_names(judging.attacks)
    seed = drawn_seed(given.seed)
    if release is None:
        others = {
            name: None if _is_nothing(value) else value
            for name, value in {"schema": schema, **options}.items()
            if name not in BESIDE_REVIEW
        }
        folder = check_alone(holding.review, judging.attacks, others)
        return attack_review(folder, threshold=judging.threshold, seed=seed, progress=progress)
    subject = subject_of(release)
    everything = Given(
        register=subject.register if holding.register is None else holding.register,
        original=subject.original if referee.original is None else referee.original,
        truth=referee.truth,
        source_rows=subject.source_rows,
        schema=_declared(schema, subject),
        knows=holding.knows,
        counts=holding.counts,
        noise=holding.noise,
        missing=holding.missing,
        hierarchies=_paths(holding.hierarchies),
        delimiter=given.delimiter,
        priors=tuple(holding.priors),
        review=holding.review,
    )
    _check_population(judging.population, subject, everything)
    progress("read", 0.0)
    held = held_against(subject.shown, everything, np.random.default_rng([seed, *b"noise"]))
    progress("read", 1.0)
    claims = subject.claims
    if claims is None:
        claims = claims_of_file(
            held.file, population=judging.population, threshold=judging.threshold, seed=seed
        )
    else:
        persons = 0 if everything.register is None else held.knowledge.persons
        claims = claims.for_register(persons)
    scene = _scene(held, everything, claims, judging.threshold, seed, progress)
    return _run(scene, judging.attacks, held, everything)


BESIDE_REVIEW = frozenset({"review", "attacks", "threshold", "seed"})
"""Options that apply where the screens of a review are attacked without a release."""


def _is_nothing(value: object) -> bool:
    """Whether an option says no more than where it is left out."""
    return isinstance(value, bool | float | tuple | list | dict) and not value


def _scene(
    held: Held, given: Given, claims: Claims, threshold: float, seed: int, progress: Progress
) -> Scene:
    return Scene(
        file=held.file,
        knowledge=held.knowledge,
        truth=held.truth,
        claims=claims,
        threshold=threshold,
        seed=seed,
        against_register=given.register is not None,
        itself=held.itself,
        priors=_other_releases(given, held),
        review=given.review,
        progress=progress,
    )


def _run(scene: Scene, attacks: Sequence[str] | None, held: Held, given: Given) -> Attack:
    names, left_out = chosen(scene, attacks)
    outcomes: list[Outcome] = []
    calibrations: dict[str, tuple[CalibrationBin, ...]] = {}
    for place, name in enumerate(names):
        scene.progress(f"attack {name}", place / len(names))
        for staged in ACTS[name].stage(scene):
            outcomes.append(staged.outcome)
            if staged.calibration:
                calibrations[staged.outcome.attack] = staged.calibration
    scene.progress("attack", 1.0)
    exact = scene.candidates
    if held.exact is not held.knowledge:
        exact = find_candidates(held.file, held.exact)
    return Attack(
        outcomes=judge_run(outcomes),
        records=held.file.records,
        persons=held.file.persons,
        register_persons=held.knowledge.persons,
        held=in_words(held, given),
        claims=scene.claims,
        threshold=scene.threshold,
        seed=scene.seed,
        warnings=(*warnings_of(held, exact), *left_out),
        calibration=calibrations,
    )


def _other_releases(given: Given, held: Held) -> tuple[ReleasedFile, ...]:
    """The other releases as an outsider reads them."""
    return tuple(
        read_release(
            subject_of(prior).shown,
            given.schema,
            hierarchies=given.hierarchies,
            known=held.exact,
        )
        for prior in given.priors
    )


def _declared(schema: Schema | None, subject: Subject) -> Schema:
    declared = schema or subject.schema
    if declared is None:
        raise InputError(
            "parameter schema",
            "must say what each column is where a file or dataframe is attacked",
            advice="load one with load_schema, or run: sfumato schema guess",
        )
    return declared


def _check_population(population: int | None, subject: Subject, given: Given) -> None:
    if population is None:
        return
    if subject.claims is not None:
        raise InputError(
            "parameter population",
            "must be left out where the release has predictions of its own",
            found="such a release",
        )
    if given.register is None:
        raise InputError(
            "parameter population",
            "must stand beside a register of that population",
            found="an intruder who knows who is in the file",
        )


def _paths(
    hierarchies: Mapping[str, str | os.PathLike[str]] | None,
) -> Mapping[str, str | Path] | None:
    if not hierarchies:
        return None
    return {name: Path(path) for name, path in hierarchies.items()}
