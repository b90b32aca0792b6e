"""Persons beside their twins, without labels."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from linkage.linked_tables import people, with_errors

from sfumato.linkage.link import link
from sfumato.linkage.link_spec import Mode
from sfumato.linkage.relation_model import (
    BOTH,
    HOUSEHOLD,
    MOVED,
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


def test_what_is_as_frequent_within_sources_as_across_them_is_no_error():
    """Twins get one rate by household, and the more it tells, the fewer matches are within."""
    whole = np.array([1000.0, 3000.0])
    number = np.full((2, 10), 1e-3)
    number[:, HOUSEHOLD] = 100.0, 300.0
    number[:, TWINS] = 10.0, 90.0
    number[:, UNCHANGED] = 2.0, 900.0
    told = at_one_rate(number, whole)
    assert number[:, TWINS].sum() == pytest.approx(100)
    assert number[1, TWINS] / number[0, TWINS] == pytest.approx(3)
    assert told == pytest.approx(1 - 2 / 300, abs=1e-3)
    assert at_one_rate(number[:1].copy(), whole[:1]) == 0


def test_who_may_be_there_by_chance_is_renamed_and_has_moved_no_oftener_than_others_tell():
    number = np.full((1, 10), 1e-3)
    number[0, [BOTH, RENAMED, MOVED, UNCHANGED]] = 80.0, 100.0, 200.0, 1000.0
    assert renamed_and_moved(number, np.array([1.0])) == pytest.approx(80)
    assert renamed_and_moved(number, np.array([0.25])) == pytest.approx(0.25 * 80 + 0.75 * 20)
