"""From the classes on the cluster to their sums, extremes and counts of counts on the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.core.extra import needed
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
    rest,
    value_column,
)
from sfumato.risk.class_measures import (
    BIN_ROUNDING,
    RECURSIVE_L,
    SHARE_BINS,
    ClassShape,
    entropy_l_error,
)
from sfumato.risk.classes import Counts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_KIND, _BIN, _CLASSES = "sfumato_kind", "sfumato_bin", "sfumato_classes"
_BY_PERSONS, _BY_GIDR, _BY_GSAR = 0, 1, 2
"""What the classes are counted by; the attributes follow one after the other."""


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
    threshold
        Risk above which a record counts as at risk.
    recursive_l
        The l of recursive (c, l)-diversity, as the classes were counted.

    Raises
    ------
    InputError
        If there is no class.
    """
    f = needed("pyspark.sql.functions", extra="spark", by="the engine spark")
    sums, least, most = _read(len(attributes), threshold, recursive_l, f)
    ordered = {place: value_column(place, ORDERED) for place in range(len(attributes))}
    most |= {
        f"ordered_{place}": f.col(column)
        for place, column in ordered.items()
        if column in classes.columns
    }
    balance = f.struct(_balance(f).alias("g"), f.col(SQUARES), f.col(RECORDS))
    bins = [(f.lit(_BY_PERSONS), f.col(PERSONS)), (f.lit(_BY_GIDR), _bin(_gidr(f), f))]
    bins += [
        (f.lit(_BY_GSAR + place), _bin(_gsar(place, f), f)) for place in range(len(attributes))
    ]
    kinds = [f.struct(kind.alias(_KIND), each.alias(_BIN)) for kind, each in bins]
    found = (
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
