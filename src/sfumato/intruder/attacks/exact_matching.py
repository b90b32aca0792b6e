"""Matching by cells, places and shared columns: who is named for records, and how it is judged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.core.measure import Measure
from sfumato.core.phrases import Phrase
from sfumato.intruder.attacks.scene import CLAIMED, Act, Scene, Staged, another, nothing
from sfumato.intruder.candidates import Identification
from sfumato.intruder.guesses import identity_attacks
from sfumato.intruder.guesses.inference_attacks import any_person, most_records
from sfumato.intruder.referee import judgements
from sfumato.intruder.referee.attack_odds import Outcome, poisson_hits, simulated_hits, success
from sfumato.intruder.referee.weighed_evidence import Speaks
from sfumato.risk.population.match_distribution import MatchDistribution

ROUNDS = 100
"""Repetitions of one-to-one matching, for the distribution of its hits."""


# Hits of random assignments within classes tend to Poisson's distribution as classes grow many.
LARGEST = 2_000
"""Released persons above which the hits of one-to-one matching are taken as Poisson's."""


def exact(scene: Scene) -> Iterator[Staged]:
    """Exact matching: each record on its own, nobody named twice, and the surest guesses.

    The mean over all is held against marketer risk, the surest guesses against prosecutor risk,
    or journalist risk where the intruder holds a register.
    """
    knows = Phrase("The intruder matches what is known exactly with the released cells")
    parts = scene.file, scene.uncounted, scene.candidates
    free = identity_attacks.exact_free(*parts, scene.rng("exact_free"))
    yield scene.judged(
        "exact_free",
        Phrase("{knows} and names for everybody in the file one of those who fit.", knows=knows),
        free,
        "marketer",
        calibrated=True,
    )
    whole, own = _one_to_one(scene)
    named = Phrase("{knows} so that no person is named twice.", knows=knows)
    yield scene.judged("exact_one_to_one", named, whole, "marketer", one_to_one=True, own=own)
    yield scene.judged(
        "exact_surest",
        Phrase(
            "{knows} and counts only the guesses about records that fewest people fit.",
            knows=knows,
        ),
        free,
        "journalist" if scene.against_register else "prosecutor",
        surest=True,
    )


def targets(scene: Scene) -> Iterator[Staged]:
    """Look for people who are known to be in the file."""
    parts = scene.file, scene.uncounted, scene.candidates
    inside = np.flatnonzero(scene.truth.released)
    looked = identity_attacks.exact_targeted(*parts, scene.rng("exact_targeted"), targets=inside)
    yield scene.judged(
        "exact_targeted",
        Phrase(
            "The intruder looks for a person who is known to be in the file and takes one of the "
            "records that fit. Only the targets that fewest records fit are counted."
        ),
        looked,
        "prosecutor",
        surest=True,
        targeted=True,
        # Who holds a register of his own is not taken to know who of it is in the file.
        knows_more=scene.against_register,
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


def counted(scene: Scene) -> Iterator[Staged]:
    """Exact matching by somebody who knows how many records each person has.

    The acquaintance of a verdict knows that number roughly.
    """
    guesses = identity_attacks.exact_free(
        scene.file, scene.knowledge, scene.candidates, scene.rng("exact_counts")
    )
    named = Phrase(
        "The intruder also knows how many records each person has in the file and names one for "
        "each pseudonym."
    )
    sure = Phrase(
        "The intruder also knows how many records each person has in the file; only the surest "
        "guesses."
    )
    for name, measure, surest, what in (
        ("exact_counts", "avg_count_risk", False, named),
        ("exact_counts_surest", "max_count_risk", True, sure),
    ):
        yield scene.judged(
            name, what, guesses, measure, surest=surest, calibrated=not surest, knows_more=True
        )


def _counts(scene: Scene) -> str:
    if scene.knowledge.counts is None:
        return "an intruder who knows numbers of records (counts)"
    return "" if scene.file.person is not None else "a person column in the released file"


EXACT = Act("exact", 10, "stranger", exact, nothing)
TARGETS = Act("targets", 15, "acquaintance", targets, nothing)
COUNTS = Act("counts", 20, "acquaintance", counted, _counts)


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
            Phrase("the person with most records among those who fit")
            if guesses.counted
            else Phrase("a person who fits, without knowing how many records anybody has")
        )
        for (end, records, said), measure in zip(CLAIMED, ("avg_gidr", "max_gidr"), strict=True):
            outcome = judgements.judge_class_guesses(
                guesses,
                scene.truth,
                scene.file,
                rng,
                what=Phrase(
                    "The intruder names for all records of a class {who}; {counted}.",
                    who=who,
                    counted=said,
                ),
                records=records,
                predicted=scene.claim(measure),
                attack=f"{name}{end}",
            )
            # A mean over classes, or over records, is no share of people.
            number = "found" if records == "one_per_class" else "person"
            yield Staged(outcome, speaks=Speaks(number, knows_more=True))


OWNERS = Act("multi_record", 40, "stranger", multi_record, nothing)


def row_order(scene: Scene) -> Iterator[Staged]:
    """Take the place of a record for the place of its person in the register."""
    ways = identity_attacks.by_place(scene.file, scene.candidates, scene.knowledge)
    outcome = judgements.judge_row_order(
        ways,
        scene.truth,
        scene.file,
        scene.rng("row_order"),
        what=Phrase(
            "The intruder takes the place of a record, in the file or in its class, for that of "
            "its person in the register."
        ),
    )
    # The best way is taken of several, each of which chance may win.
    yield Staged(outcome, speaks=scene.found_people(tries=len(ways)))


def identifiers(scene: Scene) -> Iterator[Staged]:
    """Join the file with the register on columns beside the quasi-identifiers."""
    joins = identity_attacks.join_columns(
        scene.file, scene.candidates, scene.knowledge, scene.rng("identifiers")
    )
    what = Phrase(
        "The intruder joins the file with the register on a column that both have beside the "
        "quasi-identifiers."
    )
    outcome = judgements.judge_identifiers(
        joins,
        scene.truth,
        scene.file,
        what=what,
        predicted=scene.claim("marketer"),
    )
    outcome = outcome or _none(what)
    yield Staged(outcome, speaks=scene.found_people(tries=2 * len(joins)))


def _none(what: str) -> Outcome:
    """What comes of it where no column can be joined."""
    nothing = Measure("baseline", 0.0)
    note = Phrase("No such column was found.")
    return Outcome("identifiers", what, 0, 0, success(0, 0), nothing, notes=(note,))


ROW_ORDER = Act("row_order", 130, "stranger", row_order, another)
IDENTIFIERS = Act("identifiers", 140, "stranger", identifiers, nothing)
