"""m from all candidate pairs, where training rules mislead."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sfumato.examples.clinics import generate_clinics
from sfumato.examples.registrations import generate_registrations
from sfumato.linkage.link_model import (
    LevelWeight,
    distinct_patterns,
    fit_prior,
    weight_change,
)
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.model_fit import fit_and_score, refit_m
from sfumato.linkage.spec_suggestion import suggest_links

pytestmark = pytest.mark.usefixtures("few_random_pairs")

M = {"name": (0.1, 0.9), "date": (0.05, 0.95), "place": (0.2, 0.8)}
U = {"name": (0.98, 0.02), "date": (0.99, 0.01), "place": (0.9, 0.1)}


def weights(m):
    return [
        LevelWeight(name, level, "", m[name][level], U[name][level], by_frequency=False)
        for name in m
        for level in (1, 0)
    ]


def drawn(matches, others, rng):
    true = np.arange(matches + others) < matches
    share = {n: np.where(true, M[n][1], U[n][1]) for n in M}
    levels = {n: (rng.random(len(true)) < each).astype(np.int8) for n, each in share.items()}
    levels["place"][rng.random(len(true)) < 0.1] = -1
    return true, levels


def evidence_of(levels, own):
    evidence = np.zeros(len(levels["name"]))
    for w in own:
        evidence[levels[w.comparison] == w.level] += np.log2(w.m / w.u)
    return evidence


def test_a_wrong_m_is_put_right():
    true, levels = drawn(4_000, 60_000, np.random.default_rng(0))
    wrong = weights({**M, "date": (0.4, 0.6)})
    evidence = evidence_of(levels, wrong)
    fitted = refit_m(evidence, levels, wrong, len(true), prior=0.01)
    for w in fitted:
        assert_allclose(w.m, M[w.comparison][w.level], atol=0.03)
        assert w.u == U[w.comparison][w.level]
    change = weight_change(levels, wrong, fitted)
    assert_allclose(evidence + change, evidence_of(levels, fitted), atol=1e-9)
    prior = fit_prior(evidence + change, levels, fitted, len(true), correct_u=False).prior
    assert_allclose(prior * len(true), 4_000, rtol=0.05)


def test_every_second_pair_says_nearly_the_same(monkeypatch):
    true, levels = drawn(4_000, 60_000, np.random.default_rng(1))
    own = weights(M)
    evidence = evidence_of(levels, own)
    whole = refit_m(evidence, levels, own, len(true), prior=0.05)
    monkeypatch.setattr("sfumato.linkage.model_fit.MOST_PAIRS", 20_000)
    part = refit_m(evidence, levels, own, len(true), prior=0.05)
    assert_allclose([w.m for w in part], [w.m for w in whole], atol=0.05)
    assert [w.m for w in part] != [w.m for w in whole]


def test_few_pairs_leave_the_first_guess_and_neutral_levels_stay():
    levels = {"name": np.array([1, 0], np.int8), "date": np.array([1, -1], np.int8)}
    neutral = LevelWeight("date", 0, "", 0.001, 0.001, by_frequency=False)
    own = [w for w in weights(M) if w.comparison == "name"]
    own += [LevelWeight("date", 1, "", 0.9, 0.01, by_frequency=False), neutral]
    fitted = refit_m(evidence_of(levels, own), levels, own, 100, prior=0.01)
    assert fitted[-1] == neutral
    assert_allclose(fitted[0].m, 0.9, atol=0.01)


def test_no_pairs_leave_everything():
    own = weights(M)
    empty = {name: np.empty(0, np.int8) for name in M}
    fitted = refit_m(np.empty(0), empty, own, 100, prior=0.01)
    assert_allclose([w.m for w in fitted], [w.m for w in own])


def test_distinct_patterns_are_all_patterns():
    rng = np.random.default_rng(2)
    levels = {str(i): rng.integers(-1, 120, 500).astype(np.int8) for i in range(30)}
    levels["0"][:250], levels["0"][250:] = 3, 4
    distinct, pattern = distinct_patterns(levels)
    for name, each in levels.items():
        assert_array_equal(distinct[name][pattern], each)
    small = {name: each % 2 for name, each in list(levels.items())[1:4]}
    assert len(distinct_patterns(small)[0]["1"]) == 8


def test_patterns_make_no_difference_to_the_prior():
    true, levels = drawn(500, 20_000, np.random.default_rng(3))
    own = weights(M)
    evidence = evidence_of(levels, own)
    distinct, pattern = distinct_patterns(levels)
    one = fit_prior(evidence, levels, own, len(true), correct_u=True)
    other = fit_prior(evidence, distinct, own, len(true), correct_u=True, pattern=pattern)
    assert one.prior == other.prior
    assert_allclose(one.weight, other.weight)


@pytest.mark.slow
def test_values_that_go_together_do_not_mislead():
    """Names go with years of birth; still nearly all true matches are said to have one date.

    Twins, and fathers and sons of one name, are left in doubt.
    """
    pytest.importorskip("splink")
    made = generate_registrations(generate_clinics(5_000, rng=1))
    tables = {"hospital": made.hospital, "practice": made.practice}
    with open_sources(tables, suggest_links(tables, id_column="patient").spec) as opened:
        pairs, model = fit_and_score(opened)
    m = {w.level: w.m for w in model.weights if w.comparison == "date_of_birth"}
    assert m[6] > 0.935
    assert m[1] + m[2] < 0.01
    possible = np.sum((pairs.score >= 0.1) & (pairs.score < 0.9))
    assert possible < 0.08 * np.sum(pairs.score >= 0.9)
