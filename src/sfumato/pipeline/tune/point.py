"""One choice of constraints, options and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sfumato.pipeline.tune.columns import ColumnChange
from sfumato.pipeline.tune.knobs import KNOBS, asks_nothing
from sfumato.release.options import Recoding
from sfumato.release.promises import PROMISES
from sfumato.release.promises.delta_presence import DeltaPresence
from sfumato.release.promises.k_anonymity import KAnonymity
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.promises.t_closeness import Distance, TCloseness

Promise = Constraint | Budget


@dataclass(frozen=True)
class Point:
    """What is asked of a release, and how it is made.

    Attributes
    ----------
    asked
        Limits by the name of their knob, in the order of `KNOBS`.
    suppress
        Largest share of persons that may be suppressed.
    recoding
        ``local`` or ``full-domain``.
    coarsen_counts
        ``drop`` or nothing.
    change
        What is changed in the schema.
    distance
        The distance of t-closeness.
    """

    asked: tuple[tuple[str, float], ...]
    suppress: float = 0.0
    recoding: str = Recoding.LOCAL.value
    coarsen_counts: str | None = None
    change: ColumnChange = field(default_factory=ColumnChange)
    distance: str = "equal"

    @classmethod
    def of(cls, asked: Mapping[str, float], *, distance: str = "equal") -> Point:
        """A point with these limits; those that every release keeps are left out.

        Parameters
        ----------
        asked
            Limits by the name of their knob.
        distance
            The distance of t-closeness.
        """
        return cls(ordered(asked), distance=distance)

    def at(self, asked: Mapping[str, float]) -> Point:
        """The same with other limits.

        Parameters
        ----------
        asked
            Limits by the name of their knob.
        """
        return replace(self, asked=ordered(asked))

    @property
    def limits(self) -> dict[str, float]:
        """The limits by name."""
        return dict(self.asked)

    @property
    def manner(self) -> Point:
        """The same without limits: how the release is made, to compare by."""
        return replace(self, asked=())

    def constraints(self) -> tuple[Promise, ...]:
        """The promises; one that everything keeps where nothing is asked."""
        made: list[Constraint | Budget] = []
        for name, limit in self.asked:
            if name == "t_closeness":
                made.append(TCloseness(limit, distance=Distance(self.distance)))
            elif name == "presence_high":
                made.append(DeltaPresence(0.0, limit))
            elif name != "cap_records":
                made.append(PROMISES[name](limit))
        return tuple(made) or (KAnonymity(1),)

    def options(self) -> dict[str, Any]:
        """The options that differ from the usual ones, as `sfumato.anonymize` takes them."""
        cap = self.limits.get("cap_records")
        given: dict[str, Any] = {
            "cap_records": None if cap is None else int(cap),
            "suppress": self.suppress or None,
            "recoding": None if self.recoding == Recoding.LOCAL else self.recoding,
            "coarsen_counts": self.coarsen_counts,
        }
        return {name: value for name, value in given.items() if value is not None}

    def words(self) -> str:
        """The point in one line."""
        parts = [f"{each.name} {_limit(each)}" for each in self.constraints()]
        parts += [f"{name.replace('_', ' ')} {value}" for name, value in self.options().items()]
        return ", ".join(parts + self.change.words())

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "constraints": [
                {"name": each.name, **each.parameters()} for each in self.constraints()
            ],
            "options": self.options(),
            "columns": {
                "weights": dict(self.change.weights),
                "coarser": dict(self.change.coarser),
                "left_out": list(self.change.left_out),
            },
        }


def _limit(promise: Promise) -> str:
    return " ".join(
        f"{value:.6g}" if isinstance(value, float) else str(value)
        for name, value in promise.parameters().items()
        if not (promise.name == "presence" and name == "low")
    )


def ordered(asked: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """The limits that ask for something, in the order of `KNOBS`, counts as whole numbers.

    Parameters
    ----------
    asked
        Limits by the name of their knob.
    """
    return tuple(
        (name, int(asked[name]) if knob.whole else float(asked[name]))
        for name, knob in KNOBS.items()
        if name in asked and not asks_nothing(name, asked[name])
    )
