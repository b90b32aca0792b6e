"""The baseline of Section 2 on the worked example."""

from __future__ import annotations

import numpy as np

from sfumato.release.persons import person_table
from sfumato.risk.class_measures import gidr, gsar
from sfumato.studies.kartal_li.cuts import summary_of
from sfumato.studies.kartal_li.example import SENSITIVE, Example
from sfumato.studies.kartal_li.tables.decomposition import decompose
from sfumato.studies.study import Cell, Column, Grid, Section

K, L = 2, 3
"""Section 2 looks at classes of two patients and at l = 3."""


def example_decomposition(example: Example) -> Section:
    """What k-anonymity and l-diversity on two tables leave in the worked example.

    Parameters
    ----------
    example
        The worked example.
    """
    apart = decompose(example.table, person_table(example.table), K, L)
    assert apart is not None
    class_of = apart[0].class_of_person[example.table.person]
    classes = [np.flatnonzero(class_of == each) for each in range(apart[0].classes)]
    summary = summary_of(example.table, *classes)
    numbers = zip(
        summary.records.tolist(),
        summary.distinct[SENSITIVE].tolist(),
        gidr(summary).tolist(),
        gsar(summary, SENSITIVE).tolist(),
        strict=True,
    )
    rows: list[tuple[Cell, ...]] = [
        (example.persons(rows), *each) for rows, each in zip(classes, numbers, strict=True)
    ]
    worst = float(gidr(summary).max()), float(gsar(summary, SENSITIVE).max())
    columns = (
        Column("persons", "Persons"),
        Column("records", "Records"),
        Column("distinct", "Diseases"),
        Column("gidr", "GIDR %", 1, percent=True),
        Column("h", "h", 3),
    )
    return Section(
        "Decomposition into two tables (Section 2)",
        (
            (
                "Table 3a decomposed into a table of persons with their quasi-identifiers and one "
                f"of persons with their diseases; at least k = {K} individuals per class of the "
                f"first, at least l = {L} diseases per class of the second, joined again. Nobody "
                f"is alone, but the chance of picking one person reaches {worst[0]:.1%} "
                f"where k promises {1 / K:.1%}, that of naming a disease {worst[1]:.1%} where l "
                f"promises {1 / L:.1%}."
            ),
        ),
        (Grid("decomposition", "The classes after the join", columns, tuple(rows)),),
    )
