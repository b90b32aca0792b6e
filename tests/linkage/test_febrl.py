"""Public data with known truth, linked with a suggested specification and no labels."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from sfumato.linkage.model.fit import fit_and_score
from sfumato.linkage.persons.clusters import find_persons
from sfumato.linkage.quality.truth import quality_of_pairs
from sfumato.linkage.sources.open import open_sources
from sfumato.linkage.suggest.suggest import suggest


def f1(tables, person_of, threshold):
    """Pairwise F1 of the clusters, beside what is said to be lost and what is."""
    with open_sources(tables, suggest(tables).spec) as opened:
        pairs, model = fit_and_score(opened)
    records = opened.records
    truth = np.array([person_of(name) for name in pa.chunked_array(records.ids).to_pylist()])
    source = records.source_of(np.arange(records.count)) if len(tables) > 1 else None
    persons = find_persons(records, pairs, pairs.score >= threshold)
    quality = quality_of_pairs(persons.person, truth, source)
    lost = quality.true - np.sum(truth[pairs.left] == truth[pairs.right])
    return quality.rates.f1, model, lost, quality.true


def febrl_person(name):
    return int(name.split("-")[1])


@pytest.mark.parametrize(
    ("files", "least"),
    [(("dataset4a.csv", "dataset4b.csv"), 0.995), (("dataset1.csv",), 0.99)],
)
def test_febrl(shared_data, files, least):
    tables = {name: shared_data / "febrl" / name for name in files}
    found, model, lost, true = f1(tables, febrl_person, 0.9)
    assert found >= least
    assert abs(model.prior * model.comparisons - true) <= 0.01 * true
    assert lost <= 0.01 * true


def test_febrl_from_a_file_to_persons(shared_data):
    """Pairwise F1 of the persons of sf.link, counted from the names of the records."""
    links = sf.link([shared_data / "febrl" / "dataset3.csv"], seed=1)
    rows = links.persons.to_pylist()
    true = Counter(febrl_person(row["id"]) for row in rows)
    found = Counter(row["person"] for row in rows)
    both = Counter((febrl_person(row["id"]), row["person"]) for row in rows)
    right, *all_pairs = (
        sum(count * (count - 1) // 2 for count in each.values()) for each in (both, true, found)
    )
    assert 2 * right / sum(all_pairs) >= 0.99


def test_fake_people(shared_data):
    path = shared_data / "fake_people" / "fake_1000.csv"
    table = pc.read_csv(path)
    person = dict(
        zip(map(str, table["unique_id"].to_pylist()), table["cluster"].to_pylist(), strict=True)
    )
    found, model, _, true = f1({"people": path}, person.get, 0.9)
    assert found >= 0.95
    assert abs(model.prior * model.comparisons - true) <= 0.15 * true
