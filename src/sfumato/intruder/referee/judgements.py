"""Whether an attack was right, judged by the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.attacks.identity_attacks import Join
from sfumato.intruder.attacks.inference_attacks import ClassGuesses
from sfumato.intruder.candidates import Identification, Inference
from sfumato.intruder.reading import ReleasedFile, TextColumn
from sfumato.intruder.referee import attack_odds
from sfumato.intruder.referee.attack_odds import (
    UPPER,
    Outcome,
    binomial_hits,
    claimed_hits,
    claimed_rate,
    free_hits,
    of_rounds,
    one_per_class,
    one_to_one_hits,
    share_hits,
    surest,
    verdict,
)
from sfumato.intruder.referee.attack_odds import surest as of_largest_chance
from sfumato.intruder.referee.attack_truth import (
    Owners,
    Truth,
    holdings,
    most_frequent_value,
    owners,
    pinned_outside,
    random_persons,
    random_units,
    right_outside,
    unit_kinds,
)
from sfumato.risk.population.match_distribution import MatchDistribution

THRESHOLD = 0.2
"""Above this chance a right guess counts as exposed."""


def judge_identification(
    guesses: Identification,
    truth: Truth,
    file: ReleasedFile,
    *,
    attack: str,
    what: str,
    one_to_one: bool,
    predicted: Measure | None = None,
    threshold: float = THRESHOLD,
    surest: bool = False,
    own: MatchDistribution | None = None,
    claimed: MatchDistribution | None = None,
    targeted: bool = False,
) -> Outcome:
    """Score guesses of persons, and hold them against a claim.

    A true claim comes out as broken with probability at most 2.5 %. O(records + guesses log).

    Parameters
    ----------
    guesses
        What the intruder guessed; guesses without a unit or a person are no attempts.
    truth
        Whose each record is.
    file
        The released file.
    attack
        Name of the attack.
    what
        One sentence: what the intruder held and did.
    one_to_one
        Whether no person was named twice.
    predicted
        What was claimed: the mean chance of an attempt, or, with ``surest``, its largest.
    threshold
        Above this chance of the intruder a right guess counts as exposed.
    surest
        Whether only the guesses count of which the intruder is surest, as he would act against
        a claim about a maximum (prosecutor, journalist, max_count_risk).
    own
        Distribution of the attack's own hits, for the interval of ``success``; by default that
        of independent guesses (Clopper-Pearson).
    claimed
        Distribution of the hits if the claim were true; by default from its mean alone.
    targeted
        Whether units were named for persons who are known to be in the file, rather than persons
        for units: random guessing then names any unit, and there is nobody outside to name.

    Raises
    ------
    InputError
        If the truth is about another number of records.
    """
    owner = owners(file, truth)
    made = (guesses.unit >= 0) & (guesses.person >= 0)
    if surest:
        made[made] = of_largest_chance(guesses.chance[made])
    unit, person, chance = guesses.unit[made], guesses.person[made], guesses.chance[made]
    right = owner.right(unit, person)
    attempts, hits = len(unit), int(right.sum())
    allowed, broken, p_value = None, False, None
    if predicted is not None and attempts:
        claim = claimed or claimed_hits(predicted, attempts, one_to_one=one_to_one)
        allowed, broken, p_value = verdict(hits, attempts, claim)
    return Outcome(
        attack=attack,
        what=what,
        attempts=attempts,
        right=hits,
        success=attack_odds.success(hits, attempts, own),
        baseline=(random_units(owner, person) if targeted else random_persons(owner, unit)),
        control=None if targeted else pinned_outside(person, truth),
        predicted=predicted,
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        exposed=int(np.count_nonzero(right & (chance > threshold))),
    )


_TINY = 1e-9
"""Probabilities below are alike: they are exact to 1e-10."""


def judge_identifiers(
    joins: Sequence[Join],
    truth: Truth,
    file: ReleasedFile,
    *,
    what: str,
    predicted: Measure | None = None,
    threshold: float = THRESHOLD,
) -> Outcome | None:
    """Score joins on further columns; the most telling one is shown.

    Of each join all guesses are held against what free guessing in the released classes wins on
    the same units, or against what was claimed where that is more; and so are the guesses for
    units that text and class leave a single person for, lest a column that names a few is lost
    among many. 2.5 % is divided by the number of these tests. ``None`` where no column could be
    joined.

    Parameters
    ----------
    joins
        What the intruder joined.
    truth
        Whose each record is.
    file
        The released file.
    what
        One sentence: what the intruder held and did.
    predicted
        The claimed mean chance of a guess (marketer risk).
    threshold
        Above this chance of the intruder a right guess counts as exposed.

    Raises
    ------
    InputError
        If the truth is about another number of records.
    """
    owner = owners(file, truth)
    tests = [_Test(join, owner, predicted, pinned=only) for join in joins for only in (False, True)]
    tests = [test for test in tests if test.attempts]
    if not tests:
        return None
    best = min(tests, key=lambda test: (test.luck, -test.right))
    outcome = judge_identification(
        best.guesses,
        truth,
        file,
        attack="identifiers",
        what=what,
        one_to_one=False,
        threshold=threshold,
    )
    allowed, broken, p_value = verdict(best.right, best.attempts, best.claimed, tries=len(tests))
    return replace(
        outcome,
        predicted=best.claim,
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        notes=_named(tests),
    )


class _Test:
    """Some guesses of a join, and what they win if the column tells nothing."""

    def __init__(
        self, join: Join, owner: Owners, predicted: Measure | None, *, pinned: bool
    ) -> None:
        made = join.guesses.person >= 0
        if pinned:
            made = made & join.fits & (join.guesses.chance == 1)
        every, self.join = join.guesses, join
        self.guesses = Identification(every.unit[made], every.person[made], every.chance[made])
        self.attempts = len(self.guesses.unit)
        self.right = int(owner.right(self.guesses.unit, self.guesses.person).sum())
        mean = float(join.alone[made].mean()) if self.attempts else 0.0
        self.claim = Measure("free_guessing", mean, why="by the released classes alone")
        self.claimed = free_hits(join.alone[made])
        if predicted is not None and claimed_rate(predicted) > mean:
            self.claim = predicted
            self.claimed = binomial_hits(self.attempts, claimed_rate(predicted))
        self.luck = max(self.claimed.at_least(self.right), _TINY)


def _named(tests: Sequence[_Test]) -> tuple[str, ...]:
    """One sentence for each column that tells more than the classes."""
    notes: dict[str, None] = {}
    for test in tests:
        if test.luck <= (1 - UPPER) / len(tests):
            join = test.join
            other = "" if join.by_name else f" (the register's column '{join.register_column}')"
            units = int(np.count_nonzero(join.guesses.person >= 0))
            pinned = f"leaves one person for {join.pinned:,} of {units:,}"
            notes[f"column '{join.column}'{other} {pinned}"] = None
    return tuple(notes)


Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Targets = Literal["all", "one_per_class", "surest"]


def judge_inference(
    guesses: Inference,
    truth: Truth,
    file: ReleasedFile,
    rng: np.random.Generator,
    *,
    what: str,
    targets: Targets = "all",
    predicted: Measure | None = None,
    threshold: float = THRESHOLD,
    attack: str | None = None,
) -> Outcome:
    """Score guesses of a sensitive value, and hold them against a claim.

    The attempts are register persons who are in the release and of whom a value was guessed.
    AvgGSAR is a mean over classes, so that one target is drawn of each class
    (``one_per_class``): each guess is then right with at most the class's GSAR. MaxGSAR says
    that no value is had by a larger share of a class, so that the intruder goes for the targets
    of whom he is surest, and what the claim allows among a of a class's n persons is
    hypergeometric (`share_hits`). The control is the same guess for the register persons outside
    the release; for ``surest`` those of the same chance. O(records log + persons log).

    Parameters
    ----------
    guesses
        What the intruder guessed.
    truth
        Whose each record is, and what the register's persons have.
    file
        The released file.
    rng
        Draws the targets of ``one_per_class``.
    what
        One sentence: what the intruder held and did.
    targets
        Whom the attempts are about: against ``avg_gsar`` ``one_per_class``, against
        ``max_gsar`` ``surest``.
    predicted
        What was claimed.
    threshold
        Above this chance of the intruder a right guess counts as exposed.
    attack
        Name of the attack; ``inference:<column>`` by default.

    Raises
    ------
    InputError
        If the released file has no such sensitive column.
    """
    column = _column(file, guesses.attribute)
    held = holdings(column, truth)
    guessed = guesses.value >= 0
    inside, outside = (
        np.flatnonzero(guessed & truth.released[guesses.person]),
        np.flatnonzero(guessed & ~truth.released[guesses.person] & held.known[guesses.person]),
    )
    home = _classes(file, truth)
    if targets == "one_per_class":
        inside = one_per_class(inside, home[guesses.person[inside]], rng)
    elif targets == "surest" and len(inside):
        best = guesses.chance[inside]
        least = best[surest(best)].min()
        inside = inside[surest(best)]
        outside = outside[guesses.chance[outside] >= least]
    person, value = guesses.person[inside], guesses.value[inside]
    right = held.has(person, value)
    attempts, hits = len(person), int(right.sum())
    drawn, size = _drawn(home[person] * held.texts + value, held.texts, file, truth)
    allowed, broken, p_value = None, False, None
    if predicted is not None and attempts:
        rate = claimed_rate(predicted)
        bounded = targets == "surest"
        claimed = share_hits(size, drawn, rate) if bounded else binomial_hits(attempts, rate)
        allowed, broken, p_value = verdict(hits, attempts, claimed)
    whole = targets == "surest" and bool(np.all(drawn == size))
    return Outcome(
        attack=attack or f"inference:{column.name}",
        what=what,
        attempts=attempts,
        right=hits,
        success=(attack_odds.exact_success if whole else attack_odds.success)(hits, attempts),
        baseline=most_frequent_value(held.has(person, _commonest(file, column, attempts))),
        control=right_outside(held.has(guesses.person[outside], guesses.value[outside])),
        predicted=predicted,
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        exposed=int(np.count_nonzero(right & (guesses.chance[inside] > threshold))),
    )


def _column(file: ReleasedFile, name: str) -> TextColumn:
    for column in file.sensitive:
        if column.name == name:
            return column
    raise InputError(f"column '{name}'", "must be a sensitive column of the released file")


def _classes(file: ReleasedFile, truth: Truth) -> Ints:
    """The class of each register person's first released record, -1 for those outside."""
    home = np.full(len(truth.released), -1, dtype=np.int64)
    known = truth.owner >= 0
    home[truth.owner[known][::-1]] = file.class_of[known][::-1]
    return home


def _drawn(alike: Ints, texts: int, file: ReleasedFile, truth: Truth) -> tuple[Ints, Ints]:
    """Targets with the same class and guess (class * texts + value), and persons of their class.

    Persons by the truth; a unit whose owner is unknown is one.
    """
    who = np.where(truth.owner >= 0, truth.owner, len(truth.released) + file.unit)
    pairs = np.unique(np.column_stack([file.class_of, who]), axis=0)
    persons = np.bincount(pairs[:, 0], minlength=file.classes)
    kinds, drawn = np.unique(alike, return_counts=True)
    size = np.maximum(persons[kinds // texts], drawn)
    return drawn.astype(np.int64), size.astype(np.int64)


def _commonest(file: ReleasedFile, column: TextColumn, attempts: int) -> Ints:
    """The value that most released persons have, once per attempt."""
    some = column.told >= 0
    pairs = np.unique(np.column_stack([column.codes[some], file.unit[some]]), axis=0)
    count = np.bincount(pairs[:, 0], minlength=len(column.texts))
    value = int(count.argmax()) if count.size and count.max() else -1
    return np.full(attempts, value, dtype=np.int64)


Records = Literal["all", "one_per_class", "surest"]


def judge_class_guesses(
    guesses: ClassGuesses,
    truth: Truth,
    file: ReleasedFile,
    rng: np.random.Generator,
    *,
    what: str,
    records: Records = "all",
    predicted: Measure | None = None,
    threshold: float = THRESHOLD,
    attack: str | None = None,
) -> Outcome:
    """Score one name per class, record by record, and hold it against a claim.

    AvgGIDR is a mean over classes (paper 003, Section 7), so that one record is drawn of each
    (``one_per_class``): it is the named person's with at most the class's GIDR. MaxGIDR and 1 / k
    bound the share of any one person's records in a class, so that a name for all n records of a
    class is right at most floor(n share) times, whoever is named: no chance is left, and success
    has no interval. ``surest`` takes the classes of which the intruder expects most, ``all`` every
    class. O(records log).

    Parameters
    ----------
    guesses
        What the intruder guessed.
    truth
        Whose each record is.
    file
        The released file.
    rng
        Draws the records of ``one_per_class``.
    what
        One sentence: what the intruder held and did.
    records
        What the attempts are: against ``avg_gidr`` ``one_per_class``, against ``max_gidr`` or
        1 / k ``surest`` or ``all``.
    predicted
        What was claimed.
    threshold
        Above this chance of the intruder a right guess counts as exposed.
    attack
        Name of the attack; by default ``multi_record``, or ``multi_record_counts`` where the
        intruder knew the numbers of records.

    Raises
    ------
    InputError
        If the truth is about another number of records.
    """
    owner = owners(file, truth, by_record=True)
    chosen = guesses.person >= 0
    if records == "surest":
        chosen[chosen] = surest(guesses.chance[chosen])
    record = np.flatnonzero(chosen[file.class_of]).astype(np.int64)
    if records == "one_per_class":
        record = one_per_class(record, file.class_of[record], rng)
    person, chance = guesses.person[file.class_of[record]], guesses.chance[file.class_of[record]]
    right = owner.right(record, person)
    attempts, hits = len(record), int(right.sum())
    allowed, broken, p_value = None, False, None
    if predicted is not None and attempts:
        claimed = _claimed(predicted, records, file.class_of[record], file)
        allowed, broken, p_value = verdict(hits, attempts, claimed)
    measured = attack_odds.success if records == "one_per_class" else attack_odds.exact_success
    return Outcome(
        attack=attack or ("multi_record_counts" if guesses.counted else "multi_record"),
        what=what,
        attempts=attempts,
        right=hits,
        success=measured(hits, attempts),
        baseline=random_persons(owner, record),
        control=pinned_outside(person, truth),
        predicted=predicted,
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        exposed=int(np.count_nonzero(right & (chance > threshold))),
    )


def _claimed(
    predicted: Measure, records: Records, class_of: Ints, file: ReleasedFile
) -> MatchDistribution:
    rate = claimed_rate(predicted)
    if records == "one_per_class":
        return binomial_hits(len(class_of), rate)
    drawn = np.bincount(class_of, minlength=file.classes)
    size = np.bincount(file.class_of, minlength=file.classes)
    return share_hits(size[drawn > 0], drawn[drawn > 0], rate)


ROUNDS, LEAST = 1000, 400
"""Shuffles of small files and of large ones, whose number falls with their size."""
WORK = 20_000_000
"""Units that are shuffled in all."""


def judge_row_order(
    guesses: Sequence[Identification],
    truth: Truth,
    file: ReleasedFile,
    rng: np.random.Generator,
    *,
    what: str,
    threshold: float = THRESHOLD,
) -> Outcome:
    """Score guesses by place, against what they would win if places told nothing.

    If the order within a class tells nothing, its units with the same number of records are
    their persons in any order, one as likely as another. (Who has many records appears early in
    the register and in the release, however both are shuffled: that is no order kept. Units that
    show several classes stand with those that show the same.) With f such units of which m are
    guessed to be somebody who is among their persons, the hits are the fixed points of m in a
    class of f: E (R)_i = (m)_i / (f)_i, exact where no person is named twice for them, and the
    heavier tail where one is. Where somebody owns several units of a class, the file is shuffled
    1,000 times instead (large files at least 400 times). Of several ways to guess by place the
    one that did best is shown, and 2.5 % divided by their number.

    Parameters
    ----------
    guesses
        What the intruder guessed, one entry for each way (`by_place`).
    truth
        Whose each record is.
    file
        The released file.
    rng
        Shuffles.
    what
        One sentence: what the intruder held and did.
    threshold
        Above this chance of the intruder a right guess counts as exposed.

    Raises
    ------
    InputError
        If the truth is about another number of records.
    """
    owner = owners(file, truth)
    kind = _alike(file)
    by_chance = _by_chance(guesses, owner, kind, rng)
    tried = [_Tried(each, owner, one) for each, one in zip(guesses, by_chance, strict=True)]
    best = max(tried, key=lambda each: each.above)
    attempts, hits = len(best.unit), int(best.right.sum())
    allowed, broken, p_value = None, False, None
    if attempts:
        allowed, broken, p_value = verdict(hits, attempts, best.by_chance, tries=len(tried))
    return Outcome(
        attack="row_order",
        what=what,
        attempts=attempts,
        right=hits,
        success=attack_odds.success(hits, attempts, best.by_chance),
        baseline=random_persons(owner, best.unit),
        control=pinned_outside(best.person, truth),
        predicted=Measure(
            "free_guessing",
            best.by_chance.mean / max(attempts, 1),
            why="what the same guesses win if the order of the rows tells nothing",
        ),
        allowed=allowed,
        broken=broken,
        p_value=p_value,
        exposed=int(np.count_nonzero(best.right & (best.chance > threshold))),
    )


def _alike(file: ReleasedFile) -> Ints:
    """Number of each unit's set of classes and number of records."""
    records = np.bincount(file.unit, minlength=file.persons)
    both = unit_kinds(file) * (records.max(initial=0) + 1) + records
    return np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)


class _Tried:
    """One way to guess by place: its attempts, hits, and what they would be by chance."""

    def __init__(
        self, guesses: Identification, owner: Owners, by_chance: MatchDistribution
    ) -> None:
        made = (guesses.unit >= 0) & (guesses.person >= 0)
        self.unit, self.person = guesses.unit[made], guesses.person[made]
        self.chance = guesses.chance[made]
        self.right = owner.right(self.unit, self.person)
        self.by_chance = by_chance
        spread = max(by_chance.variance, 1.0) ** 0.5
        self.above = (float(self.right.sum()) - by_chance.mean) / spread


def _by_chance(
    guesses: Sequence[Identification], owner: Owners, kind: Ints, rng: np.random.Generator
) -> list[MatchDistribution]:
    """The hits of each way if the units that are alike were their owners in any order."""
    persons = max(owner.persons, 1)
    known = owner.first >= 0
    held, count = np.unique(kind[known] * persons + owner.first[known], return_counts=True)
    if int(count.max(initial=0)) > 1:
        return _shuffled(guesses, owner.first, kind, rng)
    size = np.bincount(kind)
    found = []
    for each in guesses:
        named = each.person >= 0
        inside = np.isin(kind[each.unit] * persons + each.person, held) & named
        pairs = np.bincount(kind[each.unit][inside], minlength=len(size))
        found.append(one_to_one_hits(pairs, size))
    return found


def _shuffled(
    guesses: Sequence[Identification], first: Ints, kind: Ints, rng: np.random.Generator
) -> list[MatchDistribution]:
    rounds = int(np.clip(WORK // max(len(kind), 1), LEAST, ROUNDS))
    order = np.argsort(kind, kind="stable")
    hits = np.zeros((rounds, len(guesses)), dtype=np.int64)
    shuffled = np.empty(len(kind), dtype=np.int64)
    for place in range(rounds):
        shuffled[order] = first[np.argsort(kind + rng.random(len(kind)))]
        for way, each in enumerate(guesses):
            right = (shuffled[each.unit] == each.person) & (each.person >= 0)
            hits[place, way] = np.count_nonzero(right)
    return [of_rounds(hits[:, way]) for way in range(len(guesses))]


_TOLERANCE = 1e-12


def judge_run(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Say which predictions count as broken, given how many attacks were made.

    If all predictions are true, one or more count as broken with probability at most 2.5 %,
    however the attacks depend on each other: Holm's step-down procedure (Holm 1979,
    Scandinavian Journal of Statistics 6:65-70). What each attack is allowed stays.

    Parameters
    ----------
    outcomes
        The attacks of a run, each judged alone.
    """
    tested = sorted(
        (each.p_value, place) for place, each in enumerate(outcomes) if each.p_value is not None
    )
    broken: set[int] = set()
    for rank, (p_value, place) in enumerate(tested):
        if p_value > (1 - UPPER) / (len(tested) - rank) + _TOLERANCE:
            break
        broken.add(place)
    return tuple(replace(each, broken=place in broken) for place, each in enumerate(outcomes))
