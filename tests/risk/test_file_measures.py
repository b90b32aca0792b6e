"""Every measure against a naive count over plain lists, and the theorems of paper 003."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from typing import NamedTuple

import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.risk.class_measures import g_balance, gsar


class Data(NamedTuple):
    """Columns of a random table."""

    classes: list
    persons: list
    values: list


@st.composite
def tables(draw, missing=True, single=False):
    value = st.sampled_from(["flu", "ulcer", "asthma", *([None] if missing else [])])
    record = st.tuples(st.integers(0, 3), st.integers(0, 5), value)
    rows = draw(st.lists(record, min_size=1, max_size=40))
    classes, persons, values = (list(column) for column in zip(*rows, strict=True))
    return Data(classes, list(range(len(rows))) if single else persons, values)


def naive(data, threshold):
    """The measures by their definitions, in fractions, class by class."""
    members = defaultdict(list)
    for label, person, value in zip(*data, strict=True):
        members[label].append((person, value))
    out = defaultdict(list)
    for records in members.values():
        size, people = len(records), Counter(person for person, _ in records)
        having = defaultdict(set)
        for person, value in records:
            if value is not None:
                having[value].add(person)
        counts = sorted(Counter(v for _, v in records if v is not None).values(), reverse=True)
        out["records"].append(size)
        out["persons"].append(len(people))
        out["g"].append(1 - sum(Fraction(c, size) ** 2 for c in people.values()))
        out["gidr"].append(Fraction(max(people.values()), size))
        most = max((len(who) for who in having.values()), default=0)
        out["gsar"].append(Fraction(most, len(people)))
        out["distinct"].append(len(having))
        weights = [c / sum(counts) for c in counts]
        entropy = -sum(w * math.log(w) for w in weights)
        out["entropy"].append(math.exp(entropy) if counts else 0)
        for l in range(2, 7):
            tail = sum(counts[l - 1 :])
            out[f"c{l}"].append(counts[0] / tail if tail else math.inf)
    n, total = out["persons"], len(data.classes)
    out["average"] = sum(Fraction(r, f) for r, f in zip(out["records"], n, strict=True)) / total
    out["at_risk"] = Fraction(
        sum(r for r, f in zip(out["records"], n, strict=True) if 1 / f > threshold), total
    )
    return out


def mean(values):
    return float(sum(values) / len(values))


@settings(max_examples=examples(200), deadline=None)
@given(data=tables(), threshold=st.sampled_from([0.05, 0.2, 1 / 3, 0.5, 1.0]))
def test_measures_agree_with_their_definitions(measure, data, threshold):
    risk = measure(data.classes, data.persons, threshold=threshold, illness=data.values)
    own = risk.sensitive["illness"]
    expected = naive(data, threshold)
    n = expected["persons"]
    pairs = [
        (risk.records, len(data.classes)),
        (risk.persons, len(set(data.persons))),
        (risk.classes, len(set(data.classes))),
        (risk.k, min(expected["records"])),
        (risk.pid_k, min(n)),
        (risk.g_balance.value, min(expected["g"])),
        (risk.max_gidr.value, max(expected["gidr"])),
        (risk.avg_gidr.value, mean(expected["gidr"])),
        (risk.prosecutor.value, 1 / min(n)),
        (risk.journalist.value, 1 / min(n)),
        (risk.marketer.value, len(n) / sum(n)),
        (risk.average_risk.value, expected["average"]),
        (risk.records_at_risk.value, expected["at_risk"]),
        (risk.by_records.prosecutor.value, 1 / min(expected["records"])),
        (risk.by_records.marketer.value, len(n) / len(data.classes)),
        (risk.by_records.average_risk.value, len(n) / len(data.classes)),
        (risk.sample_uniques, n.count(1)),
        (risk.sample_unique_records, expected["records"].count(1)),
        (own.h_affiliation.value, max(expected["gsar"])),
        (own.max_gsar.value, max(expected["gsar"])),
        (own.avg_gsar.value, mean(expected["gsar"])),
        (own.l_distinct, min(expected["distinct"])),
        (own.l_entropy.value, min(expected["entropy"])),
        (own.recursive[2].value, max(expected["c2"])),
        (own.recursive[3].value, max(expected["c3"])),
    ]
    for place, (found, by_definition) in enumerate(pairs):
        assert found == pytest.approx(float(by_definition), abs=1e-12), place


@settings(max_examples=examples(100), deadline=None)
@given(data=tables().filter(lambda data: any(data.values)), asked=st.lists(st.integers(2, 6)))
def test_recursive_diversity_is_measured_for_any_l(data, asked):
    columns = {"class": data.classes, "person": data.persons, "illness": data.values}
    file = pa.table(columns | {"illness": pa.array(data.values, pa.string())})
    schema = sf.Schema(person="person", quasi_identifiers=["class"], sensitive="illness")
    risk = sf.assess(file, schema, recursive_l=asked)
    expected, found = naive(data, 0.2), risk.sensitive["illness"].recursive
    assert list(found) == sorted({2, 3, *asked})
    plain = risk.to_json()
    for l, each in found.items():
        worst = max(expected[f"c{l}"])
        assert each.value == pytest.approx(worst)
        assert plain[f"recursive_{l}"] == (None if math.isinf(worst) else each.value)
        order = list(dict.fromkeys(data.classes))
        at = order[each.where.equivalence_class - 1]
        assert data.classes[each.where.row - 1] == at
        assert expected[f"c{l}"][each.where.equivalence_class - 1] == worst


@settings(deadline=None)
@given(data=tables(missing=False, single=True))
def test_one_record_per_person_gives_the_classical_measures(measure, data):
    """Corollary 1 (Eq. 3): k = 1 / (1 - g); Eq. 6: h = 1 / l = largest share of records."""
    risk = measure(data.classes, data.persons, illness=data.values)
    sizes = Counter(data.classes)
    assert risk.summary.records.tolist() == list(sizes.values())
    assert 1 / (1 - g_balance(risk.summary)) == pytest.approx(list(sizes.values()))
    shares = [
        max(Counter(v for c, v in zip(data.classes, data.values, strict=True) if c == t).values())
        / size
        for t, size in sizes.items()
    ]
    assert gsar(risk.summary, "illness") == pytest.approx(shares)
    assert risk.k == risk.pid_k
    assert risk.sample_uniques == risk.sample_unique_records
    for name in ("prosecutor", "journalist", "marketer", "average_risk", "records_at_risk"):
        assert getattr(risk, name).value == getattr(risk.by_records, name).value
    assert risk.marketer.value == pytest.approx(risk.average_risk.value)


@settings(deadline=None)
@given(data=tables())
def test_theorem_1(measure, data):
    """Theorem 1 (Eq. 2): a class with g-balance g has at least 1 / (1 - g) persons."""
    summary = measure(data.classes, data.persons).summary
    # 1 / (1 - g) = N^2 / sum of c^2, compared as integers.
    assert (summary.persons * summary.squares >= summary.records**2).all()


@settings(deadline=None)
@given(data=tables())
def test_lemma_1(measure, data):
    """Lemma 1: some part of a partition of the persons has h at least that of the whole."""
    part_of = {person: person % 3 for person in data.persons}
    parts = [part_of[person] for person in data.persons]
    whole = measure([0] * len(parts), data.persons, illness=data.values)
    split = measure(parts, data.persons, illness=data.values)
    h = "h_affiliation"
    assert getattr(split.sensitive["illness"], h).value >= (
        getattr(whole.sensitive["illness"], h).value
    )


@settings(deadline=None)
@given(data=tables(), rng=st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_persons_change_nothing(measure, data, rng):
    rows = list(zip(*data, strict=True))
    rng.shuffle(rows)
    shuffled = Data(*(list(column) for column in zip(*rows, strict=True)))
    names = [f"person {100 - person}" for person in shuffled.persons]
    before = measure(data.classes, data.persons, illness=data.values).to_json()
    after = measure(shuffled.classes, names, illness=shuffled.values).to_json()
    for key in before.keys() - {"positions", "by_records"}:
        assert after[key] == pytest.approx(before[key]), key
    assert after["by_records"] == pytest.approx(before["by_records"])


@settings(deadline=None)
@given(data=tables())
def test_a_position_points_at_what_it_says(measure, data):
    risk = measure(data.classes, data.persons, illness=data.values)
    order = list(dict.fromkeys(data.classes))
    rows = list(zip(*data, strict=True))

    def member(where):
        label, person, value = rows[where.row - 1]
        assert order.index(label) + 1 == where.equivalence_class
        return [row for row in rows if row[0] == label], person, value

    members, person, _ = member(risk.max_gidr.where)
    assert sum(row[1] == person for row in members) / len(members) == risk.max_gidr.value
    members, person, _ = member(risk.g_balance.where)
    records = Counter(row[1] for row in members)
    assert records[person] == max(records.values())
    assert risk.g_balance_counts == (sum(c * c for c in records.values()), len(members))
    assert len(member(risk.k_where)[0]) == risk.k
    assert len({row[1] for row in member(risk.pid_k_where)[0]}) == risk.pid_k
    own = risk.sensitive["illness"]
    members, _, value = member(own.h_affiliation.where)
    having = {row[1] for row in members if row[2] == value}
    if value is not None:
        assert len(having) / len({row[1] for row in members}) == own.h_affiliation.value
    else:
        assert own.h_affiliation.value == 0
