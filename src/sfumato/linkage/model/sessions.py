"""Choose the pairs that m is estimated from: those of rules under which true matches are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.optional_packages import quiet
from sfumato.linkage.model.blocked import RulePairs
from sfumato.linkage.spec.columns import quoted
from sfumato.linkage.spec.model import Mode
from sfumato.linkage.standardise.standardise import UNIQUE_ID

if TYPE_CHECKING:
    import duckdb

FEWEST_PAIRS = 20
"""Pairs of a rule from which m is estimated, at least."""
PUREST = 0.2
"""Share of pairs that are not by chance from which a rule is taken."""
SESSIONS = 2
"""Times that the m of a comparison is estimated, where the rules allow it."""
COUNTED_RECORDS = 200_000
"""Records that pairs are counted among, about."""


@dataclass(frozen=True)
class Session:
    """One rule that m is estimated from.

    Attributes
    ----------
    rule
        The rule as SQL.
    matches
        About how many of its pairs are true matches.
    comparisons
        Names of the comparisons that it lets free.
    """

    rule: str
    matches: float
    comparisons: frozenset[str]


def sessions_of_rules(
    counted: Sequence[RulePairs],
    columns: Mapping[str, frozenset[str]],
    rule_columns: Mapping[str, set[str]],
) -> list[Session]:
    """The strictest blocking rules, so that each comparison is free twice where it can be.

    Parameters
    ----------
    counted
        The rules, and the number of pairs that each makes and none before it.
    columns
        Columns that each comparison uses.
    rule_columns
        Columns that each rule uses.
    """
    possible = [
        Session(each.rule, float(each.pairs), _free(columns, rule_columns[each.rule]))
        for each in sorted(counted, key=lambda counted: counted.pairs)
        if each.pairs >= FEWEST_PAIRS
    ]
    return _enough(possible, columns)


def sessions_of_columns(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[str],
    mode: Mode,
    columns: Mapping[str, frozenset[str]],
    u: Mapping[str, float],
    comparisons: int,
) -> list[Session]:
    """Rules of one or two equal columns whose pairs are many more than chance makes.

    By chance the columns i and j are equal in comparisons · uᵢ · uⱼ pairs; what there is more of
    are true matches, about.

    Parameters
    ----------
    connection
        The database.
    tables
        The standardised tables.
    mode
        Which records are compared with which.
    columns
        Columns that each comparison uses, by the comparison's name, which is its column's.
    u
        Share of random pairs that are equal, by comparison.
    comparisons
        Number of pairs of records without blocking.

    Raises
    ------
    SfumatoError
        If the database fails.
    """
    with quiet("choose what to estimate from"):
        share = _count_among(connection, tables)
        possible = []
        for size in (1, 2):
            for names in combinations(columns, size):
                chance = comparisons * float(np.prod([u[name] for name in names]))
                pairs = _pairs(connection, names, mode) / share**2
                if pairs - chance < max(FEWEST_PAIRS, PUREST * pairs):
                    continue
                rule = " AND ".join(f"l.{quoted(name)} = r.{quoted(name)}" for name in names)
                used = set(names)
                possible.append(Session(rule, pairs - chance, _free(columns, used)))
        connection.execute("DROP TABLE counted_among")
    possible.sort(key=lambda session: -session.matches)
    return _enough(possible, columns)


def _free(columns: Mapping[str, frozenset[str]], used: set[str]) -> frozenset[str]:
    return frozenset(name for name, own in columns.items() if not own & used)


def _enough(possible: Sequence[Session], columns: Mapping[str, frozenset[str]]) -> list[Session]:
    """The first sessions that let some comparison free that is not free often enough."""
    times = dict.fromkeys(columns, 0)
    chosen = []
    for session in possible:
        if all(times[name] >= SESSIONS for name in session.comparisons):
            continue
        chosen.append(session)
        for name in session.comparisons:
            times[name] += 1
    return chosen


def _count_among(connection: duckdb.DuckDBPyConnection, tables: Sequence[str]) -> float:
    """Make a table of all records, or of a share of them; gives the share."""
    union = " UNION ALL BY NAME ".join(
        f"SELECT *, {i} AS source_number FROM {table}" for i, table in enumerate(tables)
    )
    rows = connection.execute(f"SELECT count(*) FROM ({union})").fetchall()
    one_of = max(1, round(int(rows[0][0]) / COUNTED_RECORDS))
    connection.execute(
        f"CREATE TABLE counted_among AS SELECT * FROM ({union}) "
        f"WHERE hash({UNIQUE_ID}) % {one_of} = 0"
    )
    return 1 / int(one_of)


def _pairs(connection: duckdb.DuckDBPyConnection, names: Sequence[str], mode: Mode) -> float:
    """Number of pairs of records that are equal in some columns."""
    keys = ", ".join(map(quoted, names))
    there = " AND ".join(f"{quoted(name)} IS NOT NULL" for name in names)
    within = "sum(n) * (sum(n) - 1) / 2"
    across = "(sum(n) * sum(n) - sum(n * n)) / 2"
    rows = connection.execute(
        f"SELECT sum(pairs) FROM (SELECT {across if mode is Mode.LINK_ONLY else within} AS pairs "
        f"FROM (SELECT {keys}, count(*) AS n FROM counted_among WHERE {there} "
        f"GROUP BY {keys}, source_number) GROUP BY {keys})"
    ).fetchall()
    return float(rows[0][0] or 0.0)
