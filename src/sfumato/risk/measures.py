"""All measures of a file that is divided into equivalence classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure
from sfumato.kernels.threads import in_background
from sfumato.risk.classes import ClassSummary
from sfumato.risk.diversity import entropy_l, recursive_c
from sfumato.risk.extremes import extreme, highest, smallest_count
from sfumato.risk.known_counts import known_counts
from sfumato.risk.multi_record import g_balance, gidr, gsar
from sfumato.risk.reidentification import by_persons, by_records, check_threshold
from sfumato.risk.result import Risk
from sfumato.risk.sensitive import SensitiveRisk
from sfumato.risk.summary import summarize

Codes = npt.NDArray[np.int32]


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
    summary = summarize(class_of, classes, person, sensitive, shown, ranks)
    classical = in_background(partial(by_records, summary, threshold))
    persons = _distinct(person)
    record_risk = extreme(gidr, summary, "high")
    k, k_where = smallest_count(summary.records, summary.first_row)
    pid_k, pid_k_where = smallest_count(summary.persons, summary.first_row)
    risks, counting = by_persons(summary, threshold), known_counts(summary, threshold)
    return Risk(
        records=len(class_of),
        persons=persons,
        classes=classes,
        k=k,
        k_where=k_where,
        pid_k=pid_k,
        pid_k_where=pid_k_where,
        g_balance=extreme(g_balance, summary, "low").measure("g_balance", summary.largest_row),
        max_gidr=record_risk.measure("max_gidr", summary.largest_row),
        avg_gidr=Measure("avg_gidr", record_risk.mean),
        **{
            field.name: getattr(group, field.name)
            for group in (risks, counting)
            for field in fields(group)
        },
        by_records=classical(),
        sample_uniques=int(np.count_nonzero(summary.persons == 1)),
        sample_unique_records=int(np.count_nonzero(summary.records == 1)),
        sensitive={name: _sensitive_risk(summary, name) for name in sensitive},
        summary=summary,
        threshold=float(threshold),
        warnings=(*warnings, *_spread_warning(summary, persons)),
    )


def _distinct(person: Codes) -> int:
    seen = np.zeros(int(person.max()) + 1, dtype=np.bool_)
    seen[person] = True
    return int(np.count_nonzero(seen))


def _sensitive_risk(summary: ClassSummary, name: str) -> SensitiveRisk:
    sharing = extreme(partial(gsar, attribute=name), summary, "high")
    own_rows, first_row = summary.affiliation_row[name], summary.first_row
    rows = first_row if own_rows[sharing.at] < 0 else own_rows
    l_distinct, l_distinct_where = smallest_count(summary.distinct[name], first_row)
    entropy = extreme(partial(entropy_l, attribute=name), summary, "low")
    return SensitiveRisk(
        h_affiliation=sharing.measure("h_affiliation", rows),
        max_gsar=sharing.measure("max_gsar", rows),
        avg_gsar=Measure("avg_gsar", sharing.mean),
        l_distinct=l_distinct,
        l_distinct_where=l_distinct_where,
        l_entropy=entropy.measure("l_entropy", first_row),
        recursive={
            l: extreme(partial(recursive_c, attribute=name, l=l), summary, "high").measure(
                f"recursive_{l}", first_row
            )
            for l in (2, 3)  # noqa: E741
        },
        t_closeness=highest("t_closeness", summary.distance[name], first_row),
        t_closeness_ordered=highest(
            "t_closeness_ordered", summary.ordered_distance[name], first_row
        )
        if name in summary.ordered_distance
        else None,
    )


def _spread_warning(summary: ClassSummary, persons: int) -> tuple[str, ...]:
    """Say where persons have records in several classes, which each class hides."""
    held = int(summary.persons.sum())
    if held == persons:
        return ()
    warning = (
        f"a person has records in {held / persons:.2f} equivalence classes on average; each "
        "class is measured by itself, so whoever can tell which records belong to one person "
        "learns more than these numbers say."
    )
    return (warning,)
