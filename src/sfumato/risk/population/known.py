"""Risks of a file whose population is at hand: nothing is estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import REGISTER, Measure, Position
from sfumato.risk.population.matches import matches
from sfumato.risk.population.result import PopulationRisk

Ints = npt.NDArray[np.int64]

COUNTED = "counted in the register"


@dataclass(frozen=True, eq=False)
class KnownClasses:
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
    first_row: npt.NDArray[np.integer] | None = None
    class_of: npt.NDArray[np.int32] | None = None


def known_population(classes: KnownClasses, persons: int, threshold: float) -> PopulationRisk:
    """Measure a file against the classes of its population.

    Parameters
    ----------
    classes
        The classes of both.
    persons
        N, the number of persons of the population.
    threshold
        Risk above which a record counts as at risk.
    """
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
        population_uniques=counted("population_uniques", float(times[alone & (sizes == 1)].sum())),
        unique_matches=counted("unique_matches", float((inverse * times)[alone].sum())),
        class_count=None,
        expected_matches=counted("expected_matches", expected),
        one_to_one=matches(own, sizes.astype(float), times=classes.times),
        free=matches(own, sizes.astype(float), one_to_one=False, times=classes.times),
        inverse_sizes=inverse,
        class_records=classes.records,
        class_of=classes.class_of,
        population_uniques_by_model={},
        check=None,
        path=(),
        seed=None,
    )


def _worst(classes: KnownClasses) -> Position | None:
    """The first record of the class with the fewest persons in the population."""
    if classes.first_row is None:
        return None
    worst = int(np.argmin(classes.sizes))
    return Position(int(classes.first_row[worst]) + 1, worst + 1)
