"""The default estimator: how classes accumulate in a sample, and what that says of the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from sfumato.core.arrays import Bools, Codes, Floats, Ints
from sfumato.core.measure import NORMAL
from sfumato.risk.population.cell_model import CellModel, fit_cells
from sfumato.risk.population.class_accumulation import EDGE, Extrapolation, Growth, Reach, by_sizes
from sfumato.risk.population.estimator_protocol import (
    Estimate,
    EstimationFailedError,
    SampleClasses,
    counts_of,
    most_shown,
)
from sfumato.risk.population.sampled_clusters import SampledClusters
from sfumato.risk.population.uniqueness_models import pitman_classes
from sfumato.risk.population.value_shares import LARGEST, Margin, Mixture, fit_mixture

DRAWS = 40_000
"""Persons drawn from the model; the sums over all cells are off by under a percent."""
DRAWS_ANEW = 10_000
"""Persons drawn from the models of the columns alone."""
EACH_MODEL = 4
"""One in so many of the draws says where each model leads alone."""
IDLE = 1e-3
"""Weight up to which a model is not asked where it leads."""
LEAST = np.exp(-690.0)
"""The least probability of a cell that counts."""
BOOTSTRAP_SAMPLES = 200
"""Samples that are drawn."""
FEWEST_SIZES = 2
"""Different sizes that a mixture needs."""
LARGEST_EXACT = 600
"""Persons of a class of the population up to which classes are kept apart by their sizes."""
SIZE_RATIO = 1.05
"""Ratio of neighbouring sizes beyond."""
MOST_DRAWN = 100_000
"""Classes that are drawn for those of one size, or not shown; each may stand for several."""
# Measured on the populations of docs/EVIDENCE.md, whose logits scatter so around the model's.
OFFSET = 0.3
"""Standard deviation, over populations, of how far the logit of the growth is off in the model."""
DRIFT = 0.08
"""By how much the logit of the growth may drift off, per factor e of the number of persons."""
# Set on the samples of areas in docs/EVIDENCE.md: without it 2 of 4 intervals missed.
UNSURE_OF_CLUSTERS = 0.5
"""How much of what clusters change counts as unsure."""
TOLD = 0.05
"""How much must come again because of the cells' own persons for sizes to tell more."""
PAIRS_MISSED = 3
"""Expected number of pairs, at most, behind a sample that has none (95 %)."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """Persons drawn from a model of the cells.

    Attributes
    ----------
    by_model
        Probability of the cell of each person under each model, shape (`DRAWS`, models).
    anew
        Of those whom the models of the columns draw, under these models alone; shape (draws,).
    model
        The models, where there is more than one quasi-identifier.
    spread
        Of their `Growth`.
    """

    by_model: Floats
    anew: Floats
    model: CellModel | None = None
    spread: float = np.inf

    @property
    def weights(self) -> Floats:
        """Weight of each model."""
        return np.ones(1) if self.model is None else self.model.weights

    @cached_property
    def probabilities(self) -> Floats:
        """Probability of the cell of each person, shape (`DRAWS`,)."""
        probabilities: Floats = self.by_model @ self.weights
        return probabilities

    @property
    def growth(self) -> Growth:
        """The growth that is expected."""
        return Growth.of(self.probabilities, spread=self.spread)


def baseline_of(sample: SampleClasses, rng: np.random.Generator) -> Baseline:
    """Draw `DRAWS` persons from a model of the cells.

    Without keys, or with one quasi-identifier, the classes are its values.
    Costs as `sfumato.risk.population.cell_model.fit_cells`.
    """
    if sample.keys is None or sample.keys.shape[1] == 1:
        margin = Margin(np.arange(len(sample.sizes)), sample.sizes, sample.times)
        drawn = margin.draw(DRAWS, rng)
        # The shares of one column are the cells' probabilities: no model stands between them.
        found = np.exp(margin.log_probability(drawn, rng))
        return Baseline(np.maximum(found, LEAST)[:, None], np.ones(1))
    model = fit_cells(sample.keys, sample.sizes, sample.domains, rng)
    by_model = np.maximum(model.again(model.draw(DRAWS, rng)[0]), LEAST)
    # Those who stand apart in `by_sizes` come by the models alone, so they need draws of their own.
    keys = model.draw_anew(DRAWS_ANEW, rng)
    anew = model.of(keys, np.zeros(len(keys), dtype=np.int64))
    return Baseline(by_model, np.maximum(anew, LEAST), model, _spread(sample, sample.keys))


def _spread(sample: SampleClasses, keys: Codes) -> float:
    """Of the `Growth` of models that know each quasi-identifier by the values that come again.

    To `OFFSET` it adds what one in so many persons scatters whose value was seen before, where
    these are fewest; infinite where all have a value of their own. Persons of one cluster come
    again for other reasons, and leave it infinite.
    """
    if sample.clusters is not None:
        return np.inf
    # The column with the most values bounds how well the product of all is known.
    again = sample.n - max(len(np.unique(column)) for column in keys.T)
    # A count of `again` persons has the relative variance
    # 1 / again, which adds to that of the model.
    return float(np.sqrt(OFFSET**2 + 1 / again)) if again else np.inf


@dataclass(frozen=True, eq=False)
class Resampled:
    """Samples of one population, those without anybody left out.

    Attributes
    ----------
    sizes
        The class sizes that occur, shape (sizes,).
    counts
        Number of classes of each size in each sample, shape (sizes, samples).
    marketer
        The share λ of each sample's persons whom an intruder matches, shape (samples,).
    """

    sizes: Ints
    counts: Floats
    marketer: Floats


def resampled(sample: SampleClasses, rng: np.random.Generator) -> Resampled:
    """Draw `BOOTSTRAP_SAMPLES` samples from a population that the sample may come from.

    The population's classes are the sample's, with the persons that a `Mixture` gives each, and
    the unseen ones. Every person is drawn with probability π. Classes with more than `LARGEST`
    persons are in every sample at their size. The sample has fewer persons than the population.
    """
    from scipy.stats import binom

    fraction = sample.fraction
    # λ = Σ f_j / (n F_j) of a drawn sample needs F_j, so a population is made before its samples.
    members, numbers = _population(sample, rng)
    reach = [most_shown(size, fraction) for size in members.tolist()]
    counts = np.zeros((max(reach, default=0) + 1, BOOTSTRAP_SAMPLES))
    matches = np.zeros(BOOTSTRAP_SAMPLES)
    for size, number, top in zip(members.tolist(), numbers.tolist(), reach, strict=True):
        own = np.arange(top + 1)
        # f | F is Binomial(F, π) where everybody is drawn with probability π.
        chances = binom.pmf(own, size, fraction)
        # Classes of one size are drawn together: their
        # f are multinomial counts of binomial chances.
        drawn = rng.multinomial(number, chances / chances.sum(), size=BOOTSTRAP_SAMPLES)
        counts[: top + 1] += drawn.T
        # Σ f_j / F_j over the classes of this size.
        matches += drawn @ own / size
    # A class of more than `LARGEST` persons scatters by 1 / √LARGEST = 7 % at most.
    shown, classes = sample.counts_of_sizes
    large, classes = shown[shown > LARGEST], classes[shown > LARGEST]
    sizes = np.concatenate([np.arange(1, len(counts)), large])
    always = np.repeat(classes[:, None].astype(float), BOOTSTRAP_SAMPLES, axis=1)
    counts = np.concatenate([counts[1:], always])
    # A large class has F = f / π, so that f / F = π.
    matches += classes.sum() * fraction
    persons = sizes @ counts
    # A sample without anybody has no λ.
    some = persons > 0
    return Resampled(sizes, counts[:, some], matches[some] / persons[some])


def _population(sample: SampleClasses, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Sizes of the population's classes, and the number of classes of each."""
    sizes, counts = sample.counts_of_sizes
    small = sizes <= LARGEST
    sizes, counts = sizes[small], counts[small]
    # One size does not tell mean and spread of a lognormal:
    # F = f / π, and nobody shares a class of one.
    if len(sizes) < FEWEST_SIZES:
        whole = np.maximum(np.round(sizes / sample.fraction), 1).astype(np.int64)
        alone = sizes == 1
        return np.where(alone, 1, whole), np.where(alone, sample.population, counts)
    mixture = fit_mixture(sizes, counts.astype(float))
    rates = np.exp(mixture.log_rates)
    # Of a class with rate μ in the sample, (1 − π) / π μ persons are expected outside of it.
    ratio = (1 - sample.fraction) / sample.fraction
    parts = []
    for size, count, chances in zip(sizes, counts, mixture.posterior(sizes), strict=True):
        drawn = min(int(count), MOST_DRAWN)
        own = rates[rng.choice(len(chances), drawn, p=chances)]
        # F − f | μ is Poisson with mean (1 − π) / π μ. Numpy refuses means much above 1e18.
        members = _rounded(size + rng.poisson(np.minimum(own * ratio, 1e15)))
        found, often = np.unique(members, return_counts=True)
        parts.append((found, np.round(often * (count / drawn)).astype(np.int64)))
    seen, numbers = counts_of(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    unseen, others = _unseen(mixture, rates, ratio, sample.population, rng)
    return np.concatenate([seen, unseen]), np.concatenate([numbers, others])


def _unseen(
    mixture: Mixture, rates: Floats, ratio: float, population: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Sizes of the population's classes that the sample does not show, and their numbers."""
    rest = rates * ratio
    # Unseen classes that exist: P(f = 0) P(F > 0) = e^(−μ) (1 − e^(−ratio μ)) at each node.
    mass = mixture.classes * mixture.weights * np.exp(-rates) * -np.expm1(-rest)
    count = min(round(float(mass.sum())), population)
    if count == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    drawn = min(count, MOST_DRAWN)
    own = rest[rng.choice(len(rates), drawn, p=mass / mass.sum())]
    # A Poisson number that is not 0: the first event of the process is drawn by its truncated
    # exponential distribution, the others follow in what time is left.
    first = -np.log1p(-rng.random(drawn) * -np.expm1(-own))
    members = 1 + rng.poisson(np.clip(own - first, 0.0, 1e15))
    sizes, numbers = np.unique(_rounded(members), return_counts=True)
    return sizes, np.round(numbers * (count / drawn)).astype(np.int64)


def _rounded(members: Ints) -> Ints:
    """Sizes above `LARGEST_EXACT` as the nearest of a geometric row."""
    steps = np.round(
        np.log(np.maximum(members, LARGEST_EXACT) / LARGEST_EXACT) / np.log(SIZE_RATIO)
    )
    row = np.round(LARGEST_EXACT * SIZE_RATIO**steps).astype(np.int64)
    return np.where(members <= LARGEST_EXACT, members, row)


def interval(
    sample: SampleClasses,
    growth: Growth,
    reach: Reach,
    rng: np.random.Generator,
    apart: float = 0.0,
) -> tuple[float, float]:
    """Ends of an interval for the realised λ = Σ f_j / (n F_j).

    Six parts of the error of log λ add up as squares: 1.96 standard deviations of estimate
    minus realised λ over samples of a population like the one behind the sample (a parametric
    bootstrap); what the estimate changes when the growth's logit drifts by `DRIFT` per factor e
    between the sample and the population; the whole of what the trend contributes; half of what
    clusters change, as how persons accumulate is known better; 1.96 standard deviations of an
    offset that was taken for chance; and ``apart``. All but the first
    allow for the extrapolation's bias; the simulation in the documentation shows how often the
    interval holds.
    The sum is taken on the logarithm upwards, and on the logit downwards where persons were drawn
    one by one, as few pairs in the sample leave more room below a λ near 1 than above it. A sample
    without pairs may still come from a population with some.

    Parameters
    ----------
    sample
        The classes; fewer persons than the population.
    reach
        Where the sample leads.
    apart
        How far the logarithms of several estimates are apart; see `with_sizes`.
    """
    distance = float(np.log(sample.population / sample.n))
    drift = DRIFT * distance * float(reach.leverage[0])
    scatter = NORMAL * _scatter(sample, growth, rng)
    chance = NORMAL * float(reach.chance[0])
    clusters = UNSURE_OF_CLUSTERS * _of_clusters(sample, growth, reach)
    parts = [scatter, drift, chance, apart, clusters]
    width = float(np.sqrt(sum(part * part for part in parts) + reach.trend[0] ** 2))
    marketer = float(reach.classes[0]) / sample.population
    # The lower end by the logit allows for few pairs, which is for persons drawn one by one alone.
    low = marketer * float(np.exp(-width))
    if sample.clusters is None:
        low = min(_below(marketer, width), _with_pairs(sample, growth))
    # λ = J̃ / N with d ≤ J̃ ≤ d + N − n: each person outside brings one new class at most.
    least = sample.classes / sample.population
    most = least + 1 - sample.fraction
    return float(np.clip(low, least, most)), float(np.clip(marketer * np.exp(width), least, most))


def _of_clusters(sample: SampleClasses, growth: Growth, reach: Reach) -> float:
    """By how much the clusters change the logarithm of λ; 0 where persons were drawn one by one."""
    if sample.clusters is None:
        return 0.0
    sizes, counts = sample.counts_of_sizes
    persons = replace(sample, clusters=None)
    alone = _reach(persons, sizes, counts.astype(float), growth)
    return float(np.log(reach.classes[0] / alone.classes[0]))


def _below(marketer: float, width: float) -> float:
    """λ less ``width`` of its logarithm, in units of the logit."""
    share = min(marketer, 1 - EDGE)
    # d logit λ = d log λ / (1 − λ), which turns the width of the logarithm into that of the logit.
    return float(expit(logit(share) - width / (1 - share)))


def _scatter(sample: SampleClasses, growth: Growth, rng: np.random.Generator) -> float:
    """Standard deviation of log(estimate / realised λ) over samples."""
    if sample.clusters is not None:
        return _cluster_scatter(sample, sample.clusters, growth, rng)
    drawn = resampled(sample, rng)
    if not len(drawn.marketer):
        return 0.0
    extrapolation = Extrapolation(drawn.sizes, sample.n, sample.population, growth)
    classes = extrapolation.reach(drawn.counts).classes
    # Drawn samples do not have n persons each. d log D / d log m is the share of singles at the
    # sample, by which D is brought to n.
    alone, persons = drawn.counts[0], drawn.sizes @ drawn.counts
    share = alone / drawn.counts.sum(axis=0)
    estimate = classes / sample.population * (sample.n / persons) ** share
    return float(np.std(np.log(estimate / drawn.marketer)))


def _with_pairs(sample: SampleClasses, growth: Growth) -> float:
    """The estimate if a sample of singles had had `PAIRS_MISSED` pairs; else no bound."""
    alone = sample.n - 2 * PAIRS_MISSED
    # A sample with a pair already says how many pairs there may be.
    if sample.classes < sample.n:
        return np.inf
    if alone <= 0:
        return 0.0
    extrapolation = Extrapolation(np.array([1, 2]), sample.n, sample.population, growth)
    counts = np.array([[alone], [PAIRS_MISSED]], dtype=float)
    return float(extrapolation.reach(counts).classes[0]) / sample.population


@dataclass(frozen=True)
class Accumulation:
    """How classes accumulate, calibrated on the sample and carried on to the population.

    λ = J̃ / N with J̃ from `Extrapolation`. τ1, the sample uniques that are population uniques,
    is π times the population uniques s(N) J̃; τ2 is π (J̃ - d) / (1 - π), as the expected numbers
    of unseen classes, Σ (1 - π)^F_j, and of matches of uniques, Σ π (1 - π)^(F_j - 1), differ by
    that factor.
    """

    @property
    def name(self) -> str:
        """``accumulation``."""
        return "accumulation"

    def estimate(self, sample: SampleClasses, rng: np.random.Generator) -> Estimate:
        """Extrapolate; O(draws x points) beyond counting."""
        if sample.n == sample.population:
            return Estimate.of_census(self.name, sample)
        baseline = baseline_of(sample, rng)
        reach, width, apart = with_sizes(sample, baseline)
        low, high = interval(sample, baseline.growth, reach, rng, width)
        found = replace(_estimate(sample, reach, self.name), low=low, high=high)
        model = baseline.model
        if model is None:
            return found
        followed = model.followed if sample.clusters is None else 0.0
        return replace(found, foretold=model.foretold, followed=followed, apart=apart)


def with_sizes(sample: SampleClasses, baseline: Baseline) -> tuple[Reach, float, Floats | None]:
    """Where the sample leads, how far several estimates are apart, and which classes stand apart.

    The second is the difference of their logarithms, the third a share of the classes of each
    size, if sizes count.
    What a `Baseline` and what `by_sizes` says are averaged, the second counting as much as cells
    are followed; where they are not, nobody is alone, or clusters were drawn, the first is taken.
    The models of the baseline lead to different numbers, too; see `between_models`.
    Of one quasi-identifier nothing but the sizes of its classes speaks; the other estimate is
    that of `pitman_classes` then, and only tells how far one may be off.
    """
    sizes, counts = sample.counts_of_sizes
    reach = _reach(sample, sizes, counts.astype(float), baseline.growth)
    # Nobody alone is a growth of 0: the curve is flat in any model.
    if not sample.alone:
        return reach, 0.0, None
    between = NORMAL * between_models(sample, baseline)
    if sample.clusters is not None:
        return reach, between, None
    if baseline.model is None:
        try:
            # Only a second opinion: without keys no model of cells can contradict the sizes.
            classes = pitman_classes(sizes, counts, sample.population)
        except EstimationFailedError:
            return reach, 0.0, None
        return reach, abs(float(np.log(classes / reach.classes[0]))), None
    share = baseline.model.followed
    # Sizes speak only of those who follow others: of so few they would change next to nothing.
    if share <= TOLD:
        return reach, between, None
    told, error, alone = by_sizes(sizes, counts.astype(float), sample.population, baseline.anew)
    # log D = (1 − share) log D_model + share log D_sizes: errors of D are ratios.
    difference = np.log(told.classes / reach.classes)
    both = replace(
        reach,
        classes=reach.classes * np.exp(share * difference),
        growth=reach.growth + share * (told.growth - reach.growth),
    )
    # Three errors that do not depend on each other add up as squares.
    apart = share * difference[0], share * NORMAL * error, (1 - share) * between
    return both, float(np.linalg.norm(apart)), alone


def between_models(sample: SampleClasses, baseline: Baseline) -> float:
    """How far the models of the cells lead apart, as each is weighed.

    The standard deviation of the logarithm of the number of classes; 0 of a single model.
    """
    weights = baseline.weights
    # A model of no weight changes the deviation by nothing, and costs a whole extrapolation.
    likely = np.flatnonzero(weights > IDLE)
    sizes, counts = sample.counts_of_sizes
    ends, some = np.empty(len(likely)), slice(None, None, EACH_MODEL)
    for at, each in enumerate(likely.tolist()):
        by_model, by_all = baseline.by_model[some, each], baseline.probabilities[some]
        # The draws are from all models together: importance
        # weights p_model / p_all make them those of one.
        growth = Growth.of(by_model, by_all, baseline.spread)
        ends[at] = np.log(_reach(sample, sizes, counts.astype(float), growth).classes[0])
    weights = weights[likely] / weights[likely].sum()
    # The deviation of log D(N) under the weights of the models.
    return float(np.sqrt(weights @ (ends - weights @ ends) ** 2))


def _reach(
    sample: SampleClasses,
    sizes: Ints,
    counts: Floats,
    growth: Growth,
    kept: Bools | None = None,
) -> Reach:
    """Where the sample leads, or what stays of it without some pairs of class and cluster."""
    n = round(float(sizes @ counts))
    if sample.clusters is None:
        extrapolation = Extrapolation(sizes, n, sample.population, growth)
        return extrapolation.reach(counts[:, None])
    spreads, spread = sample.clusters.counts_of_spreads(kept)
    within = sample.clusters.within
    extrapolation = Extrapolation(sizes, n, sample.population, growth, spreads, within)
    return extrapolation.reach(counts[:, None], spread[:, None])


def _cluster_scatter(
    sample: SampleClasses,
    clusters: SampledClusters,
    growth: Growth,
    rng: np.random.Generator,
) -> float:
    """Standard deviation of log(estimate / realised λ), by leaving out groups of clusters.

    The jackknife's variances of both add up: which clusters were drawn decides the realised λ, too.
    """
    estimates, risks = [], []
    # The sample stands for the population here: f / F of what stays, over all that was there.
    inverse = 1.0 / sample.sizes[clusters.class_of]
    for kept in clusters.left_out(rng):
        persons = clusters.persons[kept]
        left = np.bincount(clusters.class_of[kept], persons)
        sizes, counts = np.unique(left[left > 0].astype(np.int64), return_counts=True)
        reach = _reach(sample, sizes, counts.astype(float), growth, kept)
        estimates.append(np.log(reach.classes[0]))
        risks.append(np.log(inverse[kept] @ persons / persons.sum()))
    # The delete-a-group jackknife: (G − 1) / G Σ (x_g − x̄)², where np.var has the 1 / G.
    return float(np.sqrt((len(risks) - 1) * (np.var(estimates) + np.var(risks))))


def _estimate(sample: SampleClasses, reach: Reach, name: str) -> Estimate:
    fraction = sample.fraction
    # J̃ ≤ d + N − n, as each person outside brings one new class at most.
    most = sample.classes + sample.population - sample.n
    classes = float(np.clip(reach.classes[0], sample.classes, most))
    alone = float(sample.alone)
    # τ2 = π (J̃ − d) / (1 − π), see `Accumulation`.
    matches = min(fraction * (classes - sample.classes) / (1 - fraction), alone)
    marketer = classes / sample.population
    if sample.clusters is not None:
        # Of other clusters a new class may have several persons; matches do not follow from J̃.
        single = sample.clusters.single(sample.sizes)
        uniques = min(fraction * classes * float(reach.growth[0]) * single, alone)
        return Estimate(name, marketer, classes, uniques)
    return Estimate(
        estimator=name,
        marketer=marketer,
        class_count=classes,
        # τ1 = π s(N) J̃. It cannot pass τ2, as each population unique is one correct match.
        expected_uniques=min(fraction * classes * float(reach.growth[0]), matches),
        unique_matches=matches,
    )
