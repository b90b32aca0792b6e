"""Li, D'Souza, Schmit and Kum 2019, arXiv:1906.03345 (paper 001): Tables 2-5, and the cost leak."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import install_command
from studies.study_document import Section, Study
from studies.study_files import locate

NAME = "mindfirl-2019"
TITLE = "Li, D'Souza, Schmit and Kum (2019): KAPR, and what its cost tells"
FILE, FOLDERS = "dataset3.csv", (".", "febrl")
SOURCE = "FEBRL data set 3 (Freely Extensible Biomedical Record Linkage, generated persons)"
PLACE = f"{FILE} in DIR or DIR/{FOLDERS[1]}"
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
            advice=f"run: {install_command('review')}",
        )
    from sfumato.review.anonymity_index import Index
    from studies.mindfirl.kapr_example import example_sections, leak_section, read_febrl

    progress("tables", 0.0)
    sections = example_sections()
    if data is None:
        text = (
            "Not computed: no data folder was given. With `--data DIR` this study also measures "
            f"what costs tell on {SOURCE} ({PLACE})."
        )
        left_out = Section("What a cost says before anything is opened", (text,))
        return Study(NAME, TITLE, (*sections, left_out), {})
    folder, absent = locate(Path(data), FOLDERS, (FILE,))
    if absent:
        raise InputError(
            "the data folder", "must hold the file of the study", found="none", advice=PLACE
        )
    progress("costs", 0.5)
    section = leak_section(Index.build(read_febrl(folder / FILE)), SOURCE)
    return Study(NAME, TITLE, (*sections, section), {})
