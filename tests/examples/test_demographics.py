"""Weighted choices: their frequencies, and no draw outside its stratum; lists well formed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.examples.demographics import (
    FAMILY_NAMES,
    GIVEN_NAMES,
    ZIP_WEIGHTS,
    ZIPS,
    WeightedChoice,
    zipf,
)


class Extremes:
    """A generator that draws the ends of [0, 1)."""

    def random(self, size: int, dtype: type = np.float64) -> np.ndarray:
        largest = np.nextafter(np.ones(1, dtype), np.zeros(1, dtype))[0]
        if dtype is np.float32:
            largest = np.float32(1 - 2**-24)
        return np.where(np.arange(size) % 2 == 0, np.zeros(1, dtype), largest).astype(dtype)


@st.composite
def weight_tables(draw: st.DrawFn) -> np.ndarray:
    shape = (draw(st.integers(1, 300)), draw(st.integers(1, 6)))
    table = draw(arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 1.0, 7.0])))
    table[table.sum(axis=1) == 0, draw(st.integers(0, shape[1] - 1))] = 1.0
    return table


@given(weight_tables(), st.integers(0, 2**32 - 1))
def test_an_item_of_weight_zero_never_comes(table: np.ndarray, seed: int) -> None:
    strata = np.repeat(np.arange(len(table)), 4)
    choice = WeightedChoice.of(table)
    for rng in (np.random.default_rng(seed), Extremes()):
        drawn = choice.draw(strata, rng)  # type: ignore[arg-type]
        assert drawn.min() >= 0
        assert drawn.max() < table.shape[1]
        assert (table[strata, drawn] > 0).all()


def test_frequencies_follow_the_weights() -> None:
    table = np.array([[1.0, 2.0, 1.0], [0.0, 1.0, 9.0]])
    strata = np.repeat([0, 1], 40_000)
    drawn = WeightedChoice.of(table).draw(strata, np.random.default_rng(1))
    for stratum in (0, 1):
        shares = np.bincount(drawn[strata == stratum], minlength=3) / 40_000
        np.testing.assert_allclose(shares, table[stratum] / table[stratum].sum(), atol=0.01)


def test_zipf_weights() -> None:
    np.testing.assert_allclose(zipf(3), np.array([6, 3, 2]) / 11)
    np.testing.assert_allclose(zipf(2, shift=1.0, slope=2.0), np.array([9, 4]) / 13)


def test_names_and_places() -> None:
    assert len(FAMILY_NAMES) > 400
    for cohorts in GIVEN_NAMES.values():
        assert len(cohorts) == 3
        assert all(len(names) > 80 and len(set(names)) == len(names) for names in cohorts)
    assert all(" " not in name for name in FAMILY_NAMES)
    assert len(set(ZIPS)) == len(ZIPS) == len(ZIP_WEIGHTS)
    assert min(ZIP_WEIGHTS) > 0
