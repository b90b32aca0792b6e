"""All measures of a file on Spark that is divided into classes by what its columns hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.engines.spark.counts import Values, count_classes
from sfumato.engines.spark.ran import Ran
from sfumato.engines.spark.session import said_plainly
from sfumato.risk.class_measures import RECURSIVE_L, ClassShape
from sfumato.risk.disclosure_risk import Risk, SensitiveRisk
from sfumato.risk.file_measures import spread_warning
from sfumato.risk.on_spark.totals import Totals, totals_of
from sfumato.risk.reidentification import (
    NUMBER_KNOWN,
    OWN_POPULATION,
    Reidentification,
    check_threshold,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


def measure_on_spark(
    frame: DataFrame,
    keys: Sequence[str],
    person: str | None,
    sensitive: Mapping[str, str],
    *,
    value_counts: Mapping[str, Ints],
    threshold: float,
    ranks: Mapping[str, Codes] | None = None,
    persons: int | None = None,
    warnings: tuple[str, ...] = (),
    ran: Ran | None = None,
) -> Risk:
    """Measure a file, or a release, whose records stay on the cluster.

    Every measure is the embedded engine's to 12 digits, whatever the partitions and the order of
    the records. Positions are left out: the records of a cluster have no order.

    Parameters
    ----------
    frame
        One row per record.
    keys
        The columns that the records of an equivalence class agree on, of any type; nothing is a
        value of its own.
    person
        The column with the id of the record's person, or what stands for it; ``None`` where
        every record is a person of its own.
    sensitive
        The column of codes of each sensitive attribute, -1 for missing, by its name.
    value_counts
        Number of records of the whole file with each code, by the name of the attribute.
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    ranks
        For attributes whose t-closeness is also measured by ordered distance, the rank of each
        code as a number, from 0 without a gap.
    persons
        Number of persons of the file; counted where not given.
    warnings
        What the reader should know beside what is found here.
    ran
        What it runs on.

    Raises
    ------
    InputError
        If the threshold is outside (0, 1], or there is no key or no record.
    """
    check_threshold(threshold)
    classes = classes_on_spark(frame, keys, person, sensitive, value_counts, ranks)
    if persons is None and person is not None:
        persons = frame.select(person).distinct().count()
    return risk_of_classes(
        classes, tuple(sensitive), threshold=threshold, persons=persons, warnings=warnings, ran=ran
    )


def classes_on_spark(
    frame: DataFrame,
    keys: Sequence[str],
    person: str | None,
    sensitive: Mapping[str, str],
    value_counts: Mapping[str, Ints],
    ranks: Mapping[str, Codes] | None = None,
    recursive_l: Sequence[int] = RECURSIVE_L,
) -> DataFrame:
    """The classes of a file with what measures read of them; nothing runs yet.

    Parameters
    ----------
    frame, keys, person, sensitive, value_counts, ranks
        As for `measure_on_spark`.
    recursive_l
        The l of recursive (c, l)-diversity.

    Raises
    ------
    InputError
        If there is no key.
    SfumatoError
        If Spark fails.
    """
    if not keys:
        raise InputError("parameter keys", "must name what records are grouped by", found="none")
    of = ranks or {}
    values = [
        Values(column, value_counts[name], of.get(name), tuple(recursive_l))
        for name, column in sensitive.items()
    ]
    with said_plainly("count the equivalence classes"):
        return count_classes(frame, keys, person, values)


def risk_of_classes(
    classes: DataFrame,
    attributes: tuple[str, ...],
    *,
    threshold: float,
    persons: int | None,
    warnings: tuple[str, ...],
    ran: Ran | None,
    recursive_l: Sequence[int] = RECURSIVE_L,
) -> Risk:
    """The measures that follow from the classes: one job.

    Parameters
    ----------
    classes
        What `classes_on_spark` gave.
    attributes
        Names of the sensitive attributes.
    threshold
        Risk above which a record counts as at risk.
    persons
        Number of persons; ``None`` where every record is a person of its own.
    warnings
        What the reader should know.
    ran
        What it runs on.
    recursive_l
        The l of recursive (c, l)-diversity, as the classes were counted.

    Raises
    ------
    InputError
        If there is no record.
    """
    found = totals_of(classes, attributes, threshold, recursive_l)
    sums, least, most, shape = found.sums, found.least, found.most, found.shape
    records, held = int(sums["records"]), shape.held
    own = held if persons is None else persons
    fewest, number = int(least["fewest"]), int(shape.classes.sum())
    risks = _by_persons(found, threshold)
    return Risk(
        records=records,
        persons=own,
        classes=number,
        k=int(least["records"]),
        k_where=None,
        pid_k=int(least["persons"]),
        pid_k_where=None,
        g_balance=Measure("g_balance", least["g_balance"]),
        max_gidr=Measure("max_gidr", most["gidr"]),
        avg_gidr=Measure("avg_gidr", sums["gidr"] / number),
        prosecutor=risks.prosecutor,
        journalist=risks.journalist,
        marketer=risks.marketer,
        average_risk=risks.average_risk,
        records_at_risk=risks.records_at_risk,
        count_k=fewest,
        count_k_where=None,
        exposed_persons=Measure("exposed_persons", int(sums["alone"]) / held),
        max_count_risk=Measure("max_count_risk", 1 / fewest, why=NUMBER_KNOWN, threshold=threshold),
        avg_count_risk=Measure("avg_count_risk", sums["numbers"] / held, why=NUMBER_KNOWN),
        by_records=_by_records(found, threshold),
        sample_uniques=_number_of(shape, 1),
        sample_unique_records=int(sums["single_records"]),
        sensitive={
            name: _sensitive(found, place, recursive_l) for place, name in enumerate(attributes)
        },
        summary=None,
        threshold=float(threshold),
        warnings=(*warnings, *spread_warning(held, own)),
        counted=shape,
        ran=ran,
    )


def _number_of(shape: ClassShape, persons: int) -> int:
    return int(shape.classes[shape.persons == persons].sum())


def _by_persons(found: Totals, threshold: float) -> Reidentification:
    shape, records = found.shape, int(found.sums["records"])
    number = int(shape.classes.sum())
    return _risks(
        "",
        1 / int(found.least["persons"]),
        number / shape.held,
        found.sums["inverse"] / records,
        int(shape.records[1.0 / shape.persons > threshold].sum()) / records,
        threshold,
    )


def _by_records(found: Totals, threshold: float) -> Reidentification:
    number, records = int(found.shape.classes.sum()), int(found.sums["records"])
    at_risk = int(found.sums["at_risk_by_records"]) / records
    share = number / records
    worst = 1 / int(found.least["records"])
    return _risks("_by_records", worst, share, share, at_risk, threshold)


def _risks(
    suffix: str, worst: float, marketer: float, average: float, at_risk: float, threshold: float
) -> Reidentification:
    def highest(name: str) -> Measure:
        return Measure(name + suffix, worst, why=OWN_POPULATION, threshold=threshold)

    return Reidentification(
        prosecutor=highest("prosecutor"),
        journalist=highest("journalist"),
        marketer=Measure("marketer" + suffix, marketer, why=OWN_POPULATION),
        average_risk=Measure("average_risk" + suffix, average),
        records_at_risk=Measure(
            "records_at_risk" + suffix, at_risk, why=f"risk above {threshold:g}"
        ),
    )


def _sensitive(found: Totals, place: int, recursive_l: Sequence[int]) -> SensitiveRisk:
    least, most = found.least, found.most
    sharing, number = most[f"gsar_{place}"], int(found.shape.classes.sum())
    return SensitiveRisk(
        h_affiliation=Measure("h_affiliation", sharing),
        max_gsar=Measure("max_gsar", sharing),
        avg_gsar=Measure("avg_gsar", found.sums[f"gsar_{place}"] / number),
        l_distinct=int(least[f"distinct_{place}"]),
        l_distinct_where=None,
        l_entropy=Measure("l_entropy", least[f"entropy_{place}"]),
        recursive={
            l: Measure(f"recursive_{l}", most[f"recursive_{l}_{place}"])
            for l in recursive_l  # noqa: E741
        },
        t_closeness=Measure("t_closeness", most[f"distance_{place}"]),
        t_closeness_ordered=_ordered(most.get(f"ordered_{place}")),
    )


def _ordered(distance: float | None) -> Measure | None:
    return None if distance is None else Measure("t_closeness_ordered", distance)
