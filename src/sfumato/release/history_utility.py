"""What a release keeps of histories: each person's events, how they belong together, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.core.number_text import percent
from sfumato.core.phrases import Listed, Phrase
from sfumato.release.event_dates import AFTER, Dates, Dating
from sfumato.release.histories import ANYTHING
from sfumato.risk.measure_table import Row

WEEK = 7
FOLLOWED = (30, 91, 182, 364, 728)
"""Days after the first event for which the survival curve is given."""


@dataclass(frozen=True)
class HistoryUtility:
    """What is left of histories; means over persons, so that those with many events count alike.

    Attributes
    ----------
    done
        By column, the share of records that are written in each way.
    columns
        By column, the share of a person's records that show it as it was.
    hidden
        By column, the share of records that show ``*``.
    exact
        The mean of ``columns``, each column counting alike.
    together
        Share of the pairs of a person's records that one pseudonym still shows; 1 for one record.
    kept
        The product of ``exact`` and ``together``, person by person.
    co_occurring
        Share of the pairs of a person's records whose events are both written as they were, dates
        aside, under one pseudonym.
    intervals_exact, intervals_near
        Share of a person's times between one date and the next that are exact, and within a week;
        ``None`` without dates, or where they are not shown.
    in_order
        Share of a person's dates that still come before the next one, where that was later.
    survival
        For some numbers of days, the share of persons with an event more than so long after their
        first, before; and that of pseudonyms, after. ``None`` where no intervals are shown.
    """

    done: Mapping[str, Mapping[str, float]]
    columns: Mapping[str, float]
    hidden: Mapping[str, float]
    exact: float
    together: float
    kept: float
    co_occurring: float
    divided: int = 0
    intervals_exact: float | None = None
    intervals_near: float | None = None
    in_order: float | None = None
    survival: Mapping[str, tuple[float, float]] | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values, without those that are not known."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def rows(self) -> list[Row]:
        """The lines of a table."""
        lines = [
            ("events_exact", self.exact, "share of a person's events as they were, by column"),
            *(
                (f"events_exact ({name})", share, "the same of this column")
                for name, share in self.columns.items()
            ),
            ("events_together", self.together, "share of pairs of a person's events kept together"),
            ("histories_kept", self.kept, "the product of both, person by person"),
            (
                "co_occurring",
                self.co_occurring,
                "share of pairs of events as they were but for dates, together",
            ),
            ("divided", self.divided, "number of people with several pseudonyms"),
            ("intervals_exact", self.intervals_exact, "share of times between dates as they were"),
            ("intervals_near", self.intervals_near, "share of them within 7 days"),
            ("in_order", self.in_order, "share of dates that still come one after the other"),
        ]
        lines += [
            (
                f"followed_{days}",
                after,
                f"share with an event {days} days later; {before:.4g} before",
            )
            for days, (before, after) in (self.survival or {}).items()
        ]
        return [Row(name, f"{value:.4g}", said) for name, value, said in lines if value is not None]


UNCHANGED = Phrase("unchanged")
DIVIDED = Phrase("a pseudonym, of which some people have several, so that less is learned by one")
"""What is written of persons, where some have several pseudonyms."""
_WRITTEN = {
    "exact": UNCHANGED,
    "suppressed": Phrase("“*”"),
    Dating.ABSOLUTE.value: Phrase("the date"),
    Dating.SHIFTED.value: Phrase("the date, moved by an offset of the person’s own"),
    Dating.RELATIVE.value: Phrase("days since the person’s first date"),
    Dating.ORDER.value: Phrase("its place among the person’s dates"),
}
_PERIODS = {"weeks": Phrase("weeks"), "months": Phrase("months"), "years": Phrase("years")}
"""What dates are made coarser by."""


def written(ways: Mapping[str, float], *, exact: bool = True) -> str:
    """How the cells of a column of events are written, and in which share of the records.

    The share of each way is as `HistoryUtility.done` has it; it is told where ``exact``.
    """
    if ways.get("exact") == 1:
        return UNCHANGED
    said = []
    for way, share in ways.items():
        what, _, period = way.rpartition(", ") if ", " in way else (way, "", "")
        words: str = _WRITTEN.get(what) or Phrase(
            "the label at {level} of its hierarchy", level=what
        )
        if what.startswith(AFTER):
            words = Phrase("the days after ‘{column}’", column=what.removeprefix(AFTER))
        if period not in ("", "days"):
            words = Phrase("{what} by {period}", what=words, period=_PERIODS.get(period, period))
        if share > 0 and exact:
            words = Phrase("{what} in {share} of the records", what=words, share=percent(share))
        if share > 0:
            said.append(words)
    if exact or not said:
        return Listed(said, "; ")
    told, *more = said
    for words in more:
        told = Phrase("{first} or {last}", first=told, last=words)
    return told


@dataclass(frozen=True, eq=False)
class ShownCells:
    """What the cells of a column of events show; shape (records,) each.

    Records that said nothing in the column before count only where a file is one table.
    """

    exact: Bools
    hidden: Bools
    place: Bools

    @classmethod
    def of(cls, before: pa.ChunkedArray, after: pa.Array | None, place: Bools) -> ShownCells:
        """Of the cells before and after; ``None`` where none was written anew."""
        if after is None:
            return cls(np.ones(len(before), np.bool_), np.zeros(len(before), np.bool_), place)
        own, new = (pc.fill_null(pc.cast(each, pa.string()), "") for each in (before, after))
        return cls(np.asarray(pc.equal(own, new)), np.asarray(pc.equal(new, ANYTHING)), place)

    def among(self, rows: Ints) -> ShownCells:
        """The same of some records."""
        return ShownCells(self.exact[rows], self.hidden[rows], self.place[rows])


def history_utility(
    person: Codes,
    pseudonym_of: Codes,
    exact: Bools,
    done: Mapping[str, Mapping[str, float]],
    dates: Dates | None,
    cells: Mapping[str, ShownCells],
    part_of: Codes | None = None,
) -> HistoryUtility:
    """Measure what is left of histories.

    Parameters
    ----------
    person, pseudonym_of
        Person and pseudonym of each record; shape (records,).
    done
        By column, the share of records that are written in each way.
    dates
        The dates; ``None`` without any.
    part_of
        The table that each record is of, where there are several; those of people are no events.
    """
    if part_of is not None:
        rows = np.flatnonzero(part_of > 0)
        person, pseudonym_of = (
            np.unique(each[rows], return_inverse=True)[1].astype(np.int32)
            for each in (person, pseudonym_of)
        )
        exact, cells = exact[rows], {name: cell.among(rows) for name, cell in cells.items()}
        cells = {name: cell for name, cell in cells.items() if cell.place.any()}
    records = np.bincount(person).astype(np.float64)
    detail = np.bincount(person, exact) / records
    counted = {n: cell.place if part_of is not None else np.ones_like(cell.place)
               for n, cell in cells.items()}  # fmt: skip
    by_column = {
        name: _share_of(person, shown_cells.exact & counted[name], counted[name])
        for name, shown_cells in cells.items()
    }
    each = np.array([*by_column.values(), np.full(len(detail), np.nan)])
    told = np.sum(~np.isnan(each), axis=0)
    # Of a person with records of tables that have dates alone no code is lost.
    whole = np.divide(np.nansum(each, axis=0), told, out=detail.copy(), where=told > 0)
    sizes = np.bincount(pseudonym_of)
    first = np.unique(pseudonym_of, return_index=True)[1]
    pairs = records * (records - 1)

    def within(many: Floats, alone: Floats) -> Floats:
        """Of each person's pairs those under one pseudonym, of so many records that count."""
        kept = np.bincount(person[first], many * (many - 1), len(records))
        return np.where(pairs > 0, kept / np.maximum(pairs, 1), alone)

    together = within(sizes.astype(np.float64), np.ones(len(records)))
    paired = within(np.bincount(pseudonym_of, exact).astype(np.float64), detail)
    utility = HistoryUtility(
        done,
        {name: float(np.nanmean(own)) for name, own in by_column.items()},
        {
            name: float(shown_cells.hidden[counted[name]].mean())
            for name, shown_cells in cells.items()
        },
        float(whole.mean()),
        float(together.mean()),
        float((whole * together).mean()),
        float(paired.mean()),
        int((np.bincount(person[first]) > 1).sum()),
    )
    if dates is None or dates.scheme.dating is Dating.NOTHING:
        return utility
    dated = np.flatnonzero(dates.dated)
    order = dated[np.lexsort((dates.day[dated], pseudonym_of[dated]))]
    # Between two pseudonyms a reader sees no interval.
    same = np.diff(pseudonym_of[order]) == 0
    before, after = np.diff(dates.day[order])[same], np.diff(dates.shown[order])[same]
    whose = person[order][1:][same]
    # Two dates on one day have no order that could be lost.
    in_order = _by_person((after > 0)[before > 0], whose[before > 0])
    # Places in an order are no days, so that no interval can be compared.
    if dates.scheme.dating is Dating.ORDER:
        return replace(utility, in_order=in_order)
    off = np.abs(after - before)
    return replace(
        utility,
        intervals_exact=_by_person(off == 0, whose),
        intervals_near=_by_person(off <= WEEK, whose),
        in_order=in_order,
        survival=_survival(
            person[dated], dates.day[dated], pseudonym_of[dated], dates.shown[dated]
        ),
    )


def _share_of(person: Codes, holds: Bools, counted: Bools) -> Floats:
    """The share of each person's records that count of which something holds; NaN of none."""
    many = np.bincount(person, counted, int(person.max()) + 1)
    share = np.full(len(many), np.nan)
    np.divide(np.bincount(person, holds, len(many)), many, out=share, where=many > 0)
    return share


def _survival(
    person: Codes, day: Ints, pseudonym_of: Codes, shown: Ints
) -> dict[str, tuple[float, float]]:
    """Share of persons, and of pseudonyms, with an event more than some days after the first."""
    before, after = (_reach(owner, date) for owner, date in ((person, day), (pseudonym_of, shown)))
    return {
        f"{days}": (float((before > days).mean()), float((after > days).mean()))
        for days in FOLLOWED
    }


def _reach(owner: Codes, date: Ints) -> Ints:
    """Days from the first to the last date of each owner."""
    order = np.lexsort((date, owner))
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    ends = np.append(starts[1:], len(order)) - 1
    spans: Ints = date[order[ends]] - date[order[starts]]
    return spans


def _by_person(holds: Bools, whose: Codes) -> float:
    """The share of what holds of each person, averaged; 1 where there is nothing."""
    if not len(whose):
        return 1.0
    many = np.bincount(whose)
    share = np.bincount(whose, holds)[many > 0] / many[many > 0]
    return float(share.mean())
