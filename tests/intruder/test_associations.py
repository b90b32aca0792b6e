"""Associations: mined against a plain count, and the refinement of paper 002's Figure 2."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies.lu_sinnott_verspoor import HIERARCHIES, HOSPITAL, KNOWN

from sfumato.core.errors import InputError
from sfumato.intruder.guesses.association_attack import by_associations, meaning_of, mine
from sfumato.intruder.knowledge import hold
from sfumato.intruder.reading import read_release
from sfumato.schema import Schema
from sfumato.semantics.local_data import Local
from sfumato.semantics.sla import disclosure_risks

NAMES = ["x", "y", "z"]
SCHEMA = Schema(quasi_identifiers=NAMES)
CELLS = ["a", "b", "c", "{a, b}", "{b, c}", "*"]
VALUES = {cell: set(cell.strip("{}").split(", ")) for cell in CELLS} | {"*": {"a", "b", "c"}}


def _register(rows):
    held = {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}
    table = pa.table({"person": [str(n) for n in range(len(rows))], **held})
    return hold(table, Schema(person="person", quasi_identifiers=NAMES))


def _released(rows):
    held = {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}
    return read_release(pa.table(held), SCHEMA)


ALL_VALUES = _register([(v, v, v) for v in "abc"])


def _naive(rows, support, confidence):
    """By counting rows for every combination of up to two cells and another one."""
    items = sorted({(c, row[c]) for row in rows for c in range(3) if row[c] != "*"})

    def shows(row, item):
        return VALUES[row[item[0]]] <= VALUES[item[1]]

    found = {}
    for length in (1, 2):
        for left in combinations(items, length):
            if len({item[0] for item in left}) < length:
                continue
            having = [row for row in rows if all(shows(row, item) for item in left)]
            if not having or len(having) < support * len(rows):
                continue
            for right in items:
                both = sum(shows(row, right) for row in having)
                often = sum(shows(row, right) for row in rows) >= support * len(rows)
                if right[0] in {c for c, _ in left} or not often:
                    continue
                if both >= confidence * len(having):
                    key = left, right
                    found[key] = len(having) / len(rows), both / len(having)
    return found


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from(CELLS)] * 3), min_size=1, max_size=12),
    support=st.sampled_from([0.1, 0.25, 0.5]),
    confidence=st.sampled_from([0.5, 0.8, 1.0]),
)
def test_mined_associations_are_those_that_a_count_finds(rows, support, confidence) -> None:
    file = _released(rows)
    by_name = {column.name: column for column in file.quasi_identifiers}
    meanings = [meaning_of(k, by_name[k.name], None) for k in ALL_VALUES.quasi_identifiers]

    def text(item):
        row = int(np.flatnonzero(by_name[NAMES[item[0]]].codes == item[1])[0])
        return item[0], rows[row][item[0]]

    found = mine(file, meanings, support=support, confidence=confidence)
    told = {
        (tuple(map(text, one.antecedent)), text(one.consequent)): (one.support, one.confidence)
        for one in found
    }
    expected = _naive(rows, support, confidence)
    assert told.keys() == expected.keys()
    for key, figures in told.items():
        assert figures == pytest.approx(expected[key])


LINKED = ["year", "ethnicity", "language"]
PERSONS = [
    ("1965", "Chinese", "Mandarin"),
    ("1971", "Chinese", "Mandarin"),
    ("1978", "Korean", "Mandarin"),
    ("1975", "Korean", "Korean"),
    ("1962", "Chinese", "Cantonese"),
]
EARLIER = {
    "year": ["*"] * 6,
    "ethnicity": ["Chinese"] * 4 + ["Korean"] * 2,
    "language": ["Mandarin"] * 4 + ["Korean"] * 2,
}


def _of(columns: dict[str, list[str]]):
    return read_release(pa.table(columns), Schema(quasi_identifiers=LINKED))


def _local(persons):
    columns = {name: [row[place] for row in persons] for place, name in enumerate(LINKED)}
    table = pa.table({"person": list(map(str, range(len(persons)))), **columns})
    return hold(table, Schema(person="person", quasi_identifiers=LINKED))


def test_mandarin_tells_chinese_and_leaves_two_of_three() -> None:
    now = {"year": ["1960-1980"], "ethnicity": ["{Chinese, Korean}"], "language": ["Mandarin"]}
    found = by_associations(_of(now), _of(EARLIER), _local(PERSONS), np.random.default_rng(0))
    assert found.refined == 1
    assert found.candidates.of_class.tolist() == [2]
    assert sorted(found.candidates.persons_of(0).tolist()) == [0, 1]
    assert found.guesses.chance.tolist() == [0.5]


def test_a_refinement_that_leaves_nobody_is_taken_back() -> None:
    now = {"year": ["1976-1980"], "ethnicity": ["{Chinese, Korean}"], "language": ["Mandarin"]}
    found = by_associations(_of(now), _of(EARLIER), _local(PERSONS), np.random.default_rng(0))
    assert found.refined == 0
    assert found.candidates.persons_of(0).tolist() == [2]


def test_a_column_that_is_no_longer_released_is_inferred() -> None:
    now = {"year": ["1960-1980"], "language": ["Mandarin"]}
    found = by_associations(_of(now), _of(EARLIER), _local(PERSONS), np.random.default_rng(0))
    assert sorted(found.candidates.persons_of(0).tolist()) == [0, 1]


def test_associations_may_follow_from_one_another() -> None:
    earlier = {"year": ["1970-1979"] * 5, "ethnicity": ["Korean"] * 5, "language": ["Korean"] * 5}
    earlier = {name: cells + [other] * 5 for (name, cells), other in zip(
        earlier.items(), ["1960-1969", "Chinese", "Mandarin"], strict=True)}  # fmt: skip
    now = {"year": ["1960-1980"], "ethnicity": ["*"], "language": ["Korean"]}
    found = by_associations(
        _of(now), _of(earlier), _local(PERSONS), np.random.default_rng(0), longest=1
    )
    assert found.candidates.persons_of(0).tolist() == [3]
    year = next(c for c in found.file.quasi_identifiers if c.name == "year")
    assert year.cells[year.codes[0]].texts == {"1971", "1975", "1978"}


def test_what_cannot_be_mined_is_refused() -> None:
    one = _of({"year": ["1960"]})
    with pytest.raises(InputError, match="earlier release"):
        by_associations(one, one, _local(PERSONS), np.random.default_rng(0))
    file = _of(EARLIER)
    with pytest.raises(InputError, match="confidence"):
        by_associations(file, file, _local(PERSONS), np.random.default_rng(0), confidence=2)


def test_the_chances_are_those_of_equations_2_and_3() -> None:
    """Held against what the release side computes, on the persons of Figures 1 and 2."""
    names, trees = list(HIERARCHIES), list(HIERARCHIES.values())
    levels = np.tile(np.array([[1, 1, 1, 0]], dtype=np.int8), (len(HOSPITAL), 1))
    local = Local.from_codes("Hospital A", names, trees, HOSPITAL, k=3)
    risks = disclosure_risks(HOSPITAL, levels, [local], HIERARCHIES, [KNOWN])
    leaves = [
        [tree.label(0, code) for code in codes]
        for tree, codes in zip(trees, HOSPITAL.T.tolist(), strict=True)
    ]
    register = pa.table({"person": list("01234"), **dict(zip(names, leaves, strict=True))})
    held = hold(register, Schema(person="person", quasi_identifiers=names))
    now = {
        "YoB": ["{1960-1970, 1971-1980}"] * 5,
        "Sex": ["*"] * 5,
        "Ethnicity": ["{Chinese, Vietnamese}"] * 4 + ["Australian"],
        "Language": leaves[3],
    }
    earlier = {"Ethnicity": ["Chinese"] * 3 + ["Australian"] * 3,
               "Language": ["7104 Mandarin"] * 3 + ["1201 English"] * 3}  # fmt: skip
    schema = Schema(quasi_identifiers=names)
    file, before = (read_release(pa.table(each), schema, known=held) for each in (now, earlier))
    found = by_associations(file, before, held, np.random.default_rng(0))
    mine_ = [
        1 / int(found.candidates.of_class[number])
        if person in found.candidates.persons_of(int(number)).tolist()
        else 0.0
        for person, number in enumerate(file.class_of)
    ]
    assert mine_ == pytest.approx(risks.tolist())
