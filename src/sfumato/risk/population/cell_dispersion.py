"""How far the shares of ranges and sets are from those of a model of the population's cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import betainc, expit, gammaln

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.risk.population.class_accumulation import mixtures_of
from sfumato.risk.population.inverse_sizes import negative_binomial
from sfumato.risk.population.value_shares import LARGEST

Keys = Codes
LEAST_DRAWN = 0.5
"""Persons of the model in a box that has none."""
LEAST_PERSONS = 0.25
"""Persons of the population for whom a box without any of the model's counts at most."""
SURE = 1.645
"""Standard deviations above the estimate that 95 % of normal errors are below."""
# The errors of τ1 are two to three times those of λ (docs/EVIDENCE.md).
UNIQUES_FACTOR = 2.0
"""By how much more the logarithm of uniques is off than that of λ."""
LEAST_LOG_SHARE, LEAST_LOG_BESIDE = -3.0, -12.0
"""Logarithms of the least shares of the model's persons: who surely are there, and beside one."""
POPULATIONS = 200
"""Populations that are drawn."""
PRIOR_SHAPE = (1.0, 0.3)
"""Logarithm of ν in a box of one person of the population, and by how much it grows with log F."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of ranges and sets: how many persons lie in each; shape (boxes,) each.

    They were chosen by the part of the sample that ``chosen`` counts. The model's are shares.
    """

    chosen: Ints
    others: Ints
    shares: Floats
    persons: tuple[int, int]


@dataclass(frozen=True)
class Dispersion:
    """How far the shares of boxes are from those of a model.

    A box that the model gives the share Π has the share c Π, times a Gamma variable with mean 1
    and shape ν = exp(level + slope · log(N c Π)).

    Attributes
    ----------
    population
        N.
    level, slope
        Of the shape.
    discount
        Share of one person that says nothing of the box, as the model knows that person and the
        box was made around them.
    """

    population: int
    level: float = PRIOR_SHAPE[0]
    slope: float = PRIOR_SHAPE[1]
    factor: float = 1.0
    discount: float = 0.5

    def shapes(self, shares: Floats) -> tuple[Floats, Floats]:
        """Shares c Π and shapes ν of boxes to which the model gives shares Π."""
        mass = self.factor * shares
        # log ν = level + slope log(N c Π): larger boxes are nearer to the model.
        return mass, np.exp(self.level + self.slope * np.log(self.population * mass))

    def inverse_sizes(self, persons: Ints, shares: Floats, sample: int) -> Floats:
        """E[1/F | f] of boxes with f persons of a sample: F - f is negative binomial.

        Parameters
        ----------
        persons
            f, at least 1; shape (boxes,).
        shares
            Π.
        sample
            n, the persons of the sample.
        """
        return negative_binomial(persons, *self._others(shares, sample))

    def matches(self, boxes: Boxes, share: float = 1.0) -> float:
        """Expected matches of the choosing part, with a share of the model's persons."""
        shares, n = boxes.shares * share, boxes.persons[0]
        return float(boxes.chosen @ self.inverse_sizes(boxes.chosen, shares, n))

    def uniques(self, boxes: Boxes, share: float = 1.0) -> float:
        """Expected persons of the part who are alone in a box, as `matches`."""
        shares, n = boxes.shares * share, boxes.persons[0]
        return float(self.smaller(2, boxes.chosen, shares, n).sum())

    def smaller(self, size: int, persons: Ints, shares: Floats, sample: int) -> Floats:
        """P(F < size | f); the parameters are those of `inverse_sizes`."""
        prior, success = self._others(shares, sample)
        missing = size - persons
        # P(F − f ≤ m − 1) of a negative binomial with shape k is the incomplete beta I_s(k, m).
        chance: Floats = betainc(prior + persons, np.maximum(missing, 1), success)
        return np.where(missing > 0, chance, 0.0)

    def _others(self, shares: Floats, sample: int) -> tuple[Floats, Floats]:
        """Of the negative binomial distribution of F - f: its shape less f, and its success."""
        mass, shape = self.shapes(shares)
        # Gamma(ν + f, rate ν / cΠ + n) times N − n others: (1 − s) / s = (N − n) c Π / (ν + n c Π).
        scale = (self.population - sample) * mass / (shape + sample * mass)
        return np.maximum(shape - self.discount, 0.0), 1 / (1 + scale)

    def foretold(self, boxes: Boxes) -> tuple[Floats, Floats]:
        """Shape and mean of the other part's persons in each box, by those that chose it."""
        mass, shape = self.shapes(boxes.shares)
        n, m = boxes.persons
        # Posterior of the box's factor by the choosing part: Gamma(ν − discount + f, ν + n c Π).
        k: Floats = np.maximum(shape - self.discount, 0.0) + boxes.chosen.astype(np.float64)
        return k, m * mass * k / (shape + n * mass)

    def log_likelihood(self, boxes: Boxes) -> Floats:
        """Of the other part's persons in each box, given those of the part that chose it."""
        k, mean = self.foretold(boxes)
        found: Floats = (
            # Negative binomial: log Γ(k + m) / Γ(k) − k log(1
            # + μ/k) + m log(μ / (k + μ)); m! is constant.
            gammaln(k + boxes.others)
            - gammaln(k)
            - k * np.log1p(mean / k)
            + boxes.others * np.log(mean / (k + mean))
        )
        return found


def random_boxes(
    chosen: Keys,
    others: Keys,
    drawn: Keys,
    ordered: Sequence[bool],
    size: int,
    rng: np.random.Generator,
) -> Boxes:
    """Boxes of at most ``size`` persons of the part, divided at random as a tree divides.

    An ordered column is cut in the middle of the persons, of another one value is cut off. Who
    has a value that is not ordered and that the part does not have lies in no box. Keys have
    shape (persons, columns). O(persons x log(persons / size)).
    """
    keys = (chosen, others, drawn)
    persons = len(chosen), len(others), len(drawn)
    inside = [np.ones(len(key), dtype=bool) for key in keys]
    for column, numbers in enumerate(ordered):
        if not numbers:
            for some, key in zip(inside, keys, strict=True):
                # A set of values is made of what the part
                # has, so that other values can lie in no box.
                np.logical_and(some, np.isin(key[:, column], chosen[:, column]), out=some)
    open_ = [tuple(np.flatnonzero(some) for some in inside)]
    found = []
    while open_:
        parts = open_.pop()
        own = chosen[parts[0]]
        columns = np.flatnonzero((own != own[0]).any(axis=0))
        if len(own) <= size or not len(columns):
            found.append([len(part) for part in parts])
            continue
        column = int(rng.choice(columns))
        codes, both = own[:, column], list(zip(keys, parts, strict=True))
        if ordered[column]:
            high = np.partition(codes, len(codes) // 2)[len(codes) // 2]
            # Ties at the minimum: without the next value up the left side would be empty.
            if high == codes.min():
                high = codes[codes > high].min()
            low = codes[codes < high].max()
            # The cut lies half the way between two values that
            # occur, as others fall between; doubled, it stays whole.
            lefts = [2 * each[part, column] <= low + high for each, part in both]
        else:
            one = rng.choice(codes)
            lefts = [each[part, column] == one for each, part in both]
        open_ += [
            tuple(part[left == side] for part, left in zip(parts, lefts, strict=True))
            for side in (True, False)
        ]
    sizes = np.array(found)
    # A box without drawn persons has some probability all the same, and its logarithm is needed.
    shares = np.maximum(sizes[:, 2], LEAST_DRAWN) / persons[2]
    return Boxes(sizes[:, 0], sizes[:, 1], shares, persons[:2])


def dispersion_of(partitions: Sequence[Boxes], population: int) -> Dispersion:
    """The dispersion under which the persons of the other part lie in boxes as they do.

    Maximum of the likelihood, which is the mean over the partitions, with a weak prior.
    """

    def loss(parameters: Floats) -> float:
        own = _with(population, parameters)
        likely = np.mean([own.log_likelihood(partition).sum() for partition in partitions])
        # A weak prior: it decides only what few boxes leave open.
        far = (parameters - start) / [1.0, 0.3, 0.3, 1.5]
        return float(far @ far / 2 - likely)

    start = np.array([*PRIOR_SHAPE, 0.0, 0.0])
    options = {"xatol": 1e-3, "fatol": 1e-4}
    return _with(population, minimize(loss, start, method="Nelder-Mead", options=options).x)


def _with(population: int, parameters: Floats) -> Dispersion:
    level, slope, log_factor, discount = parameters.tolist()
    # c ≤ 1, so that no box gets a lower risk than the model itself says.
    factor = float(np.exp(min(log_factor, 0.0)))
    return Dispersion(population, level, slope, factor, float(expit(discount)))


def revised(first: Dispersion, boxes: Boxes) -> tuple[Dispersion, float]:
    """The dispersion of chosen boxes, and the standard error of the logarithm of their λ.

    Who chooses classes that seem to be large prefers those that the model overrates. The
    likelihood counts each box as much as its expected matches; level and factor are estimated
    again. The error has what both leave open, and the scatter of the matches that the other
    part can show.
    """
    n = boxes.persons[0]

    def moved(parameters: Floats) -> Dispersion:
        level, factor = first.level + parameters[0], first.factor * np.exp(parameters[1])
        return replace(first, level=float(level), factor=float(factor))

    def matches(parameters: Floats) -> Floats:
        return boxes.chosen * moved(parameters).inverse_sizes(boxes.chosen, boxes.shares, n)

    weights = matches(np.zeros(2))
    # Weights that sum to the effective number of boxes (Σw)²
    # / Σw², so that the likelihood counts no box twice.
    weights = weights * weights.sum() / (weights @ weights)

    def loss(parameters: Floats) -> float:
        far = parameters / [1.0, 0.5]
        return float(far @ far / 2 - weights @ moved(parameters).log_likelihood(boxes))

    options = {"xatol": 1e-3, "fatol": 1e-4}
    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options=options).x
    # c stays at most 1, as in `_with`.
    best[1] = min(best[1], -np.log(first.factor))
    # Central differences: the second derivatives of the loss are the inverse covariance.
    steps = np.eye(2) * 0.1
    curve = np.array(
        [
            [
                loss(best + one + step)
                - loss(best + one - step)
                - loss(best - one + step)
                + loss(best - one - step)
                for one in steps
            ]
            for step in steps
        ]
    ) / (4 * 0.1**2)
    slope = np.array(
        [
            np.log(matches(best + step).sum() / matches(best - step).sum()) / (2 * 0.1)
            for step in steps
        ]
    )
    dispersion = moved(best)
    k, mean = dispersion.foretold(boxes)
    # By how much a box's matches change with the logarithm of its share.
    own = (matches(best + steps[1]) - matches(best - steps[1])) / 0.2
    # A negative binomial with shape k has the relative variance
    # 1 / μ + 1 / k; the delta method carries it to log λ.
    seen = float(own**2 @ (1 / mean + 1 / k)) / float(matches(best).sum()) ** 2
    # gᵀ H⁻¹ g. At the bound of c the curve may be singular, which a pseudoinverse bears.
    return dispersion, float(np.sqrt(max(slope @ np.linalg.pinv(curve) @ slope, 0.0) + seen))


def least_share(risk: Callable[[float], float], aim: float, least: float) -> float:
    """The share of the model's persons with which a risk of classes is as high as ``aim``.

    Parameters
    ----------
    risk
        By the share, in (0, 1]; falls with it.
    aim
        A risk; 1 is the share where that is no more than the risk with all of the model's persons.
    least
        Logarithm of the least share.
    """

    def missing(log_share: float) -> float:
        return risk(float(np.exp(log_share))) - aim

    if missing(0.0) >= 0:
        return 1.0
    if missing(least) <= 0:
        return float(np.exp(least))
    return float(np.exp(brentq(missing, least, 0.0, xtol=1e-3)))


def gathered_risks(
    sizes: Ints,
    box_of: Ints,
    anew: Floats,
    whole: Ints,
    population: int,
    rng: np.random.Generator,
) -> Floats:
    """λ and uniques of boxes in populations that the sizes of cells leave open.

    Who is alone in a cell stands apart, so that those of the box whom the models draw anew are all
    that hide them, or has so many companions in the cell as a class of its size. A mean over both
    hides that most of such boxes may hold one person, and few of them a crowd.

    Parameters
    ----------
    sizes
        Persons of a part of the sample in each cell, shape (cells,).
    anew
        Share of those whom the models draw anew that lies in each box, shape (boxes,).
    whole
        Persons of the whole sample in each of its cells: it tells more than the part.
    population
        N.

    Returns
    -------
    Floats
        λ, and the share of the part's persons who are alone in their box of the population;
        shape (2, `POPULATIONS`).
    """
    n, boxes = int(sizes.sum()), len(anew)
    # (1 − π) / π others per person of the part.
    more = population / n - 1
    occurring, counts = np.unique(whole, return_counts=True)
    mixtures, weights = mixtures_of(occurring, counts.astype(float))
    share = n / float(whole.sum())
    own = np.bincount(box_of, sizes, boxes)
    alone = sizes == 1
    # Cells of one size have one posterior: it is taken once per size.
    different, size = np.unique(sizes, return_inverse=True)
    thinned = [
        replace(mixture.mixture, log_rates=mixture.mixture.log_rates + np.log(share))
        for mixture in mixtures
    ]
    posteriors = [each.posterior(different.clip(max=LARGEST)) for each in thinned]
    risks = np.empty((2, POPULATIONS))
    for at, chosen in enumerate(rng.choice(len(weights), POPULATIONS, p=weights)):
        apart = mixtures[chosen].apart * share
        # One rate for each cell, by the distribution that cells of its size have.
        upto = posteriors[chosen].cumsum(axis=1)[size, :-1]
        node = (rng.random(len(sizes))[:, None] > upto).sum(axis=1)
        rates = np.where(sizes > LARGEST, sizes, np.exp(thinned[chosen].log_rates)[node])
        companions = rng.poisson(more * rates)
        # Who is alone stands apart with probability apart
        # / f_1, and then has no companions of the cell.
        companions[alone & (rng.random(len(sizes)) < apart / max(alone.sum(), 1))] = 0
        others = np.bincount(box_of, companions, boxes) + rng.poisson(apart * more * anew)
        # λ = Σ f / (n F). The 1 is for boxes without anybody, which add 0.
        risks[0, at] = (own / np.maximum(own + others, 1)).sum() / n
        risks[1, at] = ((own == 1) & (others == 0)).sum() / n
    return risks


@dataclass(frozen=True)
class ModelPrices:
    """What a class spends, by the persons that a model of the population has in its cells.

    Attributes
    ----------
    sample
        n.
    allowance
        By how much more is counted, to have the true λ below in 95 of 100 releases; how often it is
        so stands in docs/EVIDENCE.md.
    least
        The share of the model's persons that is surely there: with it λ has that upper end.
    beside, least_beside
        The share that likely, and surely, is beside somebody who is alone in a class of the file.
    gathered
        How much of the allowance is expected, as persons gather in cells; see `gathered_risks`.
    """

    sample: int
    drawn: int
    dispersion: Dispersion
    allowance: float = 1.0
    least: float = 1.0
    beside: float = 1.0
    least_beside: float = 1.0
    gathered: float = 1.0

    def matches(self, persons: Ints, drawn: Ints) -> Floats:
        """f_j·E[1/F_j] of each class times the allowance, at most 1; shape (classes,)."""
        found = persons * self.dispersion.inverse_sizes(persons, self._shares(drawn), self.sample)
        return np.minimum(found * self.allowance, 1.0)

    def smaller(self, size: int, persons: Ints, drawn: Ints) -> Floats:
        """P(F_j < size) of each class, with as many persons as surely are there."""
        shares = self._shares(drawn) * (self.least_beside if size == 2 else self.least)
        return self.dispersion.smaller(size, persons, shares, self.sample)

    def raised(
        self, boxes: Boxes, error: float, counted: Floats | None = None, followed: float = 0.0
    ) -> ModelPrices:
        """The prices, higher where classes would be riskier than these say in 5 of 100 cases.

        Parameters
        ----------
        error
            Standard error of log λ, as of `revised`.
        counted
            What `gathered_risks` gave.
        followed
            How far that counts, in [0, 1].
        """
        found, n = self.dispersion, boxes.persons[0]
        own = np.array([found.matches(boxes), found.uniques(boxes)])
        middle, high = (own, own) if counted is None else np.quantile(n * counted, (0.5, 0.95), 1)
        # One more is alone, as none of few is not none of all.
        more = np.array([0, 1])
        likely = np.maximum((middle + more) / (own + more), 1.0) ** followed
        spread = followed * np.log((high + more) / (middle + more))
        # The uniques of the whole file scatter as whole numbers do.
        spread[1] = max(spread[1], SURE / np.sqrt(own[1] * likely[1] * self.sample / n + 1))
        # Errors of the model and of what sizes leave open
        # do not depend on each other: squares add up.
        sure = likely * np.exp(np.hypot(SURE * error * np.array([1, UNIQUES_FACTOR]), spread))
        prices = self
        if sure[0] > self.allowance:
            allowance, gathered = float(sure[0]), float(likely[0])
            least = least_share(partial(found.matches, boxes), own[0] * allowance, LEAST_LOG_SHARE)
            prices = replace(self, allowance=allowance, least=least, gathered=gathered)
        beside, least = (
            least_share(partial(found.uniques, boxes), (own[1] + 1) * each - 1, LEAST_LOG_BESIDE)
            for each in (likely[1], sure[1])
        )
        return replace(
            prices,
            beside=min(beside, self.beside),
            least_beside=min(least, self.least_beside, prices.least),
        )

    def _shares(self, drawn: Ints) -> Floats:
        # Where few are drawn for a large population, half a drawn person would stand for many.
        least = LEAST_PERSONS * self.drawn / self.dispersion.population
        return np.maximum(drawn, min(LEAST_DRAWN, least)) / self.drawn
