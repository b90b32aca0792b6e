"""Matching by cells, places and shared columns: who is named for records, and how it is judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.core.measure import Measure
from sfumato.intruder.attacks.scene import (
    CLAIMED,
    LINKED,
    PROMISED,
    SINGLED,
    Act,
    Scene,
    Staged,
    another,
    nothing,
)
from sfumato.intruder.candidates import Identification
from sfumato.intruder.guesses import identity_attacks
from sfumato.intruder.guesses.inference_attacks import any_person, most_records
from sfumato.intruder.referee import judgements
from sfumato.intruder.referee.attack_odds import Outcome, poisson_hits, simulated_hits, success
from sfumato.intruder.referee.criteria import Criterion, of_outcome
from sfumato.risk.population.match_distribution import MatchDistribution

ROUNDS = 100
"""Repetitions of one-to-one matching, for the distribution of its hits."""


# Hits of random assignments within classes tend to Poisson's distribution as classes grow many.
LARGEST = 2_000
"""Released persons above which the hits of one-to-one matching are taken as Poisson's."""


def exact(scene: Scene) -> Iterator[Staged]:
    """Exact matching: each record on its own, nobody named twice, and the surest of both sides.

    The mean over all is held against marketer risk, the surest guesses against prosecutor risk,
    or journalist risk where the intruder holds a register.
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


def counted(scene: Scene) -> Iterator[Staged]:
    """Exact matching by somebody who knows how many records each person has."""
    guesses = identity_attacks.exact_free(
        scene.file, scene.knowledge, scene.candidates, scene.rng("exact_counts")
    )
    knows = "The intruder also knows how many records each person has in the file"
    for name, measure, surest, what in (
        ("exact_counts", "avg_count_risk", False, f"{knows} and names somebody for everybody."),
        ("exact_counts_surest", "max_count_risk", True, f"{knows}; only the surest guesses."),
    ):
        # The surest guesses are among all of them: one finding would be counted twice.
        link = None if surest else Criterion.LINKABILITY
        yield scene.judged(
            name, what, guesses, measure, surest=surest, calibrated=not surest, criterion=link
        )


def _counts(scene: Scene) -> str:
    if scene.knowledge.counts is None:
        return "an intruder who knows numbers of records (counts)"
    return "" if scene.file.person is not None else "a person column in the released file"


EXACT = Act("exact", 10, exact, nothing, PROMISED | SINGLED | LINKED, essential=True)
COUNTS = Act("counts", 20, counted, _counts, PROMISED | LINKED)


def multi_record(scene: Scene) -> Iterator[Staged]:
    """Name for every record of a class the person who owns most of them (paper 003).

    Against AvgGIDR with one record of each class, against MaxGIDR with the best classes.
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
            # Only a draw is held against the tolerance: the best classes were chosen for being the
            # best.
            drawn = records == "one_per_class"
            link = of_outcome(Criterion.LINKABILITY, outcome, scene.tolerance.person)
            yield Staged(outcome, findings=(link,) if drawn else ())


OWNERS = Act("multi_record", 40, multi_record, nothing, PROMISED | LINKED, essential=True)


def row_order(scene: Scene) -> Iterator[Staged]:
    """Take the place of a record for the place of its person in the register."""
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
    # The best way is taken of several, each of which chance may win.
    found = of_outcome(Criterion.LINKABILITY, outcome, scene.tolerance.person, tries=len(ways))
    yield Staged(outcome, findings=(found,))


def identifiers(scene: Scene) -> Iterator[Staged]:
    """Join the file with the register on columns beside the quasi-identifiers."""
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


ROW_ORDER = Act("row_order", 130, row_order, another, PROMISED | LINKED, essential=True)
IDENTIFIERS = Act("identifiers", 140, identifiers, nothing, PROMISED | LINKED, essential=True)
