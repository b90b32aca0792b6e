"""Which register persons fit which class, against loops over everybody."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first
from hypothesis import given, settings
from hypothesis import strategies as st
from intruder.made_columns import lies_in

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.intruder import candidates
from sfumato.intruder.candidates import Candidates, blocks_of, find_candidates, persons_are_whole
from sfumato.intruder.knowledge import Knowledge, hold
from sfumato.intruder.reading import ReleasedFile, read_release

SCHEMA = sf.Schema(person="id", quasi_identifiers={"age": "numeric", "sex": "categorical"})
AGES = ["3", "5", "3-5", "4 to 9", "2 or less", "[3, 5)", "(3, 5]", "{3, 7}", "*", None]
SEXES = ["f", "m", "{f, m}", "{f, x}", "*", None]

released = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(AGES), st.sampled_from(SEXES)),
    min_size=1,
    max_size=12,
)
register = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([2, 3, 4, 5, 7, None]), st.sampled_from("fmx")),
    min_size=1,
    max_size=12,
)
Rows = list[tuple[int, Any, Any]]


def _table(rows: Rows, *, typed: bool) -> pa.Table:
    ids, ages, sexes = zip(*rows, strict=True)
    kind = pa.int64() if typed else pa.string()
    return pa.table(
        {
            "id": [f"p{each}" for each in ids],
            "age": pa.array(ages, kind),
            "sex": pa.array(sexes, pa.string()),
        }
    )


def _both(shown: Rows, known: Rows) -> tuple[ReleasedFile, Knowledge]:
    knowledge = hold(_table(known, typed=True), SCHEMA)
    return read_release(_table(shown, typed=False), SCHEMA, known=knowledge), knowledge


def _fits(file: ReleasedFile, row: int, known: tuple[int, Any, Any]) -> bool:
    return all(
        lies_in(value, column.cells[column.codes[row]], measured=column.name == "age")
        for column, value in zip(file.quasi_identifiers, known[1:], strict=True)
    )


def _naive(file: ReleasedFile, known: Rows, *, whole: bool) -> list[list[int]]:
    """The register persons who fit each record."""
    ids = list(dict.fromkeys(each[0] for each in known))
    every = all if whole else any
    return [
        [
            place
            for place, number in enumerate(ids)
            if every(_fits(file, row, each) for each in known if each[0] == number)
        ]
        for row in range(file.records)
    ]


@pytest.mark.parametrize("shared", fast_first(1, [0, 10**9]))
@settings(max_examples=60)
@given(shown=released, known=register, rows=st.sampled_from(["all", "any"]))
def test_candidates_are_those_of_loops_over_everybody(
    shared: int, shown: Rows, known: Rows, rows: Any
) -> None:
    file, knowledge = _both(shown, known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "SHARED", shared)
        found = find_candidates(file, knowledge, rows=rows)
    naive = _naive(file, known, whole=rows == "all")
    for number, row in enumerate(file.first_row.tolist()):
        assert found.persons_of(number).tolist() == naive[row]
        assert found.of_class[number] == len(naive[row])
        everybody = np.arange(knowledge.persons)
        fits = found.fit(np.full(knowledge.persons, number), found.group)
        assert everybody[fits].tolist() == naive[row]
    of_unit = [
        set.intersection(*(set(naive[row]) for row in np.flatnonzero(file.unit == unit)))
        for unit in range(file.persons)
    ]
    assert found.of_unit().tolist() == [len(each) for each in of_unit]
    _check_groups(found, knowledge)


def _check_groups(found: Candidates, knowledge: Knowledge) -> None:
    """Persons are in one group exactly if the same combinations are known of them."""
    held = [
        {
            tuple(c.texts[c.codes[row]] for c in knowledge.quasi_identifiers)
            for row in np.flatnonzero(knowledge.person == person)
        }
        for person in range(knowledge.persons)
    ]
    for one, other in product(range(knowledge.persons), repeat=2):
        assert (found.group[one] == found.group[other]) == (held[one] == held[other])
    assert found.sizes.tolist() == np.bincount(found.group).tolist()


@settings(max_examples=40)
@given(shown=released, known=register, data=st.data())
def test_known_numbers_of_records_leave_those_with_as_many(
    shown: Rows, known: Rows, data: st.DataObject
) -> None:
    file, knowledge = _both(shown, known)
    persons = knowledge.persons
    counts = data.draw(st.lists(st.integers(0, 3), min_size=persons, max_size=persons))
    told = replace(knowledge, counts=np.array(counts, dtype=np.int64))
    found = find_candidates(file, knowledge)
    blocks = blocks_of(file, told, found)
    fits = found.fits_kind.toarray()
    of_blocks = blocks.fits.toarray()
    records = np.bincount(file.unit)
    for unit, person in product(range(file.persons), range(persons)):
        expected = fits[found.kind[unit], found.group[person]] and records[unit] == counts[person]
        assert of_blocks[blocks.kind[unit], blocks.group[person]] == expected


def test_the_file_says_whether_persons_were_released_as_a_whole() -> None:
    known = [(0, 3, "f"), (0, 7, "f")]
    whole = [(1, "3-5", "f"), (1, "3-5", "f")]
    split = [(1, "3-5", "f"), (1, "4 to 9", "f")]
    single = [(1, "3-5", "f"), (2, "4 to 9", "f")]
    expected = [(whole, True, [0]), (split, False, [1, 1]), (single, False, [1, 1])]
    for shown, answer, fitting in expected:
        file, knowledge = _both(shown, known)
        assert persons_are_whole(file) is answer
        assert find_candidates(file, knowledge).of_class.tolist() == fitting


@pytest.mark.parametrize("seed", range(3))
def test_ends_that_were_rounded_to_15_digits_hold_the_values_that_they_came_from(seed: int) -> None:
    rng = np.random.default_rng(seed)
    schema = sf.Schema(quasi_identifiers={"x": "numeric"})
    data = pa.table({"x": rng.random(40) * 1.2 * 10.0 ** rng.integers(-2, 3)})
    release = sf.anonymize(
        data, schema, sf.KAnonymity(2), seed=seed, keep_order=True, effort=0, ends="tight"
    )
    knowledge = hold(data, schema)
    file = read_release(release.data, schema, known=knowledge)
    found = find_candidates(file, knowledge)
    assert all(row in found.persons_of(file.class_of[row]) for row in range(40))
    assert found.of_class.sum() == 40


def test_means_lead_to_those_who_are_nearest() -> None:
    schema = sf.Schema(quasi_identifiers={"x": "numeric", "y": "numeric", "sex": "categorical"})
    people = {"x": [10, 12, 20, 24, 24], "y": [1, 1, 1, 1, 1], "sex": ["f", "f", "f", "m", "f"]}
    knowledge = hold(pa.table(people), schema)
    shown = {"x": ["11.25", "11.25", "22.5"], "y": ["1", "1", "1"], "sex": ["f", "f", "m"]}
    file = read_release(pa.table(shown), schema)
    found = find_candidates(file, knowledge)
    assert [found.persons_of(c).tolist() for c in (0, 1)] == [[0, 1, 2, 4], [3]]
    assert find_candidates(file, knowledge, means=()).of_class.tolist() == [0, 0]


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_are_those_of_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    schema = sf.Schema(quasi_identifiers={"x": "numeric", "y": "numeric", "sex": "categorical"})
    people = {"x": rng.integers(0, 90, 30), "y": rng.integers(0, 9, 30)}
    knowledge = hold(pa.table({**people, "sex": rng.choice(["f", "m"], 30)}), schema)
    shown = {"x": rng.random(12) * 90, "y": rng.random(12) * 9}
    file = read_release(pa.table({**shown, "sex": rng.choice(["f", "m", "*"], 12)}), schema)
    found = find_candidates(file, knowledge)
    sex, spread = knowledge.quasi_identifiers[2], [people[name].std() for name in ("x", "y")]
    away = np.full((12, 30), np.inf)
    for row, person in product(range(12), range(30)):
        cell = file.quasi_identifiers[2].cells[file.quasi_identifiers[2].codes[row]]
        if lies_in(sex.texts[sex.codes[person]], cell, measured=False):
            gaps = [
                (shown[n][row] - people[n][person]) / s for n, s in zip("xy", spread, strict=True)
            ]
            away[row, person] = np.hypot(*gaps)
    expected = (away == away.min(axis=0)) | (away == away.min(axis=1)[:, None])
    for row in range(12):
        near = found.persons_of(file.class_of[row])
        assert near.tolist() == np.flatnonzero(expected[row] & np.isfinite(away[row])).tolist()


def test_one_side_only_is_refused_or_says_nothing() -> None:
    file, knowledge = _both([(0, "3", "f"), (1, "9", "f")], [(0, 3, "f"), (1, 4, "f")])
    only_sex = hold(_table([(0, 3, "f"), (1, 4, "f")], typed=True), SCHEMA, knows=["sex"])
    assert find_candidates(file, only_sex).of_class.tolist() == [2, 2]
    other = sf.Schema(quasi_identifiers={"zip": "numeric"})
    with pytest.raises(InputError, match="must know a quasi-identifier that the release shows"):
        find_candidates(file, hold(pa.table({"zip": [1]}), other))
    with pytest.raises(InputError, match="parameter rows"):
        find_candidates(file, knowledge, rows="some")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the same file and register"):
        blocks_of(file, hold(pa.table({"age": [1]}), SCHEMA), find_candidates(file, knowledge))


def test_where_nearly_everybody_fits_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many pairs would take more memory than there is."""
    shown = [(each, "*", "*") for each in range(4)]
    file, knowledge = _both([*shown, (4, "9", "f")], [(0, 3, "f"), (1, 4, "f"), (2, 5, "m")])
    monkeypatch.setattr(candidates, "MOST_PAIRS", 3)
    assert find_candidates(file, knowledge).fits.nnz == 3
    monkeypatch.setattr(candidates, "MOST_PAIRS", 2)
    with pytest.raises(InputError, match=r"tell people apart; found more than 2 pairs"):
        find_candidates(file, knowledge)
