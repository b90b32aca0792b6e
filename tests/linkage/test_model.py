"""The model: levels, training, prior, scores; what Splink says stays inside."""

import json
import logging
import math
from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linkage.linked_tables import two_clinics
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.optional_packages import quiet
from sfumato.examples import generate_clinics
from sfumato.examples.registrations import generate_registrations, write_registrations
from sfumato.linkage.candidate_pairs import (
    RulePairs,
    check_pairs,
    lost_by_patterns,
    make_tables,
    rules_on_columns,
)
from sfumato.linkage.comparison_levels import (
    by_record,
    date_levels,
    given_name_levels,
    level_sql,
    rule_sql,
    settings_from,
    surname_levels,
)
from sfumato.linkage.link_engine import connect
from sfumato.linkage.link_model import LevelWeight, fit_prior, load_model, scores
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.link_spec import LinkSpec, Mode, spec_of_settings
from sfumato.linkage.model_fit import BELIEF, fit_and_score, steadied
from sfumato.linkage.spec_suggestion import suggest_links

pytestmark = pytest.mark.usefixtures("few_random_pairs")

COLUMNS = {
    "given_name": "given name",
    "surname": "surname",
    "dob": "date",
    "postcode": "postcode",
    "phone": "phone",
}
RULES = ["phone", "surname + dob:year", "given_name + postcode", "dob"]


def link(tables, model=None, **fields):
    fields = {"id": "id", "columns": COLUMNS, "blocking": RULES, **fields}
    spec = fields["spec"] if "spec" in fields else LinkSpec(**fields)
    with open_sources(dict(zip("abc", tables, strict=False)), spec) as opened:
        pairs, model = fit_and_score(opened, model=model)
    return opened.records, pairs, model


@pytest.fixture(scope="module")
def linked():
    return link(two_clinics())


def true_of(records, pairs, shared=300):
    ids = pa.chunked_array(records.ids).to_pylist()
    number = np.array([int(name[1:]) for name in ids])
    same = number[pairs.left] == number[pairs.right]
    return same & (number[pairs.left] < shared)


def test_pairs_are_found_and_scored(linked):
    records, pairs, model = linked
    assert_array_equal(np.lexsort((pairs.right, pairs.left)), np.arange(len(pairs)))
    assert np.all(pairs.left < 400)
    assert np.all(pairs.right >= 400)
    assert set(pairs.levels) == set(COLUMNS)
    assert pairs.block.max() < len(RULES)
    true = true_of(records, pairs)
    match = pairs.score >= 0.5
    assert np.mean(true[match]) > 0.99
    assert np.sum(true & match) >= 0.98 * 300
    assert model.comparisons == 400 * 400
    assert_allclose(model.prior, 300 / 400**2, rtol=0.03)
    assert model.candidates == sum(rule.pairs for rule in model.rules) >= len(pairs)
    assert 0 <= model.lost < 10
    assert model.impossible == {"dob": 0}
    assert model.notes == ()


def test_levels_say_what_was_compared(linked):
    _, pairs, model = linked
    highest = {}
    for weight in model.weights:
        highest.setdefault(weight.comparison, weight)
    for name, level in pairs.levels.items():
        assert level.dtype == np.int8
        assert level.min() >= -1
        assert level.max() == highest[name].level
        assert highest[name].label == "equal"
        assert highest[name].weight > 3


def test_the_same_run_gives_the_same_scores(linked):
    _, pairs, model = linked
    _, again, model_again = link(two_clinics())
    assert_array_equal(again.score, pairs.score)
    assert_array_equal(again.left, pairs.left)
    assert model_again.settings == model.settings


def test_a_saved_model_scores_again(linked, tmp_path):
    _, pairs, model = linked
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.settings == model.settings
    _, again, _ = link(two_clinics(), loaded)
    before, after = (
        {(a, b): s for a, b, s in zip(p.left, p.right, p.score, strict=True) if s > 0.01}
        for p in (pairs, again)
    )
    assert before.keys() == after.keys()
    # how many pairs have each relation is found anew: to 1e-4, and to 1e-3 of few drawn pairs
    assert_allclose([after[pair] for pair in before], list(before.values()), atol=1e-3)
    with pytest.raises(InputError, match="found others: dob, given_name, phone, postcode"):
        link(two_clinics(), loaded, columns={"surname": "surname"}, blocking=["surname"])


def test_no_value_of_the_data_is_in_a_model(linked):
    text = json.dumps(linked[2].settings)
    columns = ("given_name", "surname", "dob", "phone")
    values = {v for table in two_clinics() for name in columns for v in table[name].to_pylist()}
    assert not [value for value in values if value and value in text]


@pytest.mark.slow
def test_dedupe_and_several_sources():
    one, two = two_clinics(200, 150)
    both = pa.concat_tables([one.drop_columns("diagnosis"), two.drop_columns("cost")])
    records, pairs, model = link([both], mode="dedupe-only")
    assert np.sum(true_of(records, pairs, 150) & (pairs.score > 0.5)) >= 145
    assert model.comparisons == 400 * 399 // 2
    records, across, model = link([one, two, one], mode="link-and-dedupe")
    assert model.comparisons == 600 * 599 // 2
    assert np.sum(true_of(records, across, 150) & (across.score > 0.5)) >= 3 * 145
    records, across, model = link([one, two, one], model)
    assert model.comparisons == 3 * 200 * 200
    assert np.all(records.source_of(across.left) < records.source_of(across.right))


@pytest.mark.slow
def test_a_few_records_are_linked_by_first_guesses():
    one, two = (table.slice(0, 8) for table in two_clinics())
    records, pairs, model = link([one, two])
    true = true_of(records, pairs)
    assert np.sum(true & (pairs.score > 0.5)) >= 7
    assert np.all(true[pairs.score > 0.5])
    assert any("not be estimated" in note for note in model.notes)


@pytest.mark.slow
def test_a_session_that_fails_leaves_every_comparison(tmp_path):
    """20 persons: no pair of some training rule differs in anything, and Splink gives up."""
    write_registrations(generate_registrations(generate_clinics(20, rng=2020)), tmp_path)
    tables = {name: tmp_path / f"patients_{name}.csv" for name in ("hospital", "practice")}
    spec = suggest_links(tables, mode=Mode.LINK_AND_DEDUPE, id_column="patient").spec
    with open_sources(tables, spec) as opened:
        _, model = fit_and_score(opened)
    compared = {each.comparison for each in model.weights}
    assert {"given_name", "surname", "date_of_birth"} <= compared


@pytest.mark.slow
def test_a_rule_that_makes_matches_beyond_doubt_is_no_session():
    """Odds of 1 in nothing: columns of so many values that no two persons share one."""
    rng = np.random.default_rng(0)
    ids = [f"{number}" for number in range(300)]
    one = {f"n{k}": rng.integers(10**8, 10**9, 300).astype(str) for k in range(12)}
    two = {name: np.where(rng.random(300) < 0.05, "1" * 9, cells) for name, cells in one.items()}
    tables = [pa.table({"id": ids, "key": ids, **columns}) for columns in (one, two)]
    kinds = dict.fromkeys(("key", *one), "identifier")
    _, pairs, model = link(tables, columns=kinds, blocking=["key", "n0", "n1"])
    assert np.all(pairs.score > 0.99)
    assert {each.comparison for each in model.weights} == set(kinds)


@pytest.mark.slow
def test_settings_of_splink_are_taken_as_they_are(linked):
    trained = dict(linked[2].settings)
    spec = spec_of_settings({**trained, "unique_id_column_name": "id"})
    records, pairs, model = link(two_clinics(), spec=spec)
    assert model.prior == linked[2].prior
    assert true_of(records, pairs)[pairs.score > 0.5].mean() > 0.99
    levels = [{"sql_condition": "phone_l IS NULL OR phone_r IS NULL", "is_null_level": True}]
    levels += [{"sql_condition": "phone_l = phone_r"}, {"sql_condition": "ELSE"}]
    untrained = {
        "link_type": "link_only",
        "unique_id_column_name": "id",
        "comparisons": [{"comparison_levels": levels, "output_column_name": "phone"}],
        "blocking_rules_to_generate_predictions": ["l.dob = r.dob", "l.phone = r.phone"],
    }
    records, pairs, model = link(two_clinics(), spec=spec_of_settings(untrained))
    assert set(pairs.levels) == {"phone"}
    assert np.all(pairs.levels["phone"][pairs.score > 0.9] == 1)


def test_too_many_pairs_are_refused_before_scoring():
    with pytest.raises(InputError, match=r"at most 100 candidate pairs; found [\d,]+ pairs"):
        link(two_clinics(), max_pairs=100, blocking=["surname"])
    with pytest.raises(
        InputError, match="about 1,000,000,000 pairs, 999,999,999 of them by rule 2"
    ):
        check_pairs([RulePairs("", 1), RulePairs("", 999_999_999)], 10**8, about=True)
    with pytest.raises(InputError, match="must bring records together"):
        check_pairs([RulePairs("", 0)], 10, about=False)


@pytest.mark.parametrize(
    "error",
    [duckdb.ConversionException("canary"), ValueError("canary"), KeyError("canary")],
)
def test_errors_are_said_without_their_words(error):
    with (
        pytest.raises(SfumatoError, match="could not link: it stopped with") as caught,
        quiet("link"),
    ):
        raise error
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_nothing_is_logged(caplog, capfd):
    before = logging.getLogger("splink").level
    with caplog.at_level(logging.DEBUG):
        few = {name: COLUMNS[name] for name in ("given_name", "surname", "dob")}
        link([table.slice(0, 50) for table in two_clinics()], columns=few, blocking=["dob"])
    assert [r for r in caplog.records if r.name.startswith(("splink", "sqlglot"))] == []
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("splink").level == before


# ---------------------------------------------------------------------------------- levels


def level_of(levels, **values):
    """Label of the first level whose condition holds."""
    columns = {f"{k}_{s}": v for k, pair in values.items() for s, v in zip("lr", pair, strict=True)}
    cases = " ".join(
        f"WHEN {level.sql} THEN '{level.label}'" for level in levels if level.sql != "ELSE"
    )
    select = ", ".join(f'CAST(${i + 1} AS VARCHAR) AS "{n}"' for i, n in enumerate(columns))
    sql = f"SELECT CASE {cases} ELSE 'different' END FROM (SELECT {select})"
    return duckdb.execute(sql, list(columns.values())).fetchall()[0][0]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("1980-03-04", "1980-03-04", "equal"),
        ("1980-03-04", "1980-03-14", "one character differs"),
        ("1980-03-04", "1980-03-40", "one character differs"),
        ("1980-03-12", "1980-12-03", "day and month swapped"),
        ("1980-03-04", "1980-03-29", "two of day, month and year"),
        ("1980-03-04", "1967-03-04", "two of day, month and year"),
        ("1980-03-04", "1981-11-22", "at most one year apart"),
        ("1980-03-04", "1972-11-22", "at most ten years apart"),
        ("1980-03-04", "1950-11-22", "different"),
    ],
)
def test_levels_of_dates(one, other, expected):
    assert level_of(date_levels("d"), d=(one, other)) == expected


@pytest.mark.parametrize(
    ("given", "surname", "expected"),
    [
        (("anna", "anna"), ("lee", "lee"), ("equal", "equal")),
        (
            ("anna", "lee"),
            ("lee", "anna"),
            ("swapped with the surname", "swapped with given names"),
        ),
        (
            ("anna", "leeson"),
            ("leesson", "ana"),
            ("swapped with the surname", "swapped with given names"),
        ),
        (("anna", "lee"), ("brown", "anna"), ("different", "different")),
        (("michael", "micheal"), ("smith", "smyth"), ("similar", "similar")),
        (("anna maria", "anna"), ("smith lee", "lee"), ("in part", "in part")),
        (("a", "anna"), ("smith", "jones"), ("in part", "different")),
    ],
)
def test_levels_of_names(given, surname, expected):
    first, last = given_name_levels("g", "s", formal=False), surname_levels("s", "g")
    assert (level_of(first, g=given, s=surname), level_of(last, g=given, s=surname)) == expected


def test_parts_taken_once_for_each_record_give_the_same_levels():
    """Against the conditions as they stand; swaps, slips and other lengths are among the values."""
    rng = np.random.default_rng(4)
    digits = rng.integers(1, 3, (200, 4)).astype(str)
    values = pa.table(
        {
            "day": [f"19{a}{b}-0{c}-{d}{a}" for a, b, c, d in digits.tolist()],
            "zip": ["".join(row)[: rng.integers(3, 5)] + "1" for row in digits],
            "mail": [f"{''.join(row)}@{row[0]}" for row in digits],
        }
    )
    columns = {"day": "date", "zip": "postcode", "mail": "email"}
    given = settings_from(LinkSpec(columns=columns, blocking=["day"]))["comparisons"]
    changed, asked = by_record(given)
    assert asked
    with duckdb.connect() as database:
        database.register("values_", values)
        database.execute(
            "CREATE TABLE records AS SELECT *, "
            + ", ".join(f"{sql} AS {name}" for name, sql in asked.items())
            + " FROM values_"
        )
        sides = ", ".join(f"{s}.{n} AS {n}_{s}" for n in (*columns, *asked) for s in "lr")
        pairs = f"(SELECT {sides} FROM records AS l, records AS r)"
        for one, other in zip(given, changed, strict=True):
            rows = database.execute(
                f"SELECT {level_sql(one)} AS a, {level_sql(other)} AS b, count(*) FROM {pairs} "
                "GROUP BY ALL"
            ).fetchall()
            assert len(rows) > 2
            assert all(a == b for a, b, _ in rows)


def test_shares_of_first_guesses_add_up():
    kinds = {f"c{i}": kind for i, kind in enumerate(["given name", "surname", "date", "number"])}
    kinds |= {f"d{i}": k for i, k in enumerate(["postcode", "identifier", "email", "address"])}
    settings = settings_from(LinkSpec(columns=kinds, blocking=["c0"]))
    for comparison in settings["comparisons"]:
        levels = [lv for lv in comparison["comparison_levels"] if not lv.get("is_null_level")]
        assert_allclose(sum(level["m_probability"] for level in levels), 1, atol=0.031)
        assert_allclose(sum(level["u_probability"] for level in levels), 1, atol=0.031)


def test_a_full_name_is_compared_as_two():
    settings = settings_from(LinkSpec(columns={"name": "full name"}, blocking=["name:last"]))
    assert [c["output_column_name"] for c in settings["comparisons"]] == [
        "name_given",
        "name_surname",
    ]
    rule = settings["blocking_rules_to_generate_predictions"][0]["blocking_rule"]
    assert rule == 'l."name_surname" = r."name_surname"'


# ------------------------------------------------------------------------ numbers of a model


@given(st.lists(st.floats(-200, 300), min_size=2, max_size=30).map(sorted).map(np.array))
def test_scores_keep_the_order(weight):
    score = scores(weight)
    assert np.all(np.diff(score) >= 0)
    assert_allclose(score, expit(weight * math.log(2)), atol=1e-11)
    far = np.diff(weight) > 0.05
    between = (weight[:-1] > -60) & (weight[1:] < 150)
    assert np.all(np.diff(score)[far & between] > 0)


def test_the_prior_is_where_matches_add_up():
    rng = np.random.default_rng(3)
    evidence = np.concatenate([rng.normal(25, 3, 80), rng.normal(-20, 3, 900)])
    fit = fit_prior(evidence, {}, (), 10**6, correct_u=False)
    assert_allclose(fit.prior * 10**6, np.sum(scores(fit.weight)), rtol=1e-6)
    assert_allclose(fit.prior, 80e-6, rtol=0.02)
    more = fit_prior(evidence, {}, (), 10**6, correct_u=False, lost=20.0)
    assert_allclose(more.prior, 100e-6, rtol=0.02)
    assert fit_prior(np.empty(0), {}, (), 100, correct_u=True).prior > 0


def test_u_is_freed_of_the_matches_among_random_pairs():
    weights = [
        LevelWeight("a", 1, "equal", 0.9, 0.0012, by_frequency=False),
        LevelWeight("a", 0, "different", 0.1, 0.9988, by_frequency=False),
        LevelWeight("b", 1, "equal", 0.9, 0.0012, by_frequency=True),
    ]
    evidence = np.full(100, 30.0)
    levels = {"a": np.ones(100, np.int8), "b": np.ones(100, np.int8)}
    fit = fit_prior(evidence, levels, weights, 100_000, correct_u=True)
    assert_allclose(fit.u["a", 1], (0.0012 - 0.001 * 0.9) / 0.999, rtol=1e-3)
    expected = 30 + math.log2(0.0012 / fit.u["a", 1]) + math.log2(fit.prior / (1 - fit.prior))
    assert_allclose(fit.weight, expected, rtol=1e-6)


def test_blocking_loss_by_recapture():
    caught = np.array([[1, 1], [1, 0], [0, 1]], dtype=bool)
    found = np.array([81.0, 9.0, 9.0])
    assert_allclose(lost_by_patterns(found, caught), 1.0, atol=0.05)
    assert lost_by_patterns(np.array([100.0]), np.array([[True, True]])) == 0
    assert lost_by_patterns(np.array([5.0, 5.0]), np.eye(2, dtype=bool)) == 0


@pytest.mark.parametrize("estimate", [0.0, None, "level not observed in training dataset"])
def test_levels_never_seen_lean_on_the_first_guess(estimate):
    def settings(*m):
        levels = [{"m_probability": each, "u_probability": 0.5} for each in m]
        return {"comparisons": [{"output_column_name": "a", "comparison_levels": levels}]}

    after = steadied(settings(1.0, estimate), settings(0.9, 0.1), [], 1e6)
    assert_allclose([lv["m_probability"] for lv in levels_of(after)], [0.9, 0.1])

    from sfumato.linkage.candidate_pairs import Session

    seen = [Session("", 1000.0, frozenset({"a"}))]
    after = steadied(settings(1.0, estimate), settings(0.9, 0.1), seen, 1e6)
    least = 0.1 * BELIEF / (1000 + BELIEF)
    assert_allclose([lv["m_probability"] for lv in levels_of(after)][1], least, rtol=1e-6)


def levels_of(settings):
    return settings["comparisons"][0]["comparison_levels"]


@pytest.mark.parametrize("text", ["canary", "[]", "{}", '{"comparisons": [{"canary": 1}]}'])
def test_models_that_are_none(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(InputError, match=r"model m\.json") as caught:
        load_model(tmp_path / "m.json")
    assert "canary" not in str(caught.value)


def test_rules_on_columns_bring_the_same_records_together():
    rules = ["surname:sound + dob:year", "phone:-4", "given_name:1 + postcode:area", "phone"]
    spec = LinkSpec(id="id", columns=COLUMNS, blocking=rules)
    with (
        open_sources(dict(zip("ab", two_clinics(), strict=True)), spec) as opened,
        closing(connect(opened.workspace.path)) as database,
    ):
        tables = make_tables(database, opened).tables
        on_columns = rules_on_columns(database, tables, spec)
        for rule, other in zip(spec.rules, on_columns, strict=True):
            made, expected = (
                database.execute(
                    f"SELECT l.unique_id, r.unique_id FROM {tables[0]} AS l JOIN {tables[1]} AS r "
                    f"ON {sql} ORDER BY 1, 2"
                ).fetchall()
                for sql in (other, rule_sql(rule, spec))
            )
            assert made
            assert made == expected
