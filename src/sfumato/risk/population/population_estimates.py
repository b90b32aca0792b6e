"""From an encoded file and what is known of its population to the population's risks."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, prod

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit, gammaln, logit, pdtr, pdtrik

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.core.extensions import extension
from sfumato.core.measure import NORMAL, Measure
from sfumato.engines.embedded.counts import LARGEST_SPACE, group
from sfumato.risk.classes import ClassSummary
from sfumato.risk.population import estimator_protocol, subsample_validation
from sfumato.risk.population.accumulation_estimator import Accumulation
from sfumato.risk.population.cell_model import fit_cells
from sfumato.risk.population.cell_tree import TINY
from sfumato.risk.population.inverse_sizes import poisson
from sfumato.risk.population.match_distribution import matches
from sfumato.risk.population.population_risk import PopulationRisk
from sfumato.risk.population.population_size import (
    Given,
    population_by_weights,
    population_in_classes,
    population_size,
)
from sfumato.risk.population.sampled_clusters import clusters_of
from sfumato.risk.population.sampling_weights import Weighted, share_between
from sfumato.risk.population.uniqueness_models import UNIQUES_MODELS, population_uniques
from sfumato.table.table import Table

# Set on the populations of docs/EVIDENCE.md, where τ1 is off two to three times as far as λ.
SHAPE_FACTOR = 3.0
"""By how much more the ends of λ count for the number of small classes."""
# Set on the same ones: where λ is all but known, the intervals of records at risk held too rarely.
SHAPE_DRIFT = 0.4
"""By how much the odds of all classes to be small may be off, though λ is right."""
DRIFT_OF_FOLLOWERS = 1.2
"""By how much more, where everybody follows others into a cell."""
SUBSAMPLES = 5
"""Subsamples on which the estimator is checked."""
FEW = 10
"""Classes whose number scatters otherwise than a normal variable does."""
LARGEST_UNCERTAIN = 100
"""Above this size F is f/π: the sample tells all."""
# Integrals over a normal variable, exact for polynomials up to degree 41.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
GRID_POINTS = 64
"""Numbers of expected persons at which expectations are tabulated."""
CLASSES_FITTED = 5_000
"""Classes that the regression is fitted on."""
PRIOR = np.array([0.0, 1.0, -0.5, 0.0]), np.array([0.5, 0.1, 0.7, 0.3])
"""Means and deviations of a `_Regression`'s numbers: the model of the cells is near.

A slope beyond 1 would explain crowds that nobody expects, and spoil the order of the others.
"""
LARGEST_LOG_SPREAD = 2.0
"""Logarithm of the largest spread, and of 1 over the least."""
FARTHEST = 60.0
"""By how much odds move to be sure of one or the other."""
LEAST_MOVED = 0.01
"""How far, at least, classes of several persons move to make up for those of one."""
EDGE = 1e-12


def population_of_file(
    table: Table,
    class_of: Codes,
    summary: ClassSummary,
    given: Given,
    *,
    weights: Floats | None = None,
    clusters: tuple[Codes, int | None] | None = None,
    estimator: str = estimator_protocol.AUTO,
    threshold: float = 0.2,
    seed: int | None = None,
) -> PopulationRisk:
    """Estimate the risks of a file that is a sample.

    A person with records in several classes counts in each of them, in the file and in the
    population alike: N is multiplied by the classes per person.

    Parameters
    ----------
    class_of
        Class of each record, shape (records,).
    given
        The population's size, or the sampling fraction, or the column of ``weights``.
    weights
        Sampling weight of each record, shape (records,), where a column was given. A person's
        weight in a class is the mean over their records there.
    clusters
        Cluster of each record, shape (records,), where persons were drawn in clusters, and the
        number of clusters of the population; ``None`` where they were taken whole. A person is
        in the cluster of their first record.
    seed
        Seed of the draws; drawn where not given.
    """
    if seed is None:
        # Drawn here and reported, so that a result can be had again.
        seed = secrets.randbits(32)
    weighted, between = _weights(table, class_of, summary, weights)
    n = int(summary.persons.sum())
    if weighted is None:
        persons = population_size(given, table.persons)
    else:
        persons = population_by_weights(float(weighted.sum()), n, table.persons)
    quasi = table.quasi_identifiers
    # A missing value is −1: one more makes it a code of its own.
    keys = np.column_stack([column.codes[summary.first_row] + 1 for column in quasi])
    domains = tuple(column.domain.size + 1 for column in quasi)
    # Estimators draw numbers by the order of classes,
    # so that order must not hang on that of the file.
    order = order_of_keys(keys, domains)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    population = population_in_classes(persons, n, table.persons)
    drawn = None
    if clusters is not None:
        pair = np.unique(back[class_of] * table.persons + table.person)
        # A person is in the cluster of their first record.
        own = clusters[0][np.unique(table.person, return_index=True)[1]]
        in_class, person = np.divmod(pair, table.persons)
        drawn = clusters_of(in_class, own[person].astype(np.int64), n / population, clusters[1])
    sample = estimator_protocol.SampleClasses(
        sizes=summary.persons[order],
        population=population,
        keys=keys[order].astype(np.int32),
        domains=domains,
        weighted=None if weighted is None else weighted[order],
        clusters=drawn,
    )
    chosen = estimator_named(estimator, between)
    risk = estimated_population(
        summary.records[order],
        sample,
        persons,
        chosen,
        threshold,
        seed,
        auto=estimator == estimator_protocol.AUTO,
    )
    return replace(
        risk,
        inverse_sizes=risk.inverse_sizes[back],
        class_intervals={name: interval[back] for name, interval in risk.class_intervals.items()},
        class_records=summary.records,
        class_of=class_of,
    )


def order_of_keys(keys: Codes, domains: tuple[int, ...]) -> Ints:
    """The classes by their keys, ascending: the order in which every engine's estimators see them.

    Keys have shape (classes, quasi-identifiers).
    """
    # Packed into one number, which sorts faster than columns, keys must fit 64 bits.
    if prod(domains) > LARGEST_SPACE:
        return np.lexsort(keys.T[::-1])
    packed = np.zeros(len(keys), dtype=np.int64)
    for codes, size in zip(keys.T, domains, strict=True):
        packed = packed * size + codes
    return np.argsort(packed, kind="stable")


def _weights(
    table: Table, class_of: Codes, summary: ClassSummary, weights: Floats | None
) -> tuple[Floats | None, float]:
    """Sum of the persons' weights in each class, and how much weights go with the classes."""
    if weights is None:
        return None, 0.0
    pair, pairs = group([class_of, table.person], [summary.classes, table.persons])
    # A person with several records stands for as many
    # others as with one: weights are averaged, not summed.
    mean = np.bincount(pair, weights, pairs) / np.bincount(pair, minlength=pairs)
    of_pair = np.empty(pairs, dtype=np.int64)
    of_pair[pair] = class_of
    weighted: Floats = np.bincount(of_pair, mean, summary.classes).astype(np.float64)
    return weighted, share_between(of_pair, mean)


def estimator_named(name: str, between: float = 1.0) -> estimator_protocol.Estimator:
    """The estimator of that name, of `ESTIMATORS` or another package.

    ``between`` is how much of the sampling weights goes with the classes; see `Weighted`.
    """
    estimator_protocol.check_estimator(name)
    if name not in estimator_protocol.ESTIMATORS and (added := extension("estimator", name)):
        return estimator_protocol.AddedEstimator(added)
    return Weighted(between) if name == estimator_protocol.AUTO else Accumulation()


def estimated_population(
    records: Ints,
    sample: estimator_protocol.SampleClasses,
    persons: int,
    estimator: estimator_protocol.Estimator,
    threshold: float,
    seed: int,
    *,
    auto: bool,
) -> PopulationRisk:
    """Estimate the risks of a file from its classes.

    Parameters
    ----------
    records
        Number of records of each class, shape (classes,).
    persons
        N, the number of persons of the population.
    estimator
        What estimates λ.

    Returns
    -------
    PopulationRisk
        Classes in the order of the sample, without ``class_of``.
    """
    rng = np.random.default_rng(seed)
    check = None
    if sample.n == sample.population:
        estimate = estimator_protocol.Estimate.of_census(estimator.name, sample)
    else:
        estimate = estimator.estimate(sample, rng)
        # Subsamples are of persons, which is not how clusters were drawn.
        if sample.clusters is None:
            check = subsample_validation.check_on_subsamples(estimator, sample, rng, SUBSAMPLES)
    why = subsample_validation.reason(estimator.name, sample, check, auto=auto)
    measures = _EstimateMeasures(records, sample, estimate, threshold, why)
    return measures.population_risk(persons, check, seed)


class _EstimateMeasures:
    """The measures that follow from one estimate."""

    def __init__(
        self,
        records: Ints,
        sample: estimator_protocol.SampleClasses,
        estimate: estimator_protocol.Estimate,
        threshold: float,
        why: str,
    ) -> None:
        self.records, self.sample, self.estimate = records, sample, estimate
        self.threshold, self.why = threshold, why
        self.low = estimate.marketer if estimate.low is None else estimate.low
        self.high = estimate.marketer if estimate.high is None else estimate.high
        self.classes = None
        self.shifts: list[Floats] = []
        if sample.n < sample.population:
            self.classes = ClassPosteriors(sample, estimate)
            for end in (estimate.marketer, self.low, self.high):
                self.shifts.append(self.classes.shift(end, self._found_alone(end)))

    def population_risk(
        self, persons: int, check: subsample_validation.SubsampleCheck | None, seed: int
    ) -> PopulationRisk:
        """All measures, for a population of so many persons."""
        estimate, n = self.estimate, self.sample.n
        inverse = self._inverse_sizes()
        average = float(inverse @ self.records) / int(self.records.sum())
        counted = self._count("class_count", estimate.class_count, self.sample.population)
        return PopulationRisk(
            population=persons,
            sampling_fraction=self.sample.fraction,
            marketer=self._scaled("marketer", estimate.marketer, 1.0),
            journalist=self._journalist(),
            population_average_risk=self._scaled("population_average_risk", average, 1.0),
            population_records_at_risk=self._records_at_risk(),
            expected_uniques=self._uniques(),
            unique_matches=self._unique_matches(),
            class_count=counted,
            expected_matches=self._scaled("expected_matches", estimate.marketer * n, n),
            one_to_one=matches(self.sample.sizes, 1.0 / inverse, times=self.sample.times),
            free=matches(
                self.sample.sizes, 1.0 / inverse, one_to_one=False, times=self.sample.times
            ),
            inverse_sizes=inverse,
            class_records=self.records,
            class_of=None,
            class_intervals=self._class_intervals(inverse),
            population_uniques_by_model=_by_model(self.sample),
            check=check,
            path=estimate.path,
            seed=seed,
        )

    def _class_intervals(self, inverse: Floats) -> dict[str, Floats]:
        """What each class's risk and chance to be unique are at the ends of λ."""
        single = self.sample.sizes == 1
        if self.classes is None:
            ends, unique = [inverse] * 2, [single.astype(float)] * 3
        else:
            ends = [self.classes.inverse_sizes(shift) for shift in self.shifts[1:]]
            more = self._more_uniques()
            unique = [
                np.where(single, np.minimum(self.classes.at_most(1, shift + more), risk), 0.0)
                for shift, risk in zip(self.shifts, [inverse, *ends], strict=True)
            ]
        names = ("risk_low", "risk_high", "unique", "unique_low", "unique_high")
        return dict(zip(names, [*ends, *unique], strict=True))

    def _found_alone(self, marketer: float) -> float | None:
        """τ2 where λ is that: of n dλ further matches, uniques have n dλ / (1 - π)."""
        found, sample = self.estimate.unique_matches, self.sample
        if found is None:
            return None
        # n λ = π J̃ gives n dλ = π dJ̃, and τ2 = π (J̃ − d) / (1 − π) gives dτ2 = π dJ̃ / (1 − π).
        more = sample.n * (marketer - self.estimate.marketer) / (1 - sample.fraction)
        return float(np.clip(found + more, 0.0, sample.alone))

    def _more_uniques(self) -> Floats | float:
        """By how much more the odds of uniques move where persons gather in cells.

        Some of those who are alone stand apart there and the others are in crowds, so that more are
        unique at the same λ than in a lognormal: as many as the sizes of the classes tell.
        """
        uniques, followed = self.estimate.expected_uniques, self.estimate.followed
        if self.classes is None or not uniques or not followed:
            return 0.0
        return followed * (self.classes.shift_of_uniques(uniques) - self.shifts[0])

    def _measure(self, name: str, values: tuple[float, float, float]) -> Measure:
        value, low, high = values
        return Measure(
            name, value, min(low, value), max(high, value), self.estimate.estimator, self.why
        )

    def _scaled(self, name: str, value: float, most: float) -> Measure:
        """A measure that is proportional to λ, and at most ``most``."""
        low, high = (end / self.estimate.marketer for end in (self.low, self.high))
        value = min(value, most)
        return self._measure(name, (value, value * low, min(value * high, most)))

    def _count(self, name: str, value: float | None, population: int) -> Measure | None:
        if value is None:
            return None
        return self._measure(name, (value, self.low * population, self.high * population))

    def _inverse_sizes(self) -> Floats:
        if self.classes is None:
            return 1.0 / self.sample.sizes
        return self.classes.inverse_sizes(self.shifts[0])

    def _at_most(self, size: int, weights: Floats) -> tuple[float, float, float]:
        """Expected sum of weights over the classes with F_j <= size, and its two ends.

        Weights are those of all classes that an entry stands for.
        """
        if self.classes is None:
            sure = float(weights[self.sample.sizes <= size].sum())
            return sure, sure, sure
        sums = [float(weights @ self.classes.at_most(size, shift)) for shift in self.shifts]
        return sums[0], sums[1], sums[2]

    def _realised(
        self, size: int, weights: Floats, drift: float = 0.0
    ) -> tuple[float, float, float]:
        """As `_at_most`, the ends for the sum that this file really has.

        The share of small classes follows from the shape of the distribution of F, of which λ
        fixes only one number: what the ends of λ change in it counts `SHAPE_FACTOR` times. The
        odds of all classes may be off by ``drift``, and each class has F_j <= size or not, which
        scatters the sum besides; the three add up as squares.
        """
        middle, low, high = self._at_most(size, weights)
        if self.classes is None:
            return middle, low, high
        chances = self.classes.at_most(size, self.shifts[0])
        # Var Σ w B over k classes of an entry with the weight w / k each: k (w/k)² p (1 − p).
        squares = weights * weights / self.sample.each
        scatter = float(np.sqrt(squares @ (chances * (1 - chances))))
        noise = NORMAL * scatter
        # Odds move and not chances, which so stay in [0, 1].
        odds = logit(np.clip(chances, EDGE, 1 - EDGE))
        least, most = (float(weights @ expit(odds + by)) for by in (-drift, drift))
        below = float(np.linalg.norm([SHAPE_FACTOR * (middle - low), middle - least, noise]))
        above = float(np.linalg.norm([SHAPE_FACTOR * (high - middle), most - middle, noise]))
        return middle, max(middle - below, 0.0), min(middle + above, float(weights.sum()))

    def _records_at_risk(self) -> Measure:
        # 1/F > t is F < 1/t, so F ≤ ⌈1/t⌉ − 1; 1/0.2 may round to above 5.
        largest = int(np.ceil(1 / self.threshold - 1e-9)) - 1
        shares = self.records / int(self.records.sum())
        drift = SHAPE_DRIFT + DRIFT_OF_FOLLOWERS * self.estimate.followed
        middle, low, high = self._realised(largest, shares, drift)
        if self.classes is not None:
            chances = self.classes.at_most(largest, self.shifts[0])
            low = min(low, 1 - most_of_few(1 - chances, shares, self.sample.each))
            high = max(high, most_of_few(chances, shares, self.sample.each))
        return self._measure("population_records_at_risk", (middle, low, high))

    def _uniques(self) -> Measure:
        value = float(self.estimate.expected_uniques or 0.0)
        middle, low, high = self._realised(1, self.sample.each.astype(np.float64))
        # Classes rank and scatter as they do, but their sum is to be τ1 of the estimate.
        scale = value / middle if middle > 0 else 0.0
        # Few of them scatter as Poisson's numbers do, which are whole.
        fewest, most = whole_ends(value) if self.classes is not None else (value, value)
        low, high = min(low * scale, fewest), max(ceil(high * scale), most)
        return self._measure("expected_uniques", (value, low, min(high, float(self.sample.alone))))

    def _unique_matches(self) -> Measure:
        single = np.where(self.sample.sizes == 1, self.sample.each, 0).astype(np.float64)
        found = [float(single.sum())] * 3
        if self.classes is not None:
            found = [float(single @ self.classes.inverse_sizes(shift)) for shift in self.shifts]
        return self._measure("unique_matches", (found[0], found[1], found[2]))

    def _journalist(self) -> Measure:
        """1 over the size that the smallest class has: likely, at most, at least."""
        weights = self.sample.each.astype(np.float64)
        # P(none ≤ size) = e^(−expected) for a Poisson number of such classes: 50, 5 and 95 %.
        likely, sure, possible = np.log(2.0), -np.log(0.05), -np.log(0.95)
        size = int(self.sample.sizes.min())
        ends: dict[float, float] = {}
        if self.classes is None:
            ends = dict.fromkeys((likely, sure, possible), 1 / size)
        while len(ends) < 3:
            expected = self._at_most(size, weights)
            for level, number in ((likely, 0), (sure, 1), (possible, 2)):
                if expected[number] >= level:
                    ends.setdefault(level, 1 / size)
            # At four times f / π of the smallest class the
            # search ends: a level not reached gets this size.
            if size >= self.sample.sizes.min() / self.sample.fraction * 4:
                for level in (likely, sure, possible):
                    ends.setdefault(level, 1 / size)
            # Sizes grow by a tenth: 1 / F need not be nearer, and large classes are reached soon.
            size = max(size + 1, int(size * 1.1))
        measure = self._measure("journalist", (ends[likely], ends[sure], ends[possible]))
        return replace(measure, threshold=self.threshold)


def _by_model(sample: estimator_protocol.SampleClasses) -> dict[str, float | str]:
    """Population uniques by the models that users of other tools know, or why there are none."""
    found: dict[str, float | str] = {}
    for name in UNIQUES_MODELS:
        try:
            found[name] = population_uniques(name, sample)
        except estimator_protocol.EstimationFailedError as error:
            found[name] = f"no value: {error}"
    return found


def whole_ends(mean: float) -> tuple[float, float]:
    """The whole numbers between which 95 % of Poisson's lie."""
    if not mean:
        return 0.0, 0.0
    # The inverse has no value where P(0) alone is above the probability, and 0 is the end then.
    low, high = np.nan_to_num(pdtrik([0.025, 0.975], mean))
    return float(np.floor(max(low, 0.0))), float(np.ceil(max(high, 0.0)))


def most_of_few(chances: Floats, shares: Floats, each: Ints) -> float:
    """The most that few classes hold, as the number of those that count scatters in whole ones.

    Parameters
    ----------
    chances
        How likely each class counts, shape (entries,).
    shares
        Share of the whole of the classes that an entry stands for.

    Returns
    -------
    float
        A share that is not passed in 97.5 of 100 files; 0 where not few classes count.
    """
    classes = float(each @ chances)
    if not 0 < classes < FEW:
        return 0.0
    return min(whole_ends(classes)[1] * float(shares @ chances) / classes, 1.0)


class ClassPosteriors:
    """The posterior of F_j given f_j and how many persons a model expects in the class.

    The rate of a class is lognormal around a line in the logarithm of what the model of the cells
    (`sfumato.risk.population.cell_model`) expects there without the class's own persons; f_j is
    Poisson with that rate, truncated at 0, and F_j - f_j Poisson with (1 - π)/π times it. The line
    and the spread, which is less where more persons tell, are fitted to the observed classes; what
    they miss of the whole is put right by moving the odds of all classes together, or of those of
    one person and of all others.

    Parameters
    ----------
    sample
        The classes; fewer persons than the population.
    estimate
        Says what a model expects, and how far persons follow others; a model is fitted without it.
    """

    def __init__(
        self,
        sample: estimator_protocol.SampleClasses,
        estimate: estimator_protocol.Estimate | None = None,
    ) -> None:
        self._sample = sample
        self._ratio = (1 - sample.fraction) / sample.fraction
        self._expected = _expected(sample, None if estimate is None else estimate.foretold)
        self._followed, self._apart = 0.0, None
        if estimate is not None and estimate.apart is not None:
            self._followed = estimate.followed
            self._apart = estimate.apart[np.unique(sample.sizes, return_inverse=True)[1]]
        self._regression = _Regression.fitted(sample, self._expected)
        # f E[1/F | f] is in (0, 1]: as odds it moves without leaving that.
        self._odds = logit(np.clip(self._matches(), EDGE, 1 - EDGE))

    def shift(self, marketer: float, alone: float | None = None) -> Floats:
        """By how much the odds of each class move so that Σ f_j E[1/F_j] = n λ; shape (classes,).

        Where persons follow others into cells, who is alone is less often hidden than the fitted
        line has it, and larger classes are more often crowds: as far as they do, the classes of one
        person sum to τ2. Those of several move with them as far as their persons stand apart, too.

        Parameters
        ----------
        marketer
            λ.
        alone
            τ2; all odds move alike without it.
        """
        sizes, times = self._sample.sizes, self._sample.each
        whole = marketer * self._sample.n
        found = np.full(len(sizes), self._shift(self._odds, whole, times))
        single = sizes == 1
        others = ~single
        if self._apart is None or alone is None or not others.any():
            return found
        own = float((times * expit(self._odds + found))[single].sum())
        # Singles go toward τ2 as far as persons follow; larger classes have at most one match each,
        # and the rest is left to singles.
        aim = max(own + self._followed * (alone - own), whole - float(times[others].sum()))
        found[single] = self._shift(self._odds[single], aim, times[single])
        # Singles are the ones who most surely stand apart, so that they are the measure of 1.
        share = (self._apart / max(self._apart[single][0], EDGE))[others]
        moved = np.clip(1 - share, LEAST_MOVED, 1.0)
        with_single = (1 - moved) * found[single][0]
        odds = self._odds[others] + with_single
        by = self._shift(odds, whole - aim, times[others], moved)
        found[others] = with_single + moved * by
        return found

    def shift_of_uniques(self, uniques: float) -> float:
        """By how much all odds move so that Σ P(F_j = 1 | f_j) = τ1."""
        single = self._sample.sizes == 1
        odds = logit(np.clip(self.at_most(1, 0.0)[single], EDGE, 1 - EDGE))
        return self._shift(odds, uniques, self._sample.each[single])

    def _shift(self, odds: Floats, aim: float, times: Ints, moved: Floats | float = 1.0) -> float:
        """By how much odds move so that their chances sum to ``aim``, or nearly to all."""
        # At 0 or at all classes the odds would be infinite.
        aim = float(np.clip(aim, EDGE * times.sum(), (1 - EDGE) * times.sum()))
        far = FARTHEST / float(np.min(moved))

        def missed(by: float) -> float:
            return float(times @ expit(odds + moved * by)) - aim

        return float(brentq(missed, -far, far, xtol=1e-10))

    def inverse_sizes(self, shift: Floats | float) -> Floats:
        """E[1/F_j | f_j] of each class, in (0, 1/f_j]; shape (classes,)."""
        inverse: Floats = expit(self._odds + shift) / self._sample.sizes
        return inverse

    def at_most(self, size: int, shift: Floats | float) -> Floats:
        """P(F_j <= size | f_j) of each class; shape (classes,).

        Classes of several persons who stand apart from crowds have others by chance alone, as many
        as the model expects.
        """
        sizes = self._sample.sizes
        chances = ((sizes / self._sample.fraction <= size) & (sizes > LARGEST_UNCERTAIN)).astype(
            float
        )

        def table(own: int, rates: Floats) -> Floats:
            # P(F ≤ size | f, μ): F − f is Poisson with mean (1 − π) / π μ.
            return np.asarray(pdtr(size - own, rates * self._ratio))

        largest = min(size, LARGEST_UNCERTAIN)
        self._fill(chances, table, largest)
        # The same shift of odds as for 1 / F keeps both measures
        # consistent: a class with higher risk is smaller.
        inside = np.clip(chances, EDGE, 1 - EDGE)
        moved: Floats = np.where(sizes <= largest, expit(logit(inside) + shift), chances)
        if self._apart is not None:
            some = (sizes > 1) & (sizes <= largest)
            by_chance = pdtr(size - sizes[some], np.exp(self._expected[some]) * self._ratio)
            moved[some] += self._apart[some] * (by_chance - moved[some])
        return moved

    def _matches(self) -> Floats:
        """Expected matches f_j E[1/F_j | f_j] of the fitted regression."""
        # Large classes have F = f / π, hence f / F = π.
        matches = np.full(len(self._sample.sizes), self._sample.fraction)

        def table(own: int, rates: Floats) -> Floats:
            # F − f is Poisson with mean v = (1 − π) / π μ (paper 004, Section 2.4.2).
            inverse = poisson(np.full(rates.size, own), (rates * self._ratio).ravel())
            return own * inverse.reshape(rates.shape)

        self._fill(matches, table, LARGEST_UNCERTAIN)
        return matches

    def _fill(self, values: Floats, table: Callable[[int, Floats], Floats], largest: int) -> None:
        """Set the values of classes up to a size: the posterior mean of ``table(size, rates)``."""
        grid = np.linspace(self._expected.min(), self._expected.max(), GRID_POINTS)
        log = self._regression.log_rates(grid)
        rates = np.exp(log)
        sizes = self._sample.sizes
        for size in np.unique(sizes[sizes <= largest]).tolist():
            here = np.flatnonzero(sizes == size)
            # P(node | f) ∝ weight μ^f e^(−μ): given f,
            # neither f! nor the truncation at 0 changes it.
            likely = size * log - rates
            likely = np.exp(likely - likely.max(axis=1, keepdims=True)) * WEIGHTS
            mean = (likely * table(size, rates)).sum(axis=1) / likely.sum(axis=1)
            # Only size and expectation count, so that 64 points serve any number of classes.
            values[here] = np.interp(self._expected[here], grid, mean)


def _expected(
    sample: estimator_protocol.SampleClasses, foretold: Callable[[], Floats] | None
) -> Floats:
    """Logarithm of the persons of the sample in each class by a model that lacks the class's."""
    if sample.keys is None:
        return np.zeros(len(sample.sizes))
    if foretold is None:
        # A fixed seed: who asks for posteriors without an estimate gets the same each time.
        rng = np.random.default_rng(0)
        foretold = fit_cells(sample.keys, sample.sizes, sample.domains, rng).foretold
    expected: Floats = np.log(np.maximum(foretold(), TINY) * sample.n)
    return expected


@dataclass(frozen=True)
class _Regression:
    """How the rates of classes scatter around what a model of the cells expects.

    Attributes
    ----------
    middle
        Mean of the logarithms of the expected persons.
    log_spread
        Logarithm of the standard deviation around it, at ``middle``.
    narrowing
        How it changes with the logarithm of the expected persons; it never grows. What the model
        expects rests on few persons where it expects few.
    """

    middle: float
    intercept: float
    slope: float
    log_spread: float
    narrowing: float

    def log_rates(self, expected: Floats) -> Floats:
        """At each of `NODES`, by logarithms of the expected persons; shape (classes, nodes)."""
        # A spread that grew with the expectation would call common values the least known.
        wider = min(self.narrowing, 0.0) * (expected - self.middle)
        spread = np.exp(np.clip(self.log_spread + wider, -LARGEST_LOG_SPREAD, LARGEST_LOG_SPREAD))
        line = self.intercept + self.slope * expected
        return np.clip(line[:, None] + spread[:, None] * NODES, -60.0, 30.0)

    @classmethod
    def fitted(cls, sample: estimator_protocol.SampleClasses, expected: Floats) -> _Regression:
        """What is likeliest after `PRIOR`."""
        step = max(1, len(sample.sizes) // CLASSES_FITTED)
        # Crowds would draw the line to themselves; above this size nobody asks the line.
        sizes, expected = np.minimum(sample.sizes[::step], LARGEST_UNCERTAIN), expected[::step]
        times = sample.each[::step]
        factorials = gammaln(sizes + 1.0)[:, None]
        middle = float(np.average(expected, weights=times))
        means, deviations = PRIOR
        varied = np.ptp(expected) > 0
        # Where all expectations are equal a slope means nothing: the prior then holds it at 0.
        start = means * np.array([1, varied, 1, 1])

        def loss(parameters: Floats) -> float:
            log = cls(middle, *parameters.tolist()).log_rates(expected)
            likely = np.exp(sizes[:, None] * log - np.exp(log) - factorials) @ WEIGHTS
            # Zero-truncated: only classes that the sample shows are there, P(f | f > 0).
            seen = -np.expm1(-np.exp(log)) @ WEIGHTS
            each = np.log(np.maximum(likely, 1e-300) / np.maximum(seen, 1e-300))
            far = (parameters - start) / deviations
            return float(far @ far / 2 - each @ times)

        # The first simplex spans the prior; narrowing starts on its only open side, below 0.
        around = np.vstack([start, start + np.diag(deviations * [1, 1, 1, -1])])
        options = {"xatol": 1e-2, "fatol": 1e-2, "maxiter": 250, "initial_simplex": around}
        best = minimize(loss, start, method="Nelder-Mead", options=options).x
        return cls(middle, *best.tolist())
