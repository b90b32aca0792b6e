"""Persons beside their twins, without labels."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from linkage.linked_tables import people, with_errors

from sfumato.linkage.link import link
from sfumato.linkage.link_spec import Mode
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
