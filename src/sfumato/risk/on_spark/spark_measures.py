"""All measures of a file on Spark: its classes are counted there, sums and extremes come here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, Ints
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.core.optional_packages import needed
from sfumato.engines.embedded.counts import LARGEST_SPACE
from sfumato.engines.spark.counts import (
    ALONE,
    FEWEST,
    LARGEST,
    NUMBERS,
    ORDERED,
    PERSONS,
    RECORDS,
    ROUGH_SQUARES,
    SQUARES,
    Values,
    count_classes,
    rest,
    value_column,
)
from sfumato.engines.spark.spark_persons import SparkTable
from sfumato.engines.spark.spark_session import CLASS, Ran, quasi_identifier, said_plainly
from sfumato.risk import reidentification
from sfumato.risk.class_measures import (
    BIN_ROUNDING,
    RECURSIVE_L,
    SHARE_BINS,
    ClassShape,
    entropy_l_error,
)
from sfumato.risk.classes import Counts, spread_warning
from sfumato.risk.disclosure_risk import Risk, SensitiveRisk

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_KIND, _BIN, _CLASSES = "sfumato_kind", "sfumato_bin", "sfumato_classes"
_BY_PERSONS, _BY_GIDR, _BY_GSAR = 0, 1, 2
"""What the classes are counted by; the attributes follow one after the other."""


def keyed(table: SparkTable) -> tuple[DataFrame, list[str]]:
    """The records, and the columns of a class: one, where 64 bits hold the quasi-identifiers."""
    return packed(table.frame, [column.domain.size for column in table.quasi_identifiers])


def packed(frame: DataFrame, sizes: Sequence[int]) -> tuple[DataFrame, list[str]]:
    """Records with their quasi-identifiers in one column, and the columns of a class."""
    names = [quasi_identifier(place) for place in range(len(sizes))]
    widths = [size + 1 for size in sizes]
    if prod(widths) > LARGEST_SPACE:
        return frame, names
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    key = f.lit(0).cast("bigint")
    for name, width in zip(names, widths, strict=True):
        key = key * width + f.col(name) + 1
    return frame.withColumn(CLASS, key), [CLASS]


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums and extremes over the classes of a file, by name, and how the classes are distributed.

    Attributes
    ----------
    sums, least, most
        Sums, smallest and largest values over classes; those of a sensitive attribute end in its
        place (``gsar_0``). ``ordered_0`` is there where ordered distances were counted.
    shape
        Counts of classes by size and share.
    """

    sums: Mapping[str, float]
    least: Mapping[str, float]
    most: Mapping[str, float]
    shape: ClassShape


def totals_of(
    classes: DataFrame,
    attributes: tuple[str, ...],
    threshold: float,
    recursive_l: Sequence[int] = RECURSIVE_L,
) -> Totals:
    """Aggregate classes in one job; what comes back has one row per class size and per bin.

    Parameters
    ----------
    classes
        What `count_classes` gave.
    attributes
        Names of the sensitive attributes, in the order of its values.
    recursive_l
        The l of recursive (c, l)-diversity, as the classes were counted.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="the engine spark")
    sums, least, most = _read(len(attributes), threshold, recursive_l, f)
    ordered = {place: value_column(place, ORDERED) for place in range(len(attributes))}
    most |= {
        f"ordered_{place}": f.col(column)
        for place, column in ordered.items()
        if column in classes.columns
    }
    # The least struct is that of the least g, and brings its integers along in the same pass.
    balance = f.struct(_balance(f).alias("g"), f.col(SQUARES), f.col(RECORDS))
    bins = [(f.lit(_BY_PERSONS), f.col(PERSONS)), (f.lit(_BY_GIDR), _bin(_gidr(f), f))]
    bins += [
        (f.lit(_BY_GSAR + place), _bin(_gsar(place, f), f)) for place in range(len(attributes))
    ]
    kinds = [f.struct(kind.alias(_KIND), each.alias(_BIN)) for kind, each in bins]
    found = (
        # Each class once per histogram: one job for all of them, instead of one job each.
        classes.select("*", f.inline(f.array(*kinds)))
        .groupBy(_KIND, _BIN)
        .agg(
            f.count(f.lit(1)).alias(_CLASSES),
            *(f.sum(value).alias(f"sum_{name}") for name, value in sums.items()),
            *(f.min(value).alias(f"min_{name}") for name, value in least.items()),
            *(f.max(value).alias(f"max_{name}") for name, value in most.items()),
            f.min(balance).alias("balance"),
        )
        .toArrow()
        .sort_by([(_KIND, "ascending"), (_BIN, "ascending")])
    )
    if not found.num_rows:
        raise InputError("the data", "must have at least one record", found="none")
    # Each class is in every kind once: the sums of one kind are those of all classes.
    by_persons = found.filter(pc.equal(found[_KIND], _BY_PERSONS))
    return Totals(
        {name: pc.sum(by_persons[f"sum_{name}"]).as_py() for name in sums},
        {name: pc.min(by_persons[f"min_{name}"]).as_py() for name in least},
        {name: pc.max(by_persons[f"max_{name}"]).as_py() for name in most},
        _shape(found, by_persons, attributes),
    )


def _read(
    attributes: int, threshold: float, recursive_l: Sequence[int], f: Any
) -> tuple[dict[str, Column], dict[str, Column], dict[str, Column]]:
    """What is summed, and what the least and the most is looked for of, class by class."""
    records, persons, fewest = f.col(RECORDS), f.col(PERSONS), f.col(FEWEST)
    at_risk = f.lit(1.0) / records > f.lit(float(threshold))
    sums = {
        "records": records,
        "at_risk_by_records": f.when(at_risk, records).otherwise(0),
        "single_records": (records == 1).cast("bigint"),
        "gidr": _gidr(f),
        "inverse": records / persons,
        "alone": f.col(ALONE),
        "numbers": f.col(NUMBERS),
    }
    least = {"records": records, "persons": persons, "g_balance": _balance(f), "fewest": fewest}
    most = {"gidr": _gidr(f)}
    for place in range(attributes):
        first, distinct, entropy = (
            f.col(value_column(place, what)) for what in ("first", "distinct", "entropy")
        )
        sums[f"gsar_{place}"] = _gsar(place, f)
        least[f"distinct_{place}"] = distinct
        least[f"entropy_{place}"] = _entropy_l(entropy, distinct.cast("double"), f)
        most[f"gsar_{place}"] = _gsar(place, f)
        for l in recursive_l:  # noqa: E741
            beyond = f.col(value_column(place, rest(l)))
            most[f"recursive_{l}_{place}"] = _bound(first, beyond, f)
        most[f"distance_{place}"] = f.col(value_column(place, "distance"))
    return sums, least, most


def _balance(f: Any) -> Column:
    records = f.col(RECORDS).cast("double")
    # Exact where 64 bits hold the sum; g near 0 does not need more digits than a double's.
    squares = f.coalesce(f.col(SQUARES).cast("double"), f.col(ROUGH_SQUARES))
    balance: Column = f.lit(1.0) - squares / (records * records)
    return balance


def _gidr(f: Any) -> Column:
    share: Column = f.col(LARGEST) / f.col(RECORDS)
    return share


def _gsar(place: int, f: Any) -> Column:
    share: Column = f.col(value_column(place, "affiliation")) / f.col(PERSONS)
    return share


def _entropy_l(entropy: Column, distinct: Column, f: Any) -> Column:
    """The l of `entropy_l`, of columns."""
    found = f.least(f.exp(entropy), distinct)
    close = f.abs(found - f.rint(found)) <= found * entropy_l_error(entropy, distinct)
    whole: Column = f.when(close, f.rint(found)).otherwise(found)
    return whole


def _bound(first: Column, rest: Column, f: Any) -> Column:
    bound: Column = f.when(rest > 0, first / rest).otherwise(f.lit(float("inf")))
    return bound


def _bin(share: Column, f: Any) -> Column:
    """The bin that `share_counts` would take."""
    upper = f.ceil(share * SHARE_BINS - f.lit(BIN_ROUNDING)).cast("bigint") - 1
    inside: Column = f.greatest(f.least(upper, f.lit(SHARE_BINS - 1)), f.lit(0))
    return inside.cast("bigint")


def _shape(found: pa.Table, by_persons: pa.Table, attributes: tuple[str, ...]) -> ClassShape:
    def bins(kind: int) -> Counts:
        own = found.filter(pc.equal(found[_KIND], kind))
        counts = np.zeros(SHARE_BINS, dtype=np.int64)
        counts[own[_BIN].to_numpy()] = own[_CLASSES].to_numpy()
        return counts

    worst = min(
        by_persons["balance"].to_pylist(),
        # Equal g are ordered by their integers, so that the order of partitions decides nothing.
        key=lambda one: (one["g"], one[SQUARES] or 0, one[RECORDS]),
    )
    return ClassShape(
        persons=by_persons[_BIN].to_numpy(),
        classes=by_persons[_CLASSES].to_numpy(),
        records=by_persons["sum_records"].to_numpy(),
        gidr=bins(_BY_GIDR),
        gsar={name: bins(_BY_GSAR + place) for place, name in enumerate(attributes)},
        balance=(worst[SQUARES] or 0, worst[RECORDS]),
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
    ranks
        For attributes whose t-closeness is also measured by ordered distance, the rank of each
        code as a number, from 0 without a gap.
    recursive_l
        The l of recursive (c, l)-diversity.

    Raises
    ------
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
    with said_plainly("count the classes"):
        return count_classes(frame, keys, person, values)


NO_EVENTS = (
    "what an intruder finds who knows some of a person's events, too, is not measured on Spark, "
    "and no measure of classes covers it."
)
"""What a reader would take for nothing found."""


def unmeasured(table: SparkTable) -> tuple[str, ...]:
    """A warning about events, which Spark does not measure, where persons have several records."""
    several = table.schema.person is not None and table.records > table.persons
    return (NO_EVENTS,) if several else ()


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
    persons
        Number of persons; ``None`` where every record is a person of its own.
    recursive_l
        The l of recursive (c, l)-diversity, as the classes were counted.
    """
    totals = totals_of(classes, attributes, threshold, recursive_l)
    sums, least, most, shape = totals.sums, totals.least, totals.most, totals.shape
    records, memberships = int(sums["records"]), shape.held
    own = memberships if persons is None else persons
    fewest, number = int(least["fewest"]), int(shape.classes.sum())
    risks = _by_persons(totals, threshold)
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
        exposed_persons=Measure("exposed_persons", int(sums["alone"]) / memberships),
        max_count_risk=Measure(
            "max_count_risk", 1 / fewest, why=reidentification.NUMBER_KNOWN, threshold=threshold
        ),
        avg_count_risk=Measure(
            "avg_count_risk", sums["numbers"] / memberships, why=reidentification.NUMBER_KNOWN
        ),
        by_records=_by_records(totals, threshold),
        sample_uniques=_number_of(shape, 1),
        sample_unique_records=int(sums["single_records"]),
        sensitive={
            name: _sensitive(totals, place, recursive_l) for place, name in enumerate(attributes)
        },
        summary=None,
        threshold=float(threshold),
        warnings=(*warnings, *spread_warning(memberships, own)),
        counted=shape,
        ran=ran,
    )


def _number_of(shape: ClassShape, persons: int) -> int:
    return int(shape.classes[shape.persons == persons].sum())


def _by_persons(found: Totals, threshold: float) -> reidentification.Reidentification:
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


def _by_records(found: Totals, threshold: float) -> reidentification.Reidentification:
    number, records = int(found.shape.classes.sum()), int(found.sums["records"])
    at_risk = int(found.sums["at_risk_by_records"]) / records
    share = number / records
    worst = 1 / int(found.least["records"])
    return _risks("_by_records", worst, share, share, at_risk, threshold)


def _risks(
    suffix: str, worst: float, marketer: float, average: float, at_risk: float, threshold: float
) -> reidentification.Reidentification:
    def highest(name: str) -> Measure:
        return Measure(
            name + suffix, worst, why=reidentification.OWN_POPULATION, threshold=threshold
        )

    return reidentification.Reidentification(
        prosecutor=highest("prosecutor"),
        journalist=highest("journalist"),
        marketer=Measure("marketer" + suffix, marketer, why=reidentification.OWN_POPULATION),
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


_RISK, _HOME, _SURE, _SUM, _WHO = (
    f"sfumato_{each}" for each in ("risk", "home", "sure", "sum", "who")
)


def household_on_spark(
    frame: DataFrame,
    classes: DataFrame,
    keys: Sequence[str],
    person: str,
    household: str,
    threshold: float,
) -> reidentification.HouseholdRisk:
    """Risk of every household, as `household_risk` has it: two jobs.

    The riskiest of a person's classes counts, a person belongs to every household of their
    records, and is one alone without any. A class that is larger than a partition is joined in
    parts where Spark's adaptive execution is on, as it is by default.

    Parameters
    ----------
    classes
        What `classes_on_spark` gave for them.
    person, household
        The columns that say whose record it is, and whose the person is; null for none.
    threshold
        Risk above which a household counts as at risk, in (0, 1].
    """
    f = needed("pyspark.sql.functions", extra="spark", by="engine spark")
    named = [f"sfumato_key_{place}" for place in range(len(keys))]
    pairs = zip(keys, named, strict=True)
    sizes = classes.select(*(f.col(key).alias(name) for key, name in pairs), PERSONS)
    # Records shrink to pairs of class and person before the join moves them.
    of_person = frame.groupBy(*keys, person).agg(f.collect_set(household).alias(_HOME))
    # Null is a value of its own here, which a plain join would drop.
    same = [f.col(key).eqNullSafe(f.col(other)) for key, other in zip(keys, named, strict=True)]
    joined = of_person.join(sizes, same).select(person, _HOME, PERSONS)
    persons = joined.groupBy(person).agg(
        (f.lit(1.0) / f.min(PERSONS)).alias(_RISK),
        f.array_distinct(f.flatten(f.collect_list(_HOME))).alias(_HOME),
    )
    housed = persons.select(person, _RISK, f.explode_outer(_HOME).alias(_HOME))
    # Without it all persons that have no household would be grouped as one.
    alone = f.when(f.col(_HOME).isNull(), f.col(person))
    of_home = housed.groupBy(_HOME, alone).agg(
        # log(1 − r) has no value at r = 1, where Spark
        # gives null and not −∞: such households are marked.
        f.max((f.col(_RISK) >= 1).cast("int")).alias(_SURE),
        f.sum(f.when(f.col(_RISK) < 1, f.log1p(-f.col(_RISK)))).alias(_SUM),
    )
    risk = f.when(f.col(_SURE) == 1, f.lit(1.0)).otherwise(f.lit(1.0) - f.exp(_SUM))
    found = of_home.select(risk.alias(_RISK)).agg(
        f.count(f.lit(1)),
        f.max(_RISK),
        f.avg(_RISK),
        f.avg((f.col(_RISK) > threshold * (1 + reidentification.RISK_TOLERANCE)).cast("int")),
    )
    number, most, mean, at_risk = found.first()
    homes = housed.select(person, _HOME).distinct()
    classes_of = of_person.select(person, f.struct(*keys).alias(_WHO))
    composed = (
        homes.join(classes_of, person)
        .groupBy(_HOME, f.when(f.col(_HOME).isNull(), f.col(person)))
        # A list and not a set: two members in one class
        # are two. Sorted, equal households are equal.
        .agg(f.sort_array(f.collect_list(_WHO)).alias(_WHO))
    )
    sharing = composed.groupBy(_WHO).agg(f.count(f.lit(1)).alias(_SUM))
    fewest, different = sharing.agg(f.min(_SUM), f.count(f.lit(1))).first()
    return reidentification.HouseholdRisk(
        households=number,
        max_household_risk=Measure("max_household_risk", most, threshold=threshold),
        avg_household_risk=Measure("avg_household_risk", mean),
        households_at_risk=Measure("households_at_risk", at_risk, why=f"risk above {threshold:g}"),
        household_k=fewest,
        max_composition_risk=Measure("max_composition_risk", 1 / fewest),
        # The mean of 1 / S over households is the number of
        # different ones over all, as S of them share each.
        avg_composition_risk=Measure("avg_composition_risk", different / number),
    )
