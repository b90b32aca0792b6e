"""Attack a release: knowledge, attacks, judgement, one after the other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from sfumato.core.declaration import Progress, drawn_seed, keywords, layout_of, silent, taken
from sfumato.core.errors import InputError, typed
from sfumato.core.measure import Measure
from sfumato.core.number_text import counted, share_text
from sfumato.core.phrases import Listed, Phrase
from sfumato.intruder import attack_options
from sfumato.intruder import attacks as all_attacks
from sfumato.intruder.attack_result import (
    Attack,
    Claims,
    chances_in_register,
    claims_of_file,
    found_in_file,
)
from sfumato.intruder.attack_subject import Given, Held, Subject, held_against, subject_of
from sfumato.intruder.attacks import worker_screens
from sfumato.intruder.attacks.scene import Scene
from sfumato.intruder.candidates import Candidates
from sfumato.intruder.reading import ReleasedFile, read_release
from sfumato.intruder.referee.attack_odds import CalibrationBin
from sfumato.intruder.referee.weighed_evidence import Trial, weighed
from sfumato.risk.evidence import REVIEW
from sfumato.risk.learned_values import Share
from sfumato.risk.verdict import Limits, Verdict, judge
from sfumato.schema import Schema
from sfumato.table.table_files import opened_where_needed

MOST = 6
"""Columns that are named one by one."""


def in_words(held: Held, given: Given) -> tuple[str, ...]:
    """What the intruder held, one sentence each."""
    return tuple(_sentences(held, given))


def _sentences(held: Held, given: Given) -> Iterator[str]:
    people = counted(held.knowledge.persons, "person")
    if held.itself:
        yield Phrase(
            "Nothing but the file: of all {people} in it the intruder knows the class that they "
            "are in, as one would who knows all quasi-identifiers.",
            people=people,
        )
    else:
        yield (
            Phrase("The intruder holds the exact data of {people}.", people=people)
            if given.register is None
            else Phrase("The intruder holds a register of {people}.", people=people)
        )
        names = Listed(column.name for column in held.knowledge.quasi_identifiers)
        yield Phrase("Known of each person: {columns}.", columns=names)
    others = [column.name for column in held.knowledge.others]
    if others:
        named: str = Listed(others[:MOST])
        if len(others) > MOST:
            more = counted(len(others) - MOST, "more column")
            named = Phrase("{first} and {last}", first=named, last=more)
        yield Phrase("Also known: {columns}.", columns=named)
    if given.counts:
        yield Phrase("Also known: how many records each person has in the release.")
    wrong = Phrase("wrong"), Phrase("unknown")
    for shares, what in zip((given.noise, given.missing), wrong, strict=True):
        yield from _errors(shares, what)
    if given.review is not None:
        yield Phrase(
            "What the screens of a clerical review showed, beside the tables that were linked."
        )
    if given.priors:
        others_said = counted(len(given.priors), "other release")
        yield Phrase("{releases} about the same people.", releases=others_said)


def _errors(shares: attack_options.Shares, what: Phrase) -> Iterator[str]:
    if isinstance(shares, Mapping):
        for name, share in shares.items():
            yield Phrase(
                "Of column {column}, {share} of the values are {wrong}.",
                column=name,
                share=share_text(share),
                wrong=what,
            )
    elif shares:
        yield Phrase("{share} of these values are {wrong}.", share=share_text(shares), wrong=what)


def warnings_of(held: Held, candidates: Candidates) -> tuple[str, ...]:
    """What the referee found odd about the truth, by what is known without errors."""
    warnings = []
    strangers = len(np.unique(held.file.unit[held.truth.owner < 0]))
    if strangers:
        warnings.append(
            f"Not in the register: {counted(strangers, 'person')} of the released file; no guess "
            "about them can be right."
        )
    inside = np.flatnonzero(held.truth.owner >= 0)
    # By what is true: errors that the intruder makes would look like cells that are too narrow.
    fits = candidates.fit(held.file.class_of[inside], candidates.group[held.truth.owner[inside]])
    persons = len(np.unique(held.file.unit[inside][~fits]))
    if persons:
        warnings.append(
            f"The cells of {counted(persons, 'released person')} do not hold what "
            "is known of them: their "
            "ranges are too narrow, or values were changed or records left out. Exact matching "
            "does not find them, and finds others in their place."
        )
    return tuple(warnings)


SCREEN = "screen"
"""The one attack that needs no release."""


def check_alone(
    review: str | os.PathLike[str] | None,
    attacks: Sequence[str] | None,
    others: Mapping[str, object],
) -> Path:
    """The folder of a review, if any, that is attacked alone; refuse what is about a release."""
    if review is None:
        raise InputError(
            "parameter release",
            "must be given, or the folder of a review (review)",
            found="neither",
        )
    if attacks is not None and set([attacks] if isinstance(attacks, str) else attacks) != {SCREEN}:
        raise InputError(
            "parameter attacks", "must be about a review where no release is given", accepted=SCREEN
        )
    for name, value in others.items():
        if value is not None:
            raise InputError(
                f"parameter {name}", "goes with a release", found="the folder of a review alone"
            )
    return Path(review)


def attack_review(folder: Path, *, seed: int, progress: Progress) -> Attack:
    """Attack what workers' screens showed, beside the tables that were linked.

    The folder is what ``sfumato link`` wrote, or a project, with the journals of a review in it.
    """
    # Randomness of its own for each purpose: one more worker does not change what others find.
    screens = worker_screens.named_screens(
        folder, np.random.default_rng([seed, *b"names of rows"]), progress
    )
    outcomes, calibrations = [], {}
    measures: dict[str, Measure] = {}
    for name, screen in screens.items():
        rng = np.random.default_rng([seed, *name.encode()])
        staged = worker_screens.judged_screen(screen, name, rng)
        outcomes.append(staged.outcome)
        if staged.calibration:
            calibrations[name] = staged.calibration
        if staged.outcome.predicted is not None:
            which = "" if len(screens) == 1 else f":{name}"
            measures[f"screen_risk{which}"] = staged.outcome.predicted
    progress("attack", 1.0)
    register = next(iter(screens.values())).knowledge.persons
    rows = sum(len(screen.sizes) for screen in screens.values())
    # Two workers may have been shown the same record: it is counted once.
    records = np.concatenate([np.flatnonzero(screen.truth.released) for screen in screens.values()])
    judged, evidence = weighed([Trial(outcome, REVIEW) for outcome in outcomes], None, own=True)
    return Attack(
        outcomes=judged,
        evidence=evidence,
        verdict=None,
        records=rows,
        persons=len(np.unique(records)),
        register_persons=register,
        held=(
            Phrase("What the screens of a clerical review showed, each worker’s on its own."),
            Phrase("The tables that were linked, {records}.", records=counted(register, "record")),
        ),
        claims=Claims(measures, own=True),
        seed=seed,
        warnings=_warnings(rows - sum(outcome.attempts for outcome in outcomes)),
        calibration=calibrations,
        about="review",
    )


def _warnings(without: int) -> tuple[str, ...]:
    return (
        (f"Rows with which no record of the tables seems to agree: {without:,}.",)
        if without
        else ()
    )


@keywords(
    attack_options.Holding,
    attack_options.Referee,
    attack_options.Judging,
    attack_options.Circumstances,
)
def attack(
    release: Any = None,
    *,
    schema: Schema | None = None,
    progress: Progress = silent,
    **options: Unpack[attack_options.AttackOptions],
) -> Attack:
    """Attack a released file as an intruder would, and compare with what was predicted.

    The intruder reads the released file with a parser that shares no code with the release, and
    holds a register; the referee alone knows whose each record is, and counts right guesses. What
    four intruders find in the file is held against limits (`Attack.verdict`); an attack that finds
    more than that, or than was predicted, by more than chance raises its row.

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
    holding, referee, judging, given = taken(
        options,
        attack_options.Holding,
        attack_options.Referee,
        attack_options.Judging,
        attack_options.Circumstances,
    )
    all_attacks.check_names(judging.attacks)
    seed = drawn_seed(given.seed)
    if release is None:
        others = {
            name: None if _is_nothing(value) else value
            for name, value in {"schema": schema, **options}.items()
            if name not in BESIDE_REVIEW
        }
        folder = check_alone(holding.review, judging.attacks, others)
        return attack_review(folder, seed=seed, progress=progress)
    subject = subject_of(release)
    layout = layout_of(given)
    register, original = (
        opened_where_needed(each, layout) for each in (holding.register, referee.original)
    )
    everything = Given(
        # A release on request holds the reader's local data: they are the register where none is
        # given.
        register=subject.register if register is None else register,
        original=subject.original if original is None else original,
        truth=referee.truth,
        source_rows=subject.source_rows,
        schema=_declared(schema, subject),
        knows=holding.knows,
        counts=holding.counts,
        noise=holding.noise,
        missing=holding.missing,
        hierarchies=_paths(holding.hierarchies),
        layout=layout,
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
            held.file,
            population=judging.population,
            seed=seed,
            events=() if held.events is None else held.events.names,
            household=everything.schema.household,
        )
    else:
        # Without a register the intruder is an acquaintance: 0 persons leave claims about one out.
        persons = 0 if everything.register is None else held.knowledge.persons
        claims = claims.for_register(persons)
    scene = _scene(held, everything, claims, seed, progress)
    named = Limits(judging.limits) if isinstance(judging.limits, str) else judging.limits
    judged = _judged(scene, subject, named, sampled=judging.population is not None)
    return _run(scene, judging.attacks, judged, everything)


def _judged(
    scene: Scene, subject: Subject, limits: Limits | None, *, sampled: bool
) -> Callable[..., Verdict]:
    """Judges by what the release measured of itself, else by what its cells show.

    Where it is ``sampled``, the number of people of the population is known, and what they find
    estimated.
    """
    own, file = subject.verdict, scene.whole or scene.file
    limits = own.limits if own is not None and limits is None else limits
    if own is not None and own.found is not None:
        return partial(
            judge,
            own.found,
            limits,
            subject.accepted,
            population=own.population,
            linkage=own.linkage,
        )
    found = found_in_file(file, scene.truth, scene.exact, scene.schema, itself=scene.itself)
    population, claimed = None, scene.claims.measures
    if sampled:
        mean, most = claimed["marketer"], claimed["journalist"]
        population = Share.estimated(mean), Share.estimated(most)
    # Who holds a list of some of the people is no stranger with a register of all.
    elif scene.against_register and scene.knowledge.persons >= file.persons:
        population = chances_in_register(file, scene.true_candidates.of_class)
    return partial(judge, found, limits, subject.accepted, population=population)


BESIDE_REVIEW = frozenset({"review", "attacks", "seed"})
"""Options that apply where the screens of a review are attacked without a release."""


def _is_nothing(value: object) -> bool:
    """Whether an option says no more than where it is left out."""
    return isinstance(value, bool | float | tuple | list | dict) and not value


def _scene(held: Held, given: Given, claims: Claims, seed: int, progress: Progress) -> Scene:
    return Scene(
        **vars(held),
        claims=claims,
        seed=seed,
        against_register=given.register is not None,
        priors=_other_releases(given, held),
        review=given.review,
        progress=progress,
        schema=given.schema,
        published=given.hierarchies or {},
    )


def _run(
    scene: Scene, attacks: Sequence[str] | None, judged: Callable[..., Verdict], given: Given
) -> Attack:
    names, left_out = all_attacks.chosen(scene, attacks)
    run: list[Trial] = []
    beside: list[Trial] = []
    calibrations: dict[str, tuple[CalibrationBin, ...]] = {}
    found: list[str] = []
    for place, name in enumerate(names):
        scene.progress(f"attack {name}", place / len(names))
        act, added = all_attacks.act_named(name), all_attacks.added(name)
        if added is not None:
            found.append(f"Attack {name} is the {added}. It is no evidence for the verdict.")
        for staged in act.stage(scene):
            of = run if added is None else beside
            of.append(Trial(staged.outcome, act.row, staged.speaks))
            found.extend(staged.warnings)
            if staged.calibration:
                calibrations[staged.outcome.attack] = staged.calibration
    scene.progress("attack", 1.0)
    outcomes, evidence = weighed(run, judged(), own=scene.claims.own)
    # Apart from ours, whose tests those of others must not make weaker.
    others, _ = weighed(beside, None, own=False)
    return Attack(
        outcomes=(*outcomes, *others),
        evidence=evidence,
        verdict=judged(evidence=evidence),
        records=scene.file.records,
        persons=scene.file.persons,
        register_persons=scene.knowledge.persons,
        held=in_words(scene, given),
        claims=scene.claims,
        seed=scene.seed,
        warnings=(*found, *warnings_of(scene, scene.true_candidates), *left_out),
        calibration=calibrations,
    )


def _other_releases(given: Given, held: Held) -> tuple[ReleasedFile, ...]:
    """The other releases as an outsider reads them."""
    return tuple(
        read_release(
            subject_of(prior).shown, given.schema, hierarchies=given.hierarchies, known=held.exact
        )
        for prior in given.priors
    )


def _declared(schema: Schema | None, subject: Subject) -> Schema:
    declared = schema or subject.schema
    if declared is None:
        raise InputError(
            "parameter schema",
            "must say what each column is where a file or dataframe is attacked",
            advice=typed(
                "sfumato.load_schema(path) reads one, sfumato.guess_schema(data) proposes one",
                "'sfumato schema guess' proposes one",
            ),
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
