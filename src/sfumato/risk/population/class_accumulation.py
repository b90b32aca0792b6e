"""How the number of classes grows with persons, as models expect it and as a sample has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, gammaln, logit

from sfumato.core.arrays import Floats, Ints
from sfumato.core.measure import NORMAL
from sfumato.risk.population.value_shares import LARGEST, Mixture, fit_mixture, shares_of_sizes

TINY = 1e-300
"""Below every chance that counts."""
EDGE = 1e-9
"""Distance from 0 and 1 at which a logit is cut off."""
CURVE_POINTS = 41
"""Points of the curve between the sample and the population."""
DAMPING = 0.4
"""How fast the trend fades, per factor e of the number of persons."""
HALVINGS = 30
"""Steps in which the share of an offset is found."""
APART = np.append(np.arange(0.0, 1.0, 0.1), [0.95, 1.0])
"""Shares of those who are alone who may stand apart from the others."""
MOST_APART = 0.999
"""Share of the classes that do so at most."""
UNLIKELY = 1e-3
"""Weight up to which a share is not looked at."""


@dataclass(frozen=True, eq=False)
class Growth:
    """The growth d log D / d log m that a model expects.

    Attributes
    ----------
    at
        The growth at so many persons m, both of shape (points,).
    spread
        Standard deviation, before the sample is asked, of how far its logit is off; infinite where
        the model knows nothing but the sizes of the sample's classes.
    """

    at: Callable[[Floats], Floats]
    spread: float = np.inf

    @classmethod
    def of(
        cls, probabilities: Floats, drawn: Floats | None = None, spread: float = np.inf
    ) -> Growth:
        """That of a model with these cells; see `classes_and_growth`."""
        return cls(lambda persons: classes_and_growth(probabilities, persons, drawn)[1], spread)


def classes_and_growth(
    probabilities: Floats, persons: Floats, drawn: Floats | None = None
) -> tuple[Floats, Floats]:
    """Expected classes D(m) of m persons in a model, and their growth d log D / d log m.

    The sum over all cells of 1 - exp(-m p) is the mean over persons drawn of that over the
    probability with which their cells were drawn.

    Parameters
    ----------
    probabilities
        Of the cells of persons drawn, shape (draws,).
    persons
        The numbers m, shape (points,).
    drawn
        Probability of each cell in the model by which they were drawn, if that was another one.
    """
    drawn = probabilities if drawn is None else drawn
    ratio = probabilities / drawn
    classes, alone = np.empty(len(persons)), np.empty(len(persons))
    for point, m in enumerate(persons.tolist()):
        # expm1 keeps 1 − e^(−m p) exact for the rare cells, which are most of them.
        missed = np.expm1(-m * probabilities)
        # D(m) = Σ_c (1 − e^(−m p_c)) = E_drawn[(1 − e^(−m p)) / q], q being the chance of the draw.
        classes[point] = -np.mean(missed / drawn)
        # m dD/dm = Σ_c m p_c e^(−m p_c): the expected classes of one person.
        alone[point] = m * np.mean((1 + missed) * ratio)
    return classes, alone / classes


class Rarefaction:
    """Expected numbers of classes in subsamples of a sample.

    Drawing each person of the sample with probability q shows a class of size i with
    probability 1 - (1 - q)^i, and shows one person of it with probability i q (1 - q)^(i - 1).

    Parameters
    ----------
    sizes
        The class sizes i that occur, shape (sizes,).
    shares
        The probabilities q in (0, 1], shape (shares,).
    """

    def __init__(self, sizes: Ints, shares: Floats) -> None:
        # log(1 − q), kept finite at q = 1, where 0 · ∞ would follow.
        missed = np.log1p(-np.minimum(shares, 1 - 1e-15))[:, None]
        self._seen = -np.expm1(sizes * missed)
        self._alone = sizes * shares[:, None] * np.exp((sizes - 1) * missed)
        # At q = 1 the formula is 0⁰ for size 1, and its limit is 1.
        self._alone[shares == 1.0] = sizes == 1

    def classes(self, counts: Floats) -> Floats:
        """Expected number of classes, of ``counts`` classes of each size; shape (shares, ...)."""
        classes: Floats = self._seen @ counts
        return classes

    def growth(self, counts: Floats) -> Floats:
        """Relative growth s = d log D / d log m: the classes of one person over all classes."""
        growth: Floats = (self._alone @ counts) / (self._seen @ counts)
        return growth


@dataclass(frozen=True, eq=False)
class Reach:
    """How far the classes go from the sample to the population; each of shape (samples,).

    Attributes
    ----------
    growth
        d log D / d log m at the population: the share of classes that have one person.
    leverage
        By how much log(classes) changes if the logit of the growth changes by 1 all the way.
    trend
        log of classes over the classes without a trend.
    chance
        By how much log(classes) may be off because some of the sample's offset from the baseline
        was taken for chance; a standard deviation.
    """

    classes: Floats
    growth: Floats
    leverage: Floats
    trend: Floats
    chance: Floats


class Extrapolation:
    """The accumulation curve of samples of one size from one population.

    Where clusters were drawn, persons of the same ones come first, if some are missing, and then
    other clusters: how fast these bring new classes is seen when clusters are left out.

    The growth s(m) = d log D(m) / d log m of the number of classes is known up to the sample:
    rarefaction gives it without error of its own. Beyond it, the difference of its logit from
    that of the baseline goes on as it last went, ever less (a damped trend), and
    D(N) = d exp(∫ s d log m). Few classes differ by chance, too: so much of the
    difference counts as `believed` says.

    Parameters
    ----------
    sizes
        Class sizes that may occur.
    spreads
        Numbers of clusters in which a class may be, where clusters were drawn.
    within
        Share of the persons of the sampled clusters who are in the sample.
    """

    def __init__(
        self,
        sizes: Ints,
        n: int,
        population: int,
        baseline: Growth,
        spreads: Ints | None = None,
        within: float = 1.0,
    ) -> None:
        distance = float(np.log(population / n))
        self._half = distance / 2
        # The trend compares the sample with a subsample
        # half the way back (in log m) that it goes forward.
        shares = np.exp([0.0, -self._half])
        self._rarefaction = Rarefaction(sizes, shares)
        self._clusters = None if spreads is None else Rarefaction(spreads, shares)
        # Persons of the sampled clusters who are missing make the first 1 / within of the way.
        self._whole = -float(np.log(within))
        self._ahead = np.linspace(0.0, distance, CURVE_POINTS)
        # On the logit the growth stays in (0, 1) whatever the offset is.
        self._behind = _logit(baseline.at(n * np.exp([0.0, -self._half])))
        self._baseline = _logit(baseline.at(n * np.exp(self._ahead)))
        self._spread = baseline.spread

    def reach(self, counts: Floats, spread: Floats | None = None) -> Reach:
        """Where a sample leads.

        Parameters
        ----------
        counts
            Number of its classes of each size, shape (sizes, samples).
        spread
            Number of its classes in so many clusters each, shape (spreads, samples).
        """
        apart = self._apart(self._rarefaction, counts)
        if self._clusters is not None and spread is not None:
            # Beyond the sampled clusters others come, and
            # classes count as new by clusters, not by persons.
            more = self._ahead[:, None, None] >= self._whole
            apart = np.where(more, self._apart(self._clusters, spread), apart)
        else:
            apart = apart[None]
        seen: Floats = self._rarefaction.classes(counts)[0]
        raw: Floats = apart[0, 0]
        share = believed(raw, float(self._behind[0]), seen, self._spread)
        apart = share * apart
        # d offset / d log m, by the difference between the sample and its subsample.
        slope: Floats = (apart[:, 0] - apart[:, 1]) / self._half
        level = self._baseline[:, None] + apart[:, 0]
        # ∫_0^x e^(−DAMPING t) dt: the trend fades, as one carried on for long would end at 0 or 1.
        faded = -np.expm1(-DAMPING * self._ahead) / DAMPING
        growth = expit(level + faded[:, None] * slope)
        # log D(N) − log d = ∫ s d log m.
        distance = self._integral(growth)
        # d s / d logit s = s (1 − s).
        leverage = self._integral(growth * (1 - growth))
        known = self._spread if np.isfinite(self._spread) else 0.0
        # The interval then reaches to what the sample alone says, also where the prior is narrower.
        unsure = np.maximum(np.abs(raw) / NORMAL, known)
        return Reach(
            classes=seen * np.exp(distance),
            growth=growth[-1],
            leverage=leverage,
            trend=distance - self._integral(expit(level)),
            chance=(1 - share) * unsure * leverage,
        )

    def _apart(self, rarefaction: Rarefaction, counts: Floats) -> Floats:
        """How far the logit of the growth is from the baseline's, at the sample and before it."""
        apart: Floats = _logit(rarefaction.growth(counts)) - self._behind[:, None]
        return apart

    def _integral(self, values: Floats) -> Floats:
        return np.asarray(np.trapezoid(values, self._ahead, axis=0))


def believed(apart: Floats, expected: float, classes: Floats, spread: float) -> Floats:
    """Share of the offset of samples from the baseline that is not chance; shape (samples,).

    The mode of the posterior over the offset, over the offset itself: its prior is normal about 0,
    and each class has one person with a probability of the expected logit plus the offset.

    Parameters
    ----------
    apart
        How far the logit of the growth is from the baseline's, shape (samples,).
    spread
        Standard deviation of the prior; all of the offset counts where it is infinite.
    """
    low, high = np.zeros(len(apart)), np.ones(len(apart))
    # A model that knows nothing of the population cannot call the sample's offset chance.
    if np.isinf(spread):
        return high
    # The sample's own growth.
    growth = expit(expected + apart)
    for _ in range(HALVINGS):
        share = (low + high) / 2
        # The derivative of the log posterior: binomial score d (s − expit(e + δ)) less δ / spread²,
        # which falls in δ, so that bisection finds its only root.
        pull = classes * (growth - expit(expected + share * apart)) - share * apart / spread**2
        further = pull * np.sign(apart) > 0
        low, high = np.where(further, share, low), np.where(further, high, share)
    return (low + high) / 2


def _logit(share: Floats) -> Floats:
    logits: Floats = logit(np.clip(share, EDGE, 1 - EDGE))
    return logits


@dataclass(frozen=True, eq=False)
class Gathered:
    """Persons of a sample of whom some gather in cells and the others stand apart.

    Attributes
    ----------
    share
        Share of their classes among all that are not too large for the mixture.
    chances
        Share of their classes that have each size, shape (sizes,).
    """

    apart: float
    share: float
    chances: Floats
    mixture: Mixture

    def classes_apart(self, sizes: Ints) -> Floats:
        """Share of the classes of each size in which persons stand apart; shape (sizes,)."""
        apart = self.share * self.chances
        log_rates, weights = self.mixture.log_rates, self.mixture.weights
        # The mixture is fitted up to `LARGEST`: larger sizes are cut off here and set to 0 below.
        others = shares_of_sizes(np.minimum(sizes, LARGEST), log_rates, weights)
        share: Floats = apart / np.maximum(apart + (1 - self.share) * others, TINY)
        return np.where(sizes <= LARGEST, share, 0.0)


def mixtures_of(
    sizes: Ints, counts: Floats, anew: Floats | None = None
) -> tuple[list[Gathered], Floats]:
    """What the sizes of classes say, where some persons may stand apart from the others.

    Parameters
    ----------
    anew
        Of the `Baseline`: by its probabilities those who stand apart share classes by chance.
        Without it, each is alone.

    Returns
    -------
    tuple
        One for each share of `APART` that the sizes allow; and how likely each is.
    """
    small = float(counts[sizes <= LARGEST].sum())
    # Some classes must be left for the mixture, which no class would determine.
    alone = min(float(counts[sizes == 1].sum()), MOST_APART * small)
    found = []
    for single in np.unique(APART * alone).tolist():
        persons, classes, chances = single, single, (sizes == 1).astype(np.float64)
        if anew is not None and single:
            persons, classes, chances = by_chance(single, sizes, anew)
        if classes <= MOST_APART * small:
            share = classes / max(small, 1.0)
            mixture = fit_mixture(sizes, counts, share, chances)
            found.append(Gathered(persons, share, chances, mixture))
    # A flat prior over the shares: their posterior is their likelihood. The maximum is taken out
    # lest the exponential underflow.
    likelihood = np.array([each.mixture.likelihood for each in found])
    weights: Floats = np.exp(likelihood - likelihood.max())
    return found, weights / weights.sum()


def by_chance(alone: float, sizes: Ints, anew: Floats) -> tuple[float, float, Floats]:
    """How many persons drawn anew there are if so many of them are alone, and their classes.

    The fewest persons of whom so many are alone; or of whom most are, if that is never so many.

    Parameters
    ----------
    alone
        How many are alone in their class.
    sizes
        Class sizes, shape (sizes,).
    anew
        Of the `Baseline`.

    Returns
    -------
    tuple
        The persons, their classes, and the share of these that have each size.
    """
    persons = alone * np.exp(np.linspace(0.0, 3.0, CURVE_POINTS))
    # Σ_c m p e^(−m p), the expected singles of m persons drawn anew, as a mean over draws.
    single = persons * np.exp(-persons[:, None] * anew).mean(axis=1)
    most = int(single.argmax())
    # Beyond its maximum the number of singles falls again; the rising branch has one answer.
    total = float(np.interp(alone, single[: most + 1], persons[: most + 1]))
    classes = -float((np.expm1(-total * anew) / anew).mean())
    rates = total * anew
    # Poisson P(f = i | m p), in logarithms as m p is tiny; Σ_c P(f = i) = E[P(f = i) / p].
    log = sizes[:, None] * np.log(rates) - rates - gammaln(sizes + 1.0)[:, None]
    return total, classes, (np.exp(log) / anew).mean(axis=1) / classes


def growth_by_sizes(gathered: Gathered, large: float, n: int, anew: Floats) -> Growth:
    """The growth where some stand apart and the others are in cells of a `Mixture`.

    Parameters
    ----------
    large
        Number of classes too large for the mixture, all of which have been seen.
    anew
        Of the `Baseline`: of the kind of those who stand apart, others come by it.
    """
    mixture = gathered.mixture

    def growth(persons: Floats) -> Floats:
        # Rates are per sample of n persons, and grow with m.
        rates = (persons / n)[:, None] * np.exp(mixture.log_rates)
        classes = large + mixture.classes * (-np.expm1(-rates) @ mixture.weights)
        # m dD/dm of K Σ_g w_g (1 − e^(−μ_g m / n)); the
        # large classes add nothing, as all were seen.
        alone = mixture.classes * ((rates * np.exp(-rates)) @ mixture.weights)
        if gathered.apart:
            apart, share = classes_and_growth(anew, gathered.apart * persons / n)
            classes += apart
            alone += apart * share
        return np.asarray(alone / classes)

    return Growth(growth)


def by_sizes(
    sizes: Ints, counts: Floats, population: int, anew: Floats
) -> tuple[Reach, float, Floats]:
    """Where a sample leads by the sizes of its classes, where persons gather in cells.

    Some persons stand apart: they are drawn by the models of the columns. The
    likelihood of the sizes weighs the share of these (cf. one-inflation, Godwin and Boehning
    2017), and says how much it leaves open.

    Parameters
    ----------
    population
        N.
    anew
        Of the `Baseline`.

    Returns
    -------
    tuple[Reach, float, Floats]
        Means over the shares; the standard error of the logarithm of the classes; and of the
        classes of each size, the share in which persons stand apart, shape (sizes,).
    """
    n, large = round(float(sizes @ counts)), float(counts[sizes > LARGEST].sum())
    mixtures, weights = mixtures_of(sizes, counts, anew)
    likely = np.flatnonzero(weights > UNLIKELY)
    found = []
    for each in likely.tolist():
        growth = growth_by_sizes(mixtures[each], large, n, anew)
        found.append(Extrapolation(sizes, n, population, growth).reach(counts[:, None]))
    weights = weights[likely] / weights[likely].sum()
    classes = np.log([float(each.classes[0]) for each in found])
    # Shares are averaged in log D, as their errors are ratios.
    mean = float(weights @ classes)
    error = float(np.sqrt(weights @ (classes - mean) ** 2))
    most = found[int(weights.argmax())]
    ends = weights @ [float(each.growth[0]) for each in found]
    apart: Floats = weights @ [mixtures[each].classes_apart(sizes) for each in likely.tolist()]
    # Leverage and trend are no mean, as nobody reads them: `with_sizes` has those of the baseline.
    return replace(most, classes=np.exp([mean]), growth=np.array([ends])), error, apart
