"""What was asked of a release, and what it reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure, Position, is_estimate
from sfumato.release.population.measured import PopulationRisk
from sfumato.release.promises import PROMISES
from sfumato.release.promises.delta_presence import DeltaPresence
from sfumato.release.promises.marketer_risk import MarketerRisk
from sfumato.release.promises.promise import TOLERANCE, Budget, Constraint
from sfumato.release.result import Release
from sfumato.reports.numbers import beside, count, number, percent
from sfumato.risk.disclosure_risk import Risk

AT_LEAST, AT_MOST = "at least", "at most"


@dataclass(frozen=True, slots=True)
class Asked:
    """One line of the table of what was asked.

    Attributes
    ----------
    name
        Name of the constraint, as on the command line.
    attribute
        The sensitive attribute that it speaks about, or an empty text.
    words
        What it asks for, in a sentence.
    bound
        ``at least`` or ``at most``; empty where the constraint is not one of ours.
    limit
        The threshold as a number; ``None`` where the constraint is not one of ours.
    threshold, before, reached
        What was asked, and the worst class of the original and of the release, as printed.
    where
        Where the worst class of the release is.
    met
        Whether the release keeps it.
    classes_met
        Number of classes that keep it; ``None`` for a budget over the whole release.
    classes_met_before
        The same for the original.
    promised
        Whether what is counted keeps it, and no estimate of a population that is not at hand.
    """

    name: str
    attribute: str
    words: str
    bound: str
    limit: float | None
    threshold: str
    before: str
    reached: str
    where: Position | None
    met: bool
    classes_met: int | None
    classes_met_before: int | None
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
class _Kind:
    """How a constraint that we know reads and prints."""

    parameter: str
    bound: str
    share: bool
    words: Callable[[float, str], str]
    read: Callable[[Risk, str], tuple[float, Position | None]]


def _balance_words(g: float, _attribute: str) -> str:
    fewest = ceil(1 / (1 - g) - TOLERANCE)
    return (
        "No person dominates a class: g-balance, 1 less the sum of the squared shares of its "
        f"records that each person has, is {AT_LEAST} {number(g)} in every class. Every class "
        f"then has {AT_LEAST} {count(fewest)} {'person' if fewest == 1 else 'persons'}."
    )


def _affiliation_words(h: float, attribute: str) -> str:
    return (
        f"No value of “{attribute}” is shared by too many: {AT_MOST} {percent(h)} of the persons "
        "of a class have the same value."
    )


def _distance(measure: Measure | None) -> tuple[float, Position | None]:
    return (0.0, None) if measure is None else (measure.value, measure.where)


_KINDS = {
    "g_balance": _Kind(
        "g",
        AT_LEAST,
        False,
        _balance_words,
        lambda risk, _: (risk.g_balance.value, risk.g_balance.where),
    ),
    "h_affiliation": _Kind(
        "h",
        AT_MOST,
        True,
        _affiliation_words,
        lambda risk, name: (
            risk.sensitive[name].h_affiliation.value,
            risk.sensitive[name].h_affiliation.where,
        ),
    ),
    "k": _Kind(
        "k",
        AT_LEAST,
        False,
        lambda k, _: f"Every class has {AT_LEAST} {count(k)} records.",
        lambda risk, _: (risk.k, risk.k_where),
    ),
    "pid_k": _Kind(
        "k",
        AT_LEAST,
        False,
        lambda k, _: f"Every class has {AT_LEAST} {count(k)} persons.",
        lambda risk, _: (risk.pid_k, risk.pid_k_where),
    ),
    "l": _Kind(
        "l",
        AT_LEAST,
        False,
        lambda l, name: (  # noqa: E741
            f"Every class shows {AT_LEAST} {count(l)} different values of “{name}”."
        ),
        lambda risk, name: (
            risk.sensitive[name].l_distinct,
            risk.sensitive[name].l_distinct_where,
        ),
    ),
    "t_closeness": _Kind(
        "t",
        AT_MOST,
        False,
        lambda t, name: (
            f"The values of “{name}” in a class, over records, are nearly those of the whole "
            f"file: {AT_MOST} a distance of {number(t)} away."
        ),
        lambda risk, name: _distance(risk.sensitive[name].t_closeness),
    ),
    "t_closeness_ordered": _Kind(
        "t",
        AT_MOST,
        False,
        lambda t, name: (
            f"The values of “{name}” in a class, over records, are nearly those of the whole "
            f"file: {AT_MOST} a distance of {number(t)} away, counting how many ranks apart "
            "values are."
        ),
        lambda risk, name: _distance(risk.sensitive[name].t_closeness_ordered),
    ),
    "shared_counts": _Kind(
        "m",
        AT_LEAST,
        False,
        lambda m, _: (
            f"Nobody stands out by the number of records: {AT_LEAST} {count(m)} persons of a "
            "class share each number of records that a pseudonym shows."
        ),
        lambda risk, _: (risk.count_k, risk.count_k_where),
    ),
    "marketer": _Kind(
        "tau",
        AT_MOST,
        True,
        lambda tau, _: (
            f"When everybody is matched, {AT_MOST} {percent(tau)} of the persons are expected to "
            "be matched rightly, over the whole release."
        ),
        lambda risk, _: (risk.marketer.value, None),
    ),
}


def asked_of(release: Release) -> list[Asked]:
    """What was asked, one line per constraint and sensitive attribute.

    Raises
    ------
    InputError
        If a constraint of the custodian's own is to be read from a release on Spark.
    """
    return [_line(release, each) for each in _one_by_one(release)]


def promise_words(name: str, limit: float, attribute: str) -> str:
    """What a constraint of ours asks for, in a sentence; an empty text for others.

    Parameters
    ----------
    name
        Its name, as on the command line.
    limit
        The threshold.
    attribute
        The sensitive attribute that it speaks about, or an empty text.
    """
    kind = _KINDS.get(name)
    return "" if kind is None else kind.words(limit, attribute)


def thresholds(release: Release) -> dict[tuple[str, str], Asked]:
    """The lines of `asked_of` by name and attribute, those about a population left out."""
    return {
        (_reads(constraint), asked.attribute): asked
        for constraint, asked in zip(_one_by_one(release), asked_of(release), strict=True)
        if release.population is None or not isinstance(constraint, (MarketerRisk, DeltaPresence))
    }


def _one_by_one(release: Release) -> Iterable[Constraint | Budget]:
    """Constraints on every sensitive attribute, as one constraint on each."""
    for constraint in release.constraints:
        known = PROMISES.get(constraint.name)
        if hasattr(constraint, "attribute") and constraint.attribute is None and known:
            for name in release.schema.sensitive:
                made: Constraint = known(**{**constraint.parameters(), "attribute": name})
                yield made
        else:
            yield constraint


def _line(release: Release, constraint: Constraint | Budget) -> Asked:
    if release.population is not None and isinstance(constraint, MarketerRisk):
        return _marketer(release.population, constraint)
    if release.population is not None and isinstance(constraint, DeltaPresence):
        return _presence(release.population, constraint)
    attribute = str(constraint.parameters().get("attribute", ""))
    met, classes_met, classes_met_before = _verdict(release, constraint)
    kind = _KINDS.get(_reads(constraint))
    if kind is None:
        parameters = ", ".join(
            f"{name} = {value}" for name, value in constraint.parameters().items()
        )
        return Asked(
            constraint.name,
            attribute,
            "A constraint of the custodian’s own.",
            "",
            None,
            parameters,
            "",
            "",
            None,
            met,
            classes_met,
            classes_met_before,
        )
    threshold = float(constraint.parameters()[kind.parameter])
    before, _ = kind.read(release.risk_before, attribute)
    reached, where = kind.read(release.risk, attribute)
    return Asked(
        constraint.name,
        attribute,
        kind.words(threshold, attribute),
        kind.bound,
        threshold,
        percent(threshold) if kind.share else number(threshold),
        beside(before, threshold, kind.share),
        beside(reached, threshold, kind.share),
        where,
        met,
        classes_met,
        classes_met_before,
    )


def _marketer(population: PopulationRisk, constraint: MarketerRisk) -> Asked:
    """The budget over a release, against a population that is not the file."""
    tau, reached = constraint.tau, population.marketer.value
    return Asked(
        constraint.name,
        "",
        f"When everybody is matched with the {count(population.persons)} persons of the "
        f"population, {AT_MOST} {percent(tau)} of the release’s persons are expected to be "
        "matched rightly.",
        AT_MOST,
        tau,
        percent(tau),
        "",
        beside(reached, tau, True),
        None,
        reached <= tau * (1 + TOLERANCE),
        None,
        None,
        promised=not is_estimate(population.marketer.estimator),
    )


def _presence(population: PopulationRisk, constraint: DeltaPresence) -> Asked:
    """Shares of the population's persons who are in the file, in the classes where extreme."""
    low, high = population.presence_low, population.presence_high
    found = (0.0, 1.0) if low is None or high is None else (low.value, high.value)
    return Asked(
        constraint.name,
        "",
        "Of the population’s persons who look like a class, the share who are in the release is "
        f"{AT_LEAST} {percent(constraint.low)} and {AT_MOST} {percent(constraint.high)} in every "
        "class.",
        AT_MOST,
        constraint.high,
        f"{percent(constraint.high)}, {AT_LEAST} {percent(constraint.low)}",
        "",
        f"{percent(found[0])} to {percent(found[1])}",
        None if high is None else high.where,
        found[0] >= constraint.low - TOLERANCE and found[1] <= constraint.high + TOLERANCE,
        None,
        None,
    )


def _reads(constraint: Constraint | Budget) -> str:
    """The name of what a constraint is read and printed by."""
    ordered = constraint.parameters().get("distance") == "ordered"
    return f"{constraint.name}_ordered" if ordered else constraint.name


def _verdict(
    release: Release, constraint: Constraint | Budget
) -> tuple[bool, int | None, int | None]:
    risk = release.risk
    if risk.ran is not None:
        return _by_the_worst(release, constraint)
    if isinstance(constraint, Budget):
        limit = constraint.limit(risk.records, risk.persons)
        spent = float(constraint.spent(risk.own_classes()).sum())
        return spent <= limit + TOLERANCE * abs(limit), None, None
    after = int(constraint.met(risk.own_classes()).sum())
    before = int(constraint.met(release.risk_before.own_classes()).sum())
    return after == risk.classes, after, before


def _by_the_worst(
    release: Release, constraint: Constraint | Budget
) -> tuple[bool, int | None, int | None]:
    """The verdict from the worst class alone, where the others stayed on a cluster."""
    kind = _KINDS.get(_reads(constraint))
    if kind is None:
        raise InputError(
            f"constraint {constraint.name}",
            "must be one that Spark measures",
            found="one of the custodian's own",
            advice="take engine='embedded'",
        )
    parameters = constraint.parameters()
    limit = float(parameters[kind.parameter])
    reached, _ = kind.read(release.risk, str(parameters.get("attribute", "")))
    allowance = TOLERANCE * max(abs(limit), 1.0)
    met = reached >= limit - allowance if kind.bound == AT_LEAST else reached <= limit + allowance
    whole = isinstance(constraint, Budget)
    return met, release.risk.classes if met and not whole else None, None
