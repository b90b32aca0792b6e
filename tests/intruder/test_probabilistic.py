"""Probabilistic matching: its levels and weights, and that it finds what exact matching loses."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first
from hypothesis import given, settings
from hypothesis import strategies as st
from made_households import SCHEMA, households

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.workspace import Workspace
from sfumato.intruder.attacks import near_matching
from sfumato.intruder.candidates import find_candidates
from sfumato.intruder.guesses.field_agreement import Levels, Scorer, Slips, database, levels_of
from sfumato.intruder.guesses.identity_attacks import exact_free
from sfumato.intruder.guesses.probabilistic_attack import (
    Probabilistic,
    Shared,
    likely_pairs,
    probabilistic,
)
from sfumato.intruder.knowledge import Knowledge, hold, with_noise
from sfumato.intruder.reading import ReleasedFile, read_release
from sfumato.schema import Schema

pytest.importorskip("splink")

QIS = ["age", "town", "area"]
REGISTER = Schema(person="person", quasi_identifiers=QIS)


def _range(values: list[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}-{high}"


def _world(seed: int, persons: int, k: int) -> tuple[ReleasedFile, Knowledge]:
    """Persons, and a release of the same ones in which k and more share each class."""
    rng = np.random.default_rng(seed)
    towns = np.array(["Basel", "Bern", "Genf", "Chur", "Thun"])
    table = {
        "age": rng.integers(0, 90, persons),
        "town": towns[rng.integers(0, 5, persons)],
        "area": rng.integers(4000, 4400, persons),
    }
    order = np.lexsort((table["area"], table["age"] // 12, table["town"]))
    cells = {name: np.empty(persons, dtype=object) for name in QIS}
    for group in np.array_split(order, persons // k):
        for name in ("age", "area"):
            cells[name][group] = _range(table[name][group].tolist())
        held = sorted(set(table["town"][group]))
        cells["town"][group] = held[0] if len(held) == 1 else "{" + ", ".join(held) + "}"
    register = {"person": [str(n) for n in range(persons)], **table}
    known = hold(pa.table(register), REGISTER)
    released = pa.table({name: cells[name].tolist() for name in QIS})
    return read_release(released, Schema(quasi_identifiers=QIS), known=known), known


def _right(found: Probabilistic) -> float:
    return float(np.mean(found.free.person == found.free.unit))


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text("ab", max_size=5), min_size=1, max_size=8), text=st.text("ab"))
def test_a_slip_is_a_character_left_out_of_either(texts: list[str], text: str) -> None:
    def left(word: str) -> set[str]:
        return {word} | (
            {word[:n] + word[n + 1 :] for n in range(len(word))} if len(word) > 1 else set()
        )

    expected = {n for n, other in enumerate(texts) if left(other) & left(text)}
    assert Slips(texts).of([text]) == expected


def test_values_are_inside_just_outside_or_far() -> None:
    table = {"person": list("012345"), "age": [1, 30, 41, 45, 49, 90],
             "town": ["Bern", "Bren", "Bonn", "Basel", None, "Genf"], "area": [1] * 6}  # fmt: skip
    known = hold(pa.table(table), REGISTER)
    cells = {"age": ["40-44", "*", "", "45"], "town": ["Bern", "{Basel, Bonn}", "*", ""]}
    file = read_release(pa.table(cells), Schema(quasi_identifiers=["age", "town"]), known=known)
    told = {}
    for shown, column in zip(file.quasi_identifiers, known.quasi_identifiers, strict=False):
        levels = levels_of(shown, column)
        for row, code in enumerate(shown.codes.tolist()):
            of_value = levels.of_cell(code)
            told[shown.name, row] = (
                None
                if of_value is None
                else [int(of_value[p]) if p >= 0 else -1 for p in levels.places]
            )
    assert told["age", 0] == [0, 0, 2, 1, 0, 0]
    assert told["age", 1] is None
    assert told["age", 2] == [0] * 6
    assert told["age", 3] == [0, 0, 1, 2, 1, 0]
    assert told["town", 0] == [2, 1, 0, 0, -1, 0]
    assert told["town", 1] == [0, 0, 2, 2, -1, 0]
    assert told["town", 3] == [0, 0, 0, 0, -1, 0]


def _plain_weight(columns: list[Levels], cells: np.ndarray, row: np.ndarray, m: np.ndarray):
    """log2(m / u) added up, u counted by hand."""
    weight = 0.0
    for number, column in enumerate(columns):
        levels = column.of_cell(int(cells[number]))
        if levels is None or row[number] < 0:
            continue
        level = levels[row[number]]
        known = [int(place) for place in column.places if place >= 0]
        like = sum(levels[place] == level for place in known)
        weight += np.log2(m[number, level] / (max(like, 0.5) / len(known)))
    return weight


def test_splink_adds_up_the_weights_of_each_cell() -> None:
    file, known = _world(3, 60, 3)
    noisy = with_noise(known, 0.2, 0.1, np.random.default_rng(0))
    columns = [
        levels_of(*pair) for pair in zip(file.quasi_identifiers, noisy.quasi_identifiers,
                                         strict=True)
    ]  # fmt: skip
    cells = np.column_stack([column.codes[file.first_row] for column in file.quasi_identifiers])
    rows = np.unique(np.column_stack([column.places for column in columns]), axis=0)
    of_class, of_row = likely_pairs(columns, cells, rows)
    m = np.array([[0.02, 0.08, 0.9], [0.1, 0.15, 0.75], [0.01, 0.3, 0.69]])
    with database() as connection:
        weights = Scorer(connection, columns, cells, rows).weights(of_class, of_row, m)
    plain = [
        _plain_weight(columns, cells[c], rows[r], m)
        for c, r in zip(of_class.tolist(), of_row.tolist(), strict=True)
    ]
    assert weights == pytest.approx(plain, abs=1e-6)


def test_nobody_is_two_persons_at_once() -> None:
    """Two units that only one person fits well: the shares of all assignments, by hand."""
    weight = np.log2(np.array([8.0, 1.0, 8.0, 2.0]))
    shared = Shared(
        of_units=np.array([0, 0, 1, 1]),
        of_persons=np.array([0, 1, 0, 1]),
        units=np.ones(2),
        persons=np.ones(2),
        outside=1e-9,
    )
    chance = shared.chances(weight)
    assert chance.reshape(2, 2).sum(axis=0) == pytest.approx([1, 1], abs=1e-3)
    assert chance.reshape(2, 2).sum(axis=1) == pytest.approx([1, 1], abs=1e-3)
    ratio = (chance[0] / chance[1]) / (chance[2] / chance[3])
    assert ratio == pytest.approx(2.0, rel=1e-3)


def test_without_errors_it_guesses_among_those_who_fit_and_no_worse() -> None:
    file, known = _world(1, 400, 4)
    found = probabilistic(file, known, np.random.default_rng(0))
    fits = find_candidates(file, known)
    for unit in range(400):
        assert found.free.person[unit] in fits.persons_of(int(fits.kind[unit]))
    assert (found.free.chance >= 0.75 / fits.of_unit()).all()
    assert found.free.chance.max() < 0.3
    assert found.free.chance.mean() == pytest.approx(_right(found), abs=0.06)
    assert all(share["inside"] > 0.93 for share in found.agreement.values())


@pytest.mark.parametrize(("k", "gain"), fast_first(1, [(3, 1.1), (1, 1.5)], tuples=True))
def test_exact_matching_underestimates_where_what_is_known_has_errors(k: int, gain: float) -> None:
    """Paper 004, Section 4.5."""
    file, known = _world(7, 600, k)
    noisy = with_noise(known, 0.2, 0.0, np.random.default_rng(1))
    found = probabilistic(file, noisy, np.random.default_rng(2))
    candidates = find_candidates(file, noisy)
    exact = np.mean(
        [
            exact_free(file, noisy, candidates, np.random.default_rng(seed)).person
            == np.arange(600)
            for seed in range(5)
        ]
    )
    assert _right(found) > gain * exact
    assert found.free.chance.mean() == pytest.approx(_right(found), abs=0.06)
    for share in found.agreement.values():
        assert share["inside"] == pytest.approx(0.83, abs=0.08)


def test_one_to_one_names_nobody_twice() -> None:
    file, known = _world(2, 200, 3)
    noisy = with_noise(known, 0.1, 0.1, np.random.default_rng(1))
    guesses = probabilistic(file, noisy, np.random.default_rng(2)).one_to_one
    named = guesses.person[guesses.person >= 0]
    assert len(set(named.tolist())) == len(named) > 150
    assert guesses.unit.tolist() == list(range(200))


def test_rows_of_a_person_and_classes_of_a_pseudonym_are_taken_together() -> None:
    """Each record alone fits two persons; both records together one."""
    register = {"person": list("aabbccdd"), "age": [10, 50, 10, 80, 30, 50, 30, 80]}
    known = hold(pa.table(register), Schema(person="person", quasi_identifiers=["age"]))
    released = {"id": list("wwxxyyzz"), "age": ["9-11", "49-51", "9-11", "79-81",
                                                "29-31", "49-51", "29-31", "79-81"]}  # fmt: skip
    schema = Schema(person="id", quasi_identifiers=["age"])
    found = probabilistic(
        read_release(pa.table(released), schema, known=known), known, np.random.default_rng(0)
    )
    assert found.free.person.tolist() == [0, 1, 2, 3]
    assert found.free.chance.min() > 0.5


def test_a_small_register_leaves_the_others_to_nobody() -> None:
    file, known = _world(4, 100, 1)
    table = pa.table({"person": ["0"], "age": [50], "town": ["Bern"], "area": [4100]})
    held = hold(table, REGISTER)
    found = probabilistic(file, held, np.random.default_rng(0), coverage=0.01)
    assert found.free.chance.sum() < 1.1
    with pytest.raises(InputError, match="coverage"):
        probabilistic(file, known, np.random.default_rng(0), coverage=0.0)
    other = Schema(person="person", quasi_identifiers=["height"])
    nothing = hold(pa.table({"person": ["0"], "height": [1]}), other)
    with pytest.raises(InputError, match="register"):
        probabilistic(file, nothing, np.random.default_rng(0))


def test_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file, known = _world(5, 30, 2)
    told: list[str] = []
    probabilistic(
        file, known, np.random.default_rng(0), progress=lambda stage, _share: told.append(stage)
    )
    assert list(dict.fromkeys(told)) == ["candidate pairs", "estimate", "match"]
    assert list(tmp_path.glob("sfumato-*/*")) == []


@pytest.mark.slow
def test_the_same_seed_gives_the_same_guesses() -> None:
    file, known = _world(6, 80, 3)
    noisy = with_noise(known, 0.2, 0.1, np.random.default_rng(1))
    one, other = (probabilistic(file, noisy, np.random.default_rng(3)) for _ in range(2))
    assert one.free.person.tolist() == other.free.person.tolist()
    assert one.one_to_one.person.tolist() == other.one_to_one.person.tolist()


def test_what_it_spills_lies_in_a_private_folder_that_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does what a killed run left there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = Workspace()
    left._remove.detach()
    os.close(left._lock)
    with database() as connection:
        assert not left.path.exists()
        place = connection.execute("SELECT current_setting('temp_directory')").fetchall()[0][0]
        assert Path(place).parent.parent.parent == tmp_path
        assert Path(place).parent.is_dir()
    assert not Path(place).parent.exists()


def test_of_a_large_file_some_classes_are_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = households(300, 1, visits=2)
    release = sf.anonymize(table, SCHEMA, sf.PidKAnonymity(4), effort=0, seed=1)
    monkeypatch.setattr(near_matching, "WEIGHED", 30 * table.num_rows)
    free, one_to_one = sf.attack(
        release, attacks=["probabilistic"], original=table, seed=1
    ).outcomes
    assert free.notes[-1] == f"Of {release.risk.classes:,} classes 30 were drawn."
    assert 30 * 4 <= free.attempts == one_to_one.attempts < release.risk.persons / 2
    assert not free.broken
    assert free.success.low < release.risk.marketer.value < free.success.high
