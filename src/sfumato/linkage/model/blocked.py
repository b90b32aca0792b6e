"""How many pairs the blocking rules make, and how many true matches they may have lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import quiet
from sfumato.linkage.model.settings import SOURCE, compares_sources
from sfumato.linkage.standardise.standardise import UNIQUE_ID
from sfumato.linkage.values import Floats, Ints, Records

if TYPE_CHECKING:
    import duckdb

_FEWEST_CAUGHT = 10
"""Matches caught twice from which it can be said how many are never caught."""
WHOLE_UP_TO = 20_000
"""Number of records up to which the pairs are counted, not estimated from a sample."""


@dataclass(frozen=True)
class RulePairs:
    """The pairs of one blocking rule.

    Attributes
    ----------
    rule
        The rule as SQL.
    pairs
        Number of pairs that it makes and no rule before it.
    """

    rule: str
    pairs: int


def expect_pairs(
    frames: Sequence[Any], settings: dict[str, Any], records: int, rules: Sequence[str]
) -> list[RulePairs]:
    """How many pairs rules are expected to make, by Splink's blocking analysis.

    Counted up to 20,000 records, estimated from a sample of that many beyond.

    Parameters
    ----------
    frames
        The standardised tables as Splink knows them.
    settings
        Splink settings.
    records
        Number of all records.
    rules
        Blocking rules as SQL.

    Raises
    ------
    SfumatoError
        If Splink cannot count them.
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
    """Refuse more candidate pairs than are wanted, before any is scored.

    Parameters
    ----------
    counted
        Pairs of each rule.
    limit
        How many are wanted.
    about
        Whether the numbers are estimates.

    Raises
    ------
    InputError
        If there are more, or none.
    """
    number = sum(each.pairs for each in counted)
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
    connection
        The database.
    tables
        The standardised tables.
    rules
        Blocking rules as SQL.
    pairs
        Numbers of the two records of likely matches, and the probability that they are one.

    Raises
    ------
    SfumatoError
        If the database fails.
    """
    left, right, probability = pairs
    if len(rules) < 2 or not len(left):
        return 0.0
    connection.register("likely_pairs", pa.table({"a": left, "b": right, "p": probability}))
    caught = ", ".join(
        f"CAST(coalesce(({rule}), false) AS INTEGER) AS rule_{i}" for i, rule in enumerate(rules)
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


def lost_by_patterns(matches: Floats, caught: npt.NDArray[np.bool_]) -> float:
    """Expected number of matches that no rule catches.

    Parameters
    ----------
    matches
        Expected number of matches with each pattern of rules.
    caught
        Whether each rule catches them; shape (patterns, rules).
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
        lost = max(lost, (one + 1) * (other + 1) / (both + 1) - 1 - found)
    return lost
