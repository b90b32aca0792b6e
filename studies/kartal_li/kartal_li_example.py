"""The worked example of Kartal and Li 2020: Tables 1-4 and 6, Sections 2, 4 and 5, Figure 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Codes, Ints
from sfumato.examples import worked_example
from sfumato.release.anonymize import anonymize
from sfumato.release.cuts import Candidates, Nodes, find_candidates, g_changes, ranked
from sfumato.release.generalisation import release_column
from sfumato.release.person_table import PersonTable, person_table
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.promise import Constraint
from sfumato.release.release_options import Form, Split
from sfumato.risk.class_measures import g_balance, gidr, gsar
from sfumato.risk.classes import ClassSummary, summarize
from sfumato.schema import Schema
from sfumato.table.door import open_table
from sfumato.table.table import Table
from studies.kartal_li import published_numbers as published
from studies.kartal_li.tree_measurement import decompose
from studies.study_document import Cell, Grid, Section, columns

Rows = Ints
TOP_SIDES = {"D": ("t1", "t2")}
"""The paper's names of the sides of the whole dataset; below, a digit is added."""


@dataclass(frozen=True, eq=False)
class CandidateCut:
    """One candidate cut of a node.

    Attributes
    ----------
    node
        Name of the node.
    attribute
        The quasi-identifier.
    g_change, variance, ratio
        Δg, v and r of the cut (Equations 4 and 7).
    left, right
        Rows of the two sides in the file.
    outcome
        ``"cut"``, ``"undone"``, or ``"not tried"`` where an earlier one was kept.
    """

    node: str
    attribute: str
    g_change: float
    variance: float
    ratio: float
    left: Rows
    right: Rows
    outcome: str


@dataclass(frozen=True, eq=False)
class Node:
    """A subset of the persons.

    Attributes
    ----------
    name
        The paper's name: D, t1, t2, t21, ...
    rows
        Its rows in the file.
    cuts
        Its candidate cuts, those of smallest ratio first.
    """

    name: str
    rows: Rows
    cuts: tuple[CandidateCut, ...]

    @property
    def cut_by(self) -> str | None:
        """The attribute that it is cut by, ``None`` for a final one."""
        return next((cut.attribute for cut in self.cuts if cut.outcome == "cut"), None)


def walk(
    table: Table, constraints: Sequence[Constraint], rows: Rows | None = None, name: str = "D"
) -> Iterator[Node]:
    """The nodes of the tree, each before its sides, left before right.

    Meant for small tables: it takes each node's records out of the file.

    Parameters
    ----------
    table
        The encoded file.
    constraints
        What both sides of a cut must keep.
    rows
        Rows of the node to start with; all without it.
    """
    rows = np.arange(table.records) if rows is None else rows
    node = Node(name, rows, tuple(_candidate_cuts(table, rows, constraints, name)))
    yield node
    for cut in node.cuts:
        if cut.outcome == "cut":
            sides = TOP_SIDES.get(name, (f"{name}1", f"{name}2"))
            yield from walk(table, constraints, cut.left, sides[0])
            yield from walk(table, constraints, cut.right, sides[1])


def summary_of(table: Table, *sets: Rows) -> ClassSummary:
    """The numbers of sets of rows, each as one class."""
    class_of = np.repeat(np.arange(len(sets), dtype=np.int32), [len(each) for each in sets])
    part = table.take(np.concatenate(sets))
    sensitive = {column.name: column.codes for column in part.sensitive}
    return summarize(class_of, len(sets), part.person, sensitive)


def _candidate_cuts(
    table: Table, rows: Rows, constraints: Sequence[Constraint], name: str
) -> Iterator[CandidateCut]:
    part = table.take(rows)
    persons = person_table(part)
    whole = persons.whole()
    nodes = Nodes(np.zeros(1, np.int64), whole.persons, whole.records, whole.squares)
    orders = persons.orders()
    cuts, ratios = ranked(
        find_candidates(persons, orders, nodes, Split.BALANCE), nodes, Split.BALANCE
    )
    changes = g_changes(
        whole.records[cuts.node], whole.squares[cuts.node], cuts.left_records, cuts.left_squares
    )
    kept = False
    for index, axis in enumerate(cuts.axis.tolist()):
        goes_right = _goes_right(persons, orders, cuts, index)[part.person]
        sides = rows[~goes_right], rows[goes_right]
        summary = summary_of(table, *sides)
        meets = all(constraint.met(summary).all() for constraint in constraints)
        axes = (*persons.ordered, *persons.indicators)
        yield CandidateCut(
            name,
            table.quasi_identifiers[axes[axis].column].name,
            float(changes[index]),
            float(cuts.variance[index]),
            float(ratios[index]),
            *sides,
            "not tried" if kept else "cut" if meets else "undone",
        )
        kept = kept or meets


def _goes_right(persons: PersonTable, orders: list[Codes], cuts: Candidates, index: int) -> Bools:
    axis = int(cuts.axis[index])
    if axis >= len(orders):
        member = persons.indicators[axis - len(orders)].member
        return np.asarray(member == cuts.column[index])
    right = np.zeros(persons.persons, dtype=bool)
    right[orders[axis][cuts.left[index] :]] = True
    return right


PERSON, QIS, SENSITIVE = "name", ("age", "gender", "zip"), "disease"
THRESHOLDS = (GBalance(0.5), HAffiliation(0.5))
"""g* and h* of Section 5."""
_LEXINGTON = 2000
"""Admission numbers above it are those of Table 2."""
_DATA = columns(
    "admission_no=Admission no.; name=Name; age=Age; gender=Gender; zip=ZIP; disease=Disease"
)
_RANGES = "age=Age; gender=Gender; zip=ZIP"
_RELEASED = columns(f"pid=PID; {_RANGES}; disease=Disease")
_TABLE_3B = columns(
    f"group=QI-group; {_RANGES}; records=Records (k); persons=Persons (K); "
    "distinct=Diseases (l); g=g .3; gidr=GIDR .3; gidr_published=paper .3; h=h .3; "
    "h_published=paper .3"
)
_FIRST_CUT = columns(
    "attribute=Attribute; g_change=Δg .5; g_change_published=paper .4; variance=v .4; "
    "variance_published=paper .4; ratio=r .4; ratio_published=paper .3"
)
_NODES = columns(
    "node=Node; persons=Persons; records=Records; g=g .4; g_published=paper .3; h=h .3; "
    "h_published=paper .3; cut_by=Cut by"
)
_CUTS = columns(
    "node=Node; attribute=Attribute; ratio=r .4; left=Left; right=Right; g=Smaller g .3; "
    "h=Larger h .3; outcome=Outcome"
)
_GROUPS = columns(
    f"group=QI-group; {_RANGES}; persons=Persons; records=Records; g=g .3; g_published=paper .3; "
    "h=h .3; h_published=paper .3"
)
_DECOMPOSITION = columns(
    "persons=Persons; records=Records; distinct=Diseases; gidr=GIDR % .1%; h=h .3"
)


class Example:
    """The worked example, encoded, with its tree and its release.

    Attributes
    ----------
    source
        Table 3a.
    schema
        What its columns are.
    table
        Table 3a encoded.
    nodes
        The nodes of the tree with g* = h* = 0.5 (Figure 2).
    released
        Table 6b with pseudonyms, in the order of Table 3a.
    names
        The person of each record.
    """

    def __init__(self) -> None:
        self.source: pa.Table
        self.schema: Schema
        self.source, self.schema = worked_example()
        self.table: Table = open_table(self.source, self.schema)
        self.nodes: tuple[Node, ...] = tuple(walk(self.table, THRESHOLDS))
        self.released: pa.Table = anonymize(
            self.source,
            self.schema,
            *THRESHOLDS,
            cut="median",
            ends="tight",
            keep_order=True,
            seed=0,
        ).table
        self.names: list[str] = self.source.column(PERSON).to_pylist()

    def persons(self, rows: Rows) -> str:
        """The persons of some rows, in alphabetical order."""
        return ", ".join(sorted({self.names[row] for row in rows}))

    def groups(self) -> list[Rows]:
        """The rows of each class of the release, told apart by its cells alone."""
        cells = zip(*(self.released.column(name).to_pylist() for name in QIS), strict=True)
        found: dict[tuple[str, ...], list[int]] = {}
        for row, cell in enumerate(cells):
            found.setdefault(cell, []).append(row)
        return [np.array(rows) for rows in found.values()]


def example_sections(example: Example) -> tuple[Section, ...]:
    """The sections of the worked example."""
    return (
        _source_tables(example),
        _table_3b(example),
        _first_cut(example),
        _figure_2(example),
        _table_6(example),
    )


def _source_tables(example: Example) -> Section:
    rows = tuple(tuple(each[column.key] for column in _DATA) for each in example.source.to_pylist())
    franklin = tuple(sorted(row for row in rows if row[0] < _LEXINGTON))
    lexington = tuple(sorted(row for row in rows if row[0] > _LEXINGTON))
    joined = tuple(sorted(franklin + lexington, key=lambda row: (row[1], row[0])))
    return Section(
        "The data (Tables 1-3a)",
        (
            (
                "19 made-up records of 8 patients of two clinics. Physicians and other data "
                "stay in the clinics; both tables together, ordered by patient, are Table 3a."
            ),
        ),
        (
            Grid("table_1", "Table 1. Franklin Center for Lung Diseases", _DATA, franklin),
            Grid("table_2", "Table 2. Lexington Gastroenterology Clinic", _DATA, lexington),
            Grid("table_3a", "Table 3a. Aggregated data", _DATA, joined),
        ),
    )


def _table_3b(example: Example) -> Section:
    groups = [np.flatnonzero(np.isin(example.names, group)) for group in published.TABLE_3B_GROUPS]
    class_of = np.empty(len(example.names), dtype=np.int32)
    for index, rows in enumerate(groups):
        class_of[rows] = index
    ranges = [
        release_column(column, class_of, len(groups), Form.RANGE)[0]
        for column in example.table.quasi_identifiers
    ]
    cells = [[each.texts[each.text_of_class[i]] for each in ranges] for i in range(len(groups))]
    summary = summary_of(example.table, *groups)
    measured = zip(
        summary.records.tolist(),
        summary.persons.tolist(),
        summary.distinct[SENSITIVE].tolist(),
        g_balance(summary).tolist(),
        gidr(summary).tolist(),
        published.TABLE_3B_GIDR,
        gsar(summary, SENSITIVE).tolist(),
        published.TABLE_3B_H,
        strict=True,
    )
    rows_3b = tuple((i + 1, *cells[i], *numbers) for i, numbers in enumerate(measured))
    third = example.source.take(pa.array(groups[2])).to_pylist()
    rows_4 = tuple((each[PERSON][0], *cells[2], each[SENSITIVE]) for each in third)
    return Section(
        "k-anonymity is not enough (Tables 3b and 4)",
        (
            (
                f"Table 3b is {summary.records.min()}-anonymous: every group has at least "
                f"{summary.records.min()} records. Yet Charlie is alone in group 2 (GIDR 1), "
                "five of seven records of group 4 are Harry's (5/7), and both patients of "
                "group 3 (Table 4) have gastritis (h = 1) though the group shows three "
                "diseases. Where the paper prints no number, its column is empty."
            ),
        ),
        (
            Grid("table_3b", "Table 3b. Measures of the four groups (k = 3)", _TABLE_3B, rows_3b),
            Grid("table_4", "Table 4. Group 3 of Table 3b", _RELEASED, rows_4),
        ),
    )


def _first_cut(example: Example) -> Section:
    rows = tuple(
        (
            cut.attribute,
            *(cut.g_change, printed.g_change),
            *(cut.variance, printed.variance),
            *(cut.ratio, printed.ratio),
        )
        for cut in example.nodes[0].cuts
        for printed in [published.FIRST_CUT[cut.attribute]]
    )
    return Section(
        "The first cut (Sections 4 and 5)",
        (
            (
                "Δg is the loss of g-balance by a cut (Equation 4, with the factor g1 that its "
                "print lacks), v the variance of the attribute on the unit scale over records, "
                "r = Δg/v (Equation 7). Gender has the smallest r and is cut first. For age the "
                "paper prints Δg = 0.1707 and r = 1.420 where the exact values are 0.17082 and "
                "1.421: it rounded on the way (no cut by age gives 0.1707)."
            ),
        ),
        (
            Grid(
                "first_cut",
                "Candidates for the first cut, in the order in which they are tried",
                _FIRST_CUT,
                rows,
            ),
        ),
    )


def _figure_2(example: Example) -> Section:
    summary = summary_of(example.table, *(node.rows for node in example.nodes))
    balance, sharing = g_balance(summary).tolist(), gsar(summary, SENSITIVE).tolist()
    nodes: list[tuple[Cell, ...]] = []
    tried: list[tuple[Cell, ...]] = []
    for i, node in enumerate(example.nodes):
        g, h = published.NODES[node.name]
        persons, records = example.persons(node.rows), int(summary.records[i])
        cut_by = node.cut_by or "final"
        nodes.append((node.name, persons, records, balance[i], g, sharing[i], h, cut_by))
        for cut in node.cuts:
            sides = summary_of(example.table, cut.left, cut.right)
            tried.append(
                (
                    node.name,
                    cut.attribute,
                    cut.ratio,
                    example.persons(cut.left),
                    example.persons(cut.right),
                    float(g_balance(sides).min()),
                    float(gsar(sides, SENSITIVE).max()),
                    cut.outcome,
                )
            )
    return Section(
        "The tree (Figure 2)",
        (
            (
                "With g* = h* = 0.5 the tree makes two cuts: by gender, then the men by age. "
                "Every other cut that is tried leaves a side with g < 0.5 or h > 0.5 and is "
                "undone. The paper's text gives the three groups' g and h in the order t1, t21, "
                "t22; Table 6b lists them as t1, t22, t21."
            ),
        ),
        (
            Grid("figure_2", "Figure 2. The nodes", _NODES, tuple(nodes)),
            Grid("cuts", "All candidate cuts, by ascending r", _CUTS, tuple(tried)),
        ),
        ("worked_example",),
    )


def _table_6(example: Example) -> Section:
    groups = example.groups()
    summary = summary_of(example.table, *groups)
    records = example.released.to_pylist()
    released = tuple(
        (example.names[row][0], *(records[row][name] for name in (*QIS, SENSITIVE)))
        for rows in groups
        for row in rows
    )
    printed = {example.persons(node.rows): published.NODES[node.name] for node in example.nodes}
    measured = tuple(
        (
            i + 1,
            *(records[rows[0]][name] for name in QIS),
            *(example.persons(rows), int(summary.records[i])),
            *(float(g_balance(summary)[i]), printed[example.persons(rows)][0]),
            *(float(gsar(summary, SENSITIVE)[i]), printed[example.persons(rows)][1]),
        )
        for i, rows in enumerate(groups)
    )
    return Section(
        "The release (Table 6)",
        (
            (
                "What `anonymize` gives for g* = 0.5 and h* = 0.5. As in the paper, the first "
                "letter of the name stands for the person here; a release has random pseudonyms "
                "and its records in random order."
            ),
        ),
        (
            Grid(
                "table_6b",
                "Table 6b. The anonymized dataset (g* = 0.50; h* = 0.50)",
                _RELEASED,
                released,
            ),
            Grid("table_6b_groups", "The groups of Table 6b", _GROUPS, measured),
        ),
    )


def example_decomposition(example: Example) -> Section:
    """What k-anonymity and l-diversity on two tables leave in the worked example.

    Parameters
    ----------
    example
        The worked example.
    """
    # Section 2 looks at classes of two patients and at l = 3.
    k, least = 2, 3
    found = decompose(example.table, person_table(example.table), k, least)
    assert found is not None
    partition = found.partition
    class_of = partition.class_of_person[example.table.person]
    classes = [np.flatnonzero(class_of == index) for index in range(partition.classes)]
    summary = summary_of(example.table, *classes)
    numbers = zip(
        summary.records.tolist(),
        summary.distinct[SENSITIVE].tolist(),
        gidr(summary).tolist(),
        gsar(summary, SENSITIVE).tolist(),
        strict=True,
    )
    rows: list[tuple[Cell, ...]] = [
        (example.persons(rows), *number) for rows, number in zip(classes, numbers, strict=True)
    ]
    worst = float(gidr(summary).max()), float(gsar(summary, SENSITIVE).max())
    return Section(
        "Decomposition into two tables (Section 2)",
        (
            (
                "Table 3a decomposed into a table of persons with their quasi-identifiers and one "
                f"of persons with their diseases; at least k = {k} individuals per class of the "
                f"first, at least l = {least} diseases per class of the second, joined again. "
                "Nobody is alone, but the chance of picking one person reaches "
                f"{worst[0]:.1%} where k promises {1 / k:.1%}, that of naming a disease "
                f"{worst[1]:.1%} where l promises {1 / least:.1%}."
            ),
        ),
        (Grid("decomposition", "The classes after the join", _DECOMPOSITION, tuple(rows)),),
    )


def group_rows(example: Example) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The boxes and the persons of the figure of Table 6b: `study_figures.group_figure`.

    Parameters
    ----------
    example
        The worked example.
    """
    records = example.source.to_pylist()
    boxes: list[dict[str, Any]] = []
    persons: list[dict[str, Any]] = []
    for number, rows in enumerate(example.groups(), start=1):
        mine = [records[row] for row in rows]
        ages, zips = [each["age"] for each in mine], [int(each["zip"]) for each in mine]
        about = {"group": f"group {number}", "gender": mine[0]["gender"]}
        boxes.append(
            about
            | {"low": min(ages) - 0.6, "high": max(ages) + 0.6}
            | {"bottom": min(zips) - 14, "top": max(zips) + 14}
        )
        for name in sorted({each["name"] for each in mine}):
            own = [each for each in mine if each["name"] == name]
            persons.append(
                about
                | {
                    "said": f"{name} ({len(own)})",
                    "age": float(np.mean([each["age"] for each in own])),
                    "zip": float(np.mean([int(each["zip"]) for each in own])),
                    "records": len(own),
                }
            )
    return boxes, persons
