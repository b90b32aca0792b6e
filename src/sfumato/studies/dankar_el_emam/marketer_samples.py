"""Samples of known populations, and the errors of estimators of marketer risk in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.embedded.counts import group
from sfumato.examples import generate_clinics
from sfumato.risk.population.estimation import AUTO, EstimationFailedError, SampleClasses
from sfumato.risk.population.population_estimates import estimator_named
from sfumato.schema import Schema
from sfumato.studies.study_files import locate
from sfumato.table.door import open_table

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


Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
    keys: npt.NDArray[np.int32]
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
    population
        The population.
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
