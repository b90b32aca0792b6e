"""How often records that are not one person's agree by chance, among all pairs and not candidates.

Blocking brings together what agrees, so that candidate pairs say little of chance. Equal values are
counted among all pairs of records; what several columns of a home say together is sampled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import Floats, Ints, Levels
from sfumato.core.optional_packages import quiet
from sfumato.linkage.column_meanings import speaks_of_house
from sfumato.linkage.comparison_levels import WITHIN_A_YEAR, level_sql, settings_from, similar
from sfumato.linkage.link_spec import ColumnKind, LinkSpec, Mode, quoted
from sfumato.linkage.standardisation import UNIQUE_ID, comparisons_of

if TYPE_CHECKING:
    import duckdb

OF_HOME = frozenset({ColumnKind.POSTCODE, ColumnKind.ADDRESS, ColumnKind.PHONE})
# What goes with a given name: it tells the sex, and is in fashion in some years.
_BESIDE_NAMES = frozenset({ColumnKind.DATE, ColumnKind.CATEGORY, ColumnKind.NUMBER})
KEPT = 0.1
"""The least that chance makes of the pairs that agree, of which some do for a reason."""
# Drawn for each column, as pairs that agree in a column are too rare to be met among random ones.
_SAMPLED = 100_000
"""Pairs of records drawn at random, and as many of equal value of each column of the home."""
# A choice, the same as the first guesses of m and u in `model_fit` and `match_probability`.
_USUAL = 20.0
"""Pairs of equal given names that are taken to agree in all else as random pairs do."""
_FEWEST_TOGETHER, _TOGETHER = 20, 0.5
"""Pairs of relatives from which numbers are judged, and the share with equal ones that makes them
house numbers: few in a street's other houses have the surname, and years of birth hardly agree."""
_FIRST = 0.5
"""Pairs seen that a pattern starts with, at the rate that it would have if its columns had nothing
in common: Jeffreys' prior of a rate."""


@dataclass(frozen=True, eq=False)
class ChanceAgreement:
    """How often the records have equal values, by comparison.

    Attributes
    ----------
    count
        Number of records with each record's value, 0 where it is missing, of the comparisons for
        which its frequency counts; shape (records,).
    sampled
        Levels of sampled pairs in the comparisons of the home; nothing where there is but one.
    drawn
        How many of them were drawn at random, under "", and of equal value by comparison.
    named
        Levels, in dates and categories, of sampled pairs that have a given name in common, and
        dates that are not nearly equal: those of one person are.
    renamed
        Levels, in addresses of e-mail, of sampled pairs as they would be if both had one name.
    home
        The comparisons that say where a person lives.
    """

    pairs: float
    count: dict[str, Floats] = field(default_factory=dict)
    equal: dict[str, float] = field(default_factory=dict)
    compared: dict[str, float] = field(default_factory=dict)
    sampled: dict[str, Levels] = field(default_factory=dict)
    drawn: dict[str, int] = field(default_factory=dict)
    named: dict[str, Levels] = field(default_factory=dict)
    renamed: dict[str, Levels] = field(default_factory=dict)
    home: tuple[str, ...] = ()

    def rarest(self, names: Iterable[str]) -> list[str]:
        """Comparisons, the one first whose values fewest pairs have in common."""
        return sorted(names, key=lambda name: self.equal[name] / self.compared[name])


@dataclass(frozen=True, eq=False)
class HomeChance:
    """How often the columns of the home say together what they say in a pattern.

    Attributes
    ----------
    pattern
        Which of the combinations of levels each pattern has; shape (patterns,).
    pairs
        Number of all pairs of records with this combination; shape (combinations,).
    of
        Number of all pairs with values in the same columns; shape (combinations,).
    """

    pattern: Ints
    pairs: Floats
    of: Floats

    def log_probability(self, not_by_chance: Floats) -> Floats:
        """Natural logarithm of the probability of each pattern's combination by chance.

        Of so many pairs of each pattern, shape (patterns,), a home is shared for a reason.
        """
        # P(γ by chance) = (pairs with γ − pairs that share a home) / pairs with values in these
        # columns.
        shared = np.bincount(self.pattern, not_by_chance, len(self.pairs))
        return np.log(np.maximum(self.pairs - shared, KEPT * self.pairs) / self.of)[self.pattern]


def chance_agreement(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[str], spec: LinkSpec
) -> ChanceAgreement:
    """Count equal values among all pairs, of which a sample has few: one date in thousands."""
    union = " UNION ALL BY NAME ".join(
        f"SELECT *, {number} AS source_number FROM {table}" for number, table in enumerate(tables)
    )
    # Only pairs that would be compared: across sources, or else of any two records.
    own = "source_number" if spec.mode is Mode.LINK_ONLY else UNIQUE_ID
    kinds = {
        comparison.name: comparison.kind
        for c in spec.columns.items()
        for comparison in comparisons_of(*c)
    }
    compared = settings_from(spec)["comparisons"]
    with quiet("count equal values"):
        houses = _house_numbers(connection, union, kinds)
        homes = [
            e for e in compared if kinds[n := e["output_column_name"]] in OF_HOME or n in houses
        ]
        sizes = connection.execute(f"SELECT count(*) AS n FROM ({union}) GROUP BY {own}")
        size = sizes.fetchnumpy()["n"].astype(np.float64)
        # Pairs across groups of sizes n_i: (n² − Σ n_i²) / 2.
        home = tuple(comparison["output_column_name"] for comparison in homes)
        agreement = ChanceAgreement((size.sum() ** 2 - np.sum(size**2)) / 2, home=home)
        for each in compared:
            name = each["output_column_name"]
            column = quoted(name)
            got = connection.execute(
                f"SELECT count({column}) OVER (PARTITION BY {column}) AS n, count({column}) OVER "
                f"(PARTITION BY {column}, {own}) AS besides, count({column}) OVER () AS valued, "
                f"count({column}) OVER (PARTITION BY {own}) AS not_compared "
                f"FROM ({union}) ORDER BY {UNIQUE_ID}"
            ).fetchnumpy()
            count = np.asarray(got["n"], dtype=np.float64)
            there = count > 0
            # Each record counts those with its value outside its own group, so that each pair
            # counts twice.
            agreement.equal[name] = float(np.sum(count - got["besides"])) / 2
            pairs = np.sum(got["valued"][there] - got["not_compared"][there])
            # At least 1, as it is divided by where a column is empty.
            agreement.compared[name] = max(float(pairs) / 2, 1.0)
            if any("tf_adjustment_column" in level for level in each["comparison_levels"]):
                agreement.count[name] = count
        # One column of the home alone has no other to go together with.
        names = list(home) if len(home) > 1 else []
        given = agreement.rarest(n for n, k in kinds.items() if k is ColumnKind.GIVEN_NAME)[:1]
        surname = [name for name, kind in kinds.items() if kind is ColumnKind.SURNAME][:1]
        records = f"SELECT *, {own} AS own_number FROM ({union})"
        drawn = _drawn(connection, records, names + given) if names + given else {}
        # Those of one surname too are mostly one person's, or a family's, which is no chance.
        strangers = " AND ".join(
            f"l.{n} IS DISTINCT FROM r.{n}" for n in map(quoted, surname)) or "true"  # fmt: skip
        for name in given:
            beside = [e for e in compared if kinds[n := e["output_column_name"]] in _BESIDE_NAMES
                      and n not in home]  # fmt: skip
            level = _levels(connection, records, beside, drawn.pop(name), condition=strangers)
            dates = [each for n, each in level.items() if kinds[n] is ColumnKind.DATE]
            # Pairs of one given name and nearly one date are mostly one person's, which is no
            # chance.
            apart = np.all([date <= WITHIN_A_YEAR for date in dates], axis=0)
            agreement.named.update({n: each[apart] for n, each in level.items()})
        emails = [e for e in compared if kinds[e["output_column_name"]] is ColumnKind.EMAIL]
        if given and surname and emails:
            agreement.renamed.update(
                _renamed(connection, records, emails, surname + given, drawn[""])
            )
        if names:
            agreement.drawn.update({name: each.shape[1] for name, each in drawn.items()})
            every = np.concatenate(list(drawn.values()), axis=1)
            agreement.sampled.update(_levels(connection, records, homes, every))
    return agreement


def _house_numbers(
    connection: duckdb.DuckDBPyConnection, union: str, kinds: Mapping[str, ColumnKind]
) -> set[str]:
    """Numbers that people of one surname and address have in common, whatever their given names.

    Year of birth and height are of the person, as their relatives have others. Within sources
    only: across them most such pairs are one person's.
    """
    of = {kind: [quoted(n) for n, k in kinds.items() if k is kind] for kind in kinds.values()}
    given, surnames = (of.get(k, []) for k in (ColumnKind.GIVEN_NAME, ColumnKind.SURNAME))
    addresses = [name for k in OF_HOME for name in of.get(k, [])]
    found = set()
    for number in of.get(ColumnKind.NUMBER, []) if given and surnames else ():
        for address in addresses:
            keys = ("source_number", surnames[0], address)
            there = " AND ".join(f"{key} IS NOT NULL" for key in (*keys, number, given[0]))
            # Pairs of other given names: those of all, less those of the same.
            all_, equal, own, both = (
                f"SELECT coalesce(sum(n * (n - 1)) / 2, 0) FROM (SELECT count(*) AS n "
                f"FROM ({union}) WHERE {there} GROUP BY {', '.join((*keys, *more))})"
                for more in ((), (number,), (given[0],), (number, given[0]))
            )
            row = connection.execute(f"SELECT ({all_}) - ({own}), ({equal}) - ({both})").fetchone()
            pairs, alike = map(float, row or (0, 0))
            if pairs >= _FEWEST_TOGETHER and alike > _TOGETHER * pairs:
                found.add(number)
    # The header too: among few relatives there is nothing to see.
    return {n for n, k in kinds.items() if k is ColumnKind.NUMBER
            and (quoted(n) in found or speaks_of_house(n))}  # fmt: skip


def _drawn(
    connection: duckdb.DuckDBPyConnection, records: str, names: Sequence[str]
) -> dict[str, Ints]:
    """Pairs drawn at random, under "", and of equal value, which those hardly ever are."""
    values = ", ".join(
        f"dense_rank() OVER (ORDER BY {column}) AS rank_{i}, {column} IS NULL AS none_{i}"
        for i, column in enumerate(map(quoted, names))
    )
    got = connection.execute(
        f"SELECT own_number, {values} FROM ({records}) ORDER BY {UNIQUE_ID}"
    ).fetchnumpy()
    # A fixed seed: chance is no part of the linkage's own random draws, and comes out the same each
    # time.
    own, rng = got["own_number"], np.random.default_rng(0)
    drawn = {"": rng.integers(0, len(own), (2, _SAMPLED))}
    for i, name in enumerate(names):
        code = np.where(got[f"none_{i}"], -1, got[f"rank_{i}"])
        drawn[name] = pairs_of_equal(code, _SAMPLED, rng)
    # Dropped after the draw and not before: the pairs that are left are as likely as each other.
    return {name: each[:, own[each[0]] != own[each[1]]] for name, each in drawn.items()}


def _levels(
    connection: duckdb.DuckDBPyConnection,
    records: str,
    comparisons: Sequence[dict[str, Any]],
    pairs: Ints,
    other: Mapping[str, str] | None = None,
    condition: str = "true",
) -> dict[str, Levels]:
    """What some comparisons, each of one column, say of some pairs.

    Another value may stand for the second record's, as SQL, by column.
    """
    names = [comparison["output_column_name"] for comparison in comparisons]
    table = pa.table({"number": np.arange(pairs.shape[1]), "l": pairs[0], "r": pairs[1]})
    connection.register("drawn_pairs", table)
    both = ""
    for name in names:
        second = (other or {}).get(name, f"r.{quoted(name)}")
        both += f", l.{quoted(name)} AS {quoted(f'{name}_l')}, {second} AS {quoted(f'{name}_r')}"
    levels = "".join(
        f", {level_sql(comparison)} AS level_{i}" for i, comparison in enumerate(comparisons)
    )
    got = connection.execute(
        f"SELECT number{levels} FROM (SELECT d.number{both} FROM drawn_pairs AS d "
        f"JOIN ({records}) AS l ON l.{UNIQUE_ID} = d.l "
        f"JOIN ({records}) AS r ON r.{UNIQUE_ID} = d.r WHERE {condition}) ORDER BY number"
    ).fetchnumpy()
    connection.unregister("drawn_pairs")
    return {name: got[f"level_{i}"] for i, name in enumerate(names)}


def _renamed(
    connection: duckdb.DuckDBPyConnection,
    records: str,
    emails: Sequence[dict[str, Any]],
    names: Sequence[str],
    pairs: Ints,
) -> dict[str, Levels]:
    """What addresses of e-mail say of pairs whose given names are unlike, with one name in both."""
    surname, given = map(quoted, names)
    columns = [email["output_column_name"] for email in emails]
    other = {name: _under_name(quoted(name), surname, given) for name in columns}
    # Only unlike names: pairs with one name may be one person's, whose address agrees for a reason.
    unlike = f"NOT ({similar((f'l.{given}', f'r.{given}'), 0.8)})"
    return _levels(connection, records, emails, pairs, other, unlike)


def _under_name(email: str, surname: str, given: str) -> str:
    """The second record's address with the first one's names in it, or initial before, as SQL."""
    other = f"replace(replace(r.{email}, r.{surname}, l.{surname}), r.{given}, l.{given})"
    # Of jsmith only the initial is the given name's, which has to become the other person's, too.
    initial = f"left({other}, 1) = left(r.{given}, 1) AND NOT starts_with(r.{email}, r.{given})"
    return f"CASE WHEN {initial} THEN left(l.{given}, 1) || substr({other}, 2) ELSE {other} END"


def pairs_of_equal(code: Ints, wanted: int, rng: np.random.Generator) -> Ints:
    """Draw pairs of two records with one value, with replacement, each as likely; none if none has.

    The value of a record is -1 where it is missing. Gives both records, shape (2, pairs).
    """
    record = np.flatnonzero(code >= 0)
    record = record[np.argsort(code[record], kind="stable")]
    _, start, count = np.unique(code[record], return_index=True, return_counts=True)
    pairs = count.astype(np.float64) * (count - 1)
    if not pairs.any():
        return np.empty((2, 0), dtype=np.int64)
    value = rng.choice(len(count), wanted, p=pairs / pairs.sum())
    one = rng.integers(0, count[value])
    # Another record for sure, and each other one as likely, without drawing again.
    other = (one + rng.integers(1, count[value])) % count[value]
    return record[start[value] + np.stack([one, other])]


def home_chance(
    found: ChanceAgreement, levels: Mapping[str, Ints], u: Mapping[str, Floats]
) -> HomeChance | None:
    """How often the columns of the home agree as in each pattern; None where one is at most.

    Streets lie in postcodes: neighbours agree in both. Of a combination γ that n of the sampled
    pairs have, there are about (a + n) / (a / (N Π u) + e) pairs: each is drawn e times, as often
    as the columns of equal value say, N Π u are those there would be if the columns had nothing in
    common, and a = 1/2.

    Parameters
    ----------
    levels
        By comparison, the level of each pattern, -1 where a value is missing; shape (patterns,).
    u
        By comparison, the share of random pairs in each level.
    """
    if not found.sampled:
        return None
    names = list(found.sampled)
    seen = np.stack([found.sampled[name] for name in names], axis=1).astype(np.int64)
    asked = np.stack([levels[name] for name in names], axis=1)
    every = np.concatenate([asked, seen])
    # One number for each row, in the rows' order: sorting rows takes ten times as long.
    number = np.ravel_multi_index(tuple(every.T + 1), tuple(every.max(axis=0) + 2))
    _, first, index = np.unique(number, return_index=True, return_inverse=True)
    rows = every[first]
    n = np.bincount(index[len(asked) :], minlength=len(rows)).astype(np.float64)
    _, mask = np.unique(rows < 0, axis=0, return_inverse=True)
    at_random = index[len(asked) : len(asked) + found.drawn[""]]
    # One pair is added to each set of columns: the random sample may have none with a rare set.
    shares = 1.0 + np.bincount(mask.ravel()[at_random], minlength=int(mask.max()) + 1)
    of = found.pairs * (shares / shares.sum())[mask.ravel()]
    apart, exposure = of.copy(), np.full(len(rows), found.drawn[""] / found.pairs)
    for i, name in enumerate(names):
        level = rows[:, i]
        apart *= np.where(level < 0, 1.0, u[name][level])
        top = level == len(u[name]) - 1
        # A pair is drawn from the equal values of each column in which it agrees: e is the sum of
        # these rates.
        exposure += np.where(top, found.drawn[name] / max(found.equal[name], 1.0), 0.0)
    # The mean of a Gamma posterior: shape a + n, rate a / (N Π u) + e.
    pairs = (_FIRST + n) / (_FIRST / apart + exposure)
    # The estimate of a combination may exceed that of its columns: a probability may not exceed 1.
    return HomeChance(index[: len(asked)], pairs, np.maximum(of, pairs))


def beside_equal_name(found: ChanceAgreement, name: str, u: Floats, *, date: bool) -> Floats:
    """Log of how much oftener a date or category has each level where given names are equal.

    Names go with sex, and are in fashion for some years. What holds of dates within a year is taken
    to hold of dates that are nearer, of which most are one person's. The u of the levels has shape
    (levels,).
    """
    level = found.named.get(name, np.empty(0, dtype=np.int8))
    own = u[: WITHIN_A_YEAR + 1 if date else len(u)]
    # Shrunk to the levels of random pairs, which hold where few pairs with equal names were drawn.
    seen = np.bincount(level[level >= 0], minlength=len(own)) + _USUAL * own / own.sum()
    log = np.log(seen / seen.sum() / (own / own.sum()))
    return np.append(log, np.full(len(u) - len(own), log[-1]))


def under_one_name(found: ChanceAgreement, name: str, usual: Floats, u: Floats) -> Floats:
    """How often addresses of e-mail have each level by chance where both persons have one name.

    Many addresses are made of the name. What namesakes' are like, random pairs tell: one of the two
    is written with the other's name in place of its own. What is no such address is as usual.
    Shares of pairs, usually and of random ones, have shape (levels,).
    """
    if name not in found.renamed:
        return usual
    level = found.renamed[name]
    seen = np.bincount(level[level >= 0], minlength=len(u)) + _USUAL * u
    return np.asarray(seen / seen.sum())
