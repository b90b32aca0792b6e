"""How far each knob is turned: from where it begins to bite to where nothing is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log

import numpy as np

from sfumato.pipeline.tune.knobs import KNOBS, stricter
from sfumato.pipeline.tune.point import Point
from sfumato.pipeline.tune.targets import Target, together
from sfumato.pipeline.tune.trial import Trial
from sfumato.table.table import Table


@dataclass(frozen=True)
class Space:
    """The limits that are searched.

    Attributes
    ----------
    needed
        Limits that every release has to keep which meets the thresholds.
    enough
        Limits under which every release meets those thresholds that have such limits.
    movers
        Knobs that can move a measure where what is needed is not enough.
    ends
        The strictest position of each knob.
    distance
        The distance of t-closeness.
    loose
        Position from which each knob changes something.
    """

    needed: dict[str, float]
    enough: dict[str, float]
    movers: tuple[str, ...]
    ends: Mapping[str, float]
    distance: str
    loose: Mapping[str, float] = field(default_factory=dict)

    def value(self, name: str, position: float) -> float:
        """The limit at a position, never looser than what is needed.

        Parameters
        ----------
        name
            Name of the knob.
        position
            Its strictness.
        """
        limit = KNOBS[name].value(position)
        return stricter(name, self.needed[name], limit) if name in self.needed else limit

    def point(self, positions: Mapping[str, float], like: Point | None = None) -> Point:
        """What is needed, and knobs at positions.

        Parameters
        ----------
        positions
            Strictness by knob.
        like
            A point whose options and columns are taken.
        """
        asked = self.needed | {name: self.value(name, at) for name, at in positions.items()}
        if like is None:
            return Point.of(asked, distance=self.distance)
        return like.at(asked)

    def positions(self, point: Point) -> dict[str, float]:
        """Strictness of the knobs of a point, those that are not asked at their loose end.

        Parameters
        ----------
        point
            The point.
        """
        limits = point.limits
        return {
            name: KNOBS[name].position(limits[name]) if name in limits else self.start(name)
            for name in self.names
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The knobs that are searched: those that move something, then those that are needed."""
        return tuple(dict.fromkeys((*self.movers, *self.needed)))

    def start(self, name: str) -> float:
        """Position of a knob from which it changes something.

        Parameters
        ----------
        name
            Name of the knob.
        """
        if name in self.needed:
            return max(KNOBS[name].position(self.needed[name]), self.loose.get(name, -1e9))
        return self.loose.get(name, -self.ends["records"] if name == "cap_records" else 0.0)

    def bites(self, name: str, trial: Trial) -> float:
        """Position of a knob from which it changes a release: what that keeps by itself.

        Classes that look the same are one after the tree is made, so that a somewhat looser
        limit may change something as well.

        Parameters
        ----------
        name
            Name of the knob.
        trial
            A trial with a release.
        """
        found = [self.start(name)]
        if name in trial.point.limits:
            found.append(KNOBS[name].position(trial.point.limits[name]))
        if (reached := dict(trial.reached).get(name, 0)) > 0:
            found.append(KNOBS[name].position(reached))
        return min(max(found), self.end(name))

    def end(self, name: str) -> float:
        """The strictest position of a knob that is of use.

        Parameters
        ----------
        name
            Name of the knob.
        """
        if name in self.enough:
            return max(KNOBS[name].position(self.enough[name]), self.start(name))
        return max(self.ends[name], self.start(name))


def space_of(targets: Sequence[Target], table: Table, *, cap: bool) -> Space:
    """The space of the targets.

    Parameters
    ----------
    targets
        What is to be met.
    table
        The file.
    cap
        Whether the records of a person may be capped.
    """
    needed = together([each.needed for each in targets])
    found = together([each.enough for each in targets if each.enough is not None])
    movers = dict.fromkeys(name for each in targets for name in each.movers)
    if not cap:
        movers.pop("cap_records", None)
    ordered = any(each.threshold.measure == "t_closeness_ordered" for each in targets)
    return Space(
        needed,
        together([needed, found]),
        tuple(movers),
        _ends(table),
        "ordered" if ordered else "equal",
    )


def seen(space: Space, trial: Trial, table: Table) -> Space:
    """The same, its knobs beginning where a release that keeps what is needed is by itself.

    Parameters
    ----------
    space
        The space.
    trial
        A trial of what is needed.
    table
        The file.
    """
    loose = {
        name: KNOBS[name].position(value)
        for name, value in trial.reached
        if value > 0 and (name not in space.needed or name in space.movers)
    }
    most = int(np.bincount(table.person).max())
    loose["cap_records"] = KNOBS["cap_records"].position(most)
    ends = dict(space.ends) | {"records": log(most)}
    return replace(space, ends=ends, loose=loose)


def _ends(table: Table) -> dict[str, float]:
    half_persons, half_records = log(max(table.persons / 2, 2)), log(max(table.records / 2, 2))
    values = max((each.domain.size for each in table.sensitive), default=1)
    return {
        "records": half_records,
        "g_balance": half_persons,
        "h_affiliation": log(max(values, 2)),
        "k": half_records,
        "pid_k": half_persons,
        "l": log(max(values, 2)),
        "marketer": log(max(table.persons, 2)),
        "shared_counts": log(max(min(table.persons / 2, 64), 2)),
        "t_closeness": log(1_000),
        "presence_high": log(1_000),
        "cap_records": 0.0,
    }
