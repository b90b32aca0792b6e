"""Public grids and blocks: values stay inside, nobody is singled out, the price is true."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.intruder.attack import attack
from sfumato.release.generalisation import (
    MOST_LONE,
    RARE_STEP,
    STEPS,
    class_spread,
    set_members,
    snapped_points,
    with_snapped_ends,
)
from sfumato.release.release_manifest import Manifest
from sfumato.table.door import open_table
from sfumato.table.table import NumberDomain

SCHEMA = sf.Schema(
    quasi_identifiers={"age": "numeric", "sex": "categorical", "income": "numeric"},
    sensitive=["illness"],
)


def persons(seed: int, number: int, *, heaped: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    income = np.exp(rng.normal(10.3, 0.6, number)).astype(np.int64)
    rounded = heaped & (rng.random(number) < 1 / 2)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, number),
            "sex": rng.choice(["F", "M"], number),
            "income": np.where(rounded, income // 1000 * 1000, income),
            "illness": rng.choice(["flu", "gout", "asthma"], number),
        }
    )


def ends_of(cell: str) -> tuple[int, int]:
    low, _, high = cell.partition("-")
    return int(low), int(high or low)


@given(st.lists(st.tuples(st.integers(-(10**6), 10**6), st.integers(0, 3)), min_size=1))
def test_values_are_inside_and_ends_are_nobodys(rows: list[tuple[int, int]]) -> None:
    values, class_of = (np.array(each) for each in zip(*rows, strict=True))
    points, codes = np.unique(values, return_inverse=True)
    classes = np.unique(class_of, return_inverse=True)[1]
    spread = class_spread(codes.astype(np.int32), classes.astype(np.int32), classes.max() + 1)
    lows, highs = snapped_points(NumberDomain(points), spread)
    for number, (low, high) in enumerate(zip(lows.tolist(), highs.tolist(), strict=True)):
        own = values[classes == number]
        width = int(own.max() - own.min())
        assert low <= own.min()
        assert high >= own.max()
        if width <= 1:
            assert (low, high) == (own.min(), own.max())
            continue
        steps = [d * 10**p for p in range(7) for d in (1, 2, 5)]
        (step,) = {max(2, min(steps, key=lambda each: abs(np.log(20 * each / width))))}
        assert low % step == 0
        assert (high + 1) % step == 0
        assert high - low <= width + 2 * step
        if step >= 5:
            assert not {low or None, high} & set(own.tolist())  # 0 is where counts begin


@pytest.mark.parametrize("k", fast_first(1, [5, 20]))
@pytest.mark.parametrize("heaped", [False, True])
def test_nobody_is_singled_out_beyond_chance(k: int, heaped: bool) -> None:
    data = persons(k + heaped, 1500, heaped=heaped)
    warned = {}
    for ends in ("tight", "snapped"):
        release = sf.anonymize(data, SCHEMA, sf.KAnonymity(k), seed=1, ends=ends)
        found = attack(release, seed=1, attacks=["singling_out"])
        warned[ends] = any(each.startswith("The ends of ranges") for each in found.warnings)
    assert warned == {"tight": True, "snapped": False}


def test_the_price_is_that_of_the_cells_as_they_are_read() -> None:
    data = persons(3, 800)
    tight, snapped = (
        sf.anonymize(data, SCHEMA, sf.KAnonymity(5), seed=1, ends=ends, effort=0)
        for ends in ("tight", "snapped")
    )
    assert snapped.risk.classes == tight.risk.classes
    assert snapped.utility.ane == tight.utility.ane
    for name in ("age", "income"):
        widths = [high - low for low, high in map(ends_of, snapped.data[name])]
        (loss,) = [each for each in snapped.utility.columns if each.column == name]
        own = np.minimum(np.array(widths) / np.ptp(data[name]), 1)
        assert loss.ncp == pytest.approx(own.mean())
        originals = data[name].to_numpy()[snapped.source_rows]
        inside = [ends_of(cell) for cell in snapped.data[name]]
        assert all(low <= v <= high for (low, high), v in zip(inside, originals, strict=True))


def test_bounds_dates_and_coded_ends() -> None:
    data = persons(4, 600)
    data["born"] = [date(1930, 1, 1) + pd.Timedelta(days=int(d)) for d in data["income"] % 9000]
    schema = sf.Schema(
        quasi_identifiers={
            "age": {"kind": "numeric", "top": 80},
            "born": "numeric",
            "sex": "categorical",
        },
        sensitive=["illness"],
        insensitive=["income"],
        accepted={"income": "for the test"},
    )
    ranges, bounds = (
        sf.anonymize(data, schema, sf.KAnonymity(20), seed=1, ends="snapped", values=values)
        for values in ("range", "bounds")
    )
    assert any(cell.endswith(" or more") for cell in ranges.data["age"])
    shown = bounds.data["born_low"].astype(str) + " to " + bounds.data["born_high"].astype(str)
    assert set(shown) == set(ranges.data["born"])
    born = data["born"].to_numpy()[bounds.source_rows]
    low, high = (pd.to_datetime(bounds.data[f"born_{end}"]).dt.date for end in ("low", "high"))
    assert all(a <= b <= c for a, b, c in zip(low, born, high, strict=True))


def test_beside_sets_of_categories_numbers_have_ends_on_a_grid() -> None:
    data = persons(6, 300)
    data["sex"] = np.random.default_rng(6).choice(list("abcdefghijkl"), len(data))
    sets = sf.anonymize(data, SCHEMA, sf.KAnonymity(10), seed=1, values="set")
    assert not any("{" in cell for cell in sets.data["income"])
    assert any("{" in cell for cell in sets.data["sex"])
    for name in ("age", "income"):
        originals = data[name].to_numpy()[sets.source_rows]
        inside = [ends_of(cell) for cell in sets.data[name]]
        assert all(low <= v <= high for (low, high), v in zip(inside, originals, strict=True))
        (loss,) = [each for each in sets.utility.columns if each.column == name]
        widths = np.array([high - low for low, high in inside])
        assert loss.ncp == pytest.approx(np.minimum(widths / np.ptp(data[name]), 1).mean())


def test_classes_are_sought_that_lose_little_as_they_are_written() -> None:
    data = persons(1, 2500)
    tight, snapped, unaware = (
        sf.anonymize(data, SCHEMA, sf.KAnonymity(5), seed=1, ends=ends, effort=effort).utility
        for ends, effort in (("tight", None), (None, None), (None, 0))
    )
    assert snapped.ncp < 1.12 * tight.ncp
    assert snapped.ncp < unaware.ncp


def test_it_is_usual_stands_in_the_manifest_and_is_refused_where_no_ends_show() -> None:
    data = persons(5, 200)
    release = sf.anonymize(data, SCHEMA, sf.KAnonymity(5), seed=1)
    assert 'ends = "snapped"' in release.manifest.to_toml()
    assert isinstance(release.manifest, Manifest)
    assert "between points of a grid" in release.codebook()
    with pytest.raises(sf.InputError, match="parameter ends must be left out"):
        sf.anonymize(data, SCHEMA, sf.KAnonymity(5), ends="snapped", values="mean")


def test_ends_go_below_no_bound_and_have_no_zeros_behind_them() -> None:
    lows, highs = snapped_points(
        NumberDomain(np.arange(0, 100)),
        class_spread(np.array([0, 90], np.int32), np.zeros(2, np.int32), 1),
    )
    assert lows.tolist() == [0]
    assert highs[0] >= 90
    rng = np.random.default_rng(5)
    income = np.round(rng.lognormal(10, 0.4, 400), 1)
    income[0] += 1e-9
    data = pd.DataFrame({"income": income, "age": rng.integers(0, 95, 400)})
    schema = sf.Schema(quasi_identifiers={"income": "numeric", "age": "numeric"})
    for values in ("range", "bounds"):
        release = sf.anonymize(data, schema, sf.KAnonymity(20), seed=1, values=values)
        cells = [str(cell) for name in release.data.columns for cell in release.data[name]]
        assert not any("-" in cell and cell.startswith("-") for cell in cells)
        assert not any(re.search(r"\.\d*0(\D|$)|\.9999", cell) for cell in cells if cell != "*")
    low, high = (release.data[f"income_{end}"].astype(float) for end in ("low", "high"))
    own = income[release.source_rows]
    assert ((low <= own) & (own <= high)).all()


def test_techniques_need_what_they_keep() -> None:
    with pytest.raises(InputError, match="techniques"):
        sf.anonymize(persons(1, 60), SCHEMA, sf.KAnonymity(2), techniques="widen")


@pytest.mark.parametrize(
    ("levels", "k"), fast_first(2, [(3, 4), (8, 5), (16, 3), (60, 6), (240, 10)], tuples=True)
)
@pytest.mark.parametrize("values", ["range", "bounds"])
def test_ranges_of_ordered_categories_end_on_a_grid_of_places(
    levels: int, k: int, values: str
) -> None:
    """Guessed from the cells alone: who is at an end is isolated no more often than by chance."""
    rng = np.random.default_rng(levels)
    order = [f"L{(each * 7) % levels:03}" for each in range(levels)]
    assert len(set(order)) == levels
    data = persons(levels, 900)
    data["level"] = [order[each] for each in rng.binomial(levels - 1, rng.beta(2, 3, 900))]
    schema = sf.Schema(
        quasi_identifiers={"age": "numeric", "level": {"kind": "ordered", "order": order}},
        sensitive=["illness"],
        direct_identifiers=["sex", "income"],
    )
    release = sf.anonymize(data, schema, sf.KAnonymity(k), values=values, seed=1, effort=2)
    order = [each for each in order if each in set(data["level"])]
    levels, shown = len(order), release.data.copy()
    if values == "range":
        shown[["level_low", "level_high"]] = [
            (re.split("-| to ", each) * 2)[:2] for each in shown["level"]
        ]
    shown["true"] = data["level"].map(order.index).to_numpy()[release.source_rows]
    alone, chance, lost = [], [], []
    for _, people in shown.groupby(["age_low", "age_high"] if values == "bounds" else "age"):
        for (low, high), own in people.groupby(["level_low", "level_high"]):
            first, last = order.index(low), order.index(high)
            assert own["true"].between(first, last).all()
            width = last - first
            lost += [width / (levels - 1)] * len(own)
            if width > 1 or (width and levels > 20):
                wide = last == levels - 1
                assert any(
                    first % d == 0 and (wide or (last + 1) % d == 0) for d in (2, 3, 5, 10, 20)
                ), (first, last)
                held = own["true"].value_counts()
                alone += [held.get(each, 0) == 1 for each in (first, last)]
                share = 1 / (width + 1)
                chance += [len(own) * share * (1 - share) ** (len(own) - 1)] * 2
    assert sum(alone) <= sum(chance) + 3 * np.sqrt(sum(chance) + 1)
    (column,) = [each for each in release.utility.columns if each.column == "level"]
    assert column.ncp == pytest.approx(np.mean(lost))
    assert (RARE_STEP, STEPS) == (3, 20)


TOWNS = sf.Schema(
    quasi_identifiers={"age": "numeric", "town": "categorical"}, sensitive=["illness"]
)


def citizens(seed: int, number: int, towns: int) -> pd.DataFrame:
    """People of towns of very different sizes."""
    rng = np.random.default_rng(seed)
    size = rng.pareto(1.2, towns) + 0.05
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, number),
            "town": rng.choice(
                [f"T{each:03}" for each in range(towns)], number, p=size / sum(size)
            ),
            "illness": rng.choice(["flu", "gout", "asthma"], number),
        }
    )


def members_of(cell: str, everything: set[str]) -> set[str]:
    if cell == "*":
        return everything
    return set(cell[1:-1].split(", ")) if cell.startswith("{") else {cell}


@pytest.mark.parametrize(("towns", "k"), [(300, 3), (300, 20), (30, 5), (5, 5)])
def test_sets_are_public_blocks_whose_members_are_seldom_somebody_alone(towns: int, k: int) -> None:
    data = citizens(towns + k, 800, towns)
    release = sf.anonymize(data, TOWNS, sf.KAnonymity(k), values="set", seed=1, effort=4)
    everything, shown = set(data["town"]), release.data.copy()
    shown["true"] = data["town"].to_numpy()[release.source_rows]
    alone, chance, lost = [], [], []
    for (_, cell), people in shown.groupby(["age", "town"]):
        members, held = members_of(cell, everything), people["true"].value_counts()
        assert set(held.index) <= members
        lost += [(len(members) - 1) / (len(everything) - 1)] * len(people)
        if len(members) == 1 or cell == "*":
            continue
        assert len(members) >= 4
        size, many = len(members), len(people)
        alone += [held.get(each, 0) == 1 for each in members]
        chance += [many / size * (1 - 1 / size) ** (many - 1)] * size
    found, expected = sum(alone), sum(chance)
    assert found <= expected + 3 * np.sqrt(expected + 1)
    (column,) = [each for each in release.utility.columns if each.column == "town"]
    assert column.ncp == pytest.approx(np.mean(lost))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 4)), min_size=1), st.booleans())
def test_which_people_of_a_class_have_a_value_changes_no_block(
    rows: list[tuple[int, int]], ordered: bool
) -> None:
    """A set has its class's values, depends on nothing but the blocks, and holds few lone ones."""
    codes, class_of = (np.array(each, dtype=np.int32) for each in zip(*rows, strict=True))
    values = [f"{each:02}" for each in range(41)]
    fields = {"kind": "ordered", "order": values} if ordered else {"kind": "categorical"}
    every = pd.DataFrame({"town": [values[each] for each in (*codes, *range(41))]})
    schema = sf.Schema(quasi_identifiers={"town": fields})
    table = with_snapped_ends(open_table(every, schema), sets=True)
    column = table.quasi_identifiers[0]
    assert column.lone is not None
    lone = np.bincount(column.codes, minlength=41) == 1
    assert (column.lone == lone).all()
    own = replace(column, codes=codes)
    sets = set_members(own, class_of, 5)
    for each in np.unique(class_of).tolist():
        members = set(sets.codes[sets.owner == sets.of_class[each]].tolist())
        held = set(codes[class_of == each].tolist())
        assert held <= members
        assert len(members) == 1 or len(members) >= 4
        few = lone[list(held)].sum() <= MOST_LONE * len(members)
        assert few or len(members) in (1, 41)
        filled = sorted(members) * 2 if len(held) > 1 and len(members) < 41 else sorted(held)
        again = set_members(
            replace(column, codes=np.array(filled, dtype=np.int32), lone=lone & False),
            np.zeros(len(filled), dtype=np.int32),
            1,
        )
        assert set(again.codes.tolist()) <= members


def test_a_town_that_one_person_has_is_not_one_of_few() -> None:
    """Everybody is from another town: each block has people of its own in one class alone."""
    data = pd.DataFrame({"town": [f"T{each:03}" for each in range(64)]})
    schema = sf.Schema(quasi_identifiers={"town": "categorical"})
    release = sf.anonymize(data, schema, sf.KAnonymity(8), values="set", seed=1)
    for cell, people in release.data.groupby("town"):
        members = members_of(str(cell), set(data["town"]))
        assert cell == "*" or len(people) <= MOST_LONE * len(members)
    assert pytest.approx(np.exp(-1)) == MOST_LONE


def test_order_of_rows_and_tight_sets_stay() -> None:
    data = citizens(8, 300, 60)
    one, other = (
        sf.anonymize(each, TOWNS, sf.KAnonymity(5), values="set", seed=1, effort=0)
        for each in (data, data.sample(frac=1, random_state=3))
    )
    assert sorted(one.data["town"]) == sorted(other.data["town"])
    tight = sf.anonymize(data, TOWNS, sf.KAnonymity(5), values="set", ends="tight", seed=1)
    true = data["town"].to_numpy()[tight.source_rows]
    for (_, cell), people in tight.data.assign(true=true).groupby(["age", "town"]):
        assert members_of(cell, set(data["town"])) == set(people["true"])
    assert "at least four neighbours" in one.codebook()


@pytest.mark.parametrize("missing", [False, True])
def test_sets_within_a_hierarchy(tmp_path: Path, missing: bool) -> None:
    data = citizens(9, 400, 50)
    lines = [f"{each};{each[:3]};*" for each in sorted(set(data["town"]))]
    (tmp_path / "towns.csv").write_text("\n".join(lines) + "\n")
    fields = {"kind": "categorical", "hierarchy": str(tmp_path / "towns.csv")}
    schema = sf.Schema(quasi_identifiers={"age": "numeric", "town": fields}, sensitive=["illness"])
    if missing:
        data.loc[::7, "town"] = None
    release = sf.anonymize(data, schema, sf.KAnonymity(5), values="set", seed=1, effort=2)
    for cell, true in zip(
        release.data["town"], data["town"].to_numpy()[release.source_rows], strict=True
    ):
        if isinstance(true, str):
            assert cell == "*" or true in members_of(cell, set())
        else:
            assert cell == "*" or not isinstance(cell, str)


@pytest.mark.parametrize(
    ("times", "options", "warned"),
    [
        (0, {}, ""), (0, {"ends": "tight"}, "ends='snapped'"), (1, {}, "values='hierarchy'"),
        (1, {"values": "range"}, "values='hierarchy'"), (12, {}, ""), (0, {"population": 4000}, ""),
    ],
)  # fmt: skip
def test_sets_of_what_occurs_are_warned_of_where_members_are_single_peoples(
    times: int, options: dict[str, object], warned: str
) -> None:
    everybody = citizens(3, 400 * max(times, 1), 150)
    data, known = everybody[:400], everybody[["age", "town"]] if times else None
    asked = {"values": "set", "register": known, "effort": 0, "seed": 1, **options}
    release = sf.anonymize(data, TOWNS, sf.KAnonymity(5), **asked)
    said = [each for each in release.warnings if "members" in each]
    assert len(said) == bool(warned)
    if warned:
        assert "'town'" in said[0]
        assert warned in said[0]
        shown, listed, alone = release.data.copy(), 0, 0
        for name in ("age", "town"):
            shown["true"] = data[name].to_numpy()[release.source_rows]
            for cells, people in shown.groupby(["age", "town"]):
                cell = cells[name == "town"]
                if f"'{name}'" in said[0] and cell.startswith("{"):
                    listed += len(members_of(cell, set()))
                    alone += int((people["true"].value_counts() == 1).sum())
        assert said[0].startswith(f"{alone:,} of {listed:,} members")


def test_sets_of_what_occurs_are_asked_for_on_spark() -> None:
    asked = {"engine": "spark", "values": "set", "register": pd.DataFrame()}
    with pytest.raises(InputError, match="parameter values must say ends='tight' beside it"):
        sf.anonymize("nowhere.csv", TOWNS, sf.KAnonymity(5), **asked)
    with pytest.raises(InputError, match="parameter register"):
        sf.anonymize("nowhere.csv", TOWNS, sf.KAnonymity(5), ends="tight", **asked)
