"""What a report says of a promise: what it asks for, and what the release reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.core.declaration import fields_of
from sfumato.core.measure import Position
from sfumato.core.phrases import Phrase
from sfumato.release.promises import restored
from sfumato.release.promises.promise import (
    AboutAttribute,
    AboutPopulation,
    Budget,
    Constraint,
    Promise,
    kept_by,
)
from sfumato.release.release_result import Release
from sfumato.risk.risk_thresholds import Bound


@dataclass(frozen=True, slots=True)
class PromiseLine:
    """One line of the table of promises: a promise, about one sensitive attribute at most.

    Attributes
    ----------
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
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def required(self) -> str:
        """What was asked, as printed."""
        return bounded(self.bound, self.threshold)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "attribute": self.attribute or None,
            "threshold": self.limit,
            **fields_of(self, "met promised"),
            "parameters": dict(self.parameters),
            **fields_of(self, "classes_met classes_met_before"),
        }


def bounded(bound: str, threshold: str) -> str:
    """A limit with its side."""
    if bound == Bound.AT_LEAST:
        return Phrase("at least {limit}", limit=threshold)
    if bound == Bound.AT_MOST:
        return Phrase("at most {limit}", limit=threshold)
    return threshold


def promise_lines(release: Release) -> list[PromiseLine]:
    """What was asked, one line per constraint and sensitive attribute."""
    return [
        _line(release, each)
        for constraint in release.constraints
        for each in _by_attribute(release, constraint)
    ]


def _by_attribute(
    release: Release, constraint: Constraint | Budget
) -> Sequence[Constraint | Budget]:
    """A promise on every sensitive attribute, as one promise on each."""
    if not isinstance(constraint, AboutAttribute) or constraint.attribute is not None:
        return [constraint]
    stated = {**constraint.parameters(), "name": constraint.name}
    return [restored(stated | {"attribute": name}) for name in release.schema.sensitive]


def _line(release: Release, constraint: Constraint | Budget) -> PromiseLine:
    promise = constraint if isinstance(constraint, Promise) else None
    known, parameters = release.population, constraint.parameters()
    if promise is not None and known is not None and isinstance(promise, AboutPopulation):
        found = promise.in_population(known)
        return PromiseLine(
            promise.name,
            found.sentence,
            found.met,
            bound=promise.bound,
            limit=promise.threshold,
            threshold=found.threshold,
            reached=found.reached,
            where=found.where,
            promised=found.promised,
            parameters=parameters,
        )
    attribute = str(parameters.get("attribute", ""))
    met, classes_met, classes_met_before = _verdict(release, constraint)
    if promise is None:
        return PromiseLine(
            constraint.name,
            Phrase("A promise of the custodian’s own."),
            met,
            attribute,
            threshold=", ".join(f"{name} = {value}" for name, value in parameters.items()),
            classes_met=classes_met,
            classes_met_before=classes_met_before,
            parameters=parameters,
        )
    before, _ = promise.reached(release.risk_before, attribute)
    reached, where = promise.reached(release.risk, attribute)
    return PromiseLine(
        promise.name,
        promise.sentence(attribute),
        met,
        attribute,
        promise.measure,
        promise.bound,
        promise.threshold,
        promise.printed(promise.threshold),
        "" if before is None else promise.printed(before),
        "" if reached is None else promise.printed(reached),
        where,
        classes_met,
        classes_met_before,
        promise.is_counted,
        parameters,
    )


def _verdict(
    release: Release, constraint: Constraint | Budget
) -> tuple[bool, int | None, int | None]:
    """Whether it is kept, and by how many classes of the release and of the original.

    Of a release on a cluster, where the numbers of the classes stayed, all keep it or nobody knows.
    """
    risk = release.risk
    # The release's own verdict: a report must never judge by another rule.
    met = bool(kept_by(constraint, risk, release.population))
    if isinstance(constraint, Budget):
        return met, None, None
    if risk.ran is not None:
        return met, risk.classes if met else None, None
    after = int(constraint.met(risk.own_classes()).sum())
    return met, after, int(constraint.met(release.risk_before.own_classes()).sum())
