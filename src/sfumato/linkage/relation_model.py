"""P(match | agreement), with what relatives, namesakes and movers have in common told apart.

A model that takes each agreement by itself finds households where persons live in them: their
members agree in surname, address and telephone at once. Here each pair has a relation: what its two
records share for a reason, given name, surname, date of birth, home; all else agrees by chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfumato.core.optional_packages import quiet
from sfumato.linkage.comparison_levels import settings_from
from sfumato.linkage.link_model import LevelWeight, distinct_patterns, level_weights
from sfumato.linkage.link_spec import ColumnKind, LinkSpec
from sfumato.linkage.match_thresholds import Floats, Ints, Pairs, Records
from sfumato.linkage.standardisation import UNIQUE_ID, comparisons_of

if TYPE_CHECKING:
    import duckdb

GIVEN, SURNAME, DATE, HOME, NUMBER = range(5)
_ASPECT = {
    ColumnKind.GIVEN_NAME: GIVEN,
    ColumnKind.SURNAME: SURNAME,
    ColumnKind.DATE: DATE,
    ColumnKind.POSTCODE: HOME,
    ColumnKind.ADDRESS: HOME,
    ColumnKind.PHONE: HOME,
    ColumnKind.EMAIL: NUMBER,
    ColumnKind.IDENTIFIER: NUMBER,
}
"""What a column says; categories and numbers agree in each kind of relation as often as they do."""
_NOBODY, _PERSON, _NAMESAKE, _NEIGHBOUR, _RELATIVE = range(5)
_RELATIONS: tuple[tuple[int, frozenset[int]], ...] = (
    (_NOBODY, frozenset()),
    (_NOBODY, frozenset({SURNAME})),
    (_NEIGHBOUR, frozenset({HOME})),
    (_RELATIVE, frozenset({SURNAME, HOME})),
    (_RELATIVE, frozenset({SURNAME, DATE, HOME})),
    (_NAMESAKE, frozenset({GIVEN, SURNAME})),
    (_NAMESAKE, frozenset({GIVEN, SURNAME, HOME})),
    (_PERSON, frozenset({GIVEN, DATE, NUMBER})),
    (_PERSON, frozenset({GIVEN, DATE, HOME, NUMBER})),
    (_PERSON, frozenset({GIVEN, SURNAME, DATE, NUMBER})),
    (_PERSON, frozenset({GIVEN, SURNAME, DATE, HOME, NUMBER})),
)
"""Kind of relation, and what is shared: nothing, a family's name, a home, a household, twins,
namesakes, a father and son of one name; and one person, renamed and moved, renamed, moved, and as
before."""
_KIND = np.array([kind for kind, _ in _RELATIONS])
_MATCH = _KIND == _PERSON
_HOUSEHOLD, _TWINS, _JUNIORS, _UNCHANGED = 3, 4, 6, 10
_ERROR, _BELIEF = 0.003, 5.0
"""Share of one person's records whose given name, or date of birth, is wholly another, and how many
times as much as the pairs it counts: what is a twin and what such an error can hardly be told."""
_OF_HOUSEHOLDS, _OF_PERSONS = 0.3, 0.04
"""Pairs of twins, or of one name in a household, at most: for each pair of a household, and for
each of a person. Where there would be more, given names or dates are recorded badly instead."""
_OTHER = {GIVEN: _TWINS, DATE: _JUNIORS}
_GUESS = 20.0
"""Pairs that the first guess of m counts for."""
_STEP = 0.2
"""Nats between frequencies of values that count as equal."""
_ROUNDS, _CLOSE = 200, 1e-4
_SURE, _TWICE = 0.9, 0.01


@dataclass(frozen=True, eq=False)
class RelationFit:
    """What the relations say of pairs.

    Attributes
    ----------
    score
        Probability of each candidate pair; shape (pairs,).
    once
        Names of the sources that were found to hold each person once.
    """

    score: Floats
    once: tuple[str, ...]


def tells_persons(spec: LinkSpec) -> bool:
    """Whether given names and dates of birth are compared, which relatives do not share both.

    Parameters
    ----------
    spec
        What is linked, and how.
    """
    kinds = {kind for _, kind in _compared(spec)}
    return {ColumnKind.GIVEN_NAME, ColumnKind.DATE} <= kinds


def _compared(spec: LinkSpec) -> list[tuple[str, ColumnKind]]:
    columns = [] if spec.splink is not None else spec.columns.items()
    return [(each.name, each.kind) for c in columns for each in comparisons_of(*c)]


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
            named = [own.get("tf_adjustment_column") for own in each["comparison_levels"]]
            names = [name for name in named if name]
            if names:
                column = '"' + names[0].strip('"') + '"'
                got = connection.execute(
                    f"SELECT count({column}) OVER (PARTITION BY {column}) AS n FROM ({union}) "
                    f"ORDER BY {UNIQUE_ID}"
                ).fetchnumpy()
                count = np.asarray(got["n"], dtype=np.float64)
                shares[each["output_column_name"]] = count / max(np.count_nonzero(count), 1)
    return shares


@dataclass(eq=False)
class _Column:
    """A comparison of the distinct patterns, and how its levels are distributed."""

    aspect: int | None
    level: Ints
    there: npt.NDArray[np.bool_]
    chance: Floats
    u: Floats
    guess: Floats
    m: Floats
    by_kind: Floats
    low: int

    def counted(self, weight: Floats) -> Floats:
        """How many pairs are in each level."""
        return np.bincount(self.level[self.there], weight[self.there], len(self.u))

    def shared(self, m: Floats) -> Floats:
        """Log probability of each pattern's level, 0 where a value is missing."""
        return np.where(self.there, np.log(m)[self.level], 0.0)


def fit_relations(
    pairs: Pairs,
    weights: Sequence[LevelWeight],
    spec: LinkSpec,
    records: Records,
    shares: Mapping[str, Floats],
) -> RelationFit:
    """Probability of each pair by what its records share.

    A mixture of relations, as in Larsen and Rubin (2001, JASA 96:32-41) and Winkler (1993) with
    classes for what is neither a match nor by chance. Of pattern γ, two sources (or one) have
    λ(γ) = Σ_r N_r Π_k p_rk(γ_k) pairs: p is m where relation r shares what column k says, else u.
    N of pairs with nothing in common is the number of all pairs of records, so that how blocking
    chooses among them does not matter; the other N, and m, are estimated by expectation
    maximisation. An equal value that few have is shared by chance as rarely as they have it. A
    source that holds each person once has no matches within. A match shares given name and
    date of birth at least.

    Two things the data hardly tell, and a prior does: another given name may be a twin's or an
    error, another date of birth that of a father of one name or an error.

    Parameters
    ----------
    pairs
        The candidate pairs, their scores open.
    weights
        What the levels say; u is taken.
    spec
        What is linked, and how.
    records
        The records.
    shares
        Share of the records that have a record's value, by comparison.

    Returns
    -------
    RelationFit
        By pairs.
    """
    sizes = np.array([len(ids) for ids in records.ids], dtype=np.float64)
    one, other = records.source_of(pairs.left), records.source_of(pairs.right)
    coded = {name: _coded(name, level, pairs.left, weights, shares) for name, level in
             pairs.levels.items()}  # fmt: skip
    patterns, pattern = distinct_patterns(
        {**coded, "": (one * len(sizes) + other).astype(np.int16)}
    )
    count = np.bincount(pattern).astype(np.float64)
    groups, group = np.unique(patterns.pop("").astype(np.int64), return_inverse=True)
    left, right = np.divmod(groups, len(sizes))
    within = left == right
    whole = np.where(within, sizes[left] * (sizes[left] - 1) / 2, sizes[left] * sizes[right])
    once = within & np.isin(np.array(records.sources)[left], list(spec.one_per_source))
    columns = _columns(patterns, weights, spec, shares)
    smallest = float(sizes.min())
    number = np.full((len(groups), len(_RELATIONS)), 0.02 * smallest)
    number[:, _UNCHANGED] = 0.5 * smallest
    number[np.ix_(within, _MATCH)] *= 0.1
    share = np.empty((len(count), len(_RELATIONS)))
    for _ in range(_ROUNDS):
        number[:, 0], number[np.ix_(once, _MATCH)] = whole, 0.0
        share = _relation_shares(columns, number[group])
        before, found = number, share * count[:, None]
        number = np.stack([np.bincount(group, each, len(groups)) for each in found.T], axis=1)
        number = np.maximum(number, 1e-3)
        bound = _bounded(number)
        _refit(columns, found, bound)
        moved = np.abs(number[:, 1:] - before[:, 1:]).sum()
        if moved <= _CLOSE * number[:, 1:].sum():
            break
    score = share[:, _MATCH].sum(axis=1)[pattern]
    return RelationFit(score, _found_once(pairs, score, records, spec))


def _coded(
    name: str,
    level: npt.NDArray[np.int8],
    left: Ints,
    weights: Sequence[LevelWeight],
    shares: Mapping[str, Floats],
) -> npt.NDArray[np.int16]:
    """The level of each pair, equal values above it by how rare they are."""
    code = level.astype(np.int16)
    top = max(each.level for each in weights if each.comparison == name)
    if name in shares:
        equal = code == top
        rare = -np.log(np.maximum(shares[name][left[equal]], 1e-9)) / _STEP
        code[equal] = top + np.round(rare).astype(np.int16)
    return code


def _columns(
    patterns: Mapping[str, npt.NDArray[np.integer]],
    weights: Sequence[LevelWeight],
    spec: LinkSpec,
    shares: Mapping[str, Floats],
) -> list[_Column]:
    """The comparisons, with a usual m to begin from: a trained one may be that of households."""
    usual = {(w.comparison, w.level): w.m for w in level_weights(settings_from(spec))}
    kinds, columns = dict(_compared(spec)), []
    for name, code in patterns.items():
        own = sorted((w for w in weights if w.comparison == name), key=lambda w: w.level)
        top, u = len(own) - 1, np.array([max(w.u, 1e-9) for w in own])
        guess = np.array([max(usual.get((name, w.level), w.m), 1e-6) for w in own])
        guess /= guess.sum()
        level = np.clip(code, 0, top).astype(np.int64)
        chance = np.log(u)[level]
        if name in shares and own[-1].by_frequency:
            chance = np.where(code >= top, (top - code.astype(np.float64)) * _STEP, chance)
        there = code >= 0
        aspect = _ASPECT.get(kinds[name])
        columns.append(
            _Column(
                aspect, level, there, np.where(there, chance, 0.0), u / u.sum(), guess,
                guess.copy(), np.stack([u / u.sum(), guess, guess, u / u.sum(), u / u.sum()]),
                {GIVEN: 1, DATE: 2}.get(aspect, 0) if aspect is not None else 0,
            )
        )  # fmt: skip
    return columns


def _relation_shares(columns: Sequence[_Column], number: Floats) -> Floats:
    """Share of each relation in each pattern."""
    total = np.log(np.maximum(number, 1e-300))
    for each in columns:
        if each.aspect is None:
            by_kind = [each.chance, *(each.shared(m) for m in each.by_kind[1:])]
            total += np.stack(by_kind, axis=1)[:, _KIND]
        else:
            shared = each.shared(each.m)
            for r, (_, aspects) in enumerate(_RELATIONS):
                total[:, r] += shared if each.aspect in aspects else each.chance
    total = np.exp(total - total.max(axis=1, keepdims=True))
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _bounded(number: Floats) -> dict[int, bool]:
    """Keep twins and namesakes of a household to what is possible; whether there would be more."""
    possible = _OF_HOUSEHOLDS * number[:, _HOUSEHOLD].sum() + _OF_PERSONS * number[:, _MATCH].sum()
    bound = {}
    for aspect, relation in _OTHER.items():
        found = number[:, relation].sum()
        bound[aspect] = bool(found > possible)
        number[:, relation] *= min(1.0, possible / found)
    return bound


def _refit(columns: Sequence[_Column], found: Floats, bound: Mapping[int, bool]) -> None:
    """Levels by the pairs of the relations that share what they say."""
    for each in columns:
        if each.aspect is None:
            for kind in range(_PERSON, _RELATIVE + 1):
                seen = each.counted(found[:, kind == _KIND].sum(axis=1))
                seen += _GUESS * (each.guess if kind <= _NAMESAKE else each.u)
                each.by_kind[kind] = seen / seen.sum()
            continue
        holds = np.array([each.aspect in aspects for _, aspects in _RELATIONS])
        seen = each.counted(found[:, holds].sum(axis=1)) + _GUESS * each.guess
        m = seen / seen.sum()
        if each.aspect in _OTHER:
            own = m[: each.low].sum()
            error = own if bound[each.aspect] else (own + _BELIEF * _ERROR) / (1 + _BELIEF)
            m[: each.low] *= error / own
            m[each.low :] *= (1 - error) / (1 - own)
        each.m = m


def _found_once(pairs: Pairs, score: Floats, records: Records, spec: LinkSpec) -> tuple[str, ...]:
    """Sources of which hardly a record of another source has two sure matches."""
    if spec.one_per_source or len(records.sources) < 2:
        return ()
    sure, found = score >= _SURE, []
    one, other = records.source_of(pairs.left), records.source_of(pairs.right)
    if np.any(one == other):
        return ()
    for number, name in enumerate(records.sources):
        there = np.concatenate(
            [pairs.left[sure & (other == number)], pairs.right[sure & (one == number)]]
        )
        partners = np.bincount(there)
        if np.count_nonzero(partners > 1) <= _TWICE * max(np.count_nonzero(partners), 1):
            found.append(name)
    return tuple(found)
