"""Boxes and how far they are from a model, against naive counts and drawn populations."""

from __future__ import annotations

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


def test_with_the_least_share_the_risk_grows_by_the_allowance():
    dispersion = Dispersion(1_000)
    boxes = Boxes(
        np.array([1, 1, 4]), np.array([1, 0, 3]), np.array([0.001, 0.02, 0.05]), (100, 100)
    )

    def risk(share):
        inverse = dispersion.inverse_sizes(boxes.chosen, boxes.shares * share, 100)
        return boxes.chosen @ inverse

    share = least_share(dispersion, boxes, 1.3)
    assert risk(share) == pytest.approx(1.3 * risk(1.0), rel=1e-2)
    assert share < 1 / 1.3
    assert least_share(dispersion, boxes, 50.0) == pytest.approx(np.exp(-3.0))


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
    true = (own[own > 0] / whole[own > 0]).sum() / part.sum()
    anew = np.bincount(box_of[sizes == 1], minlength=boxes) / (persons // 2)
    return part[part > 0], box_of[part > 0], anew, drawn[drawn > 0], persons, true


def test_lonely_persons_are_hidden_by_no_crowd_elsewhere():
    """By the sizes of cells alone; a mean over lonely persons and homes says half of it."""
    within, errors = [], []
    for seed in range(8):
        part, box_of, anew, drawn, persons, true = half_in_homes(seed)
        found = gathered_risks(part, box_of, anew, drawn, persons, rng(seed))
        assert np.median(found) == pytest.approx(true, rel=0.35)
        low, high = np.quantile(found, [0.025, 0.975])
        within.append(low <= true <= high)
        if seed < 4:
            alone = gathered_risks(part, box_of, anew, part, persons, rng(seed))
            errors.append([abs(np.log(np.median(each) / true)) for each in (found, alone)])
    assert sum(within) >= 7
    by_whole, by_part = np.mean(errors, axis=0)
    assert by_whole < by_part


def test_crowds_alone_hide_everybody():
    generator = rng(3)
    drawn = generator.poisson(2.5, 300)
    kept = drawn[drawn > 0]
    persons = 20 * kept.sum()
    found = gathered_risks(kept, np.arange(len(kept)), np.zeros(len(kept)), kept, persons, rng())
    assert np.median(found) == pytest.approx(1 / 50, rel=0.25)


@pytest.mark.parametrize("population", [10_000, 10_000_000])
def test_a_class_without_drawn_persons_stands_for_no_crowd(population):
    prices = ModelPrices(1_000, 60_000, Dispersion(population))
    nobody, one = np.array([0]), np.array([1])
    assert prices.smaller(2, one, nobody)[0] > 0.7
    assert prices.matches(one, nobody)[0] > 0.8
