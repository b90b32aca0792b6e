"""Full-domain recoding against every choice of levels, counted one by one."""

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.released_cells import contains, parse_released

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.release.full_domain import proposed_widths, search_lattice
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn, NumberDomain

AGES = {"widths": [10, 20], "start": 0}
PLACES = {"lengths": [2, 1]}
SCHEMA = sf.Schema(
    person="who",
    quasi_identifiers={
        "age": {"kind": "numeric", "hierarchy": AGES},
        "place": {"kind": "categorical", "hierarchy": PLACES, "weight": 2.0},
        "sex": "categorical",
    },
    sensitive="illness",
)
SHOWN = {
    "age": [
        lambda age: age,
        lambda age: f"{age // 10 * 10}-{age // 10 * 10 + 9}",
        lambda age: f"{age // 20 * 20}-{age // 20 * 20 + 19}",
        lambda age: "*",
    ],
    "place": [
        lambda place: place,
        lambda place: place[:2],
        lambda place: place[:1],
        lambda place: "*",
    ],
    "sex": [lambda sex: sex, lambda sex: "*"],
}
WEIGHTS = {"age": 1, "place": 2, "sex": 1}


@st.composite
def files(draw, several=True):
    persons = draw(st.integers(4, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records = rng.integers(1, 4 if several else 2, persons)
    person = np.repeat(np.arange(persons), records)
    moves = rng.integers(0, 12, len(person)) if several else 0
    age = (rng.integers(20, 60, persons)[person] + moves).tolist()
    if draw(st.booleans()):
        age[int(rng.integers(len(age)))] = None
    return pa.table(
        {
            "who": [f"p{each}" for each in person],
            "age": age,
            "place": rng.choice(["aa1", "aa2", "ab1", "ba1", "bb1"], persons)[person].tolist(),
            "sex": rng.choice(["f", "m"], persons)[person].tolist(),
            "illness": rng.choice(list("uvwx"), len(person)).tolist(),
        }
    )


def shown(rows, levels):
    """The cells of each record; a missing value stays missing below the root."""
    return [
        tuple(
            None
            if row[name] is None and level < len(SHOWN[name]) - 1
            else SHOWN[name][level](row[name])
            for name, level in zip(SHOWN, levels, strict=True)
        )
        for row in rows
    ]


def keeps(rows, cells, promises):
    classes = defaultdict(list)
    for row, cell in zip(rows, cells, strict=True):
        classes[cell].append(row)
    broken = set()
    for members in classes.values():
        persons = defaultdict(list)
        for row in members:
            persons[row["who"]].append(row["illness"])
        having = [sum(value in each for each in persons.values()) for value in "uvwx"]
        squares = sum(Fraction(len(each), len(members)) ** 2 for each in persons.values())
        reached = {
            "k": len(members),
            "pid_k": len(persons),
            "l": sum(count > 0 for count in having),
            "g_balance": 1 - squares,
            "h_affiliation": -Fraction(max(having), len(persons)),
        }
        if any(reached[name] < least - Fraction(1, 10**8) for name, least in promises.items()):
            broken |= set(persons)
    return broken


def loss(rows, levels, cells, chosen=None):
    """NCP of all rows or some, over all: each cell's share of the values that occur, weighted."""
    total = Fraction(0)
    for place, name in enumerate(SHOWN):
        values = {row[name] for row in rows} - {None}
        for number, (row, cell) in enumerate(zip(rows, cells, strict=True)):
            if chosen is not None and number not in chosen:
                continue
            if row[name] is None:
                part = Fraction(cell[place] == "*" and len(values) > 1)
            else:
                under = sum(SHOWN[name][levels[place]](each) == cell[place] for each in values)
                part = Fraction(under - 1, max(len(values) - 1, 1))
            total += WEIGHTS[name] * part
    return total / (sum(WEIGHTS.values()) * len(rows))


def best(rows, promises, most=0):
    found = []
    for levels in product(*(range(len(each)) for each in SHOWN.values())):
        everything = shown(rows, levels)
        gone, kept = set(), list(range(len(rows)))
        while True:
            broken = keeps([rows[k] for k in kept], [everything[k] for k in kept], promises)
            gone |= broken
            kept = [k for k in kept if rows[k]["who"] not in gone]
            if not broken or len(gone) > most or not kept:
                break
        if len(gone) > most or not kept:
            continue
        base = loss(rows, levels, everything)
        if gone:
            inside = loss(rows, levels, everything, set(range(len(rows))) - set(kept))
            base += Fraction(len(rows) - len(kept), len(rows)) - inside
        found.append(base)
    return min(found)


PROMISES = [
    ({"k": 3}, [sf.KAnonymity(3)]),
    ({"pid_k": 2}, [sf.PidKAnonymity(2)]),
    ({"g_balance": Fraction(1, 2)}, [sf.GBalance(0.5)]),
    ({"h_affiliation": -Fraction(3, 4)}, [sf.HAffiliation(0.75)]),
    ({"k": 2, "l": 2}, [sf.KAnonymity(2), sf.LDiversity(2)]),
]


@pytest.mark.slow
@given(files(), st.sampled_from(PROMISES))
def test_the_levels_are_the_best_of_all(table, promises):
    wanted, constraints = promises
    try:
        release = sf.anonymize(table, SCHEMA, *constraints, recoding="full-domain", seed=0)
    except ConstraintsNotMetError:
        return
    rows = table.to_pylist()
    least = best(rows, wanted)
    assert release.levels.exact
    assert release.levels.loss == pytest.approx(float(least))
    assert release.utility.ncp == pytest.approx(float(least))
    out = release.table.to_pylist()
    cells = [tuple(row[name] for name in SHOWN) for row in out]
    assert not keeps(out, cells, wanted)
    where = defaultdict(set)
    for row, cell in zip(out, cells, strict=True):
        where[row["who"]].add(cell)
    split = sum(len(each) > 1 for each in where.values())
    assert release.levels.split_persons == split
    said = [each for each in release.warnings if "several classes" in each]
    assert [each.split(" ")[0] for each in said] == ([str(split)] if split else [])


@given(files(), st.sampled_from(PROMISES), st.sampled_from([0.1, 0.3]))
def test_suppression_within_the_limit_is_the_best_too(table, promises, share):
    wanted, constraints = promises
    rows = table.to_pylist()
    persons = {row["who"] for row in rows}
    if keeps(rows, [()] * len(rows), wanted):
        return
    release = sf.anonymize(
        table, SCHEMA, *constraints, recoding="full-domain", suppress=share, seed=0
    )
    least = best(rows, wanted, int(len(persons) * share + 1e-9))
    assert release.levels.loss == pytest.approx(float(least))
    assert release.utility.ncp == pytest.approx(float(least))
    assert release.utility.suppressed_persons <= share * len(persons)


@given(files(several=False))
def test_one_level_for_all_records_and_every_cell_is_true(table):
    release = sf.anonymize(
        table, SCHEMA, sf.KAnonymity(2), recoding="full-domain", keep_order=True, seed=0
    )
    kinds = {"age": Kind.NUMERIC, "place": Kind.CATEGORICAL, "sex": Kind.CATEGORICAL}
    chosen = [each.level for each in release.levels.columns]
    expected = shown(table.to_pylist(), chosen)
    for place, (name, kind) in enumerate(kinds.items()):
        cells = release.table.column(name).to_pylist()
        assert cells == [None if cell[place] is None else str(cell[place]) for cell in expected]
        for cell, value in zip(cells, table.column(name).to_pylist(), strict=True):
            label = None if value is None else str(value)
            if name != "place" or cell == "*":
                assert contains(parse_released(cell, kind), label, kind)


@st.composite
def lattices(draw):
    heights = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    losses = [np.sort(rng.integers(0, 9, height)) / 8.0 for height in heights]
    nodes = list(product(*(range(height) for height in heights)))
    start = [nodes[k] for k in rng.choice(len(nodes), rng.integers(1, 4))]
    start.append(nodes[-1])
    good = {
        node
        for node in nodes
        if any(all(a >= b for a, b in zip(node, low, strict=True)) for low in start)
    }
    if not draw(st.booleans()):
        good = {node for node in nodes if rng.random() < 0.3} | {nodes[-1]}
        return losses, nodes, good, False
    return losses, nodes, good, True


@given(lattices(), st.sampled_from([1, 3, 10**6]))
def test_lattice_search_against_all_nodes(lattice, most_checked):
    losses, _, good, monotone = lattice

    def base(node):
        return sum(float(each[level]) for each, level in zip(losses, node, strict=True))

    checked = []

    def check(node):
        checked.append(node)
        return 0.0 if node in good else None

    found = search_lattice(losses, check, monotone=monotone, most_checked=most_checked)
    least = min(base(node) for node in good)
    assert len(checked) == len(set(checked)) == found.checked
    assert found.node in good
    assert found.loss == base(found.node)
    assert found.bound <= least + 1e-12
    if found.exact or most_checked == 10**6:
        assert found.exact
        assert found.loss == pytest.approx(least)


def test_a_lattice_cut_short_says_so(monkeypatch):
    monkeypatch.setattr("sfumato.release.full_domain.MOST_WORK", 0)
    monkeypatch.setattr("sfumato.release.full_domain.LEAST_CHECKED", 2)
    ages = pa.table({"age": list(range(20, 60)), "zip": [10 * k for k in range(40)]})
    schema = sf.Schema(quasi_identifiers={"age": "numeric", "zip": "numeric"})
    release = sf.anonymize(ages, schema, sf.KAnonymity(8), recoding="full-domain", seed=0)
    assert not release.levels.exact
    assert release.levels.bound < release.levels.loss
    assert release.risk.k >= 8
    assert any("too large to search in full" in each for each in release.warnings)


@pytest.mark.parametrize(
    ("points", "decimals", "widths"),
    [
        (range(17, 91), 0, (5, 10, 20, 40)),
        (range(4), 0, (2,)),
        ((0, 99_999), 0, (5000, 10_000, 20_000, 40_000, 80_000)),
        ((10, 55), 1, (0.2, 0.4, 0.8, 1.6, 3.2)),
    ],
)
def test_proposed_widths(points, decimals, widths):
    column = CodedColumn(
        "x",
        np.zeros(1, np.int32),
        NumberDomain(np.array(list(points)), decimals),
        Kind.NUMERIC,
    )
    assert proposed_widths(column) == widths


def test_dates_get_calendar_intervals_and_the_schema_says_so():
    table = pa.table(
        {"born": [f"19{year}-0{month}-11" for year in range(50, 58) for month in "15"]}
    )
    schema = sf.Schema(quasi_identifiers={"born": "numeric"})
    release = sf.anonymize(table, schema, sf.KAnonymity(2), recoding="full-domain", seed=0)
    assert "several classes" not in " ".join(release.warnings)
    assert set(release.table.column("born").to_pylist()) == {str(y) for y in range(1950, 1958)}
    spec = release.schema.quasi_identifiers["born"].hierarchy
    assert spec.widths == ("month", "quarter", "year", "decade")


def test_options_that_do_not_fit():
    table = pa.table({"age": [1, 2, 3, 4]})
    schema = sf.Schema(quasi_identifiers={"age": "numeric"})
    for wrong in ({"values": "mean"}, {"values": "set"}):
        with pytest.raises(InputError, match="parameter values"):
            sf.anonymize(table, schema, sf.KAnonymity(2), recoding="full-domain", **wrong)
    with pytest.raises(InputError, match="parameter coarsen_counts"):
        sf.anonymize(
            table,
            schema,
            sf.SharedCounts(2),
            recoding="full-domain",
            coarsen_counts="drop",
        )
    with pytest.raises(InputError, match=r"parameter recoding.*local, full-domain"):
        sf.anonymize(table, schema, sf.KAnonymity(2), recoding="global")
