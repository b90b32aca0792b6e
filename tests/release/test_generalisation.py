"""Released values: coded ends, and ranges of whole numbers that are printed directly."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.released_cells import contains, parse_released
from oracles.remeasure import remeasure

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.hierarchies import (
    Anything,
    AtLeast,
    AtMost,
    Range,
    format_released,
)
from sfumato.release.generalisation import release_column
from sfumato.release.release_options import Form
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn, NumberDomain

STEPS = ("none", "some", "more", "much", "most")


@st.composite
def files(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    persons = draw(st.integers(4, 25))
    person = np.repeat(np.arange(persons), rng.integers(1, 4, persons))
    age = (rng.integers(0, 40, persons)[person] + rng.integers(0, 3, len(person))).tolist()
    if draw(st.booleans()):
        age[0] = None
    return pa.table(
        {
            "who": [f"p{each}" for each in person],
            "age": age,
            "step": rng.choice(STEPS, persons)[person].tolist(),
        }
    )


def schema(bottom, top, step_top):
    return sf.Schema(
        person="who",
        quasi_identifiers={
            "age": {"kind": "numeric", "bottom": bottom, "top": top},
            "step": {"kind": "ordered", "order": STEPS, "top": step_top},
        },
    )


def ends_of(cell, lowest, highest):
    match cell:
        case Range(low, high):
            return int(low), int(high)
        case AtLeast(low):
            return int(low), highest
        case AtMost(high):
            return lowest, int(high)
        case Anything():
            return lowest, highest
    return int(cell.label), int(cell.label)


@given(
    files(),
    st.integers(-5, 20),
    st.integers(21, 50),
    st.sampled_from(["range", "set", "mean"]),
    st.sampled_from(["tight", None]),
)
def test_nothing_beyond_the_ends_shows(table, bottom, top, values, ends):
    coded = schema(bottom, top, step_top="much")
    release = sf.anonymize(
        table, coded, sf.PidKAnonymity(2), values=values, ends=ends, keep_order=True, seed=0
    )
    ages = table.column("age").to_pylist()
    known = [age for age in ages if age is not None]
    lost = []
    coded_some = any(age <= bottom or age >= top for age in known)
    for cell, age in zip(release.table.column("age").to_pylist(), ages, strict=True):
        if not coded_some and values != "range":
            break
        shown = parse_released(None if cell is None else str(cell), Kind.NUMERIC)
        assert contains(shown, None if age is None else str(age), Kind.NUMERIC)
        if age is None and cell is None:
            lost.append(0.0)
            continue
        low, high = ends_of(shown, min(known), max(known))
        if isinstance(shown, Range) and ends == "tight":
            assert bottom < low <= high < top
        inside = [each for each in known if low <= each <= high] or [high]
        span = max(max(known) - min(known), 1)
        lost.append(1.0 if cell == "*" else (max(inside) - min(inside)) / span)
    if lost and values != "set" and ends == "tight":
        column = next(each for each in release.utility.columns if each.column == "age")
        assert column.ncp == pytest.approx(sum(lost) / len(lost))
    for cell, step in zip(
        release.table.column("step").to_pylist(), table.column("step").to_pylist(), strict=True
    ):
        if values == "range":
            shown = parse_released(cell, Kind.ORDERED, STEPS)
            assert contains(shown, step, Kind.ORDERED, order=STEPS)
            assert "most" not in cell
    rows = [
        {name: "" if cell is None else str(cell) for name, cell in row.items()}
        for row in release.table.to_pylist()
    ]
    assert remeasure(rows, ["age", "step"], "who").pid_k >= 2


def test_one_class_at_each_end():
    ages = [10, 12, 15, 40, 41, 88, 91, 97]
    fields = {"kind": "numeric", "bottom": 17, "top": 80}
    coded = sf.Schema(quasi_identifiers={"age": fields})
    release = sf.anonymize(
        pa.table({"age": ages}), coded, sf.KAnonymity(2), keep_order=True, seed=0
    )
    cells = release.table.column("age").to_pylist()
    assert cells[:2] == ["17 or less"] * 2
    assert cells[-2:] == ["80 or more"] * 2
    bounds = sf.anonymize(
        pa.table({"age": ages}), coded, sf.KAnonymity(2), values="bounds", keep_order=True, seed=0
    )
    low, high = (bounds.table.column(name).to_pylist() for name in ("age_low", "age_high"))
    assert (low[0], high[0], low[-1], high[-1]) == (None, 17, 80, None)


@pytest.mark.parametrize("fields", [{}, {"bottom": 17}, {"top": 80}])
def test_ends_in_two_columns_are_numbers_throughout(fields):
    ages = [10, 12, None, 40, 41, 88, 91, 97, None, None]
    schema = sf.Schema(quasi_identifiers={"age": {"kind": "numeric", **fields}})
    data = pa.table({"age": pa.array(ages, pa.int64())})
    for promise in (sf.KAnonymity(2), sf.KAnonymity(4), sf.KAnonymity(10)):
        release = sf.anonymize(data, schema, promise, values="bounds", keep_order=True, seed=0)
        low, high = (release.table.column(name) for name in ("age_low", "age_high"))
        assert pa.types.is_integer(low.type)
        assert pa.types.is_integer(high.type)
        for age, first, last in zip(ages, low.to_pylist(), high.to_pylist(), strict=True):
            assert first is last is None or age is not None
            assert age is None or (first or age) <= age <= (last or age)
    assert release.risk_before.k == 1


def test_records_that_differ_beyond_an_end_alone_keep_their_order():
    rng = np.random.default_rng(3)
    columns = {"age": rng.integers(0, 90, 300), "zip": rng.integers(0, 3, 300)}
    table = pa.table(columns | {"icd9": rng.choice(["250", "401"], 300)})
    age = {"kind": "numeric", "bottom": 30, "top": 60}
    coded = sf.Schema(quasi_identifiers={"age": age, "zip": "numeric"}, sensitive=["icd9"])

    def made(part):
        asked = {"cut": "median", "keep_order": True, "seed": 1}
        release = sf.anonymize(part, coded, sf.KAnonymity(4), **asked)
        cells = [part.column("age"), *release.table.columns]
        return sorted(zip(*(each.to_pylist() for each in cells), strict=True), key=str)

    assert made(table) == made(table.take(pa.array(rng.permutation(300))))


@pytest.mark.parametrize(
    ("values", "fields", "cell"),
    [
        (["1931-05-01", "1935-02-03", "1970-01-01", "1980-01-01"], {"bottom": "1940-01-01"}, 0),
        (["1.5", "2.5", "9.5", "12.5"], {"top": 9.125}, -1),
        (["007", "009", "080", "099"], {"top": 75}, -1),
    ],
)
def test_dates_decimals_and_codes(values, fields, cell):
    coded = sf.Schema(quasi_identifiers={"x": {"kind": "numeric", **fields}})
    release = sf.anonymize(
        pa.table({"x": values}), coded, sf.KAnonymity(2), keep_order=True, seed=0
    )
    said = {0: "1940-01-01 or less", -1: "9.125 or more"}[cell]
    if values[0] == "007":
        said = "075 or more"
    assert release.table.column("x").to_pylist()[cell] == said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"kind": "categorical", "top": 5}, "numeric and ordered"),
        ({"kind": "numeric", "bottom": 5, "top": 5}, "less than"),
        ({"kind": "numeric", "top": "old"}, "of its own kind"),
        ({"kind": "numeric", "bottom": "7", "top": "3"}, "below its 'top'"),
        ({"kind": "ordered", "top": "old"}, "a category as its 'top'"),
        ({"kind": "numeric", "top": [1]}, "top"),
    ],
)
def test_ends_that_do_not_fit(fields, said):
    table = pa.table({"age": [1, 2, 3, 4, 5, 6, 7, 8]})

    def release():
        made = sf.Schema(quasi_identifiers={"age": fields})
        return sf.anonymize(table, made, sf.KAnonymity(2))

    with pytest.raises(InputError, match=said):
        release()


def test_no_coded_ends_with_labels_of_a_hierarchy():
    table = pa.table({"age": [1, 2, 3, 4]})
    fields = {"kind": "numeric", "top": 3, "hierarchy": {"widths": [2]}}
    coded = sf.Schema(quasi_identifiers={"age": fields})
    with pytest.raises(InputError, match="'top' or 'bottom'"):
        sf.anonymize(table, coded, sf.KAnonymity(2), recoding="full-domain")
    with pytest.raises(InputError, match="'top' or 'bottom'"):
        sf.anonymize(table, coded, sf.KAnonymity(2), values="hierarchy")


def test_coded_ends_in_a_schema_file(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(
        "[quasi_identifiers.age]\nkind = 'numeric'\nbottom = 17\ntop = 90.5\n"
        "[quasi_identifiers.born]\ntop = 1990-01-01\n",
        encoding="utf-8",
    )
    loaded = sf.load_schema(path)
    assert loaded.quasi_identifiers["age"].bottom == 17
    assert loaded.quasi_identifiers["born"].top == "1990-01-01"
    path.write_text(sf.dump_schema(loaded), encoding="utf-8")
    assert sf.load_schema(path) == loaded


numbers = st.lists(st.integers(-20, 200), min_size=1, max_size=12, unique=True).map(sorted)
cells = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 11)), min_size=1, max_size=30)


@given(numbers, cells, st.sampled_from([0, 1]), st.sampled_from([0, 3]))
def test_every_range_prints_as_it_does_in_full(points, records, decimals, width):
    domain = NumberDomain(np.array(points, dtype=np.int64), decimals, "number", width)
    numbered = {}
    class_of = np.array([numbered.setdefault(t, len(numbered)) for t, _ in records], np.int32)
    codes = np.array([min(code, len(points) - 1) for _, code in records], np.int32)
    column = CodedColumn("age", codes, domain, Kind.NUMERIC)
    (released,) = release_column(column, class_of, len(numbered), Form.RANGE)
    for t in range(len(numbered)):
        own = codes[class_of == t]
        known = own[own >= 0]
        text = released.texts[released.text_of_class[t]]
        if len(known) < len(own):
            assert text == (None if not len(known) else "*")
            continue
        ends = domain.label(int(known.min())), domain.label(int(known.max()))
        assert text == format_released(Range(*ends), Kind.NUMERIC, set())
