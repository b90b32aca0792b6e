"""Which candidate pairs agree in what: compared in the database, and counted there by pattern.

Pairs are many more than records, and most of them nobody's. So they stay in the database, a few
bytes each; what they have in common is counted there, and only those worth keeping are fetched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.optional_packages import quiet
from sfumato.linkage.comparison_levels import level_sql
from sfumato.linkage.link_engine import Database
from sfumato.linkage.link_spec import Mode, columns_by_comparison, quoted
from sfumato.linkage.match_thresholds import Pairs, Records
from sfumato.linkage.standardisation import UNIQUE_ID

if TYPE_CHECKING:
    import duckdb

# A choice: frequencies within a factor of e^0.2, or 22 %, fall together, which keeps patterns few.
RARITY_STEP = 0.2
"""Nats between frequencies of values that count as equal."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct patterns of agreement of some pairs; arrays of shape (patterns,).

    Codes are levels by comparison: -1 where a value is missing, 0 for entirely different. Where the
    frequency of equal values counts, they are above the highest level by how rare they are, in
    steps.
    """

    code: Mapping[str, npt.NDArray[np.int16]]
    left: Ints
    right: Ints
    pairs: Floats

    def __len__(self) -> int:
        """Number of patterns."""
        return len(self.pairs)


def rarity(count: Floats) -> npt.NDArray[np.int16]:
    """How rare a value is that so many records have, in steps; 0 where none has."""
    valued = max(int(np.count_nonzero(count)), 1)
    return np.round(np.log(valued / np.maximum(count, 1.0)) / RARITY_STEP).astype(np.int16)


# Pairs within grow with the square of the records, and these only teach what relatives share.
WITHIN = 40_000
"""Records up to which all pairs within sources are looked at; of more, so many records' pairs."""


class CandidatePairs:
    """The pairs that blocking rules make, in the database.

    ``within`` is the share of the pairs within sources that are looked at.
    """

    def __init__(
        self,
        database: Database,
        connection: duckdb.DuckDBPyConnection,
        tables: Sequence[str],
        records: Records,
    ) -> None:
        self._database, self._connection = database, connection
        self._tables, self._records = tables, records
        self._comparisons: dict[str, int] = {}
        self.within = 1.0
        self._union = " UNION ALL ".join(f"SELECT * FROM {table}" for table in tables)

    def block(self, rules: Sequence[str], mode: Mode) -> list[int]:
        """Make the pairs; gives how many each rule makes and none before it.

        Where sources are linked only, a sample of pairs within them tells what persons who are not
        the same have in common (`within`); they are not counted.

        Parameters
        ----------
        rules
            Blocking rules as SQL over the records ``l`` and ``r``.

        Raises
        ------
        SfumatoError
            If the database fails.
        """
        ordered = f" AND l.{UNIQUE_ID} < r.{UNIQUE_ID}"
        sides = [(f"({self._union})", f"({self._union})", ordered)]
        if mode is Mode.LINK_ONLY:
            self.within = 1 / (1 + self._records.count // WITHIN)
            # By the left record's number: no random draw, so that engines take the same pairs.
            ordered += f" AND l.{UNIQUE_ID} % {round(1 / self.within)} = 0"
            sides = [(one, other, "") for one, other in combinations(self._tables, 2)]
            sides += [(table, table, ordered) for table in self._tables]
        made = []
        for number, rule in enumerate(rules):
            # A pair belongs to its first rule only; a rule on a missing value has not made it.
            before = " OR ".join(f"coalesce(({rule}), false)" for rule in rules[:number])
            made += [
                f"SELECT CAST(l.{UNIQUE_ID} AS INTEGER) AS a, CAST(r.{UNIQUE_ID} AS INTEGER) AS b, "
                f"CAST({number} AS SMALLINT) AS rule FROM {left} AS l JOIN {right} AS r "
                f"ON {rule}{ordered}" + (f" WHERE NOT ({before})" if before else "")
                for left, right, ordered in sides
            ]
        with quiet("make the candidate pairs"):
            for table in self._tables:
                self._database.send(table)
            self._database.store("candidate_pairs", " UNION ALL ".join(made))
            same = " OR ".join(
                # Records are numbered source by source: numbers alone tell whether both are of one.
                f"(a >= {low} AND b < {high})"
                for low, high in pairwise(self._records.starts)
            )
            columns = self._database.columns(
                "SELECT rule, count(*) AS pairs FROM candidate_pairs "
                + (f"WHERE NOT ({same}) " if mode is Mode.LINK_ONLY else "")
                + "GROUP BY rule"
            )
        number_of = dict(zip(columns["rule"].tolist(), columns["pairs"].tolist(), strict=True))
        return [number_of.get(i, 0) for i in range(len(rules))]

    def compare(self, settings: dict[str, Any], count: Mapping[str, Floats]) -> Patterns:
        """Compare them, with the numbers of records where frequencies count; gives the patterns."""
        used = sorted(set().union(*columns_by_comparison(settings).values()))
        self._comparisons = {
            setting["output_column_name"]: sum(
                not level.get("is_null_level") for level in setting["comparison_levels"]
            )
            - 1
            for setting in settings["comparisons"]
        }
        with quiet("compare the candidate pairs"):
            compared, of_one = self._database.comparisons(settings)
            records = f"SELECT *{''.join(f', {sql} AS {n}' for n, sql in of_one.items())} FROM "
            records = " UNION ALL ".join(records + table for table in self._tables)
            # On the left only: it counts where values are equal, and then both have the same.
            left, rare = self._with_rarity(records, count)
            levels = ", ".join(
                f"{level_sql(each, rare.get(each['output_column_name'], ''))} AS level_{i}"
                for i, each in enumerate(compared)
            )
            sides = ", ".join(
                f"{s}.{quoted(n)} AS {quoted(f'{n}_{s}')}" for n in [*used, *of_one] for s in "lr"
            )
            sides += "".join(f", l.{name}" for name in rare.values())
            self._database.store(
                "compared_pairs",
                f"SELECT a, b, rule, {self._sources()} AS sources, {levels} FROM (SELECT a, b, "
                f"rule, {sides} FROM candidate_pairs JOIN ({left}) AS l ON l.{UNIQUE_ID} = a "
                f"JOIN ({records}) AS r ON r.{UNIQUE_ID} = b)",
            )
            names = self._pattern_columns
            sources, *code, pairs = self._database.columns(
                f"SELECT {names}, count(*) AS pairs FROM compared_pairs GROUP BY {names} "
                f"ORDER BY {names}"
            ).values()
        left_source, right_source = np.divmod(sources.astype(np.int64), len(self._tables))
        return Patterns(
            {
                name: each.astype(np.int16)
                for name, each in zip(self._comparisons, code, strict=True)
            },
            left_source,
            right_source,
            pairs.astype(np.float64),
        )

    @property
    def _pattern_columns(self) -> str:
        return ", ".join(["sources", *(f"level_{i}" for i in range(len(self._comparisons)))])

    def _sources(self) -> str:
        """A number of the sources of a pair, as SQL."""
        starts, of = self._records.starts[1:-1].tolist(), {}
        for side in "ab":
            of[side] = " + ".join(f"CAST({side} >= {n} AS SMALLINT)" for n in starts) or "0"
        return f"CAST(({of['a']}) * {len(self._tables)} + {of['b']} AS SMALLINT)"

    def _with_rarity(self, records: str, count: Mapping[str, Floats]) -> tuple[str, dict[str, str]]:
        """The records with how rare their values are, and by comparison the column that says it."""
        rare = {name: f"rarity_{i}" for i, name in enumerate(count)}
        columns = {rare[name]: rarity(each) for name, each in count.items()}
        self._give("rarity", pa.table({"record": np.arange(self._records.count), **columns}))
        union = f"SELECT * FROM ({records}) AS u JOIN rarity ON record = u.{UNIQUE_ID}"
        return union, rare

    def _give(self, name: str, table: pa.Table) -> None:
        """Bring a small table to where the pairs are."""
        self._connection.register("given", table)
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM given")
        self._connection.unregister("given")
        self._database.send(name)

    def fetch(self, patterns: Patterns, kept: Bools) -> tuple[Pairs, Ints]:
        """The pairs of the wanted patterns, their scores open, by (left, right).

        Beside each is its pattern. Whether a pattern is wanted has shape (patterns,).
        """
        sources = patterns.left * len(self._tables) + patterns.right
        wanted = {"pattern": np.flatnonzero(kept).astype(np.int32), "sources_": sources[kept]}
        wanted |= {f"level_{i}_": c[kept] for i, c in enumerate(patterns.code.values())}
        equal = " AND ".join(f"{name} = {name}_" for name in self._pattern_columns.split(", "))
        with quiet("take the candidate pairs"):
            self._give("wanted_patterns", pa.table(wanted))
            left, right, rule, pattern = self._database.columns(
                "SELECT a, b, rule, pattern FROM compared_pairs JOIN wanted_patterns "
                f"ON {equal} ORDER BY a, b"
            ).values()
        levels = {
            # Rarity stands above the highest level, and pairs have plain levels.
            name: np.minimum(code, self._comparisons[name]).astype(np.int8)[pattern]
            for name, code in patterns.code.items()
        }
        pairs = Pairs(
            left.astype(np.int64), right.astype(np.int64), np.empty(len(left)), levels,
            rule.astype(np.int16),
        )  # fmt: skip
        return pairs, pattern
