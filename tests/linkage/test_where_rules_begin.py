"""Where rules of a linkage begin and end: each is shown on both of its sides."""

from __future__ import annotations

from types import SimpleNamespace

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.errors import InputError
from sfumato.linkage import (
    answer_evidence,
    candidate_pairs,
    column_counterparts,
    encoding_scores,
    link_model,
    model_fit,
    person_inference,
    spec_suggestion,
    standardisation,
)
from sfumato.linkage.column_counterparts import Content, Form
from sfumato.linkage.column_meanings import is_borne_out
from sfumato.linkage.encoded_table import _field_kind
from sfumato.linkage.encoding import EncodingSpec, FieldEncoding, check_secret
from sfumato.linkage.link_spec import ColumnKind
from sfumato.linkage.match_thresholds import Method, calibrate, thresholds_for_rates
from sfumato.linkage.pair_patterns import rarity


def texts(*values):
    return pa.chunked_array([pa.array(values, pa.string())])


def sql(expression, *values):
    table = pa.table({"a": pa.array(values, pa.string())})
    with duckdb.connect() as connection:
        connection.register("t", table)
        return [row[0] for row in connection.execute(f"SELECT {expression} FROM t").fetchall()]


# ----------------------------------------------------------------------------- pairs, matches


@pytest.mark.parametrize(("pairs", "kinds"), [(8, 2), (7, 1)])
def test_a_kind_of_eight_answered_pairs_has_error_rates_of_its_own(pairs, kinds):
    levels = {"name": np.repeat([1, 0], [20, pairs]), "date": np.repeat([0, 1], [20, pairs])}
    kind, names = answer_evidence.kinds_of_pairs(np.arange(20 + pairs), levels)
    assert len(names) == 1 + kinds
    assert (kind[-1] == 0) is np.bool_(kinds == 1)


@pytest.mark.parametrize(("both", "lost"), [(9.0, False), (10.0, True)])
def test_ten_matches_caught_twice_tell_how_many_are_never_caught(both, lost):
    matches = np.array([both, 40.0, 40.0])
    caught = np.array([[True, True], [True, False], [False, True]])
    assert (candidate_pairs.lost_by_patterns(matches, caught) > 0) is lost


@pytest.mark.parametrize(("count", "steps"), [(1, [0]), (2, [0, -3]), (3, [0, -5])])
def test_values_a_fifth_apart_in_frequency_count_as_equal(count, steps):
    """Beside a value of one record one of two is ln 2 less rare: three steps and a half."""
    counts = np.array([1.0, float(count)][: len(steps)])
    assert (rarity(counts) - rarity(np.ones(len(steps)))).tolist() == steps


@pytest.mark.parametrize(("labels", "method"), [(999, Method.PLATT), (1_000, Method.ISOTONIC)])
def test_a_thousand_labels_are_enough_for_isotonic_regression(labels, method):
    score = np.linspace(0.01, 0.99, labels)
    assert calibrate(score, (score > 0.4).astype(float)).method is method


def test_a_rate_that_is_met_exactly_is_met_though_sums_are_rounded():
    """A tenth of ten pairs is one: 0.1 times 3, 0.3 and the like lie above or below."""
    score = np.linspace(0.95, 0.5, 10)
    probability = np.where(np.arange(10) == 9, 0.0, 1.0)
    found = thresholds_for_rates(
        score, false_match_rate=0.1, missed_match_rate=1.0, probability=probability
    )
    assert found.upper == score[-1]


def test_no_score_is_told_from_another_beyond_forty_bits_but_by_their_order():
    low, high, higher = link_model.scores(np.array([39.0, 41.0, 400.0]))
    assert 1 - low == pytest.approx(2.0**-39, rel=1e-3)
    assert 2.0**-41 < 1 - high < 2.0**-40
    assert high < higher < 1


@pytest.mark.parametrize(("count", "m"), [(20.0, 0.5), (60.0, 0.25)])
def test_a_first_guess_counts_for_twenty_pairs(count, m):
    """Of a level that was never seen, and that was guessed to be that of every match."""
    levels = [{"m_probability": 0.0}, {"m_probability": 1.0}]
    guesses = [{"m_probability": 1.0}, {"m_probability": 0.0}]
    model_fit._lean(levels, guesses, [0, 1], "m_probability", count)
    assert levels[0]["m_probability"] == pytest.approx(m)


def test_up_to_64_sources_may_have_one_record_per_person():
    assert len(person_inference._bits(np.arange(64))) == 64
    with pytest.raises(InputError):
        person_inference._bits(np.arange(65))


def test_rules_make_25_pairs_of_a_record_and_300000_however_few_the_records():
    assert spec_suggestion.wanted_pairs(0, 10**9) == 300_000
    more = spec_suggestion.wanted_pairs(1_000, 10**9) - spec_suggestion.wanted_pairs(0, 10**9)
    assert more == 25_000


# ------------------------------------------------------------------------------------- columns


@pytest.mark.parametrize(("numbers", "form"), [(92, Form.NUMBER), (88, Form.MIXED)])
def test_nine_of_ten_values_say_how_a_column_is_written(numbers, form):
    values = [str(n) for n in range(numbers)] + ["a1"] * (100 - numbers)
    assert Content(texts(*values)).form is form


@pytest.mark.parametrize(("most", "even"), [(28, True), (60, False)])
def test_the_most_frequent_month_of_births_comes_twice_as_often_at_most(most, even):
    months = np.repeat(np.arange(1, 13), [most, *[10] * 11]).astype(float)
    assert column_counterparts._are_even(months, 12) is even


@pytest.mark.parametrize(
    ("filled", "distinct", "kind", "borne_out"),
    [
        (4, 4, None, True),
        (3, 3, None, False),
        (100, 11, ColumnKind.DATE, True),
        (100, 10, ColumnKind.DATE, False),
        (100, 31, ColumnKind.IDENTIFIER, True),
        (100, 29, ColumnKind.IDENTIFIER, False),
    ],
)
def test_what_a_column_must_hold_to_be_compared(filled, distinct, kind, borne_out):
    """A value in 2 of 100 records, eleven dates of birth, numbers of which 3 of 10 differ."""
    values = [f"19{n % distinct:02d}-01-01" for n in range(filled)] + [None] * (200 - filled)
    assert is_borne_out(texts(*values), kind) is borne_out


@pytest.mark.parametrize(("values", "kind"), [(15, "exact"), (16, "ngram")])
def test_fewer_than_16_values_are_compared_as_equal_or_not(values, kind):
    assert _field_kind(texts(*(f"name{n}" for n in range(values))))[0] == kind


def test_numbers_of_telephones_are_their_last_nine_digits_from_five_on():
    said = sql(standardisation.phone_sql("a"), "+44 20 7946 0018", "020 7946 0018", "12345", "1234")
    assert said == ["079460018", "079460018", "12345", None]


def test_one_character_five_times_is_no_number_of_a_person():
    assert sql(standardisation.identifier_sql("a"), "99999", "9999") == [None, "9999"]


def test_years_of_two_digits_are_of_the_twentieth_century_from_30_on():
    assert sql(standardisation._year("a"), "29", "30", "1929") == ["2029", "1930", "1929"]


# ----------------------------------------------------------------------------------- encodings


def test_a_secret_has_sixteen_bytes():
    check_secret(b"k" * 16)
    with pytest.raises(InputError):
        check_secret(b"k" * 15)


def test_an_encoding_has_as_many_fields_as_hkdf_has_keys_for():
    """RFC 5869: 255 blocks of a hash of 32 bytes; a field takes two keys of 64."""
    fields = tuple(
        FieldEncoding(column=str(n), comparison="exact", n=1, bits=10) for n in range(64)
    )
    assert len(EncodingSpec(fields=fields[:63]).fields) == 255 * 32 // (2 * 64)
    with pytest.raises(InputError):
        EncodingSpec(fields=fields)


@pytest.mark.parametrize("scores", [29, 30])
def test_thirty_scores_of_each_kind_are_enough_to_fit(scores):
    rng = np.random.default_rng(1)
    best, second = rng.beta(20, 3, scores), rng.beta(5, 15, scores)
    if scores < 30:
        with pytest.raises(InputError):
            encoding_scores.fit_scores(best, second)
    else:
        assert encoding_scores.fit_scores(best, second).probability(np.array([1.0]))[0] > 0.5


def test_about_ten_pairs_of_a_record_are_as_alike_by_chance():
    rng = np.random.default_rng(1)
    words = rng.integers(0, 1 << 63, (400, 8), dtype=np.uint64)

    class Encoded(SimpleNamespace):
        def __len__(self):
            return 400

    one, other = (
        Encoded(words=each, counts=np.bitwise_count(each).sum(axis=1, dtype=np.int64))
        for each in (words, rng.permutation(rng.integers(0, 1 << 63, (400, 8), dtype=np.uint64)))
    )
    least = encoding_scores.chance_similarity(one, other, rng)
    common = np.bitwise_count(one.words[:, None] & other.words[None]).sum(axis=2, dtype=np.int64)
    dice = 2 * common / (one.counts[:, None] + other.counts[None])
    assert (dice >= least).sum() / 400 == pytest.approx(10, abs=2)
