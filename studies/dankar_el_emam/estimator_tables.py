"""Table 1 and Figure 2 of Dankar and El Emam 2010, and what Section 3 says of its estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import special

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.engines.embedded.counts import group
from sfumato.examples import generate_clinics
from sfumato.risk.population.estimator_protocol import AUTO, EstimationFailedError, SampleClasses
from sfumato.schema import Schema
from sfumato.table.door import open_table
from studies.dankar_el_emam.peer_estimators import estimator_named
from studies.study_document import Cell, Column, Grid, Section, columns
from studies.study_files import locate

LOG_LINEAR, ARGUS, NEGATIVE_BINOMIAL = "log-linear", "argus", "negative-binomial"
OF_THE_PAPER = (LOG_LINEAR, ARGUS, NEGATIVE_BINOMIAL)
"""Sections 2.4.1-2.4.3; the last is Bethlehem et al.'s."""
LABELS = MappingProxyType(
    {
        ARGUS: "Argus (paper)",
        NEGATIVE_BINOMIAL: "negative binomial (paper)",
        LOG_LINEAR: "log-linear search (paper)",
        "log-linear-independence": "log-linear, independence",
        "shlosser": "Shlosser",
        "sh3": "Sh3",
        "pitman": "Pitman",
        AUTO: "auto (accumulation)",
    }
)
ESTIMATORS = tuple(LABELS)
"""Names as `estimator_named` knows them."""


@dataclass(frozen=True)
class DataSet:
    """A population of the study.

    Attributes
    ----------
    key
        Its name in the tables.
    columns
        The quasi-identifiers.
    remark
        What it is, as part of a sentence.
    search_every
        The log-linear search runs on one in so many samples.
    source
        Where the file is from; nothing where it is generated.
    file
        Name of its file; nothing where it is generated.
    folders
        Where the file may lie, relative to the data folder.
    """

    key: str
    columns: tuple[str, ...]
    remark: str
    search_every: int
    source: str = ""
    file: str = ""
    folders: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where its file is looked for, in words."""
        return f"{self.file} in DIR or DIR/{self.folders[0]}"

    def find(self, data: Path | None) -> Path | None:
        """Its file below the data folder; ``None`` where it is absent or generated.

        Parameters
        ----------
        data
            The data folder, if there is one.
        """
        if data is None or not self.file:
            return None
        folder, absent = locate(data, self.folders, (self.file,))
        return None if absent else folder / self.file


_SOURCE, _FILE = "Adult (US census extract, complete rows)", "adult.csv"
_FOLDERS = ("adult", ".")
ADULT_4 = DataSet(
    "Adult, 4 QIs",
    ("age", "education", "race", "sex"),
    "Adult with the paper's four quasi-identifiers (QIs)",
    search_every=3,
    source=_SOURCE,
    file=_FILE,
    folders=_FOLDERS,
)
ADULT_8 = DataSet(
    "Adult, 8 QIs",
    (*ADULT_4.columns, "marital-status", "native-country", "workclass", "salary-class"),
    "Adult with all its columns but occupation",
    search_every=20,
    source=_SOURCE,
    file=_FILE,
    folders=_FOLDERS,
)
INFORMS = DataSet(
    "INFORMS",
    ("DOBMM", "DOBYY", "SEX", "RACEX"),
    "the persons of the INFORMS contest 2008, year 2005, by month and year of birth, sex and race",
    search_every=3,
    source="INFORMS Data Mining Contest 2008, year 2005",
    file="demographics_2005.parquet",
    folders=("informs", "."),
)
CLINICS = DataSet(
    "Clinics",
    ("age", "sex", "zip", "education"),
    "the made-up patients of `sfumato.examples` at their first visit",
    search_every=3,
)
DATA_SETS = (ADULT_4, ADULT_8, INFORMS, CLINICS)


@dataclass(frozen=True, eq=False)
class Population:
    """The equivalence classes of a population, one record per person.

    Attributes
    ----------
    sizes
        F_j, the number of persons of each class; shape (classes,).
    keys
        Code of every quasi-identifier in every class, 0 where it is missing; shape (classes,
        quasi-identifiers).
    domains
        Number of values that each quasi-identifier can have, missing included.
    values
        Number of values that each quasi-identifier has.
    """

    sizes: Ints
    keys: Codes
    domains: tuple[int, ...]
    values: tuple[int, ...]

    @property
    def persons(self) -> int:
        """N, the number of persons."""
        return int(self.sizes.sum())

    @property
    def classes(self) -> int:
        """The number of equivalence classes."""
        return len(self.sizes)

    @property
    def marketer(self) -> float:
        """λ of the whole population disclosed: classes / N (Theorem 1 with n = N)."""
        return self.classes / self.persons

    def draw(self, fraction: float, rng: np.random.Generator) -> tuple[SampleClasses, float]:
        """A simple random sample, and its λ = (1/n) Σ f_j / F_j as it really is.

        Parameters
        ----------
        fraction
            Share of the persons who are drawn, without replacement; at least one person is.
        rng
            Draws them.
        """
        persons = max(1, round(fraction * self.persons))
        drawn = rng.multivariate_hypergeometric(self.sizes, persons, method="marginals")
        seen = drawn > 0
        sizes = drawn[seen]
        sample = SampleClasses(sizes, self.persons, self.keys[seen], self.domains)
        return sample, float((sizes / self.sizes[seen]).sum()) / persons


def population_of(data: object, columns: tuple[str, ...]) -> Population:
    """Count the classes of a file or a table of one record per person.

    Parameters
    ----------
    data
        A path or a table.
    columns
        The quasi-identifiers.

    Raises
    ------
    InputError
        If the data cannot be read or lacks a column.
    """
    table = open_table(data, Schema(quasi_identifiers=columns), keep_source=False)
    codes = [column.codes for column in table.quasi_identifiers]
    values = [column.domain.size for column in table.quasi_identifiers]
    class_of, classes = group(codes, values)
    first = np.unique(class_of, return_index=True)[1]
    return Population(
        sizes=np.bincount(class_of, minlength=classes).astype(np.int64),
        keys=np.column_stack([each[first] + 1 for each in codes]).astype(np.int32),
        domains=tuple(size + 1 for size in values),
        values=tuple(values),
    )


CLINIC_PERSONS, CLINIC_SEED = 20_000, 2010


def clinic_patients() -> pa.Table:
    """The first visit of each of 20,000 generated persons; always the same ones."""
    visits = generate_clinics(CLINIC_PERSONS, rng=CLINIC_SEED).visits
    patient = visits["patient"].combine_chunks().dictionary_encode().indices.to_numpy()
    first = np.unique(patient, return_index=True)[1]
    return visits.take(pa.array(np.sort(first)))


@dataclass(frozen=True, eq=False)
class Errors:
    """Relative errors of estimators in samples of one population at one fraction.

    Attributes
    ----------
    fraction
        The sampling fraction.
    of
        Relative error (λ̂ - λ) / λ (Equation 3) by estimator, shape (samples,); an estimator
        with fewer samples has the first ones of the others. NaN where it has no value.
    """

    fraction: float
    of: Mapping[str, Floats]

    def shared(self, names: Sequence[str]) -> dict[str, Floats]:
        """The errors of some estimators in the samples that all of them had a value for.

        Parameters
        ----------
        names
            The estimators.
        """
        fewest = min(len(self.of[name]) for name in names)
        stacked = np.array([self.of[name][:fewest] for name in names])
        kept = np.isfinite(stacked).all(axis=0)
        return dict(zip(names, stacked[:, kept], strict=True))


def search_samples(repetitions: int, search_every: int) -> int:
    """How many samples the log-linear search runs on: one in ``search_every``, at least one."""
    return -(-repetitions // search_every)


def simulate(
    population: Population,
    fraction: float,
    estimators: Sequence[str],
    repetitions: int,
    *,
    seed: Sequence[int],
    search_every: int = 1,
    done: Callable[[float], None] = lambda _share: None,
) -> Errors:
    """Draw samples and estimate the marketer risk of each.

    Parameters
    ----------
    fraction
        Share of it that each sample has.
    estimators
        Names of the estimators.
    repetitions
        Number of samples.
    seed
        Numbers that the draws of this population and fraction depend on. The same sample is
        drawn for every set of estimators.
    search_every
        The log-linear search runs on one in so many samples.
    done
        Told the share of the samples that is done.
    """
    searches = search_samples(repetitions, search_every)
    errors: dict[str, list[float]] = {name: [] for name in estimators}
    for number in range(repetitions):
        draws, *own = np.random.SeedSequence([*seed, number]).spawn(1 + len(estimators))
        sample, real = population.draw(fraction, np.random.default_rng(draws))
        for name, source in zip(estimators, own, strict=True):
            if name == LOG_LINEAR and number >= searches:
                continue
            try:
                found = estimator_named(name).estimate(sample, np.random.default_rng(source))
                errors[name].append(found.marketer / real - 1)
            except EstimationFailedError:
                errors[name].append(float("nan"))
        done((number + 1) / repetitions)
    return Errors(fraction, {name: np.array(each) for name, each in errors.items()})


class PublishedRow(NamedTuple):
    """A row of Table 1."""

    name: str
    persons: int
    quasi_identifiers: tuple[tuple[str, int], ...]
    """Each quasi-identifier and the number of values that it has."""
    marketer: float
    """λ, the actual marketer risk."""


FARS = PublishedRow(
    "FARS: fatal crashes, department of transportation",
    27_529,
    (("year", 21), ("age", 99), ("race", 19), ("drinking level", 4)),
    0.229,
)
ADULT = PublishedRow(
    "Adult: US census", 30_162, (("age", 72), ("education", 16), ("race", 5), ("gender", 2)), 0.104
)
EMERGENCY = PublishedRow(
    "Emergency department at a children's hospital",
    25_470,
    (("postal code, 2 characters", 105), ("age", 42), ("gender", 2)),
    0.033,
)
NIDAY = PublishedRow(
    "Niday: provincial birth registry",
    57_679,
    (
        ("postal code, 3 characters", 678),
        ("month of birth", 7),
        ("maternal age", 42),
        ("gender", 2),
    ),
    0.687,
)
PHARMACY = PublishedRow(
    "Pharmacy: prescriptions for inpatients of a children's hospital",
    3_507,
    (("gender", 2), ("age", 22), ("postal code, 3 characters", 154), ("length of stay", 89)),
    0.75,
)
TABLE_1 = (FARS, ADULT, EMERGENCY, NIDAY, PHARMACY)
FRACTIONS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The sampling fractions of Figure 2 (Section 2.5)."""
REPETITIONS = 2_500
"""Samples drawn at each fraction (Section 2.5)."""


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
                columns(
                    "data=Data set; quasi_identifiers=Quasi-identifiers (values); "
                    "persons_published=n, printed; persons=n; classes=Classes; "
                    "marketer_published=λ, printed; marketer=λ .4"
                ),
                tuple(_printed_rows(adult)),
            ),
            Grid(
                "populations",
                "The populations of Figure 2 here",
                columns(
                    "data=Data set; quasi_identifiers=Quasi-identifiers (values); persons=n; "
                    "classes=Classes; marketer=λ .4"
                ),
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


Simulated = Mapping[DataSet, Sequence[Errors]]
"""The errors of each population, by fraction ascending."""
PLOT = "figure_2"


def figure_2_section(simulated: Simulated, repetitions: int, seed: int) -> Section:
    """The mean relative errors and their scatter, a table per population.

    Parameters
    ----------
    simulated
        The errors.
    repetitions
        Samples at each fraction.
    seed
        The seed of the draws.
    """
    return Section(
        "Figure 2: relative error of the estimators",
        (
            (
                f"{_samples(simulated, repetitions)} Seed {seed}; the paper drew "
                f"{REPETITIONS:,}. The relative error is (λ̂ − λ) / λ (Equation 3), λ being what "
                "the sample's marketer risk really is; below 0 an estimator makes the data look "
                "less risky than it is."
            ),
            *_failures(simulated),
        ),
        tuple(_error_grid(data, errors) for data, errors in simulated.items()),
        (PLOT,),
    )


def grid_name(data: DataSet) -> str:
    """Name of a population's table, as ``figure_2_adult_4_qis``.

    Parameters
    ----------
    data
        The population.
    """
    return f"{PLOT}_{data.key.lower().replace(',', '').replace(' ', '_')}"


def mean_error(errors: Floats) -> float | None:
    """The mean over the samples with a value; ``None`` where there is none.

    Parameters
    ----------
    errors
        Relative errors, NaN for no value.
    """
    valued = errors[np.isfinite(errors)]
    return float(valued.mean()) if len(valued) else None


def mean_error_rows(simulated: Simulated) -> dict[str, list[dict[str, Any]]]:
    """The points of Figure 2 by population: estimator, fraction, mean relative error in %."""
    return {
        data.key: [
            {"estimator": LABELS[name], "fraction": errors.fraction, "error": 100 * mean}
            for errors in of_fractions
            for name, each in errors.of.items()
            if (mean := mean_error(each)) is not None
        ]
        for data, of_fractions in simulated.items()
    }


def _scatter(errors: Floats) -> float | None:
    valued = errors[np.isfinite(errors)]
    return float(valued.std(ddof=1)) if len(valued) > 1 else None


def _error_grid(data: DataSet, of_fractions: Sequence[Errors]) -> Grid:
    fractions = "".join(
        f"; mean_{errors.fraction:g}={errors.fraction:g} +.1%; sd_{errors.fraction:g}=sd .1%"
        for errors in of_fractions
    )
    rows = []
    for name in of_fractions[0].of:
        row: list[Cell] = [LABELS[name]]
        for errors in of_fractions:
            row += [mean_error(errors.of[name]), _scatter(errors.of[name])]
        rows.append((*row, len(of_fractions[0].of[name])))
    return Grid(
        grid_name(data),
        f"{data.key}: mean relative error and standard deviation in %, by sampling fraction",
        columns(f"estimator=Estimator{fractions}; samples=Samples"),
        tuple(rows),
    )


def _samples(simulated: Simulated, repetitions: int) -> str:
    text = f"{repetitions:,} random samples at each fraction."
    fewer = {
        data.key: search_samples(repetitions, data.search_every)
        for data, errors in simulated.items()
        if search_samples(repetitions, data.search_every) < repetitions
        if LOG_LINEAR in errors[0].of
    }
    if not fewer:
        return text
    listed = ", ".join(f"{samples} of them on {key}" for key, samples in fewer.items())
    return (
        f"{text} The log-linear search, which is slow (it fits models for every class size), ran "
        f"on fewer: {listed}."
    )


def _failures(simulated: Simulated) -> tuple[str, ...]:
    failed = [
        f"{LABELS[name]} on {data.key}: {number}"
        for data, of_fractions in simulated.items()
        for name in of_fractions[0].of
        if (number := sum(int(np.isnan(errors.of[name]).sum()) for errors in of_fractions))
    ]
    return (f"Samples without a value, left out of the means: {'; '.join(failed)}.",) * bool(failed)


CONFIDENCE = 0.975
"""Of the one side of a paired t-test at 5 %."""


class Comparison(NamedTuple):
    """The paper's three estimators on the same samples of one population and fraction."""

    data: str
    fraction: float
    samples: int
    errors: Mapping[str, float]
    """Mean relative error by estimator."""
    lowest: bool
    """Whether the log-linear search has the mean nearest to 0."""
    significant: bool | None
    """Whether its |error| is significantly below both others'; ``None`` without two samples."""


def ranks_section(simulated: Simulated) -> Section:
    """Whether the paper's statement holds here, and how all estimators rank.

    Parameters
    ----------
    simulated
        The errors.
    """
    compared = [
        row
        for data, of_fractions in simulated.items()
        for errors in of_fractions
        if (row := compare(data.key, errors)) is not None
    ]
    ranks = all_ranks(simulated)
    return Section(
        "Section 3: is the log-linear approach the best?",
        (
            (
                "The paper: the log-linear modelling approach has a significantly lower relative "
                "error than Argus and Bethlehem et al.'s (negative binomial) estimator, across all "
                f"sampling fractions and data sets. {_verdict(compared, ranks)}"
            ),
            (
                "Errors here are of the same samples for each estimator: those that the log-linear "
                "search ran on. Significant: its absolute error is lower than both others' in a "
                "paired t-test at 5 %; empty where there are too few samples to test. Ranks that "
                "differ by less than the scatter of the means are chance."
            ),
        ),
        (_claim_grid(compared), _rank_grid(ranks)),
    )


def compare(data: str, errors: Errors) -> Comparison | None:
    """The paper's three estimators on the samples that all have; ``None`` if there is none.

    Parameters
    ----------
    data
        Name of the population.
    errors
        The errors at one fraction.
    """
    shared = errors.shared(OF_THE_PAPER)
    samples = len(shared[LOG_LINEAR])
    if not samples:
        return None
    means = {name: float(each.mean()) for name, each in shared.items()}
    return Comparison(
        data,
        errors.fraction,
        samples,
        means,
        rank_of(means)[LOG_LINEAR] == 1,
        _lower_than_both(shared) if samples > 1 else None,
    )


def rank_of(errors: Mapping[str, float]) -> dict[str, int]:
    """Rank by absolute error, 1 for the least; equal ones share the better rank.

    Parameters
    ----------
    errors
        Relative errors by estimator.
    """
    return {
        name: 1 + sum(abs(other) < abs(error) for other in errors.values())
        for name, error in errors.items()
    }


def _lower_than_both(shared: Mapping[str, Floats]) -> bool:
    """Whether the paired differences of |errors| lie below 0 by a t-test."""
    own = np.abs(shared[LOG_LINEAR])
    return all(_below(own - np.abs(shared[other])) for other in (ARGUS, NEGATIVE_BINOMIAL))


def _below(differences: Floats) -> bool:
    samples = len(differences)
    limit = float(special.stdtrit(samples - 1, CONFIDENCE)) / samples**0.5
    return bool(differences.mean() < -limit * differences.std(ddof=1))


def _verdict(
    compared: Sequence[Comparison], ranks: Sequence[tuple[str, float, dict[str, int]]]
) -> str:
    if not compared:
        return "No sample here tells."
    lowest = sum(row.lowest for row in compared)
    tested = [row for row in compared if row.significant is not None]
    significant = sum(bool(row.significant) for row in tested)
    holds = "does not hold" if lowest < len(compared) else "holds"
    text = (
        f"Of these three this {holds} here: it has the lowest error in {lowest} of "
        f"{len(compared)} combinations of population and fraction"
    )
    if tested:
        text += f", significantly in {significant} of the {len(tested)} that can be tested"
    first = sum(each[LOG_LINEAR] == 1 for _data, _fraction, each in ranks)
    return f"{text}. Of all {len(ESTIMATORS)} estimators here it is the best in {first}."


def _claim_grid(compared: Sequence[Comparison]) -> Grid:
    return Grid(
        "section_3",
        "The paper's three estimators on the same samples: mean relative error in %",
        (
            *columns("data=Population; fraction=Fraction .1; samples=Samples"),
            *(
                Column(name.replace("-", "_"), LABELS[name], 1, percent=True, signed=True)
                for name in OF_THE_PAPER
            ),
            *columns("lowest=Log-linear lowest; significant=Significant"),
        ),
        tuple(
            (
                row.data,
                row.fraction,
                row.samples,
                *(row.errors[name] for name in OF_THE_PAPER),
                row.lowest,
                row.significant,
            )
            for row in compared
        ),
    )


def all_ranks(simulated: Simulated) -> list[tuple[str, float, dict[str, int]]]:
    """Population, fraction, and the rank of each estimator on the samples that all have.

    Parameters
    ----------
    simulated
        The errors.
    """
    rows = []
    for data, of_fractions in simulated.items():
        for errors in of_fractions:
            shared = errors.shared(ESTIMATORS)
            if len(shared[LOG_LINEAR]):
                means = {name: float(each.mean()) for name, each in shared.items()}
                rows.append((data.key, errors.fraction, rank_of(means)))
    return rows


def _rank_grid(ranks: Sequence[tuple[str, float, dict[str, int]]]) -> Grid:
    rows: list[tuple[Cell, ...]] = [(data, p, *each.values()) for data, p, each in ranks]
    if ranks:
        means = (np.mean([each[name] for _data, _p, each in ranks]) for name in ESTIMATORS)
        rows.append(("mean rank", None, *(round(float(mean), 1) for mean in means)))
    return Grid(
        "ranks",
        "Rank of each estimator by absolute mean relative error, the same samples for all",
        (
            *columns("population=Population; fraction=Fraction .1"),
            *(Column(name.replace("-", "_"), LABELS[name]) for name in ESTIMATORS),
        ),
        tuple(rows),
    )
