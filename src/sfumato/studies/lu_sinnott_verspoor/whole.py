"""The study of Lu, Sinnott and Verspoor 2017: Figures 1 and 2, and Table 2 simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress, silent
from sfumato.studies.lu_sinnott_verspoor.example import example_section
from sfumato.studies.lu_sinnott_verspoor.persons import simulate
from sfumato.studies.lu_sinnott_verspoor.schemes import outcomes
from sfumato.studies.lu_sinnott_verspoor.table_2 import table_2_section
from sfumato.studies.study import Study

NAME = "lu-sinnott-verspoor-2017"
TITLE = "Lu, Sinnott and Verspoor (2017): semantic-based linkage k-anonymity"
DEFAULT_REPETITIONS, DEFAULT_SEED = 30, 2017


def lu_sinnott_verspoor_2017(
    data: Path | None = None,
    *,
    repetitions: int = DEFAULT_REPETITIONS,
    seed: int = DEFAULT_SEED,
    progress: Progress = silent,
) -> Study:
    """Compute Figures 1 and 2 of Lu, Sinnott and Verspoor 2017 (paper 002), and simulate Table 2.

    Parameters
    ----------
    data
        Not read: the paper's data is not public, and everything is simulated.
    repetitions
        Draws of the simulation.
    seed
        Seed of the draws.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If a number is out of range, or a data folder is given.
    """
    if data is not None:
        raise InputError(
            "the data folder", "must not be given", found="a folder", advice=f"{NAME} reads no data"
        )
    for name, number, least in (("repetitions", repetitions, 1), ("seed", seed, 0)):
        if number < least:
            raise InputError(
                f"parameter {name}", "must be a whole number", accepted=f"{least} or more"
            )
    found, associations = [], []
    for number in range(repetitions):
        progress("draws", number / repetitions)
        results, known = outcomes(simulate(np.random.default_rng([seed, number])))
        found.append(results)
        associations.append(len(known))
    sections = (example_section(), table_2_section(found, associations))
    return Study(NAME, TITLE, sections, {})
