"""What the answers of a review say of all pairs, and of precision and recall of the persons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.measure import Measure
from sfumato.core.number_text import percentage
from sfumato.linkage import review_sample
from sfumato.linkage.answer_evidence import EDGE, ErrorRate, Weighed
from sfumato.linkage.match_decisions import DIFFERENT, SAME, Verdicts
from sfumato.linkage.reviewed_rates import DRAWS, NO_PATTERN, Cells, draw_rates

BY_REVIEW = "review"
_WHY = (
    "pairs drawn at random from all scores and answered; what the people drawn say, corrected by "
    "the answers"
)
_BY_SCORES = (
    "pairs drawn at random from all scores and answered; nothing tells relatives from people but "
    "the answers, so that the interval can miss the truth"
)
LOST_DOUBT = 1.0
"""How many times as wrong as usual log odds are of what capture and recapture say."""
# Cells become rows of a covariance matrix: its factors cost their number cubed.
_FEW_OF_PATTERN, _MOST_CELLS = 20, 200
# Draws that all agree would give a rate of 0 or 1, whose log odds no answer could move.
_HALF = 1e-3
"""Pairs of a cell that count as matches, and as others, whatever the draws say."""
_BY_SCORE = 2.0
"""Draws that the score of a pair counts for where none joins it."""
_CHAINED, _PARTED = -1, -2
"""Kinds of pairs that no rule brought together: within a person, and parted by answers; those of
wider blocks follow."""
_WORST_CLERKS = 3
"""Lines of error rates, the worst ones; all are in the file."""
_LOOKED_AT = 8
"""Draws that say how errors come together."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What answers say.

    Attributes
    ----------
    precision, recall
        Of persons, with 95 % intervals.
    error
        Share of the answers that are taken to be wrong.
    clerks
        The same by clerk and kind of pair, the worst first.
    inferred
        Whether partitions were drawn; scores alone are too sure of relatives for 200 answers to
        mend them.
    """

    rates: review_sample.Rates
    precision: Measure
    recall: Measure
    answered: int
    error: float
    clerks: tuple[ErrorRate, ...]
    twice: int
    inferred: bool


@dataclass(frozen=True, eq=False)
class Reviewed:
    """What a review says of the persons."""

    asked: int
    learned: Learned
    half_width: float

    @property
    def quality(self) -> tuple[Measure, Measure]:
        """Precision and recall of the persons."""
        return self.learned.precision, self.learned.recall

    @property
    def is_narrow(self) -> bool:
        """Whether both intervals are as narrow as wanted, by some answers, and can be relied on."""
        widths = [(measure.high or 0.0) - (measure.low or 0.0) for measure in self.quality]
        # The model's own interval may be narrow, but nobody has checked it.
        relied = self.learned.inferred and self.learned.answered > 0
        return relied and max(widths) <= 2 * self.half_width

    def to_json(self) -> dict[str, Any]:
        """Numbers about it as plain values."""
        return {
            "asked": self.asked,
            "answered": self.learned.answered,
            "half_width": self.half_width,
            "answers_wrong": self.learned.error,
            "answered_twice": self.learned.twice,
            "clerks": [error_rate.to_json() for error_rate in self.learned.clerks],
            "narrow_enough": self.is_narrow,
            **{measure.name: measure.to_json() for measure in self.quality},
        }

    def lines(self) -> list[str]:
        """The same in a few lines."""
        asked, answered = self.asked, self.learned.answered
        said = "narrow enough" if self.is_narrow else "not yet as narrow as wanted"
        if not self.learned.inferred:
            said = "can miss the truth, as people were not inferred: use --check"
        by = "pairs that two answered" if self.learned.twice else "what is usual: no pair has two"
        trust = f"about {percentage(self.learned.error)} wrong, by {by}"
        clerks = [f"                  {clerk}" for clerk in self.learned.clerks[:_WORST_CLERKS]]
        return [
            f"Review            pairs answered: {answered:,} of {asked:,}",
            f"Answers           {trust}",
            *clerks,
            f"Intervals         {said} (± {percentage(self.half_width)})",
            *(
                f"By review         {measure.name} {percentage(measure.value, 2)} "
                f"({percentage(measure.low or 0.0, 2)} to {percentage(measure.high or 0.0, 2)}) "
                "of the people"
                for measure in self.quality
            ),
        ]


def learn(
    sample: review_sample.ReviewSample,
    asked: review_sample.Asked,
    answers: tuple[Verdicts, Weighed | None],
    person: Ints,
    draws: npt.NDArray[np.integer[Any]] | None,
    rng: np.random.Generator,
    *,
    alone: Ints | None = None,
) -> Learned:
    """Rates, probabilities, and precision and recall of persons, by the answers so far.

    Of pairs that were answered, or that follow from answers that are believed, the draws say what
    is true. Of all other pairs the partitions drawn
    given the answers say how likely they are, by cells of pairs of about one score that differ in
    the same columns. By how much that is wrong, the answers to the pairs drawn for review say:
    each was foretold when it was asked (Dawid 1984, JRSS A 147:278-292). Errors come in
    lumps, as a record that is in the wrong person is wrong about all of that one's records: as
    many lumps as a Poisson number has, each as large as the draws' are on average.

    Parameters
    ----------
    answers
        What people answered, and what it is worth; ``None`` where nobody did.
    draws
        Partitions drawn given what people answered, where persons are inferred; shape (draws,
        records). The scores speak where there are none.
    alone
        Person of each record as they are without any decision, by what answers have taught:
        where scores join records, so that pairs that were answered are told apart as all others
        are. Those at the beginning if not given.
    """
    # Draws say how likely a pair is on either side; by score alone the sides have to be told apart.
    side = None if draws is not None else sample.together(sample.person if alone is None else alone)
    verdicts, weighed = answers
    believed = verdicts if weighed is None else verdicts.take(weighed.believed)
    groups, same, answered, error = _answers(sample, asked, answers, side)
    unknown = _unknown(sample, asked, believed, person, draws)
    rate, moved = _rates(
        groups, same, answered, unknown.cells, rng, doubt=sample.doubt, error=error
    )
    lumps = _lumps(draws, person)
    # A Poisson number of lumps: same mean as of single pairs, variance as many times larger as a
    # lump is.
    wrong = lumps[0] * rng.poisson((1 - rate) @ unknown.inside / lumps[0])
    # A Poisson number has no upper end, but there are no more pairs than these.
    wrong = np.minimum(wrong, unknown.inside.sum())
    missed = lumps[1] * rng.poisson(rate @ unknown.outside / lumps[1]) + unknown.missed
    # What blocking has lost may agree in less than the wider blocks ask for, which nobody draws:
    # any share of it is as likely as any other.
    doubt = np.exp(LOST_DOUBT * rng.standard_normal(len(missed)))
    beyond = rng.random(len(missed)) if np.any(sample.wider_size) else 1.0
    # What has come together since is no longer lost.
    missed += rng.poisson(
        max(sample.lost - unknown.gained, review_sample.LEAST_LOST) * doubt * beyond
    )
    before = sample.person if alone is None else alone
    # Wrong answers joined or parted persons, and are in no cell, as answered pairs count as known.
    if draws is not None:
        misjudged = _known_in_draws(sample, believed, person, draws)
    else:
        misjudged = _misjudged(verdicts, weighed, (person, before))
    picked = rng.integers(len(misjudged[0]), size=len(missed))
    wrong, missed = wrong + misjudged[0][picked], missed + misjudged[1][picked]
    right = np.maximum(sample.pairs_within(person) - wrong, 0)
    again = logit(np.clip(unknown.likely, EDGE, 1 - EDGE))
    again[unknown.cell >= 0] += moved[unknown.cell[unknown.cell >= 0]]
    mean, variance = _by_stratum(sample, unknown, rate)
    joined = (groups.kind % 2 == 1) & (groups.kind >= 0) | (groups.kind == _CHAINED)
    rates = review_sample.Rates(
        unknown.foretold,
        expit(unknown.cells.odds[-len(sample.wider_size) - 2 :]),
        np.where(unknown.cell >= 0, expit(again), unknown.likely),
        mean,
        variance,
        0.0 if weighed is None else weighed.error,
    )
    why = _WHY if draws is not None else _BY_SCORES
    return Learned(
        rates,
        _measure("precision", right, wrong, why, is_open=not (answered - same)[joined].sum()),
        _measure("recall", right, missed, why, is_open=not same[~joined].sum()),
        int(np.count_nonzero(np.isin(asked.pair, verdicts.pair[verdicts.result != 0]))),
        rates.error,
        () if weighed is None else weighed.rates,
        int(np.count_nonzero(verdicts.workers > 1)),
        draws is not None,
    )


def _known_in_draws(
    sample: review_sample.ReviewSample,
    verdicts: Verdicts,
    person: Ints,
    draws: npt.NDArray[np.integer[Any]],
) -> tuple[Ints, Ints]:
    """Pairs that answers say or imply, joined by the persons and not by each draw, and contrary."""
    known, is_same, node = sample.known(verdicts)
    now = sample.together(person)
    joined, others = sample.pairs_within(node, person), known & ~is_same & now
    wrong, missed = [], []
    for draw in draws.astype(np.int64):
        drawn = sample.together(draw)
        apart = joined - sample.pairs_within(node, person, draw)
        wrong.append(apart + np.count_nonzero(others & ~drawn))
        missed.append(np.count_nonzero(known & ~now & drawn))
    return np.array(wrong), np.array(missed)


def _misjudged(
    verdicts: Verdicts, weighed: Weighed | None, persons: tuple[Ints, Ints]
) -> tuple[Ints, Ints]:
    """Number of pairs that wrong answers "same" join, and that wrong answers "different" part.

    A wrong one is wrong about all records of both persons: those that would be apart without it, by
    the persons (now, before), or that are apart for it.
    """
    if weighed is None:
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    now, before = persons
    together = now[verdicts.left] == now[verdicts.right]
    of_both = np.unique(now * (int(before.max(initial=0)) + 1) + before, return_inverse=True)[1]

    def number(result: int, of: Ints, counts: Bools) -> Ints:
        own = weighed.believed & (weighed.side == result)
        size, one, other = np.bincount(of), of[verdicts.left[own]], of[verdicts.right[own]]
        # Apart, all n n' pairs are wrong; together, the record's n − 1 pairs with the rest of the
        # person.
        pairs = np.where(one == other, np.maximum(size[one] - 1, 1), size[one] * size[other])
        return np.asarray(weighed.wrong[:, own] @ (pairs * counts[own]), dtype=np.int64)

    return number(SAME, of_both, together), number(DIFFERENT, now, ~together)


@dataclass(frozen=True, eq=False)
class _Unknown:
    """Pairs whose truth does not follow from answers, in cells.

    Attributes
    ----------
    cells
        The cells; the last ones hold what no rule brought together: chained within persons, parted
        by answers, and the wider blocks.
    inside, outside
        Number of pairs of each that are within a person, and that are not.
    cell
        Cell of each of the linkage's pairs, -1 where it is known.
    foretold
        Mean of those in the cell of each pair, which is what an answer is held against.
    missed
        Number of pairs that are known to be one person's and are apart.
    gained
        Number of pairs that no rule brought together and that came into one person since the
        beginning: of what blocking has lost, that is found.
    """

    cells: Cells
    inside: Ints
    outside: Ints
    cell: Ints
    likely: Floats
    foretold: Floats
    missed: int
    gained: int


def _unknown(
    sample: review_sample.ReviewSample,
    asked: review_sample.Asked,
    verdicts: Verdicts,
    person: Ints,
    draws: npt.NDArray[np.integer[Any]] | None,
) -> _Unknown:
    known, is_same, node = sample.known(verdicts)
    now, ruled = sample.together(person), sample.stratum >= 0
    listed, there = ruled | known, np.flatnonzero(ruled & ~known)
    likely, held_out, part = _likely(sample, draws)
    place, pattern = _places(sample, part, now, there)
    # A cell never mixes both sides, so that one pair tells the side of all.
    count, inside = np.bincount(place), np.bincount(place, now[there])
    rate = (np.bincount(place, held_out[there]) + _HALF) / (count + 2 * _HALF)
    cell = np.full(len(now), -1)
    cell[there] = place
    foretold = likely.copy()
    foretold[there] = rate[place]
    first = np.zeros(len(count), np.int64)
    first[place[::-1]] = there[::-1]

    # Pairs that no rule brought together: chained, parted by answers, and of wider blocks.
    before = sample.together(sample.person)
    parted = before & ~now & listed
    gained = sample.pairs_within(person) - sample.pairs_within(sample.person, person)
    chained = sample.pairs_within(person) - np.count_nonzero(now & listed)
    chained -= sample.pairs_within(node, person) - np.count_nonzero(now & is_same & listed)
    apart = sample.pairs_within(sample.person) - sample.pairs_within(sample.person, person)
    gone = np.bincount(asked.stratum, minlength=sample.strata)[review_sample.WIDER :]
    # Differences of counts: the wider pairs that answers know may make them fall below 0.
    rest = [max(int(chained), 0), max(int(apart - np.count_nonzero(parted)), 0)]
    odds = _by_draws(sample, draws, person, (now & listed, parted), rest)
    wider = np.maximum(sample.wider_size - gone, 0)
    unruled = 2 + len(wider)
    return _Unknown(
        Cells(
            np.concatenate([logit(np.clip(rate, EDGE, 1 - EDGE)), odds, sample.wider_odds]),
            np.append(pattern, np.full(unruled, NO_PATTERN)),
            np.append(_kind(rate, now[first]), -1 - np.arange(unruled)),
        ),
        np.concatenate([inside, rest[:1], np.zeros(unruled - 1)]).astype(np.int64),
        np.concatenate([count - inside, [0], rest[1:], wider]).astype(np.int64),
        cell,
        likely,
        foretold,
        # Draws say this of persons that are inferred.
        int(np.count_nonzero(is_same & ~now)) if draws is None else 0,
        int(gained - np.count_nonzero(now & ~before & ruled)),
    )


def _kind(rate: Floats, joined: Bools) -> Ints:
    """A number of about which rate it is, odd where the pairs are within a person."""
    odds = logit(np.clip(rate, EDGE, 1 - EDGE))
    return np.asarray(2 * np.searchsorted(review_sample.EDGES, odds, side="right") + joined)


def _likely(
    sample: review_sample.ReviewSample, draws: npt.NDArray[np.integer[Any]] | None
) -> tuple[Floats, Floats, Ints]:
    """Probability of each pair: by all draws, by half of them, and its part by the other half.

    The parts are those that no draw joins, fewer than half of them, more, and all. As one half says
    where a pair belongs and the other how likely it is, the mean of a part has no bias. What no
    draw joins for its low score keeps that. What none joins for other pairs' sake, as those between
    two halves of a person that all speak against the union, though for one reason, is as likely as
    if so many more draws as `_BY_SCORE` said what its score says.
    """
    score = sample.pairs.score
    if draws is None:
        return score, score, np.zeros(len(score), np.int64)
    # Every second draw, so that each half has draws of all variants of doubt.
    by_half = [np.mean([sample.together(draw) for draw in draws[k::2]], axis=0) for k in range(2)]
    # Below `person_inference.FEWEST` a pair joins nothing, so that draws say nothing of it.
    fits = (sample.odds > review_sample.EDGES[0]) | (np.maximum(*by_half) > 0)
    one, other = (np.where(fits, each, score) for each in by_half)
    part = (one > 0).astype(np.int64) + (one >= 0.5) + (one == 1)
    weight = (part == 0) * _BY_SCORE / (_BY_SCORE + len(draws) / 2)
    other = other + weight * (score - other)
    return (one + other) / 2, other, part


def _places(
    sample: review_sample.ReviewSample, part: Ints, now: Bools, there: Ints
) -> tuple[Ints, Ints]:
    """Cell of each of some pairs, and the pattern of each cell.

    A cell is a stratum, whether the pairs are within a person, their part by the draws, and, where
    many do, the columns in which they differ.
    """
    own = 8 * sample.stratum[there] + 2 * part[there] + now[there]
    pattern = sample.pattern[there]
    joint = own * (int(sample.pattern.max(initial=0)) + 1) + pattern
    keys, place, count = np.unique(joint, return_inverse=True, return_counts=True)
    usual = np.zeros(len(keys), dtype=np.bool_)
    # Stable, so that equal cells are taken in the same order on every machine.
    usual[np.argsort(-count, kind="stable")[:_MOST_CELLS]] = True
    usual = (usual & (count >= _FEW_OF_PATTERN))[place]
    keys, first, place = np.unique(
        np.where(usual, joint, -1 - own), return_index=True, return_inverse=True
    )
    return place, np.where(keys < 0, NO_PATTERN, pattern[first])


def _answers(
    sample: review_sample.ReviewSample,
    asked: review_sample.Asked,
    answers: tuple[Verdicts, Weighed | None],
    side: Bools | None,
) -> tuple[Cells, Floats, Floats, Floats]:
    """Answers to the pairs that were drawn, those alike together.

    Gives them as cells, how many said same, how many there are, and the share that is wrong.
    Pairs between two persons of the beginning are all matches or none: their answers count as one.
    """
    result, wrong = np.zeros(len(sample.pairs), dtype=np.int8), np.zeros(len(sample.pairs))
    verdicts, weighed = answers
    if weighed is not None:
        there = verdicts.pair >= 0
        result[verdicts.pair[there]] = weighed.side[there]
        # What the answers speak with, turned into the share of such answers that are wrong.
        wrong[verdicts.pair[there]] = expit(-np.abs(weighed.evidence[there]))
    given = np.flatnonzero(result[asked.pair])
    pair, stratum = asked.pair[given], asked.stratum[given]
    rate = asked.foretold[given]
    kind = _kind(rate, rate > 0.5 if side is None else side[pair])
    kind = np.where(
        stratum < review_sample.CHAINED,
        kind,
        review_sample.CHAINED - 1 - stratum - (stratum >= review_sample.WIDER),
    )
    pattern = np.where(stratum < review_sample.CHAINED, sample.pattern[pair], NO_PATTERN)
    # To a quarter of a nat: answers alike fall into one cell, and the error is far below the
    # model's doubt.
    odds = np.round(4 * logit(np.clip(rate, EDGE, 1 - EDGE))) / 4
    keys, place = np.unique(np.stack([odds, pattern, kind]), axis=1, return_inverse=True)
    groups = Cells(keys[0], keys[1].astype(np.int64), keys[2].astype(np.int64))
    one, two = sample.person[sample.pairs.left[pair]], sample.person[sample.pairs.right[pair]]
    between = np.where(
        one == two,
        -1 - np.arange(len(pair)),
        review_sample.pair_key(one, two, sample.records.count),
    )
    _, lump, times = np.unique(between, return_inverse=True, return_counts=True)
    # One answer about two persons settles all pairs between them, which are no further evidence.
    weight = 1 / times[lump]
    said = weight * (result[pair] == SAME)
    same, whole, error = (
        np.bincount(place, each, len(keys[0])).astype(np.float64)
        for each in (said, weight, weight * wrong[pair])
    )
    return groups, same, whole, error / np.maximum(whole, EDGE)


def _rates(
    groups: Cells,
    same: Floats,
    answered: Floats,
    cells: Cells,
    rng: np.random.Generator,
    *,
    doubt: float,
    error: Floats,
) -> tuple[Floats, Floats]:
    """Rates drawn for all cells, and by how much answers have moved their log odds."""
    every = groups.and_these(cells)
    none = np.zeros(len(cells.odds))
    same, answered, error = (np.append(each, none) for each in (same, answered, error))
    wider = every.kind < _PARTED
    drawn = np.empty((DRAWS, len(every.odds)))
    for own, scale in ((~wider, doubt), (wider, LOST_DOUBT)):
        # Apart: capture and recapture errs for other reasons than the model, and neither teaches
        # the other.
        drawn[:, own] = draw_rates(
            every[own], same[own], answered[own], rng, scale=scale, error=error[own]
        )
    drawn = drawn[:, len(groups.odds) :]
    # Without answers the mean differs by chance of the draws only, which would be noise in the
    # scores.
    moved = (drawn.mean(axis=0) - cells.centre()) * (answered.sum() > 0)
    return np.asarray(expit(drawn)), np.asarray(moved)


def _by_draws(
    sample: review_sample.ReviewSample,
    draws: npt.NDArray[np.integer[Any]] | None,
    person: Ints,
    listed: tuple[Bools, Bools],
    size: list[int],
) -> Floats:
    """Log odds of a match of pairs that only others have joined, and that answers have parted.

    ``listed`` are the linkage's own pairs within a person now, and within one at the beginning but
    no more; ``size`` is the number of the others of both kinds.
    """
    if draws is None:
        return np.zeros(2)
    both, kept = [], []
    for draw in draws.astype(np.int64):
        drawn = sample.together(draw)
        both.append(sample.pairs_within(person, draw) - np.count_nonzero(listed[0] & drawn))
        apart = sample.pairs_within(sample.person, draw)
        apart -= sample.pairs_within(sample.person, person, draw)
        kept.append(apart - np.count_nonzero(listed[1] & drawn))
    # The counts come of differences, and sampling may put the mean outside.
    mean = np.clip([np.mean(both), np.mean(kept)], 0, size)
    return np.asarray(logit((mean + 0.5) / (np.array(size) + 1)))


def _lumps(draws: npt.NDArray[np.integer[Any]] | None, person: Ints) -> tuple[float, float]:
    """Pairs that are wrong together, and missed together, on average over those pairs.

    Where nothing is drawn, a record is wrong about all others of its person.
    """
    if draws is None:
        size = np.bincount(person).astype(np.float64)
        pairs = float((size * (size - 1)).sum())
        return max(float((size * (size - 1) ** 2).sum()) / max(pairs, 1.0), 1.0), 1.0
    sums = np.zeros((2, 2))
    for draw in draws[:: max(len(draws) // _LOOKED_AT, 1)].astype(np.int64):
        for side, (one, other) in enumerate(((person, draw), (draw, person))):
            keys, whole = np.unique(one, return_inverse=True)
            _, first, count = np.unique(
                whole * (int(other.max()) + 1) + other, return_index=True, return_counts=True
            )
            size = np.bincount(whole).astype(np.float64)
            lump = size * (size - 1) / 2
            lump -= np.bincount(whole[first], count * (count - 1) / 2, len(keys))
            sums[side] += lump.sum(), (lump**2).sum()
    # Σ n² / Σ n: the size of the lump that a wrong pair, not a wrong person, is in.
    wrong, missed = (max(float(b / a), 1.0) if a else 1.0 for a, b in sums)
    return wrong, missed


def _by_stratum(
    sample: review_sample.ReviewSample, unknown: _Unknown, rate: Floats
) -> tuple[Floats, Floats]:
    """Mean and variance of the rate of matches of each stratum."""
    # Of the uniform distribution, where nothing is known of a stratum.
    mean, variance = np.full(sample.strata, 0.5), np.full(sample.strata, 1 / 12)
    last = len(unknown.cells.odds) - len(sample.wider_size) - 2
    there = unknown.cell >= 0
    number = np.zeros((sample.strata, rate.shape[1]))
    np.add.at(number, (sample.stratum[there], unknown.cell[there]), 1.0)
    number[review_sample.CHAINED, last] = 1.0
    number[review_sample.WIDER :, last + 2 :] = np.eye(len(sample.wider_size))
    for stratum in np.flatnonzero(number.any(axis=1)).tolist():
        weight = number[stratum] / number[stratum].sum()
        # Quantiles at one standard deviation of a normal: a few extreme draws do not make the
        # variance.
        low, middle, high = np.quantile(rate @ weight, [0.16, 0.5, 0.84])
        mean[stratum], variance[stratum] = middle, ((high - low) / 2) ** 2
    return mean, variance


def _measure(
    name: str, right: npt.NDArray[Any], wrong: npt.NDArray[Any], why: str, *, is_open: bool
) -> Measure:
    """The median share and its 95 % interval, rounded outwards to whole pairs.

    Where no answer has found an error (``is_open``), that there is none is not ruled out, as by an
    exact interval of a binomial share.
    """
    pairs = right + wrong
    share = np.divide(right, pairs, out=np.ones(len(right)), where=pairs > 0)
    low, middle, high = np.quantile(share, [0.025, 0.5, 0.975]).tolist()
    size = max(float(pairs.mean()), 1.0)
    low = max(1 - math.ceil((1 - low) * size + 1) / size, 0.0)
    high = 1.0 if is_open else 1 - max(math.floor((1 - high) * size - 1), 0) / size
    return Measure(name, middle, low=low, high=high, estimator=BY_REVIEW, why=why)
