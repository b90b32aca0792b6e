"""What an intruder learns who also knows the number of records: paper 000, and a naive count."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.risk.known_counts import known_counts
from sfumato.risk.measures import measure_classes
from sfumato.risk.summary import summarize

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


@settings(max_examples=200, deadline=None)
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
        known_counts({}, 1, 0)


def test_shown_must_fit_the_records(code):
    with pytest.raises(InputError, match="shown"):
        summarize(code([0, 0]), 1, code([0, 1]), {}, code([0]))
