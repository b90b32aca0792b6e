"""Boxes and how far they are from a model, against naive counts and drawn populations."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest

from sfumato.risk.population.cell_dispersion import (
    Boxes,
    Dispersion,
    ModelPrices,
    dispersion_of,
    gathered_risks,
    least_share,
    random_boxes,
    revised,
)


def rng(seed=1):
    return np.random.default_rng(seed)


def drawn_boxes(level, factor, boxes=4_000, population=200_000, seed=2):
    """Boxes around a person each, their shares apart from the model by a Gamma variable."""
    generator = rng(seed)
    shares = generator.uniform(2, 60, boxes) / population
    shape = exp(level)
    rate = factor * shares * generator.gamma(shape, 1 / shape, boxes)
    n = m = population // 20
    chosen = generator.poisson(n * rate)
    others = generator.poisson(m * rate)
    kept = chosen > 0
    return Boxes(chosen[kept], others[kept], shares[kept], (n, m)), rate[kept], population


def test_boxes_are_a_partition_of_those_whose_categories_are_known():
    generator = rng()
    chosen, others, drawn = (
        np.column_stack([generator.integers(0, 50, size), generator.integers(0, 8, size)])
        for size in (200, 300, 1_000)
    )
    others[:20, 1] = 99
    found = random_boxes(chosen, others, drawn, [True, False], 3, rng())
    assert found.chosen.sum() == 200
    assert found.chosen.max() <= 3 or len(np.unique(chosen, axis=0)) < 200
    assert found.others.sum() == 280
    assert found.persons == (200, 300)
    assert found.shares.sum() == pytest.approx(1, rel=0.1)


def test_the_expected_inverse_is_that_of_drawn_populations():
    """E[1/F | f] where F - f is negative binomial; by drawing."""
    one = Dispersion(10_000, level=1.0, slope=0.2, factor=0.8, discount=0.3)
    shares, n = np.array([0.0005, 0.002, 0.01]), 1_000
    persons = np.array([1, 2, 9])
    found = one.inverse_sizes(persons, shares, n)
    for f, share, value in zip(persons, shares, found, strict=True):
        mass, shape = 0.8 * share, exp(1.0 + 0.2 * np.log(10_000 * 0.8 * share))
        k = shape - 0.3 + f
        rate = rng().gamma(k, (10_000 - n) * mass / (shape + n * mass), 400_000)
        sizes = f + rng(3).poisson(rate)
        assert value == pytest.approx((1 / sizes).mean(), rel=0.01)


def test_the_shape_is_found_where_boxes_scatter():
    wide, _, population = drawn_boxes(0.0, 1.0)
    narrow, _, _ = drawn_boxes(3.0, 1.0)
    found = [dispersion_of([each], population) for each in (wide, narrow)]
    at = np.array([20 / population])
    shapes = [float(each.shapes(at)[1][0]) for each in found]
    assert shapes[0] < 2.5 < shapes[1]


def test_boxes_that_the_model_overrates_cost_more():
    """Of chosen boxes half of what the model says is there: the risk that is foretold is true."""
    boxes, rate, population = drawn_boxes(1.5, 0.5)
    first = Dispersion(population, 1.5, 0.0)
    second, error = revised(first, boxes)
    n = boxes.persons[0]
    sizes = boxes.chosen + rng(9).poisson((population - n) * rate)
    true = float((boxes.chosen / sizes).sum())
    foretold = [
        float((boxes.chosen * each.inverse_sizes(boxes.chosen, boxes.shares, n)).sum())
        for each in (first, second)
    ]
    assert foretold[0] < 0.85 * true
    assert foretold[1] == pytest.approx(true, rel=0.1)
    assert 0 < error < 0.2


def test_a_class_never_counts_for_more_than_the_model_gives():
    boxes, _, population = drawn_boxes(1.5, 2.0)
    assert dispersion_of([boxes], population).factor <= 1
    assert revised(Dispersion(population, 1.5, 0.0), boxes)[0].factor <= 1


def test_few_boxes_leave_much_open():
    few, _, population = drawn_boxes(1.5, 0.8, boxes=60)
    many, _, _ = drawn_boxes(1.5, 0.8, boxes=4_000)
    first = Dispersion(population, 1.5, 0.0)
    assert revised(first, few)[1] > 3 * revised(first, many)[1]


def test_with_the_least_share_the_risk_is_the_one_aimed_at():
    dispersion = Dispersion(1_000)
    boxes = Boxes(
        np.array([1, 1, 4]), np.array([1, 0, 3]), np.array([0.001, 0.02, 0.05]), (100, 100)
    )

    def risk(share):
        inverse = dispersion.inverse_sizes(boxes.chosen, boxes.shares * share, 100)
        return boxes.chosen @ inverse

    share = least_share(risk, 1.3 * risk(1.0), -3.0)
    assert risk(share) == pytest.approx(1.3 * risk(1.0), rel=1e-2)
    assert share < 1 / 1.3
    assert least_share(risk, 50.0, -3.0) == pytest.approx(np.exp(-3.0))
    assert least_share(risk, risk(1.0) - 1e-12, -3.0) == 1.0


def half_in_homes(seed, persons=12_000, boxes=1_000):
    """A twentieth of persons half of whom have a cell of their own, the others one of fifty.

    Half of these are a part; its cells, their boxes, and the cells of all.
    """
    generator = rng(seed)
    sizes = np.concatenate([np.ones(persons // 2, int), np.full(persons // 100, 50)])
    box_of = generator.integers(0, boxes, len(sizes))
    drawn = generator.binomial(sizes, 0.05)
    part = generator.binomial(drawn, 0.5)
    own, whole = (np.bincount(box_of, each, boxes) for each in (part, sizes))
    risk = (own[own > 0] / whole[own > 0]).sum() / part.sum()
    true = risk, (own[whole == 1] == 1).sum() / part.sum()
    anew = np.bincount(box_of[sizes == 1], minlength=boxes) / (persons // 2)
    return part[part > 0], box_of[part > 0], anew, drawn[drawn > 0], persons, true


def test_lonely_persons_are_hidden_by_no_crowd_elsewhere():
    """By the sizes of cells alone; a mean over lonely persons and homes says half of it."""
    within, errors = [], []
    for seed in range(3):
        part, box_of, anew, drawn, persons, (true, _) = half_in_homes(seed)
        found = gathered_risks(part, box_of, anew, drawn, persons, rng(seed))[0]
        assert np.median(found) == pytest.approx(true, rel=0.35)
        low, high = np.quantile(found, [0.025, 0.975])
        within.append(low <= true <= high)
        if seed < 2:
            alone = gathered_risks(part, box_of, anew, part, persons, rng(seed))[0]
            errors.append([abs(np.log(np.median(each) / true)) for each in (found, alone)])
    assert sum(within) >= 2
    by_whole, by_part = np.mean(errors, axis=0)
    assert by_whole < by_part


@pytest.mark.slow
def test_uniques_are_counted_among_lonely_persons():
    """In boxes of two cells each, of which some have a single person of the population."""
    within = 0
    for seed in range(3):
        part, box_of, anew, drawn, persons, (_, true) = half_in_homes(seed, boxes=3_000)
        found = gathered_risks(part, box_of, anew, drawn, persons, rng(seed))[1]
        assert np.median(found) == pytest.approx(true, rel=0.5)
        low, high = np.quantile(found, [0.025, 0.975])
        within += low <= true <= high
    assert within >= 2


def test_crowds_alone_hide_everybody():
    generator = rng(3)
    drawn = generator.poisson(2.5, 300)
    kept = drawn[drawn > 0]
    persons = 20 * kept.sum()
    found = gathered_risks(kept, np.arange(len(kept)), np.zeros(len(kept)), kept, persons, rng())
    assert np.median(found[0]) == pytest.approx(1 / 50, rel=0.25)
    assert np.median(found[1]) < 1 / 500


def raised_boxes():
    """A sixth of a file: boxes of one person, in which the model expects 0.2 to 20 others."""
    expected = np.geomspace(0.2, 20, 100)
    ones = np.ones(100, dtype=np.int64)
    return Boxes(ones, np.zeros(100, dtype=np.int64), expected / 10_000, (100, 100))


def test_prices_are_raised_to_what_was_counted():
    """To the 95th percentile of λ and of the uniques, as far as persons follow others."""
    boxes, prices = raised_boxes(), ModelPrices(600, 60_000, Dispersion(10_000))
    dispersion = prices.dispersion
    counted = np.array([np.linspace(0.5, 0.6, 201), np.linspace(0.4, 0.5, 201)])
    found = prices.raised(boxes, 0.0, counted, 1.0)
    assert found.allowance * dispersion.matches(boxes) == pytest.approx(59.5)
    assert found.gathered * dispersion.matches(boxes) == pytest.approx(55.0)
    assert dispersion.uniques(boxes, found.beside) == pytest.approx(45.0, rel=0.01)
    assert dispersion.uniques(boxes, found.least_beside) == pytest.approx(49.5, rel=0.02)
    half = prices.raised(boxes, 0.0, counted, 0.5)
    assert found.least_beside < half.least_beside < 1
    assert found.raised(boxes, 0.0, counted, 1.0) == found
    assert found.raised(boxes, 0.0) == found


def test_uniques_scatter_where_nobody_follows():
    """By twice the error of log λ, or by the chance of few of them; k-map follows λ."""
    boxes, persons = raised_boxes(), np.array([1])
    for error in (0.0, 0.3):
        few, many = (
            ModelPrices(sample, 60_000, Dispersion(10_000)).raised(boxes, error)
            for sample in (100, 5_000)
        )
        own = few.dispersion.uniques(boxes)
        assert few.dispersion.uniques(boxes, few.least_beside) > own * np.exp(2 * 1.645 * error)
        assert few.least_beside < many.least_beside <= many.least <= 1
        assert few.beside == 1
        lone = few.smaller(2, persons, np.array([60]))
        assert lone > replace(few, least_beside=few.least).smaller(2, persons, np.array([60]))
        assert few.smaller(3, persons, np.array([60])) == replace(few, least_beside=1.0).smaller(
            3, persons, np.array([60])
        )


@pytest.mark.parametrize("population", [10_000, 10_000_000])
def test_a_class_without_drawn_persons_stands_for_no_crowd(population):
    prices = ModelPrices(1_000, 60_000, Dispersion(population))
    nobody, one = np.array([0]), np.array([1])
    assert prices.smaller(2, one, nobody)[0] > 0.7
    assert prices.matches(one, nobody)[0] > 0.8
