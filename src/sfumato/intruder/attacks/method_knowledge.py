"""A reader who knows how classes are made: how what he sharpens in them is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.measure import Measure
from sfumato.core.number_text import count, percentage
from sfumato.core.phrases import Phrase
from sfumato.intruder.attacks.scene import Act, Scene, Staged, another, sensitive_and_true
from sfumato.intruder.candidates import Identification
from sfumato.intruder.guesses import pseudonym_attack
from sfumato.intruder.guesses.bounds_attack import Isolation, by_ends, by_members, isolated
from sfumato.intruder.guesses.informed_attack import by_method, ladders_of
from sfumato.intruder.guesses.method_attack import sharpened, undivided
from sfumato.intruder.reading import TextColumn
from sfumato.intruder.referee import judgements
from sfumato.intruder.referee.attack_odds import Outcome, free_hits, success
from sfumato.intruder.released_syntax import Members

CLASSES = 500
"""Classes that are tried, drawn where there are more."""


# One honest run in a thousand warns, at most; of 300 on a fixed grid none did (docs/EVIDENCE.md).
BEYOND = 0.001
"""Probability by chance below which ends are said to single out."""


def singling_out(scene: Scene) -> Iterator[Staged]:
    """Single out somebody by what a class shows and an end of a range, or a member of a set.

    Held against other values of the same ranges, and people dealt out to the members at random. No
    release claims anything about it, so that nothing is broken by it; what it found is a warning.
    """
    predicates = by_ends(scene.file, scene.rng("singling_out"), CLASSES)
    every = isolated(predicates, scene.file, scene.exact, scene.truth.released)
    # Where no value lies between the ends, nothing is there that an end could be held against.
    judged = np.isfinite(every.chance)
    isolation = Isolation(every.alone[judged], every.chance[judged])
    outcome, luck = _against_chance(
        "singling_out",
        Phrase(
            "The intruder describes a person by what a class shows and one end of its widest "
            "range, each end alone. Right is what holds of exactly one person of the file."
        ),
        isolation,
        "the same with a value between the ends",
    )
    unjudged = predicates.without + len(np.unique(predicates.class_of[~judged]))
    note = Phrase(
        "Classes without a range that has a value between its ends, not tried: {n}.",
        n=count(unjudged),
    )
    warning = (
        "The ends of ranges single people out. One end, with what else its class shows, "
        f"holds of exactly one person for {percentage(outcome.success.value)} of the ends tried; "
        f"a value between the ends would for {percentage(outcome.baseline.value)}."
    )
    yield Staged(
        replace(outcome, notes=(note,) if unjudged else ()),
        warnings=(warning,) if luck < BEYOND else (),
    )
    yield from _members(scene)


def _members(scene: Scene) -> Iterator[Staged]:
    if not any(
        isinstance(cell, Members)
        for column in scene.file.quasi_identifiers
        for cell in column.cells
    ):
        return
    rng, name = scene.rng("singling_out_members"), "singling_out_members"
    # By what is true: who stands alone does not depend on what the intruder gets wrong.
    true, inside = scene.true_candidates, scene.truth.released
    members = by_members(scene.file, scene.exact, true, inside, rng, CLASSES)
    outcome, luck = _against_chance(
        name,
        Phrase(
            "The intruder describes a person by what a class shows and one member of its largest "
            "set, each member alone. Right is what holds of exactly one person of the file."
        ),
        members,
        "people dealt out to the members at random",
    )
    warning = (
        "Sets single people out: one member of a set, and what else its class shows, holds of "
        f"exactly one person for {percentage(outcome.success.value)} of the members tried, by "
        f"chance for {percentage(outcome.baseline.value)}."
    )
    yield Staged(
        outcome,
        warnings=(warning,) if luck < BEYOND else (),
    )


def downcoding(scene: Scene) -> Iterator[Staged]:
    """Single out somebody by what a class shows and the part of a cell that cannot be empty.

    Held against parts as large: he takes ends and labels for as near as the grid and the hierarchy
    allow.
    """
    rng, true = scene.rng("downcoding"), scene.true_candidates
    isolation = sharpened(scene.file, scene.exact, true, scene.truth.released, rng, CLASSES)
    outcome, _ = _against_chance(
        "downcoding",
        Phrase(
            "The intruder knows that classes are made as small as the method allows. A person is "
            "described by what a class shows and the part of one cell that cannot be empty. Right "
            "is what holds of exactly one person of the file."
        ),
        isolation,
        "the same with a part as large that may be empty",
    )
    yield Staged(outcome)


def minimality(scene: Scene) -> Iterator[Staged]:
    """Guess sensitive values from that a class was not divided although it could have been.

    Held against the share of the class that has the value.
    """
    for column in scene.file.sensitive:
        rng = scene.rng(f"minimality:{column.name}")
        holdings = judgements.holdings(column, scene.truth)
        guesses = list(
            undivided(scene.file, scene.exact, scene.true_candidates, column, rng, CLASSES)
        )
        person, value = np.array([guess[:2] for guess in guesses], dtype=np.int64).reshape(-1, 2).T
        chance = np.array([guess[2] for guess in guesses])
        isolation = Isolation(holdings.has(person, value), chance)
        name = f"inference_minimality:{column.name}"
        outcome, _ = _against_chance(
            name,
            Phrase(
                "The intruder takes what all classes keep for promised, and guesses the value of "
                "one person of each class from that it was not divided."
            ),
            isolation,
            "the share of the class that has the value",
        )
        yield Staged(outcome)


def method(scene: Scene) -> Iterator[Staged]:
    """Undo pseudonyms that public software made: of a small seed, or a hash without a salt."""
    unit, person = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    notes, undone = [], 0
    for column in _pseudonyms(scene):
        texts = [str(text) for text in column.texts]
        if pseudonym_attack.is_own(column.texts):
            found, most = pseudonym_attack.by_seed(texts, scene.file.records)
            notes.append(Phrase("Seeds up to {n} were tried.", n=count(most)))
        else:
            held = (text for column in scene.knowledge.others for text in column.texts if text)
            found = pseudonym_attack.by_hash(texts, held)
        if found is None:
            continue
        undone += len(found.code)
        named = _persons_of(scene, found)
        of_code = np.full(len(texts), -1, dtype=np.int64)
        of_code[found.code] = np.arange(len(found.code)) if named is None else named
        units, first = np.unique(scene.file.unit, return_index=True)
        people = of_code[column.codes[first]]
        # Nobody but the file itself says who has a rank, or an id.
        people = np.where(people >= 0, units, -1) if named is None else people
        unit.append(units[people >= 0])
        person.append(people[people >= 0])
    # A pseudonym that is made again from its seed or id is certain.
    guesses = Identification(
        np.concatenate(unit), np.concatenate(person), np.ones(sum(map(len, unit)))
    )
    staged = scene.judged(
        "method",
        Phrase(
            "The intruder draws pseudonyms from small seeds as earlier versions of this software "
            "did, and hashes ids without a salt, until they are those of the file."
        ),
        guesses,
        "",
    )
    outcome = replace(staged.outcome, notes=(*staged.outcome.notes, *notes))
    warning = (
        f"Pseudonyms undone by public software: {undone:,}. They come from a small seed, or are "
        "hashes of ids without a salt. Do not release the file; make it anew."
    )
    yield replace(staged, outcome=outcome, warnings=(warning,) if undone else ())


def _pseudonyms(scene: Scene) -> list[TextColumn]:
    """The columns that look like pseudonyms of earlier versions, or like hashes."""
    named = scene.file.names
    # The person column is among the others, too, and must not be looked at twice.
    beside = [column for column in scene.file.others if named is None or column.name != named.name]
    return [
        each
        for each in (*([] if named is None else [named]), *beside)
        if pseudonym_attack.is_own(each.texts) or pseudonym_attack.is_hashed(each.texts)
    ]


def _persons_of(scene: Scene, found: pseudonym_attack.Undone) -> Ints | None:
    """Whom ranks or ids are of, -1 where it is not known; ``None`` where nothing says it."""
    known = scene.knowledge
    if scene.itself:
        return None
    if found.rank is not None:
        # Persons are numbered as they appear in the file, as in the original.
        whole = known.persons == scene.file.persons
        return found.rank if whole else np.full(len(found.rank), -1)
    owner: dict[str, int] = {}
    for column in known.others:
        for code, own in zip(column.codes.tolist(), known.person.tolist(), strict=True):
            text = column.texts[code]
            if text is not None:
                # A text of two persons names neither of them.
                owner[text] = own if owner.get(text, own) == own else -1
    return np.array([owner.get(each, -1) for each in found.ids], dtype=np.int64)


def _drawn_or_hashed(scene: Scene) -> str:
    return "" if _pseudonyms(scene) else "a column of pseudonyms that look drawn, or like hashes"


def _against_chance(name: str, what: str, found: Isolation, why: str) -> tuple[Outcome, float]:
    """What came of tries with a known chance each, and the probability of so much by chance."""
    attempts, right = len(found.alone), int(found.alone.sum())
    mean = float(found.chance.mean()) if attempts else 0.0
    baseline = Measure("baseline", mean, why=why)
    outcome = Outcome(name, what, attempts, right, success(right, attempts), baseline)
    return outcome, free_hits(found.chance).at_least(right) if attempts else 1.0


def informed(scene: Scene) -> Iterator[Staged]:
    """Do to everybody in the reader's own file what was done to the linked records."""
    file, known, quasis = scene.file, scene.knowledge, scene.schema.quasi_identifiers
    ladders = ladders_of(file, known, quasis, scene.published)
    if ladders is None:
        return
    weights = [quasis[name].weight for name in _shared(scene)]
    # A release promises that k people match: k is at most the fewest who match a class.
    fewest = int(scene.candidates.of_class.min(initial=known.persons))
    found = by_method(file, known, ladders, weights, fewest, scene.rng("informed"))
    if found is None:
        return
    staged = scene.judged(
        "informed",
        Phrase(
            "The reader does to all people of a file of their own what linkage k-anonymity did to "
            "the linked records. One of those who would look as the record does is then named."
        ),
        found.guesses,
        "informed_linkage_risk",
        calibrated=True,
    )
    note = Phrase(
        "The method explains {share} of the classes, with k = {k}.",
        share=percentage(found.explained),
        k=found.k,
    )
    outcome = replace(staged.outcome, notes=(*staged.outcome.notes, note))
    yield replace(staged, outcome=outcome)


def _shared(scene: Scene) -> list[str]:
    """The quasi-identifiers that both the reader's file and the released one have."""
    shown = {column.name for column in scene.file.quasi_identifiers}
    return [
        identifier.name
        for identifier in scene.knowledge.quasi_identifiers
        if identifier.name in shown
    ]


def _reader(scene: Scene) -> str:
    if not scene.against_register:
        return "the file of the one who asked for linked data (register)"
    missing = [
        name
        for name in _shared(scene)
        if scene.schema.quasi_identifiers[name].hierarchy is None and name not in scene.published
    ]
    return f"hierarchies of {', '.join(missing)}" if missing else ""


SINGLING_OUT = Act("singling_out", 170, "stranger", singling_out, another)
DOWNCODING = Act("downcoding", 180, "recipient", downcoding, another)
MINIMALITY = Act("minimality", 85, "recipient", minimality, sensitive_and_true)
METHOD = Act("method", 145, "stranger", method, _drawn_or_hashed)
INFORMED = Act("informed", 25, "recipient", informed, _reader)
