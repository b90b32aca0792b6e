"""What guessing would have found, and what an attack found above it, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import betaincinv

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.declaration import fields_of, plain_fields
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.risk.population.match_distribution import MatchDistribution, matches

LEVEL = 0.95
"""Of the intervals; what is allowed is the upper end of such an interval."""
UPPER = 0.5 + LEVEL / 2


def clopper_pearson(right: int, attempts: int, level: float = LEVEL) -> tuple[float, float]:
    """The exact interval of the mean chance of independent guesses; [0, 1] without any.

    Clopper & Pearson 1934, Biometrika 26:404-413. With chances that differ, hits vary less than the
    binomial's (Hoeffding 1956), so that it covers the mean chance at least as often as it says.
    """
    if not 0 <= right <= attempts:
        raise InputError("the right guesses", "must be among the guesses", found="another number")
    tail = (1 - level) / 2
    low = 0.0 if right == 0 else float(betaincinv(right, attempts - right + 1, tail))
    high = 1.0 if right == attempts else float(betaincinv(right + 1, attempts - right, 1 - tail))
    return low, high


def by_distribution(
    right: int, attempts: int, hits: MatchDistribution, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of the mean chance when the distribution of the hits is known up to its place.

    For one-to-one guessing, whose hits are not binomial: right - hits' mean lies between the
    distribution's two ends less its mean with the stated probability, and the mean is moved out of
    that inequality (the basic, or pivotal, interval). Guesses that cannot fail give no width.
    """
    tail = (1 - level) / 2
    low, high = hits.quantiles(tail, 1 - tail)
    ends = (right - (high - hits.mean)) / attempts, (right + (hits.mean - low)) / attempts
    return max(0.0, min(ends[0], right / attempts)), min(1.0, max(ends[1], right / attempts))


def success(right: int, attempts: int, hits: MatchDistribution | None = None) -> Measure:
    """Realised success with the interval that fits; 0 without guesses.

    Without the distribution of the attack's own hits the guesses count as independent.
    """
    value = right / attempts if attempts else 0.0
    if hits is not None and attempts:
        low, high = by_distribution(right, attempts, hits)
        name, why = "matching", "95 % interval from the distribution of the attack's own hits"
    else:
        low, high = clopper_pearson(right, attempts)
        name, why = "Clopper-Pearson", "95 % interval of the mean chance of independent guesses"
    return Measure("success", value, low, high, name, why)


def exact_success(right: int, attempts: int) -> Measure:
    """Realised success of guesses in which nothing is left to chance; 0 without any."""
    return Measure("success", right / attempts if attempts else 0.0)


_DIGITS = 12
"""Chances that agree to so many digits are one; their sum moves by less than 1e-12 a guess."""


def free_hits(chances: Floats) -> MatchDistribution:
    """The distribution of the number of right guesses, each right with a chance of its own.

    The Poisson-binomial distribution: a guess of chance p is a class with one record and 1 / p
    persons (paper 004, Section 2.3), so that its generating function 1 + p (z - 1) is inverted by
    the same Fourier transform, exact to 1e-10 at any number of guesses. O(distinct chances times
    the standard deviation of the hits).
    """
    chances = np.asarray(chances, dtype=np.float64)
    if not np.all((chances >= 0) & (chances <= 1)):
        raise InputError("the chances", "must be between 0 and 1", found="another number")
    rounded = np.round(chances[chances > 0], _DIGITS)
    likely = np.maximum(rounded, 10.0**-_DIGITS)
    if not likely.size:
        return MatchDistribution(0.0, 0.0, 0, np.ones(1))
    return matches(np.ones(likely.size), 1 / likely)


def binomial_hits(attempts: int, rate: float) -> MatchDistribution:
    """The hits of free guesses of which only the mean chance is claimed.

    Of all independent guesses with that mean, those of equal chance have the heaviest tails: for
    c at least 1 above the mean, P(hits >= c) is at most the binomial's (Hoeffding 1956, Annals
    of Mathematical Statistics 27:713-721, Theorem 5). What the claim allows is thus not too
    little whatever the single chances are.
    """
    return free_hits(np.full(attempts, rate))


def one_to_one_hits(pairs: Ints | Floats, larger: Ints | Floats) -> MatchDistribution:
    """The distribution of the right pairs of random one-to-one mappings, class by class.

    The f released units of a class are mapped onto its F persons at random, or the persons onto
    the units where those are more. Of the g right pairs that such a mapping can name (g = f where
    every unit's owner is among the persons), i given ones are all named with probability
    (m - i)! / m!, m = max(f, F). The factorial moments are (g)_i / (m)_i, those of the fixed
    points of g records in a class of m persons (paper 004, Section 2.3), so that the distribution
    over all classes is exact (`sfumato.risk.population.match_distribution`).

    Parameters
    ----------
    pairs
        g, the units of each class whose owner fits it, shape (classes,).
    larger
        m, the larger of the numbers of units and of persons of each class, shape (classes,).
    """
    pairs, larger = np.asarray(pairs, np.float64), np.asarray(larger, np.float64)
    some = pairs > 0
    if not np.any(some):
        return MatchDistribution(0.0, 0.0, 0, np.ones(1))
    return matches(pairs[some], larger[some])


def poisson_hits(mean: float) -> MatchDistribution:
    """The hits of one-to-one guesses of which only the mean number is claimed.

    With f of F per class, E (R)_i = (f)_i / (F)_i <= (f/F)^i, so that E z^R <= exp((z - 1) f/F)
    for z >= 1: the factorial moments and every exponential bound of the upper tail are at most
    those of the Poisson distribution with the same mean, which the matches of large classes with
    f = F reach. Of files of equal classes up to 7 persons, the probability above the Poisson's
    97.5 % end passes 2.5 % only for one class of four (4.2 %) and two classes of three (2.8 %;
    tested); `claimed_hits` takes those as they are.
    """
    if not 0 <= mean < np.inf:
        raise InputError("the mean", "must be a number of at least 0", found="another number")
    from scipy.stats import poisson

    low, high = (int(end) for end in poisson.ppf([1e-18, 1 - 1e-16], mean))
    low = max(low, 0)
    chances = poisson.pmf(np.arange(low, high + 2), mean)
    return MatchDistribution(float(mean), float(mean), low, np.asarray(chances, dtype=np.float64))


TOLERANCE = 1e-9
"""Share by which numbers differ that are the same but for rounding."""


def largest_number(sizes: Ints, share: float) -> Ints:
    """The most members of each class in keeping with a largest share, floor(share * size)."""
    return np.asarray(np.floor(sizes * share + TOLERANCE), dtype=np.int64)


def share_hits(sizes: Ints, drawn: Ints, share: float) -> MatchDistribution:
    """The most hits that a claimed largest share allows, over classes.

    If no more than a share p of the n members of a class are alike (records of one person,
    persons with one value), a guess that is the same for a of them, whoever they are, is right
    for at most a hypergeometric number: a of n drawn, floor(p n) of them right. With a = n it is
    floor(p n), without chance. Summed over classes by Fourier transforms, exact but for rounding
    (1e-12). O(distinct (n, a) times a log a).

    Parameters
    ----------
    sizes
        n, members of each class, shape (classes,).
    drawn
        a, members of each class for whom the guess is made, shape (classes,).
    share
        p, the largest share that is claimed.
    """
    sizes, drawn = np.asarray(sizes, dtype=np.int64), np.asarray(drawn, dtype=np.int64)
    if np.any((drawn > sizes) | (drawn < 0)):
        raise InputError("the drawn", "must be members of their class", found="more than those")
    alike = largest_number(sizes, share)
    sure = (drawn == sizes) | (alike == 0) | (alike >= sizes)
    shift = int(np.minimum(alike, drawn)[sure].sum())
    left = np.column_stack([sizes, alike, drawn])[~sure]
    if not len(left):
        return MatchDistribution(float(shift), 0.0, shift, np.ones(1))
    kinds, times = np.unique(left, axis=0, return_counts=True)
    most = int((np.minimum(kinds[:, 1], kinds[:, 2]) * times).sum())
    from scipy.stats import hypergeom

    length = next_fast_len(most + 1, real=True)
    product = np.ones(length // 2 + 1, dtype=np.complex128)
    for (size, right, taken), count in zip(kinds, times, strict=True):
        one = hypergeom.pmf(np.arange(min(right, taken) + 1), size, right, taken)
        product *= rfft(one, length) ** int(count)
    chances = np.clip(irfft(product, length)[: most + 1], 0.0, 1.0)
    counts = np.arange(most + 1)
    mean = float(chances @ counts)
    variance = float(chances @ (counts - mean) ** 2)
    return MatchDistribution(shift + mean, variance, shift, np.asarray(chances, dtype=np.float64))


def simulated_hits(
    once: Callable[[np.random.Generator], int], rng: np.random.Generator, rounds: int = 200
) -> MatchDistribution:
    """The distribution of the hits of an attack that is repeated with other random choices.

    For one-to-one guessing where ranges overlap, so that classes are not independent. The
    standard error of the mean is that of the hits divided by the root of the rounds; the 97.5 %
    end is the order statistic, above which another round lies with probability at most
    (0.025 rounds + 1) / (rounds + 1), 3 % at 200 rounds.

    Parameters
    ----------
    once
        One round: the number of right guesses.
    rng
        Random numbers, handed to ``once``.
    """
    if rounds < 1:
        raise InputError("parameter rounds", "must be at least 1", found="a smaller number")
    return of_rounds(np.array([once(rng) for _ in range(rounds)], dtype=np.int64))


def of_rounds(hits: Ints) -> MatchDistribution:
    """The distribution that some rounds, one or more, show by their right guesses."""
    low = int(hits.min())
    return MatchDistribution(
        mean=float(hits.mean()),
        variance=float(hits.var()),
        low=low,
        probabilities=np.bincount(hits - low) / len(hits),
    )


_FEW = 3
"""Right guesses that are expected in files so small that the Poisson's tail can be too light."""


def claimed_rate(predicted: Measure) -> float:
    """The largest chance that a claim leaves open: the upper end of its interval, if it has one."""
    rate = predicted.value if predicted.high is None else predicted.high
    return min(max(float(rate), 0.0), 1.0)


def claimed_hits(predicted: Measure, attempts: int, *, one_to_one: bool) -> MatchDistribution:
    """The distribution of the hits if the claim were true, by its mean alone.

    One-to-one, the Poisson's; where no more than 3 right ones are expected, that of as many equal
    classes, all of whose persons are released, if its 97.5 % end is farther.
    """
    rate = claimed_rate(predicted)
    if not one_to_one:
        return binomial_hits(attempts, rate)
    spread = poisson_hits(attempts * rate)
    classes = round(attempts * rate)
    if not 1 <= classes <= _FEW:
        return spread
    equal = one_to_one_hits(*2 * (np.full(classes, attempts // classes),))
    return max(spread, equal, key=lambda hits: hits.quantile(UPPER))


def verdict(
    right: int, attempts: int, claimed: MatchDistribution, *, tries: int = 1
) -> tuple[float, bool, float]:
    """Largest success in keeping with a claim, whether it was exceeded, and the p-value.

    A true claim is exceeded with probability at most 2.5 %, and the p-value, the probability of
    so many right guesses or more if the claim were true, is then at most that.

    Parameters
    ----------
    attempts
        Guesses, at least 1.
    tries
        Of how many attacks this is the one that came out best: 2.5 % is divided by it, the p-value
        multiplied (Bonferroni).
    """
    most = claimed.quantile(1 - (1 - UPPER) / tries)
    return min(1.0, most / attempts), right > most, min(1.0, tries * claimed.at_least(right))


EDGES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9, 0.99, 1.0)
"""Ends of the groups; the first one holds its lower end too."""


@dataclass(frozen=True)
class CalibrationBin:
    """Guesses of about the same chance.

    Attributes
    ----------
    low, high
        Between which chances: above ``low``, at most ``high``.
    success
        ``right / attempts``.
    success_low, success_high
        Its 95 % interval (Clopper-Pearson).
    """

    low: float
    high: float
    attempts: int
    right: int
    chance: float
    success: float
    success_low: float
    success_high: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def calibration(chance: Floats, right: Bools) -> tuple[CalibrationBin, ...]:
    """Guesses grouped by the intruder's own chance, the realised share beside it.

    Groups without a guess are left out. Both have shape (guesses,).
    """
    place = np.clip(np.searchsorted(EDGES, chance, side="left"), 1, len(EDGES) - 1)
    found = []
    for number in range(1, len(EDGES)):
        inside = place == number
        attempts, hits = int(inside.sum()), int(right[inside].sum())
        if attempts:
            low, high = clopper_pearson(hits, attempts)
            mean = float(chance[inside].mean())
            ends = EDGES[number - 1], EDGES[number]
            found.append(CalibrationBin(*ends, attempts, hits, mean, hits / attempts, low, high))
    return tuple(found)


def surest(chance: Floats) -> Bools:
    """Which guesses have the largest chance, by what the intruder himself thinks.

    He does not know which of them are right, so that choosing them does not bend the verdict.
    """
    if not len(chance):
        return np.zeros(0, dtype=np.bool_)
    return np.asarray(chance >= chance.max() * (1 - TOLERANCE), dtype=np.bool_)


def one_per_class(numbers: Ints, class_of: Ints, rng: np.random.Generator) -> Ints:
    """One of the records, or persons, of each class, drawn at random, ascending."""
    mixed = rng.permutation(len(numbers))
    chosen = np.unique(class_of[mixed], return_index=True)[1]
    return np.sort(numbers[mixed[chosen]])


def rank(tried: int, broken: bool, gained: float) -> tuple[bool, bool, float]:
    """The place of an attack: a beaten prediction first, what had nothing to try last.

    Gained is its share of right guesses beyond that of random ones.
    """
    return (False, not broken, -gained) if tried else (True, True, 0.0)


@dataclass(frozen=True)
class Outcome:
    """What came of one attack.

    Attributes
    ----------
    attack
        Its name: ``exact_free``, ``multi_record``, ``inference:<column>``, ...
    what
        One sentence: what the intruder held and did.
    success
        ``right / attempts`` with an interval of the chance behind it that fits the attack; the
        estimator names the interval.
    control
        Of guesses of persons, the share that names somebody outside the release; of guesses of
        values, how often the same guess is right for those outside. ``None`` where there are none
        or the targets are known to be in it.
    predicted
        What was claimed, under the name of the measure; ``None`` where nothing was.
    allowed
        Largest success in keeping with the prediction: the 97.5 % end of the distribution of
        this attack's hits, divided by the attempts, if the prediction were true.
    broken
        Whether the prediction counts as broken: judged alone where success is above ``allowed``,
        as one of the attacks of a run by `judge_run`.
    p_value
        The probability of so many right guesses or more if the prediction were true; ``None``
        where there is none.
    notes
        What the reader should know; publishable.
    """

    attack: str
    what: str
    attempts: int
    right: int
    success: Measure
    baseline: Measure
    control: Measure | None = None
    predicted: Measure | None = None
    allowed: float | None = None
    broken: bool = False
    p_value: float | None = None
    intruder: str = ""
    notes: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """The worst has the least."""
        return rank(self.attempts, self.broken, self.success.value - self.baseline.value)

    @property
    def above(self) -> bool:
        """Whether success is above ``allowed``; of many attacks one may be by chance."""
        return self.allowed is not None and self.success.value > self.allowed

    def to_json(self) -> dict[str, Any]:
        """Plain values; a measure is a number where it is exact."""
        return {
            **plain_fields(self, "attack intruder what attempts right success baseline control"),
            "predicted": None if self.predicted is None else _named(self.predicted),
            **plain_fields(self, "allowed broken p_value notes"),
        }


def _named(measure: Measure) -> dict[str, Any]:
    return {"measure": measure.name, **fields_of(measure, "value low high estimator")}
