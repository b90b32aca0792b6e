"""Which attacks there are, what each needs, and how each is run and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from sfumato.core.declaration import Progress
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.attack_result import Claims
from sfumato.intruder.attacks import event_matching, identity_attacks
from sfumato.intruder.attacks.association_attack import by_associations
from sfumato.intruder.attacks.bounds_attack import by_ends, isolated
from sfumato.intruder.attacks.column_attack import with_column
from sfumato.intruder.attacks.household_attack import Neighbours, by_members, known_households
from sfumato.intruder.attacks.inference_attacks import (
    DEALT,
    ChanceValues,
    any_person,
    dealt_values,
    most_records,
    most_shared_value,
)
from sfumato.intruder.attacks.intersection_attack import intersect
from sfumato.intruder.attacks.model_attack import (
    Foretold,
    foretold,
    near_as_one,
    shown_values,
    sights,
)
from sfumato.intruder.attacks.screen_attack import from_screen
from sfumato.intruder.attacks.trajectory_attack import follow
from sfumato.intruder.candidates import Candidates, Identification, find_candidates
from sfumato.intruder.knowledge import Knowledge
from sfumato.intruder.reading import ReleasedFile, TextColumn
from sfumato.intruder.referee import judgements
from sfumato.intruder.referee.attack_odds import (
    CalibrationBin,
    Outcome,
    calibration,
    free_hits,
    one_per_class,
    poisson_hits,
    simulated_hits,
    success,
)
from sfumato.intruder.referee.criteria import (
    Criterion,
    Finding,
    Tolerance,
    chance_of_each,
    columns_found,
    of_outcome,
    persons_at_risk,
    persons_found,
    persons_isolated,
    values_beyond,
    values_found,
)
from sfumato.review.review_extra import needs_review
from sfumato.risk.population.match_distribution import MatchDistribution
from sfumato.schema import Schema

if TYPE_CHECKING:
    from sfumato.intruder.review_screens import Screen


@dataclass(frozen=True, eq=False)
class Staged:
    """What one attack ended with.

    Attributes
    ----------
    outcome
        The referee's verdict.
    calibration
        Guesses grouped by the intruder's own chance; empty where that says nothing.
    warnings
        What was found although nothing was predicted about it.
    findings
        What it found, held against what is tolerable.
    assuming
        What nobody is taken to know, so that what it found is not held against it; or empty.
    """

    outcome: Outcome
    calibration: tuple[CalibrationBin, ...] = ()
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    assuming: str = ""


@dataclass(frozen=True, eq=False)
class Scene:
    """The released file, what the intruder holds, and what only the referee knows.

    Attributes
    ----------
    file
        The released file as an outsider reads it.
    knowledge
        What the intruder holds, errors included.
    exact
        The same without errors; for the referee.
    truth
        Whose each record is; for the referee.
    claims
        What was predicted; for the referee.
    tolerance
        The tolerable chance that a person, or a value of one, is found.
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
    schema
        What each column is declared to be.
    events
        The events of the persons of the original, of which an intruder may be told some.
    """

    file: ReleasedFile
    knowledge: Knowledge
    exact: Knowledge
    truth: judgements.Truth
    claims: Claims
    tolerance: Tolerance
    seed: int
    against_register: bool
    itself: bool
    priors: tuple[ReleasedFile, ...]
    review: Path | None
    progress: Progress
    schema: Schema
    events: event_matching.PersonEvents | None = None

    @property
    def threshold(self) -> float:
        """Chance above which a right guess counts as exposed."""
        return self.tolerance.person

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
        name, what
            The attack, and what the intruder does in it.
        guesses
            Who is named for whom.
        predicted
            The measure that predicts it.
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
        """The same with everybody's chance by exact matching held against the tolerance.

        Parameters
        ----------
        staged
            What came of the attack.
        guesses
            What was guessed by exact matching.
        criterion
            What it is held against.
        targeted
            Whether units were named for persons.
        """
        chance = chance_of_each(guesses, self.candidates, self.file, self.truth, targeted=targeted)
        name = staged.outcome.attack
        found = persons_at_risk(criterion, name, chance, self.tolerance.person)
        return replace(staged, findings=(found,))


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Stage = Callable[[Scene], Iterable[Staged]]
"""An attack: what came of it, maybe under several claims."""


def row_order(scene: Scene) -> Iterator[Staged]:
    """Take the place of a record for the place of its person in the register.

    Parameters
    ----------
    scene
        What to work on.
    """
    ways = identity_attacks.by_place(scene.file, scene.candidates, scene.knowledge)
    outcome = judgements.judge_row_order(
        ways,
        scene.truth,
        scene.file,
        scene.rng("row_order"),
        what="The intruder takes the place of a record, in the file or in its class, for that of "
        "its person in the register.",
        threshold=scene.threshold,
    )
    found = of_outcome(Criterion.LINKABILITY, outcome, scene.tolerance.person, tries=len(ways))
    yield Staged(outcome, findings=(found,))


def identifiers(scene: Scene) -> Iterator[Staged]:
    """Join the file with the register on columns beside the quasi-identifiers.

    Parameters
    ----------
    scene
        What to work on.
    """
    joins = identity_attacks.join_columns(
        scene.file, scene.candidates, scene.knowledge, scene.rng("identifiers")
    )
    what = (
        "The intruder joins the file with the register on a column that both have beside the "
        "quasi-identifiers."
    )
    outcome = judgements.judge_identifiers(
        joins,
        scene.truth,
        scene.file,
        what=what,
        predicted=scene.claim("marketer"),
        threshold=scene.threshold,
    )
    outcome = outcome or _none(what)
    tries = 2 * len(joins)
    found = of_outcome(Criterion.LINKABILITY, outcome, scene.tolerance.person, tries=tries)
    yield Staged(outcome, findings=(found,))


def _none(what: str) -> Outcome:
    """What comes of it where no column can be joined."""
    nothing = Measure("baseline", 0.0)
    note = "No such column was found."
    return Outcome("identifiers", what, 0, 0, success(0, 0), nothing, notes=(note,))


ROUNDS = 100
"""Repetitions of one-to-one matching, for the distribution of its hits."""
LARGEST = 2_000
"""Released persons above which the hits of one-to-one matching are taken as Poisson's."""


def exact(scene: Scene) -> Iterator[Staged]:
    """Exact matching: each record on its own, nobody named twice, and the surest of both sides.

    The mean over all is held against marketer risk, the surest guesses against prosecutor risk,
    or journalist risk where the intruder holds a register.

    Parameters
    ----------
    scene
        What to work on.
    """
    knows = "The intruder matches what is known exactly with the released cells"
    parts = scene.file, scene.uncounted, scene.candidates
    free = identity_attacks.exact_free(*parts, scene.rng("exact_free"))
    staged = scene.judged(
        "exact_free",
        f"{knows} and names for everybody in the file one of those who fit.",
        free,
        "marketer",
        calibrated=True,
    )
    yield scene.at_risk(staged, free, Criterion.LINKABILITY, targeted=False)
    whole, own = _one_to_one(scene)
    named = f"{knows} so that nobody is named twice."
    link = Criterion.LINKABILITY
    yield scene.judged(
        "exact_one_to_one", named, whole, "marketer", one_to_one=True, own=own, criterion=link
    )
    yield scene.judged(
        "exact_surest",
        f"{knows} and counts only the guesses about records that fewest persons fit.",
        free,
        "journalist" if scene.against_register else "prosecutor",
        surest=True,
    )
    inside = np.flatnonzero(scene.truth.released)
    looked = identity_attacks.exact_targeted(*parts, scene.rng("exact_targeted"), targets=inside)
    staged = scene.judged(
        "exact_targeted",
        "The intruder looks for somebody who is known to be in the file and takes one of the "
        "records that fit; only the targets for whom fewest fit are counted.",
        looked,
        "prosecutor",
        surest=True,
        targeted=True,
    )
    # Who holds a register of his own is not taken to know who of it is in the file.
    if not scene.against_register:
        staged = scene.at_risk(staged, looked, Criterion.SINGLING_OUT, targeted=True)
    yield staged


def counted(scene: Scene) -> Iterator[Staged]:
    """Exact matching by somebody who knows how many records each person has.

    Parameters
    ----------
    scene
        What to work on.
    """
    guesses = identity_attacks.exact_free(
        scene.file, scene.knowledge, scene.candidates, scene.rng("exact_counts")
    )
    knows = "The intruder also knows how many records each person has in the file"
    for name, measure, surest, what in (
        ("exact_counts", "avg_count_risk", False, f"{knows} and names somebody for everybody."),
        ("exact_counts_surest", "max_count_risk", True, f"{knows}; only the surest guesses."),
    ):
        link = None if surest else Criterion.LINKABILITY
        yield scene.judged(
            name, what, guesses, measure, surest=surest, calibrated=not surest, criterion=link
        )


TOLD, SCORED = (1, 2, 3), (2, 3)
"""Numbers of events that an intruder is told, and those with which the score is tried."""
TARGETS, SCORED_TARGETS = 1_000, 300
"""Persons who are looked for by their events, drawn where there are more."""


_HOW = {
    "events": "takes one of the pseudonyms that fit all of it",
    "events_scored": "takes the pseudonym that agrees with most, rare things counting more",
    "events_moved": "takes the pseudonym that fits by most offsets of all its dates",
}


def events(scene: Scene) -> Iterator[Staged]:
    """Look for persons of whom some events are known, exactly, by a score, and with dates moved.

    Held against the share of persons who are found by as many events drawn at random.

    Parameters
    ----------
    scene
        What to work on.
    """
    found = list(_by_events(scene))
    if scene.schema.events or scene.events is None or not found:
        yield from found
        return
    # Events that nobody has declared to be known are told of, and not held against the release.
    most = max(found, key=lambda each: each.outcome.success.value)
    names = ", ".join(f"'{name}'" for name in scene.events.names)
    told = (
        f"assuming that nobody knows what {names} say of a person: [events] names none, and "
        f"by them {most.outcome.success.value:.1%} are found"
    )
    counts = most.outcome.success.value > scene.tolerance.person
    for each in found:
        yield replace(each, findings=(), assuming=told if counts and each is most else "")


def _by_events(scene: Scene) -> Iterator[Staged]:
    if scene.events is None:
        return
    told_of = scene.events
    search = event_matching.EventSearch(scene.file, told_of)
    inside = np.flatnonzero(scene.truth.released)
    mistaken = f", {100 * told_of.wrong:g} % of them wrong," if told_of.wrong else ""
    ways = [("events", TOLD, TARGETS), ("events_scored", SCORED, SCORED_TARGETS)]
    if search.moved is not None:
        ways.append(("events_moved", TOLD, TARGETS))
    for way, numbers, most in ways:
        for m in numbers:
            name = f"{way}_{m}"
            rng = scene.rng(name)
            targets = np.sort(rng.permutation(inside)[:most])
            told = told_of.told(targets, m, rng)
            if way == "events_scored":
                guesses = event_matching.scored_events(
                    search, scene.file, scene.knowledge, targets, told, rng
                )
            else:
                moved = way == "events_moved"
                guesses = event_matching.exact_events(
                    search, scene.candidates, targets, told, rng, moved=moved
                )
            known = "one event" if m == 1 else f"{m} events"
            yield scene.judged(
                name,
                f"The intruder knows the quasi-identifiers and {known}{mistaken} of a person "
                f"who is in the file, and {_HOW[way]}.",
                guesses,
                f"found_{m}",
                targeted=True,
                criterion=Criterion.SINGLING_OUT,
            )


def _one_to_one(scene: Scene) -> tuple[Identification, MatchDistribution]:
    """One assignment, and the distribution of the right pairs over others like it.

    In large files it is Poisson's with the mean that the intruder expects.
    """
    rng = scene.rng("exact_one_to_one")
    parts = scene.file, scene.uncounted, scene.candidates
    first = identity_attacks.exact_one_to_one(*parts, rng)
    if scene.file.persons > LARGEST:
        return first, poisson_hits(float(first.chance.sum()))
    owner = judgements.owners(scene.file, scene.truth)

    def once(again: np.random.Generator) -> int:
        guesses = identity_attacks.exact_one_to_one(*parts, again)
        return int(owner.right(guesses.unit, guesses.person).sum())

    return first, simulated_hits(once, rng, ROUNDS)


WEIGHED = 1 << 26
"""Pairs of a class and a known row that are weighed, in as many classes as make so many."""


def nearly(scene: Scene) -> Iterator[Staged]:
    """Match by weights of agreement, each record on its own and nobody named twice.

    Of a large file only the persons of some classes are looked at, drawn at random.

    Parameters
    ----------
    scene
        What to work on.
    """
    from sfumato.intruder.attacks.probabilistic_attack import probabilistic

    some = _some_classes(scene, WEIGHED // max(len(scene.knowledge.person), 1))
    found = probabilistic(
        some.file,
        some.uncounted,
        scene.rng("probabilistic"),
        progress=scene.progress,
    )
    drawn: tuple[str, ...] = ()
    if some.file.classes < scene.file.classes:
        drawn = (f"Of {scene.file.classes:,} classes {some.file.classes:,} were drawn.",)
    for name, guesses, one_to_one, said in (
        ("probabilistic", found.free, False, "names the likeliest for each record"),
        ("probabilistic_one_to_one", found.one_to_one, True, "names nobody twice"),
    ):
        staged = some.judged(
            name,
            "The intruder weighs how well each register person agrees with the cells, near "
            f"misses included (Splink), and {said}.",
            guesses,
            "marketer",
            one_to_one=one_to_one,
            calibrated=True,
            criterion=Criterion.LINKABILITY,
        )
        noted = replace(staged.outcome, notes=(*staged.outcome.notes, *drawn))
        yield replace(staged, outcome=noted)


def _some_classes(scene: Scene, most: int) -> Scene:
    """The scene with the persons of so many classes in the file; all where there are no more."""
    file = scene.file
    if file.classes <= most:
        return scene
    chosen = np.zeros(file.classes, dtype=np.bool_)
    chosen[scene.rng("some classes").permutation(file.classes)[: max(most, 1)]] = True
    first = np.unique(file.unit, return_index=True)[1]
    rows = np.flatnonzero(chosen[file.class_of[first]][file.unit])
    truth = replace(scene.truth, owner=scene.truth.owner[rows])
    return replace(scene, file=file.part(rows), truth=truth)


WHAT = (
    "Somebody who holds the identified tables looks for the records that agree with all that a "
    "worker's screen showed of one, and takes one of them."
)


def screen(scene: Scene) -> Iterator[Staged]:
    """Guess whose record each one on a worker's screen was (paper 001).

    Parameters
    ----------
    scene
        What to work on; its folder of a review.
    """
    if scene.review is None:
        return
    screens = named_screens(scene.review, scene.rng("names of rows"), scene.progress)
    for name, each in screens.items():
        yield judged_screen(each, name, scene.rng(name), scene.threshold)


def named_screens(folder: Path, rng: np.random.Generator, progress: Progress) -> dict[str, Screen]:
    """What each worker of a review was shown, by the name of the attack.

    Parameters
    ----------
    folder
        The folder of the review.
    rng
        Draws the names of the rows.
    progress
        Told how far it is.

    Raises
    ------
    InputError
        If nobody has reviewed in the folder, a file of it is damaged, or the extra ``review`` is
        not installed.
    """
    needs_review()
    from sfumato.intruder.review_screens import screens_of

    screens = screens_of(folder, rng, progress)
    if len(screens) == 1:
        return {"screen": screens[0]}
    return {f"screen_{number}": each for number, each in enumerate(screens, 1)}


def judged_screen(each: Screen, name: str, rng: np.random.Generator, threshold: float) -> Staged:
    """Attack what one screen showed.

    Held against the mean of 1/K over the rows, K being their anonymity sets as the review counts
    them: KAPR is made of the same 1/K, each with the share of the characters that are disclosed.

    Parameters
    ----------
    each
        The screen.
    name
        Name of the attack.
    rng
        Draws one of the records that agree.
    threshold
        Chance above which a right guess counts as exposed.
    """
    found = from_screen(each.shown, each.knowledge, rng)
    chances, made = 1 / each.sizes, found.guesses.person >= 0
    outcome = judgements.judge_identification(
        found.guesses,
        each.truth,
        each.shown.as_file(),
        attack=name,
        what=WHAT,
        one_to_one=False,
        predicted=Measure("screen_risk", float(chances.mean())),
        threshold=threshold,
        claimed=free_hits(chances[made]),
    )
    note = f"KAPR of what worker {each.worker} was shown: {each.kapr:.5f}."
    outcome = replace(outcome, notes=(note,))
    right = each.truth.owner[found.guesses.unit[made]] == found.guesses.person[made]
    return Staged(outcome, calibration(found.guesses.chance[made], right))


def intersection(scene: Scene) -> Iterator[Staged]:
    """Look for persons who are in two releases: only what fits in both is left.

    Parameters
    ----------
    scene
        What to work on.
    """
    targets = np.flatnonzero(scene.truth.released)
    for number, prior in enumerate(scene.priors, 1):
        name = "intersection" if len(scene.priors) == 1 else f"intersection_{number}"
        rng = scene.rng(name)
        found = intersect(scene.file, prior, scene.uncounted, rng, targets=targets)
        by = "the same pseudonyms" if found.linked else "sensitive values that agree"
        what = f"The intruder holds another release, joined by {by}, and looks for persons in both"
        for end, surest, measure, said in (
            ("", False, "marketer", "everybody counts"),
            ("_surest", True, "prosecutor", "only those of whom he is surest"),
        ):
            yield scene.judged(
                f"{name}{end}",
                f"{what}; {said}.",
                found.identification,
                measure,
                surest=surest,
                targeted=True,
                calibrated=not surest,
                criterion=None if surest else Criterion.LINKABILITY,
            )
        for guesses in found.inferences:
            outcome = judgements.judge_inference(
                guesses,
                scene.truth,
                scene.file,
                rng,
                what=f"{what}; of these the intruder guesses the value.",
                targets="one_per_class",
                predicted=scene.claim("avg_gsar", guesses.attribute),
                threshold=scene.threshold,
                attack=f"inference_{name}:{guesses.attribute}",
            )
            yield Staged(outcome)


def trajectory(scene: Scene) -> Iterator[Staged]:
    """Join two releases by the histories that their pseudonyms show, and look for persons in both.

    Parameters
    ----------
    scene
        What to work on.
    """
    targets = np.flatnonzero(scene.truth.released)
    for number, prior in enumerate(scene.priors, 1):
        name = "trajectory" if len(scene.priors) == 1 else f"trajectory_{number}"
        found = follow(scene.file, prior, scene.uncounted, scene.rng(name), targets)
        if not len(found.joined):
            continue
        yield scene.judged(
            name,
            f"The intruder holds another release, takes {len(found.joined):,} of "
            f"{scene.file.persons:,} persons for the same in both by what their records keep "
            f"({', '.join(found.columns)}), and looks for persons in both.",
            found.identification,
            "marketer",
            targeted=True,
            calibrated=True,
            criterion=Criterion.LINKABILITY,
        )


def associations(scene: Scene) -> Iterator[Staged]:
    """Refine the released cells by associations that an earlier release shows (paper 002).

    Held against marketer risk; for a release on request that is the mean risk with accepted
    associations applied (SLA).

    Parameters
    ----------
    scene
        What to work on.
    """
    for number, prior in enumerate(scene.priors, 1):
        name = "associations" if len(scene.priors) == 1 else f"associations_{number}"
        found = by_associations(scene.file, prior, scene.uncounted, scene.rng(name))
        if not found.refined:
            continue
        yield scene.judged(
            name,
            "The intruder infers values that were generalised from associations in another "
            f"release, which narrows {found.refined:,} of {scene.file.classes:,} classes, and "
            "matches again.",
            found.guesses,
            "marketer",
            calibrated=True,
            criterion=Criterion.LINKABILITY,
        )


Of = Literal["all", "one_per_class", "surest"]
CLAIMED: tuple[tuple[str, Of, str], ...] = (
    ("", "one_per_class", "one of each class, drawn at random"),
    ("_surest", "surest", "only the classes of which the intruder expects most"),
)
"""What an attempt is about, against an average over classes and against a maximum."""


def multi_record(scene: Scene) -> Iterator[Staged]:
    """Name for every record of a class the person who owns most of them (paper 003).

    Against AvgGIDR with one record of each class, against MaxGIDR with the best classes.

    Parameters
    ----------
    scene
        What to work on.
    """
    rng = scene.rng("multi_record")
    found = [any_person(scene.file, scene.candidates, rng)]
    if scene.knowledge.counts is not None:
        found.append(most_records(scene.file, scene.candidates, scene.knowledge, rng))
    for guesses in found:
        name = "multi_record_counts" if guesses.counted else "multi_record"
        who = (
            "the person with most records among those who fit"
            if guesses.counted
            else "somebody who fits, without knowing how many records anybody has"
        )
        for (end, records, said), measure in zip(CLAIMED, ("avg_gidr", "max_gidr"), strict=True):
            outcome = judgements.judge_class_guesses(
                guesses,
                scene.truth,
                scene.file,
                rng,
                what=f"The intruder names for all records of a class {who}; {said}.",
                records=records,
                predicted=scene.claim(measure),
                threshold=scene.threshold,
                attack=f"{name}{end}",
            )
            drawn = records == "one_per_class"
            link = of_outcome(Criterion.LINKABILITY, outcome, scene.tolerance.person)
            yield Staged(outcome, findings=(link,) if drawn else ())


def inference(scene: Scene) -> Iterator[Staged]:
    """Guess of each register person the value that most persons of the fitting classes have.

    Against AvgGSAR with one person of each class, against MaxGSAR with the best classes. Near
    numbers are tried as one value, too, about which nothing is predicted.

    Parameters
    ----------
    scene
        What to work on.
    """
    near = (near_as_one(column) for column in scene.file.sensitive)
    file = replace(scene.file, sensitive=tuple(dict.fromkeys([*scene.file.sensitive, *near])))
    for column in file.sensitive:
        guesses = most_shared_value(file, scene.candidates, column)
        rng = scene.rng(f"inference:{column.name}")
        tolerable, dealing = scene.tolerance.value, scene.rng(f"dealt:{column.name}")
        found = values_found(
            f"inference:{column.name}",
            guesses,
            dealt_values(file, column, dealing, tolerable),
            scene.truth,
            file,
            dealing,
            tolerable,
        )
        for (end, targets, said), measure in zip(CLAIMED, ("avg_gsar", "max_gsar"), strict=True):
            if end and column not in scene.file.sensitive:
                continue
            outcome = judgements.judge_inference(
                guesses,
                scene.truth,
                file,
                rng,
                what="The intruder guesses the value that most persons have in the classes that "
                f"the target fits; {said}.",
                targets=targets,
                predicted=scene.claim(measure, column.name),
                threshold=scene.threshold,
                attack=f"inference{end}:{column.name}",
            )
            yield Staged(outcome, findings=() if end else (found,))


def model(scene: Scene) -> Iterator[Staged]:
    """Foretell values by a model of the release, beside the same without the person's own record.

    One person of each class is asked about. Nothing is predicted about it.

    Parameters
    ----------
    scene
        What to work on.
    """
    file, tolerance = scene.file, scene.tolerance.value
    seen, owner = sights(file, scene.knowledge), judgements.owners(file, scene.truth).first
    home = file.class_of[np.unique(file.unit, return_index=True)[1]]
    known = np.flatnonzero(owner >= 0)
    for column in file.sensitive:
        rng, name = scene.rng(f"model:{column.name}"), f"inference_model:{column.name}"
        unit = rng.permutation(one_per_class(known, home[known], rng))[:TARGETS]
        train = partial(foretold, seen, scene.candidates, person=owner[unit], unit=unit)
        alike = near_as_one(column)
        shown = shown_values(file, alike)
        found = train(shown=shown)
        right = shown.has(unit, found.value)
        # The others of a class are no help where these have other values.
        tried = shown.has(unit, found.beside), shown.has(unit, found.alike)
        without = max(tried, key=np.count_nonzero)
        by_chance = _dealt_model(file, alike, unit, train, rng, tolerance)
        sure = by_chance.is_sure(found.value, found.chance, tolerance)
        hits, attempts = int(right.sum()), len(unit)
        yield Staged(
            Outcome(
                name,
                "The intruder trains a model on the release and foretells the value of one person "
                "of each class from the quasi-identifiers and the class; near numbers are one.",
                attempts,
                hits,
                success(hits, attempts),
                Measure(
                    "baseline",
                    float(without.mean()) if attempts else 0.0,
                    why="the same from the release without the person's own record",
                ),
                notes=(
                    f"Where values are dealt out at random {by_chance.everybody:.1%} are right.",
                ),
            ),
            findings=(values_beyond(name, right, without, sure, by_chance, tolerance),),
        )


def _dealt_model(
    file: ReleasedFile,
    column: TextColumn,
    unit: Ints,
    train: Callable[..., Foretold],
    rng: np.random.Generator,
    tolerance: float,
) -> ChanceValues:
    """What the model is right about where each person has the values of another."""
    often = np.bincount(shown_values(file, column).value, minlength=len(column.texts))
    chance = ChanceValues(0.0, 0.0, often / max(file.persons, 1))
    every, sure = [], []
    for _ in range(DEALT):
        dealt = shown_values(file, column, rng.permutation(file.persons))
        found = train(shown=dealt)
        every.append(dealt.has(unit, found.value))
        sure.append(every[-1][chance.is_sure(found.value, found.chance, tolerance)])
    means = [
        float(each.mean()) if len(each) else 0.0 for each in map(np.concatenate, (every, sure))
    ]
    return replace(chance, everybody=means[0], sure=means[1])


def columns(scene: Scene) -> Iterator[Staged]:
    """Find people by their class and the value of one further column of the release.

    Nothing is predicted about it. A column that gives away the person or a quasi-identifier is a
    warning.

    Parameters
    ----------
    scene
        What to work on.
    """
    file, truth, known = scene.file, scene.truth, scene.exact
    owner = truth.owner[np.unique(file.unit, return_index=True)[1]]
    rows = np.unique(known.person, return_index=True)[1]
    row_of_unit = np.where(owner >= 0, rows[owner], -1)
    people = (scene.schema.person, scene.schema.household)
    shown = [*file.sensitive, *(each for each in file.others if each.name not in people)]
    for column in shown:
        rng = scene.rng(f"column:{column.name}")
        found = with_column(file, column, known.quasi_identifiers, row_of_unit, rng)
        right, without = int(found.right.sum()), float(found.without.mean())
        foretold = sorted(found.foretold.items(), key=lambda each: -each[1])
        notes = [f"{found.alone:.1%} are the only ones of their class with their value."]
        if foretold:
            tells = ", ".join(f"{share:.0%} of '{name}'" for name, share in foretold)
            notes.append(f"Of what is not known the column foretells {tells}.")
        success_with = success(right, file.persons)
        warning = (
            f"Column '{column.name}' is released as it is, and it {found.gives}: "
            f"{success_with.value:.1%} are found with it, {without:.1%} without it."
        )
        name = f"column:{column.name}"
        accepted = column.name in scene.schema.accepted
        judged = accepted or bool(found.gives) or column.name in scene.schema.events
        told = f"assuming that nobody knows what '{column.name}' says of a person: with the class "
        told += f"{success_with.value:.1%} are found by it"
        yield Staged(
            Outcome(
                name,
                "The intruder knows the class of everybody in the file and this column's value in "
                "a record of theirs, and names one of those who have both.",
                file.persons,
                right,
                success_with,
                Measure("baseline", without, why="the same without the column"),
                notes=tuple(notes),
            ),
            warnings=(warning,) if found.gives else (),
            findings=tuple(replace(each, accepted=accepted) for each in columns_found(name, found)),
            assuming=told if not judged and success_with.value > scene.tolerance.person else "",
        )


def household(scene: Scene) -> Iterator[Staged]:
    """Look for households by all of their members, in a file that shows who lives together.

    The mean over those that are looked for is held against the mean chance of a household, the
    surest against the largest.

    Parameters
    ----------
    scene
        What to work on.
    """
    column, name = _shown_household(scene), scene.schema.household
    if column is None or name is None:
        return
    rng, known = scene.rng("household"), known_households(scene.knowledge, name)
    inside = np.unique(known[scene.truth.released])
    targets = np.sort(rng.permutation(inside)[:TARGETS])
    found = by_members(scene.file, scene.candidates, known, column, targets, rng)
    # As if households were the persons: what is judged is which one was named for which.
    owner = scene.truth.owner
    homes = replace(
        scene,
        file=replace(scene.file, person=found.shown, persons=int(found.shown.max()) + 1),
        truth=judgements.owned(np.where(owner >= 0, known[owner], -1), int(known.max()) + 1),
    )
    what = (
        "The intruder knows all members of a household that is in the file, and names one of the "
        "released households whose people they can be"
    )
    staged = homes.judged(
        "household", f"{what}.", found.guesses, "avg_composition_risk",
        targeted=True, calibrated=True,
    )  # fmt: skip
    # Who holds a register of his own is not taken to know who of it is in the file.
    if not scene.against_register:
        chance = _household_chances(found, homes)
        risk = persons_at_risk(Criterion.SINGLING_OUT, "household", chance, scene.threshold)
        staged = replace(staged, findings=(risk,))
    yield staged
    yield homes.judged(
        "household_surest",
        f"{what}; only the households are counted for which fewest can be.",
        found.guesses,
        "max_composition_risk",
        surest=True,
        targeted=True,
    )


def _household_chances(found: Neighbours, homes: Scene) -> Floats:
    """The chance that each household is found which was looked for, without drawing."""
    shown, known = found.shown, homes.truth.owner
    pairs = np.unique(np.stack([known[known >= 0], shown[known >= 0]], axis=1), axis=0)
    targets = found.guesses.person
    place = np.full(len(homes.truth.released), -1, dtype=np.int64)
    place[targets] = np.arange(len(targets))
    pairs = pairs[place[pairs[:, 0]] >= 0]
    fits = found.can_be[place[pairs[:, 0]], found.composition[pairs[:, 1]]]
    own = np.bincount(place[pairs[:, 0]], np.asarray(fits).reshape(-1), minlength=len(targets))
    return np.asarray(np.minimum(own * found.guesses.chance, 1.0), dtype=np.float64)


def _shown_household(scene: Scene) -> TextColumn | None:
    """The released column by which records are of one household; ``None`` without one."""
    name = scene.schema.household
    return next((each for each in scene.file.others if each.name == name), None)


PREDICATES = 500
"""Classes of which both ends are tried, drawn where there are more."""
BEYOND = 0.001
"""Probability by chance below which ends are said to single out."""


def singling_out(scene: Scene) -> Iterator[Staged]:
    """Single out somebody by what a class shows and one end of one of its ranges.

    Held against the same predicates with other values of the same ranges. No release claims
    anything about it, so that nothing is broken by it; what it found is a warning.

    Parameters
    ----------
    scene
        What to work on.
    """
    predicates = by_ends(scene.file, scene.rng("singling_out"), PREDICATES)
    found = isolated(predicates, scene.file, scene.exact, scene.truth.released)
    judged = np.isfinite(found.chance)
    alone, chance = found.alone[judged], found.chance[judged]
    attempts, right = len(alone), int(alone.sum())
    by_chance = float(chance.mean()) if attempts else 0.0
    notes, warnings = [], []
    unjudged = predicates.without + len(np.unique(predicates.class_of[~judged]))
    if unjudged:
        notes.append(
            f"{unjudged:,} classes have no range with a value between two ends and were not tried."
        )
    if attempts and free_hits(chance).at_least(right) < BEYOND:
        warnings.append(
            "The ends of ranges single persons out: one end of a range, and what else its class "
            f"shows, holds of exactly one person for {100 * right / attempts:.3g} % of the ends "
            f"tried, where a value between the ends would for {100 * by_chance:.3g} %."
        )
    yield Staged(
        Outcome(
            "singling_out",
            "The intruder describes somebody by what a class shows and one end of its widest "
            "range, each end alone; right is what holds of exactly one person of the file.",
            attempts,
            right,
            success(right, attempts),
            Measure("baseline", by_chance, why="the same with a value between the ends"),
            notes=tuple(notes),
        ),
        warnings=tuple(warnings),
        findings=(persons_isolated("singling_out", found, scene.tolerance.person),),
    )


NEEDED = ("duckdb", "splink")
"""What probabilistic matching needs beyond the core; the extra ``link`` brings them."""


@dataclass(frozen=True)
class Act:
    """An attack that can be staged.

    Attributes
    ----------
    stage
        Runs it.
    lacks
        What it lacks in a scene, in words; empty where it can run.
    criteria
        What it is held against.
    essential
        Whether nothing is called within these without it, even where it cannot run. Others are
        for somebody who holds more.
    """

    stage: Stage
    lacks: Callable[[Scene], str]
    criteria: frozenset[Criterion]
    essential: bool = False


def _nothing(_scene: Scene) -> str:
    return ""


def _counts(scene: Scene) -> str:
    if scene.knowledge.counts is None:
        return "an intruder who knows numbers of records (counts)"
    return "" if scene.file.person is not None else "a person column in the released file"


def _events(scene: Scene) -> str:
    if scene.file.person is None:
        return "a person column in the released file"
    return "" if scene.events is not None else "an original that has the columns of events"


def _sensitive(scene: Scene) -> str:
    return "" if scene.file.sensitive else "a sensitive column in the released file"


def _modelled(scene: Scene) -> str:
    return _sensitive(scene) or _another(scene)


def _priors(scene: Scene) -> str:
    return "another release (priors)" if not scene.priors else _another(scene)


def _histories(scene: Scene) -> str:
    if any(each.person is None for each in (scene.file, *scene.priors)):
        return "a person column in both releases"
    return _priors(scene)


def _review(scene: Scene) -> str:
    return "" if scene.review is not None else "the folder of a review (review)"


def _households(scene: Scene) -> str:
    name = scene.schema.household
    if name is None or _shown_household(scene) is None:
        return "the schema's household column in the released file"
    known = any(each.name == name for each in scene.knowledge.others)
    return _another(scene) if known or scene.itself else "households in what the intruder holds"


def _another(scene: Scene) -> str:
    return "a register or original other than the file itself" if scene.itself else ""


def _splink(scene: Scene) -> str:
    if any(find_spec(name) is None for name in NEEDED):
        return 'Splink and DuckDB (pip install "sfumato[link]")'
    return _another(scene)


PROMISED = frozenset({Criterion.PROMISES})
SINGLED = frozenset({Criterion.SINGLING_OUT})
LINKED = frozenset({Criterion.LINKABILITY})
INFERRED = frozenset({Criterion.INFERENCE})
ACTS: dict[str, Act] = {
    "exact": Act(exact, _nothing, PROMISED | SINGLED | LINKED, essential=True),
    "counts": Act(counted, _counts, PROMISED | LINKED),
    "probabilistic": Act(nearly, _splink, PROMISED | LINKED),
    "multi_record": Act(multi_record, _nothing, PROMISED | LINKED, essential=True),
    "events": Act(events, _events, PROMISED | SINGLED),
    "household": Act(household, _households, PROMISED | SINGLED),
    "inference": Act(inference, _sensitive, PROMISED | INFERRED, essential=True),
    "model": Act(model, _modelled, INFERRED, essential=True),
    "intersection": Act(intersection, _priors, PROMISED | LINKED),
    "trajectory": Act(trajectory, _histories, PROMISED | LINKED),
    "associations": Act(associations, _priors, PROMISED | LINKED),
    "screen": Act(screen, _review, PROMISED),
    "row_order": Act(row_order, _another, PROMISED | LINKED, essential=True),
    "identifiers": Act(identifiers, _nothing, PROMISED | LINKED, essential=True),
    "columns": Act(columns, _another, SINGLED | INFERRED, essential=True),
    "singling_out": Act(singling_out, _another, SINGLED, essential=True),
}
"""By name, in the order in which they run."""


def check_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """The attacks that are asked for; all where nobody asks.

    Parameters
    ----------
    names
        What is asked for.

    Raises
    ------
    InputError
        If there is no attack of that name.
    """
    asked = ACTS if names is None else ([names] if isinstance(names, str) else names)
    for name in asked:
        if name not in ACTS:
            raise InputError("parameter attacks", "must name attacks", accepted=", ".join(ACTS))
    return tuple(name for name in ACTS if name in asked)


def untried(scene: Scene, names: Sequence[str]) -> dict[Criterion, tuple[str, ...]]:
    """By criterion, the attacks that were not made and without which nothing is called within.

    A promise that cannot be tested here is about what this intruder does not hold.

    Parameters
    ----------
    scene
        What was attacked.
    names
        The attacks that were made.
    """
    left = {name: act for name, act in ACTS.items() if name not in names}
    return {
        criterion: tuple(
            name
            for name, act in left.items()
            if criterion in act.criteria
            and (not act.lacks(scene) or (act.essential and criterion is not Criterion.PROMISES))
        )
        for criterion in Criterion
    }


def chosen(scene: Scene, names: Sequence[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The attacks to run, and warnings about those that cannot run although they should.

    Parameters
    ----------
    scene
        What they work on.
    names
        The attacks that are asked for; all that fit where nobody asks.

    Raises
    ------
    InputError
        If an attack that is asked for by name lacks something.
    """
    possible, warnings = [], []
    for name in check_names(names):
        lacks = ACTS[name].lacks(scene)
        if not lacks:
            possible.append(name)
        elif names is not None:
            raise InputError(f"attack '{name}'", f"needs {lacks}", found="none")
        elif name == "probabilistic" and not scene.itself:
            warnings.append(f"Probabilistic matching was left out: it needs {lacks}.")
    return tuple(possible), tuple(warnings)
