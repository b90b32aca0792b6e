"""Find persons by some of their events: exactly, or by a score (Narayanan and Shmatikov 2008).

The intruder knows the quasi-identifiers of a target and some of the target's events, perhaps with
mistakes, and looks for the pseudonym whose records show them: with the dates that they had, or all
moved by one offset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np
from scipy import sparse

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.intruder import released_syntax
from sfumato.intruder.candidates import ROUNDED, Candidates, Identification, ValuesOf
from sfumato.intruder.knowledge import Knowledge, KnownColumn, measure_of
from sfumato.intruder.reading import ReleasedFile, TextColumn


@dataclass(frozen=True, eq=False)
class EventValues:
    """What one column says of the events that an intruder may be told of; shape (values,) each.

    Values that the intruder cannot tell apart have one number; ``off`` is how far off a number or
    date may be.
    """

    column: KnownColumn
    alike: Ints
    off: Floats
    words: released_syntax.Vocabulary


@dataclass(frozen=True, eq=False)
class PersonEvents:
    """The events of the persons of the original, of which the intruder is told some.

    A share of those told are somebody else's.
    """

    person: Ints
    columns: tuple[EventValues, ...]
    wrong: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.column.name for column in self.columns)

    @cached_property
    def event_of(self) -> Ints:
        """Number of each row's event as exactly as it is known; -1 where nothing is said."""
        codes = np.stack([column.alike[column.column.codes] for column in self.columns])
        empty = np.stack(
            [
                np.array([text is None for text in column.column.texts])[column.column.codes]
                for column in self.columns
            ]
        )
        number = np.unique(codes, axis=1, return_inverse=True)[1].reshape(-1)
        return np.where(empty.all(axis=0), -1, number)

    def told(self, targets: Ints, m: int, rng: np.random.Generator) -> list[Ints]:
        """Rows of m different events of each target, all of them where there are fewer."""
        known = np.flatnonzero(self.event_of >= 0)
        order = known[np.lexsort((self.event_of[known], self.person[known]))]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (np.diff(self.person[order]) != 0) | (np.diff(self.event_of[order]) != 0)
        rows = order[new]
        start = np.searchsorted(self.person[rows], targets, side="left")
        stop = np.searchsorted(self.person[rows], targets, side="right")
        told = []
        for begin, end in zip(start.tolist(), stop.tolist(), strict=True):
            own = rows[begin:end]
            chosen = rng.permutation(own)[:m]
            mistaken = rng.random(len(chosen)) < self.wrong
            chosen[mistaken] = rng.choice(rows, int(mistaken.sum()))
            told.append(chosen)
        return told


class EventSearch:
    """Which released records may show an event that the intruder knows."""

    def __init__(self, file: ReleasedFile, events: PersonEvents) -> None:
        shown = {column.name: column for column in (*file.others, *file.sensitive)}
        self._columns = [_Shown(shown[column.column.name], column) for column in events.columns]
        self.units = file.persons
        self.unit = file.unit
        order = np.argsort(file.class_of, kind="stable").astype(np.int64)
        self._by_class = order
        self._starts = np.searchsorted(file.class_of[order], np.arange(file.classes + 1))
        dated = [column for column in self._columns if column.is_date]
        self._others = [column for column in self._columns if not column.is_date]
        self.moved = _MovedDates(dated[0], file) if len(dated) == 1 else None

    def rows_of(self, classes: Ints) -> Ints:
        """The records of some classes."""
        parts = [self._by_class[self._starts[t] : self._starts[t + 1]] for t in classes.tolist()]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    def fits(self, row: int, rows: Ints | slice) -> Bools:
        """Which of some released records may show the event of a row of the original."""
        found: Bools = np.logical_and.reduce([column.fits(row, rows) for column in self._columns])
        return found

    def fitting_moved(self, days: Mapping[int, float], known: Ints, rows: Ints) -> Ints:
        """Those units who show the events by most offsets, each of which moves all of a unit.

        ``days`` is when each event was, as far as the intruder is told.
        """
        dates = self.moved
        if dates is None or not len(known):
            return np.unique(self.unit[rows])
        without = np.array([not np.isfinite(days[row]) for row in known.tolist()])
        if without.any():  # these are known by what else they say
            units = self.fitting(known[without], rows[~np.isfinite(dates.shown(rows))])
            rows, known = rows[np.isin(self.unit[rows], units)], known[~without]
            if not len(known):
                return units
        found: _Offsets | None = None
        for row in known.tolist():
            fits = [column.fits(row, rows) for column in self._others]
            own = rows[np.logical_and.reduce(fits)] if fits else rows
            found = dates.offsets(days[row], dates.off(row), own, self.unit[own], found)
        assert found is not None
        return dates.likeliest(found)

    def fitting(self, known: Ints, rows: Ints) -> Ints:
        """The units whose records, of those given, show each known event by one of its own."""
        if not len(known):
            return np.unique(self.unit[rows])
        fits = np.stack([self.fits(row, rows) for row in known.tolist()])
        some = fits.any(axis=0)
        fits, unit = fits[:, some], self.unit[rows[some]]
        number, inverse = np.unique(unit, return_inverse=True)
        each = np.zeros((len(known), len(number)), dtype=np.bool_)
        for place in range(len(known)):
            each[place, inverse[fits[place]]] = True
        kept: Bools = np.logical_and.reduce(each, axis=0)
        if (fits.sum(axis=0) > 1).any():  # a record may show one of several events
            for place in np.flatnonzero(kept).tolist():
                kept[place] = _each_its_own(fits[:, inverse == place])
        return number[kept]


@dataclass(frozen=True, eq=False)
class _Offsets:
    """Ways in which units may show some events, each by offsets between two ends.

    ``rows`` are the records that show them; shape (ways, events).
    """

    unit: Ints
    low: Floats
    high: Floats
    rows: Ints


class _MovedDates:
    """The dates of a release, all of a unit moved by one offset that nobody knows.

    They may be the first days of periods: of as many days as divide all times between them. The
    intruder knows between which days the dates of the file were.
    """

    def __init__(self, shown: _Shown, file: ReleasedFile) -> None:
        self._shown = shown
        date, is_date = shown.number(slice(None)), np.isfinite(shown.number(slice(None)))
        days = np.unique(date[is_date])
        whole = bool((days == np.round(days)).all())
        apart = int(np.gcd.reduce(np.diff(days).astype(np.int64))) if whole and len(days) > 1 else 1
        self._rounded = max(apart, 1) - 1
        latest, earliest = np.full(file.persons, -np.inf), np.full(file.persons, np.inf)
        np.maximum.at(latest, file.unit[is_date], date[is_date])
        np.minimum.at(earliest, file.unit[is_date], date[is_date])
        # All dates of a unit lie in the period that the file covers: that bounds its offset.
        first, last = shown.period
        self._low, self._high = latest - last, earliest - first + self._rounded

    def shown(self, rows: Ints) -> Floats:
        """The days that released records show; not a number where they show none."""
        return self._shown.number(rows)

    def off(self, row: int) -> float:
        """By how many days the date of a row of the original may be known wrongly."""
        return float(self._shown.known.off[self._shown.known.column.codes[row]])

    def days(self, row: int) -> float:
        """That date."""
        column = self._shown.known.column
        return float(column.numbers[column.codes[row]])

    def told(self, row: int, rng: np.random.Generator) -> float:
        """The same as somebody is told it: off by any of these days alike."""
        off = int(self.off(row))
        return self.days(row) + rng.integers(-off, off + 1)

    def offsets(
        self, day: float, off: float, rows: Ints, unit: Ints, before: _Offsets | None
    ) -> _Offsets:
        """The offsets by which one more event is shown, by some rows of some units."""
        away = self._shown.number(rows) - day
        some = np.isfinite(away)
        order = np.flatnonzero(some)[np.lexsort((away[some], unit[some]))]
        rows, unit, away = rows[order], unit[order], away[order]
        low, high = away - off, away + off + self._rounded
        if before is None:
            return _Offsets(unit, low, high, rows[:, np.newaxis])
        # Within a unit, those follow each other whose offsets may be the same.
        # Wide enough that the keys of one unit never reach those of the next.
        span = 4 * float(np.abs([*low, *high, *before.low, *before.high]).max(initial=1.0)) + 1
        key = unit * span
        first = np.searchsorted(key + high, before.unit * span + before.low, side="left")
        last = np.searchsorted(key + low, before.unit * span + before.high, side="right")
        many = np.maximum(last - first, 0)
        way = np.repeat(np.arange(len(many)), many)
        new = np.arange(len(way)) - np.repeat(np.cumsum(many) - many, many) + first[way]
        # A record shows one event: it must not stand for two.
        other = (before.rows[way] != rows[new][:, np.newaxis]).all(axis=1)
        way, new = way[other], new[other]
        return _Offsets(
            unit[new],
            np.maximum(before.low[way], low[new]),
            np.minimum(before.high[way], high[new]),
            np.column_stack([before.rows[way], rows[new]]),
        )

    def likeliest(self, found: _Offsets) -> Ints:
        """The units who have most offsets by which all their dates were within the file's."""
        low = np.maximum(found.low, self._low[found.unit])
        many = np.minimum(found.high, self._high[found.unit]) - low + 1
        units, place = np.unique(found.unit, return_inverse=True)
        most = np.zeros(len(units))
        np.maximum.at(most, place, many)
        likeliest: Ints = units[(most > 0) & (most >= most.max(initial=0))]
        return likeliest


class _Shown:
    """One column of events of the release beside what is known of it.

    Most cells show one value: these are looked up, by text and by number. All others are held
    against what is known one by one.
    """

    def __init__(self, shown: TextColumn, known: EventValues) -> None:
        cells = [
            released_syntax.parse_cell(text, known.words) or released_syntax.Exact(str(text))
            for text in shown.texts
        ]
        self._codes = shown.codes
        self.known = known
        self._values = ValuesOf(known.column)
        self._place: dict[str, list[int]] = {}
        self._others: list[tuple[int, released_syntax.Cell]] = []
        self._numbers = np.full(len(cells), np.nan)
        for place, cell in enumerate(cells):
            if isinstance(cell, released_syntax.Exact):
                self._place.setdefault(cell.text, []).append(place)
                number = measure_of(cell.text)
                self._numbers[place] = np.nan if number is None else number
            else:
                self._others.append((place, cell))
        finite = known.column.numbers[np.isfinite(known.column.numbers)]
        self._slack = ROUNDED * float(np.abs(finite).max(initial=0.0))
        self._kept: dict[int, Ints] = {}
        self._marked = np.zeros(len(cells), dtype=np.bool_)

    @property
    def is_date(self) -> bool:
        """Whether it says when events were."""
        return self.known.words.dates

    @property
    def period(self) -> tuple[float, float]:
        """The first and the last day that the intruder's file knows."""
        known = self.known.column.numbers
        known = known[np.isfinite(known)]
        return float(known.min(initial=np.inf)), float(known.max(initial=-np.inf))

    def number(self, rows: Ints | slice) -> Floats:
        """The number, or the day, that each released record shows; not a number where none."""
        shown: Floats = self._numbers[self._codes[rows]]
        return shown

    def fits(self, row: int, rows: Ints | slice) -> Bools:
        value = int(self.known.column.codes[row])
        group = int(self.known.alike[value])
        if group not in self._kept:
            self._kept[group] = np.flatnonzero(self._cells_of(group, value))
        # Marked and cleared again: a new array for each event would cost as much as all cells.
        self._marked[self._kept[group]] = True
        found: Bools = self._marked[self._codes[rows]]
        self._marked[self._kept[group]] = False
        return found

    def _cells_of(self, group: int, value: int) -> Bools:
        """Which cells allow a value that is one of a group."""
        column, cells = self.known.column, np.zeros(len(self._numbers), dtype=np.bool_)
        number, off = float(column.numbers[value]), float(self.known.off[value])
        if column.texts[value] is None:
            for place, cell in self._others:
                cells[place] = isinstance(cell, (released_syntax.Missing, released_syntax.Anything))
        elif off > 0 and np.isfinite(number):
            cells = np.abs(self._numbers - number) <= off + self._slack
            for place, cell in self._others:
                cells[place] = _is_near(cell, number - off, number + off)
        else:
            places = np.flatnonzero(self.known.alike == group)
            for each in places.tolist():
                cells[self._place.get(str(column.texts[each]), [])] = True
                cells |= np.abs(self._numbers - column.numbers[each]) <= self._slack
            for place, cell in self._others:
                cells[place] = bool(self._values.allowed(cell, places).any())
        return cells


def _is_near(cell: released_syntax.Cell, low: float, high: float) -> bool:
    """Whether a cell that is no single value allows a number between two ends."""
    if isinstance(cell, released_syntax.Interval):
        return cell.low <= high and low <= cell.high
    if isinstance(cell, released_syntax.Members):
        numbers = [measure_of(text) for text in cell.texts]
        return any(number is not None and low <= number <= high for number in numbers)
    return isinstance(cell, released_syntax.Anything)


def _each_its_own(fits: Bools) -> bool:
    """Whether every row of a table can have a column of its own where it is true (Kuhn 1955)."""
    taken: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column in np.flatnonzero(fits[row]).tolist():
            if column not in seen:
                seen.add(column)
                if column not in taken or place(taken[column], seen):
                    taken[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(fits)))


def exact_events(
    search: EventSearch,
    candidates: Candidates,
    targets: Ints,
    told: Sequence[Ints],
    rng: np.random.Generator,
    *,
    moved: bool = False,
) -> Identification:
    """Take one of the units of the classes that fit a target and whose records show the events.

    Where nobody shows them all, as where some are wrong or pseudonyms are split, the parts of the
    events decide that fewest units show. With ``moved``, all dates of a unit are taken to be moved
    by one offset, and that unit is taken who shows the events by most of these. The dates are told
    as wrongly as they are known.
    """
    unit, chance = np.full(len(targets), -1, dtype=np.int64), np.zeros(len(targets))
    fitting = search.fitting
    of_group = sparse.csc_array(candidates.fits)
    for place, target in enumerate(targets.tolist()):
        group = candidates.group[target]
        classes = of_group.indices[of_group.indptr[group] : of_group.indptr[group + 1]]
        if moved and search.moved is not None:
            days = {row: search.moved.told(row, rng) for row in told[place].tolist()}
            fitting = partial(search.fitting_moved, days)
        found = _fewest(fitting, told[place], search.rows_of(classes.astype(np.int64)))
        if len(found):
            unit[place], chance[place] = rng.choice(found), 1 / len(found)
    return Identification(unit, targets, chance)


def _fewest(fitting: Callable[[Ints, Ints], Ints], known: Ints, rows: Ints) -> Ints:
    """The units that show all events, else those of the part of them that fewest show."""
    for size in range(len(known), 0, -1):
        found = [fitting(known[list(part)], rows) for part in _parts(len(known), size)]
        some = [units for units in found if len(units)]
        if some:
            return min(some, key=len)
    return fitting(known[:0], rows)


def _parts(number: int, size: int) -> Iterator[tuple[int, ...]]:
    return combinations(range(number), size)


def scored_events(
    search: EventSearch,
    file: ReleasedFile,
    knowledge: Knowledge,
    targets: Ints,
    told: Sequence[Ints],
    rng: np.random.Generator,
) -> Identification:
    """Take the unit of highest score, whatever of its quasi-identifiers and events is amiss.

    What a unit shows of what is known counts 1 / log(1 + units that show it), so that rare things
    weigh most; the intruder's chance of a unit grows as exp(score / standard deviation of all
    scores) (Narayanan and Shmatikov 2008, Section 4, Scoreboard-RH).
    """
    class_of_unit = np.empty(file.persons, dtype=np.int64)
    class_of_unit[file.unit] = file.class_of
    first = np.full(knowledge.persons, -1, dtype=np.int64)
    # The last that is written stays: backwards, that is the first row of a person.
    first[knowledge.person[::-1]] = np.arange(len(knowledge.person))[::-1]
    scores = _ClassScores(file, knowledge, first[targets])
    unit, chance = np.full(len(targets), -1, dtype=np.int64), np.zeros(len(targets))
    shown: dict[int, Ints] = {}
    for place, target in enumerate(targets.tolist()):
        score = scores.of(int(first[target]))[class_of_unit]
        for row in told[place].tolist():
            if row not in shown:
                shown[row] = np.unique(search.unit[search.fits(row, slice(None))])
            score[shown[row]] += _weight(len(shown[row]))
        spread = float(score.std())
        # Less the highest, so that it does not overflow.
        likely = np.exp((score - score.max()) / spread) if spread else np.ones(len(score))
        # The best are at exp(0), which is 1 exactly.
        best = np.flatnonzero(likely >= 1)
        unit[place], chance[place] = rng.choice(best), 1 / likely.sum()
    return Identification(unit, targets, chance)


def _weight(units: int) -> float:
    return float(1 / np.log1p(units)) if units else 0.0


class _ClassScores:
    """What each class scores by the quasi-identifiers of some rows of the register.

    Every cell is held once against all values of these rows.
    """

    def __init__(self, file: ReleasedFile, knowledge: Knowledge, rows: Ints) -> None:
        known = {column.name: column for column in knowledge.quasi_identifiers}
        pairs = np.unique(file.unit * file.classes + file.class_of) % file.classes
        self._units = np.bincount(pairs, minlength=file.classes)
        self._columns = []
        for identifier in file.quasi_identifiers:
            if identifier.name not in known:
                continue
            column = known[identifier.name]
            held, values = np.unique(column.codes[rows]), ValuesOf(column)
            fits = np.array([values.allowed(cell, held) for cell in identifier.cells])
            self._columns.append((column.codes, held, fits, identifier.codes[file.first_row]))

    def of(self, row: int) -> Floats:
        """Sum of the weights of the quasi-identifiers that fit, shape (classes,)."""
        total = np.zeros(len(self._units))
        for codes, held, by_cell, cell_of in self._columns:
            fits = by_cell[cell_of, np.searchsorted(held, codes[row])]
            total += fits * _weight(int(self._units[fits].sum()))
        return total
