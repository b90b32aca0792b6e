"""Adult as the population, samples of it as files (paper 004, Sections 2.2 and 4.3)."""

from __future__ import annotations

import csv
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from oracles.population import count_population, marketer_risk

import sfumato as sf

KINDS = {"age": "number", "education": "category", "race": "category", "sex": "category"}
SCHEMA = sf.Schema(quasi_identifiers=list(KINDS))


@dataclass(frozen=True)
class PopulationSize:
    """At least k persons of the register in every class: what k-anonymity offers, Equation 4."""

    k: int
    name = "k_map"
    needs = frozenset({"population"})

    def met(self, classes):
        return classes.population >= self.k

    def shortfall(self, whole):
        return "k_map."

    def offenders(self, persons):
        return np.empty(0, dtype=np.int64)

    def parameters(self):
        return {"k": self.k}


@pytest.fixture(scope="module")
def adult(shared_data):
    with (shared_data / "adult" / "adult.csv").open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream, delimiter=";") if "?" not in row.values()]
    assert len(rows) == 30_162
    columns = {name: [row[name] for row in rows] for name in KINDS}
    return pa.table(columns | {"age": [int(age) for age in columns["age"]]})


def sample(adult, fraction):
    rng = np.random.default_rng(4)
    rows = rng.choice(adult.num_rows, round(fraction * adult.num_rows), replace=False)
    return adult.take(pa.array(np.sort(rows)))


def texts(table):
    columns = table.select(list(KINDS)).to_pydict()
    return [
        dict(zip(columns, map(str, cells), strict=True))
        for cells in zip(*columns.values(), strict=True)
    ]


def certainty_penalty(release, file):
    """NCP from the released cells alone: (leaves - 1)/(domain - 1), ranges by their width."""
    losses = []
    for name, kind in KINDS.items():
        values = set(file.column(name).to_pylist())
        for cell in map(str, release.table.column(name).to_pylist()):
            if kind == "number":
                low, _, high = cell.partition("-")
                width = int(high or low) - int(low)
                losses.append(width / (max(values) - min(values)))
            else:
                losses.append(cell.count(", ") / (len(values) - 1))
    return float(np.mean(losses))


def test_the_loss_is_that_of_the_released_cells(adult):
    """Cells hold the register's persons too, and the loss says so."""
    file = sample(adult, 0.1)
    promise = sf.MarketerRisk(0.05)
    release = sf.anonymize(file, SCHEMA, promise, register=adult, seed=1, cut="median")
    assert release.utility.ncp == pytest.approx(certainty_penalty(release, file), rel=0.02)


def true_risk(release, adult):
    return float(marketer_risk(count_population(texts(release.table), texts(adult), KINDS)))


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.5])
def test_below_the_threshold_at_less_loss_than_k(adult, fraction):
    """A file released under MarketerRisk(0.05) stays below it against the true register."""
    options = {"register": adult, "seed": 1, "cut": "median"}
    file = sample(adult, fraction)
    release = sf.anonymize(file, SCHEMA, sf.MarketerRisk(0.05), **options)
    measured = true_risk(release, adult)
    assert measured == pytest.approx(release.population.marketer.value)
    assert 0.0499 < measured <= 0.05
    for promise in (sf.KAnonymity(20), PopulationSize(20)):
        other = sf.anonymize(file, SCHEMA, promise, **options)
        assert other.population.marketer.value < 0.05
        assert release.utility.ane < other.utility.ane / 3
        assert release.utility.ncp < other.utility.ncp / 2


def test_the_search_keeps_it_too(adult):
    file = sample(adult, 0.3)
    release = sf.anonymize(file, SCHEMA, sf.MarketerRisk(0.05), register=adult, cut="search")
    median = sf.anonymize(file, SCHEMA, sf.MarketerRisk(0.05), register=adult, cut="median")
    assert true_risk(release, adult) <= 0.05
    assert release.utility.ane <= median.utility.ane


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.5])
def test_bias_where_only_the_number_is_known(adult, fraction):
    """What `docs/population_release.md` and the result say of the estimate."""
    file = sample(adult, fraction)
    release = sf.anonymize(
        file, SCHEMA, sf.MarketerRisk(0.05), population=adult.num_rows, seed=1, cut="median"
    )
    estimate = release.population.marketer
    assert estimate.estimator == "argus"
    assert "24 % below and 15 % above" in estimate.why
    assert estimate.high <= 0.05 + 1e-9
    assert estimate.low < true_risk(release, adult) < estimate.high


def test_five_twenty_and_twenty_three():
    """Section 4.3: unique samples of F = 5, 20, 23; k-anonymity's bound is twice the risk."""
    population = pa.table({"city": ["a"] * 5 + ["b"] * 20 + ["c"] * 23})
    file = pa.table({"city": ["a", "b", "c"]})
    schema = sf.Schema(quasi_identifiers={"city": "categorical"})
    risk = (1 / 5 + 1 / 20 + 1 / 23) / 3
    assert risk == pytest.approx(0.5 * 1 / 5, rel=0.03)
    release = sf.anonymize(file, schema, sf.MarketerRisk(0.1), register=population)
    assert sorted(release.data.column("city").to_pylist()) == ["a", "b", "c"]
    assert release.population.marketer.value == pytest.approx(risk)
    bound = sf.anonymize(file, schema, PopulationSize(10), register=population)
    assert bound.risk.classes == 2
