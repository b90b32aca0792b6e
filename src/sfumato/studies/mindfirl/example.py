"""The example of Section 4.3 again: Tables 2-5, every K, every row value, every score."""

from __future__ import annotations

from fractions import Fraction

from sfumato.review.anonymity.database import Database
from sfumato.review.anonymity.index import Index
from sfumato.review.attributes import Attribute, AttributeKind, DateOrder
from sfumato.review.kapr.score import disclosure_state, kapr, row_value
from sfumato.review.modes import Mode
from sfumato.review.settings import Floor, Policy, Settings
from sfumato.review.state.opening import Opening, Refusal
from sfumato.review.state.review import Review
from sfumato.review.state.worker import WorkerState
from sfumato.review.values import CellKind, RenderedAttribute
from sfumato.studies.mindfirl.published import (
    COLUMNS,
    EXAMPLE_K,
    EXCEEDED,
    EXCEEDED_SCORE,
    PAIRS,
    TABLES,
)
from sfumato.studies.study import Cell, Column, Grid, Section

ATTRIBUTES = (
    Attribute(name="name", kind=AttributeKind.VARIABLE),
    Attribute(name="dob", kind=AttributeKind.DATE, date_order=DateOrder.MONTH_DAY_YEAR),
    Attribute(name="race", kind=AttributeKind.CATEGORY),
)
EVERYTHING = tuple(range(len(ATTRIBUTES)))
_SIGNS = {CellKind.EQUAL: "**", CellKind.DIFFERING: "@&", CellKind.MASKED: "**"}
_MISSING = "?"


def example_sections() -> tuple[Section, ...]:
    """Tables 2-5 of paper 001 beside what it prints."""
    return (_table_2(), *(_state_section(mode) for mode in Mode), _scores_section())


def opened(mode: Mode, settings: Settings) -> tuple[WorkerState, int]:
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
        refused += isinstance(worker.open(pair, Opening(EVERYTHING, mode)), Refusal)
    return worker, refused


def exact_score(worker: WorkerState) -> Fraction:
    """KAPR of what a worker was shown, without rounding.

    Parameters
    ----------
    worker
        The worker.
    """
    rows = worker.disclosed()
    state = disclosure_state([row.shares for row in rows], [row.set_size for row in rows])
    return kapr(state, worker.review.settings.k, worker.rows, len(ATTRIBUTES))


def _table_2() -> Section:
    columns = (Column("record", "ID"), *(Column(each.name, each.name) for each in ATTRIBUTES))
    rows = tuple((place + 1, *record) for place, record in enumerate(zip(*COLUMNS, strict=True)))
    return Section(
        "The example (Section 4.3)",
        ("Every pair of four records is displayed: n = 12 rows of d = 3 attributes, k = 1.",),
        (Grid("table_2", "Table 2: the data", columns, rows),),
    )


def _state_section(mode: Mode) -> Section:
    printed = TABLES[mode]
    worker, _ = opened(mode, Settings(policy=Policy.PAPER, k=EXAMPLE_K))
    columns = (
        *(Column("pair", "Pair"), Column("row", "Row"), Column("name", "Name")),
        *(Column("dob", "DOB"), Column("race", "Race")),
        *(Column("k", "K"), Column("k_paper", "paper")),
        *(Column("p", "p"), Column("p_paper", "paper")),
        *(Column("value", "Value"), Column("value_paper", "paper")),
    )
    scale = Fraction(EXAMPLE_K, worker.rows * len(ATTRIBUTES))
    rows: list[tuple[Cell, ...]] = []
    for place, row in enumerate(worker.disclosed()):
        left, right = PAIRS[row.pair]
        rendered = worker.render(row.pair)
        rows.append(
            (
                f"({left + 1}, {right + 1})",
                place + 1,
                *(_text(each, row.side) for each in rendered),
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
        (Grid(f"table_{printed.number}", "Every row of the display", columns, tuple(rows)),),
    )


def _text(rendered: RenderedAttribute, side: int) -> str:
    """One row of an attribute as the paper prints it."""
    texts = []
    for cell in rendered.rows[side]:
        if cell.kind is CellKind.MISSING:
            texts.append(_MISSING)
        else:
            texts.append(cell.text or _SIGNS[cell.kind][side])
    return "".join(texts)


def _scores_section() -> Section:
    columns = (
        *(Column("state", "State"), Column("k", "k"), Column("floor", "Below k")),
        *(Column("refused", "Refused"), Column("score", "KAPR"), Column("decimal", "=", 7)),
        *(Column("paper", "paper", 7), Column("consistent", "consistent", 7)),
    )
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
        (Grid("scores", "KAPR by the paper's policy, and consistent", columns, rows),),
    )


def _score_row(mode: Mode, k: int, floor: Floor, paper: Fraction | None) -> tuple[Cell, ...]:
    worker, refused = opened(mode, Settings(policy=Policy.PAPER, k=k, k_floor=floor))
    consistent, _ = opened(mode, Settings(policy=Policy.CONSISTENT, k=k, k_floor=floor))
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
