"""Which pairs are compared: the records as Splink gets them, what the rules make and lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import quiet
from sfumato.linkage.comparison_levels import SOURCE, compares_sources
from sfumato.linkage.link_sources import RECORD, Opened
from sfumato.linkage.link_spec import LinkSpec, Mode, part_sql, quoted, sql_name
from sfumato.linkage.match_thresholds import Records
from sfumato.linkage.standardisation import UNIQUE_ID, Standardised, standardise, table_name

if TYPE_CHECKING:
    import duckdb


def make_tables(connection: duckdb.DuckDBPyConnection, opened: Opened) -> Standardised:
    """Standardise the identifying halves; for Splink's own settings, take them as they are."""
    with quiet("standardise the records"):
        if opened.spec.splink is None:
            return standardise(connection, opened.identifying, opened.spec)
        tables = []
        for number, half in enumerate(opened.identifying):
            having = set(connection.read_parquet(str(half)).columns)
            # A table that lacks a column gets it empty, as Splink asks for the same columns of all.
            columns = ", ".join(
                quoted(name) if name in having else f"NULL AS {quoted(name)}"
                for name in opened.columns
            )
            tables.append(table_name(number))
            connection.execute(
                f"CREATE TABLE {tables[-1]} AS SELECT {RECORD} AS {UNIQUE_ID}, {columns} "
                "FROM read_parquet($1)",
                [str(half)],
            )
        return Standardised(tuple(tables), {}, formal=False)


def rules_on_columns(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[str], spec: LinkSpec
) -> list[str]:
    """The blocking rules of a specification, on columns that are added to its tables.

    Splink evaluates a rule for each pair that a later one makes: what a rule takes of a value, as
    its sound, is computed once for each record here.

    Parameters
    ----------
    tables
        The standardised tables; they get a column for each part of a value that a rule takes.

    Raises
    ------
    SfumatoError
        If the database fails.
    """
    # Each part once, however many rules take it.
    taken = dict.fromkeys(part for rule in spec.rules for part in rule if part.take)
    names = {part: f"_part_{number}" for number, part in enumerate(taken)}
    added = ", ".join(
        f"{part_sql(part, spec.columns[part.column].kind)} AS {name}"
        for part, name in names.items()
    )
    if added:
        with quiet("take parts of values"):
            for table in tables:
                connection.execute(
                    f"CREATE OR REPLACE TABLE {table} AS SELECT *, {added} FROM {table}"
                )
    columns = [[names.get(part, sql_name(part.column)) for part in rule] for rule in spec.rules]
    return [
        " AND ".join(f"l.{quoted(name)} = r.{quoted(name)}" for name in rule) for rule in columns
    ]


# A choice: the estimate divides by this number, and of few it is off by a factor.
_FEWEST_CAUGHT = 10
"""Matches caught twice from which it can be said how many are never caught."""
WHOLE_UP_TO = 20_000
"""Number of records up to which the pairs are counted, not estimated from a sample."""


@dataclass(frozen=True)
class RulePairs:
    """The pairs of one blocking rule."""

    rule: str
    pairs: int


def expect_pairs(
    frames: Sequence[Any], settings: dict[str, Any], records: int, rules: Sequence[str]
) -> list[RulePairs]:
    """How many pairs rules are expected to make, by Splink's blocking analysis.

    Counted up to 20,000 records, estimated from a sample of that many beyond.
    """
    from splink.blocking_analysis import count_comparisons_from_blocking_rules

    with quiet("count the candidate pairs"):
        counted = count_comparisons_from_blocking_rules(
            list(frames),
            blocking_rules=list(rules),
            link_type=settings["link_type"],
            unique_id_column_name=UNIQUE_ID,
            source_dataset_column_name=SOURCE if compares_sources(settings) else None,
            record_sample_proportion=min(1.0, WHOLE_UP_TO / max(records, 1)),
        )
    pairs = [int(each["marginal_comparison_count"]) for each in counted]
    return [RulePairs(rule, number) for rule, number in zip(rules, pairs, strict=True)]


def check_pairs(counted: Sequence[RulePairs], limit: int, *, about: bool) -> None:
    """Refuse more candidate pairs than are wanted, before any is scored."""
    number = sum(rule_pairs.pairs for rule_pairs in counted)
    # A sample may hold no pair of rules that make some: only an exact 0 is refused.
    if not number and not about:
        raise InputError(
            "the blocking rules",
            "must bring records together",
            found="no two records that are equal in all parts of a rule",
            advice="add a rule with fewer parts",
        )
    if number <= limit:
        return
    most = max(range(len(counted)), key=lambda rule: counted[rule].pairs)
    raise InputError(
        "the blocking rules",
        f"must make at most {limit:,} candidate pairs",
        found=f"{'about ' if about else ''}{number:,} pairs, {counted[most].pairs:,} of them by "
        f"rule {most + 1}",
        advice="make that rule stricter, or allow that many pairs with max_pairs",
    )


def comparisons(settings: dict[str, Any], records: Records) -> int:
    """Number of pairs of records that are compared where there is no blocking."""
    sizes = [len(ids) for ids in records.ids]
    # Pairs across sources: ((Σ n)² − Σ n²) / 2.
    across = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    if settings["link_type"] == "link_only":
        return across
    return across + sum(size * (size - 1) // 2 for size in sizes)


def lost_matches(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[str],
    rules: Sequence[str],
    pairs: tuple[Ints, Ints, Floats],
) -> float:
    """Expected number of true matches that no rule brings together, by capture and recapture.

    Each rule against all others together: if a rule catches a matches, the others b, and both c of
    them, there are (a + 1)(b + 1) / (c + 1) − 1 (Chapman 1951) where it catches independently of
    the others. Rules that share columns do not, and then this is too low; so the rule that says
    most counts.

    Parameters
    ----------
    pairs
        Numbers of the two records of likely matches, and the probability that they are one.

    Raises
    ------
    SfumatoError
        If the database fails.
    """
    left, right, probability = pairs
    # One rule alone catches nothing twice.
    if len(rules) < 2 or not len(left):
        return 0.0
    connection.register("likely_pairs", pa.table({"a": left, "b": right, "p": probability}))
    caught = ", ".join(
        # A missing value makes the rule neither true nor false, and no catch.
        f"CAST(coalesce(({rule}), false) AS INTEGER) AS rule_{i}"
        for i, rule in enumerate(rules)
    )
    union = " UNION ALL BY NAME ".join(f"SELECT * FROM {table}" for table in tables)
    with quiet("see what blocking has lost"):
        rows = connection.execute(
            f"WITH every AS ({union}) SELECT sum(p), {caught} FROM likely_pairs "
            f"JOIN every l ON l.{UNIQUE_ID} = a JOIN every r ON r.{UNIQUE_ID} = b "
            "GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    connection.unregister("likely_pairs")
    patterns = np.array(rows, dtype=np.float64)
    return lost_by_patterns(patterns[:, 0], patterns[:, 1:] > 0)


def lost_by_patterns(matches: Floats, caught: Bools) -> float:
    """Expected number of matches that no rule catches.

    Matches have shape (patterns,); which rules catch them, (patterns, rules).
    """
    lost = 0.0
    found = float(matches[caught.any(axis=1)].sum())
    for rule in range(caught.shape[1]):
        others = np.delete(caught, rule, axis=1).any(axis=1)
        own = caught[:, rule]
        both = float(matches[own & others].sum())
        if both < _FEWEST_CAUGHT:
            continue
        one, other = float(matches[own].sum()), float(matches[others].sum())
        # Chapman's estimate of all matches, less those that are found.
        lost = max(lost, (one + 1) * (other + 1) / (both + 1) - 1 - found)
    return lost


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
    """One rule that m is estimated from."""

    rule: str
    matches: float
    comparisons: frozenset[str]


def sessions_of_rules(
    counted: Sequence[RulePairs],
    columns: Mapping[str, frozenset[str]],
    rule_columns: Mapping[str, set[str]],
) -> list[Session]:
    """The strictest blocking rules, so that each comparison is free twice where it can be.

    Each rule has the number of pairs that it makes and none before it.
    """
    possible = [
        Session(
            rule_pairs.rule, float(rule_pairs.pairs), _free(columns, rule_columns[rule_pairs.rule])
        )
        # The fewest pairs first: a strict rule has the largest share of matches.
        for rule_pairs in sorted(counted, key=lambda counted: counted.pairs)
        if rule_pairs.pairs >= FEWEST_PAIRS
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
    columns
        Columns that each comparison uses, by the comparison's name, which is its column's.
    u
        Share of random pairs that are equal, by comparison.

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
                # A pair is counted if both of its records are: share² of them.
                pairs = _pairs(connection, names, mode) / share**2
                # Where chance makes most pairs, EM would split noise.
                if pairs - chance < max(FEWEST_PAIRS, PUREST * pairs):
                    continue
                rule = " AND ".join(f"l.{quoted(name)} = r.{quoted(name)}" for name in names)
                used = set(names)
                possible.append(Session(rule, pairs - chance, _free(columns, used)))
        connection.execute("DROP TABLE counted_among")
    possible.sort(key=lambda session: -session.matches)
    return _enough(possible, columns)


def _free(columns: Mapping[str, frozenset[str]], used: set[str]) -> frozenset[str]:
    return frozenset(name for name, column in columns.items() if not column & used)


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
        # By a hash: the same records on each run, whatever order the tables have.
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
