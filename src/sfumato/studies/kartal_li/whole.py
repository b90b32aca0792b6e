"""The study of Kartal and Li 2020: the worked example, and the tables whose data is at hand."""

from __future__ import annotations

from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress, silent
from sfumato.studies.kartal_li.data.data_set import DataSet
from sfumato.studies.kartal_li.data.find import find
from sfumato.studies.kartal_li.data.sets import DATA_SETS
from sfumato.studies.kartal_li.example import Example, example_sections
from sfumato.studies.kartal_li.example_decomposition import example_decomposition
from sfumato.studies.kartal_li.together import tables_of
from sfumato.studies.study import Drawing, Section, Study

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
    found = {each.key: find(Path(data), each) for each in DATA_SETS}
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
        computed = tables_of(data_set.read(folder), data_set, progress=progress)
        sections += computed.sections
        drawings |= computed.drawings
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
    from sfumato.studies.kartal_li.plots.example import example_plot

    return example_plot(example)
