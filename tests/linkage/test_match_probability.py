"""Persons beside their twins, without labels."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from linkage.linked_tables import households, people, with_errors

from sfumato.linkage.link import link
from sfumato.linkage.link_spec import Mode
from sfumato.linkage.pair_relations import (
    BOTH,
    HOUSEHOLD,
    MOVED,
    RELATIONS,
    RENAMED,
    TWINS,
    UNCHANGED,
    at_one_rate,
    renamed_and_moved,
)
from sfumato.linkage.spec_suggestion import suggest_links

pytestmark = pytest.mark.usefixtures("few_random_pairs")


def pairs_within(label):
    return sum(n * (n - 1) // 2 for n in Counter(label).values())


def rates(persons, truth):
    both = pairs_within(list(zip(persons, truth, strict=True)))
    return both / pairs_within(persons), both / pairs_within(truth)


@pytest.mark.slow
def test_names_that_both_tables_repeat_are_those_of_twins():
    born = people(400)
    twins = {name: values[:60] for name, values in born.items()}
    twins["given_name"] = np.where(twins["given_name"] == "Anna", "Ben", "Anna").astype(object)
    every = {name: np.concatenate([born[name], twins[name]]) for name in born}
    again = with_errors(every, share=0.03)
    again["given_name"] = every["given_name"]
    tables = {"a": pa.table(every), "b": pa.table(again)}
    links = link(tables, suggest_links(tables, mode=Mode.LINK_AND_DEDUPE), seed=1)
    precision, recall = rates(links.settled.persons.person.tolist(), 2 * list(range(460)))
    assert precision > 0.95
    assert recall > 0.97


@pytest.mark.slow
def test_namesakes_whose_addresses_are_made_of_their_name_stay_apart():
    rng = np.random.default_rng(8)
    person = people(900)
    del person["phone"]
    end = np.where(rng.random(900) < 0.5, "", rng.integers(0, 1_000, 900).astype(str))
    at = rng.choice(["@a.example", "@b.example"], 900)
    own = zip(person["given_name"], person["surname"], end, at, strict=True)
    person["email"] = np.array([f"{g}.{s}{e}{a}".lower() for g, s, e, a in own], dtype=object)
    tables = {"a": pa.table(person), "b": pa.table(with_errors(person, share=0.03))}
    links = link(tables, suggest_links(tables, mode=Mode.LINK_AND_DEDUPE), seed=1)
    precision, recall = rates(links.settled.persons.person.tolist(), 2 * list(range(900)))
    assert precision > 0.98
    assert recall > 0.98


@pytest.mark.slow
def test_families_that_share_an_address_of_email_stay_persons():
    tables, truth = households(300)
    for name, table in tables.items():
        mail = pc.binary_join_element_wise(table["phone"], "mail.example", "@")
        tables[name] = table.drop_columns(["phone"]).append_column("email", mail)
    links = link(tables, suggest_links(tables), seed=1)
    precision, recall = rates(links.settled.persons.person.tolist(), truth.tolist())
    assert precision > 0.98
    assert recall > 0.97


def test_what_is_as_frequent_within_sources_as_across_them_is_no_error():
    """Twins get one rate by household, and the more it tells, the fewer matches are within."""
    whole = np.array([1000.0, 3000.0])
    number = np.full((2, len(RELATIONS)), 1e-3)
    number[:, HOUSEHOLD] = 100.0, 300.0
    number[:, TWINS] = 10.0, 90.0
    number[:, UNCHANGED] = 2.0, 900.0
    told = at_one_rate(number, whole)
    assert number[:, TWINS].sum() == pytest.approx(100)
    assert number[1, TWINS] / number[0, TWINS] == pytest.approx(3)
    assert told == pytest.approx(1 - 2 / 300, abs=1e-3)
    assert at_one_rate(number[:1].copy(), whole[:1]) == 0


def test_who_may_be_there_by_chance_is_renamed_and_has_moved_no_oftener_than_others_tell():
    number = np.full((1, len(RELATIONS)), 1e-3)
    number[0, [BOTH, RENAMED, MOVED, UNCHANGED]] = 80.0, 100.0, 200.0, 1000.0
    assert renamed_and_moved(number, np.array([1.0])) == pytest.approx(80)
    assert renamed_and_moved(number, np.array([0.25])) == pytest.approx(0.25 * 80 + 0.75 * 20)
