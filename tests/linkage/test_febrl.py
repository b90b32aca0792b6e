"""Public data with known truth, linked with a suggested specification and no labels."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.linkage_quality import quality_of_pairs
from sfumato.linkage.model_fit import fit_and_score
from sfumato.linkage.person_clusters import find_persons
from sfumato.linkage.spec_suggestion import suggest_links

pytestmark = pytest.mark.slow


def fitted(tables):
    """Records, pairs and the model, with a suggested specification."""
    with open_sources(tables, suggest_links(tables).spec) as opened:
        pairs, model = fit_and_score(opened)
    return opened.records, pairs, model


def truth_of(records, person_of):
    """Person of each record, and its source if there are several."""
    truth = np.array([person_of(name) for name in pa.chunked_array(records.ids).to_pylist()])
    several = len(records.sources) > 1
    return truth, records.source_of(np.arange(records.count)) if several else None


def harmonic_mean(rates):
    """F1."""
    total = rates.precision + rates.recall
    return 2 * rates.precision * rates.recall / total if total else 0.0


def f1(records, pairs, person_of, threshold):
    """Pairwise F1 of the clusters, beside what is lost and what is true."""
    truth, source = truth_of(records, person_of)
    persons = find_persons(records, pairs, pairs.score >= threshold)
    quality = quality_of_pairs(persons.person, truth, source)
    lost = quality.true - np.sum(truth[pairs.left] == truth[pairs.right])
    return harmonic_mean(quality.rates), lost, quality.true


def febrl_person(name):
    return int(name.split("-")[1])


@pytest.fixture(scope="module")
def febrl_4(shared_data):
    """Both files of dataset 4, linked."""
    return sf.link([shared_data / "febrl" / f"dataset4{part}.csv" for part in "ab"], seed=1)


def check(records, pairs, model, least):
    found, lost, true = f1(records, pairs, febrl_person, 0.9)
    assert found >= least
    assert abs(model.prior * model.comparisons - true) <= 0.01 * true
    assert lost <= 0.01 * true


def test_febrl_1(shared_data):
    check(*fitted({"dataset1.csv": shared_data / "febrl" / "dataset1.csv"}), 0.99)


def test_febrl_4(febrl_4):
    check(febrl_4.records, febrl_4.pairs, febrl_4.model, 0.995)


def test_febrl_4_with_a_suggested_specification(febrl_4):
    """Christen 2005: 5,000 persons in two files; F1 of the persons at least 0.99, no labels."""
    truth, source = truth_of(febrl_4.records, febrl_person)
    quality = quality_of_pairs(febrl_4.settled.persons.person, truth, source)
    assert quality.true == 5000
    assert harmonic_mean(quality.rates) >= 0.99
    assert febrl_4.suggested
    assert febrl_4.records.sources == ("dataset4a", "dataset4b")


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
    """Several records of each person with many errors: F1 of the persons, nearly as expected."""
    path = shared_data / "fake_people" / "fake_1000.csv"
    labels = np.asarray(pc.read_csv(path)["cluster"])
    table = pc.read_csv(path).drop_columns(["cluster"])
    links = sf.link({"people": table}, seed=1)
    right = quality_of_pairs(links.settled.persons.person, labels).rates
    assert harmonic_mean(right) >= 0.97
    told = links.to_json()["persons"]
    for name, width in (("precision", 0.015), ("recall", 0.03)):
        assert told[name]["value"] == pytest.approx(getattr(right, name), abs=width)
        assert told[name]["low"] <= getattr(right, name) <= told[name]["high"]
