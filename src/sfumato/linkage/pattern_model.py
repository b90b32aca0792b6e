"""P(match | pattern of agreement), from pairs within a source that are known to be no matches.

A model that takes each agreement by itself finds households where persons live in them: their
members agree in surname, address and telephone at once. Where a source holds each person once, its
own pairs show how often different persons agree in what together. What the pairs of two sources
have more of, pattern by pattern, are their matches: target and decoy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_array

from sfumato.core.optional_packages import quiet
from sfumato.linkage.link_model import LevelWeight, level_weights
from sfumato.linkage.match_thresholds import Floats, Ints, Pairs, Records
from sfumato.linkage.standardisation import UNIQUE_ID

if TYPE_CHECKING:
    import duckdb

Levels = Mapping[str, npt.NDArray[np.int8]]

MOST_KNOWN = 2_000_000
"""Pairs within sources that are compared, about; of more, those of some of the records are."""
BANDS = 4
"""Parts of equal values, from frequent to rare, that are counted apart."""
SEEN = 30
"""Pairs from which two levels together have a weight of their own."""
_ALONE, _TOGETHER, _OWN, _SCALE, _SHARE = 3.0, 0.7, 0.7, 0.05, 2.0
"""Spread, in nats, of what is expected beside the first guess: of a level's weight, of that of two
levels together, of a pattern's own; of how much oftener persons of two sources agree in a level
than those of one; of the share of duplicates in a source."""
_FIRST_SHARE = np.log(1e-3)
_LEAST_SHARE = -20.0
_STEPS = 150
_FEW_DUPLICATES = 0.005
"""Share of duplicates among a source's records up to which it holds each person once."""
_WIDEST = 30.0
_ENOUGH = 0.5
"""Share of the greatest weight of all-equal pairs from which enough values of a pair are there."""
_FAR_MORE, _FEWEST, _REPEATED = 10.0, 5.0, 0.01
"""How many times as often as by chance, how many, and in what share of a source's records pairs
agree in everything where these are in doubt: twins without a given name are fewer."""


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """Candidate pairs within sources; arrays of shape (pairs,).

    Attributes
    ----------
    left, right
        Numbers of the two records.
    levels
        The comparison level of each, as in `Pairs`.
    share
        Share of all such pairs that they are.
    """

    left: Ints
    right: Ints
    levels: dict[str, npt.NDArray[np.int8]]
    share: float

    def taken(self, which: npt.NDArray[np.bool_]) -> KnownPairs:
        """Some of the pairs."""
        levels = {name: level[which] for name, level in self.levels.items()}
        return KnownPairs(self.left[which], self.right[which], levels, self.share)


@dataclass(frozen=True, eq=False)
class PatternFit:
    """What the patterns say of pairs.

    Attributes
    ----------
    score
        Probability of each candidate pair; shape (pairs,).
    matches
        Expected number of matches among them.
    duplicates
        Expected number of pairs within each source, among those compared, that are one person's.
    once
        Names of the sources that were found to hold each person once.
    """

    score: Floats
    matches: float
    duplicates: dict[str, float]
    once: tuple[str, ...]


def known_pairs(
    connection: duckdb.DuckDBPyConnection,
    tables: Sequence[str],
    settings: dict[str, Any],
    rules: Sequence[str],
    expected: float,
) -> KnownPairs:
    """Compare the pairs within each source that the blocking rules bring together.

    Parameters
    ----------
    connection
        The database.
    tables
        The standardised tables, one of each source.
    settings
        Splink settings, whose comparison levels are SQL.
    rules
        Blocking rules as SQL.
    expected
        About how many such pairs there are.

    Raises
    ------
    SfumatoError
        If the database fails.
    """
    every = max(1, round(expected / MOST_KNOWN))
    cases = [
        f'CAST({_level_sql(each["comparison_levels"])} AS TINYINT) AS "level_{number}"'
        for number, each in enumerate(settings["comparisons"])
    ]
    found: list[list[npt.NDArray[Any]]] = []
    with quiet("compare the records of a source with each other"):
        for table in tables:
            columns = [
                f'l."{name}" AS "{name}_l", r."{name}" AS "{name}_r"'
                for name in connection.table(table).columns
                if name != UNIQUE_ID
            ]
            pairs = " UNION ".join(
                f"SELECT l.{UNIQUE_ID} AS a, r.{UNIQUE_ID} AS b FROM {table} l JOIN {table} r "
                f"ON {rule} AND l.{UNIQUE_ID} < r.{UNIQUE_ID} "
                f"WHERE hash(l.{UNIQUE_ID}) % {every} = 0"
                for rule in rules
            )
            got = connection.execute(
                f"WITH p AS ({pairs}), q AS (SELECT a, b, {', '.join(columns)} FROM p "
                f"JOIN {table} l ON l.{UNIQUE_ID} = a JOIN {table} r ON r.{UNIQUE_ID} = b) "
                f"SELECT a, b, {', '.join(cases)} FROM q ORDER BY a, b"
            ).fetchnumpy()
            found.append([np.asarray(column) for column in got.values()])
    left, right, *levels = (np.concatenate(each) for each in zip(*found, strict=True))
    names = [each["output_column_name"] for each in settings["comparisons"]]
    return KnownPairs(
        left.astype(np.int64), right.astype(np.int64), dict(zip(names, levels, strict=True)),
        1 / every,
    )  # fmt: skip


def _level_sql(levels: Sequence[Mapping[str, Any]]) -> str:
    """The number of a pair's comparison level: -1 for missing values, 0 for the last one."""
    number, cases = sum(not each.get("is_null_level") for each in levels), ["CASE"]
    for each in levels:
        number -= not each.get("is_null_level")
        value = -1 if each.get("is_null_level") else number
        other = each["sql_condition"].strip().upper() == "ELSE"
        cases.append(f"ELSE {value}" if other else f"WHEN {each['sql_condition']} THEN {value}")
    return " ".join([*cases, "END"])


def value_shares(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[str], settings: dict[str, Any]
) -> dict[str, Floats]:
    """Share of all records that have each record's value, where its frequency counts.

    Parameters
    ----------
    connection
        The database.
    tables
        The standardised tables.
    settings
        Splink settings.

    Returns
    -------
    dict
        By comparison; 0 where a value is missing; shape (records,).

    Raises
    ------
    SfumatoError
        If the database fails.
    """
    union = " UNION ALL BY NAME ".join(f"SELECT * FROM {table}" for table in tables)
    shares = {}
    with quiet("count equal values"):
        for each in settings["comparisons"]:
            levels = each["comparison_levels"]
            names = [own["tf_adjustment_column"] for own in levels if own.get(_BY_FREQUENCY)]
            if names:
                column = '"' + names[0].strip('"') + '"'
                got = connection.execute(
                    f"SELECT count({column}) OVER (PARTITION BY {column}) AS n FROM ({union}) "
                    f"ORDER BY {UNIQUE_ID}"
                ).fetchnumpy()
                count = np.asarray(got["n"], dtype=np.float64)
                shares[each["output_column_name"]] = count / float(
                    max(int(np.count_nonzero(count)), 1)
                )
    return shares


_BY_FREQUENCY = "tf_adjustment_column"


def known_weights(
    known: KnownPairs, settings: dict[str, Any], shares: Mapping[str, Floats]
) -> Floats:
    """Match weight of each pair without the prior, in bits, as Splink has it.

    Parameters
    ----------
    known
        The pairs.
    settings
        Trained Splink settings.
    shares
        As `value_shares` gives them.
    """
    weights = tuple(level_weights(settings))
    total = np.zeros(len(known.left))
    for name, level in known.levels.items():
        own = {each.level: each for each in weights if each.comparison == name}
        of_level = np.zeros(max(own) + 2)
        for number, each in own.items():
            of_level[number + 1] = each.weight
        total += of_level[level.astype(np.int64) + 1]
        top = own[max(own)]
        if name in shares and top.by_frequency:
            equal = level == top.level
            seen = np.maximum(shares[name][known.left[equal]], 1e-9)
            total[equal] += np.log2(top.u / seen)
    return total


def repeated_within(
    known: KnownPairs, weight: Floats, weights: Sequence[LevelWeight], records: Records
) -> dict[str, float]:
    """Pairs within each source that agree in everything, far more of them than chance explains.

    Of pairs whose values are all equal, or missing, and of which enough are there, different
    persons are expected to have Σ u = Σ m 2^-w times as many as there are pairs of records, with w
    the match weight. What there is more is one person's, or nothing that is compared tells these
    persons apart: either way they are no known non-matches.

    Parameters
    ----------
    known
        Pairs within sources.
    weight
        Match weight of each without the prior, in bits.
    weights
        What the levels say.
    records
        The records.

    Returns
    -------
    dict
        By source, estimated number of such pairs; only where they are far more than by chance, and
        not just a few of the source's records.
    """
    equal = np.ones(len(known.left), dtype=np.bool_)
    for name, level in known.levels.items():
        top = max(each.level for each in weights if each.comparison == name)
        equal &= (level == top) | (level == -1)
    equal &= weight >= _ENOUGH * weight[equal].max(initial=0.0)
    source, found = records.source_of(known.left), {}
    for number, (name, ids) in enumerate(zip(records.sources, records.ids, strict=True)):
        own = equal & (source == number)
        seen = int(own.sum()) / known.share
        if seen:
            by_chance = len(ids) * (len(ids) - 1) / 2 * float(np.exp2(-weight[own]).mean())
            more = seen - by_chance
            if seen > _FAR_MORE * by_chance and more > max(_FEWEST, _REPEATED * len(ids)):
                found[name] = more
    return found


def fit_patterns(
    pairs: Pairs,
    evidence: Floats,
    known: tuple[KnownPairs, Floats] | None,
    records: Records,
    shares: Mapping[str, Floats],
    declared: Collection[str] = (),
) -> PatternFit | None:
    """Probability of each pair by its pattern of agreement.

    Of pattern γ a group g of pairs (within one source, or between two) has λ_g(γ) = W(γ) · [s_g +
    μ_g · exp η(γ)] pairs: W(γ) is how often different persons agree so, s_g the size of the group
    without blocking, exp η(γ) the odds of a match at equal shares, and μ_g how many matches the
    group has. W is conditioned out, so that nothing is said of how agreements of different
    persons depend on each other; η is log-linear in the levels and their pairs, with a term of
    each pattern's own, all shrunk towards the independent model's match weight by normal priors.
    μ of a source that holds each person once is 0; of others it is estimated: patterns of which
    within and across have one ratio, however much agrees, are matches in both. This is the
    mutual contamination model (Blanchard, Flaska, Handy, Pozzi and Scott 2016, Electronic Journal
    of Statistics 10:2780-2824) with whole patterns of agreement as in Winkler (1989) and Larsen
    and Rubin (2001, JASA 96:32-41).

    Parameters
    ----------
    pairs
        The candidate pairs, their scores open.
    evidence
        Match weight of each without the prior, in bits.
    known
        Pairs within sources and their match weights, where the candidates are of two sources only.
    records
        The records.
    shares
        Share of the records that have a record's value, by comparison.
    declared
        Names of the sources that have at most one record per person.

    Returns
    -------
    PatternFit or None
        None where there are no two groups to hold against each other.
    """
    left, levels, weight = pairs.left, dict(pairs.levels), evidence
    group_l, group_r = records.source_of(pairs.left), records.source_of(pairs.right)
    if known is not None:
        more, own = known
        left = np.concatenate([left, more.left])
        levels = {name: np.concatenate([each, more.levels[name]]) for name, each in levels.items()}
        weight = np.concatenate([weight, own])
        group_l = np.concatenate([group_l, records.source_of(more.left)])
        group_r = np.concatenate([group_r, records.source_of(more.right)])
    sizes = [len(ids) for ids in records.ids]
    groups, group = np.unique(group_l * len(sizes) + group_r, return_inverse=True)
    one, other = np.divmod(groups, len(sizes))
    across = one != other
    if not np.any(across) or (known is None and np.all(across)):
        return None
    table = _tabulated(levels, left, shares)
    patterns, pattern = np.unique(table, axis=0, return_inverse=True)
    pattern = pattern.reshape(-1)
    count = np.zeros((len(groups), len(patterns)))
    np.add.at(count, (group, pattern), 1.0)
    part = 1.0 if known is None else known[0].share
    space = np.array(
        [
            sizes[a] * (sizes[b] if a != b else (sizes[b] - 1) / 2 * part)
            for a, b in zip(one.tolist(), other.tolist(), strict=True)
        ]
    )  # fmt: skip
    whole = sum(a * b for a, b in combinations(sizes, 2))
    prior = np.log(max(min(sizes) / 2, 1.0) / max(whole, 1))
    offset = np.bincount(pattern, weight, len(patterns)) / count.sum(axis=0) * np.log(2) + prior
    once = np.array(
        [not c and records.sources[a] in declared for a, c in zip(one, across, strict=True)]
    )
    odds = _fitted(
        patterns, count, space / space[across].sum(), across, once, np.clip(offset, -12, 12)
    )
    probability = odds / (1 + odds)
    expected = (count * probability).sum(axis=1)
    duplicates = {
        records.sources[a]: float(expected[g]) / part
        for g, a in enumerate(one.tolist())
        if not across[g]
    }
    found = () if known is None else tuple(
        name
        for name, size in zip(records.sources, sizes, strict=True)
        if duplicates.get(name, 0.0) <= max(1.0, _FEW_DUPLICATES * size)
    )  # fmt: skip
    score = probability[group[: len(pairs)], pattern[: len(pairs)]]
    return PatternFit(score, float(score.sum()), duplicates, found)


def _tabulated(levels: Levels, left: Ints, shares: Mapping[str, Floats]) -> npt.NDArray[np.int8]:
    """A row of levels for each pair; equal values apart by how many records have them."""
    columns = []
    for name, level in levels.items():
        code = level.astype(np.int8) + np.int8(1)
        if name in shares:
            share = shares[name]
            there = share[share > 0] if share.any() else np.ones(1)
            edges = np.quantile(there, np.arange(1, BANDS) / BANDS)
            band = np.searchsorted(np.unique(edges), share, side="right").astype(np.int8)
            top = code.max(initial=0)
            code = np.where(code == top, top + band[left], code).astype(np.int8)
        columns.append(code)
    return np.column_stack(columns)


def _features(patterns: npt.NDArray[np.int8], count: Floats) -> tuple[csr_array, Floats, int]:
    """Which levels, and which two levels together, each pattern has, and the prior of each."""
    sought = [(patterns[:, j].astype(np.int64), _ALONE) for j in range(patterns.shape[1])]
    sought += [
        (patterns[:, i].astype(np.int64) * 128 + patterns[:, j], _TOGETHER)
        for i, j in combinations(range(patterns.shape[1]), 2)
    ]
    rows: list[Ints] = []
    columns: list[Ints] = []
    precision: list[float] = []
    alone = 0
    for code, spread in sought:
        _, which = np.unique(code, return_inverse=True)
        enough = np.bincount(which, count) >= SEEN
        number = np.cumsum(enough) - 1 + len(precision)
        held = np.flatnonzero(enough[which])
        rows.append(held)
        columns.append(number[which[held]])
        precision += [1 / spread**2] * int(enough.sum())
        alone += int(enough.sum()) if spread == _ALONE else 0
    row, column = np.concatenate(rows), np.concatenate(columns)
    shape = (len(patterns), len(precision))
    return csr_array((np.ones(len(row)), (row, column)), shape=shape), np.array(precision), alone


def _fitted(
    patterns: npt.NDArray[np.int8],
    count: Floats,
    space: Floats,
    across: npt.NDArray[np.bool_],
    once: npt.NDArray[np.bool_],
    offset: Floats,
) -> Floats:
    """Odds of a match by group and pattern, of greatest posterior density (L-BFGS)."""
    whole = count.sum(axis=0)
    features, precision, alone = _features(patterns, whole)
    single = features[:, :alone]
    turned, single_turned = features.T.tocsr(), single.T.tocsr()
    first = int(np.argmax(across))
    free = np.array([g for g in np.flatnonzero(~once).tolist() if g != first], dtype=np.int64)
    usual = np.where(across, 0.0, _FIRST_SHARE)[free]
    ends = np.cumsum([1, features.shape[1], len(patterns), alone, len(free)])
    prior = np.concatenate(
        [
            [0.01],
            precision,
            np.full(len(patterns), _OWN**-2),
            np.full(alone, _SCALE**-2),
            np.where(across, _SHARE**-2, 0.0)[free],
        ]
    )

    def parts(at: Floats) -> tuple[Floats, Floats, Floats]:
        base, beta, own, scale, share = np.split(at, ends[:-1])
        odds = np.exp(np.clip(base + offset + features @ beta + own, -_WIDEST, _WIDEST))
        ratio = np.zeros(len(across))
        ratio[first] = 1.0
        ratio[free] = np.exp(usual + share)
        others = space[:, None] * np.where(across[:, None], np.exp(single @ scale), 1.0)
        return odds, (space * ratio)[:, None] * odds, others

    def loss(at: Floats) -> tuple[float, Floats]:
        _, matches, others = parts(at)
        rate = matches + others
        total = rate.sum(axis=0)
        value = float((count * np.log(rate)).sum() - (whole * np.log(total)).sum())
        by_rate = count / rate - whole / total
        by_match = by_rate * matches
        own = by_match.sum(axis=0)
        slope = np.concatenate(
            [
                [own.sum()],
                turned @ own,
                own,
                single_turned @ (by_rate * others)[across].sum(axis=0),
                by_match.sum(axis=1)[free],
            ]
        )
        return float(0.5 * (prior * at) @ at) - value, prior * at - slope

    bounds = [(None, None)] * int(ends[3]) + [(_LEAST_SHARE, -float(each) + 3.0) for each in usual]
    done = minimize(
        loss, np.zeros(int(ends[4])), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": _STEPS, "maxcor": 20},
    )  # fmt: skip
    _, matches, others = parts(done.x)
    return matches / others
