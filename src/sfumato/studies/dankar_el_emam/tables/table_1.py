"""Table 1: the data sets and their marketer risk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sfumato.studies.dankar_el_emam.data.data_set import DataSet
from sfumato.studies.dankar_el_emam.data.population import Population
from sfumato.studies.dankar_el_emam.data.sets import ADULT_4
from sfumato.studies.dankar_el_emam.published import ADULT, TABLE_1
from sfumato.studies.study import Cell, Column, Grid, Section

_COLUMNS = (
    Column("data", "Data set"),
    Column("quasi_identifiers", "Quasi-identifiers (values)"),
    Column("persons", "n"),
    Column("classes", "Classes"),
    Column("marketer", "λ", 4),
)


def table_1_section(populations: Mapping[DataSet, Population]) -> Section:
    """Table 1 as printed, with what the data at hand gives, and the study's own populations.

    Parameters
    ----------
    populations
        The populations at hand.
    """
    adult = populations.get(ADULT_4)
    at_hand = (
        "Of the paper's five data sets only Adult is public: its row is computed again."
        if adult
        else "Of the paper's five data sets only Adult is public, and it is not at hand here."
    )
    return Section(
        "Table 1: the data sets",
        (
            (
                f"{at_hand} The three health data sets are not public, nor is the extract of "
                "FARS that the paper used. λ is the number of equivalence classes over n "
                "(Theorem 1, all disclosed)."
            ),
            f"Populations of Figure 2 here: {'; '.join(each.remark for each in populations)}.",
        ),
        (
            Grid(
                "table_1",
                "Table 1: marketer risk λ of the paper's data sets",
                (
                    *_COLUMNS[:2],
                    Column("persons_published", "n, printed"),
                    Column("persons", "n"),
                    Column("classes", "Classes"),
                    Column("marketer_published", "λ, printed"),
                    Column("marketer", "λ", 4),
                ),
                tuple(_printed_rows(adult)),
            ),
            Grid(
                "populations",
                "The populations of Figure 2 here",
                _COLUMNS,
                tuple(
                    (data.key, _named(zip(data.columns, found.values, strict=True)), *_sizes(found))
                    for data, found in populations.items()
                ),
            ),
        ),
    )


def _printed_rows(adult: Population | None) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for printed in TABLE_1:
        persons, classes, marketer = _sizes(adult if printed is ADULT else None)
        rows.append(
            (
                printed.name,
                _named(printed.quasi_identifiers),
                printed.persons,
                persons,
                classes,
                printed.marketer,
                marketer,
            )
        )
    return rows


def _sizes(population: Population | None) -> tuple[int | None, int | None, float | None]:
    if population is None:
        return None, None, None
    return population.persons, population.classes, population.marketer


def _named(values: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} ({number})" for name, number in values)
