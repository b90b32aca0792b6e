"""What an estimate means for each class: sums, bounds, and F_j where it is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.risk.population.estimation import SampleClasses
from sfumato.risk.population.population_estimates import LARGEST, PerClass


def sample_of(generator, persons=20_000, fraction=0.1):
    """A sample of two quasi-identifiers that go together, and its classes' sizes in truth."""
    first = generator.choice(30, persons, p=np.arange(1, 31) / 465)
    second = (first // 3 + generator.geometric(0.2, persons)) % 40
    codes = np.column_stack([first, second]).astype(np.int32)
    keys, class_of, whole = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    taken = generator.permutation(persons)[: round(fraction * persons)]
    sizes = np.bincount(class_of.ravel()[taken], minlength=len(whole))
    seen = sizes > 0
    return SampleClasses(sizes[seen], persons, keys[seen], (30, 40)), whole[seen]


@pytest.mark.parametrize("marketer", [0.04, 0.15, 0.6])
def test_the_classes_add_up_to_the_whole(marketer):
    sample, _ = sample_of(np.random.default_rng(1), fraction=0.03)
    classes = PerClass(sample)
    inverse = classes.inverse_sizes(classes.shift(marketer))
    aim = min(marketer * sample.n, sample.classes)
    assert float(sample.sizes @ inverse) == pytest.approx(aim, rel=1e-8)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.integers(1, 150), min_size=1, max_size=30),
    st.floats(1.01, 1e6),
    st.floats(0.0, 1.0),
    st.booleans(),
)
def test_bounds_and_order(sizes, times, share, keyed):
    n = sum(sizes)
    keys = np.array([[i, i % 3] for i in range(len(sizes))], dtype=np.int32) if keyed else None
    sample = SampleClasses(np.array(sizes), max(n + 1, round(n * times)), keys)
    classes = PerClass(sample)
    least = sample.classes / sample.population
    shift = classes.shift(least + share * (min(1.0, sample.classes / n) - least))
    inverse = classes.inverse_sizes(shift)
    assert (inverse > 0).all()
    assert (inverse <= 1 / sample.sizes + 1e-12).all()
    chances = [classes.at_most(size, shift) for size in (1, 2, 3, 10, 100, 300, 10**7)]
    for less, more in pairwise(chances):
        assert (less <= more + 1e-12).all()
        assert ((less >= 0) & (more <= 1)).all()
    for size, chance in zip((1, 2, 3, 10, 100), chances, strict=False):
        assert not chance[sample.sizes > size].any()


def test_the_posterior_is_right_where_the_truth_is_known():
    generator = np.random.default_rng(2)
    small, large, few, real = [], [], [], []
    for _ in range(5):
        sample, whole = sample_of(generator)
        classes = PerClass(sample)
        shift = classes.shift(float((sample.sizes / whole).sum()) / sample.n)
        inverse = classes.inverse_sizes(shift)
        alone = sample.sizes == 1
        median = np.median(inverse[alone])
        small.append((inverse[alone & (inverse <= median)], 1 / whole[alone & (inverse <= median)]))
        large.append((inverse[alone & (inverse > median)], 1 / whole[alone & (inverse > median)]))
        few.append(classes.at_most(5, shift).sum())
        real.append((whole <= 5).sum())
    for parts in (small, large):
        mine = np.concatenate([part[0] for part in parts]).mean()
        true = np.concatenate([part[1] for part in parts]).mean()
        assert mine == pytest.approx(true, rel=0.2)
    assert np.mean(few) == pytest.approx(np.mean(real), rel=0.2)


def test_rarer_values_are_riskier():
    """Of two persons who are alone, the one with rarer values is the likelier unique."""
    generator = np.random.default_rng(3)
    sample, _ = sample_of(generator)
    classes = PerClass(sample)
    inverse = classes.inverse_sizes(0.0)
    margins = [np.bincount(codes, sample.sizes)[codes] for codes in sample.keys.T]
    alone = sample.sizes == 1
    common = (margins[0] * margins[1])[alone]
    order = np.argsort(common)
    assert (np.diff(inverse[alone][order]) <= 1e-9).mean() > 0.99


def test_large_classes_are_as_the_sample_has_them():
    sizes = np.array([LARGEST + 100, 1, 1, 2, 3, 1])
    sample = SampleClasses(sizes, 2_080)
    found = PerClass(sample)
    assert found.inverse_sizes(0.0)[0] == pytest.approx(1 / 2_000)
    assert found.at_most(1_999, 0.0)[0] == 0
    assert found.at_most(2_000, 0.0)[0] == 1


def test_risk_grows_with_the_estimate():
    sample, _ = sample_of(np.random.default_rng(4), fraction=0.05)
    classes = PerClass(sample)
    shifts = [classes.shift(marketer) for marketer in (0.05, 0.1, 0.2)]
    assert shifts == sorted(shifts)
    sums = [classes.at_most(3, shift).sum() for shift in shifts]
    assert sums == sorted(sums)
