"""P(match | agreement), with what relatives, namesakes and movers have in common told apart.

A model that takes each agreement by itself finds households where persons live in them: their
members agree in surname, address and telephone at once. Here each pair has a relation: what its two
records share for a reason, given name, surname, date of birth, home; all else agrees by chance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Bools, Floats, Integers, Ints
from sfumato.linkage import pair_relations as relations
from sfumato.linkage.chance_agreement import (
    KEPT,
    ChanceAgreement,
    beside_equal_name,
    home_chance,
    under_one_name,
)
from sfumato.linkage.comparison_levels import settings_from
from sfumato.linkage.link_model import LevelWeight, distinct_patterns, level_weights
from sfumato.linkage.link_spec import LinkSpec, Mode
from sfumato.linkage.match_thresholds import Pairs, Records, joined
from sfumato.linkage.pair_patterns import RARITY_STEP, CandidatePairs, Patterns, rarity

Codes16 = npt.NDArray[np.int16]
_AGAIN = 0.1
"""Share of wrong given names, and dates, that a second record of the person repeats."""
# Like `model_fit.LEAST`: a level that nothing is in has no logarithm.
_LEAST = 1e-7
"""The least m or u of a level."""
_GUESS = 20.0
"""Pairs that the first guess of m counts for."""
_ROUNDS, _CLOSE = 200, 1e-4
_FEWEST = 20
_SURE, _LIKELY, _TWICE = 0.9, 0.5, 0.01
# A choice: among true declarations the model takes up to one pair for 200 records for a match.
_FEW_WITHIN, _SHARE_WITHIN = 8.0, 0.02
"""Matches within a source, and for each of its records, from which it has people twice."""
FAINT = 1e-7
"""Score below which pairs are not kept: it takes ten million of them to hold one match."""


@dataclass(frozen=True, eq=False)
class RelationFit:
    """What the relations say of pairs.

    Attributes
    ----------
    levels
        By comparison and level: its m and u, as Splink settings have them, unless it is neutral.
    within
        Where sources are linked only: expected number of matches within them that no likely match
        with another source shows.
    twice
        By source that somebody declared to hold each person once, and that does not as far as one
        sees: expected number of pairs within it that are one person's.
    """

    pairs: Pairs
    once: tuple[str, ...]
    levels: dict[tuple[str, int], dict[str, float]]
    within: float
    twice: dict[str, float]


@dataclass(eq=False)
class _Column:
    """A comparison of the distinct patterns, and how its levels are distributed.

    ``named`` says which have equal given names, ``beside`` how much oftener each level is by chance
    then; ``twice`` which stand, wholly different, in sure matches of both records, too.
    """

    aspect: int | None
    level: Ints
    there: Bools
    rare: Floats
    random: Floats
    u: Floats
    guess: Floats
    m: Floats
    by_kind: Floats
    compared: float
    named: Bools
    beside: Floats
    twice: Bools | None = None

    @property
    def chance(self) -> Floats:
        """Log probability of each pattern's level by chance, of a value that few have by that."""
        by_level = np.where(self.there, np.log(self.u)[self.level], 0.0)
        usual = np.where(np.isnan(self.rare), by_level, self.rare)
        return usual + np.where(self.named & self.there, self.beside[self.level], 0.0)

    def counted(self, weight: Floats) -> Floats:
        """How many pairs are in each level."""
        seen = np.bincount(self.level[self.there], weight[self.there], len(self.u))
        return seen.astype(np.float64)

    def shared(self, m: Floats) -> Floats:
        """Log probability of each pattern's level, 0 where a value is missing."""
        log = np.where(self.there, np.log(m)[self.level], 0.0)
        return log if self.twice is None else log + np.where(self.twice, np.log(_AGAIN), 0.0)


def fit_relations(
    candidates: CandidatePairs,
    settings: dict[str, Any],
    spec: LinkSpec,
    records: Records,
    equal: ChanceAgreement,
    *,
    known: bool,
) -> RelationFit:
    """Probability of each pair by what its records share.

    A mixture of relations, as in Larsen and Rubin (2001, JASA 96:32-41) and Winkler (1993) with
    classes for what is neither a match nor by chance. Of pattern γ, two sources (or one) have
    λ(γ) = Σ_r N_r Π_k p_rk(γ_k) pairs: p is m where relation r shares what column k says, else u.
    N of pairs with nothing in common is the number of all pairs of records, so that how blocking
    chooses among them does not matter; the other N, m, and u (of all pairs but those that share a
    column's value) are estimated by expectation maximisation. An equal value that few have is
    shared by chance as rarely as they have it. A source that holds each person once has no matches
    within. A match shares given name and date of birth at least.

    Two things a prior tells, as the data hardly do: another given name may be a twin's or an error,
    another date of birth a father's of one name or an error, but hardly one where sure matches of
    both repeat it. For that, and for who has equal values, pairs are looked at one by one.

    Parameters
    ----------
    settings
        Splink settings with what the levels say; u is that of random pairs, matches among them.
    known
        Whether m and u are those of a model fitted before: then they are kept.

    Raises
    ------
    SfumatoError
        If the database fails.
    """
    weights, seen = tuple(level_weights(settings)), candidates.within
    fitting = _Fitting(weights, spec, records, equal, seen, known)
    # Twice: a first fit by patterns in the database says which pairs are worth fetching one by one.
    rough = candidates.compare(settings, equal.count)
    # Without `twice`, which only pairs that are fetched and have a score can tell.
    score, _ = fitting.fitted(rough, {})
    kept = score >= FAINT
    pairs, pattern = candidates.fetch(rough, kept)
    pairs = replace(pairs, score=score[pattern])
    # One row of each pair that is kept, and of each rough pattern of all others.
    aspects = relations.aspects_of(spec, equal)
    confirmed, others = _confirmed(pairs, weights, aspects, records.count), ~kept
    none = np.zeros(np.count_nonzero(others), dtype=np.int16)
    rows: dict[str, Codes16] = {
        # A name with a zero byte is none of a column, so that nothing of the data can be mistaken
        # for it.
        f"{name}\0": np.append(each.astype(np.int16), none)
        for name, each in confirmed.items()
    }
    for name, code in rough.code.items():
        own = _recoded(pairs, name, _top(weights, name), equal.count.get(name))
        rows[name] = np.append(own, code[others])
    for side, source in (("left\0\0", rough.left), ("right\0\0", rough.right)):
        rows[side] = np.append(source[pattern], source[others]).astype(np.int16)
    distinct, pattern = distinct_patterns(rows)
    twice = {name: distinct.pop(f"{name}\0").astype(np.bool_) for name in confirmed}
    right, left = (distinct.popitem()[1].astype(np.int64) for _ in range(2))
    # A pattern that is not fetched counts as often as it has pairs, or N and u would be those of
    # the likely pairs.
    weight = np.append(np.ones(len(pairs)), rough.pairs[others])
    number = np.bincount(pattern, weight).astype(np.float64)
    fine, pattern = Patterns(distinct, left, right, number), pattern[: len(pairs)]
    # Pairs of a source that others show to hold each person once are known to be of two.
    once = _found_once(pairs, records, spec, fewest=_FEWEST)
    score, columns = fitting.fitted(fine, twice, once)
    contradicted = {}
    if spec.one_per_source:
        # What somebody declares is tested as if it were only found.
        free = replace(fitting, spec=spec.model_copy(update={"one_per_source": ()}))
        unsaid, _ = free.fitted(fine, twice, spec.one_per_source)
        contradicted = _declared_falsely(unsaid * number / seen, fine, records, spec)
    pairs, within = replace(pairs, score=score[pattern]), 0.0
    if spec.mode is Mode.LINK_ONLY:
        across = records.source_of(pairs.left) != records.source_of(pairs.right)
        # Only the share `seen` of the pairs within sources was looked at.
        within = _hidden(pairs, across, records.count) / seen
        pairs = pairs.take(across)
    fitted, neutral = {}, {(w.comparison, w.level) for w in weights if w.m == w.u}
    for name, column in columns.items():
        m = column.m if column.aspect is not None else column.by_kind[relations.PERSON]
        for level, (of_match, of_chance) in enumerate(zip(m, column.u, strict=True)):
            # A level with m = u was set to say nothing, and fitting would make it say something.
            if not known and (name, level) not in neutral:
                fitted[name, level] = {
                    "m_probability": float(f"{max(of_match, _LEAST):.9g}"),
                    "u_probability": float(f"{max(of_chance, _LEAST):.9g}"),
                }
    return RelationFit(pairs, _found_once(pairs, records, spec), fitted, within, contradicted)


def _declared_falsely(
    matches: Floats, patterns: Patterns, records: Records, spec: LinkSpec
) -> dict[str, float]:
    """Matches within each source that was declared to have none, where they are too many."""
    found = {}
    for number, name in enumerate(records.sources):
        own = float(matches[(patterns.left == number) & (patterns.right == number)].sum())
        if name in spec.one_per_source and own > max(
            _FEW_WITHIN, _SHARE_WITHIN * len(records.ids[number])
        ):
            found[name] = own
    return found


def _hidden(pairs: Pairs, across: Bools, records: int) -> float:
    """Expected matches within sources, of records that no likely matches across them join."""
    likely = across & (pairs.score >= _LIKELY)
    person = joined(pairs.left[likely], pairs.right[likely], records)
    # Two records that match one of another source are found to be one person's by that one.
    apart = ~across & (person[pairs.left] != person[pairs.right])
    return float(pairs.score[apart].sum())


@dataclass(frozen=True, eq=False)
class _Fitting:
    """What a fit of the relations goes by.

    Attributes
    ----------
    seen
        The share of the pairs within sources that are among the patterns.
    known
        Whether m and u are those of a model fitted before.
    """

    weights: Sequence[LevelWeight]
    spec: LinkSpec
    records: Records
    equal: ChanceAgreement
    seen: float
    known: bool

    def fitted(
        self, patterns: Patterns, twice: Mapping[str, Bools], clean: Collection[str] = ()
    ) -> tuple[Floats, dict[str, _Column]]:
        """Probability of each pattern, and what the levels say, by expectation maximisation.

        ``clean`` names the sources that were found to hold each person once.
        """
        sizes, count = (
            np.array([len(ids) for ids in self.records.ids], dtype=np.float64),
            patterns.pairs,
        )
        groups, group = np.unique(patterns.left * len(sizes) + patterns.right, return_inverse=True)
        left, right = np.divmod(groups, len(sizes))
        within = left == right
        # N of all pairs of records: n (n − 1) / 2 within a source of n, n n' across two.
        whole = np.where(
            within, self.seen * sizes[left] * (sizes[left] - 1) / 2, sizes[left] * sizes[right]
        )
        names = np.array(self.records.sources)[left]
        once = within & np.isin(names, list(self.spec.one_per_source))
        # Found and not declared: hardly any, and none of whom chance would make more.
        hardly = within & np.isin(names, list(clean))
        columns = _columns(patterns.code, self.weights, self.spec, self.equal, known=self.known)
        for name, each in twice.items():
            columns[name].twice = each
        smallest = float(sizes.min())
        # A choice of where EM begins: half of the smallest source matches, all other relations are
        # rare.
        number = np.full((len(groups), len(relations.RELATIONS)), 0.02 * smallest)
        number[:, relations.UNCHANGED] = 0.5 * smallest
        # Most people live with others: with fewer households EM would take their members for
        # persons.
        number[:, relations.HOUSEHOLD] = smallest
        dated = any(column.aspect == relations.DATE for column in columns.values())
        # A source mostly holds a person once, so that EM begins with a tenth of the matches within.
        number[np.ix_(within, relations.MATCH)] *= 0.1
        levels = {n: np.where(column.there, column.level, -1) for n, column in columns.items()}
        home = home_chance(self.equal, levels, {n: column.random for n, column in columns.items()})
        share = np.zeros((len(count), len(relations.RELATIONS)))
        for _ in range(_ROUNDS):
            # N_0 is all pairs of records, not counted from candidates; a source that holds each
            # person once has no matches.
            number[:, 0], number[np.ix_(once, relations.MATCH)] = whole, 0.0
            number[np.ix_(hardly, [relations.BOTH, relations.RENAMED])] = 0.0
            at_home = None
            if home is not None:
                at_home = home.log_probability(
                    share[:, relations.holds(relations.HOME)].sum(axis=1) * count
                )
            share = _relation_shares(list(columns.values()), number[group], at_home)
            before, found = number, share * count[:, None]
            number = _by_group(found, group, len(groups))
            sure = (
                _by_group(
                    found * share[:, relations.MATCH].sum(axis=1)[:, None], group, len(groups)
                )
                / number
            )
            number[:, relations.BOTH] = relations.renamed_and_moved(number, sure[:, relations.BOTH])
            if dated:
                told, bound = relations.at_one_rate(number, whole), relations.bounded(number)
            else:
                told, bound = 0.0, {}
                relations.namesakes_at_one_rate(number, whole, once)
            crowded = (
                not dated or number[:, relations.HOUSEHOLD].sum() > number[:, relations.MATCH].sum()
            )
            _refit_of_families(list(columns.values()), found)
            if not self.known:
                _refit(
                    list(columns.values()),
                    found,
                    relations.Errors(bound, relations.BELIEF * (1 - told), crowded),
                )
            # Without the relation 0: it is set, and so large that no other change would show beside
            # it.
            moved = np.abs(number[:, 1:] - before[:, 1:]).sum()
            if moved <= _CLOSE * number[:, 1:].sum():
                break
        return share[:, relations.MATCH].sum(axis=1), columns


def _by_group(found: Floats, group: Ints, groups: int) -> Floats:
    """Number of pairs of each relation in each group, none of them quite 0."""
    number = np.stack([np.bincount(group, each, groups) for each in found.T], axis=1)
    return np.asarray(np.maximum(number, relations.LEAST_PAIRS))


def _top(weights: Sequence[LevelWeight], name: str) -> int:
    return max(weight.level for weight in weights if weight.comparison == name)


def _confirmed(
    pairs: Pairs, weights: Sequence[LevelWeight], aspects: Mapping[str, int | None], records: int
) -> dict[str, Bools]:
    """Pairs of wholly different given names, or dates, that sure matches of both records repeat."""
    found = {}
    for name, aspect in aspects.items():
        if aspect in relations.OTHER:
            level = pairs.levels[name]
            sure = (pairs.score >= _SURE) & (level == _top(weights, name))
            again = np.zeros(records, dtype=bool)
            again[pairs.left[sure]] = again[pairs.right[sure]] = True
            found[name] = (level == 0) & again[pairs.left] & again[pairs.right]
    return found


def _recoded(pairs: Pairs, name: str, top: int, count: Floats | None) -> Codes16:
    """The level of each pair, equal values above it by how few other persons' records have them.

    Of a rare value most are one person's: who has several records would seem to share a usual name.
    """
    code = pairs.levels[name].astype(np.int16)
    if count is None:
        return code
    equal = code == top
    left, right, score = pairs.left[equal], pairs.right[equal], pairs.score[equal]
    own = np.bincount(left, score, len(count)) + np.bincount(right, score, len(count))
    # One record has the value at least: the other of the pair.
    others = np.where(count > 0, np.maximum(count - own, 1.0), 0.0)
    code[equal] += rarity(others)[left]
    return code


def _columns(
    patterns: Mapping[str, Integers],
    weights: Sequence[LevelWeight],
    spec: LinkSpec,
    equal: ChanceAgreement,
    *,
    known: bool,
) -> dict[str, _Column]:
    """The comparisons, with a usual m to begin from: a trained one may be that of households."""
    usual = (
        {} if known else {(w.comparison, w.level): w.m for w in level_weights(settings_from(spec))}
    )
    aspects, columns = relations.aspects_of(spec, equal), {}
    tops = [
        patterns[n] >= _top(weights, n)
        for n, aspect in aspects.items()
        if aspect == relations.GIVEN
    ]
    named = np.any(tops, axis=0)
    for name, code in patterns.items():
        own = sorted((w for w in weights if w.comparison == name), key=lambda w: w.level)
        top, u = len(own) - 1, np.array([max(w.u, 1e-9) for w in own])
        if not known:
            # Counted among all pairs; the sample has few equal values, so that only the rest of u
            # is scaled from it.
            u[top] = max(equal.equal[name] / equal.compared[name], 1e-9)
            # The lower levels keep their proportions and fill up what equal values leave of 1.
            u[:top] *= (1 - u[top]) / u[:top].sum()
        guess = np.array([max(usual.get((name, w.level), w.m), 1e-6) for w in own])
        guess /= guess.sum()
        rare = np.full(len(code), np.nan)
        if name in equal.count and own[-1].by_frequency:
            # The code is steps of −log frequency above the top level: log P(equal by chance) of
            # that value.
            rare[code >= top] = (top - code[code >= top].astype(np.float64)) * RARITY_STEP
        aspect = aspects[name]
        usual_of = u if aspect == relations.NUMBER else guess
        columns[name] = _Column(
            aspect, np.clip(code, 0, top).astype(np.int64), code >= 0, rare, u, u.copy(), guess,
            guess.copy(), np.stack([u, guess, under_one_name(equal, name, usual_of, u), u]),
            equal.compared[name], named,
            beside_equal_name(equal, name, u, date=aspect == relations.DATE),
        )  # fmt: skip
    return columns


def _relation_shares(columns: Sequence[_Column], number: Floats, at_home: Floats | None) -> Floats:
    """Share of each relation in each pattern; by chance the columns of the home agree together."""
    # log N_r + Σ_k log p_rk, by the docstring of `fit_relations`: its exponential is r's part of
    # λ(γ).
    total = np.log(np.maximum(number, 1e-300))
    rarest = np.zeros(len(number))
    for column in columns:
        if column.aspect is None:
            by_kind = [column.chance, *(column.shared(m) for m in column.by_kind[1:])]
            total += np.stack(by_kind, axis=1)[:, relations.KIND]
            continue
        chance = column.chance
        if column.aspect == relations.HOME and at_home is not None:
            # The columns of a home go together: only the rarest one may count, or a rare street
            # would count twice.
            rarest = np.minimum(rarest, np.nan_to_num(column.rare - np.log(column.u[-1])))
            chance = np.zeros(len(number))
        by_relation = chance[:, None]
        if column.aspect == relations.NUMBER:
            own = np.stack([column.shared(m) for m in column.by_kind], axis=1)
            # A relation shares a number at least as often as chance has it, whatever few pairs say.
            by_relation = np.maximum(by_relation, own[:, relations.KIND])
            by_relation[:, 0] = chance
            by_relation[:, relations.JUNIORS] = by_relation[
                :, [relations.HOUSEHOLD, relations.JUNIORS]
            ].max(axis=1)
        total += np.where(
            relations.holds(column.aspect), column.shared(column.m)[:, None], by_relation
        )
    if at_home is not None:
        total += np.where(relations.holds(relations.HOME), 0.0, (at_home + rarest)[:, None])
    # The largest is taken off first, as exp of a sum of many logarithms would underflow to 0 / 0.
    total = np.exp(total - total.max(axis=1, keepdims=True))
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _refit_of_families(columns: Sequence[_Column], found: Floats) -> None:
    """Numbers by who has a family's name, and by who lives together; no model says it of them."""
    for column in columns:
        if column.aspect == relations.NUMBER:
            for kind, relation in (
                (relations.NOBODY, relations.FAMILY),
                (relations.RELATIVE, relations.HOUSEHOLD),
            ):
                # Leans on chance: without evidence relatives share numbers no oftener than
                # strangers.
                seen = column.counted(found[:, relation]) + _GUESS * column.u
                column.by_kind[kind] = seen / seen.sum()


def _refit(columns: Sequence[_Column], found: Floats, errors: relations.Errors) -> None:
    """Levels by the pairs of the relations that share what they say, and by all others."""
    for column in columns:
        if column.aspect is None:
            for kind in range(relations.PERSON, relations.RELATIVE + 1):
                seen = column.counted(found[:, kind == relations.KIND].sum(axis=1))
                # Namesakes lean on the guess, too, as given names go with sex; relatives are of any
                # sex, as chance has it.
                seen += _GUESS * (column.guess if kind <= relations.NAMESAKE else column.u)
                column.by_kind[kind] = seen / seen.sum()
            continue
        shared = column.counted(found[:, relations.holds(column.aspect)].sum(axis=1))
        # Chance is what all pairs show without those that agree for a reason, but never less than a
        # tenth.
        column.u = np.maximum(column.random - shared / column.compared, KEPT * column.random)
        column.u /= column.u.sum()
        seen = shared + _GUESS * column.guess
        m = seen / seen.sum()
        # Dates within ten years are a relative's, too, where those are many.
        low = 2 if column.aspect == relations.DATE and errors.crowded else 1
        own = float(m[:low].sum())
        error = errors.share(column.aspect, own)
        m[:low] *= error / own
        m[low:] *= (1 - error) / (1 - own)
        column.m = m


def _found_once(pairs: Pairs, records: Records, spec: LinkSpec, fewest: int = 0) -> tuple[str, ...]:
    """Sources of which hardly a record of another source has two sure matches."""
    if spec.one_per_source or len(records.sources) < 2:
        return ()
    sure, found = pairs.score >= _SURE, []
    one, other = records.source_of(pairs.left), records.source_of(pairs.right)
    # Pairs within sources are looked for, so that a source may hold a person twice.
    if spec.mode is not Mode.LINK_ONLY:
        return ()
    sure &= one != other
    for number, name in enumerate(records.sources):
        there = np.concatenate(
            [pairs.left[sure & (other == number)], pairs.right[sure & (one == number)]]
        )
        partners = np.bincount(there)
        if np.count_nonzero(partners) < fewest:
            continue
        usual = _TWICE * max(int(np.count_nonzero(partners)), 1)
        # By chance two standard errors more, in a small cohort two records.
        if np.count_nonzero(partners > 1) <= usual + 2 * np.sqrt(usual):
            found.append(name)
    return tuple(found)
