"""The study of Kartal and Li 2020: the worked example, and Table 7 where its data is at hand."""

from __future__ import annotations

from pathlib import Path

from sfumato.core.progress import Progress, silent
from sfumato.studies.kartal_li.example import Example, example_sections
from sfumato.studies.kartal_li.informs import CONDITIONS, DEMOGRAPHICS, FOLDER, patient_records
from sfumato.studies.kartal_li.table_7 import Row, table_7_rows, table_7_section
from sfumato.studies.study import Drawing, Section, Study

NAME = "kartal-li-2020"
TITLE = "Kartal and Li (2020): protecting data with multiple records per person"
_WITHOUT_DATA = Section(
    "Table 7",
    (
        (
            "Not computed: no data folder was given. With `--data DIR` this study also computes "
            "Table 7, the risks of k-anonymity, PID-based K-anonymity and g-balance in the patient "
            f"data, from DIR/{FOLDER}/{CONDITIONS} and DIR/{FOLDER}/{DEMOGRAPHICS} (INFORMS Data "
            "Mining Contest 2008)."
        ),
    ),
)


def kartal_li_2020(data: Path | None = None, *, progress: Progress = silent) -> Study:
    """Compute the tables of Kartal and Li 2020 (paper 003) again, beside the printed numbers.

    The worked example (Tables 1-4 and 6, the first cut of Sections 4 and 5, Figure 2) needs no
    data. Table 7 needs the INFORMS patient data.

    Parameters
    ----------
    data
        The folder that holds ``informs/conditions_2005.parquet`` and
        ``informs/demographics_2005.parquet``; without it Table 7 is left out.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If a file is missing, damaged, or does not hold what it should.
    """
    example = Example()
    sections = example_sections(example)
    drawings = {
        "worked_example": Drawing(
            "The groups of Table 6b: patients by mean age and ZIP, and each group's ranges",
            lambda: _draw_example(example),
        )
    }
    if data is None:
        return Study(NAME, TITLE, (*sections, _WITHOUT_DATA), drawings)
    progress("read", 0.0)
    records = patient_records(Path(data))
    rows = table_7_rows(records, progress=progress)
    drawings["table_7"] = Drawing(
        "MaxGIDR and AvgGIDR by number of persons k, K, 1/(1 - g): computed and printed",
        lambda: _draw_table_7(rows),
    )
    return Study(NAME, TITLE, (*sections, table_7_section(records, rows)), drawings)


def _draw_example(example: Example) -> str:
    from sfumato.studies.kartal_li.plots import example_plot

    return example_plot(example)


def _draw_table_7(rows: tuple[Row, ...]) -> str:
    from sfumato.studies.kartal_li.plots import table_7_plot

    return table_7_plot(rows)
