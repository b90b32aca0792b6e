"""A fitted model of a linkage: weights, prior, what is plausible of it, its file."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from sfumato.core.arrays import Floats, Ints, Levels
from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError, unreadable_file
from sfumato.core.number_text import percentage
from sfumato.linkage.candidate_pairs import RulePairs
from sfumato.linkage.link_spec import ColumnKind, LinkSpec, Mode
from sfumato.linkage.match_thresholds import Pairs, Records
from sfumato.linkage.standardisation import comparisons_of


@dataclass(frozen=True, slots=True)
class LevelWeight:
    """What one comparison level says.

    Attributes
    ----------
    level
        Number of the level, as in `Pairs`.
    m, u
        Share of true matches, and of other pairs, in it.
    by_frequency
        Whether the weight is adjusted by the value's frequency.
    """

    comparison: str
    level: int
    label: str
    m: float
    u: float
    by_frequency: bool

    @property
    def weight(self) -> float:
        """Match weight in bits, log₂(m / u), before the value's frequency."""
        # A file may hold an m or u of 0, of which there is no logarithm: the weight stays within
        # ±40 bits.
        return math.log2(max(self.m, 1e-12) / max(self.u, 1e-12))


@dataclass(frozen=True, eq=False)
class Model:
    """A trained linkage model; its settings hold no value of the data.

    Attributes
    ----------
    settings
        Splink settings with m, u and prior.
    rules
        The blocking rules, and the pairs that each makes and none before it; none where the model
        has scored nothing yet.
    comparisons
        Number of pairs of records without blocking.
    lost
        Expected number of true matches that no rule brings together, or that are within sources
        of which only the links are looked for.
    impossible
        By column of dates: number of values that are no date.
    engine
        Where the pairs were scored, ``"duckdb"`` or ``"spark"``.
    by_relations
        Whether scores tell relatives and namesakes from persons, so that persons can be inferred.
    """

    settings: dict[str, Any]
    rules: tuple[RulePairs, ...] = ()
    comparisons: int = 0
    lost: float = 0.0
    hidden: float = 0.0
    impossible: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    engine: str = "duckdb"
    once: tuple[str, ...] = ()
    by_relations: bool = False

    @property
    def prior(self) -> float:
        """Probability that two records compared at random are one person's."""
        return float(self.settings["probability_two_random_records_match"])

    @property
    def candidates(self) -> int:
        """Number of candidate pairs, those scored too low to be kept included."""
        return sum(rule.pairs for rule in self.rules)

    @property
    def weights(self) -> tuple[LevelWeight, ...]:
        """What each comparison level says, in the settings' order."""
        return tuple(level_weights(self.settings))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings as JSON that Splink can read, too."""
        write_text(path, json.dumps(self.settings, indent=2) + "\n")


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a trained model from JSON, written by `Model.save` or by Splink."""
    file = Path(path)
    subject = f"model {file.name}"
    try:
        # Editors of some systems put a byte order mark before JSON, which the parser would refuse.
        settings = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise unreadable_file(subject, error) from None
    # Brackets nested thousands deep make the parser run out of stack: bad input, not a fault.
    except (ValueError, RecursionError):
        raise InputError(subject, "must be settings of Splink as JSON") from None
    if not isinstance(settings, dict) or "comparisons" not in settings:
        raise InputError(subject, "must be settings of Splink as JSON")
    try:
        trained = is_trained(settings)
    except (AttributeError, KeyError, TypeError):
        raise InputError(subject, "must be settings of Splink as JSON") from None
    if not trained:
        raise InputError(subject, "must be trained", found="levels without m or u")
    return Model(settings)


def is_trained(settings: dict[str, Any]) -> bool:
    """Whether every comparison level of some settings has its m and u."""
    return all(
        isinstance(level.get(key), (int, float))
        for _, _, level in _levels(settings)
        for key in ("m_probability", "u_probability")
    )


def level_weights(settings: dict[str, Any]) -> Iterator[LevelWeight]:
    """What each comparison level of trained settings says.

    The highest level of each comparison comes first.
    """
    for comparison, number, level in _levels(settings):
        yield LevelWeight(
            comparison,
            number,
            str(level.get("label_for_charts", number)),
            float(level["m_probability"]),
            float(level["u_probability"]),
            bool(level.get("tf_adjustment_column")) and level.get("tf_adjustment_weight", 1) != 0,
        )


def equal_u(settings: dict[str, Any]) -> dict[str, float]:
    """The u of the highest level of each comparison, 1 where it was not estimated."""
    found: dict[str, float] = {}
    for comparison, _, level in _levels(settings):
        u = level.get("u_probability")
        found.setdefault(comparison, float(u) if isinstance(u, (int, float)) else 1.0)
    return found


def with_levels(
    settings: dict[str, Any], changes: Mapping[tuple[str, int], Mapping[str, Any]]
) -> dict[str, Any]:
    """Settings with other values in levels, by comparison and number of the level.

    The given ones stay.
    """
    comparisons = []
    for comparison in settings["comparisons"]:
        name, levels = comparison["output_column_name"], []
        # Splink lists levels from equal down to different; here the number 0 is the lowest of them.
        number = sum(not level.get("is_null_level") for level in comparison["comparison_levels"])
        for level in comparison["comparison_levels"]:
            if level.get("is_null_level"):
                levels.append(level)
                continue
            number -= 1
            levels.append({**level, **changes.get((name, number), {})})
        comparisons.append({**comparison, "comparison_levels": levels})
    return {**settings, "comparisons": comparisons}


def _levels(settings: dict[str, Any]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Comparison, number and settings of each level that is not for missing values."""
    for comparison in settings["comparisons"]:
        levels = [c for c in comparison["comparison_levels"] if not c.get("is_null_level")]
        for place, level in enumerate(levels):
            yield comparison["output_column_name"], len(levels) - 1 - place, level


_STEPS = 60
_CLOSE = 1e-10
# A pair drawn at random is hardly ever likelier one person's than not; above ½ the prior alone
# would call every pair a match.
_MOST = 0.5
_LN_2 = float(np.log(2))
_KEPT = 0.1
"""Share of an estimated u that is kept at least."""


@dataclass(frozen=True, eq=False)
class Adjusted:
    """A prior and values of u, among pairs that are no matches, that fit the scored pairs.

    Match weights of the pairs are in bits, the prior included.
    """

    prior: float
    weight: Floats
    u: dict[tuple[str, int], float]


def first_prior(comparisons: int, sizes: Sequence[int]) -> float:
    """A prior to start from: every second record of the smallest source has a match."""
    # At most a tenth, as in tiny files the half of the smaller source would be many of all pairs.
    return min(0.1, max(min(sizes) / 2, 1.0) / max(comparisons, 1))


def fit_prior(
    evidence: Floats,
    levels: Mapping[str, Levels],
    weights: Sequence[LevelWeight],
    comparisons: int,
    *,
    correct_u: bool,
    lost: float = 0.0,
    pattern: Ints | None = None,
) -> Adjusted:
    """The prior under which the pairs' probabilities add up to the matches that it says.

    Starting from the pairs' evidence, it is the fixed point of prior = (Σ p + lost) / comparisons:
    expectation maximisation of the prior alone, over the candidate pairs.

    Where ``correct_u``, u is taken for what it was estimated from: random pairs, of which the
    share ``prior`` are matches. In a small file that share is not small beside the u of equal
    values. Among pairs that are no matches, u' = (u − prior · m) / (1 − prior), though not less
    than a tenth of u. A level whose weight is adjusted by the value's frequency keeps its weight.

    Parameters
    ----------
    evidence
        Match weight of each pair without the prior, in bits.
    correct_u
        Whether u was estimated from random pairs of these records.
    pattern
        Where the levels are those of distinct patterns: which of them each pair has.
    """
    # From above, as if all candidates were matches: so it falls to the largest fixed point, and
    # not to the one near 0 at which nothing is a match.
    prior, u = min(_MOST, max(len(evidence), 1) / max(comparisons, 1)), {}
    weight = evidence
    for _ in range(_STEPS):
        u = {(w.comparison, w.level): _u(w, prior, correct_u=correct_u) for w in weights}
        # Log odds after the evidence: log₂ Π m/u + log₂(λ / (1 − λ)), the sum of Fellegi and
        # Sunter.
        weight = evidence + np.log2(prior / (1 - prior))
        if correct_u:
            others = [
                # With the value's frequency f the weight is log₂ m / f: u cancels, and correcting
                # it would change that weight for nothing.
                w if w.by_frequency else replace(w, u=u[w.comparison, w.level])
                for w in weights
            ]
            change = weight_change(levels, weights, others)
            weight += change if pattern is None else change[pattern]
        matches = float(np.sum(expit(weight * _LN_2))) + lost
        # A hundredth of a match at least, so that the log odds of the prior stay finite.
        new = float(np.clip(matches / max(comparisons, 1), 0.01 / max(comparisons, 1), _MOST))
        done = abs(new - prior) <= _CLOSE * prior
        prior = new
        if done:
            break
    # Nine digits: threads add up in any order, and the digits beyond would differ from run to run.
    return Adjusted(float(f"{prior:.9g}"), weight, u)


Level = TypeVar("Level", bound=np.signedinteger[Any])


def distinct_patterns(
    levels: Mapping[str, npt.NDArray[Level]],
) -> tuple[dict[str, npt.NDArray[Level]], Ints]:
    """The distinct patterns of levels, and which of them each pair has."""
    code = np.zeros(max((len(level) for level in levels.values()), default=0), np.int64)
    width = 1
    for level in levels.values():
        most = int(level.max(initial=0)) + 2
        # Before the number would overflow, the codes are renumbered without gaps.
        if width > np.iinfo(np.int64).max // most:
            code = np.unique(code, return_inverse=True)[1]
            width = int(code.max(initial=0)) + 1
        # Levels as digits of one number: integers are sorted many times faster than rows.
        code, width = code * most + level + 1, width * most
    _, first, pattern = np.unique(code, return_index=True, return_inverse=True)
    return {name: level[first] for name, level in levels.items()}, pattern


def _u(level: LevelWeight, prior: float, *, correct_u: bool) -> float:
    if not correct_u or level.m == level.u:
        return level.u
    # Random pairs are λ matches and 1 − λ others: u_seen = λ m + (1 − λ) u', solved for u'.
    corrected = (level.u - prior * level.m) / (1 - prior)
    return float(f"{max(corrected, _KEPT * level.u):.9g}")


def weight_change(
    levels: Mapping[str, Levels],
    before: Sequence[LevelWeight],
    after: Sequence[LevelWeight],
) -> Floats:
    """How the match weight of each pair, or pattern, changes, in bits."""
    change = np.zeros(max((len(level) for level in levels.values()), default=1))
    for name, level in levels.items():
        # Place 0 is for the level −1, a missing value, which says nothing and changes by 0.
        of_level = np.zeros(int(level.max(initial=0)) + 2)
        for level_weight, weight in zip(before, after, strict=True):
            if level_weight.comparison == name and level_weight.level + 1 < len(of_level):
                of_level[level_weight.level + 1] = np.log2(
                    weight.m / level_weight.m * (level_weight.u / weight.u)
                )
        change += of_level[level + 1]
    return change


OTHER_PERSON = {
    ColumnKind.GIVEN_NAME: frozenset({"different"}),
    ColumnKind.DATE: frozenset({"at most ten years apart", "different"}),
}
"""By kind, the labels of the levels that errors in one person's values hardly explain. Dates within
a year are left out: there are files in which a shifted date is the usual error."""
MOSTLY = 0.5
"""Share of the matches that may be in such a level."""
OVER_RECORDS, OVER_TABLES = 1.25, 1.1
"""How many times as many matches may be implied as the records in candidate pairs can have, and as
all records of the smaller table can: twins and common names make some percent too many."""
FEWEST = 20.0
"""Implied matches from which they are judged."""
_ADVICE = (
    "people who have much in common, such as those of a household, seem to be taken for one. "
    "Compare what tells them apart, and not what they share, such as addresses and telephones. "
    "Set compare = false in the specification, which 'sfumato link suggest' writes; blocking "
    "rules may use it"
)
_DUPLICATES = (
    "; where a table has several records of a person, link with --dedupe (mode = "
    '"link-and-dedupe"), or name the others in one_per_source'
)


def check_plausible(
    pairs: Pairs,
    weights: Sequence[LevelWeight],
    records: Records,
    spec: LinkSpec,
    once: Collection[str] | None = None,
) -> None:
    """Refuse a model whose matches can hardly be persons.

    Where persons live in households, the pairs of a household agree in so much at once that
    expectation maximisation finds them, not the pairs of a person. All scores are then near 0 or
    1, and the expected precision, which is that of finding households, near 1.

    Parameters
    ----------
    spec
        What is linked, and how. In link-only mode every source is taken to have one record per
        person, unless ``one_per_source`` names those that do.
    once
        Names of the sources that were found to have one, where relations told.
    """
    limited = spec.one_per_source
    if spec.mode is Mode.LINK_ONLY and not spec.one_per_source:
        # A table that is linked only, not searched for duplicates, is said to have none by that.
        limited = records.sources if once is None else tuple(once)
    implied, allowed, most = implied_and_allowed(pairs, records, limited)
    found, advice = [], _ADVICE
    # The lower of both limits, as true matches keep to both.
    if implied > max(FEWEST, min(OVER_RECORDS * allowed, OVER_TABLES * most)):
        found.append(
            f"about {implied:,.0f} matches, of which at most {allowed:,.0f} can be true if a "
            "table has one record per person"
        )
        advice += _DUPLICATES
    found += [
        f"'{name}' is different in {percentage(share)} of the matches"
        for name, share in different_shares(pairs, weights, spec)
        if share > MOSTLY
    ]
    if found:
        raise InputError(
            "the linkage model", "must tell people apart", found=", ".join(found), advice=advice
        )


def implied_and_allowed(
    pairs: Pairs, records: Records, limited: Collection[str]
) -> tuple[float, float, int]:
    """Matches that the scores add up to, and how many the sources allow.

    A record has at most one match in a source with one record per person. So of a record whose
    scores there add up to s at most min(s, 1) is true, and all matches between two sources are at
    most as many as either has records, where the other is such a source.

    Parameters
    ----------
    limited
        Names of the sources with at most one record per person.

    Returns
    -------
    tuple
        Implied matches between sources of which one is such a source at least; how many can be
        true by the sums of each record; how many by the numbers of records.
    """
    left, right = records.source_of(pairs.left), records.source_of(pairs.right)
    implied, allowed, most = 0.0, 0.0, 0
    for one, other in combinations(range(len(records.sources)), 2):
        between = (left == one) & (right == other)
        score = pairs.score[between]
        sums, sizes = [], []
        for counted, held, record in ((one, other, pairs.left), (other, one, pairs.right)):
            if records.sources[held] in limited:
                # Σ p of the record over the source that holds it once at most.
                own = np.bincount(record[between], score, records.count)
                sums.append(float(np.minimum(own, 1.0).sum()))
                sizes.append(len(records.ids[counted]))
        if sums:
            implied += float(score.sum())
            # Where both sources hold each person once, the stricter of the two counts holds.
            allowed, most = allowed + min(sums), most + min(sizes)
    return implied, allowed, most


def different_shares(
    pairs: Pairs, weights: Sequence[LevelWeight], spec: LinkSpec
) -> Iterator[tuple[str, float]]:
    """The share of the implied matches whose first names, or dates of birth, are different.

    By comparison, of those matches of which both records have a value. A specification of Splink's
    own settings does not say what is a first name.
    """
    for each in (c for name, column in spec.columns.items() for c in comparisons_of(name, column)):
        labels, level = OTHER_PERSON.get(each.kind), pairs.levels.get(each.name)
        if labels is None or level is None:
            continue
        own = [w for w in weights if w.comparison == each.name]
        different = [w.level for w in own if w.level == 0 or w.label in labels]
        known = float(pairs.score[level >= 0].sum())
        # A share of fewer matches is mostly noise, and the model would be refused for it.
        if known >= FEWEST:
            yield each.name, float(pairs.score[np.isin(level, different)].sum()) / known


SATURATED = 40.0
"""Weight, in bits, from which scores only keep the order of the weights."""
_CLOSEST = 2.0**-SATURATED
_WIDTH = 100.0


def scores(weight: Floats) -> Floats:
    """The probability of a match of each weight, in bits with the prior: 2^w / (1 + 2^w).

    Where that would round to 1 the score is not quite as near to 1, by less than 10⁻¹², so that a
    greater weight still has the greater score and ties are rare.
    """
    # Down to 2^−1000, as 2^1024 overflows. Up to 40 bits, as 1 − 2^−53 is the last number below 1.
    kept = np.clip(weight, -1000.0, SATURATED)
    beyond = np.maximum(weight - SATURATED, 0.0)
    # Falls with the weight but never to 0, and meets the logistic curve at 40 bits: order is kept.
    apart = np.where(beyond > 0, _CLOSEST / (1 + beyond / _WIDTH), 0.0)
    score = 1 / (1 + np.exp2(-kept))
    return np.where(beyond > 0, 1 - apart, score)
