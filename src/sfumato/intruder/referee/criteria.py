"""How a run of attacks stands: to what was promised, and to what is tolerable at all.

The criteria are those of WP216 (Article 29 Working Party, Opinion 05/2014, Section 2.2.2): singling
out, linkability, inference; beside them stand the promises. Every test of a run, against a promise
or a tolerance, is judged together with all the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from sfumato.core.arrays import Bools, Floats
from sfumato.core.declaration import fields_of, plain_fields
from sfumato.core.measure import Measure
from sfumato.core.number_text import percent
from sfumato.intruder.candidates import Candidates, Identification, Inference
from sfumato.intruder.guesses.bounds_attack import Isolation
from sfumato.intruder.guesses.column_attack import FOLLOWS, FORETOLD, ColumnFinds
from sfumato.intruder.guesses.inference_attacks import ChanceValues
from sfumato.intruder.reading import ReleasedFile
from sfumato.intruder.referee import attack_odds, judgements
from sfumato.risk.risk_thresholds import Preset

LEVEL = 0.01
"""Probability at most that a run finds anything exceeded where nothing is."""
CONTRACT = 0.2
"""What is tolerable where nobody says: five alike, usual for recipients under contract."""
_TOLERANCE = 1e-9


class Criterion(StrEnum):
    """What a release is judged by."""

    PROMISES = "promises"
    SINGLING_OUT = "singling_out"
    LINKABILITY = "linkability"
    INFERENCE = "inference"


class Standing(StrEnum):
    """How a release stands to a criterion."""

    WITHIN = "within"
    EXCEEDED = "exceeded"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What may be found.

    Attributes
    ----------
    value
        Tolerable chance, beyond what guessing has, that a value of a person is.
    """

    person: float = CONTRACT
    value: float = CONTRACT
    source: str = "usual under contract"


_PERSON = ("prosecutor", "journalist")
_VALUE = ("max_gsar", "h_affiliation")
_NUMBERS = ("pid_k", "k")


def tolerated(
    threshold: float | None, presets: Sequence[Preset], k: int | None = None
) -> Tolerance:
    """What is tolerable: the number that was given, else the strictest that a preset states.

    Parameters
    ----------
    threshold
        The number for persons and values, or ``None``.
    presets
        Presets of thresholds; those of a person's risk, of the number of persons in a class and
        of a value's risk are taken.
    k
        The k of the policy that a release keeps, where there is one and no preset.
    """
    if threshold is not None:
        return Tolerance(threshold, threshold, "the threshold given")
    person: list[tuple[float, str]] = []
    value: list[tuple[float, str]] = []
    for preset in presets:
        for each in preset.thresholds:
            if each.measure in _PERSON:
                person.append((each.limit, preset.name))
            elif each.measure in _NUMBERS and each.limit > 0:
                person.append((min(1.0, 1 / each.limit), preset.name))
            elif each.measure in _VALUE:
                value.append((each.limit, preset.name))
    if not person and not value:
        return Tolerance() if k is None else Tolerance(1 / k, 1 / k, "1 / k of the policy")
    of_person, source = min(person) if person else (CONTRACT, min(value)[1])
    return Tolerance(of_person, min(value)[0] if value else of_person, source)


@dataclass(frozen=True)
class Finding:
    """What one attack found, held against a tolerance.

    Attributes
    ----------
    attempts, right
        Guesses and right ones, or, where nothing is left to chance, people and those of them
        whose chance to be found is above the tolerance.
    number, low, high
        Success beyond what guessing has, with its 95 % interval; the largest chance of anybody
        where nothing is left to chance.
    expected
        Right guesses that are expected where success is just tolerable.
    p_value
        The probability of so many right guesses or more at that success, or ``None`` where
        nothing is left to chance.
    exceeded
        Whether the tolerance is exceeded beyond what chance explains in one run.
    accepted
        Whether somebody has accepted it, so that it does not count.
    """

    criterion: Criterion
    attack: str
    attempts: int
    right: int
    number: float
    low: float
    high: float
    tolerance: float
    expected: float
    p_value: float | None
    exceeded: bool = False
    accepted: bool = False


def persons_found(
    criterion: Criterion,
    attack: str,
    right: Bools,
    chance: Floats,
    tolerance: float,
    *,
    one_to_one: bool = False,
) -> Finding:
    """Guesses of persons against a tolerance: all of them, and those of which he is surer than it.

    Of the two the one that is less likely by chance is shown, and its p-value doubled.

    Parameters
    ----------
    right
        Whether each guess is right, shape (guesses,).
    chance
        The intruder's own chance of each, shape (guesses,).
    """
    surer = chance > tolerance * (1 + _TOLERANCE)
    tried = [right, right[surer]] if 0 < surer.sum() < len(right) else [right]
    tolerable = Measure("tolerance", tolerance)
    luck = [
        attack_odds.claimed_hits(tolerable, len(each), one_to_one=one_to_one).at_least(
            int(each.sum())
        )
        if len(each)
        else 1.0
        for each in tried
    ]
    best = int(np.argmin(luck))
    attempts, hits = len(tried[best]), int(tried[best].sum())
    low, high = attack_odds.clopper_pearson(hits, attempts)
    return Finding(
        criterion=criterion,
        attack=attack,
        attempts=attempts,
        right=hits,
        number=hits / attempts if attempts else 0.0,
        low=low,
        high=high,
        tolerance=tolerance,
        expected=attempts * tolerance,
        p_value=min(1.0, len(tried) * luck[best]),
    )


def of_outcome(
    criterion: Criterion, outcome: attack_odds.Outcome, tolerance: float, *, tries: int = 1
) -> Finding:
    """All guesses of an attack against a tolerance.

    Parameters
    ----------
    tries
        Of how many ways to guess it is the one that came out best: the p-value is multiplied.
    """
    right = np.arange(outcome.attempts) < outcome.right
    nothing = np.zeros(outcome.attempts)
    found = persons_found(criterion, outcome.attack, right, nothing, tolerance)
    return replace(found, p_value=min(1.0, max(tries, 1) * (found.p_value or 0.0)))


def columns_found(attack: str, found: ColumnFinds) -> Iterator[Finding]:
    """What a column foretells and whom it leaves alone, against the shares that give it away."""
    told = max(found.foretold.values(), default=0.0)
    persons = len(found.without)
    if found.foretold:
        yield share_found(Criterion.INFERENCE, attack, persons, told, FORETOLD)
    if np.isfinite(found.limit):
        yield share_found(Criterion.SINGLING_OUT, attack, persons, found.company, found.limit)
    if found.follows:
        yield share_found(Criterion.SINGLING_OUT, attack, persons, found.follows, FOLLOWS)


def share_found(
    criterion: Criterion, attack: str, persons: int, share: float, tolerance: float
) -> Finding:
    """A share that a column, or several, give away, against that from which they do.

    Parameters
    ----------
    share, tolerance
        The share, and the one that is tolerable.
    """
    return Finding(
        criterion=criterion,
        attack=attack,
        attempts=persons,
        right=round(persons * share),
        number=share,
        low=share,
        high=share,
        tolerance=tolerance,
        expected=persons * tolerance,
        p_value=None,
        exceeded=share >= tolerance,
    )


def chance_of_each(
    guesses: Identification,
    candidates: Candidates,
    file: ReleasedFile,
    truth: judgements.Truth,
    *,
    targeted: bool,
) -> Floats:
    """The chance that a guess by exact matching is right, from who fits, without drawing.

    Parameters
    ----------
    guesses
        Guesses of which one is made for each unit or, with ``targeted``, for each target.
    targeted
        Whether a unit was named for persons.
    """
    owned = truth.owner >= 0
    fits = np.zeros(file.records, dtype=np.bool_)
    rows = np.flatnonzero(owned)
    fits[rows] = candidates.fit(file.class_of[rows], candidates.group[truth.owner[rows]])
    whole = np.ones(file.persons, dtype=np.bool_)
    np.logical_and.at(whole, file.unit, fits)
    owner = judgements.owners(file, truth).first
    if not targeted:
        return np.where(whole[guesses.unit], guesses.chance, 0.0)
    own = np.bincount(owner[whole & (owner >= 0)], minlength=len(truth.released))
    return np.asarray(np.minimum(own[guesses.person] * guesses.chance, 1.0), dtype=np.float64)


def persons_at_risk(criterion: Criterion, attack: str, chance: Floats, tolerance: float) -> Finding:
    """The chances of everybody to be found, which are known, against a tolerance.

    Parameters
    ----------
    chance
        The chance that each is found, shape (persons,).
    """
    largest = float(chance.max(initial=0.0))
    above = int(np.count_nonzero(chance > tolerance * (1 + _TOLERANCE)))
    return Finding(
        criterion=criterion,
        attack=attack,
        attempts=len(chance),
        right=above,
        number=largest,
        low=largest,
        high=largest,
        tolerance=tolerance,
        expected=0.0,
        p_value=None,
        exceeded=above > 0,
    )


def _beyond(share: float, chance: float) -> float:
    """What success there is beyond chance, as a share of what there could be."""
    return max(0.0, (share - chance) / (1 - chance)) if chance < 1 else 0.0


def persons_isolated(attack: str, found: Isolation, tolerance: float) -> Finding:
    """Predicates that hold of one person, against those that do by chance.

    Parameters
    ----------
    tolerance
        The tolerable share beyond chance.
    """
    judged = np.isfinite(found.chance)
    alone, chance = found.alone[judged], found.chance[judged]
    attempts, right = len(alone), int(alone.sum())
    mean = float(chance.mean()) if attempts else 0.0
    tolerable = chance + tolerance * (1 - chance)
    low, high = attack_odds.clopper_pearson(right, attempts)
    return Finding(
        criterion=Criterion.SINGLING_OUT,
        attack=attack,
        attempts=attempts,
        right=right,
        number=_beyond(right / attempts if attempts else 0.0, mean),
        low=_beyond(low, mean),
        high=_beyond(high, mean),
        tolerance=tolerance,
        expected=float(tolerable.sum()),
        p_value=attack_odds.free_hits(tolerable).at_least(right) if attempts else 1.0,
    )


def values_found(
    attack: str,
    guesses: Inference,
    by_chance: ChanceValues,
    truth: judgements.Truth,
    file: ReleasedFile,
    rng: np.random.Generator,
    tolerance: float,
) -> Finding:
    """Guesses of a value against the same where classes tell nothing of it.

    Chance is the larger of two: what the guess is right for where the values are dealt out to the
    classes at random, which takes off what common values and small classes give (whose record it
    is, is a matter of linkability); and what it is right for outside the release, where persons
    are known there. One person of each class is drawn, so that guesses are independent. Tried are
    all, and those of uncommon values of which the intruder is surer than tolerable; of the two the
    one that is less likely is shown, and its p-value doubled.

    Parameters
    ----------
    by_chance
        What the same guess wins where classes tell nothing.
    """
    column = next(each for each in file.sensitive if each.name == guesses.attribute)
    held = judgements.holdings(column, truth)
    right = held.has(guesses.person, guesses.value)
    guessed = guesses.value >= 0
    inside = np.flatnonzero(guessed & truth.released[guesses.person])
    inside = attack_odds.one_per_class(inside, judgements.home_classes(file, truth)[inside], rng)
    outside = np.flatnonzero(guessed & ~truth.released & held.known)
    sure = by_chance.is_sure(guesses.value, guesses.chance, tolerance)
    return _likelier(
        _valued(attack, right[inside], right[outside], by_chance.everybody, tolerance),
        _valued(
            attack,
            right[inside][sure[inside]],
            right[outside][sure[outside]],
            by_chance.sure,
            tolerance,
        ),
    )


def values_beyond(
    attack: str,
    right: Bools,
    without: Bools,
    sure: Bools,
    by_chance: ChanceValues,
    tolerance: float,
) -> Finding:
    """What a model foretells of values, beyond what it foretells without the person's record.

    Chance is the larger of two: what is right without the record, and what is right where the
    values are dealt out to persons at random, as in `values_found`; tried are all, and the surest.

    Parameters
    ----------
    right, without
        Whether each guess is right, and that without the record, shape (guesses,).
    sure
        Whether a value is foretold beyond what is tolerable, shape (guesses,).
    by_chance
        What is right where values are dealt out.
    """
    return _likelier(
        _valued(attack, right, without, by_chance.everybody, tolerance),
        _valued(attack, right[sure], without[sure], by_chance.sure, tolerance),
    )


def _likelier(*found: Finding) -> Finding:
    """Of several ways to look at guesses the one that is less likely, its p-value multiplied."""
    tried = [each for each in found if each.attempts]
    if not tried:
        return found[0]
    best = min(tried, key=lambda each: each.p_value or 0.0)
    return replace(best, p_value=min(1.0, len(tried) * (best.p_value or 0.0)))


def _valued(
    attack: str, right: Bools, outside: Bools, by_chance: float, tolerance: float
) -> Finding:
    attempts, hits = len(right), int(right.sum())
    chance = max(by_chance, float(outside.mean()) if len(outside) else 0.0)
    rate = min(1.0, chance + tolerance * (1 - chance))
    low, high = attack_odds.clopper_pearson(hits, attempts)
    return Finding(
        criterion=Criterion.INFERENCE,
        attack=attack,
        attempts=attempts,
        right=hits,
        number=_beyond(hits / attempts if attempts else 0.0, chance),
        low=_beyond(low, chance),
        high=_beyond(high, chance),
        tolerance=tolerance,
        expected=attempts * rate,
        p_value=attack_odds.binomial_hits(attempts, rate).at_least(hits) if attempts else 1.0,
    )


def judge_run(
    outcomes: Sequence[attack_odds.Outcome], findings: Sequence[Finding] = ()
) -> tuple[tuple[attack_odds.Outcome, ...], tuple[Finding, ...]]:
    """Say which promises and tolerances are exceeded, given how many tests were made.

    If all predictions are true and all tolerances kept, one or more count as exceeded with
    probability at most 1 %, however the attacks depend on each other: Holm's step-down procedure
    (Holm 1979, Scandinavian Journal of Statistics 6:65-70) over all p-values of the run. What each
    attack is allowed stays, and so does what is left to no chance.

    Parameters
    ----------
    outcomes
        The attacks of a run, each judged alone.
    findings
        What they found, each held against its tolerance alone.
    """
    every: list[attack_odds.Outcome | Finding] = [*outcomes, *findings]
    tested = sorted(
        (each.p_value, place) for place, each in enumerate(every) if each.p_value is not None
    )
    beyond: set[int] = set()
    for rank, (p_value, place) in enumerate(tested):
        if p_value > LEVEL / (len(tested) - rank) + _TOLERANCE:
            break
        beyond.add(place)
    first = len(outcomes)
    return (
        tuple(replace(each, broken=place in beyond) for place, each in enumerate(outcomes)),
        tuple(
            replace(each, exceeded=each.exceeded if each.p_value is None else place in beyond)
            for place, each in enumerate(findings, first)
        ),
    )


@dataclass(frozen=True)
class Judged:
    """How a release stands to one criterion.

    Attributes
    ----------
    attack
        The attack that came closest to the limit, or went farthest beyond it; empty where none
        was made.
    tolerance
        What was tolerable; of promises, what was predicted.
    right, attempts, expected
        Its right guesses and all, and how many right ones are expected at the limit.
    untried
        Attacks without which nothing is called within.
    """

    verdict: Standing
    attack: str = ""
    number: float | None = None
    low: float | None = None
    high: float | None = None
    tolerance: float | None = None
    right: int = 0
    attempts: int = 0
    expected: float | None = None
    untried: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    assuming: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **plain_fields(self, "verdict number low high"),
            "attack": self.attack or None,
            **plain_fields(self, "tolerance right attempts expected untried accepted assuming"),
        }

    def row(self, criterion: str) -> tuple[str, str, str]:
        """The line of a table: the criterion, its verdict, and why."""
        said = self.verdict.upper() if self.verdict is Standing.EXCEEDED else self.verdict.value
        return criterion.replace("_", " "), said, "; ".join(self.reasons())

    def reasons(self) -> list[str]:
        """Why, in words: what was found, what was accepted or not tried, what is assumed."""
        said = []
        if self.number is not None and self.tolerance is not None:
            ends = ""
            if self.low is not None and self.high is not None and self.low < self.high:
                ends = f" ({percent(self.low)} to {percent(self.high)})"
            found = f"{self.attack} finds {percent(self.number)}{ends}"
            if self.right and self.expected == 0:
                found += f" of somebody, {self.right:,} of {self.attempts:,} above"
            chance = ", which chance explains" if self.is_explained else ""
            said.append(f"{found}, {percent(self.tolerance)} at most{chance}")
        if self.verdict is Standing.UNTESTED:
            said.append(f"not tried: {', '.join(self.untried) or 'anything'}")
        said += [f"accepted: {each}" for each in self.accepted]
        return [*said, *self.assuming]

    @property
    def is_explained(self) -> bool:
        """Whether more was found than the limit, by no more than chance explains."""
        if self.number is None or self.tolerance is None or self.verdict is Standing.EXCEEDED:
            return False
        return self.number > self.tolerance * (1 + _TOLERANCE)


def _worst(found: Sequence[Finding]) -> Finding | None:
    """The finding that goes farthest beyond its tolerance, or comes closest to it."""
    counted = [each for each in found if each.attempts and not each.accepted]
    return max(
        counted,
        key=lambda each: (each.exceeded, each.number / max(each.tolerance, _TOLERANCE)),
        default=None,
    )


def _of_tolerance(found: Sequence[Finding], untried: tuple[str, ...]) -> Judged:
    worst = _worst(found)
    exceeded = worst is not None and worst.exceeded
    standing = Standing.WITHIN
    if exceeded:
        standing = Standing.EXCEEDED
    elif worst is None or untried:
        standing = Standing.UNTESTED
    accepted = tuple(each.attack for each in found if each.accepted and each.exceeded)
    told = "attack number low high tolerance right attempts expected"
    found_by = {} if worst is None else fields_of(worst, told)
    return Judged(standing, untried=untried, accepted=accepted, **found_by)


def _of_promises(outcomes: Sequence[attack_odds.Outcome], untried: tuple[str, ...]) -> Judged:
    tested = [each for each in outcomes if each.p_value is not None and each.predicted is not None]
    if not tested:
        return Judged(Standing.UNTESTED, untried=untried)
    worst = min(tested, key=lambda each: (not each.broken, each.p_value))
    standing = Standing.UNTESTED if untried else Standing.WITHIN
    if worst.broken:
        standing = Standing.EXCEEDED
    predicted = 0.0 if worst.predicted is None else worst.predicted.value
    success = worst.success
    return Judged(
        standing,
        worst.attack,
        success.value,
        success.value if success.low is None else success.low,
        success.value if success.high is None else success.high,
        predicted,
        worst.right,
        worst.attempts,
        predicted * worst.attempts,
        untried,
    )


def verdict_of(
    outcomes: Sequence[attack_odds.Outcome],
    findings: Sequence[Finding],
    untried: Mapping[Criterion, tuple[str, ...]],
    assuming: Sequence[str] = (),
) -> dict[Criterion, Judged]:
    """How a release stands to each criterion.

    Parameters
    ----------
    outcomes, findings
        The run as `judge_run` judged it.
    untried
        By criterion, the attacks that were not made and without which nothing is within.
    assuming
        What nobody is taken to know; it is about singling out.
    """
    found = {Criterion.PROMISES: _of_promises(outcomes, untried.get(Criterion.PROMISES, ()))}
    for criterion in list(Criterion)[1:]:
        own = [each for each in findings if each.criterion is criterion]
        found[criterion] = _of_tolerance(own, untried.get(criterion, ()))
    single = found[Criterion.SINGLING_OUT]
    found[Criterion.SINGLING_OUT] = replace(single, assuming=tuple(assuming))
    return found
