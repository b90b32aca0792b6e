"""Whether an attack was right: whose each record is, what is true, and how guesses are scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.intruder.candidates import Identification, Inference, distinct_sets
from sfumato.intruder.guesses.identity_attacks import Join
from sfumato.intruder.guesses.inference_attacks import ClassGuesses
from sfumato.intruder.reading import EQUAL, ReleasedFile, TextColumn
from sfumato.intruder.referee import attack_odds
from sfumato.intruder.referee.attack_odds import (
    UPPER,
    Outcome,
    binomial_hits,
    claimed_hits,
    claimed_rate,
    clopper_pearson,
    free_hits,
    of_rounds,
    one_per_class,
    one_to_one_hits,
    share_hits,
    surest,
    verdict,
)
from sfumato.intruder.referee.attack_odds import surest as of_largest_chance
from sfumato.risk.population.match_distribution import MatchDistribution
from sfumato.table.spellings import reading


@dataclass(frozen=True, eq=False)
class PersonValues:
    """The values of one sensitive attribute that persons of the register really have.

    Attributes
    ----------
    person
        Register person of each entry, shape (entries,).
    codes
        The value that this person has, a position in ``texts``, shape (entries,).
    texts
        The distinct values.
    """

    person: Ints
    codes: Ints
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Truth:
    """What the referee knows and the intruder does not.

    Attributes
    ----------
    owner
        Register person of each released record, -1 outside the register, shape (records,).
    released
        Whether each register person has a record in the release, shape (register persons,).
    values
        By sensitive attribute, what the persons of the register really have, those outside the
        release too (for the control group); may be empty.
    """

    owner: Ints
    released: Bools
    values: Mapping[str, PersonValues] = field(default_factory=dict)


def owned(owner: Ints, persons: int, values: Mapping[str, PersonValues] | None = None) -> Truth:
    """The truth from the register person of each released record, -1 outside; shape (records,)."""
    owner = np.asarray(owner, dtype=np.int64)
    if owner.size and not (owner.min() >= -1 and owner.max() < persons):
        raise InputError(
            "the truth",
            "must name people of the register",
            found="another number",
            accepted=f"-1 (outside the register) to {persons - 1}",
        )
    released = np.zeros(persons, dtype=np.bool_)
    released[owner[owner >= 0]] = True
    return Truth(owner, released, dict(values or {}))


def owned_by_row(source_rows: Ints, register_person: Ints, persons: int) -> Truth:
    """The truth where the register is the original, or has its rows in the same order.

    The row of the original (from 0) of each released record has shape (records,): ``arange`` where
    the release keeps the order.
    """
    rows = np.asarray(source_rows, dtype=np.int64)
    if rows.size and not (rows.min() >= 0 and rows.max() < len(register_person)):
        raise InputError(
            "the truth",
            "must name rows of the register",
            found="another number",
            accepted=f"0 to {len(register_person) - 1}",
        )
    return owned(register_person[rows], persons)


def owned_by_id(
    record_ids: Sequence[str | None],
    register_ids: Sequence[str | None],
    values: Mapping[str, PersonValues] | None = None,
) -> Truth:
    """The truth from the person ids, if known, of released records and of register persons."""
    number = {one: i for i, one in enumerate(register_ids) if one is not None}
    if len(number) < sum(one is not None for one in register_ids):
        raise InputError("the register", "must have one id per person", found="an id of two people")
    owner = [-1 if one is None else number.get(one, -1) for one in record_ids]
    return owned(np.array(owner, dtype=np.int64), len(register_ids), values)


def person_values(person: Ints, texts: Sequence[str | None]) -> PersonValues:
    """What persons have, from rows of a table; a row without a value says nothing.

    The person of a row is -1 for none of the register; shape (rows,).
    """
    keep = [i for i, text in enumerate(texts) if text is not None and person[i] >= 0]
    held = [str(texts[i]) for i in keep]
    distinct = tuple(dict.fromkeys(held))
    code = {text: i for i, text in enumerate(distinct)}
    return PersonValues(
        np.asarray(person, dtype=np.int64)[keep],
        np.array([code[text] for text in held], dtype=np.int64),
        distinct,
    )


@dataclass(frozen=True, eq=False)
class Owners:
    """The register persons of each released unit; several where a linkage erred.

    Attributes
    ----------
    pairs
        unit * persons + person of each unit and a person of its records, ascending.
    first
        A register person of each unit, -1 outside the register, shape (units,).
    """

    units: int
    persons: int
    pairs: Ints
    first: Ints

    def right(self, unit: Ints, person: Ints) -> Bools:
        """Whether each guess names a person to whom a record of the unit belongs.

        -1 is never right. Paper 003: disclosure is deemed to occur when any one of a person's
        records is identified.
        """
        named = (unit >= 0) & (person >= 0)
        key = unit * self.persons + person
        at = np.minimum(np.searchsorted(self.pairs, key), max(len(self.pairs) - 1, 0))
        if not len(self.pairs):
            return np.zeros(len(key), dtype=np.bool_)
        return np.asarray(named & (self.pairs[at] == key), dtype=np.bool_)

    def chance(self, unit: Ints) -> Floats:
        """The chance that a register person drawn at random is right, for each unit."""
        of_unit = np.bincount(self.pairs // max(self.persons, 1), minlength=self.units)
        return np.asarray(of_unit[unit] / max(self.persons, 1), dtype=np.float64)

    def chance_of_person(self, person: Ints) -> Floats:
        """The chance that a unit drawn at random is right, for each register person."""
        of_person = np.bincount(self.pairs % max(self.persons, 1), minlength=self.persons)
        return np.asarray(of_person[person] / max(self.units, 1), dtype=np.float64)


def owners(file: ReleasedFile, truth: Truth, *, by_record: bool = False) -> Owners:
    """The register persons of the released units, or records whatever their pseudonyms."""
    if len(truth.owner) != file.records:
        raise InputError(
            "the truth",
            "must say whose each released record is",
            found=f"{len(truth.owner)} records",
            accepted=f"{file.records} records",
        )
    unit = np.arange(file.records, dtype=np.int64) if by_record else file.unit
    units = file.records if by_record else file.persons
    persons = len(truth.released)
    known = truth.owner >= 0
    first = np.full(units, -1, dtype=np.int64)
    first[unit[known][::-1]] = truth.owner[known][::-1]
    return Owners(units, persons, np.unique(unit[known] * persons + truth.owner[known]), first)


def unit_kinds(file: ReleasedFile) -> Ints:
    """Number of the set of classes that each released unit shows, shape (units,)."""
    return distinct_sets(file.unit, file.class_of, file.persons, file.classes)[0]


def random_persons(owners: Owners, unit: Ints) -> Measure:
    """Expected success of naming a person of the register at random for each unit."""
    value = float(owners.chance(unit).mean()) if len(unit) else 0.0
    return Measure("baseline", value, why="a person of the register, drawn at random")


def random_units(owners: Owners, person: Ints) -> Measure:
    """Expected success of naming a unit of the file at random for each person."""
    value = float(owners.chance_of_person(person).mean()) if len(person) else 0.0
    return Measure("baseline", value, why="a person of the file, drawn at random")


def most_frequent_value(has_it: Bools) -> Measure:
    """Success of guessing the most frequent value of the whole file for every target."""
    value = float(np.mean(has_it)) if len(has_it) else 0.0
    return Measure("baseline", value, why="the value that most people of the file have")


def pinned_outside(person: Ints, truth: Truth) -> Measure | None:
    """Share of the guesses that pin a released record on somebody who is not in the release.

    ``None`` where every register person is in it.
    """
    if bool(truth.released.all()) or not len(person):
        return None
    value = float(np.mean(~truth.released[person]))
    return Measure("control", value, why="guesses that name a person outside the release")


def right_outside(right: Bools) -> Measure | None:
    """How often the same guess is right for persons who look alike but are not in the release.

    ``None`` where there are none of whom the truth is known.
    """
    if not len(right):
        return None
    count = int(right.sum())
    low, high = clopper_pearson(count, len(right))
    why = f"the same guess for {len(right)} people who are not in the release"
    return Measure("control", count / len(right), low, high, "Clopper-Pearson", why)


@dataclass(frozen=True, eq=False)
class Holdings:
    """The values that register persons have, by the codes of the released column.

    Attributes
    ----------
    keys
        person * texts + code of each person and value, ascending.
    texts
        Number of distinct texts of the released column.
    known
        Whether anything is known of each register person, shape (persons,).
    """

    keys: Ints
    texts: int
    known: Bools

    def has(self, person: Ints, value: Ints) -> Bools:
        """Whether each person has each value; -1 is never had."""
        wanted = person * self.texts + value
        if not len(self.keys):
            return np.zeros(len(wanted), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.asarray((value >= 0) & (self.keys[at] == wanted), dtype=np.bool_)


def holdings(column: TextColumn, truth: Truth) -> Holdings:
    """What the register's persons have: by the truth where it says, else by their own records."""
    texts = len(column.texts)
    given = truth.values.get(column.name)
    some = (truth.owner >= 0) & (column.told >= 0)
    person, code = truth.owner[some], column.codes[some]
    known = truth.released.copy()
    if given is not None:
        number = {text: place for place, text in enumerate(column.texts)}
        of_text = np.array(
            [number.get(text, number.get(reading(text), -1)) for text in given.texts],
            dtype=np.int64,
        )
        told = of_text[given.codes] if len(of_text) else np.zeros(0, dtype=np.int64)
        known[given.person] = True
        person = np.concatenate([person, given.person[told >= 0]])
        code = np.concatenate([code, told[told >= 0]])
    return Holdings(np.unique(person * max(texts, 1) + code), max(texts, 1), known)


def judge_identification(
    guesses: Identification,
    truth: Truth,
    file: ReleasedFile,
    *,
    attack: str,
    what: str,
    one_to_one: bool,
    predicted: Measure | None = None,
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
    what
        One sentence: what the intruder held and did.
    predicted
        What was claimed: the mean chance of an attempt, or, with ``surest``, its largest.
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
    """
    owner = owners(file, truth)
    made = (guesses.unit >= 0) & (guesses.person >= 0)
    if surest:
        made[made] = of_largest_chance(guesses.chance[made])
    unit, person = guesses.unit[made], guesses.person[made]
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
    )


def judge_identifiers(
    joins: Sequence[Join],
    truth: Truth,
    file: ReleasedFile,
    *,
    what: str,
    predicted: Measure | None = None,
) -> Outcome | None:
    """Score joins on further columns; the most telling one is shown.

    Of each join all guesses are held against what free guessing in the released classes wins on
    the same units, or against what was claimed where that is more; and so are the guesses for
    units that text and class leave a single person for, lest a column that names a few is lost
    among many. 2.5 % is divided by the number of these tests. ``None`` where no column could be
    joined.

    Parameters
    ----------
    what
        One sentence: what the intruder held and did.
    predicted
        The claimed mean chance of a guess (marketer risk).
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
        self.luck = max(self.claimed.at_least(self.right), EQUAL)


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
    attack: str | None = None,
) -> Outcome:
    """Score guesses of a sensitive value, and hold them against a claim.

    The attempts are register persons who are in the release and of whom a value was guessed.
    AvgGSAR is a mean over classes, so that one target is drawn of each class
    (``one_per_class``): each guess is then right with at most the class's GSAR. MaxGSAR says
    that no value is had by a larger share of a class, so that the intruder goes for the targets
    of whose classes he is surest, and guesses the same for everybody else there: whom of a class
    the guess is about must not depend on who has the value, and those of whom he is surest may be
    alike in more than the release shows. What the claim allows among a of a class's n persons is
    hypergeometric (`share_hits`). The control is the same guess for the register persons outside
    the release; for ``surest`` those of the same chance. O(records log + persons log).

    Parameters
    ----------
    rng
        Draws the targets of ``one_per_class``.
    what
        One sentence: what the intruder held and did.
    targets
        Whom the attempts are about: against ``avg_gsar`` ``one_per_class``, against
        ``max_gsar`` ``surest``.
    attack
        Name of the attack; ``inference:<column>`` by default.
    """
    column = _column(file, guesses.attribute)
    held = holdings(column, truth)
    guessed = guesses.value >= 0
    inside, outside = (
        np.flatnonzero(guessed & truth.released[guesses.person]),
        np.flatnonzero(guessed & ~truth.released[guesses.person] & held.known[guesses.person]),
    )
    home = home_classes(file, truth)
    if targets == "one_per_class":
        inside = one_per_class(inside, home[guesses.person[inside]], rng)
    elif targets == "surest" and len(inside):
        best = guesses.chance[inside]
        least = best[surest(best)].min()
        inside = inside[surest(best)]
        outside = outside[guesses.chance[outside] >= least]
    person, value = guesses.person[inside], guesses.value[inside]
    if targets == "surest" and len(inside):
        person, value = _whole_classes(person, value, home, truth, file)
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
    )


def _column(file: ReleasedFile, name: str) -> TextColumn:
    for column in file.sensitive:
        if column.name == name:
            return column
    raise InputError(f"column '{name}'", "must be a sensitive column of the released file")


def _whole_classes(
    person: Ints, value: Ints, home: Ints, truth: Truth, file: ReleasedFile
) -> tuple[Ints, Ints]:
    """The targets, and all others whose records are all in their classes, with the same guess."""
    of_class = np.full(file.classes, -1, dtype=np.int64)
    of_class[home[person]] = value
    elsewhere = np.zeros(len(truth.released), dtype=np.bool_)
    known = np.flatnonzero(truth.owner >= 0)
    owner = truth.owner[known]
    elsewhere[owner[file.class_of[known] != home[owner]]] = True
    others = truth.released & ~elsewhere & (of_class[home] >= 0)
    others[person] = False
    added = np.flatnonzero(others)
    return np.concatenate([person, added]), np.concatenate([value, of_class[home[added]]])


def home_classes(file: ReleasedFile, truth: Truth) -> Ints:
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
    rng
        Draws the records of ``one_per_class``.
    what
        One sentence: what the intruder held and did.
    records
        What the attempts are: against ``avg_gidr`` ``one_per_class``, against ``max_gidr`` or
        1 / k ``surest`` or ``all``.
    attack
        Name of the attack; by default ``multi_record``, or ``multi_record_counts`` where the
        intruder knew the numbers of records.
    """
    owner = owners(file, truth, by_record=True)
    chosen = guesses.person >= 0
    if records == "surest":
        chosen[chosen] = surest(guesses.chance[chosen])
    record = np.flatnonzero(chosen[file.class_of]).astype(np.int64)
    if records == "one_per_class":
        record = one_per_class(record, file.class_of[record], rng)
    person = guesses.person[file.class_of[record]]
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
    what
        One sentence: what the intruder held and did.
    """
    owner = owners(file, truth)
    kind = _alike(file)
    by_chance = _by_chance(guesses, owner, kind, rng)
    tried = [
        _Tried(guess, owner, distribution)
        for guess, distribution in zip(guesses, by_chance, strict=True)
    ]
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
    for guess in guesses:
        named = guess.person >= 0
        inside = np.isin(kind[guess.unit] * persons + guess.person, held) & named
        pairs = np.bincount(kind[guess.unit][inside], minlength=len(size))
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
        for way, guess in enumerate(guesses):
            right = (shuffled[guess.unit] == guess.person) & (guess.person >= 0)
            hits[place, way] = np.count_nonzero(right)
    return [of_rounds(hits[:, way]) for way in range(len(guesses))]
