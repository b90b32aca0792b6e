"""What a report says of a promise: what it asks for, and what the release reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil, sqrt
from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure, Position, is_estimate
from sfumato.release.constraints import BY_NAME, TOLERANCE, Budget, Constraint
from sfumato.release.population.measured import PopulationRisk
from sfumato.release.result import Release
from sfumato.reports.printed_numbers import against_threshold, count, number, percent
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.risk_thresholds import KINDS, Bound, Scale

AT_LEAST, AT_MOST = Bound.AT_LEAST, Bound.AT_MOST


@dataclass(frozen=True, slots=True)
class PromiseLine:
    """One line of the table of promises: a promise, about one sensitive attribute at most.

    Attributes
    ----------
    name
        Name of the constraint, as on the command line.
    words
        What it asks for, in a sentence.
    met
        Whether the release keeps it.
    attribute
        The sensitive attribute that it speaks about, or an empty text.
    measure
        The measure of the file that it bounds, or an empty text.
    bound
        ``at least`` or ``at most``; empty where the constraint is not one of ours.
    limit
        The threshold as a number; ``None`` where the constraint is not one of ours.
    threshold, before, reached
        What was asked, and the worst class of the original and of the release, as printed.
    where
        Where the worst class of the release is.
    classes_met
        Number of classes that keep it; ``None`` for a budget over the whole release.
    classes_met_before
        The same for the original.
    promised
        Whether what is counted keeps it, and no estimate of a population that is not at hand.
    """

    name: str
    words: str
    met: bool
    attribute: str = ""
    measure: str = ""
    bound: str = ""
    limit: float | None = None
    threshold: str = ""
    before: str = ""
    reached: str = ""
    where: Position | None = None
    classes_met: int | None = None
    classes_met_before: int | None = None
    promised: bool = True

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "attribute": self.attribute or None,
            "threshold": self.limit,
            "met": self.met,
            "promised": self.promised,
            "classes_met": self.classes_met,
            "classes_met_before": self.classes_met_before,
        }


@dataclass(frozen=True, slots=True)
class PromiseWords:
    """How a promise of ours reads, and what it tells everybody about a release.

    Attributes
    ----------
    parameter
        The parameter that holds its limit.
    measure
        The measure that it bounds; which side is good, and the unit, are that measure's.
    sentence
        What it asks for, by its limit and the sensitive attribute.
    in_short
        The first sentence again without the formula of the measure, with places for ``limit`` and
        for the ``rest`` of the sentence; empty where it has no formula.
    about_population
        The line where the population of the release is known, which is then what it speaks about.
    needs_population
        Whether it speaks about nothing else.
    fewest_persons
        Persons that every class has at least where it is kept, by its limit.
    largest
        What other measures are at most where it is kept, by its limit.
    """

    parameter: str
    measure: str
    sentence: Callable[[float, str], str]
    in_short: str = ""
    about_population: Callable[[PopulationRisk, Mapping[str, float]], PromiseLine] | None = None
    needs_population: bool = False
    fewest_persons: Callable[[float], int] = lambda _: 1
    largest: Mapping[str, Callable[[float], float]] = field(default_factory=dict)

    @property
    def bound(self) -> str:
        """``at least`` or ``at most``."""
        return KINDS[self.measure].bound

    def printed(self, limit: float) -> str:
        """The limit in the unit of the measure."""
        return percent(limit) if self._share else number(limit)

    def reached(self, value: float, limit: float) -> str:
        """A value of the measure, told from the limit."""
        return against_threshold(value, limit, self._share)

    def is_kept(self, value: float, limit: float) -> bool:
        """Whether a value of the measure is on the good side of the limit."""
        allowance = TOLERANCE * max(abs(limit), 1.0)
        if self.bound == AT_LEAST:
            return value >= limit - allowance
        return value <= limit + allowance

    def read(self, risk: Risk, attribute: str) -> tuple[float, Position | None]:
        """The measure of a file, and where its worst class is."""
        of: Any = risk.sensitive[attribute] if attribute else risk
        found = getattr(of, self.measure)
        if found is None:
            return 0.0, None
        if isinstance(found, Measure):
            return found.value, found.where
        return found, getattr(of, f"{self.measure}_where")

    @property
    def _share(self) -> bool:
        return KINDS[self.measure].scale is Scale.SHARE


def _persons_by_balance(g: float) -> int:
    # A class of n persons has a balance of at most 1 - 1/n: each of them one n-th of the records.
    return ceil(1 / (1 - g) - TOLERANCE)


def _balance(g: float, _attribute: str) -> str:
    fewest = _persons_by_balance(g)
    return (
        "No person dominates a class: g-balance, 1 less the sum of the squared shares of its "
        f"records that each person has, is {AT_LEAST} {number(g)} in every class. Every class "
        f"then has {AT_LEAST} {count(fewest)} {'person' if fewest == 1 else 'persons'}."
    )


def _closeness(t: float, attribute: str) -> str:
    return (
        f"The values of “{attribute}” in a class, over records, are nearly those of the whole "
        f"file: {AT_MOST} a distance of {number(t)} away"
    )


def _marketer(population: PopulationRisk, asked: Mapping[str, float]) -> PromiseLine:
    """The budget over a release, against a population that is not the file."""
    tau, reached = asked["tau"], population.marketer.value
    return PromiseLine(
        "marketer",
        f"When everybody is matched with the {count(population.persons)} persons of the "
        f"population, {AT_MOST} {percent(tau)} of the release’s persons are expected to be "
        "matched rightly.",
        reached <= tau * (1 + TOLERANCE),
        bound=AT_MOST,
        limit=tau,
        threshold=percent(tau),
        reached=against_threshold(reached, tau, True),
        promised=not is_estimate(population.marketer.estimator),
    )


def _presence(population: PopulationRisk, asked: Mapping[str, float]) -> PromiseLine:
    """Shares of the population's persons who are in the file, in the classes where extreme."""
    low, high = asked["low"], asked["high"]
    fewest, most = population.presence_low, population.presence_high
    found = (0.0, 1.0) if fewest is None or most is None else (fewest.value, most.value)
    return PromiseLine(
        "presence",
        "Of the population’s persons who look like a class, the share who are in the release is "
        f"{AT_LEAST} {percent(low)} and {AT_MOST} {percent(high)} in every class.",
        found[0] >= low - TOLERANCE and found[1] <= high + TOLERANCE,
        bound=AT_MOST,
        limit=high,
        threshold=f"{percent(high)}, {AT_LEAST} {percent(low)}",
        reached=f"{percent(found[0])} to {percent(found[1])}",
        where=None if most is None else most.where,
    )


PROMISES = {
    "g_balance": PromiseWords(
        "g",
        "g_balance",
        _balance,
        in_short="No person’s records dominate a class (g-balance {limit}). {rest}",
        fewest_persons=_persons_by_balance,
        # The squares of the shares of a class's records sum to at most 1 - g, so that no share is
        # above the root of it (Kartal & Li 2020, Definition 1).
        largest={"max_gidr": lambda g: sqrt(1 - g)},
    ),
    "h_affiliation": PromiseWords(
        "h",
        "h_affiliation",
        lambda h, attribute: (
            f"No value of “{attribute}” is shared by too many: {AT_MOST} {percent(h)} of the "
            "persons of a class have the same value."
        ),
        largest={"max_gsar": float, "h_affiliation": float},
    ),
    "k": PromiseWords("k", "k", lambda k, _: f"Every class has {AT_LEAST} {count(k)} records."),
    "pid_k": PromiseWords(
        "k",
        "pid_k",
        lambda k, _: f"Every class has {AT_LEAST} {count(k)} persons.",
        fewest_persons=int,
    ),
    "l": PromiseWords(
        "l",
        "l_distinct",
        lambda l, attribute: (  # noqa: E741
            f"Every class shows {AT_LEAST} {count(l)} different values of “{attribute}”."
        ),
    ),
    "t_closeness": PromiseWords("t", "t_closeness", lambda t, name: f"{_closeness(t, name)}."),
    "t_closeness_ordered": PromiseWords(
        "t",
        "t_closeness_ordered",
        lambda t, name: f"{_closeness(t, name)}, counting how many ranks apart values are.",
    ),
    "shared_counts": PromiseWords(
        "m",
        "count_k",
        lambda m, _: (
            f"Nobody stands out by the number of records: {AT_LEAST} {count(m)} persons of a "
            "class share each number of records that a pseudonym shows."
        ),
    ),
    "marketer": PromiseWords(
        "tau",
        "marketer",
        lambda tau, _: (
            f"When everybody is matched, {AT_MOST} {percent(tau)} of the persons are expected to "
            "be matched rightly, over the whole release."
        ),
        about_population=_marketer,
    ),
    "presence": PromiseWords(
        "high",
        "presence_high",
        lambda high, _: (
            f"Of the people of the population who look like a class, {AT_MOST} {percent(high)} "
            "are in the release."
        ),
        about_population=_presence,
        needs_population=True,
    ),
}
"""All that reports say of a promise of ours, by its name on the command line."""


def promise_lines(release: Release) -> list[PromiseLine]:
    """What was asked, one line per constraint and sensitive attribute.

    Raises
    ------
    InputError
        If a constraint of the custodian's own is to be read from a release on Spark.
    """
    return [
        _line(release, each)
        for constraint in release.constraints
        for each in _by_attribute(release, constraint)
    ]


def _by_attribute(
    release: Release, constraint: Constraint | Budget
) -> list[Constraint] | list[Constraint | Budget]:
    """A constraint on every sensitive attribute, as one constraint on each."""
    made = BY_NAME.get(constraint.name)
    if made is None or getattr(constraint, "attribute", "") is not None:
        return [constraint]
    parameters = constraint.parameters()
    return [made(**{**parameters, "attribute": name}) for name in release.schema.sensitive]


def _line(release: Release, constraint: Constraint | Budget) -> PromiseLine:
    parameters = constraint.parameters()
    ordered = parameters.get("distance") == "ordered"
    words = PROMISES.get(f"{constraint.name}_ordered" if ordered else constraint.name)
    if words is not None and words.about_population and release.population is not None:
        return words.about_population(release.population, parameters)
    if words is not None and words.needs_population:
        words = None
    attribute = str(parameters.get("attribute", ""))
    met, classes_met, classes_met_before = _verdict(release, constraint, words)
    if words is None:
        return PromiseLine(
            constraint.name,
            "A constraint of the custodian’s own.",
            met,
            attribute,
            threshold=", ".join(f"{name} = {value}" for name, value in parameters.items()),
            classes_met=classes_met,
            classes_met_before=classes_met_before,
        )
    limit = float(parameters[words.parameter])
    before, _ = words.read(release.risk_before, attribute)
    reached, where = words.read(release.risk, attribute)
    return PromiseLine(
        constraint.name,
        words.sentence(limit, attribute),
        met,
        attribute,
        words.measure,
        words.bound,
        limit,
        words.printed(limit),
        words.reached(before, limit),
        words.reached(reached, limit),
        where,
        classes_met,
        classes_met_before,
    )


def _verdict(
    release: Release, constraint: Constraint | Budget, words: PromiseWords | None
) -> tuple[bool, int | None, int | None]:
    """Whether it is kept, and by how many classes of the release and of the original."""
    risk = release.risk
    if risk.ran is not None:
        return _verdict_by_worst(release, constraint, words)
    if isinstance(constraint, Budget):
        limit = constraint.limit(risk.records, risk.persons)
        spent = float(constraint.spent(risk.own_classes()).sum())
        return spent <= limit + TOLERANCE * abs(limit), None, None
    after = int(constraint.met(risk.own_classes()).sum())
    before = int(constraint.met(release.risk_before.own_classes()).sum())
    return after == risk.classes, after, before


def _verdict_by_worst(
    release: Release, constraint: Constraint | Budget, words: PromiseWords | None
) -> tuple[bool, int | None, int | None]:
    """The verdict from the worst class alone, where the others stayed on a cluster."""
    if words is None:
        raise InputError(
            f"constraint {constraint.name}",
            "must be one that Spark measures",
            found="one of the custodian's own",
            advice="take engine='embedded'",
        )
    parameters = constraint.parameters()
    reached, _ = words.read(release.risk, str(parameters.get("attribute", "")))
    met = words.is_kept(reached, float(parameters[words.parameter]))
    whole = isinstance(constraint, Budget)
    return met, release.risk.classes if met and not whole else None, None
