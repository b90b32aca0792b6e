"""All measures of a file that is divided into equivalence classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial

import numpy as np

from sfumato.core.measure import Measure
from sfumato.risk.class_measures import RECURSIVE_L, entropy_l, g_balance, gidr, gsar, recursive_c
from sfumato.risk.classes import (
    ClassBlocks,
    ClassSummary,
    ClassValue,
    Codes,
    Extreme,
    extremes,
    first_row,
)
from sfumato.risk.disclosure_risk import Risk, SensitiveRisk
from sfumato.risk.reidentification import (
    COUNTING_VALUES,
    check_threshold,
    counting_risk,
    reidentification,
    size_values,
)


def measure_classes(
    class_of: Codes,
    classes: int,
    person: Codes,
    sensitive: Mapping[str, Codes],
    *,
    threshold: float,
    shown: Codes | None = None,
    ranks: Mapping[str, Codes] | None = None,
    warnings: tuple[str, ...] = (),
) -> Risk:
    """Measure a file, or a release, whose equivalence classes are known.

    Parameters
    ----------
    class_of
        Class of each record in [0, classes), shape (records,); no class is empty. Positions
        are reported in this numbering, plus one.
    classes
        Number of classes.
    person
        Index of each record's person, from 0, shape (records,).
    sensitive
        Codes of each sensitive attribute, from 0, -1 for missing; shape (records,) each.
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    shown
        Index of the id that each record shows where a person may have several, numbered person
        by person; shape (records,). What an intruder who counts can learn depends on it, all
        other measures on ``person`` alone.
    ranks
        For sensitive attributes whose values are numbers and whose t-closeness is also to be
        measured by ordered distance, the rank of each value, from 0 without a gap.
    warnings
        What the reader should know beside what is found here.

    Raises
    ------
    InputError
        If the threshold is outside (0, 1], there is no record, the arrays differ in length, or
        a class is empty or out of range.
    """
    check_threshold(threshold)
    blocks = ClassBlocks(class_of, classes, person, sensitive, shown, ranks)
    values = _WHOLE | size_values("persons", threshold) | size_values("records", threshold)
    for name in sensitive:
        values |= _of_attribute(name, ordered=name in (ranks or {}))
    found = extremes(blocks, values)
    persons, memberships = _distinct(person), int(found["persons"].total)
    records = len(class_of)
    counting = counting_risk(found, memberships, threshold)
    risks = reidentification(found, "persons", classes, records, threshold)
    return Risk(
        records=records,
        persons=persons,
        classes=classes,
        k=found["records"].whole,
        k_where=found["records"].where,
        pid_k=found["persons"].whole,
        pid_k_where=found["persons"].where,
        g_balance=found["g_balance"].measure("g_balance"),
        max_gidr=found["gidr"].measure("max_gidr"),
        avg_gidr=Measure("avg_gidr", found["gidr"].total / classes),
        **{
            field.name: getattr(group, field.name)
            for group in (risks, counting)
            for field in fields(group)
        },
        by_records=reidentification(found, "records", classes, records, threshold),
        sample_uniques=int(found["one person"].total),
        sample_unique_records=int(found["one record"].total),
        sensitive={name: _sensitive_risk(found, name, classes) for name in sensitive},
        summary=blocks.summary,
        threshold=float(threshold),
        warnings=(*warnings, *spread_warning(memberships, persons)),
    )


def spread_warning(memberships: int, persons: int) -> tuple[str, ...]:
    """Say where persons have records in several classes, which each class hides.

    Parameters
    ----------
    memberships
        Number of persons, each counted in every class that they are in.
    persons
        Number of persons.
    """
    if memberships == persons:
        return ()
    warning = (
        f"a person has records in {memberships / persons:.2f} equivalence classes on average; each "
        "class is measured by itself, so whoever can tell which records belong to one person "
        "learns more than these numbers say."
    )
    return (warning,)


def _row_of_largest(classes: ClassSummary, at: int) -> int:
    return int(classes.largest_row[at])


_WHOLE = COUNTING_VALUES | {
    "g_balance": ClassValue(g_balance, "low", _row_of_largest),
    "gidr": ClassValue(gidr, "high", _row_of_largest),
    "one person": ClassValue(lambda classes: classes.persons == 1, "high"),
    "one record": ClassValue(lambda classes: classes.records == 1, "high"),
}


def _distinct(person: Codes) -> int:
    seen = np.zeros(int(person.max()) + 1, dtype=np.bool_)
    seen[person] = True
    return int(np.count_nonzero(seen))


def _of_attribute(name: str, *, ordered: bool) -> dict[str, ClassValue]:
    """What `_sensitive_risk` reads of the classes."""

    def row_of_shared(classes: ClassSummary, at: int) -> int:
        own = int(classes.affiliation_row[name][at])
        return first_row(classes, at) if own < 0 else own

    values = {
        "gsar": ClassValue(partial(gsar, attribute=name), "high", row_of_shared),
        "distinct": ClassValue(lambda classes: classes.distinct[name], "low"),
        "entropy": ClassValue(partial(entropy_l, attribute=name), "low"),
        **{
            f"recursive {l}": ClassValue(partial(recursive_c, attribute=name, l=l), "high")
            for l in RECURSIVE_L  # noqa: E741
        },
        "distance": ClassValue(lambda classes: classes.distance[name], "high"),
    }
    if ordered:
        values["ordered distance"] = ClassValue(
            lambda classes: classes.ordered_distance[name], "high"
        )
    return {f"{what} of {name}": each for what, each in values.items()}


def _sensitive_risk(found: Mapping[str, Extreme], name: str, classes: int) -> SensitiveRisk:
    sharing, distinct = found[f"gsar of {name}"], found[f"distinct of {name}"]
    ordered = found.get(f"ordered distance of {name}")
    return SensitiveRisk(
        h_affiliation=sharing.measure("h_affiliation"),
        max_gsar=sharing.measure("max_gsar"),
        avg_gsar=Measure("avg_gsar", sharing.total / classes),
        l_distinct=distinct.whole,
        l_distinct_where=distinct.where,
        l_entropy=found[f"entropy of {name}"].measure("l_entropy"),
        recursive={
            l: found[f"recursive {l} of {name}"].measure(f"recursive_{l}")
            for l in RECURSIVE_L  # noqa: E741
        },
        t_closeness=found[f"distance of {name}"].measure("t_closeness"),
        t_closeness_ordered=ordered and ordered.measure("t_closeness_ordered"),
    )
