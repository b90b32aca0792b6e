"""The measures of one sensitive attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.core.measure import Measure, Position
from sfumato.risk import render
from sfumato.risk.render import row
from sfumato.risk.words import recursive_words


@dataclass(frozen=True, slots=True)
class SensitiveRisk:
    """Measures of one sensitive attribute, each at its worst class unless it is an average.

    Attributes
    ----------
    h_affiliation
        Largest share of a class's persons who have the same value (paper 003, Definition 3).
    max_gsar, avg_gsar
        The same share, its largest and its mean over classes (paper 003, Section 8).
    l_distinct
        Fewest distinct values in a class.
    l_distinct_where
        Where that is; ``None`` where a cluster measured.
    l_entropy
        exp of the smallest entropy of a class's values over records.
    recursive
        For l = 2, 3 and those that were asked for, the number above which every c gives
        recursive (c, l)-diversity; infinite where a class has fewer than l values.
    t_closeness
        Largest equal distance between the values of a class, over records, and those of the
        whole file (Li, Li & Venkatasubramanian 2007).
    t_closeness_ordered
        The same by ordered distance, where it was asked for.
    """

    h_affiliation: Measure
    max_gsar: Measure
    avg_gsar: Measure
    l_distinct: int
    l_distinct_where: Position | None
    l_entropy: Measure
    recursive: Mapping[int, Measure]
    t_closeness: Measure
    t_closeness_ordered: Measure | None = None

    def rows(self, column: str) -> list[render.Row]:
        """The lines of a table."""
        far = filter(None, (self.t_closeness, self.t_closeness_ordered))
        h = self.h_affiliation
        return [
            row("h_affiliation", render.share(h), h.where, column),
            row("avg_gsar", render.share(self.avg_gsar), None, column),
            row("l_distinct", render.count(self.l_distinct), self.l_distinct_where, column),
            row("l_entropy", render.number(self.l_entropy), self.l_entropy.where, column),
            *(
                render.Row(
                    f"{one.name} [{column}]", render.number(one), recursive_words(l), one.where
                )
                for l, one in self.recursive.items()  # noqa: E741
            ),
            *(row(one.name, render.number(one), one.where, column) for one in far),
        ]
