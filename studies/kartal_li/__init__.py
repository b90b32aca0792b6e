"""Kartal and Li 2020, JAIS 21(6), 1461-1485 (paper 003): worked example and Tables 7-18 again."""

from __future__ import annotations

from pathlib import Path

from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from studies.kartal_li import record_disclosure, value_disclosure
from studies.kartal_li.data_sets import DATA_SETS, DataSet
from studies.kartal_li.kartal_li_example import (
    Example,
    example_decomposition,
    example_sections,
    group_rows,
)
from studies.kartal_li.tree_measurement import (
    Encoded,
    decomposition_rows,
    decomposition_section,
    encode,
)
from studies.study_document import Drawing, Section, Study
from studies.study_files import locate

NAME = "kartal-li-2020"
TITLE = "Kartal and Li (2020): protecting data with multiple records per person"


def kartal_li_2020(data: Path | None = None, *, progress: Progress = silent) -> Study:
    """Compute the tables of Kartal and Li 2020 (paper 003) again, beside the printed numbers.

    The worked example (Tables 1-4 and 6, the first cut of Sections 4 and 5, Figure 2) needs no
    data. Tables 7, 10, 13 and 16 need the INFORMS patient data, Tables 8, 11, 14 and 17
    MovieLens 100K, Tables 9, 12, 15 and 18 the PKDD'99 bank data.

    Parameters
    ----------
    data
        A folder that holds the files of at least one of the three, itself or in a folder of
        their own; without it only the worked example is computed.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the folder holds none of the three, or a file is damaged or does not hold what it
        should.
    """
    example = Example()
    sections = [*example_sections(example), example_decomposition(example)]
    drawings = {
        "worked_example": Drawing(
            "The groups of Table 6b: patients by mean age and ZIP, and each group's ranges",
            lambda: _draw_example(example),
        )
    }
    if data is None:
        return Study(NAME, TITLE, (*sections, _without_data()), drawings)
    found = {each.key: locate(Path(data), each.folders, each.files) for each in DATA_SETS}
    if all(each.absent for each in found.values()):
        raise InputError(
            "the data folder",
            "must hold the files of one of the paper's data sets",
            found="none complete",
            advice="; ".join(f"{each.key} data: {_files(each)}" for each in DATA_SETS),
        )
    for data_set in DATA_SETS:
        folder, absent = found[data_set.key]
        if absent:
            sections.append(_absent(data_set, absent))
            continue
        progress("read", 0.0)
        computed, plots = _tables_of(encode(data_set.read(folder), data_set), progress)
        sections += computed
        drawings |= plots
    return Study(NAME, TITLE, tuple(sections), drawings)


def _tables(data_set: DataSet) -> str:
    *first, last = map(str, data_set.numbers)
    return f"Tables {', '.join(first)} and {last}"


def _files(data_set: DataSet) -> str:
    inside = next(name for name in data_set.folders if name != ".")
    return f"{', '.join(data_set.files)} in DIR or DIR/{inside}"


def _without_data() -> Section:
    needs = "; ".join(f"{_tables(each)} from {each.source} ({_files(each)})" for each in DATA_SETS)
    return Section(
        "Tables 7-18",
        (
            (
                "Not computed: no data folder was given. With `--data DIR` this study also "
                f"computes what DIR has the files for: {needs}."
            ),
        ),
    )


def _absent(data_set: DataSet, absent: tuple[str, ...]) -> Section:
    return Section(
        f"The {data_set.key} data ({_tables(data_set)})",
        (
            (
                f"Not computed: of {data_set.source} the data folder lacks "
                f"{', '.join(absent)} ({_files(data_set)})."
            ),
        ),
    )


def _draw_example(example: Example) -> str:
    from studies.study_figures import group_figure

    return group_figure(*group_rows(example))


def _tables_of(
    encoded: Encoded, progress: Progress
) -> tuple[tuple[Section, ...], dict[str, Drawing]]:
    """The sections about one data set, and their plots by name."""
    numbers = encoded.data.numbers
    risks = record_disclosure.record_risk_rows(encoded, progress=progress)
    losses = record_disclosure.record_frontier(encoded, progress=progress)
    shared = [
        (reading, value_disclosure.value_risk_rows(encoded, reading, progress))
        for reading in encoded.readings
    ]
    shared_losses = [
        (reading, value_disclosure.value_frontier(encoded, reading, progress=progress))
        for reading in encoded.readings
    ]
    last = encoded.readings[-1]
    sections = (
        record_disclosure.record_risk_section(encoded, risks),
        record_disclosure.record_loss_section(encoded, losses),
        value_disclosure.value_risk_section(encoded, shared),
        value_disclosure.value_loss_section(encoded, shared_losses),
        decomposition_section(encoded, last, decomposition_rows(encoded, last, progress)),
    )
    drawings = {
        f"table_{numbers.record_risks}": record_disclosure.record_risk_drawing(risks),
        f"table_{numbers.record_losses}": record_disclosure.record_loss_drawing(losses),
    }
    for reading, points in shared_losses:
        drawings[value_disclosure.table_name(encoded, reading)] = (
            value_disclosure.value_loss_drawing(points)
        )
    return sections, drawings
