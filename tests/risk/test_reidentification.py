"""Who knows the number of records (paper 000, a naive count), and who looks for a household."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.risk.assessment import measure_classes
from sfumato.risk.classes import summarize
from sfumato.risk.reidentification import counting_risk, household_risk

# Paper 000, Table 1b: name and QI-group of each record.
NAMES_000 = ["Ashley"] * 2 + ["Bob"] + ["Charlie"] * 5 + ["Diana"] * 2 + ["Edward"] * 2
NAMES_000 += ["Fred", "Greg"] + ["Harry"] * 5
GROUPS_000 = [1] * 2 + [2] * 6 + [3] * 4 + [4] * 7


def test_000_introduction_ashleys_two_visits(measure):
    """Paper 000, Introduction: who knows of two visits knows that both records are Ashley's.

    In Table 1b Bob (1 of 6), Charlie (5 of 6) and Harry (5 of 7) are alone with their number
    too; only Diana and Edward, and Fred and Greg, cannot be told apart.
    """
    risk = measure(GROUPS_000, NAMES_000)
    assert risk.summary.fewest_sharing.tolist() == [1, 1, 2, 1]
    assert risk.summary.alone.tolist() == [1, 2, 0, 1]
    assert (risk.count_k, risk.exposed_persons.value) == (1, 4 / 8)
    assert risk.max_count_risk.value == 1
    assert risk.avg_count_risk.value == (4 * 1 + 4 * 1 / 2) / 8
    assert (risk.count_k_where.row, risk.count_k_where.equivalence_class) == (1, 1)
    assert risk.max_count_risk.where == risk.count_k_where
    # Without the number: one person alone in a class, and 1/n_t averaged over persons.
    assert (risk.sample_uniques, risk.marketer.value) == (1, 4 / 8)


def test_003_table_6b_gives_edward_away_with_pseudonyms(measure, records_003):
    """Paper 003, Table 6b keeps g = h = 0.5, and Edward stands out by his two records."""
    names, _, _, groups = zip(*records_003, strict=True)
    risk = measure(groups, names)
    # Groups: Ashley 2, Diana 2 | Bob 1, Edward 2, Fred 1, Greg 1 | Charlie 5, Harry 5.
    assert dict(zip(dict.fromkeys(groups), risk.summary.fewest_sharing, strict=True)) == {
        1: 2, 2: 1, 3: 2,
    }  # fmt: skip
    assert risk.exposed_persons.value == 1 / 8
    assert names[risk.count_k_where.row - 1] == "Edward"


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1, max_size=50))
def test_measures_agree_with_their_definitions(measure, rows):
    classes, persons = zip(*rows, strict=True)
    risk = measure(classes, persons)
    counts = Counter(rows)
    sharing = Counter((t, number) for (t, _), number in counts.items())
    own = [sharing[t, number] for (t, _), number in counts.items()]
    assert risk.count_k == min(own)
    assert risk.exposed_persons.value == pytest.approx(own.count(1) / len(own))
    assert risk.max_count_risk.value == pytest.approx(1 / min(own))
    average = sum(Fraction(1, each) for each in own) / len(own)
    assert risk.avg_count_risk.value == pytest.approx(float(average))
    where = rows[risk.count_k_where.row - 1]
    assert sharing[where[0], counts[where]] == risk.count_k
    assert risk.positions["count_k"] == risk.positions["max_count_risk"]
    # Whoever knows more cannot do worse.
    assert risk.count_k <= risk.pid_k
    assert risk.max_count_risk.value >= risk.prosecutor.value
    assert risk.avg_count_risk.value >= risk.marketer.value - 1e-12


@settings(deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=40
    )
)
def test_several_ids_change_what_counting_shows_and_nothing_else(rows, code):
    class_of = code([t for t, _, _ in rows])
    person = code([who for _, who, _ in rows])
    named = [(who, row[2]) for who, row in zip(person.tolist(), rows, strict=True)]
    ids = {name: place for place, name in enumerate(sorted(set(named)))}
    shown = np.array([ids[name] for name in named], dtype=np.int32)
    classes = int(class_of.max()) + 1
    plain = measure_classes(class_of, classes, person, {}, threshold=0.2)
    split = measure_classes(class_of, classes, person, {}, threshold=0.2, shown=shown)
    counting = {"count_k", "exposed_persons", "max_count_risk", "avg_count_risk", "positions"}
    before, after = plain.to_json(), split.to_json()
    assert {key for key in before if before[key] != after[key]} <= counting
    sizes = Counter(zip(class_of.tolist(), shown.tolist(), strict=True))
    owner = dict(zip(shown.tolist(), person.tolist(), strict=True))
    having, total, own = defaultdict(set), Counter(), Counter()
    for (t, one), size in sizes.items():
        having[t, size].add(owner[one])
        total[t, size] += 1
        own[t, size, owner[one]] += 1
    assert split.count_k == min(map(len, having.values()))
    largest = max(Fraction(count, total[t, size]) for (t, size, _), count in own.items())
    assert split.max_count_risk.value == pytest.approx(float(largest))


def test_one_record_each_adds_nothing_to_what_is_known(measure):
    risk = measure([0, 0, 0, 1, 1], list("abcde"))
    assert risk.count_k == risk.pid_k == 2
    assert risk.avg_count_risk.value == risk.marketer.value == 2 / 5
    assert risk.exposed_persons.value == 0


def test_how_it_is_read(measure):
    risk = measure(GROUPS_000, NAMES_000, threshold=0.3)
    found = risk.to_json()
    assert {name: found[name] for name in ("count_k", "exposed_persons", "max_count_risk")} == {
        "count_k": 1,
        "exposed_persons": 0.5,
        "max_count_risk": 1.0,
    }
    assert found["avg_count_risk"] == 0.75
    assert found["positions"]["count_k"] == {"row": 1, "equivalence_class": 1}
    assert risk.max_count_risk.met is False
    text = str(risk)
    assert "share of people alone in their class with their number of records" in text
    with pytest.raises(InputError, match="threshold"):
        counting_risk({}, 1, 0)


def test_shown_must_fit_the_records(code):
    with pytest.raises(InputError, match="shown"):
        summarize(code([0, 0]), 1, code([0, 1]), {}, code([0]))


FILE = {
    "age": [30, 30, 41, 41, 41, 52],
    "home": ["a", "b", "a", "b", None, "c"],
}
SCHEMA = sf.Schema(household="home", quasi_identifiers=["age"])


def test_by_hand():
    """Risks 1/2, 1/2, 1/3, 1/3, 1/3, 1; households a and b: 1 - 1/2 · 2/3 = 2/3."""
    risk = sf.assess(pa.table(FILE), SCHEMA, threshold=0.5)
    found = risk.to_json()
    assert found["households"] == 4
    assert found["max_household_risk"] == 1
    assert found["avg_household_risk"] == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)
    assert found["households_at_risk"] == 0.75
    assert found["positions"]["max_household_risk"] == {"row": 6, "equivalence_class": 3}
    assert "find at least one person of a household" in str(risk)


def test_a_release_measures_households_and_hands_none_on():
    made = sf.anonymize(pa.table(FILE), SCHEMA, sf.PidKAnonymity(3), seed=1)
    assert made.data.column_names == ["age"]
    assert made.risk.household.max_household_risk.value < 1
    assert made.risk_before.household.max_household_risk.value == 1
    assert made.risk.household.households == 4


def test_without_a_household_there_is_no_such_measure():
    risk = sf.assess(pa.table(FILE), sf.Schema(quasi_identifiers=["age"]))
    assert risk.household is None
    assert "households" not in risk.to_json()


def test_one_role_each():
    with pytest.raises(InputError, match="household"):
        sf.Schema(household="age", quasi_identifiers=["age"])


@settings(deadline=None, max_examples=examples(150))
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 6), st.none() | st.integers(0, 3)),
        min_size=1,
        max_size=30,
    )
)
def test_is_the_naive_risk(code, rows):
    classes, persons, homes = zip(*rows, strict=True)
    class_of, person = code(classes), code(persons)
    summary = summarize(class_of, int(class_of.max()) + 1, person, {})
    found = household_risk(class_of, person, code(homes), summary, 0.5)
    members = defaultdict(set)
    for t, who, _ in rows:
        members[t].add(who)
    risk, living, housed = defaultdict(Fraction), defaultdict(set), set()
    for t, who, home in rows:
        risk[who] = max(risk[who], Fraction(1, len(members[t])))
        if home is not None:
            living[home].add(who)
            housed.add(who)
    for who in set(persons) - housed:
        living["alone", who] = {who}
    risks = [1 - prod(1 - risk[who] for who in own) for own in living.values()]
    assert found.households == len(risks)
    assert found.max_household_risk.value == pytest.approx(float(max(risks)))
    assert found.avg_household_risk.value == pytest.approx(float(sum(risks) / len(risks)))


def test_a_risk_that_is_the_threshold_is_not_above_it(measure):
    """A household of one person among five is found with a chance of 1/5, rounded up or not."""
    risk = measure([1] * 5, range(5))
    for each in (0.2, 0.1999):
        person = np.arange(5, dtype=np.int32)
        found = household_risk(np.zeros(5, np.int32), person, person, risk.own_classes(), each)
        assert found.households_at_risk.value == float(each < 0.2)
