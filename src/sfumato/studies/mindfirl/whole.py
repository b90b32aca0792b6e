"""The study of Li et al. 2019: Tables 2-5, and the cost leak where FEBRL is at hand."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress, silent
from sfumato.studies.study import Section, Study

NAME = "mindfirl-2019"
TITLE = "Li, D'Souza, Schmit and Kum (2019): KAPR, and what its cost tells"
NEEDS = ("pyroaring", "regex")
"""What the review needs beyond the core; the extra ``review`` brings them."""


def mindfirl_2019(data: Path | None = None, *, progress: Progress = silent) -> Study:
    """Compute Tables 2-5 of Li et al. 2019 (paper 001) again, and measure the cost leak.

    The tables need no data; the leak is measured on FEBRL data set 3.

    Parameters
    ----------
    data
        A folder that holds ``dataset3.csv``, itself or in ``febrl``; without it only the tables
        are computed.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the extra ``review`` is not installed, the folder does not hold the file, or the file
        is damaged or lacks a column.
    """
    if any(find_spec(module) is None for module in NEEDS):
        raise InputError(
            "study mindfirl-2019",
            "needs the extra 'review', which is not installed",
            advice='run: pip install "sfumato[review]"',
        )
    from sfumato.review.anonymity.index import Index
    from sfumato.studies.mindfirl.example import example_sections
    from sfumato.studies.mindfirl.febrl import PLACE, SOURCE, find_febrl, read_febrl
    from sfumato.studies.mindfirl.leak import leak_section

    progress("tables", 0.0)
    sections = example_sections()
    if data is None:
        text = (
            "Not computed: no data folder was given. With `--data DIR` this study also measures "
            f"what costs tell on {SOURCE} ({PLACE})."
        )
        absent = Section("What a cost says before anything is opened", (text,))
        return Study(NAME, TITLE, (*sections, absent), {})
    path = find_febrl(Path(data))
    if path is None:
        raise InputError(
            "the data folder", "must hold the file of the study", found="none", advice=PLACE
        )
    progress("costs", 0.5)
    section = leak_section(Index.build(read_febrl(path)))
    return Study(NAME, TITLE, (*sections, section), {})
