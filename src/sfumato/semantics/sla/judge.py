"""Whether enough individuals are left, whatever a reader infers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.semantics.linkage_anonymity import Local
from sfumato.semantics.linkage_anonymity.keys import Ints
from sfumato.semantics.sla.between import Tuples, intersection, left_by
from sfumato.semantics.sla.enforced import Enforce
from sfumato.semantics.sla.reader import Bools, Levels, Reached, Reader

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found about some tuples at some levels.

    Attributes
    ----------
    alone
        Which tuples leave fewer than k once they are refined; shape (tuples,).
    between
        Which leave too few together with earlier releases; shape (tuples,).
    generalise, suppress
        The attributes that may be raised by a level, and those that may be taken to the root;
        each of shape (tuples, attributes).
    leaking
        The rules that leave fewer than k, per tuple, where asked for.
    """

    alone: Bools
    between: Bools
    generalise: Bools
    suppress: Bools
    leaking: dict[int, set[int]] = field(default_factory=dict)

    @property
    def bad(self) -> Bools:
        """Which tuples do not hold; shape (tuples,)."""
        return self.alone | self.between


class Judge:
    """Judges levels of the tuples of a release.

    Parameters
    ----------
    reader
        The reader.
    locals_
        The local data sets.
    k
        How many individuals must be left in each.
    codes
        Leaf codes of the tuples, shape (tuples, attributes).
    earlier
        What earlier releases tell together about each tuple; ``None`` for nothing.
    enforce
        What may be raised because of associations.
    """

    def __init__(
        self,
        reader: Reader,
        locals_: Sequence[Local],
        k: int,
        codes: Ints,
        earlier: Tuples | None,
        enforce: Enforce,
    ) -> None:
        self._reader, self._locals, self._codes = reader, locals_, codes
        self._earlier, self._enforce = earlier, enforce
        self._k = np.full((len(locals_), len(codes)), k, dtype=np.int64)
        self.needed = self._k if earlier is None else self._floors(earlier)

    def counts(self, codes: Ints, levels: npt.NDArray[np.integer]) -> Counts:
        """Individuals who match each tuple in each local data set.

        Parameters
        ----------
        codes, levels
            The tuples; each of shape (tuples, attributes).

        Returns
        -------
        numpy.ndarray
            Shape (local data sets, tuples).
        """
        if not self._locals:
            return np.zeros((0, len(codes)), dtype=np.int64)
        names = self._reader.names
        return np.stack([left_by(local, names, codes, levels) for local in self._locals])

    def verdict(self, rows: Counts, levels: Levels, *, why: bool = False) -> Verdict:
        """Judge some of the tuples.

        Parameters
        ----------
        rows
            Their places, shape (judged,).
        levels
            Their levels, shape (judged, attributes).
        why
            Whether to find the rules that leave too few.
        """
        codes = self._codes[rows]
        alone, leaking = self._leaves_few(codes, levels, self._k[:, rows], why)
        generalise = np.zeros(codes.shape, dtype=np.bool_)
        suppress = generalise.copy()
        if alone.any():
            generalise[alone], suppress[alone] = self._enforce(codes[alone], levels[alone])
        between = np.zeros(len(rows), dtype=np.bool_)
        if self._earlier is not None:
            before = (self._earlier[0][rows], self._earlier[1][rows])
            joint = intersection([before, (codes, levels)], self._reader.hierarchies)
            between, others = self._leaves_few(*joint, self.needed[:, rows], why)
            adds = self._reader.shown(*joint) != self._reader.shown(*before)
            generalise |= between[:, np.newaxis] & adds & ~suppress
            for row, rules in others.items():
                leaking[row] = leaking.get(row, set()) | rules
        below = levels < np.array([each.height for each in self._reader.hierarchies])
        return Verdict(alone, between, generalise & below, suppress & below, leaking)

    def _leaves_few(
        self, codes: Ints, levels: npt.NDArray[np.integer], needed: Counts, why: bool
    ) -> tuple[Bools, dict[int, set[int]]]:
        """Which tuples can be refined to what somebody matches, but too few; and by which rules.

        Tuples that show the same and need the same are worked out once.
        """
        keys = np.column_stack([self._reader.shown(codes, levels), needed.T])
        _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        same = same.ravel()
        reached = self._reader.reachable(codes[first], levels[first])
        counts = self.counts(reached.codes, reached.levels)
        least = needed[:, first][:, reached.origin]
        short = np.flatnonzero(((counts > 0) & (counts < least)).any(axis=0))
        few = np.zeros(len(first), dtype=np.bool_)
        few[reached.origin[short]] = True
        rules = _leaking(reached, short) if why else {}
        return few[same], {row: rules[one] for row, one in enumerate(same.tolist()) if one in rules}

    def _floors(self, earlier: Tuples) -> Counts:
        """What earlier releases alone leave of each tuple at least, k at most."""
        reached = self._reader.reachable(*earlier)
        floors = self._k.copy()
        for floor, count in zip(floors, self.counts(reached.codes, reached.levels), strict=True):
            some = count > 0
            np.minimum.at(floor, reached.origin[some], count[some])
        return floors


def _leaking(reached: Reached, short: Counts) -> dict[int, set[int]]:
    """The rules on the way to what has too few, per tuple."""
    found: dict[int, set[int]] = {}
    for place in short.tolist():
        found.setdefault(int(reached.origin[place]), set()).update(reached.way(place))
    return found
