"""Linkage anonymity on files, and the example of paper 002, Figures 1 and 2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sfumato.core.errors import InputError
from sfumato.hierarchies import read_leaves_csv
from sfumato.schema import Kind, QuasiIdentifier, Schema
from sfumato.semantics.linkage_anonymity import (
    LinkageAnonymity,
    link_up,
    release_linked,
    shown_labels,
)
from sfumato.semantics.local_data import Local, matches, packed_keys

HOSPITAL = pd.DataFrame(
    [
        ("Ashly", 1972, "F", "Chinese", "Mandarin"),
        ("Alice", 1975, "F", "Chinese", "Mandarin"),
        ("Jessica", 1978, "F", "Chinese", "English"),
        ("Jack", 1965, "M", "Mongolian", "Mandarin"),
        ("Emma", 1962, "F", "Irish", "English"),
        ("Tom", 1984, "M", "Irish", "English"),
        ("Ann", 1988, "F", "English", "English"),
        ("Paul", 1983, "M", "English", "English"),
    ],
    columns=["name", "born", "sex", "ethnicity", "language"],
)
LINKED = HOSPITAL[HOSPITAL.name.isin(["Alice", "Tom", "Emma"])].assign(drug=["a", "b", "c"])
AT_TIME_1 = ("born", "sex", "ethnicity")
AT_TIME_2 = (*AT_TIME_1, "language")


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    files = {
        "born": [
            f"{year};{year // 10 * 10 + (1 if year % 10 else -9)}-{-(-year // 10) * 10};"
            f"{'1960-1980' if year <= 1980 else '1981-2000'};*"
            for year in range(1961, 2001)
        ],
        "sex": ["F;*", "M;*"],
        "ethnicity": [
            "Chinese;Asian;*",
            "Mongolian;Asian;*",
            "Irish;European;*",
            "English;European;*",
        ],
        "language": ["Mandarin;Chinese languages;*", "English;Germanic;*"],
    }
    for name, lines in files.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Schema(
        person="name",
        quasi_identifiers={
            name: QuasiIdentifier(hierarchy=tmp_path / f"{name}.csv", kind=Kind.CATEGORICAL)
            for name in files
        },
        insensitive="drug",
    )


def _asked(names: tuple[str, ...], k: int = 3) -> LinkageAnonymity:
    return LinkageAnonymity(local=HOSPITAL, k=k, quasi_identifiers=names, name="Hospital A")


def _who(local: Local, codes: np.ndarray, levels: np.ndarray) -> set[str]:
    """The names of those who match a tuple shown at some levels."""
    keys, asked = packed_keys(local.tables, levels.tolist(), local.codes, codes[np.newaxis])
    hit = np.repeat(keys == asked[0], np.diff(local.start))
    return set(HOSPITAL.name[np.unique(local.persons[hit])])


def test_figure_1_three_individuals_match(schema: Schema) -> None:
    release = _asked(AT_TIME_1).apply(LINKED, schema, keep_order=True, seed=1)
    first = release.data.iloc[0]
    assert (first.born, first.sex, first.ethnicity, first.language) == (
        "1971-1980",
        "F",
        "Chinese",
        "Mandarin",
    )
    assert release.quasi_identifiers == AT_TIME_1
    (local,) = release.linked.locals_
    tuple_ = release.linked.tuple_of[0]
    own = release.linked.columns_of(local)
    who = _who(local, release.linked.codes[tuple_, own], release.levels[tuple_, own])
    assert who == {"Ashly", "Alice", "Jessica"}
    assert release.measured.matches["Hospital A"].min() >= 3
    assert "Alice" not in release.table.to_pandas().to_string()


def test_figure_2_has_two_minimal_solutions_and_the_cheaper_one_is_taken(schema: Schema) -> None:
    linked = link_up(LINKED, schema, [_asked(AT_TIME_2)])
    (local,) = linked.locals_
    alice = int(linked.tuple_of[0])
    codes = linked.codes[[alice]]

    def found(levels: list[int]) -> set[str]:
        return _who(local, codes[0], np.array(levels))

    printed, ours = [2, 1, 1, 0], [1, 0, 0, 2]
    assert found(printed) == {"Alice", "Ashly", "Jack"}
    assert found(ours) == {"Ashly", "Alice", "Jessica"}
    for solution in (printed, ours):
        for place, level in enumerate(solution):
            if level:
                lower = np.array([solution])
                lower[0, place] -= 1
                assert matches(local, codes, lower)[0] < 3
    levels = linked.least_levels()
    assert levels[alice].tolist() == ours
    labels = shown_labels(linked, np.array([printed] * len(linked.codes)))
    shown = [labels[name][alice] for name in AT_TIME_2]
    assert shown == ["1960-1980", "*", "Asian", "Mandarin"]
    refined = np.array([[2, 1, 0, 0]])
    assert matches(local, codes, refined)[0] == 2


def test_risk_and_loss_are_those_of_the_formulas(schema: Schema) -> None:
    release = _asked(AT_TIME_1, 2).apply(LINKED, schema, keep_order=True, seed=1)
    counts = release.measured.matches["Hospital A"][release.linked.tuple_of]
    assert float(release.measured.risk) == pytest.approx(np.mean(1 / counts))
    levels = release.levels[release.linked.tuple_of][:, :3]
    expected = ((levels / np.array([3, 1, 2])) ** 2).sum() / (3 * 3)
    assert release.measured.squared_error == pytest.approx(expected)
    said = release.to_json()
    assert said["smallest_match"] == {"Hospital A": counts.min()}
    assert "sse_sst=" in repr(release)


def test_several_local_data_sets_each_keep_the_largest_k(schema: Schema) -> None:
    pharmacy = LinkageAnonymity(
        local=HOSPITAL, k=2, quasi_identifiers=("language", "sex"), name="Pharmacy B"
    )
    release = release_linked(LINKED, schema, [_asked(AT_TIME_1), pharmacy], seed=3)
    assert release.k == 3
    assert set(release.quasi_identifiers) == set(AT_TIME_2)
    assert set(release.measured.matches) == {"Hospital A", "Pharmacy B"}
    assert all(counts.min() >= 3 for counts in release.measured.matches.values())


def test_other_columns_and_seeds_repeat(schema: Schema) -> None:
    made = {"seed": 5, "secret": b"s" * 32}
    one, other = (_asked(AT_TIME_1).apply(LINKED, schema, **made).data for _ in range(2))
    pd.testing.assert_frame_equal(one, other)
    assert sorted(one.drug) == ["a", "b", "c"]


def test_missing_values_stay_missing_or_become_anything(schema: Schema) -> None:
    local = HOSPITAL.assign(ethnicity=HOSPITAL.ethnicity.where(HOSPITAL.sex == "F"))
    linked = local[local.name.isin(["Jack", "Paul", "Emma"])].assign(drug="a")
    asked = LinkageAnonymity(local=local, k=3, quasi_identifiers=("ethnicity",))
    shown = asked.apply(linked, schema, keep_order=True, seed=1).data
    assert shown.ethnicity.isna().tolist() == [True, False, True]
    asked = LinkageAnonymity(local=local, k=4, quasi_identifiers=("ethnicity",))
    shown = asked.apply(linked, schema, keep_order=True, seed=1).data
    assert shown.ethnicity.tolist() == ["*", "*", "*"]


def test_local_data_without_the_linked_persons_is_refused(schema: Schema) -> None:
    few = HOSPITAL[HOSPITAL.name != "Alice"]
    with pytest.raises(InputError, match="1 of 3 linked people") as caught:
        LinkageAnonymity(few, 3, AT_TIME_1).apply(LINKED, schema)
    assert "Alice" not in str(caught.value)
    without = few.drop(columns="name")
    with pytest.raises(InputError, match="1 of 3 linked records that match no person"):
        LinkageAnonymity(without, 3, AT_TIME_1).apply(LINKED, schema)


def test_k_larger_than_the_local_data_is_refused(schema: Schema) -> None:
    with pytest.raises(InputError, match="k = 9 and 8 people"):
        _asked(AT_TIME_1, 9).apply(LINKED, schema)
    with pytest.raises(InputError, match="parameter k"):
        _asked(AT_TIME_1, 0)


def test_an_attribute_without_hierarchy_is_refused(schema: Schema) -> None:
    plain = schema.model_copy(
        update={"quasi_identifiers": {**schema.quasi_identifiers, "sex": QuasiIdentifier()}}
    )
    with pytest.raises(InputError, match="'sex' must have a hierarchy"):
        _asked(AT_TIME_1).apply(LINKED, plain)
    release = _asked(("born",)).apply(LINKED, plain, keep_order=True, seed=1)
    assert release.data.sex.tolist() == LINKED.sex.tolist()


def test_unknown_codes_and_columns_are_refused(schema: Schema) -> None:
    odd = HOSPITAL.assign(ethnicity=HOSPITAL.ethnicity.replace("Irish", "canary"))
    with pytest.raises(InputError, match="1 of 4 distinct values without a leaf") as caught:
        LinkageAnonymity(odd, 3, AT_TIME_1).apply(LINKED, schema)
    assert "canary" not in str(caught.value)
    with pytest.raises(InputError, match="must be a quasi-identifier of the linked data"):
        _asked(("drug",)).apply(LINKED, schema)
    with pytest.raises(InputError, match="at least one"):
        release_linked(LINKED, schema, [])
    with pytest.raises(InputError, match="each column once"):
        _asked(("sex", "sex"))


@pytest.mark.parametrize("seed", range(8))
def test_enough_individuals_match_what_is_printed(schema: Schema, seed: int) -> None:
    rng = np.random.default_rng(seed)
    trees = {
        name: read_leaves_csv(quasi.hierarchy)
        for name, quasi in schema.quasi_identifiers.items()
        if isinstance(quasi.hierarchy, Path)
    }
    count = int(rng.integers(20, 60))
    local = pd.DataFrame(
        {"name": [f"p{i}" for i in rng.integers(0, count, count)]}
        | {name: rng.choice(tree.leaves, count) for name, tree in trees.items()}
    )
    linked = local[local.name.isin(local.name.unique()[:10])]
    k = int(rng.integers(2, 6))
    schema = schema.model_copy(update={"insensitive": ()})
    shown = LinkageAnonymity(local, k, AT_TIME_1).apply(linked, schema, seed=seed).data
    records = local.to_dict("records")
    for released in shown.to_dict("records"):
        who = {
            record["name"]
            for record in records
            if all(
                released[name] == "*" or trees[name].is_below(record[name], released[name])
                for name in AT_TIME_1
            )
        }
        assert len(who) >= k
    assert sorted(shown.language) == sorted(linked.language)
    assert set(shown.name).isdisjoint(local.name)
    assert shown.name.nunique() == linked.name.nunique()


def test_local_data_may_have_a_schema_of_its_own(schema: Schema) -> None:
    twice = pd.concat([HOSPITAL, HOSPITAL]).rename(columns={"name": "mrn"})
    bare = Schema(
        person="name",
        quasi_identifiers=dict.fromkeys(schema.quasi_identifiers, "categorical"),
        insensitive="drug",
    )
    own = schema.model_copy(update={"person": "mrn"})
    asked = LinkageAnonymity(twice, 3, AT_TIME_1, own, name="Hospital A")
    release = asked.apply(LINKED, bare, keep_order=True, seed=1)
    (local,) = release.linked.locals_
    assert local.individuals == 8
    expected = _asked(AT_TIME_1).apply(LINKED, schema, keep_order=True, seed=1)
    np.testing.assert_array_equal(release.levels, expected.levels)


def test_hierarchies_that_contradict_each_other_are_refused(schema: Schema, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("F;*\nM;*\n", encoding="utf-8")
    other = QuasiIdentifier(hierarchy=tmp_path / "other.csv", kind=Kind.CATEGORICAL)
    own = schema.model_copy(
        update={"quasi_identifiers": {**schema.quasi_identifiers, "sex": other}}
    )
    with pytest.raises(InputError, match="the same hierarchy in every schema"):
        LinkageAnonymity(HOSPITAL, 3, ("sex",), own).apply(LINKED, schema)


def test_numbers_and_categories_do_not_mix(schema: Schema) -> None:
    mixed = HOSPITAL.assign(born=[f"y{year}" for year in HOSPITAL.born])
    spec = QuasiIdentifier(hierarchy=schema.quasi_identifiers["born"].hierarchy)
    plain = schema.model_copy(
        update={"quasi_identifiers": {**schema.quasi_identifiers, "born": spec}}
    )
    with pytest.raises(InputError, match=r"born.*"):
        LinkageAnonymity(mixed, 3, ("born",)).apply(LINKED, plain)
    coded = QuasiIdentifier(hierarchy=spec.hierarchy, top=1990)
    topped = schema.model_copy(
        update={"quasi_identifiers": {**schema.quasi_identifiers, "born": coded}}
    )
    with pytest.raises(InputError, match="top- or bottom-coded"):
        LinkageAnonymity(HOSPITAL, 3, ("born",)).apply(LINKED, topped)
