"""Files without dates of birth, and small cohorts beside large files, linked without labels."""

from contextlib import closing
from dataclasses import astuple

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first
from linkage.census_files import (
    across,
    census_and_cohort,
    census_and_payroll,
    recorded,
    table,
    town,
)

from sfumato.linkage import pair_relations
from sfumato.linkage.candidate_pairs import make_tables
from sfumato.linkage.chance_agreement import chance_agreement
from sfumato.linkage.link import link
from sfumato.linkage.link_engine import connect
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.link_spec import LinkSpec
from sfumato.linkage.linkage_quality import quality_of_pairs, rates
from sfumato.linkage.pair_relations import (
    JUNIORS,
    NAMESAKES,
    RELATIONS,
    UNCHANGED,
    namesakes_at_one_rate,
    renamed_and_moved,
)
from sfumato.linkage.spec_suggestion import suggest_links

pytestmark = pytest.mark.usefixtures("few_random_pairs")


def found(tables, truth):
    """The linkage with nothing declared, and F1 of its links across the tables."""
    links = link(tables, seed=1)
    first = next(iter(tables.values())).num_rows
    precision, recall = across(links.settled.persons.person, truth, first)
    return links, 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("seed", fast_first(1, [11, 12, 13]))
def test_a_payroll_without_dates_of_birth_is_linked(seed):
    """Five large homes, several jobs, movers: what was refused before, and how good it is said."""
    tables, truth = census_and_payroll(2000, seed)
    links, both = found(tables, truth)
    assert both > 0.98
    assert links.model.by_relations
    assert links.model.once == ("census",)
    person, counted = links.settled.persons.person, tables["census"].num_rows
    every = quality_of_pairs(person, truth)
    apart = quality_of_pairs(person, truth, np.arange(len(truth)) >= counted)
    inside = [a - b for a, b in zip(astuple(every), astuple(apart), strict=True)]
    said = links.to_json()["persons"]
    assert said["pairs"] == "across sources"
    for told, counts, near in ((said, astuple(apart), 1), (said["within"], inside, 2)):
        for name, width in (("precision", 0.01), ("recall", 0.015)):
            value, right = told[name]["value"], getattr(rates(*counts), name)
            assert value == pytest.approx(right, abs=near * width)
            # Of three pairs that are expected to be wrong, none is in one file of twenty: what is
            # stated may be that much worse than what is true, never better.
            assert told[name]["low"] < right < told[name]["high"] + 3 / min(counts)


@pytest.mark.parametrize("seed", fast_first(1, [11, 12, 13]))
def test_a_small_cohort_is_linked_with_a_large_file(seed):
    tables, truth = census_and_cohort(1500, 50, seed)
    links, both = found(tables, truth)
    assert both > 0.96
    assert links.model.once == ("census", "benefit")
    precision = links.to_json()["persons"]["precision"]
    assert precision["low"] > 0.9


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("seed", fast_first(1, [31, 32, 33, 34, 35]))
@pytest.mark.parametrize("twice", [0.0, 0.05])
def test_a_declaration_is_believed_where_the_data_bear_it_out(twice, seed, dated):
    """Said to hold each person once: true of one file, one in twenty is there twice in another."""
    rng = np.random.default_rng(seed)
    person = town(900, rng)
    if not dated:
        del person["date_of_birth"]
    rows = [np.flatnonzero(rng.random(900) < 0.8), np.flatnonzero(rng.random(900) < 0.6)]
    again = rng.choice(rows[0], int(twice * len(rows[0])), replace=False)
    rows[0] = np.append(rows[0], again)
    tables = {name: table(recorded(person, own, rng)) for name, own in zip("ab", rows, strict=True)}
    made = suggest_links(tables)
    spec = LinkSpec(**{**dict(made.spec), "one_per_source": ("a",)})
    links = link(tables, spec, seed=1)
    said = [note for note in links.model.notes if "'a' is declared" in note]
    assert len(said) == (1 if twice else 0)
    if twice:
        about = int(said[0].partition("About ")[2].partition(" ")[0])
        assert about == pytest.approx(len(again), rel=0.3)
        assert links.model.lost >= 0.7 * len(again)


def test_names_sex_and_year_of_birth_are_enough():
    rng = np.random.default_rng(5)
    person, rows, made = town(2000, rng), [], {}
    for source in ("a", "b"):
        rows.append(rng.permutation(np.flatnonzero(rng.random(2000) < 0.8)))
        own = recorded(person, rows[-1], rng)
        years = [None if day is None else day.year for day in own["date_of_birth"]]
        kept = {name: own[name] for name in ("first_name", "last_name", "sex")}
        made[source] = table({**kept, "year_of_birth": years})
    assert found(made, np.concatenate(rows))[1] > 0.97


def test_a_house_number_is_of_the_home_and_a_year_of_birth_is_not():
    """By what relatives have in common, not by their headers."""
    tables, _ = census_and_payroll(1500, 3)
    renamed = ["given", "middle", "family", "one", "street", "other"]
    years = np.random.default_rng(1).integers(1930, 2010, tables["census"].num_rows).astype(str)
    names = ["first_name", "middle_initial", "last_name", "street_number", "street_name"]
    census = tables["census"].select(names).append_column("year", pa.array(years))
    spec = LinkSpec(
        mode="dedupe-only",
        columns={
            "given": "given name", "middle": "given name", "family": "surname",
            "one": "number", "street": "address", "other": "number",
        },
        blocking=["family"],
    )  # fmt: skip
    with (
        open_sources({"a": census.rename_columns(renamed)}, spec) as opened,
        closing(connect(opened.workspace.path)) as connection,
    ):
        made = make_tables(connection, opened)
        chance = chance_agreement(connection, made.tables, spec)
    assert set(chance.home) == {"one", "street"}
    assert chance.rarest(["middle", "given"]) == ["given", "middle"]


def groups_of(**numbers):
    """Pairs of each relation in two groups."""
    number = np.full((2, len(RELATIONS)), 1e-3)
    for relation, values in numbers.items():
        number[:, getattr(pair_relations, relation)] = values
    return number


@pytest.mark.parametrize(
    ("juniors", "once", "expected"),
    [
        # A group that has few of one name in a household says so of the other one.
        ((0.1, 500.0), (False, False), (0.1, 0.2)),
        # Where all groups have many they may be persons: one pair in 200 is taken for juniors.
        ((50.0, 500.0), (False, False), (0.5, 1.0)),
        # Of a source that somebody declared to hold each person once they are all juniors.
        ((4.0, 500.0), (True, False), (4.0, 8.0)),
    ],
)
def test_without_dates_people_of_one_name_are_as_many_as_where_they_are_fewest(
    juniors, once, expected
):
    number = groups_of(HOUSEHOLD=(100.0, 200.0), UNCHANGED=juniors, MOVED=(1e-3, 50.0))
    before = number[:, [JUNIORS, UNCHANGED]].sum(axis=1)
    namesakes_at_one_rate(number, np.array([1e4, 1e4]), np.array(once))
    assert number[:, JUNIORS] == pytest.approx(expected, rel=0.02)
    assert number[:, [JUNIORS, UNCHANGED]].sum(axis=1) == pytest.approx(before, abs=0.01)
    assert number[1, NAMESAKES] < 0.1


def test_no_group_has_more_who_are_renamed_and_have_moved_than_renames_allow():
    number = groups_of(
        UNCHANGED=(1.0, 90.0), RENAMED=(1.0, 9.0), MOVED=(2.0, 5.0), BOTH=(500.0, 2.0)
    )
    most = renamed_and_moved(number, np.array([1.0, 1.0]))
    assert most == pytest.approx([4 * 10 / 101, 2.0])
