"""Household risk on Spark: from the classes of persons to their households."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.core.extra import needed
from sfumato.core.measure import Measure
from sfumato.engines.spark.counts import PERSONS
from sfumato.risk.reidentification import RISK_TOLERANCE, HouseholdRisk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RISK, _HOME, _SURE, _SUM = (f"sfumato_{each}" for each in ("risk", "home", "sure", "sum"))


def household_on_spark(
    frame: DataFrame,
    classes: DataFrame,
    keys: Sequence[str],
    person: str,
    household: str,
    threshold: float,
) -> HouseholdRisk:
    """Risk of every household, persons being found independently of each other: one job.

    As `household_risk` has it: the riskiest of a person's classes counts, a person belongs to
    every household of their records, and is one alone without any. A class that is larger than
    a partition is joined in parts where Spark's adaptive execution is on, as it is by default.

    Parameters
    ----------
    frame
        One row per record.
    classes
        What `classes_on_spark` gave for them.
    keys
        The columns that the records of a class agree on.
    person, household
        The columns that say whose record it is, and whose the person is; null for none.
    threshold
        Risk above which a household counts as at risk, in (0, 1].
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    named = [f"sfumato_key_{place}" for place in range(len(keys))]
    pairs = zip(keys, named, strict=True)
    sizes = classes.select(*(f.col(key).alias(name) for key, name in pairs), PERSONS)
    of_person = frame.groupBy(*keys, person).agg(f.collect_set(household).alias(_HOME))
    same = [f.col(key).eqNullSafe(f.col(other)) for key, other in zip(keys, named, strict=True)]
    joined = of_person.join(sizes, same).select(person, _HOME, PERSONS)
    persons = joined.groupBy(person).agg(
        (f.lit(1.0) / f.min(PERSONS)).alias(_RISK),
        f.array_distinct(f.flatten(f.collect_list(_HOME))).alias(_HOME),
    )
    housed = persons.select(person, _RISK, f.explode_outer(_HOME).alias(_HOME))
    alone = f.when(f.col(_HOME).isNull(), f.col(person))
    of_home = housed.groupBy(_HOME, alone).agg(
        f.max((f.col(_RISK) >= 1).cast("int")).alias(_SURE),
        f.sum(f.when(f.col(_RISK) < 1, f.log1p(-f.col(_RISK)))).alias(_SUM),
    )
    risk = f.when(f.col(_SURE) == 1, f.lit(1.0)).otherwise(f.lit(1.0) - f.exp(_SUM))
    found = of_home.select(risk.alias(_RISK)).agg(
        f.count(f.lit(1)),
        f.max(_RISK),
        f.avg(_RISK),
        f.avg((f.col(_RISK) > threshold * (1 + RISK_TOLERANCE)).cast("int")),
    )
    number, most, mean, at_risk = found.first()
    return HouseholdRisk(
        households=number,
        max_household_risk=Measure("max_household_risk", most, threshold=threshold),
        avg_household_risk=Measure("avg_household_risk", mean),
        households_at_risk=Measure("households_at_risk", at_risk, why=f"risk above {threshold:g}"),
    )
