"""One comparison level: when two values are in it, and how often they are at first sight."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a comparison; the last one of a comparison takes all that is left.

    Attributes
    ----------
    label
        How charts call it.
    sql
        When two records are in it; columns end in ``_l`` and ``_r``.
    m
        Share of true matches in it, before anything is estimated.
    u
        Share of other pairs in it, before anything is estimated.
    neutral
        Whether it counts neither way, because another comparison counts it.
    """

    label: str
    sql: str
    m: float
    u: float
    neutral: bool = False


def left(name: str) -> str:
    """The column of the left record."""
    return f'"{name}_l"'


def right(name: str) -> str:
    """The column of the right record."""
    return f'"{name}_r"'


def equal(name: str) -> str:
    """When both records have the same value."""
    return f"{left(name)} = {right(name)}"


def missing(name: str) -> str:
    """When one of the records has no value."""
    return f"{left(name)} IS NULL OR {right(name)} IS NULL"


def within(name: str, distance: int, *, length: int = 0) -> str:
    """When the values are few insertions, deletions, changes or swaps of neighbours apart.

    A swap is two changes, so the plain distance, which is much faster, rules out most values.

    Parameters
    ----------
    name
        The column.
    distance
        How many.
    length
        Least length of both values.
    """
    one, other = left(name), right(name)
    conditions = [f"length({side}) >= {length}" for side in (one, other)] if length else []
    conditions.append(f"levenshtein({one}, {other}) <= {2 * distance}")
    conditions.append(f"damerau_levenshtein({one}, {other}) <= {distance}")
    return " AND ".join(conditions)


def similar(name: str, similarity: float) -> str:
    """When the Jaro-Winkler similarity of the values is high.

    Parameters
    ----------
    name
        The column.
    similarity
        From how much on, in [0, 1].
    """
    return f"jaro_winkler_similarity({left(name)}, {right(name)}) >= {similarity}"


def rest(m: float, u: float) -> Level:
    """The last level."""
    return Level("different", "ELSE", m, u)
