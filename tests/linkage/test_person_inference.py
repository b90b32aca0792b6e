"""Persons by inference: what is expected of them is true where the scores are."""

import numpy as np
import pytest

from sfumato.core.errors import InputError
from sfumato.linkage.linkage_quality import quality_of_pairs
from sfumato.linkage.match_decisions import Decisions, join_workers
from sfumato.linkage.match_thresholds import Pairs
from sfumato.linkage.person_inference import infer_persons


def ambiguous(rng, records=2000):
    """Two files; seven records of ten have their own in the other one, and all have a namesake."""
    truth = np.concatenate([np.arange(records), np.arange(records) + records * 3 // 10])
    left = np.tile(np.arange(records), 2)
    own = np.where(np.arange(records) < records * 3 // 10, -1, np.arange(records))
    right = np.concatenate([own - records * 3 // 10, rng.integers(0, records, records)])
    left, right = left[right >= 0], right[right >= 0] + records
    key = np.unique(left * 2 * records + right)
    left, right = np.divmod(key, 2 * records)
    # scores that are true: of the pairs with score s, the share s are one person's
    same = truth[left] == truth[right]
    share = same.mean()
    signal = rng.normal(np.where(same, 2.0, 0.0))
    odds = share / (1 - share) * np.exp(2 * signal - 2)
    limited = np.repeat([0, 1], records)
    return left, right, odds / (1 + odds), limited, truth


def test_expectation_is_the_truth():
    left, right, score, limited, truth = ambiguous(np.random.default_rng(1))
    found = infer_persons(left, right, score, limited)
    joined = found.label[left] == found.label[right]
    same = truth[left] == truth[right]
    precision, recall = np.mean(same[joined]), np.mean(joined[same])
    assert found.quality[0].value == pytest.approx(precision, abs=0.03)
    assert found.quality[1].value == pytest.approx(recall, abs=0.04)
    assert found.quality[0].low <= found.quality[0].value <= found.quality[0].high
    best = score > 0.5
    assert np.sum(same & joined) - np.sum(~same & joined) > np.sum(same & best) - np.sum(
        ~same & best
    )


def test_persons_that_a_careless_clerk_made_are_held_against_the_scores():
    """Whoever calls the best pair of each record the same joins as many wrongly as is said."""
    left, right, score, limited, truth = ambiguous(np.random.default_rng(1))
    best = np.zeros(len(score), dtype=bool)
    best[
        [np.flatnonzero(left == one)[np.argmax(score[left == one])] for one in np.unique(left)]
    ] = True
    taken = best & (np.bincount(right[best], minlength=len(limited))[right] == 1)
    label = np.arange(len(limited))
    label[right[taken]] = left[taken]
    made = infer_persons(left, right, score, limited).of(label)
    same = truth[left] == truth[right]
    assert made.quality[0].value == pytest.approx(np.mean(same[taken]), abs=0.04)
    assert made.quality[1].value == pytest.approx(np.mean(taken[same]), abs=0.04)
    assert made.weighed is None


def answers_of(*given):
    """Verdicts from answers (left, right, same, worker)."""
    left, right, same, worker = (np.array(each) for each in zip(*given, strict=True))
    count = len(given)
    every = Decisions(
        left, right, worker.astype(object), np.where(same, 3, -3).astype(np.int8),
        np.arange(count), np.zeros(count, dtype=bool),
    )  # fmt: skip
    none = np.zeros(0, dtype=np.int64)
    return join_workers(every, Pairs(none, none, np.zeros(0), {}, none.astype(np.int16)))


@pytest.mark.parametrize("answered", [False, True])
def test_across_and_within_sources_by_counting_in_every_draw(answered):
    """Also where people said that some records are one person's."""
    rng = np.random.default_rng(4)
    truth = np.repeat(np.arange(60), 4)
    source = rng.integers(0, 3, len(truth))
    left, right = np.triu_indices(len(truth), 1)
    some = (truth[left] == truth[right]) | (rng.random(len(left)) < 0.01)
    left, right = left[some], right[some]
    score = np.where(truth[left] == truth[right], 0.7, 0.1)
    verdicts = answers_of(*((n, n + 1, True, "w") for n in range(0, len(truth), 8)))
    made = infer_persons(
        left, right, score, np.full(len(truth), -1), source=source,
        verdicts=verdicts if answered else None, lost=(9.0, 4.0),
    )  # fmt: skip
    for of, lost in ((made.quality, 9.0), (made.across, None), (made.within, None)):
        shares = []
        for draw, out, inside in zip(made.draws, *made.beyond, strict=True):
            whole = quality_of_pairs(made.label, draw)
            apart = quality_of_pairs(made.label, draw, source)
            right_, found, true = (
                (whole.right, whole.found, whole.true + out + inside) if lost
                else (apart.right, apart.found, apart.true + out) if of is made.across
                else (whole.right - apart.right, whole.found - apart.found,
                      whole.true - apart.true + inside)
            )  # fmt: skip
            shares.append((right_ / found, right_ / true))
        assert [each.value for each in of] == pytest.approx(np.median(shares, axis=0).tolist())
    assert made.of(made.label).across[1].value == made.across[1].value
    assert made.stated is made.across


def test_one_record_of_a_source():
    left, right, score, limited, _ = ambiguous(np.random.default_rng(2), 300)
    for label in (infer := infer_persons(left, right, score, limited)).draws:
        assert np.bincount(label).max() <= 2
    assert np.bincount(infer.label).max() <= 2


def test_lost_matches_count():
    left, right, score, limited, _ = ambiguous(np.random.default_rng(3), 300)
    one = infer_persons(left, right, score, limited)
    other = infer_persons(left, right, score, limited, lost=(300.0, 0.0))
    assert other.quality[1].value < 0.6 * one.quality[1].value
    assert other.quality[0].value == one.quality[0].value


@pytest.mark.parametrize("score", [0.99, 0.01])
def test_one_answer_against_the_score_leaves_a_pair_in_doubt_and_two_decide_it(score):
    """Of many alike, which one clerk or three contradict; all others stay as they are."""
    left, right = np.arange(0, 400, 2), np.arange(1, 400, 2)
    limited, said = np.full(400, -1), score < 0.5

    def joined(clerks):
        given = [(n, n + 1, said, clerk) for n in range(0, 20, 2) for clerk in clerks]
        # What they say of other pairs is as the scores have it, so that nobody is known to err.
        given += [(n, n + 1, not said, clerk) for n in range(20, 400, 2) for clerk in clerks]
        found = infer_persons(
            left, right, np.full(200, score), limited, verdicts=answers_of(*given)
        )
        return (found.draws[:, left] == found.draws[:, right]).mean(axis=0), found.weighed

    share, weighed = joined("a")
    assert 0.1 < share[:10].mean() < 0.9
    assert share[:10].mean() == pytest.approx(weighed.probability[:10].mean(), abs=0.1)
    assert abs(share[10:].mean() - (not said)) < 0.02
    share, _ = joined("abc")
    assert abs(share[:10].mean() - said) < 0.05


def test_two_denials_part_a_record_and_not_the_others():
    """A record of three that are likely one person's, called another's than the two by a clerk."""
    left, right = np.array([0, 0, 1]), np.array([1, 2, 2])
    verdicts = answers_of((0, 1, False, "w"), (0, 2, False, "w"))
    shares = []
    for given in (None, verdicts):
        # Forty draws of one triangle tell little: those of several seeds do.
        draws = np.concatenate([
            infer_persons(
                left, right, np.full(3, 0.9), np.full(3, -1), verdicts=given, seed=seed
            ).draws
            for seed in range(10)
        ])  # fmt: skip
        shares.append((draws[:, left] == draws[:, right]).mean(axis=0))
    before, after = shares
    assert before.min() > 0.6
    assert after[:2].max() < 0.25
    assert after[2] > 0.6


def test_a_source_that_has_each_person_once_goes_before_answers():
    """Three clerks who call its records one person's are not believed."""
    none = np.zeros(0, dtype=np.int64)
    verdicts = answers_of(*((0, 1, True, clerk) for clerk in "abc"))
    found = infer_persons(none, none, np.zeros(0), np.zeros(2, np.int64), verdicts=verdicts)
    assert found.label[0] != found.label[1]
    assert np.all(found.draws[:, 0] != found.draws[:, 1])


def test_too_many_limited_sources():
    nothing = np.zeros(0, dtype=np.int64)
    with pytest.raises(InputError, match="at most 64"):
        infer_persons(nothing, nothing, np.zeros(0), np.arange(65))


def test_differing_pairs_are_doubted():
    """Where all values are equal only chance is left; pairs that differ may be wrong together."""
    left, right, score, limited, _ = ambiguous(np.random.default_rng(4))
    equal = {"name": np.full(len(left), 2, dtype=np.int8)}
    differ = {"name": np.where(np.arange(len(left)) % 50, 1, 2).astype(np.int8)}
    one = infer_persons(left, right, score, limited, levels=equal).quality[0]
    other = infer_persons(left, right, score, limited, levels=differ).quality[0]
    assert other.high - other.low > 3 * (one.high - one.low)
