"""A released file as an outsider reads it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from few_cases import fast_first
from hypothesis import given
from hypothesis import strategies as st
from intruder.made_columns import KINDS, Made, lies_in, make_column

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.intruder.candidates import find_candidates
from sfumato.intruder.knowledge import hold
from sfumato.intruder.reading import ReleasedFile, read_release
from sfumato.intruder.released_syntax import (
    Anything,
    Cell,
    Exact,
    Interval,
    Members,
    Missing,
    Vocabulary,
    parse_bounds,
    parse_cell,
)

INF = math.inf
AGE = sf.Schema(quasi_identifiers={"x": "numeric"})


def _read(cells: list[str | None], declared: Any, register: list[Any] | None = None) -> list[Cell]:
    schema = sf.Schema(quasi_identifiers={"x": declared})
    known = None if register is None else hold(pa.table({"x": register}), schema)
    column = read_release(pa.table({"x": cells}), schema, known=known).quasi_identifiers[0]
    return [column.cells[code] for code in column.codes]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("34", Exact("34")),
        ("-5", Exact("-5")),
        ("84-86", Interval(84, 86)),
        ("1.5-2.25", Interval(1.5, 2.25)),
        ("-5 to 3", Interval(-5, 3)),
        ("-5-3", Interval(-5, 3)),
        ("-5--3", Interval(-5, -3)),
        ("90 or more", Interval(90, INF)),
        ('"90" or more', Interval(90, INF)),
        ("-3 or less", Interval(-INF, -3)),
        (">=90", Interval(90, INF)),
        ("≥ 90", Interval(90, INF)),
        (">90", Interval(90, INF, low_in=False)),
        ("<18", Interval(-INF, 18, high_in=False)),
        ("<= 17.5", Interval(-INF, 17.5)),
        ("90+", Interval(90, INF)),
        ("[20, 30[", Interval(20, 30, True, False)),
        ("]20, 30]", Interval(20, 30, False, True)),
        ("[20, 40)", Interval(20, 40, True, False)),
        ("(20, 40]", Interval(20, 40, False, True)),
        ("(-inf, 20.0]", Interval(-INF, 20, False, True)),
        ("[20-40)", Interval(20, 40, True, False)),
        ("20~40", Interval(20, 40)),
        ("20 – 40", Interval(20, 40)),
        ("{20, 21}", Members(frozenset({"20", "21"}))),
        ("2*", Interval(20, 30, True, False)),
        ("2005-03-01 to 2005-03-11", Interval(12843, 12853)),
        ("[2005-03-01, 2005-03-11)", Interval(12843, 12853, True, False)),
        ("2005-03-01T12:00 or more", Interval(12843.5, INF)),
        ("*", Anything()),
        ("~", Anything()),
        ("", Missing()),
        (None, Missing()),
    ],
)
def test_every_way_to_write_numbers(text: str | None, cell: Cell) -> None:
    assert _read([text, "1"], "numeric")[0] == cell


@pytest.mark.parametrize("text", ["adult", "30-20", "1-2-3", "[a, b)", '"1', "{1, 2", "2005-02-30"])
def test_a_cell_that_says_no_number_is_refused_by_its_row(text: str) -> None:
    with pytest.raises(InputError, match=r"column 'x' .* row 2; ") as refused:
        _read(["1", text], "numeric")
    assert text not in str(refused.value).partition("accepted")[0]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("2005", Interval(12784, 13148)),
        ("2005-03", Interval(12843, 12873)),
        ("2005-Q1", Interval(12784, 12873)),
        ("2000-2009", Interval(10957, 14609)),
        ("[2005, 2006[", Interval(12784, 13149, True, False)),
        ("<2005", Interval(-INF, 12784, high_in=False)),
        ("2005-03-01", Exact("2005-03-01")),
    ],
)
def test_parts_of_dates_where_the_register_has_dates(text: str, cell: Cell) -> None:
    assert _read([text], "numeric", ["2005-03-01", "2006-03-01"]) == [cell]
    declared = {"kind": "numeric", "hierarchy": {"widths": ["year"]}}
    assert _read([text], declared) == [cell]


def test_a_day_lasts_until_its_end_where_the_register_has_times() -> None:
    (cell,) = _read(["2005-03"], "numeric", ["2005-03-31T23:59:59", "2006-03-01T00:00:00"])
    assert isinstance(cell, Interval)
    assert 12873 + 86399 / 86400 <= cell.high < 12874


def test_without_a_kind_the_register_says_whether_20_to_30_is_a_label() -> None:
    assert _read(["20-30"], {}, ["25", "61"]) == [Interval(20, 30)]
    assert _read(["20-30"], {}, ["20-30", "31-40"]) == [Exact("20-30")]
    assert _read(["20-30", ">=31"], {}) == [Interval(20, 30), Interval(31, INF)]
    assert _read(["20-30", "adult"], {}) == [Exact("20-30"), Exact("adult")]


def test_labels_that_are_numbers_may_be_shown_by_ranges() -> None:
    zips = ["81667", "81675", "81700", "none"]
    shown = ["[81600, 81700)", "81667", "81600-81700", "none", "other"]
    assert _read(shown, "categorical", zips) == [
        Members(frozenset({"81667", "81675"})),
        Exact("81667"),
        Members(frozenset(zips[:3])),
        Exact("none"),
        Exact("other"),
    ]


def test_ordered_labels_that_look_like_ranges() -> None:
    ages = ["0-9", "10-19", "20-29", "30 or more"]
    ordered = {"kind": "ordered", "order": ages}
    assert _read(["10-19", "0-9 to 20-29", "30 or more"], ordered) == [
        Exact("10-19"),
        Members(frozenset(ages[:3])),
        Exact("30 or more"),
    ]
    assert _read(['"30 or more"', '"0-9" or more'], ordered) == [
        Exact("30 or more"),
        Members(frozenset(ages)),
    ]
    with pytest.raises(InputError, match=r"column 'x' .* row 1"):
        _read(["0-9 to 40-49"], ordered)


def test_a_text_that_is_a_label_and_a_range_of_labels_is_taken_as_either() -> None:
    both = {"kind": "ordered", "order": ["10", "12", "19", "10-19"]}
    assert _read(["10-19"], both) == [Members(frozenset({"10", "12", "19", "10-19"}))]
    assert _read(['"10-19"'], both) == [Exact("10-19")]


def test_ranges_of_labels_without_an_order_are_natural() -> None:
    cells = _read(["grade 2 to grade 11"], "ordered", ["grade 1", "Grade 9", "grade 11", "zero"])
    assert cells == [Members(frozenset({"grade 2", "Grade 9", "grade 11"}))]


def test_hidden_characters_are_looked_up_in_the_register() -> None:
    codes = ["81667", "81675", "8166", "91667"]
    assert _read(["816**"], "categorical", codes) == [Members(frozenset({"81667", "81675"}))]
    assert _read(["8166*"], "categorical", ["8166"]) == [Members(frozenset({"8166"}))]
    assert _read(["8*"], "categorical") == [Exact("8*")]


def test_labels_of_a_published_hierarchy_stand_for_the_values_below(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    path.write_text("20;[20, 22[;*\n21;[20, 22[;*\n22;[22, 24[;*\n")
    schema = sf.Schema(quasi_identifiers={"x": "numeric", "y": "categorical"})
    data = pa.table({"x": ["[20, 22[", "22", "*"], "y": ["a", "b", '"a, b"']})
    file = read_release(data, schema, hierarchies={"x": path})
    x, y = file.quasi_identifiers
    assert x.cells == (Members(frozenset({"20", "21"})), Exact("22"), Anything())
    assert y.cells == (Exact("a"), Exact("b"), Exact("a, b"))
    with pytest.raises(InputError, match="parameter hierarchies names column 'z'"):
        read_release(data, schema, hierarchies={"z": path})
    with pytest.raises(InputError, match="hierarchy of column 'x'"):
        read_release(data, schema, hierarchies={"x": tmp_path / "none.csv"})


def test_bounds_in_two_columns() -> None:
    schema = sf.Schema(quasi_identifiers={"age": "numeric", "sex": "categorical"})
    data = pa.table(
        {
            "age_low": [20, 25, None, 7, None, 80],
            "age_high": [25, 25, None, 9, 17, None],
            "sex": ["f", "*", "f", "f", "f", "f"],
        }
    )
    file = read_release(data, schema)
    assert file.quasi_identifiers[0].cells == (
        Interval(20, 25), Exact("25"), Anything(), Interval(7, 9), Interval(-INF, 17),
        Interval(80, INF),
    )  # fmt: skip
    assert [column.name for column in file.others] == []
    low = pa.table({"age_low": ["3 or less", "80"], "age_high": ["60", "90 or more"]})
    assert read_release(low, schema).quasi_identifiers[0].cells == (
        Interval(-INF, 60),
        Interval(80, INF),
    )


def test_persons_classes_and_other_columns_are_numbered_by_appearance() -> None:
    schema = sf.Schema(
        person="id", quasi_identifiers={"x": "numeric", "gone": "numeric"}, sensitive=["s"]
    )
    data = pa.table(
        {
            "id": ["q", "p", "q", "r"],
            "x": ["1-2", "3", "1-2", "1 to 2"],
            "s": ["flu", None, "flu", "cold"],
            "note": [1.5, 2.0, 1.5, None],
        }
    )
    file = read_release(data, schema)
    assert (file.records, file.persons, file.classes) == (4, 3, 2)
    assert file.person is not None
    assert file.person.tolist() == file.unit.tolist() == [0, 1, 0, 2]
    assert file.class_of.tolist() == [0, 1, 0, 0]
    assert file.first_row.tolist() == [0, 1]
    (sensitive,) = file.sensitive
    assert [sensitive.texts[code] for code in sensitive.codes] == ["flu", None, "flu", "cold"]
    assert [column.name for column in file.others] == ["id", "note"]
    assert file.others[1].texts == ("1.5", "2", None)


def test_texts_that_mean_missing_and_a_file_without_anything_to_attack() -> None:
    schema = sf.Schema(quasi_identifiers={"x": "numeric"}, missing=["-9"], person="id")
    file = read_release(pa.table({"x": [-9, 4]}), schema)
    assert file.quasi_identifiers[0].cells == (Missing(), Exact("4"))
    assert file.person is None
    assert file.unit.tolist() == [0, 1]
    with pytest.raises(InputError, match="must have a quasi-identifier of the schema"):
        read_release(pa.table({"y": [1]}), schema)
    with pytest.raises(InputError, match=r"must name the person of every row.* row 2"):
        read_release(pa.table({"x": [1, 2], "id": ["a", None]}), schema)


texts = st.text(st.sampled_from('0129-+.,;*~{}[]()<>=" toQrmes∞−'), max_size=14)
words = st.sampled_from(
    [
        Vocabulary(measured=True),
        Vocabulary(measured=True, dates=True, times=True, values=("2005-01-01", "2010-02-03")),
        Vocabulary(ordered=True, values=("1", "2", "1-2", "to")),
        Vocabulary(ordered=True, order=("0", "9", "1 or more", "{0}")),
        Vocabulary(values=("0", "12", "*1", "or")),
    ]
)


@given(text=texts, low=texts, words=words)
def test_no_text_is_too_odd(text: str, low: str, words: Vocabulary) -> None:
    for cell in (parse_cell(text, words), parse_bounds(low, text, words)):
        if isinstance(cell, Interval):
            assert cell.low <= cell.high
        elif isinstance(cell, Members):
            assert len(cell.texts) > 0
        assert not isinstance(cell, Missing) or not (text.strip() and low.strip())


FORMS = ["range", "bounds", "set", "hierarchy", "mean"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", fast_first(3, range(6)))
def test_every_original_value_lies_in_the_cell_that_is_read(
    kind: str, seed: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    made = _original(kind, rng, tmp_path)
    form = FORMS[int(rng.integers(len(FORMS)))]
    full_domain = seed == 0 and "hierarchy" in made.columns["x"].declared
    if full_domain or (kind == "coded ends" and form == "hierarchy"):
        form = "range"
    release = sf.anonymize(
        made.table,
        made.schema,
        sf.KAnonymity(2),
        values=form,
        recoding="full-domain" if full_domain else "local",
        seed=seed,
        keep_order=True,
    )
    data: Any = release.data
    if seed % 2:
        data = tmp_path / "release.csv"
        pc.write_csv(release.data, data)
    knowledge = hold(made.table, made.schema)
    file = read_release(data, made.schema, known=knowledge)
    _check_cells(file, made, without_means=form == "mean")
    _check_candidates(file, made)


class _Original:
    """A file with a column of the kind, a second one, and several records per person."""

    def __init__(self, columns: dict[str, Made], persons: list[str]) -> None:
        self.columns = columns
        self.persons = persons
        quasi = {name: column.declared for name, column in columns.items()}
        self.schema = sf.Schema(person="id", quasi_identifiers=quasi)
        values = {name: pa.array(column.values) for name, column in columns.items()}
        self.table = pa.table({"id": persons, **values})


def _original(kind: str, rng: np.random.Generator, folder: Path) -> _Original:
    n = int(rng.integers(6, 16))
    other = ["whole", "labels", "date"][int(rng.integers(3))]
    columns = {"x": make_column(kind, n, rng, folder), "y": make_column(other, n, rng, folder)}
    if rng.random() < 0.5:
        for column in columns.values():
            for row in np.flatnonzero(rng.random(n - 1) < 0.2).tolist():
                column.values[row + 1] = None
    return _Original(columns, [f"p{number}" for number in rng.integers(0, n // 2 + 1, n)])


def _check_cells(file: ReleasedFile, made: _Original, *, without_means: bool) -> None:
    for column in file.quasi_identifiers:
        original = made.columns[column.name]
        if without_means and original.measured:
            continue
        for code, value in zip(column.codes.tolist(), original.values, strict=True):
            assert lies_in(value, column.cells[code], measured=original.measured)


def _check_candidates(file: ReleasedFile, made: _Original) -> None:
    found = find_candidates(file, hold(made.table, made.schema), rows="all", means=())
    ids = list(dict.fromkeys(made.persons))
    for number, row in enumerate(file.first_row.tolist()):
        naive = [
            place
            for place, person in enumerate(ids)
            if all(
                lies_in(
                    made.columns[column.name].values[other],
                    column.cells[column.codes[row]],
                    measured=made.columns[column.name].measured,
                )
                for other, owner in enumerate(made.persons)
                if owner == person
                for column in file.quasi_identifiers
            )
        ]
        assert found.persons_of(number).tolist() == naive
        assert found.of_class[number] == len(naive)


def test_a_part_of_a_file_shows_the_same_of_fewer_records():
    shown = pa.table(
        {
            "id": ["a", "b", "a", "c", "b"],
            "age": ["20-29", "30-39", "20-29", "*", "30-39"],
            "ill": ["x", "y", "z", "x", "y"],
        }
    )
    schema = sf.Schema(person="id", quasi_identifiers={"age": "numeric"}, sensitive=["ill"])
    whole = read_release(shown, schema)
    rows = np.array([1, 3, 4])
    part, again = whole.part(rows), read_release(shown.take(rows), schema)
    assert (part.records, part.persons, part.classes) == (3, 2, 2)
    assert part.person.tolist() == again.person.tolist()
    assert part.class_of.tolist() == again.class_of.tolist()
    assert part.first_row.tolist() == again.first_row.tolist()
    for one, other in zip(
        (*part.quasi_identifiers, *part.sensitive), (*again.quasi_identifiers, *again.sensitive),
        strict=True,
    ):  # fmt: skip
        kept = one.cells if hasattr(one, "cells") else one.texts
        same = other.cells if hasattr(other, "cells") else other.texts
        assert [kept[code] for code in one.codes] == [same[code] for code in other.codes]
