"""The risks of a file as a sample of a population, estimated or counted in a register."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.core.arrays import Codes, Floats, Integers, Ints
from sfumato.core.declaration import fields_of
from sfumato.core.errors import InputError
from sfumato.core.measure import REGISTER, Measure, Position
from sfumato.core.number_text import percentage
from sfumato.risk import measure_table
from sfumato.risk.measure_table import row
from sfumato.risk.population.match_distribution import MatchDistribution, matches
from sfumato.risk.population.subsample_validation import SubsampleCheck

COUNTED = "counted in the register"


@dataclass(frozen=True, eq=False)
class PopulationRisk:
    """Risks of a sample, of which the intruder has the population.

    Attributes
    ----------
    population
        N, the number of persons of the population.
    sampling_fraction
        n / N.
    marketer
        λ, the share of persons whom an intruder with a register matches correctly (paper 004,
        Theorem 1).
    journalist
        Largest 1 / F_j over the classes of the file.
    population_average_risk
        Mean over the file's records of 1 / F_j.
    population_records_at_risk
        Share of the file's records in classes with 1 / F_j above the threshold.
    expected_uniques
        τ1, the number of persons alone in their class of the file who are alone in the
        population too.
    unique_matches
        τ2, the number of correct matches among those who are alone in their class of the file.
    class_count
        Number of classes of the population, where the estimator gives one.
    expected_matches
        n λ, the number of persons who are matched correctly.
    one_to_one, free
        How that number scatters when no two persons are matched to the same one, and when they
        may be; given the F_j, or 1 over the estimates of 1 / F_j.
    inverse_sizes
        1 / F_j, or its estimate, of each class; shape (classes,).
    class_records
        Number of records of each class; shape (classes,).
    class_of
        Class of each record; shape (records,); ``None`` where a cluster measured.
    class_intervals
        ``risk_low`` and ``risk_high``, the ends of 1 / F_j of each class at the ends of λ, and
        ``unique``, ``unique_low`` and ``unique_high``, the probability that F_j = 1; each of
        shape (classes,), by name.
    population_uniques_by_model
        Population uniques of the whole population by the models of other tools; why a model
        has no value, where it has none. Empty where the population is known.
    seed
        Seed of the draws; ``None`` where there were none.
    """

    population: int
    sampling_fraction: float
    marketer: Measure
    journalist: Measure
    population_average_risk: Measure
    population_records_at_risk: Measure
    expected_uniques: Measure
    unique_matches: Measure
    class_count: Measure | None
    expected_matches: Measure
    one_to_one: MatchDistribution
    free: MatchDistribution
    inverse_sizes: Floats
    class_records: Ints
    class_of: Codes | None
    class_intervals: Mapping[str, Floats]
    population_uniques_by_model: Mapping[str, float | str]
    check: SubsampleCheck | None
    path: tuple[str, ...]
    seed: int | None

    @property
    def record_risks(self) -> Floats:
        """1 / F_j, or its estimate, of each record's class, in the file's order."""
        if self.class_of is None:
            raise InputError(
                "the risk of each record",
                "must be asked of the embedded engine",
                found="an assessment made on Spark",
            )
        risks: Floats = self.inverse_sizes[self.class_of]
        return risks

    @property
    def population_uniques(self) -> Measure:
        """The share of the file's persons who are alone in their class of both."""
        persons = self.expected_matches.value / self.marketer.value
        uniques = self.expected_uniques
        low, high = (uniques.value if end is None else end for end in (uniques.low, uniques.high))
        return replace(
            uniques, name="population_uniques", value=uniques.value / persons,
            low=low / persons, high=high / persons,
        )  # fmt: skip

    @property
    def k_map(self) -> Measure:
        """The smallest F_j, 1 over `journalist`."""
        own = self.journalist
        # Ends change places, as 1 / x falls.
        low, high = (own.value if end is None else end for end in (own.high, own.low))
        return replace(
            own, name="k_map", value=1 / own.value, low=1 / low, high=1 / high, threshold=None
        )

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Every measure, in the order of the tables."""
        counted = () if self.class_count is None else (self.class_count,)
        return (
            self.marketer,
            self.journalist,
            self.population_average_risk,
            self.population_records_at_risk,
            self.expected_uniques,
            self.unique_matches,
            self.expected_matches,
            *counted,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        out = fields_of(self, "population sampling_fraction")
        out |= {measure.name: measure.to_json() for measure in self.measures}
        out["matches"] = {"one_to_one": _counts(self.one_to_one), "free": _counts(self.free)}
        if self.population_uniques_by_model:
            out["population_uniques_by_model"] = dict(self.population_uniques_by_model)
        if self.check is not None:
            out["subsample_check"] = fields_of(self.check, "subsamples error scatter")
        return out | {"estimator_path": list(self.path), "seed": self.seed}

    def rows(self) -> list[measure_table.Row]:
        """The lines of a table that a file without a population has not."""
        first = [
            row("population", measure_table.count(self.population)),
            row("sampling_fraction", percentage(self.sampling_fraction)),
        ]
        shares = (self.population_average_risk, self.population_records_at_risk)
        # The first two are in the lines that each file has, the next two are shares and not counts.
        counts = list(self.measures[4:])
        return [
            *first,
            *(
                row(share.name, measure_table.interval(share, measure_table.share))
                for share in shares
            ),
            *(
                row(count.name, measure_table.interval(count, measure_table.whole))
                for count in counts
            ),
        ]


def _counts(distribution: MatchDistribution) -> dict[str, float]:
    low, high = distribution.quantiles()
    return {"mean": distribution.mean, "variance": distribution.variance, "low": low, "high": high}


@dataclass(frozen=True, eq=False)
class RegisterClasses:
    """The classes of a file beside those of its population.

    Attributes
    ----------
    persons, records
        Of the file, in each class; shape (classes,).
    sizes
        F_j, the number of the population's persons who look like those of each class, at least
        as many as the file has there; shape (classes,).
    times
        Number of classes that each entry stands for, all their records being in ``records``;
        ``None`` for one each.
    first_row
        The first record of each class, shape (classes,); ``None`` where a cluster counted.
    class_of
        Class of each record, shape (records,); ``None`` where a cluster counted.
    """

    persons: Ints
    records: Ints
    sizes: Ints
    times: Ints | None = None
    first_row: Integers | None = None
    class_of: Codes | None = None


def register_population(classes: RegisterClasses, persons: int, threshold: float) -> PopulationRisk:
    """Measure a file against the classes of its population of N persons."""
    own, sizes = classes.persons, classes.sizes
    times = np.ones(len(own), dtype=np.int64) if classes.times is None else classes.times
    inverse = 1.0 / sizes
    n, records = int(own @ times), int(classes.records.sum())
    alone = own == 1

    def counted(name: str, value: float, why: str = COUNTED) -> Measure:
        return Measure(name, value, value, value, REGISTER, why)

    expected = float((own * times) @ inverse)
    at_risk = float(classes.records[inverse > threshold].sum()) / records
    return PopulationRisk(
        population=persons,
        # n counts a person once in each class, which may be more often than N does.
        sampling_fraction=min(n / persons, 1.0),
        marketer=counted("marketer", expected / n),
        journalist=replace(
            counted("journalist", float(inverse.max())), where=_worst(classes), threshold=threshold
        ),
        population_average_risk=counted(
            "population_average_risk", float(inverse @ classes.records) / records
        ),
        population_records_at_risk=counted(
            "population_records_at_risk", at_risk, f"risk above {threshold:g}; {COUNTED}"
        ),
        expected_uniques=counted("expected_uniques", float(times[alone & (sizes == 1)].sum())),
        unique_matches=counted("unique_matches", float((inverse * times)[alone].sum())),
        class_count=None,
        expected_matches=counted("expected_matches", expected),
        one_to_one=matches(own, sizes.astype(float), times=classes.times),
        free=matches(own, sizes.astype(float), one_to_one=False, times=classes.times),
        inverse_sizes=inverse,
        class_records=classes.records,
        class_of=classes.class_of,
        class_intervals={
            **dict.fromkeys(("risk_low", "risk_high"), inverse),
            **dict.fromkeys(("unique", "unique_low", "unique_high"), (sizes == 1).astype(float)),
        },
        population_uniques_by_model={},
        check=None,
        path=(),
        seed=None,
    )


def _worst(classes: RegisterClasses) -> Position | None:
    """The first record of the class with the fewest persons in the population."""
    if classes.first_row is None:
        return None
    # The smallest F is the largest 1 / F, found without its rounding.
    worst = int(np.argmin(classes.sizes))
    return Position(int(classes.first_row[worst]) + 1, worst + 1)
