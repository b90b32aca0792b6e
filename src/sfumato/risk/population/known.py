"""Risks of a file whose population is at hand: nothing is estimated."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure, Position
from sfumato.risk.classes import ClassSummary
from sfumato.risk.population.matches import matches
from sfumato.risk.population.names import REGISTER
from sfumato.risk.population.result import PopulationRisk

Ints = npt.NDArray[np.int64]

COUNTED = "counted in the register"


def known_population(
    summary: ClassSummary,
    class_of: npt.NDArray[np.int32],
    sizes: Ints,
    persons: int,
    threshold: float,
) -> PopulationRisk:
    """Measure a file against the classes of its population.

    Parameters
    ----------
    summary
        The classes of the file.
    class_of
        Class of each record.
    sizes
        F_j, the number of the population's persons who look like those of each class, at least
        as many as the file has there; shape (classes,).
    persons
        N, the number of persons of the population.
    threshold
        Risk above which a record counts as at risk.
    """
    inverse = 1.0 / sizes
    own = summary.persons
    n, records = int(own.sum()), int(summary.records.sum())
    alone = own == 1
    worst = int(np.argmax(inverse))

    def counted(name: str, value: float, why: str = COUNTED) -> Measure:
        return Measure(name, value, value, value, REGISTER, why)

    journalist = Measure(
        "journalist",
        float(inverse[worst]),
        float(inverse[worst]),
        float(inverse[worst]),
        REGISTER,
        COUNTED,
        where=Position(int(summary.first_row[worst]) + 1, worst + 1),
        threshold=threshold,
    )
    expected = float(own @ inverse)
    at_risk = float(summary.records[inverse > threshold].sum()) / records
    return PopulationRisk(
        population=persons,
        sampling_fraction=min(n / persons, 1.0),
        marketer=counted("marketer", expected / n),
        journalist=journalist,
        population_average_risk=counted(
            "population_average_risk", float(inverse @ summary.records) / records
        ),
        population_records_at_risk=counted(
            "population_records_at_risk", at_risk, f"risk above {threshold:g}; {COUNTED}"
        ),
        population_uniques=counted("population_uniques", float((alone & (sizes == 1)).sum())),
        unique_matches=counted("unique_matches", float(inverse[alone].sum())),
        class_count=None,
        expected_matches=counted("expected_matches", expected),
        one_to_one=matches(own, sizes.astype(float)),
        free=matches(own, sizes.astype(float), one_to_one=False),
        inverse_sizes=inverse,
        class_records=summary.records,
        class_of=class_of,
        uniques_by_model={},
        check=None,
        path=(),
        seed=None,
    )
