"""How far a register and released values agree, field by field, as levels that Splink scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.arrays import Floats, Ints
from sfumato.core.optional_packages import needed, quiet
from sfumato.core.workspace import Workspace
from sfumato.intruder.knowledge import KnownColumn, measure_of
from sfumato.intruder.reading import ReadColumn
from sfumato.intruder.released_syntax import Anything, Cell, Exact, Interval, Members, Missing

if TYPE_CHECKING:
    import duckdb


# Slips cost the square of a text's length.
LONGEST = 60
"""Texts of more characters are compared as a whole only."""


class Slips:
    """The texts of a column by what is left of them without one of their characters.

    Two texts are a slip apart if they are the same, or become so, once at most one character of
    each is left out: a character dropped, added, changed, or swapped with its neighbour. ``None``
    is a slip of nothing. Building takes the square of the length of each text, a look-up that of
    the text looked up.
    """

    def __init__(self, texts: Sequence[str | None]) -> None:
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            for left in _left(text) if text is not None else ():
                self._places[left].append(place)

    def of(self, texts: Iterable[str]) -> set[int]:
        """The places of the texts that are a slip away from one of these, or the same."""
        return {
            place for text in texts for left in _left(text) for place in self._places.get(left, ())
        }


def _left(text: str) -> set[str]:
    """A text, and the text without each of its characters."""
    # Without its only character a text is empty, and would be like every other such text.
    if not 1 < len(text) <= LONGEST:
        return {text}
    return {text, *(text[:place] + text[place + 1 :] for place in range(len(text)))}


NEARBY = 0.05
"""Share of the spread of a column's numbers within which a number is just outside a range."""


class Near(IntEnum):
    """How far a value is from a cell."""

    FAR = 0
    NEAR = 1
    """Just outside: a slip of typing away, or a neighbouring number."""
    INSIDE = 2


@dataclass(frozen=True, slots=True)
class Reach:
    """The known values in a cell, and just outside: the first place and the one behind the last."""

    inside: tuple[int, int] = (0, 0)
    near: tuple[int, int] = (0, 0)
    inside_set: tuple[int, ...] = ()
    near_set: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Levels:
    """How far each value that the intruder knows is from each cell of a column.

    Attributes
    ----------
    values
        Number of distinct known values; their places go by number, then by text.
    places
        Place of each register row's value, -1 where it is not known; shape (rows,).
    cells
        Per released cell what it reaches; ``None`` for one that says nothing.
    """

    name: str
    values: int
    places: Ints = field(repr=False)
    cells: tuple[Reach | None, ...] = field(repr=False)

    def of_cell(self, number: int) -> npt.NDArray[np.int8] | None:
        """The level of each value in a cell, shape (values,); ``None`` if it says nothing."""
        reach = self.cells[number]
        if reach is None:
            return None
        found = np.zeros(self.values, dtype=np.int8)
        # What is near surrounds what is inside: the latter is written over it.
        found[slice(*reach.near)] = Near.NEAR
        found[list(reach.near_set)] = Near.NEAR
        found[slice(*reach.inside)] = Near.INSIDE
        found[list(reach.inside_set)] = Near.INSIDE
        return found

    @cached_property
    def by_chance(self) -> Floats:
        """u: the share of the register's rows at each level of each cell, shape (cells, 3).

        At least half a row, so that no level is impossible by chance; NaN for a cell that says
        nothing. Takes O(cells x values).
        """
        known = self.places[self.places >= 0]
        rows = np.bincount(known, minlength=self.values).astype(np.float64)
        shares: Floats = np.full((len(self.cells), len(Near)), np.nan)
        for number in range(len(self.cells)):
            levels = self.of_cell(number)
            if levels is not None:
                shares[number] = np.bincount(levels, weights=rows, minlength=len(Near))
        found: Floats = np.clip(shares, 0.5, None) / max(len(known), 1)
        return found


def levels_of(read: ReadColumn, known: KnownColumn) -> Levels:
    """How far each value that the intruder knows is from each cell of a column."""
    texts = np.array([text is not None for text in known.texts], dtype=np.bool_)
    numbers = np.where(texts, known.numbers, np.nan)
    order = np.flatnonzero(texts)
    by_text = sorted(order[np.isnan(numbers[order])].tolist(), key=lambda i: str(known.texts[i]))
    numeric = order[~np.isnan(numbers[order])]
    numeric = numeric[np.argsort(numbers[numeric], kind="stable")]
    order = np.concatenate([numeric, np.array(by_text, dtype=np.int64)])
    place = np.full(len(known.texts), -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    finder = _Finder(numbers[numeric], [known.texts[i] for i in order.tolist()])
    return Levels(
        name=read.name,
        values=len(order),
        places=place[known.codes],
        cells=tuple(finder.reach(cell) for cell in read.cells),
    )


class _Finder:
    """Finds what cells reach among the values of a column in their order."""

    def __init__(self, numbers: Floats, texts: list[str | None]) -> None:
        self._numbers = numbers
        self._texts = {text: place for place, text in enumerate(texts)}
        self._slips = Slips(texts[len(numbers) :])
        self._reach = _neighbourhood(numbers)

    def reach(self, cell: Cell) -> Reach | None:
        """What a cell reaches; ``None`` if it says nothing."""
        match cell:
            case Anything():
                return None
            case Missing():
                return Reach()
            case Interval():
                return self._of_interval(cell)
            case Exact(text):
                return self._of_texts(frozenset({text}))
            case Members(texts):
                return self._of_texts(texts)

    def _of_interval(self, cell: Interval) -> Reach:
        low = "left" if cell.low_in else "right"
        high = "right" if cell.high_in else "left"
        return Reach(
            inside=(self._at(cell.low, low), self._at(cell.high, high)),
            near=(
                self._at(cell.low - self._reach, "left"),
                self._at(cell.high + self._reach, "right"),
            ),
        )

    def _of_texts(self, texts: frozenset[str]) -> Reach:
        inside = {self._texts[text] for text in texts if text in self._texts}
        # Slips are numbered among the texts, which stand behind the numbers.
        near = {place + len(self._numbers) for place in self._slips.of(texts)}
        for number in map(measure_of, texts):
            if number is None:
                continue
            inside.update(range(self._at(number, "left"), self._at(number, "right")))
            nearby = number - self._reach, number + self._reach
            near.update(range(self._at(nearby[0], "left"), self._at(nearby[1], "right")))
        return Reach(inside_set=tuple(sorted(inside)), near_set=tuple(sorted(near - inside)))

    def _at(self, number: float, side: str) -> int:
        if side == "left":
            return int(np.searchsorted(self._numbers, number, side="left"))
        return int(np.searchsorted(self._numbers, number, side="right"))


def _neighbourhood(numbers: Floats) -> float:
    """How far outside a range a number is still a neighbour."""
    if len(numbers) < 2:
        return 0.0
    # The middle nine tenths: single outliers must not make everything near.
    low, high = np.quantile(numbers, (0.05, 0.95))
    gaps = np.diff(numbers)
    least = gaps[gaps > 0]
    # The next number counts as near even where numbers are far apart.
    return max(NEARBY * float(high - low), float(least.min()) if len(least) else 0.0)


RELEASED, REGISTER = "a_released", "b_register"
"""Names of the two tables; Splink takes the first in alphabetical order for the left one."""
ID, VALUE = "id", "value"
_RANGES = ("low", "high", "near_low", "near_high")
_SETS = ("members", "near_members")
_LIST = pa.list_(pa.int64())


def field_name(number: int, name: str) -> str:
    """The column of both tables that holds something of a quasi-identifier."""
    return f"q{number}_{name}"


def released_table(columns: Sequence[Levels], cells: Ints) -> pa.Table:
    """A row for each released class: what its cells reach, and the number of each cell.

    Cells have shape (classes, columns).
    """
    made: dict[str, pa.Array] = {ID: pa.array(np.arange(len(cells)))}
    for number, column in enumerate(columns):
        codes = cells[:, number]
        told = np.array([reach is not None for reach in column.cells], dtype=np.bool_)[codes]
        of_cells = [_cell(reach) for reach in column.cells]
        for part, name in enumerate((*_RANGES, *_SETS)):
            kind = _LIST if name in _SETS else pa.int64()
            values = pa.array([cell[part] for cell in of_cells], type=kind)
            made[field_name(number, name)] = values.take(pa.array(codes))
        for level in Near:
            made[field_name(number, level.name)] = pa.array(codes, mask=~told)
        # Splink takes both tables as one: they need the same columns.
        made[field_name(number, VALUE)] = pa.nulls(len(cells), pa.int64())
    return pa.table(made)


def register_table(columns: Sequence[Levels], rows: Ints) -> pa.Table:
    """A row for each distinct row of the register: the places of its values, -1 for unknown.

    Its shape is (rows, columns).
    """
    made: dict[str, pa.Array] = {ID: pa.array(np.arange(len(rows)))}
    for number in range(len(columns)):
        # Splink takes both tables as one: they need the same columns.
        for name in _RANGES:
            made[field_name(number, name)] = pa.nulls(len(rows), pa.int64())
        for name in _SETS:
            made[field_name(number, name)] = pa.nulls(len(rows), _LIST)
        for level in Near:
            made[field_name(number, level.name)] = pa.nulls(len(rows), pa.int64())
        made[field_name(number, VALUE)] = pa.array(rows[:, number], mask=rows[:, number] < 0)
    return pa.table(made)


def comparison(number: int, m: Floats, u: Floats) -> dict[str, Any]:
    """The comparison of a quasi-identifier.

    Its levels are inside the cell, just outside it, far from it. m and u of each level have shape
    (3,). Each level takes its u from the cell, as Splink takes term frequencies.
    """
    value = f'"{field_name(number, VALUE)}_r"'
    low, high, near_low, near_high, members, near = (
        f'"{field_name(number, name)}_l"' for name in (*_RANGES, *_SETS)
    )
    cell = f'"{field_name(number, Near.INSIDE.name)}_l"'
    levels = [
        {
            "sql_condition": f"{cell} IS NULL OR {value} IS NULL",
            "label_for_charts": "unknown",
            "is_null_level": True,
        }
    ]
    conditions = {
        Near.INSIDE: _within(value, low, high, members),
        Near.NEAR: _within(value, near_low, near_high, near),
        Near.FAR: f"{value} IS NOT NULL",
    }
    for level, condition in conditions.items():
        levels.append(
            {
                "sql_condition": condition,
                "label_for_charts": level.name.lower(),
                "m_probability": float(m[level]),
                "u_probability": float(u[level]),
                "tf_adjustment_column": field_name(number, level.name),
                "tf_adjustment_weight": 1.0,
                # Splink would start from the u of an exact match; every level has its own here.
                "disable_tf_exact_match_detection": True,
            }
        )
    return {"output_column_name": f"q{number}", "comparison_levels": levels}


def frequencies(number: int, level: Near, chance: Floats) -> pa.Table:
    """The u of one level in each cell, shape (cells,), as a table of term frequencies."""
    name = field_name(number, level.name)
    told = ~np.isnan(chance)
    return pa.table({name: np.flatnonzero(told), f"tf_{name}": chance[told]})


def _within(value: str, low: str, high: str, members: str) -> str:
    # A comparison with null is null in SQL: it must be false before the OR.
    return f"coalesce({value} BETWEEN {low} AND {high}, false) OR list_contains({members}, {value})"


def _cell(reach: Any) -> tuple[Any, ...]:
    """First and last place of the ranges, and the sets, that a cell reaches; null for none."""
    if reach is None:
        return (None,) * (len(_RANGES) + len(_SETS))
    ranges: list[int | None] = []
    for first, stop in (reach.inside, reach.near):
        # BETWEEN includes its last value.
        ranges += [first, stop - 1] if first < stop else [None, None]
    return (*ranges, list(reach.inside_set) or None, list(reach.near_set) or None)


_SOURCE = "source_dataset"
_KEY = "-__-"
_LOWEST = -10_000.0
"""No match weight is below it."""
_PRIOR = 0.01
"""Taken out of the weights again."""
_BY = "the probabilistic attack"


class Scorer:
    """Weighs pairs of a released class and a distinct register row with Splink.

    Parameters
    ----------
    cells
        The cells of each class, shape (classes, columns).
    rows
        The places of the values of each distinct row, shape (rows, columns).

    Raises
    ------
    SfumatoError
        If it cannot take the tables.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        columns: Sequence[Levels],
        cells: Ints,
        rows: Ints,
    ) -> None:
        self._connection = connection
        self._columns = columns
        self._chances = [column.by_chance for column in columns]
        with quiet("take the tables"):
            self._api = needed("splink.backends.duckdb", by=_BY).DuckDBAPI(connection)
            self._table(RELEASED, released_table(columns, cells))
            self._table(REGISTER, register_table(columns, rows))
            for number, chance in enumerate(self._chances):
                for level in Near:
                    table = frequencies(number, level, chance[:, level])
                    self._table(f"tf{number}_{level.name}", table)

    def weights(self, of_class: Ints, of_row: Ints, m: Floats) -> Floats:
        """The match weight of each pair without the prior, in bits; m has shape (columns, 3)."""
        with quiet("score the pairs"):
            linker = self._linker(m)
            self._connection.register(
                "given", pa.table({"pair": np.arange(len(of_class)), "c": of_class, "r": of_row})
            )
            self._connection.execute(
                "CREATE OR REPLACE TABLE blocked AS SELECT "  # noqa: S608
                f"'{RELEASED}{_KEY}' || c AS join_key_l, "
                f"'{REGISTER}{_KEY}' || r AS join_key_r, '0' AS match_key FROM given"
            )
            # Splink scores these pairs in place of those that its blocking would find.
            blocked = self._api.register("blocked")
            linker.table_management.register_blocked_pairs_for_predict(blocked)
            predicted = linker.inference.predict(
                threshold_match_weight=_LOWEST, warning_mode="never"
            )
            # A database returns rows in any order: the weights must come in that of the pairs.
            found = self._connection.execute(
                f"SELECT match_weight FROM {predicted.physical_name} "  # noqa: S608
                f"JOIN given ON {ID}_l = c AND {ID}_r = r ORDER BY pair"
            ).fetchnumpy()["match_weight"]
            predicted.drop_table_from_database_and_remove_from_cache()
            self._connection.unregister("given")
        return np.asarray(found, dtype=np.float64) - float(np.log2(_PRIOR / (1 - _PRIOR)))

    def _linker(self, m: Floats) -> Any:
        """A linker with these m, and u of each cell."""
        settings = {
            "link_type": "link_only",
            "unique_id_column_name": ID,
            "source_dataset_column_name": _SOURCE,
            "linker_uid": "sfumato",
            "comparisons": [
                comparison(number, m[number], _typical(chance))
                for number, chance in enumerate(self._chances)
            ],
            "blocking_rules_to_generate_predictions": [f"l.{ID} = r.{ID}"],
            "probability_two_random_records_match": _PRIOR,
            "retain_matching_columns": False,
            "retain_intermediate_calculation_columns": False,
        }
        tables = [
            self._api.register(name, dataset_display_name=name) for name in (RELEASED, REGISTER)
        ]
        linker = needed("splink", by=_BY).Linker(
            tables, settings, log_level=None, validate_settings=False
        )
        for number in range(len(self._columns)):
            for level in Near:
                linker.table_management.register_term_frequency_lookup(
                    self._api.register(f"tf{number}_{level.name}"), f"q{number}_{level.name}"
                )
        return linker

    def _table(self, name: str, table: pa.Table) -> None:
        self._connection.register("given", table)
        self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")  # noqa: S608
        self._connection.unregister("given")


@contextmanager
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that spills into a private folder.

    It goes with it or the next run.
    """
    duckdb_ = needed("duckdb", by=_BY)
    with Workspace() as workspace:
        connection: duckdb.DuckDBPyConnection = duckdb_.connect(
            config={
                "temp_directory": str(workspace.path / "spill"),
                # Nothing is fetched from a network while an attack runs.
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        try:
            # In a notebook without ipywidgets it is off, and DuckDB refuses to hear of it.
            shown = "SELECT current_setting('enable_progress_bar')"
            if connection.execute(shown).fetchall() == [(True,)]:
                connection.execute("SET enable_progress_bar = false")
            yield connection
        finally:
            connection.close()


def _typical(chance: Floats) -> Floats:
    """The u over all cells; Splink puts each cell's own in its place."""
    told = chance[~np.isnan(chance[:, 0])]
    return told.mean(axis=0) if len(told) else np.full(len(Near), 1 / len(Near))
