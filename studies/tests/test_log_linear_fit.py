"""Fits and draws of log-linear models against iterative proportional fitting of the full table."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies.dankar_el_emam import contingency_table
from studies.dankar_el_emam.contingency_table import Lookup, SparseTable, observed_cells
from studies.dankar_el_emam.log_linear_fit import Fitter, TooManyCellsError, junction_tree

DOMAINS = (4, 3, 2, 3, 2)
PAIRS = list(combinations(range(5), 2))
GRID = np.indices(DOMAINS).reshape(5, -1).T.astype(np.int32)


def table(seed, zeros=0.4):
    rng = np.random.default_rng(seed)
    full = rng.integers(1, 6, size=DOMAINS) * (rng.random(DOMAINS) > zeros)
    for axis in range(len(DOMAINS)):
        np.moveaxis(full, axis, 0)[:, 0] += 1  # every value occurs
    return full


def cells_of(full):
    return observed_cells(np.argwhere(full > 0).astype(np.int32), full[full > 0])


def fit_full_table(full, terms):
    """Iterative proportional fitting of all margins on all cells."""
    fitted = np.ones(full.shape)
    margins = [(variable,) for variable in range(full.ndim)] + list(terms)
    for _ in range(5_000):
        before = fitted
        for margin in margins:
            others = tuple(axis for axis in range(full.ndim) if axis not in margin)
            old = fitted.sum(others, keepdims=True)
            new = full.sum(others, keepdims=True)
            fitted = fitted * np.divide(new, old, out=np.zeros(old.shape), where=old > 0)
        if np.abs(fitted - before).max() < 1e-11:
            break
    return fitted


models = st.sets(st.sampled_from(PAIRS)).map(sorted)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), terms=models)
def test_means_are_those_of_the_full_table(seed, terms):
    full = table(seed)
    means = Fitter(cells_of(full), 10**6, tolerance=1e-10).fit(terms).means(GRID)
    np.testing.assert_allclose(means, fit_full_table(full, terms).ravel(), atol=1e-7)


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), terms=models)
def test_draws_follow_the_fitted_means(seed, terms):
    model = Fitter(cells_of(table(seed)), 10**6, tolerance=1e-9).fit(terms)
    draws = 40_000
    drawn, means = model.draw(np.random.default_rng(seed).random((5, draws)))
    np.testing.assert_allclose(means, model.means(drawn), rtol=1e-9)
    shares = model.means(GRID) / model.n
    expected = draws * shares
    seen = np.bincount(np.ravel_multi_index(tuple(drawn.T), DOMAINS), minlength=len(GRID))
    assert (seen[expected == 0] == 0).all()
    often = expected > 0
    statistic = ((seen - expected)[often] ** 2 / expected[often]).sum()
    freedom = often.sum() - 1
    assert statistic < freedom + 6 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("terms", [[], [(0, 1)], [(0, 1), (0, 3)], [(1, 4), (0, 1), (2, 3)]])
def test_large_margins_hold_their_positive_cells_only(monkeypatch, terms):
    rng = np.random.default_rng(5)
    keys = np.unique(rng.integers(0, 60, size=(300, 5)), axis=0).astype(np.int32)
    sizes = rng.integers(1, 5, len(keys))
    dense = Fitter(observed_cells(keys, sizes), 10**6).fit(terms)
    monkeypatch.setattr(contingency_table, "_DENSE_PAIR", 0)
    cells = observed_cells(keys, sizes)
    assert isinstance(cells.pair((0, 1)), SparseTable)
    sparse = Fitter(cells, 10**6).fit(terms)
    anywhere = rng.integers(0, np.array(cells.domains), size=(2_000, 5)).astype(np.int32)
    for codes in (cells.codes, anywhere):
        np.testing.assert_allclose(sparse.means(codes), dense.means(codes), rtol=1e-12)
    uniforms = rng.random((5, 500))
    np.testing.assert_array_equal(sparse.draw(uniforms)[0], dense.draw(uniforms)[0])


def test_a_forest_needs_no_table_and_a_triangle_is_refused_above_the_limit():
    cells = cells_of(table(1))
    fitter = Fitter(cells, limit=23)
    assert fitter.feasible([(0, 1), (1, 2), (2, 3), (3, 4)])
    assert fitter.feasible([(1, 2), (2, 3), (1, 3)])  # 18 cells
    triangle = [(0, 1), (1, 2), (0, 2)]  # 24 cells
    assert not fitter.feasible(triangle)
    with pytest.raises(TooManyCellsError):
        fitter.fit(triangle)


def test_a_triangle_that_hangs_on_an_edge_of_another_is_fitted_apart():
    tree = junction_tree(DOMAINS, [(0, 1), (1, 2), (0, 2), (1, 3), (2, 3), (3, 4)])
    assert sorted(node.clique for node in tree.nodes) == [(0, 1, 2), (1, 2, 3), (3, 4)]
    assert len(tree.atoms) == 3
    circle = junction_tree(DOMAINS, [(0, 1), (1, 2), (2, 3), (0, 3)])
    assert sorted(map(len, circle.atoms)) == [1, 2]


def test_lookup_finds_cells_of_a_table_that_no_integer_numbers():
    rng = np.random.default_rng(2)
    keys = np.unique(rng.integers(0, 1_000, size=(5_000, 9)), axis=0).astype(np.int32)
    cells = observed_cells(keys, np.ones(len(keys), dtype=np.int64))
    assert cells.grid > 2**64
    lookup = Lookup(cells)
    order = rng.permutation(len(keys))
    np.testing.assert_array_equal(lookup.find(cells.codes[order]), order)
    other = cells.codes.copy()
    other[:, 4] = (other[:, 4] + 1) % cells.domains[4]
    known = {tuple(row): place for place, row in enumerate(cells.codes)}
    assert lookup.find(other).tolist() == [known.get(tuple(row), -1) for row in other]
