"""Dankar and El Emam 2010 (paper 004): Table 1 and Figure 2, as far as the data is at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import InputError
from sfumato.risk.population.estimator_protocol import AUTO
from studies.dankar_el_emam import estimator_tables
from studies.study_document import Drawing, Section, Study

NAME = "dankar-elemam-2010"
TITLE = "Dankar and El Emam (2010): marketer risk estimated from a sample"
DEFAULT_REPETITIONS, DEFAULT_SEED = 20, 2010
DASHES: Mapping[tuple[int, int], Sequence[str]] = {
    (5, 3): (estimator_tables.LABELS["log-linear-independence"],),
    (2, 2): tuple(estimator_tables.LABELS[name] for name in ("shlosser", "sh3", "pitman")),
    (1, 0): tuple(estimator_tables.LABELS[name] for name in (*estimator_tables.OF_THE_PAPER, AUTO)),
}
"""Estimators by the dashes of their lines in Figure 2; whole for the paper's and the default."""


def dankar_elemam_2010(
    data: Path | None = None,
    *,
    repetitions: int = DEFAULT_REPETITIONS,
    seed: int = DEFAULT_SEED,
    progress: Progress = silent,
) -> Study:
    """Compute Table 1 and Figure 2 of Dankar and El Emam 2010 (paper 004) again.

    Samples of known populations are drawn at the paper's fractions, and the marketer risk that
    each estimator finds is compared to what it really is. The generated clinics need no data.

    Parameters
    ----------
    data
        A folder that holds ``adult.csv`` or ``demographics_2005.parquet``, itself or in
        ``adult`` and ``informs``; without it only the generated clinics are sampled.
    repetitions
        Samples at each fraction. The log-linear search, which is slow, runs on some of them.
    seed
        Seed of the draws.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the folder holds neither file, a file is damaged or lacks a column, or a number is
        out of range.
    """
    _check(repetitions, "parameter repetitions", 1)
    _check(seed, "parameter seed", 0)
    populations, absent = _read(data, progress)
    simulated = {
        each: [
            estimator_tables.simulate(
                population,
                fraction,
                estimator_tables.ESTIMATORS,
                repetitions,
                seed=(seed, estimator_tables.DATA_SETS.index(each), place),
                search_every=each.search_every,
                done=lambda share, each=each, place=place: progress(  # type: ignore[misc]
                    each.key, (place + share) / len(estimator_tables.FRACTIONS)
                ),
            )
            for place, fraction in enumerate(estimator_tables.FRACTIONS)
        ]
        for each, population in populations.items()
    }
    sections = (
        estimator_tables.table_1_section(populations),
        estimator_tables.figure_2_section(simulated, repetitions, seed),
        estimator_tables.ranks_section(simulated),
        *_absent(absent, given=data is not None),
    )
    return Study(NAME, TITLE, sections, {estimator_tables.PLOT: _drawing(simulated)})


def _check(number: object, subject: str, least: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise InputError(subject, f"must be a whole number of at least {least}")


def _read(
    data: Path | None, progress: Progress
) -> tuple[
    dict[estimator_tables.DataSet, estimator_tables.Population],
    tuple[estimator_tables.DataSet, ...],
]:
    """The populations at hand, and the data sets whose file is absent."""
    files = {
        each: each.find(None if data is None else Path(data)) for each in estimator_tables.DATA_SETS
    }
    if data is not None and not any(files.values()):
        places = dict.fromkeys(each.place for each in estimator_tables.DATA_SETS if each.file)
        raise InputError(
            "the data folder",
            "must hold a file of the study",
            found="none",
            advice=" or ".join(places),
        )
    populations: dict[estimator_tables.DataSet, estimator_tables.Population] = {}
    for each in estimator_tables.DATA_SETS:
        progress("read", len(populations) / len(estimator_tables.DATA_SETS))
        source: object = files[each] if each.file else estimator_tables.clinic_patients()
        if source is not None:
            populations[each] = estimator_tables.population_of(source, each.columns)
    return populations, tuple(
        each for each in estimator_tables.DATA_SETS if each not in populations
    )


def _absent(absent: tuple[estimator_tables.DataSet, ...], *, given: bool) -> tuple[Section, ...]:
    if not absent:
        return ()
    needs = "; ".join(f"{each.key} ({each.source}: {each.place})" for each in absent)
    why = "the data folder lacks their files" if given else "no data folder was given"
    text = f"Not computed, because {why}: {needs}."
    if not given:
        text += " With `--data DIR` this study also samples what DIR has the file for."
    return (Section("Populations that are not at hand", (text,)),)


def _drawing(simulated: estimator_tables.Simulated) -> Drawing:
    def draw() -> str:
        from studies.study_figures import error_figure

        return error_figure(
            estimator_tables.mean_error_rows(simulated),
            tuple(estimator_tables.LABELS.values()),
            DASHES,
        )

    return Drawing(
        "Mean relative error of each estimator of marketer risk by sampling fraction, "
        "a panel per population",
        draw,
    )
