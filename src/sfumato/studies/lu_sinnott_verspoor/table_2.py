"""Table 2 beside simulated draws, and whether its shape holds in every one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.studies.lu_sinnott_verspoor.published import KS, PUBLISHED
from sfumato.studies.lu_sinnott_verspoor.schemes import CONFIDENCE, SUPPORT, Outcome
from sfumato.studies.study import Cell, Column, Grid, Section

LOSS_WITHIN = 0.02
"""By how much SLA's SSE/SST may exceed LA's."""
Key = tuple[str, int, int]
"""Scheme, time and k."""


def table_2_section(draws: Sequence[Sequence[Outcome]], associations: Sequence[int]) -> Section:
    """Table 2, its shape, and how they were made.

    Parameters
    ----------
    draws
        The outcomes of each draw.
    associations
        How many associations each draw's first release told.
    """
    by_key: dict[Key, list[Outcome]] = {}
    for draw in draws:
        for one in draw:
            by_key.setdefault((one.scheme, one.time, one.k), []).append(one)
    drawn = (
        "The paper's data is not public. Each draw simulates 1,000 patients of a registry and "
        "1,850 respondents of a survey, 500 in both; the language depends on the ethnicity. "
        "Shares are invented, and each tuple is generalised in the cheapest way, where the paper "
        "says no order: the values cannot agree with the paper's, the shape can."
    )
    mined = (
        f"Associations (support {100 * SUPPORT:.0f} % or more, confidence {100 * CONFIDENCE:.0f} % "
        "or more; the paper gives no thresholds) are mined from the 2-anonymous release at time 1 "
        f"and all accepted: {min(associations)} to {max(associations)} of them. Ranges hold the "
        f"middle 95 % of {len(draws)} draws."
    )
    counted = (
        "Eq. 3 counts a person whom a refinement excludes with 0, and SLA hides that person among "
        "k again: where that happens to many, SLA's mean may pass LA's. Before the luckiest "
        "reader, who believes only what is true of each person, it cannot."
    )
    return Section("Table 2: LA and SLA", (drawn, mined, counted), (_table(by_key), _shape(by_key)))


def _table(by_key: Mapping[Key, Sequence[Outcome]]) -> Grid:
    columns = [Column("time", "time"), Column("k", "k"), Column("scheme", "scheme")]
    for key, label in (("risk", "risk"), ("loss", "SSE/SST")):
        columns += [
            Column(f"{key}_paper", f"{label} %, paper", 1, percent=True),
            Column(key, f"{label} %, mean", 1, percent=True),
            Column(f"{key}_low", "low", 1, percent=True),
            Column(f"{key}_high", "high", 1, percent=True),
        ]
    rows: list[tuple[Cell, ...]] = []
    for time in (1, 2):
        for place, k in enumerate(KS):
            for scheme in ("LA", "SLA"):
                found = by_key[scheme, time, k]
                printed = PUBLISHED[scheme, time]
                rows.append(
                    (
                        time,
                        k,
                        scheme,
                        printed["risk"][place] / 100,
                        *_summary([one.risk for one in found]),
                        printed["loss"][place] / 100,
                        *_summary([one.loss for one in found]),
                    )
                )
    caption = "Disclosure risk (Eq. 3) and SSE/SST (Eq. 4), the paper's and simulated"
    return Grid("table_2", caption, tuple(columns), tuple(rows))


def _shape(by_key: Mapping[Key, Sequence[Outcome]]) -> Grid:
    columns = (
        Column("k", "k"),
        Column("draws", "draws"),
        Column("risk_not_above", "SLA's risk at most LA's"),
        Column("risk_below", "below it"),
        Column("largest_not_above", "before the luckiest reader, at most LA's"),
        Column("loss_within", "loss within 2 points"),
        Column("largest_gap", "largest loss gap, points", 2, percent=True),
        Column("changed", "tuples changed, mean", 1),
    )
    rows = []
    for k in KS:
        pairs = list(zip(by_key["LA", 2, k], by_key["SLA", 2, k], strict=True))
        gaps = [semantic.loss - linkage.loss for linkage, semantic in pairs]
        rows.append(
            (
                k,
                len(pairs),
                sum(semantic.risk <= linkage.risk + 1e-12 for linkage, semantic in pairs),
                sum(semantic.risk < linkage.risk - 1e-12 for linkage, semantic in pairs),
                sum(semantic.largest <= linkage.largest + 1e-12 for linkage, semantic in pairs),
                sum(gap <= LOSS_WITHIN for gap in gaps),
                max(gaps),
                float(np.mean([semantic.changed for _, semantic in pairs])),
            )
        )
    return Grid("shape", "The shape of Table 2 at time 2, in how many draws", columns, tuple(rows))


def _summary(values: Sequence[float]) -> tuple[float, float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(np.mean(values)), float(low), float(high)
