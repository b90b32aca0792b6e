"""What a promise is: what the tree, the budgets, the report and the command line ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.declaration import REQUIRED, check_fields, declared, plain
from sfumato.core.errors import InputError
from sfumato.core.extensions import Extension, extension
from sfumato.core.measure import is_estimate
from sfumato.core.number_text import against_threshold
from sfumato.core.phrases import Phrase
from sfumato.risk.risk_thresholds import KINDS, Bound, Part, Scale

if TYPE_CHECKING:
    from sfumato.core.measure import Measure, Position
    from sfumato.release.person_table import PersonTable
    from sfumato.risk.classes import ClassSummary
    from sfumato.risk.disclosure_risk import Risk

Verdicts = Bools
TOLERANCE = 1e-9
"""Relative allowance of threshold comparisons: five equal persons meet g* = 0.8."""


class Constraint(Protocol):
    """A promise about every equivalence class; a custodian's own needs no more than this."""

    @property
    def name(self) -> str:
        """Its name on the command line, in the manifest and in the report."""

    @property
    def needs(self) -> frozenset[str]:
        """The fields of `ClassSummary` that `met` reads and that cost more to count.

        ``affiliation``, ``distinct``, ``distance`` and ``ordered_distance`` of the sensitive
        attributes, ``fewest_sharing`` of the numbers of records, ``population`` of a register;
        sizes and squares are always there.
        """

    def met(self, classes: ClassSummary) -> Verdicts:
        """Whether each class keeps the promise; shape (classes,)."""

    def shortfall(self, whole: ClassSummary) -> str:
        """By how much a single class breaks the promise, and in which column."""

    def offenders(self, persons: PersonTable) -> Ints:
        """Fewest persons whose removal makes the others, as one class, keep the promise.

        Indices of persons; empty where removing persons cannot help.
        """

    def parameters(self) -> Mapping[str, Any]:
        """What repeats the constraint, as plain values."""


@runtime_checkable
class Budget(Protocol):
    """A promise about the whole release, additive over its classes."""

    @property
    def name(self) -> str:
        """Its name on the command line, in the manifest and in the report."""

    def limit(self, records: int, persons: int) -> float:
        """How much a release of so many records and persons may spend."""

    def spent(self, classes: ClassSummary) -> Floats:
        """What each class spends; shape (classes,)."""

    def parameters(self) -> Mapping[str, Any]:
        """What repeats the budget, as plain values."""


@runtime_checkable
class Bounded(Protocol):
    """A constraint that an upper bound of the affiliation can settle, before it is counted."""

    def surely_met(self, classes: ClassSummary) -> Verdicts:
        """Classes that keep the promise if at most ``affiliation`` persons share a value."""


class PopulationMeasures(Protocol):
    """What is measured of a release against a population; see `PopulationRisk`."""

    @property
    def persons(self) -> int:
        """N."""

    @property
    def marketer(self) -> Measure:
        """Expected share of the release's persons who are matched rightly."""

    @property
    def population_uniques(self) -> Measure:
        """Share of the release's persons who are alone in their class, and in its cells."""

    @property
    def k_map(self) -> Measure:
        """Persons of the population who look like the class where fewest do."""

    @property
    def presence_low(self) -> Measure | None:
        """Smallest share of a class of the population who are in the file."""

    @property
    def presence_high(self) -> Measure | None:
        """The largest."""


class CellPrices(Protocol):
    """How many of a population lie in the cells of classes."""

    def matches(self, persons: Ints, inside: Ints) -> Floats:
        """f_j·E[1/F_j], the expected number of right matches; shape (classes,).

        Parameters
        ----------
        persons
            f_j, the file's persons of each class; shape (classes,).
        inside
            Persons of the register, or of a model, who lie in each; shape (classes,).
        """

    def smaller(self, size: int, persons: Ints, inside: Ints) -> Floats:
        """P(F_j < size) of the persons of `matches`; shape (classes,)."""


class OwnPopulation:
    """The file is its own population: F_j = f_j."""

    def matches(self, persons: Ints, inside: Ints) -> Floats:
        """See `CellPrices`: one of each class."""
        del inside
        return np.ones(len(persons))

    def smaller(self, size: int, persons: Ints, inside: Ints) -> Floats:
        """See `CellPrices`: 0 or 1."""
        del inside
        return (persons < size).astype(np.float64)


class RegisterCells:
    """F_j is counted; it is never below f_j, because the file's persons are of the population."""

    def matches(self, persons: Ints, inside: Ints) -> Floats:
        """See `CellPrices`: f_j/F_j.

        Raises
        ------
        LookupError
            If the classes were counted without their population.
        """
        matches: Floats = persons / self._sizes(persons, inside)
        return matches

    def smaller(self, size: int, persons: Ints, inside: Ints) -> Floats:
        """See `CellPrices`: 0 or 1.

        It is a LookupError if classes were counted without their population.
        """
        return (self._sizes(persons, inside) < size).astype(np.float64)

    def _sizes(self, persons: Ints, inside: Ints) -> Ints:
        if len(inside) != len(persons):
            raise LookupError("classes were counted without population")
        return np.maximum(inside, persons)


@runtime_checkable
class AboutPopulation(Protocol):
    """A constraint or budget about the population that the file's persons come from.

    The data alone cannot keep it: a register counts the population, its size lets it be estimated.
    """

    def against(self, cells: CellPrices) -> Any:
        """The same about another population than the file."""

    def in_population(self, population: PopulationMeasures) -> InPopulation:
        """What the report says of a release whose population is known."""


@dataclass(frozen=True)
class InPopulation:
    """What a promise about a population says, and what the release reached, as printed.

    It is ``promised`` where a count keeps it, and no estimate.
    """

    sentence: str
    met: bool
    threshold: str
    reached: str
    where: Position | None = None
    promised: bool = True


@dataclass(frozen=True)
class Thresholds:
    """What a class must keep, in numbers that are counted as persons come and go.

    Unless stated, anything does.

    Attributes
    ----------
    squares
        Largest sum of the persons' squared numbers of records, as a share of the square of all.
    affiliation
        Largest share of persons who share a sensitive value.
    distinct
        Least number of distinct sensitive values.
    sharing
        Least number of persons who share each number of records that occurs.
    attribute
        The sensitive attribute that is spoken of; ``None`` for each one separately.
    """

    records: int = 0
    persons: int = 0
    squares: float = float("inf")
    affiliation: float = float("inf")
    distinct: int = 0
    sharing: int = 1
    attribute: str | None = None


@runtime_checkable
class Counted(Protocol):
    """A constraint that thresholds say in full, so that the compiled search can keep it."""

    def thresholds(self) -> Thresholds:
        """The thresholds that ``met`` compares to."""


class Promise:
    """A promise of ours: its declaration, and all that follows from it.

    A subclass is a frozen dataclass whose fields with a `Parameter` are options of the command
    line and keys of a project file. The first of them is the limit; a subclass stands in a module
    of its own in this package, where `sfumato.release.promises` finds it.
    """

    name: ClassVar[str]
    """Its name in a manifest, on the command line and in the report."""
    order: ClassVar[int] = 100
    """Its place where promises are listed."""
    measures: ClassVar[Mapping[str, Callable[[float], Any]]] = {}
    """By measure, the promise that keeps a limit on it and asks for no more than that."""
    in_short: ClassVar[str] = ""
    """The sentence without its formula, with places for ``limit`` and the ``rest`` of it."""
    suffices: ClassVar[Mapping[str, Callable[[float], Any]]] = {}
    """By measure, a promise that keeps a limit on it and may ask for more."""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def needs(self) -> frozenset[str]:
        """As in `Constraint`: sizes and squares only."""
        return frozenset()

    @property
    def measure(self) -> str:
        """The measure that the limit is on, by its name in an assessment."""
        return next(iter(self.measures))

    @property
    def is_counted(self) -> bool:
        """Whether a release that keeps it was looked at whole, and no estimate says so."""
        return True

    @property
    def bound(self) -> Bound:
        """Whether the measure has to be at least or at most the limit."""
        return KINDS[self.measure].bound

    @property
    def is_share(self) -> bool:
        """Whether limit and measure print as percentages."""
        return KINDS[self.measure].scale is Scale.SHARE

    @property
    def threshold(self) -> float:
        """The limit as it was given."""
        return float(getattr(self, declared(type(self))[0].name))

    @property
    def households_alike(self) -> int:
        """Households that have the same members where it is kept; 0 where it speaks of none."""
        return 0

    @property
    def fewest_persons(self) -> int:
        """Persons that every class has at least where the promise is kept."""
        return 1

    def largest(self, measure: str) -> float:
        """What a share of a class is at most where the promise is kept; 1 where it says nothing."""
        return self.threshold if measure in self.measures and self.is_share else 1.0

    def keeps(self, value: float) -> bool:
        """Whether a value of the measure is on the good side of the limit."""
        # At least absolute, since a relative allowance would vanish for a limit of 0.
        allowance = TOLERANCE * max(abs(self.threshold), 1.0)
        if self.bound is Bound.AT_LEAST:
            return value >= self.threshold - allowance
        return value <= self.threshold + allowance

    def printed(self, value: float) -> str:
        """A value of the measure in its unit, told from the limit."""
        return against_threshold(value, self.threshold, self.is_share)

    @property
    def limits(self) -> frozenset[str]:
        """Names of the parameters that are limits, the others being words and columns."""
        return frozenset(each.name for each in declared(type(self)) if each.said.range is not None)

    def sentence(self, attribute: str = "") -> str:
        """What is promised, of an attribute where it is about one, as the report says it."""
        told = {"measure": self.measure, "limit": self.printed(self.threshold)}
        if self.bound is Bound.AT_LEAST:
            return Phrase("In every class {measure} is at least {limit}.", **told)
        return Phrase("In every class {measure} is at most {limit}.", **told)

    def stricter(self, other: Self) -> bool:
        """Whether this limit asks for more than another one."""
        at_least = self.bound is Bound.AT_LEAST
        return self.threshold > other.threshold if at_least else self.threshold < other.threshold

    def implies(self, other: object) -> bool:
        """Whether whatever keeps this promise keeps the other, which is then no second one."""
        # Of two limits each promise may be the stricter in one. Only equal ones imply each other
        # then.
        if not isinstance(other, type(self)) or len(self.limits) > 1:
            return self == other
        alike, beside = (
            {name: value for name, value in each.parameters().items() if name not in self.limits}
            for each in (self, other)
        )
        return alike == beside and not other.stricter(self)

    def kept(self, risk: Risk) -> bool | None:
        """Whether what was measured keeps it; ``None`` where nothing measured says so."""
        return self._keeps_found(risk, "")

    def _keeps_found(self, risk: Risk, attribute: str) -> bool | None:
        value, _ = self.reached(risk, attribute)
        return None if value is None else self.keeps(value)

    def reached(self, risk: Risk, attribute: str = "") -> tuple[float | None, Position | None]:
        """The measure of a file, ``None`` if it was not measured, and the class it comes from."""
        part = KINDS[self.measure].part
        holder: Any = risk.sensitive[attribute] if part is Part.SENSITIVE else risk
        holder = risk.household if part is Part.HOUSEHOLD else holder
        found: Measure | float | None = getattr(holder, self.measure, None)
        if found is None or isinstance(found, (int, float)):
            return found, getattr(holder, f"{self.measure}_where", None)
        return found.value, found.where

    def parameters(self) -> Mapping[str, Any]:
        """What repeats the promise, as plain values; without what it would be unasked."""
        return plain(self, usual=False)

    def offenders(self, persons: PersonTable) -> Ints:
        """None: removing persons never helps."""
        return np.empty(0, dtype=np.int64)


class AboutCells(Promise):
    """A promise of ours about the population's persons in the cells of classes.

    Without a population the file is its own.
    """

    cells: ClassVar[CellPrices] = OwnPopulation()
    """What is known of them."""

    def against(self, cells: CellPrices) -> Self:
        """See `AboutPopulation`."""
        bound = copy(self)
        # The class is frozen, and cells are no field, so that equality and manifests do not see
        # them.
        object.__setattr__(bound, "cells", cells)
        return bound

    def said_of(self, sentence: str, found: Measure) -> InPopulation:
        """What the report says of a release whose population is known.

        The worse end of what was measured is held against the limit.
        """
        worse = found.low if self.bound is Bound.AT_LEAST else found.high
        return InPopulation(
            sentence,
            self.keeps(found.value if worse is None else worse),
            self.printed(self.threshold),
            self.printed(found.value),
            found.where,
            not is_estimate(found.estimator),
        )


class AboutAttribute(Promise):
    """A promise of ours about each sensitive attribute, or about the one that is named.

    A subclass has the field ``attribute``, ``None`` for each one separately.
    """

    attribute: str | None

    def kept(self, risk: Risk) -> bool | None:
        """See `Promise`: of each attribute that it is about; ``None`` where there is none."""
        found = [self._keeps_found(risk, name) for name in self.spoken_of(risk.sensitive)]
        return None if not found or None in found else all(found)

    def spoken_of(self, counted: Mapping[str, Any]) -> dict[str, Any]:
        """What was counted of the attributes that the promise is about."""
        return {name: each for name, each in counted.items() if self.attribute in (None, name)}


def asked(promise: type[Any], given: Mapping[str, Any]) -> Constraint | Budget | None:
    """The promise that options or keys ask for; ``None`` where they do not ask for it."""
    fields = declared(promise)
    named = [field for field in fields if given.get(field.key) is not None]
    lacking = [field for field in fields if field.default is REQUIRED and field not in named]
    if lacking:
        beside = [each for each in named if given[each.key] != each.default]
        if beside:
            limit = lacking[0].key
            raise InputError(f"parameter {beside[0].key}", f"is for {limit}", advice="give both")
        return None
    return (
        promise(**{each.name: each.check(given[each.key], each.key) for each in named})
        if named
        else None
    )


def strictest(several: Iterable[Constraint | Budget]) -> tuple[Constraint | Budget, ...]:
    """The promises that no other of them implies, in the order of first mention.

    Of a custodian's own nobody knows what they imply.
    """
    kept: list[Any] = []
    for each in several:
        if any(_implies(other, each) for other in kept):
            continue
        weaker = [_implies(each, other) for other in kept]
        place = weaker.index(True) if any(weaker) else len(kept)
        kept = [other for other, less in zip(kept, weaker, strict=True) if not less]
        # In the place of the weaker one, so that a stricter promise keeps the order of first
        # mention.
        kept.insert(place, each)
    return tuple(kept)


def is_added(promise: object) -> bool:
    """Whether it is no promise of ours."""
    return type(promise).__module__.partition(".")[0] != "sfumato"


def of_packages(promises: Iterable[Constraint | Budget]) -> tuple[Extension, ...]:
    """What other packages added of these promises; of a custodian's own no package is known."""
    others = (extension("promise", promise.name) for promise in promises if is_added(promise))
    return tuple(other for other in others if other is not None)


def _implies(promise: Any, other: Any) -> bool:
    """Whether a promise implies another; one of another package implies none of ours."""
    if is_added(promise):
        return bool(promise == other)
    return isinstance(promise, Promise) and promise.implies(other)


def kept_by(
    promise: Constraint | Budget, risk: Risk, population: PopulationMeasures | None
) -> bool | None:
    """Whether what was measured of a release keeps a promise; ``None`` where nothing says so.

    A custodian's own, or another package's, needs the classes in this process.
    """
    if is_added(promise):
        own: Any = promise
        # Its measure is ours: what was measured is held against its limit by our rule.
        ours = AboutAttribute if isinstance(own, AboutAttribute) else Promise
        if isinstance(own, Promise) and not ours.kept(own, risk):
            return False
    elif population is not None and isinstance(promise, AboutPopulation):
        return promise.in_population(population).met
    elif isinstance(promise, Promise):
        return promise.kept(risk)
    if risk.summary is None:
        return None
    if isinstance(promise, Budget):
        return not overspent(promise, risk.summary, risk.persons)
    return bool(promise.met(risk.summary).all())


def asked_of_households(promises: Sequence[Constraint | Budget]) -> int:
    """The most households that must have the same members; 0 where nothing is promised of any."""
    own = [promise.households_alike for promise in promises if isinstance(promise, Promise)]
    return max(own, default=0)


def unmet(whole: ClassSummary, constraints: Sequence[Constraint]) -> list[Constraint]:
    """The constraints that all persons as one class break."""
    return [constraint for constraint in constraints if not constraint.met(whole)[0]]


def overspent_alone(whole: ClassSummary, budgets: Sequence[Budget]) -> list[Budget]:
    """The budgets that one class alone overspends."""
    return [
        budget
        for budget in budgets
        if budget.spent(whole)[0] > budget.limit(int(whole.records[0]), int(whole.persons[0]))
    ]


def overspent(budget: Budget, classes: ClassSummary, persons: int) -> bool:
    """Whether all classes of a release together spend more than its budget."""
    limit = budget.limit(int(classes.records.sum()), persons)
    # Relative to the limit, as what rounding adds grows with the classes that are summed.
    return float(budget.spent(classes).sum()) > limit + TOLERANCE * abs(limit)


def ordered_attributes(
    promises: Sequence[Constraint | Budget], sensitive: Sequence[str]
) -> tuple[str, ...]:
    """The sensitive attributes that a promise compares by the order of their values."""
    named = [
        getattr(promise, "attribute", None)
        for promise in promises
        if "ordered_distance" in getattr(promise, "needs", ())
    ]
    return tuple(name for name in sensitive if None in named or name in named)
