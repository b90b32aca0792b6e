"""The parts of the search: scales, changed columns, frontiers, what is refused."""

from __future__ import annotations

from math import inf

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.pipeline.tune import tune
from sfumato.pipeline.tune.limits import KNOBS, TUNED, asks_nothing, stricter, target_of
from sfumato.pipeline.tune.point import ColumnChange, Point, changed_schema, changed_table
from sfumato.pipeline.tune.trials import Trial, ratio
from sfumato.pipeline.tune.tuned import frontier_of, frontier_of_measure
from sfumato.risk.risk_thresholds import Held
from sfumato.table.door import open_table

SHARES = [name for name, knob in KNOBS.items() if not knob.whole]
COUNTS = [name for name, knob in KNOBS.items() if knob.whole]


@given(st.sampled_from(SHARES), st.floats(0.001, 0.999))
def test_a_share_comes_back_from_its_position(name, limit):
    knob = KNOBS[name]
    assert knob.value(knob.position(limit)) == pytest.approx(limit, rel=2e-3, abs=1e-4)


@given(st.sampled_from(COUNTS), st.integers(1, 10**6))
def test_a_count_comes_back_from_its_position(name, limit):
    knob = KNOBS[name]
    assert knob.value(knob.position(limit)) == limit


def test_stricter_is_what_the_constraint_says():
    assert stricter("g_balance", 0.5, 0.9) == 0.9
    assert stricter("h_affiliation", 0.5, 0.9) == 0.5
    assert stricter("marketer", 0.05, 0.2) == 0.05
    assert stricter("pid_k", 3, 11) == 11
    assert stricter("cap_records", 3, 11) == 3
    assert [name for name in ("k", "pid_k", "l", "marketer") if asks_nothing(name, 1)] == [
        "k", "pid_k", "l", "marketer",
    ]  # fmt: skip


def test_a_point_leaves_out_what_asks_nothing():
    point = Point.of({"k": 1, "g_balance": 0.0, "h_affiliation": 0.3, "cap_records": 7})
    assert point.constraints() == (sf.HAffiliation(0.3),)
    assert point.options() == {"cap_records": 7}
    assert Point.of({}).constraints() == (sf.KAnonymity(1),)


@pytest.mark.parametrize(
    ("measure", "limit", "needed"),
    [
        ("prosecutor", 0.09, {"pid_k": 12}),
        ("max_gsar", 0.3, {"h_affiliation": 0.3}),
        ("max_gidr", 0.2, {"g_balance": 0.8}),
        ("marketer", 0.05, {"marketer": 0.05}),
        ("max_count_risk", 0.5, {"shared_counts": 2}),
        ("avg_gidr", 0.1, {}),
    ],
)
def test_what_a_threshold_needs(measure, limit, needed):
    assert target_of(sf.Threshold(measure, limit), 0.2).needed == pytest.approx(needed)


@given(st.floats(0.01, 0.99))
def test_what_is_enough_is_no_looser_than_what_is_needed(limit):
    for measure in TUNED:
        try:
            target = target_of(sf.Threshold(measure, limit), 0.2)
        except sf.InputError:
            continue
        for name, value in target.needed.items():
            assert target.enough is not None
            assert stricter(name, value, target.enough[name]) == target.enough[name]


@pytest.mark.parametrize("measure", ["prosecutor", "max_gsar", "marketer", "max_gidr"])
def test_a_limit_that_nothing_meets_is_refused(measure):
    with pytest.raises(sf.InputError, match=f"limit of {measure}"):
        target_of(sf.Threshold(measure, 0.0), 0.2)


def _file():
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "who": rng.integers(0, 40, 120),
            "age": rng.integers(20, 80, 120),
            "code": [f"{each}.{each % 3}" for each in rng.integers(100, 400, 120)],
            "sex": rng.choice(["f", "m"], 120),
            "ill": rng.choice(list("uvwxyz"), 120),
        }
    )
    schema = sf.Schema(
        person="who",
        quasi_identifiers={
            "age": {"kind": "numeric", "weight": 2.0, "hierarchy": {"widths": [5, 10, 20]}},
            "code": {"kind": "categorical", "hierarchy": {"lengths": [3, 1]}},
            "sex": "categorical",
        },
        sensitive=["ill"],
    )
    return table, schema


def test_a_changed_table_is_the_file_opened_with_the_changed_schema():
    table, schema = _file()
    change = ColumnChange().weighted("age", 0.5).coarsened("age", 2).coarsened("code", 1)
    change = change.without("sex")
    other = changed_schema(schema, change)
    assert list(other.quasi_identifiers) == ["age", "code"]
    assert other.direct_identifiers == ("sex",)
    assert other.quasi_identifiers["age"].weight == 1.0
    assert other.quasi_identifiers["age"].hierarchy.widths == (20.0,)
    changed, opened = changed_table(open_table(table, schema), change), open_table(table, other)
    assert changed.schema == opened.schema
    for one, two in zip(changed.quasi_identifiers, opened.quasi_identifiers, strict=True):
        assert one.weight == two.weight
        assert one.codes.tolist() == two.codes.tolist()
        assert one.hierarchy.labels == two.hierarchy.labels
    made = {"seed": 1, "values": "hierarchy", "keep_order": True}
    whole = sf.anonymize(table, other, sf.KAnonymity(3), **made)
    again = sf.anonymize(changed, changed.schema, sf.KAnonymity(3), **made)
    assert whole.data.drop_columns("who") == again.data.drop_columns("who")


def _held(value, limit, bound="at most"):
    return Held("asked", "", "", f"m{limit}", "", bound, "number", limit, None, value)


def _trial(number, loss, *held):
    return Trial(number, "", Point(()), held=held, loss=loss)


def test_a_ratio_says_by_how_much_a_limit_is_missed():
    assert ratio(_held(0.3, 0.2)) == pytest.approx(1.5)
    assert ratio(_held(0.1, 0.2)) == pytest.approx(0.5)
    assert ratio(_held(5, 10, "at least")) == pytest.approx(2)
    assert ratio(_held(0.1, 0.0)) == inf
    assert ratio(_held(0.0, 0.0)) == 1.0
    assert ratio(_held(0.2 * (1 + 1e-10), 0.2)) == 1.0


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)), max_size=12))
def test_the_frontier_is_what_nobody_beats(points):
    trials = [
        _trial(number, loss, _held(one, 5), _held(two, 5))
        for number, (loss, one, two) in enumerate(points)
    ]
    trials.append(Trial(99, "", Point(()), failures=("no",)))

    def front(risk, among):
        return {
            (risk(each), each.loss)
            for each in among
            if not any(
                (risk(other) <= risk(each) and other.loss < each.loss)
                or (risk(other) < risk(each) and other.loss <= each.loss)
                for other in among
            )
        }

    made = trials[:-1]
    worst = [(each.excess, each.loss) for each in frontier_of(trials)]
    assert len(worst) == len(set(worst))
    assert set(worst) == front(lambda each: each.excess, made)
    others_met = [each for each in made if each.held[1].met]
    found = {(each.held[0].value, each.loss) for each in frontier_of_measure(trials, 0)}
    assert found == front(lambda each: each.held[0].value, others_met)


def test_one_level_for_all_is_not_tried_where_a_population_is_counted():
    """anonymize refuses it: the tree counts it, and a column without hierarchy has no level."""
    table, schema = _file()
    found = tune(table, schema, {"marketer": 0.2}, population=600, trials=4, seed=1, suppress=0)
    assert found.met
    assert {each.point.recoding for each in found.trials} == {"local"}


@pytest.mark.parametrize(
    ("given_", "says"),
    [
        ({"nonsense": 0.1}, "name of a measure"),
        ({"presence_high": 0.1}, "register"),
        ({"max_household_risk": 0.1}, "household"),
        ({"expected_uniques": 3}, "population"),
        ({"t_closeness": 0.1, "t_closeness_ordered": 0.1}, "together"),
    ],
)
def test_thresholds_that_cannot_be_tuned_are_refused(given_, says):
    table, schema = _file()
    with pytest.raises(sf.InputError, match=says):
        tune(table, schema, given_, trials=1)


@pytest.mark.parametrize(
    ("option", "value"),
    [("loss", "sse"), ("trials", 0), ("time_limit", -1), ("suppress", 1.5), ("seed", -1)],
)
def test_options_out_of_range_are_refused(option, value):
    table, schema = _file()
    with pytest.raises(sf.InputError, match=option):
        tune(table, schema, {"k": 2}, **{option: value})


def test_a_distance_by_order_needs_values_that_have_one():
    data = pa.table({"age": [20, 21, 22, 23], "icd9": ["a", "b", "a", "c"]})
    schema = sf.Schema(quasi_identifiers={"age": "numeric"}, sensitive=["icd9"])
    with pytest.raises(sf.InputError, match="column 'icd9'"):
        tune(data, schema, {"t_closeness_ordered": 0.3}, trials=2, seed=1)


def test_progress_moves_within_a_trial_that_keeps_limits() -> None:
    """One trial tries a plan for each column that an insider may know."""
    people = np.repeat(np.arange(60), 2)
    columns = {f"c{place}": (people * 7 + place * np.arange(120)) % 9 for place in range(5)}
    table = pa.table({"id": people, "age": 20 + people % 40, **columns})
    schema = sf.Schema(
        person="id",
        quasi_identifiers={"age": "numeric"},
        sensitive=[*columns],
        events=dict.fromkeys(columns, "code"),
    )
    told = []
    tune(
        table,
        schema,
        limits="contract",
        trials=2,
        seed=1,
        progress=lambda stage, share: told.append(share) if stage == "tune" else None,
    )
    assert told == sorted(told)
    assert any(0 < share < 0.5 for share in told)
