"""Attack a released file for real, and hold what was found against what was predicted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress, drawn_seed, silent
from sfumato.intruder.candidates.find import find_candidates
from sfumato.intruder.claims import Claims, claims_of_file
from sfumato.intruder.held import Given, Held, held_against
from sfumato.intruder.held_words import in_words, warnings_of
from sfumato.intruder.knowledge.noise import Shares
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
from sfumato.risk.reidentification import check_threshold
from sfumato.schema import Schema


def attack(  # noqa: PLR0913
    release: Any = None,
    *,
    register: Any = None,
    original: Any = None,
    truth: Any = None,
    priors: Sequence[Any] = (),
    schema: Schema | None = None,
    knows: Sequence[str] | None = None,
    counts: bool = False,
    noise: Shares = 0.0,
    missing: Shares = 0.0,
    population: int | None = None,
    threshold: float = 0.2,
    attacks: Sequence[str] | None = None,
    hierarchies: Mapping[str, str | os.PathLike[str]] | None = None,
    review: str | os.PathLike[str] | None = None,
    delimiter: str | None = None,
    seed: int | None = None,
    progress: Progress = silent,
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
    register
        Persons with exact values, as a dataframe or a path: what the intruder holds. The
        original where not given, which is what an acquaintance knows: its quasi-identifiers and
        direct identifiers; for a release on request, the local data of whoever asked.
    original
        The file that was released, where ``release`` does not hold it.
    truth
        Whose each released record is, for the referee: ``"same-order"``, the path of a file with
        columns ``row`` (from 1) and ``person``, or a person id per record. A `Release` knows it.
        Without it and without original and register, the file is its own original.
    priors
        Other releases about the same persons.
    schema
        What each column of the original is; that of a `Release` where not given.
    knows
        The quasi-identifiers that the intruder knows; all where not given.
    counts
        Whether the intruder knows how many records each person has in the release.
    noise, missing
        Share of the values that the intruder knows wrongly, or not at all: of all
        quasi-identifiers, or by column.
    population
        Number of persons of the population that ``register`` is one of, for what is predicted of a
        file that comes without predictions.
    threshold
        A right guess of which the intruder was surer counts as exposed.
    attacks
        Names of the attacks to run; all that fit where not given.
    hierarchies
        Published hierarchies by quasi-identifier (one row per leaf); the schema's where not
        given.
    review
        The folder of a clerical review, to attack with what a worker's screen showed: what
        ``sfumato link`` wrote or a project, with the journals of ``sfumato review play``.
    delimiter
        The separator of a released CSV file; found by itself when not given.
    seed
        Seed of every random choice; drawn when not given.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the files do not fit the schema or each other, nobody says whose the records are, or a
        parameter is out of range.
    """
    check_threshold(threshold)
    check_names(attacks)
    drawn = drawn_seed(seed)
    if release is None:
        others = {
            "register": register, "original": original, "truth": truth, "priors": priors or None,
            "schema": schema, "knows": knows, "counts": counts or None, "noise": noise or None,
            "missing": missing or None, "population": population,
            "hierarchies": hierarchies or None, "delimiter": delimiter,
        }  # fmt: skip
        folder = check_alone(review, attacks, others)
        return attack_review(folder, threshold=threshold, seed=drawn, progress=progress)
    subject = subject_of(release)
    given = Given(
        register=subject.register if register is None else register,
        original=subject.original if original is None else original,
        truth=truth,
        source_rows=subject.source_rows,
        schema=_declared(schema, subject),
        knows=knows,
        counts=counts,
        noise=noise,
        missing=missing,
        hierarchies=_paths(hierarchies),
        delimiter=delimiter,
        priors=tuple(priors),
        review=None if review is None else Path(review),
    )
    _check_population(population, subject, given)
    progress("read", 0.0)
    held = held_against(subject.shown, given, np.random.default_rng([drawn, *b"noise"]))
    progress("read", 1.0)
    claims = subject.claims
    if claims is None:
        claims = claims_of_file(held.file, population=population, threshold=threshold, seed=drawn)
    else:
        claims = claims.for_register(0 if given.register is None else held.knowledge.persons)
    return _run(_scene(held, given, claims, threshold, drawn, progress), attacks, held, given)


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
