"""All measures of a file that is divided into equivalence classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from sfumato.core.measure import Measure
from sfumato.risk.classes import ClassSummary
from sfumato.risk.diversity import entropy_l, recursive_c
from sfumato.risk.extremes import highest, lowest, smallest_count
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
    persons = int(np.count_nonzero(np.bincount(person)))
    balance, record_risk = g_balance(summary), gidr(summary)
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
        g_balance=lowest("g_balance", balance, summary.largest_row),
        max_gidr=highest("max_gidr", record_risk, summary.largest_row),
        avg_gidr=Measure("avg_gidr", float(record_risk.mean())),
        **{
            field.name: getattr(group, field.name)
            for group in (risks, counting)
            for field in fields(group)
        },
        by_records=by_records(summary, threshold),
        sample_uniques=int((summary.persons == 1).sum()),
        sample_unique_records=int((summary.records == 1).sum()),
        sensitive={name: _sensitive_risk(summary, name) for name in sensitive},
        summary=summary,
        threshold=float(threshold),
        warnings=(*warnings, *_spread_warning(summary, persons)),
    )


def _sensitive_risk(summary: ClassSummary, name: str) -> SensitiveRisk:
    sharing = gsar(summary, name)
    own_rows = summary.affiliation_row[name]
    rows = np.where(own_rows < 0, summary.first_row, own_rows)
    l_distinct, l_distinct_where = smallest_count(summary.distinct[name], summary.first_row)
    return SensitiveRisk(
        h_affiliation=highest("h_affiliation", sharing, rows),
        max_gsar=highest("max_gsar", sharing, rows),
        avg_gsar=Measure("avg_gsar", float(sharing.mean())),
        l_distinct=l_distinct,
        l_distinct_where=l_distinct_where,
        l_entropy=lowest("l_entropy", entropy_l(summary, name), summary.first_row),
        recursive={
            l: highest(f"recursive_{l}", recursive_c(summary, name, l), summary.first_row)
            for l in (2, 3)  # noqa: E741
        },
        t_closeness=highest("t_closeness", summary.distance[name], summary.first_row),
        t_closeness_ordered=highest(
            "t_closeness_ordered", summary.ordered_distance[name], summary.first_row
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
