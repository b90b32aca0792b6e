"""Section 4.3 of paper 001 again, and what the cost of an opening tells of FEBRL's values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import numpy as np

from sfumato.core.errors import InputError
from sfumato.review.anonymity_database import Database
from sfumato.review.anonymity_index import Index
from sfumato.review.disclosure_account import Review, disclosure_state, kapr, row_units, row_value
from sfumato.review.pair_rendering import symbols
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    DateOrder,
    Floor,
    Mode,
    Policy,
    Seen,
    Settings,
)
from sfumato.review.worker_state import Opening, Refusal, WorkerState
from studies.study_document import Cell, Grid, Section, columns
from studies.study_files import read_delimited

COLUMNS = (
    ("Mary", "Mark", "Mary", "Mary"),
    ("08/09/1964", "08/09/1964", "09/08/1964", "09/08/1964"),
    ("Hispanic", "Hispanic", "Black", "Black"),
)
"""Table 2: name, date of birth and race of the records 1 to 4; the income is not displayed."""
PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
"""The records of each pair, counted from 0."""

_DISCLOSED = (*["1/4, 0, 0"] * 2, *["0, 2/8, 0"] * 4, *["1/4, 2/8, 0"] * 4, *["0, 0, 0"] * 2)
_ALONE, _ONE_OF_TWO = Fraction(1, 12), Fraction(1, 24)
"""The value of a row in full, with K = 1 and K = 2."""


@dataclass(frozen=True)
class Printed:
    """One of the tables.

    Attributes
    ----------
    number
        The table; the text calls all three Table 5.
    sets
        K of each row.
    shares
        p of each row, as printed; the columns of Table 5 and of the last pair are lost.
    values
        The value of each row, scaled by 1/(n·d).
    score
        KAPR.
    """

    number: int
    sets: tuple[int, ...]
    shares: tuple[str, ...]
    values: tuple[Fraction, ...]
    score: Fraction


TABLES: Mapping[Mode, Printed] = MappingProxyType(
    {
        Mode.MASKED: Printed(3, (4,) * 12, ("0, 0, 0",) * 12, (Fraction(0),) * 12, Fraction(0)),
        Mode.PARTIAL: Printed(
            4,
            (3, 1, 1, 2, 1, 2, 1, 2, 1, 2, 3, 3),
            _DISCLOSED,
            (
                *(Fraction(1, 432), Fraction(1, 144)),
                *(Fraction(1, 144), Fraction(1, 288)) * 2,
                *(Fraction(1, 72), Fraction(1, 144)) * 2,
                *(Fraction(0), Fraction(0)),
            ),
            Fraction(31, 432),
        ),
        Mode.FULL: Printed(
            5,
            (1, 1, 1, 2, 1, 2, 1, 2, 1, 2, 2, 2),
            ("1, 1, 1",) * 12,
            (_ALONE, _ALONE, *(_ALONE, _ONE_OF_TWO) * 4, _ONE_OF_TWO, _ONE_OF_TWO),
            Fraction(3, 4),
        ),
    }
)
EXAMPLE_K = 1
"""k of the example."""
EXCEEDED = 5
"""A k that the four records of the example cannot keep."""
EXCEEDED_SCORE = Fraction(15, 4)
"""The formula's KAPR of the full state with that k, against Property 4.3."""


ATTRIBUTES = (
    Attribute(name="name", kind=AttributeKind.VARIABLE),
    Attribute(name="dob", kind=AttributeKind.DATE, date_order=DateOrder.MONTH_DAY_YEAR),
    Attribute(name="race", kind=AttributeKind.CATEGORY),
)
ALL_ATTRIBUTES = tuple(range(len(ATTRIBUTES)))


def example_sections() -> tuple[Section, ...]:
    """Tables 2-5 of paper 001 beside what it prints."""
    return (_table_2(), *(_state_section(mode) for mode in Mode), _scores_section())


def worker_after_opening(mode: Mode, settings: Settings) -> tuple[WorkerState, int]:
    """A worker who asked for everything of all six pairs in a mode, and how often in vain.

    Parameters
    ----------
    mode
        How much of every attribute is asked for.
    settings
        The rules.
    """
    index = Index.build(Database.of(ATTRIBUTES, COLUMNS))
    left, right = zip(*PAIRS, strict=True)
    worker = WorkerState(Review(ATTRIBUTES, settings, index, left, right), range(len(PAIRS)))
    refused = 0
    for pair in range(len(PAIRS)):
        worker.show(pair)
        refused += isinstance(worker.open(pair, Opening(ALL_ATTRIBUTES, mode)), Refusal)
    return worker, refused


def exact_score(worker: WorkerState) -> Fraction:
    """KAPR of what a worker was shown, without rounding."""
    rows = worker.disclosed()
    state = disclosure_state([row.shares for row in rows], [row.set_size for row in rows])
    return kapr(state, worker.review.settings.k, worker.rows, len(ATTRIBUTES))


def _table_2() -> Section:
    rows = tuple((place + 1, *record) for place, record in enumerate(zip(*COLUMNS, strict=True)))
    return Section(
        "The example (Section 4.3)",
        ("Every pair of four records is displayed: n = 12 rows of d = 3 attributes, k = 1.",),
        (
            Grid(
                "table_2",
                "Table 2: the data",
                columns("record=ID; name=name; dob=dob; race=race"),
                rows,
            ),
        ),
    )


_STATE_COLUMNS = columns(
    "pair=Pair; row=Row; name=Name; dob=DOB; race=Race; k=K; k_paper=paper; p=p; p_paper=paper; "
    "value=Value; value_paper=paper"
)
_SCORE_COLUMNS = columns(
    "state=State; k=k; floor=Below k; refused=Refused; score=KAPR; decimal== .7; paper=paper .7; "
    "consistent=consistent .7"
)


def _state_section(mode: Mode) -> Section:
    printed = TABLES[mode]
    worker, _ = worker_after_opening(mode, Settings(budget=None, policy=Policy.PAPER, k=EXAMPLE_K))
    scale = Fraction(EXAMPLE_K, worker.rows * len(ATTRIBUTES))
    rows: list[tuple[Cell, ...]] = []
    for place, row in enumerate(worker.disclosed()):
        left, right = PAIRS[row.pair]
        rendered = worker.render(row.pair)
        rows.append(
            (
                f"({left + 1}, {right + 1})",
                place + 1,
                *("".join(symbols(each.rows[row.side], row.side)) for each in rendered),
                row.set_size,
                printed.sets[place],
                ", ".join(map(str, row.shares)),
                printed.shares[place],
                str(scale * row_value(sum(row.shares, Fraction(0)), row.set_size)),
                str(printed.values[place]),
            )
        )
    score = exact_score(worker)
    text = [f"KAPR = {score} = {float(score):.7f}; the paper: {float(printed.score):.7f}."]
    if mode is Mode.MASKED:
        text.append(
            "The paper counts all four records in the masked state. The identity marks show there "
            "too: that a value occurs twice leaves three records in three pairs. A row that "
            "discloses no character is worth 0 whatever K is."
        )
    return Section(
        f"Table {printed.number}: {mode.name.lower()} disclosure",
        tuple(text),
        (Grid(f"table_{printed.number}", "Every row of the display", _STATE_COLUMNS, tuple(rows)),),
    )


def _scores_section() -> Section:
    rows = (
        *(_score_row(mode, EXAMPLE_K, Floor.REFUSE, TABLES[mode].score) for mode in Mode),
        _score_row(Mode.FULL, EXCEEDED, Floor.REPORT, EXCEEDED_SCORE),
        _score_row(Mode.FULL, EXCEEDED, Floor.REFUSE, None),
    )
    return Section(
        "Scores",
        (
            (
                "With k = 5 the formula gives 3.75 for the full state of four records, against "
                "Property 4.3: k is a floor. A disclosure that would leave an anonymity set below "
                "k is refused, or reported where the manager says so. The last column counts, as "
                "this product does by default, what was seen of a record in any pair, and lengths."
            ),
        ),
        (Grid("scores", "KAPR by the paper's policy, and consistent", _SCORE_COLUMNS, rows),),
    )


def _score_row(mode: Mode, k: int, floor: Floor, paper: Fraction | None) -> tuple[Cell, ...]:
    worker, refused = worker_after_opening(
        mode, Settings(budget=None, policy=Policy.PAPER, k=k, k_floor=floor)
    )
    consistent, _ = worker_after_opening(
        mode, Settings(budget=None, policy=Policy.CONSISTENT, k=k, k_floor=floor)
    )
    score = exact_score(worker)
    return (
        mode.name.lower(),
        k,
        "refused" if floor is Floor.REFUSE else "reported",
        refused,
        str(score),
        float(score),
        None if paper is None else float(paper),
        float(exact_score(consistent)),
    )


_FEBRL_KINDS = {
    **dict.fromkeys(
        ("given_name", "surname", "street_number", "address_1", "address_2", "suburb"),
        AttributeKind.VARIABLE,
    ),
    "postcode": AttributeKind.FIXED,
    "state": AttributeKind.CATEGORY,
    "date_of_birth": AttributeKind.DATE,
    "soc_sec_id": AttributeKind.FIXED,
}
FEBRL_ATTRIBUTES = tuple(Attribute(name=name, kind=kind) for name, kind in _FEBRL_KINDS.items())


def read_febrl(path: Path) -> Database:
    """The records of FEBRL data set 3.

    Parameters
    ----------
    path
        The file as published.

    Raises
    ------
    InputError
        If the file is damaged or lacks a column.
    """
    names = [attribute.name for attribute in FEBRL_ATTRIBUTES]
    header = ["rec_id", *names]
    table = read_delimited(path, header, delimiter=",", names=header)
    if [table.column(name)[0].as_py() for name in header] != header or table.num_rows == 1:
        raise InputError(
            f"file {path.name}", "must have the columns as published", accepted=", ".join(header)
        )
    return Database.of(FEBRL_ATTRIBUTES, [table.column(name).slice(1) for name in names])


@dataclass(frozen=True)
class Value:
    """One distinct value of an attribute, and what is told before it is opened in full.

    Attributes
    ----------
    records
        Number of records that have it.
    length
        Its characters, which its mask may show.
    exact, bound
        The cost where nothing of the record shows, in units.
    exact_at, bound_at
        The cost where the length shows.
    """

    records: int
    length: int
    exact: int
    bound: int
    exact_at: int
    bound_at: int


def values_of(index: Index, attribute: int) -> tuple[Value, ...]:
    """Every distinct value of an attribute, with its costs.

    Parameters
    ----------
    index
        The database and its anonymity sets.
    attribute
        The place of the attribute.
    """
    database = index.database
    codes, first, count = np.unique(
        database.codes[:, attribute], return_index=True, return_counts=True
    )
    found, nothing = [], (Seen(),) * len(database.attributes)
    everyone = index.members(0, nothing)
    whole = {attribute: None}
    bounds: dict[int, int] = {}
    for code, record, records in zip(codes.tolist(), first.tolist(), count.tolist(), strict=True):
        if code < 0:
            continue
        length = int(database.start[code + 1] - database.start[code])
        seen = Seen(missingness=True, length=True, positions=frozenset(range(length)))
        masked = [*nothing]
        masked[attribute] = Seen(missingness=True, length=True)
        alike = index.members(record, tuple(masked))
        for key, members in ((0, everyone), (length, alike)):
            if key not in bounds:
                bounds[key] = row_units(Fraction(1), index.least(members, whole))
        found.append(
            Value(
                records,
                length,
                row_units(Fraction(1), index.size_after(everyone, record, {attribute: seen})),
                bounds[0],
                row_units(Fraction(1), index.size_after(alike, record, {attribute: seen})),
                bounds[length],
            )
        )
    return tuple(found)


def uniquely_named(values: Sequence[Value], clues: Iterable[Hashable]) -> float:
    """The share of the records whose value is the only one that goes with its clue.

    Parameters
    ----------
    values
        The distinct values.
    clues
        What a reader learns of each.
    """
    groups: dict[Hashable, list[Value]] = defaultdict(list)
    for value, clue in zip(values, clues, strict=True):
        groups[clue].append(value)
    alone = sum(group[0].records for group in groups.values() if len(group) == 1)
    return alone / sum(value.records for value in values)


_LEAK_COLUMNS = columns(
    "attribute=Attribute; values=Values; exact=exact cost % .1%; bound=bound % .1%; "
    "length=length alone % .1%; length_exact=length, exact cost % .1%; "
    "length_bound=length, bound % .1%"
)


def leak_section(index: Index, source: str) -> Section:
    """For which share of the records a cost names the value, per attribute.

    Parameters
    ----------
    index
        FEBRL 3.
    source
        What it is.
    """
    rows: list[tuple[Cell, ...]] = []
    for place, attribute in enumerate(FEBRL_ATTRIBUTES):
        values = values_of(index, place)
        rows.append(
            (
                attribute.name,
                len(values),
                uniquely_named(values, (value.exact for value in values)),
                uniquely_named(values, (value.bound for value in values)),
                uniquely_named(values, (value.length for value in values)),
                uniquely_named(values, ((value.length, value.exact_at) for value in values)),
                uniquely_named(values, ((value.length, value.bound_at) for value in values)),
            )
        )
    return Section(
        "What a cost says before anything is opened",
        (
            (
                f"{source}, {index.database.count:,} records, each attribute by itself, masked; "
                "the cost of opening it in full. A reader who knows how often each value occurs "
                "(a census, a telephone book) is told p/K and looks K up: for this share of the "
                "records that have a value, no other value of the attribute has that cost. The "
                "bound is the dearest cost over all values that agree with what shows; it is the "
                "same for all of them, and adds nothing to what the mask shows."
            ),
        ),
        (Grid("cost_leak", "Records whose value is named", _LEAK_COLUMNS, tuple(rows)),),
    )
