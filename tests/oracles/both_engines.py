"""The measures of both engines side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from oracles.close import close

from sfumato.engines.embedded.counts import group
from sfumato.risk.assessment import measure_classes
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.on_spark.spark_measures import NO_EVENTS, classes_on_spark, risk_of_classes

Columns = dict[str, npt.NDArray[Any]]
THRESHOLD = 0.3


Ranks = Mapping[str, npt.NDArray[np.int32]]


def measured_here(
    columns: Columns, keys: Sequence[str], sensitive: Sequence[str], ranks: Ranks | None = None
) -> Risk:
    """What the embedded engine measures; ``person`` is the column of persons, if there is one."""
    sizes = [int(columns[key].max()) + 1 for key in keys]
    class_of, classes = group([columns[key].astype(np.int32) for key in keys], sizes)
    person = columns.get("person", np.arange(len(class_of)))
    _, number = np.unique(person, return_inverse=True)
    codes = {name: columns[name].astype(np.int32) for name in sensitive}
    persons = number.astype(np.int32)
    return measure_classes(class_of, classes, persons, codes, threshold=THRESHOLD, ranks=ranks)


def measure_on_spark(
    frame: Any,
    keys: Sequence[str],
    person: str | None,
    sensitive: Mapping[str, str],
    value_counts: Mapping[str, npt.NDArray[np.int64]],
    ranks: Ranks | None = None,
    threshold: float = THRESHOLD,
) -> Risk:
    """The risk of a DataFrame: its classes counted there, measured here."""
    classes = classes_on_spark(frame, keys, person, sensitive, value_counts, ranks)
    persons = None if person is None else frame.select(person).distinct().count()
    return risk_of_classes(
        classes, tuple(sensitive), threshold=threshold, persons=persons, warnings=(), ran=None
    )


def measured_on_spark(
    frame: Any,
    columns: Columns,
    keys: Sequence[str],
    sensitive: Sequence[str],
    ranks: Ranks | None = None,
) -> Risk:
    """What Spark measures of a DataFrame with the same columns."""
    return measure_on_spark(
        frame,
        keys,
        "person" if "person" in columns else None,
        {name: name for name in sensitive},
        value_counts={name: frequencies(columns[name]) for name in sensitive},
        ranks=ranks,
    )


def as_frame(spark: Any, columns: Columns) -> Any:
    """The columns as a DataFrame."""
    return spark.createDataFrame(pa.table(columns))


def frequencies(codes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Records with each code, missing ones left out."""
    return np.bincount(codes[codes >= 0], minlength=int(codes.max()) + 1)


def check_same(here: Risk, there: Risk) -> None:
    """All measures of both agree to 12 digits, and so do the distributions of their classes."""
    own, other = here.to_json(), there.to_json()
    for values in (own, other):
        values.pop("positions", None)
        values.pop("ran", None)
    check_values(own, other)
    one, two = here.shape, there.shape
    for name in ("persons", "classes", "records", "gidr"):
        assert getattr(one, name).tolist() == getattr(two, name).tolist(), name
    assert {name: bins.tolist() for name, bins in one.gsar.items()} == {
        name: bins.tolist() for name, bins in two.gsar.items()
    }
    (squares, records), (others, rest) = one.balance, two.balance
    assert squares * rest**2 == others * records**2


DIFFERENCES = {
    "ane", "ane_persons", "correlations", "g_balance", "queries", "sse_sst", "t_closeness",
    "total_variation",
}  # fmt: skip
"""Values that are differences of shares, of correlations or of values over their range.

These are about 1 or smaller.
"""


NOT_ON_SPARK = {"events", "known_events", "known_events_by_number"}
"""What Spark does not measure."""


def check_values(here: Any, there: Any, name: str = "", parts: float = 0.0) -> None:
    """Plain values agree, numbers to 12 digits, differences to those of their parts."""
    if isinstance(here, dict):
        if "warnings" in there:
            told = [each for each in there["warnings"] if each != NO_EVENTS]
            assert (told != there["warnings"]) == ("known_events" in here), name
            there = there | {"warnings": told}
        here = {key: here[key] for key in here if key in there or key not in NOT_ON_SPARK}
        assert here.keys() == there.keys(), name
        for key, value in here.items():
            of = 1.0 if key in DIFFERENCES else here.get("sst") if key == "sse" else parts
            check_values(value, there[key], f"{name}.{key}", of or parts)
    elif isinstance(here, (list, tuple)):
        assert len(here) == len(there), name
        for at, (one, other) in enumerate(zip(here, there, strict=True)):
            check_values(one, other, f"{name}[{at}]", parts)
    elif isinstance(here, float) and math.isfinite(here):
        assert there == close(here, parts), name
    else:
        assert here == there, name
