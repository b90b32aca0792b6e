"""Pairs drawn for review: rates against an integral, draws without bias, what is known."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first
from scipy.special import expit

from sfumato.linkage.answer_evidence import Worlds, kinds_of_pairs, weigh
from sfumato.linkage.match_decisions import Decisions, join_workers
from sfumato.linkage.match_thresholds import Pairs, Records
from sfumato.linkage.next_batch import with_pairs
from sfumato.linkage.review_sample import (
    CHAINED,
    DOUBT,
    NONE_ASKED,
    WIDER,
    Asked,
    ReviewSample,
    Wider,
    wider_blocks,
)
from sfumato.linkage.reviewed_persons import (
    _answers,
    _known_in_draws,
    _lumps,
    _misjudged,
    learn,
)
from sfumato.linkage.reviewed_rates import NO_PATTERN, Cells, draw_rates, instrument, rounded

NO_WIDER = Wider(*(np.empty(0, np.int64) for _ in range(5)))


@pytest.mark.parametrize("odds", fast_first(2, [1.0, -6.0, 5.0]))
@pytest.mark.parametrize("error", [0.0, 0.1])
def test_rates_of_one_cell_are_those_of_an_integral(odds, error):
    """The mean rate given answers, some of them wrong, against a sum over a fine grid."""
    cells = Cells(np.array([odds]), np.array([NO_PATTERN]), np.array([0]))
    sd, centre = float(np.sqrt(cells.covariance()[0, 0])), float(cells.centre()[0])
    grid = centre + sd * np.linspace(-8, 8, 20_001)
    rate = error + (1 - 2 * error) * expit(grid)
    for same, answered in ((0, 0), (3, 10), (12, 12), (1, 40)):
        density = -0.5 * ((grid - centre) / sd) ** 2
        density += same * np.log(rate) + (answered - same) * np.log1p(-rate)
        density = np.exp(density - density.max())
        wanted = float(density @ expit(grid) / density.sum())
        drawn = draw_rates(
            cells, np.array([same]), np.array([answered]), np.random.default_rng(1),
            scale=1.0, error=error,
        )  # fmt: skip
        assert expit(drawn).mean() == pytest.approx(wanted, abs=0.05)


def test_answers_move_cells_that_differ_in_the_same_columns_most():
    """A cell without answers follows one of its pattern more than one of another."""
    cells = Cells(np.array([3.0, 3.0, 3.0]), np.array([1, 1, 2]), np.arange(3))
    rng = np.random.default_rng(2)
    drawn = draw_rates(cells, np.array([0, 0, 0]), np.array([20, 0, 0]), rng, scale=1.0)
    own, alike, other = drawn.mean(axis=0)
    assert own < alike < other < cells.centre()[2]


def test_the_batch_is_as_large_as_wanted_and_no_stratum_is_passed_over():
    """Expected numbers add up, keep to what is left, and are above 0 where a pair is left."""
    left = np.array([100_000, 30, 500, 0, 3])
    expected = instrument(
        left,
        np.array([1e-5, 0.5, 0.99, 0.5, 0.5]),
        np.array([1e-10, 0.05, 1e-4, 0.05, 0.08]),
        np.array([10.0, 0.05, 1.0, 0.1, 0.01]),
        np.array([0.1, 20.0, 5.0, 0.0, 9.0]),
        np.zeros(5),
        50,
    )
    assert expected.sum() == pytest.approx(50)
    assert np.all(expected <= left)
    assert np.all(expected[left > 0] > 0)
    rng = np.random.default_rng(3)
    drawn = np.array([rounded(expected, rng) for _ in range(4000)])
    assert np.all(drawn.sum(axis=1) == 50)
    assert np.all(drawn <= left)
    assert drawn.mean(axis=0) == pytest.approx(expected, abs=0.05)


def linkage(rng, persons=300):
    """Two tables of the same persons, pairs of all scores, and persons by score 1/2."""
    score = np.concatenate([rng.beta(9, 1, persons), rng.beta(1, 9, 3 * persons)])
    right = rng.integers(0, persons, 3 * persons)
    left = (right + 1 + rng.integers(0, persons - 1, 3 * persons)) % persons
    left = np.concatenate([np.arange(persons), left])
    right = np.concatenate([np.arange(persons), right]) + persons
    _, first = np.unique(left * 2 * persons + right, return_index=True)
    left, right, score = left[first], right[first], score[first]
    ids = tuple(pa.array([f"{s}{n}" for n in range(persons)], pa.large_string()) for s in "ab")
    pairs = Pairs(left, right, score, {}, np.zeros(len(left), np.int16))
    person = np.arange(2 * persons)
    for one, two in zip(left[score > 0.5], right[score > 0.5], strict=True):
        person[person == person[two]] = person[one]
    return Records(("a", "b"), ids), pairs, np.unique(person, return_inverse=True)[1]


def sample_of(records, pairs, person):
    none = np.empty(0, np.int64)
    limited = np.full(records.count, -1)
    return ReviewSample(records, pairs, person, none, np.empty(0), DOUBT, limited, 0.0)


def nobody(pairs):
    return join_workers(decisions(pairs, np.empty(0, np.int64), np.empty(0, bool)), pairs), None


def weighed(verdicts, pairs):
    """Verdicts and what they are worth against the scores."""
    before = np.log(pairs.score[verdicts.pair] / (1 - pairs.score[verdicts.pair]))
    kinds = kinds_of_pairs(verdicts.pair, pairs.levels)
    worlds = Worlds(before[None] > 0, np.abs(before), np.arange(len(before)))
    return verdicts, weigh(verdicts, worlds, kinds, 40, np.random.default_rng(1))


def decisions(pairs, number, same):
    return Decisions(
        pairs.left[number],
        pairs.right[number],
        np.array(["w"] * len(number), dtype=object),
        np.where(same, 3, -3).astype(np.int8),
        np.arange(len(number)),
        np.zeros(len(number), np.bool_),
    )


def test_strata_count_every_pair_once():
    """By rules and chained: all pairs within persons, and all others by rules."""
    records, pairs, person = linkage(np.random.default_rng(4))
    sample = sample_of(records, pairs, person)
    within = sum(n * (n - 1) // 2 for n in np.bincount(person).tolist())
    explicit = int(np.count_nonzero(person[pairs.left] == person[pairs.right]))
    assert sample.size[:CHAINED].sum() == len(pairs)
    assert sample.size[CHAINED] == within - explicit


def test_totals_weighted_by_the_recorded_chances_have_no_bias():
    """The mean over many batches of sums by 1/chance is the number of pairs of a kind."""
    records, pairs, person = linkage(np.random.default_rng(5))
    sample = sample_of(records, pairs, person)
    kind = np.random.default_rng(6).random(len(pairs)) < pairs.score
    learned = learn(sample, NONE_ASKED, nobody(pairs), person, None, np.random.default_rng(7))
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        left, right, stratum, chance, _ = sample.draw(
            NONE_ASKED, nobody(pairs)[0], learned.rates, NO_WIDER, 60, rng
        )
        own = stratum < CHAINED
        _, number = with_pairs(pairs, left[own], right[own], records.count)
        found.append(float((kind[number] / chance[own]).sum()))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - np.count_nonzero(kind)) < 4 * error
    assert error < 0.1 * np.count_nonzero(kind)


def test_when_all_is_answered_only_wrong_answers_are_open():
    """Precision and recall are those of the truth, as counted pair by pair, but for these."""
    records, pairs, person = linkage(np.random.default_rng(8), persons=60)
    sample = sample_of(records, pairs, person)
    truth = np.concatenate([np.arange(60), np.arange(60)])
    number = np.arange(len(pairs))
    verdicts = join_workers(
        decisions(pairs, number, truth[pairs.left] == truth[pairs.right]), pairs
    )
    one = np.ones(len(pairs))
    asked = Asked(number, sample.stratum, one.astype(np.int64), one, pairs.score)
    judged = np.where(np.arange(120) % 60 < 50, truth, np.arange(120) + 1000)
    judged = np.unique(judged, return_inverse=True)[1]
    rng = np.random.default_rng(9)
    learned = learn(sample, asked, weighed(verdicts, pairs), judged, None, rng)
    assert learned.precision.value == pytest.approx(1, abs=0.01)
    assert learned.recall.low < 50 / 60 < learned.recall.high
    assert learned.recall.value == pytest.approx(50 / 60, abs=0.05)
    assert not sample.left(asked, verdicts)[0].any()


def test_persons_are_judged_by_the_draws_given_the_answers():
    """Where all draws agree with the persons nothing is open, whatever the scores say."""
    records, pairs, person = linkage(np.random.default_rng(12), persons=100)
    sample, rng = sample_of(records, pairs, person), np.random.default_rng(13)
    sure = np.tile(person, (40, 1))
    learned = learn(sample, NONE_ASKED, nobody(pairs), person, sure, rng)
    assert learned.precision.value == 1
    assert learned.precision.low > 0.95
    apart = np.where(np.arange(40)[:, None] < 20, np.arange(records.count), person)
    learned = learn(sample, NONE_ASKED, nobody(pairs), person, apart, rng)
    assert learned.precision.value == pytest.approx(0.5, abs=0.1)


def test_pairs_that_no_draw_joins_say_nothing_of_those_that_no_score_suspects():
    """Twelve likely pairs, apart in all draws and one person's in truth, beside 19,900 unlikely.

    Six answers "same" where no draw foretold it leave the unlikely ones as rare as their scores.
    """
    left, right = np.triu_indices(200, 1)
    score = np.full(len(left), 1e-6)
    score[::1700] = 0.6
    ids = (pa.array([str(n) for n in range(1200)], pa.large_string()),)
    within = np.arange(200, 1200, 2), np.arange(201, 1200, 2)
    left, right = np.append(left, within[0]), np.append(right, within[1])
    score = np.append(score, np.full(500, 0.999))
    records = Records(("a",), ids)
    pairs = Pairs(left, right, score, {}, np.zeros(len(left), np.int16))
    person = np.append(np.arange(200), 200 + np.repeat(np.arange(500), 2))
    sample, draws = sample_of(records, pairs, person), np.tile(person, (40, 1))
    before = learn(sample, NONE_ASKED, nobody(pairs), person, draws, np.random.default_rng(1))
    likely = np.flatnonzero(score == 0.6)[:6]
    one = np.ones(6)
    asked = Asked(
        likely, sample.stratum[likely], one.astype(np.int64), one, before.rates.foretold[likely]
    )
    verdicts = join_workers(decisions(pairs, likely, one > 0), pairs)
    now = person.copy()
    for number in likely.tolist():
        now[now == now[right[number]]] = now[left[number]]
    now = np.unique(now, return_inverse=True)[1]
    rng, answers = np.random.default_rng(1), weighed(verdicts, pairs)
    learned = learn(sample, asked, answers, now, np.tile(now, (40, 1)), rng)
    unlikely = score < 0.5
    assert learned.rates.probability[unlikely].mean() < 1.2e-4
    assert learned.recall.value == pytest.approx(0.98, abs=0.02)


def test_answers_between_two_persons_count_as_one():
    """Of nine pairs between two persons of three records, six answered; and one pair elsewhere."""
    left, right = (each.ravel() for each in np.meshgrid(np.arange(3), np.arange(3, 6)))
    left, right = np.append(left, 6), np.append(right, 7)
    ids = (pa.array([str(n) for n in range(8)], pa.large_string()),)
    pairs = Pairs(left, right, np.full(10, 0.5), {}, np.zeros(10, np.int16))
    sample = sample_of(Records(("a",), ids), pairs, np.array([0, 0, 0, 1, 1, 1, 2, 3]))
    number, said = np.array([0, 1, 2, 3, 4, 5, 9]), np.array([1, 1, 1, 1, 1, 1, 0]) > 0
    one = np.ones(7)
    asked = Asked(number, sample.stratum[number], one.astype(np.int64), one, 0.5 * one)
    verdicts = join_workers(decisions(pairs, number, said), pairs)
    _, same, answered, wrong = _answers(sample, asked, weighed(verdicts, pairs), None)
    assert same.sum() == pytest.approx(1)
    assert answered.sum() == pytest.approx(2)
    assert np.all((wrong > 0) & (wrong < 0.2))


def test_what_came_into_persons_is_no_longer_lost():
    """Two persons of three records become one by one pair: eight that no rule brought together."""
    ids = (pa.array([str(n) for n in range(6)], pa.large_string()),)
    pairs = Pairs(np.array([0]), np.array([3]), np.array([0.5]), {}, np.zeros(1, np.int16))
    sample = replace(sample_of(Records(("a",), ids), pairs, np.array([0, 0, 0, 1, 1, 1])), lost=8.0)
    rng, now = np.random.default_rng(18), np.zeros(6, np.int64)
    found = [
        learn(sample, NONE_ASKED, nobody(pairs), person, np.tile(person, (40, 1)), rng)
        for person in (sample.person, now)
    ]
    assert found[0].recall.value == pytest.approx(6 / 14, abs=0.1)
    assert found[1].recall.value > 0.9


def test_lumps_are_those_counted_person_by_person():
    """Of records of which three are wrong about a person of five: six pairs, not one by one."""
    person = np.array([0, 0, 0, 0, 0, 1, 1])
    drawn = np.array([[0, 0, 0, 1, 1, 2, 3], [0, 0, 0, 0, 0, 0, 0]])
    for counted, lump in zip(([6, 1], [10]), _lumps(drawn, person), strict=True):
        assert lump == pytest.approx(sum(n * n for n in counted) / sum(counted))


def test_wrong_answers_count_with_all_pairs_of_both_persons():
    """By score: in each draw the pairs that the answers join, or part, that are wrong in it."""
    records, pairs, _ = linkage(np.random.default_rng(16))
    number, before = np.arange(300), np.arange(records.count) // 3
    left, right = pairs.left[:300], pairs.right[:300]
    sizes = [np.count_nonzero(before == before[e]) for e in (*left, *right)]
    both = np.prod(np.reshape(sizes, (2, -1)), axis=0)
    for said in (True, False):
        now = np.zeros(records.count, np.int64) if said else before
        verdicts, worth = weighed(
            join_workers(decisions(pairs, number, said * both > 0), pairs), pairs
        )
        found = _misjudged(verdicts, worth, (now, before))
        wide = both.copy()
        wide[before[left] == before[right]] = 2 if said else 0
        place = np.argsort(left * records.count + right)
        wrong = worth.wrong & worth.believed
        assert found[not said].tolist() == (wrong @ wide[place]).tolist()
        assert found[not said].any()
        assert not found[said].any()


def test_pairs_that_answers_imply_are_right_or_wrong_as_each_draw_has_them():
    """Three records by two answers one person's: of the three pairs two are wrong in a draw."""
    ids = (pa.array([str(n) for n in range(5)], pa.large_string()),)
    pairs = Pairs(
        np.array([0, 1, 3]), np.array([1, 2, 4]), np.full(3, 0.5), {}, np.zeros(3, np.int16)
    )
    person = np.array([0, 0, 0, 1, 2])
    sample = sample_of(Records(("a",), ids), pairs, person)
    given = decisions(pairs, np.arange(3), np.array([True, True, False]))
    draws = np.array([[0, 0, 0, 1, 2], [0, 1, 1, 2, 2]])
    wrong, missed = _known_in_draws(sample, join_workers(given, pairs), person, draws)
    assert wrong.tolist() == [0, 2]
    assert missed.tolist() == [0, 1]


def test_wider_blocks_count_as_every_pair_counted():
    """The number of pairs that agree in two columns and three, against all pairs of records."""
    records, pairs, _ = linkage(np.random.default_rng(10), persons=80)
    rng = np.random.default_rng(11)
    values = [rng.integers(-1, 6, records.count) for _ in range(3)]
    person, limited = np.arange(records.count), np.full(records.count, -1)
    wider = wider_blocks(
        values, records, pairs, person, limited, rng, within=False, bits=[(3.0, -1.0)] * 3
    )
    there = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    count = np.zeros(4)
    for one in range(80):
        for two in range(80, 160):
            agree = sum(v[one] == v[two] >= 0 for v in values)
            count[agree] += (one, two) not in there
    assert wider.size == pytest.approx(count[2:], rel=0.08)
    assert np.all(wider.rate[0] < wider.rate[1])
    assert not there & set(zip(wider.left.tolist(), wider.right.tolist(), strict=True))
    assert WIDER == CHAINED + 1
