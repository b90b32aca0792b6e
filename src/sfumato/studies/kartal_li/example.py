"""The worked example of Kartal and Li 2020: Tables 1-4 and 6, Sections 4 and 5, Figure 2."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.examples import worked_example
from sfumato.release.anonymize import anonymize
from sfumato.release.constraints import GBalance, HAffiliation
from sfumato.release.released import Form, release_column
from sfumato.risk.class_measures import g_balance, gidr, gsar
from sfumato.schema import Schema
from sfumato.studies.kartal_li.cuts import Node, Rows, summary_of, walk
from sfumato.studies.kartal_li.published import worked_example as published
from sfumato.studies.study import Cell, Column, Grid, Section
from sfumato.table.door import open_table
from sfumato.table.table import Table

PERSON, QIS, SENSITIVE = "name", ("age", "gender", "zip"), "disease"
THRESHOLDS = (GBalance(0.5), HAffiliation(0.5))
"""g* and h* of Section 5."""
_LEXINGTON = 2000
"""Admission numbers above it are those of Table 2."""
_DATA = tuple(
    Column(key, label)
    for key, label in (
        ("admission_no", "Admission no."),
        ("name", "Name"),
        ("age", "Age"),
        ("gender", "Gender"),
        ("zip", "ZIP"),
        ("disease", "Disease"),
    )
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
            self.source, self.schema, *THRESHOLDS, cut="median", keep_order=True, seed=0
        ).table
        self.names: list[str] = self.source.column(PERSON).to_pylist()

    def persons(self, rows: Rows) -> str:
        """The persons of some rows, in alphabetical order."""
        return ", ".join(sorted({self.names[row] for row in rows}))

    def groups(self) -> list[Rows]:
        """The rows of each class of the release, told apart by its cells alone."""
        cells = zip(*(self.released.column(name).to_pylist() for name in QIS), strict=True)
        found: dict[tuple[str, ...], list[int]] = {}
        for row, each in enumerate(cells):
            found.setdefault(each, []).append(row)
        return [np.array(rows) for rows in found.values()]


def example_sections(example: Example) -> tuple[Section, ...]:
    """The sections of the worked example."""
    return (
        _data(example),
        _table_3b(example),
        _first_cut(example),
        _figure_2(example),
        _table_6(example),
    )


def _data(example: Example) -> Section:
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
    columns = [
        release_column(column, class_of, len(groups), Form.RANGE)[0]
        for column in example.table.quasi_identifiers
    ]
    cells = [[each.texts[each.text_of_class[i]] for each in columns] for i in range(len(groups))]
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
            Grid(
                "table_3b",
                "Table 3b. Measures of the four groups (k = 3)",
                (
                    Column("group", "QI-group"),
                    *_generalised_columns(),
                    Column("records", "Records (k)"),
                    Column("persons", "Persons (K)"),
                    Column("distinct", "Diseases (l)"),
                    Column("g", "g", 3),
                    Column("gidr", "GIDR", 3),
                    Column("gidr_published", "paper", 3),
                    Column("h", "h", 3),
                    Column("h_published", "paper", 3),
                ),
                rows_3b,
            ),
            Grid(
                "table_4",
                "Table 4. Group 3 of Table 3b",
                (Column("pid", "PID"), *_generalised_columns(), Column("disease", "Disease")),
                rows_4,
            ),
        ),
    )


def _generalised_columns() -> tuple[Column, ...]:
    return tuple(column for column in _DATA if column.key in QIS)


def _first_cut(example: Example) -> Section:
    rows = tuple(
        (
            each.attribute,
            each.g_change,
            printed.g_change,
            each.variance,
            printed.variance,
            each.ratio,
            printed.ratio,
        )
        for each in example.nodes[0].cuts
        for printed in [published.FIRST_CUT[each.attribute]]
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
                (
                    Column("attribute", "Attribute"),
                    Column("g_change", "Δg", 5),
                    Column("g_change_published", "paper", 4),
                    Column("variance", "v", 4),
                    Column("variance_published", "paper", 4),
                    Column("ratio", "r", 4),
                    Column("ratio_published", "paper", 3),
                ),
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
        nodes.append(
            (
                node.name,
                example.persons(node.rows),
                int(summary.records[i]),
                balance[i],
                g,
                sharing[i],
                h,
                node.cut_by or "final",
            )
        )
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
    node_columns = (
        Column("node", "Node"),
        Column("persons", "Persons"),
        Column("records", "Records"),
        Column("g", "g", 4),
        Column("g_published", "paper", 3),
        Column("h", "h", 3),
        Column("h_published", "paper", 3),
        Column("cut_by", "Cut by"),
    )
    try_columns = (
        Column("node", "Node"),
        Column("attribute", "Attribute"),
        Column("ratio", "r", 4),
        Column("left", "Left"),
        Column("right", "Right"),
        Column("g", "Smaller g", 3),
        Column("h", "Larger h", 3),
        Column("outcome", "Outcome"),
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
            Grid("figure_2", "Figure 2. The nodes", node_columns, tuple(nodes)),
            Grid("cuts", "All candidate cuts, by ascending r", try_columns, tuple(tried)),
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
            example.persons(rows),
            int(summary.records[i]),
            float(g_balance(summary)[i]),
            printed[example.persons(rows)][0],
            float(gsar(summary, SENSITIVE)[i]),
            printed[example.persons(rows)][1],
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
                (Column("pid", "PID"), *_generalised_columns(), Column("disease", "Disease")),
                released,
            ),
            Grid(
                "table_6b_groups",
                "The groups of Table 6b",
                (
                    Column("group", "QI-group"),
                    *_generalised_columns(),
                    Column("persons", "Persons"),
                    Column("records", "Records"),
                    Column("g", "g", 3),
                    Column("g_published", "paper", 3),
                    Column("h", "h", 3),
                    Column("h_published", "paper", 3),
                ),
                measured,
            ),
        ),
    )
