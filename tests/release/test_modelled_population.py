"""Releases of a sample of a population of which nothing but the number is known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from oracles.population import count_population, marketer_risk

import sfumato as sf
from sfumato.release import modelled_population

KINDS = {"age": "number", "sex": "category", "place": "category"}
SCHEMA = sf.Schema(
    quasi_identifiers={"age": "numeric", "sex": "categorical", "place": "categorical"},
    direct_identifiers="who",
)


def population(persons=8_000, missing=0.0, seed=2):
    """Young people live in few places, and some places have few people."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, persons)
    shares = 1 / np.arange(1, 301) ** 0.8
    place = rng.choice(300, persons, p=shares / shares.sum())
    place = np.where((age < 35) & (rng.random(persons) < 0.5), place // 10, place)
    return pa.table(
        {
            "who": [f"w{number}" for number in range(persons)],
            "age": age,
            "sex": rng.choice(list("fm"), persons),
            "place": pa.array([f"p{each}" for each in place], mask=rng.random(persons) < missing),
        }
    )


def texts(table):
    return [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in table.to_pylist()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("persons", "tau"), [(400, 0.2), (1_200, 0.05)])
def test_the_true_risk_is_below_the_upper_end(persons, tau):
    """Counted from the cells; 300 places, of which the file has not all."""
    everybody = population()
    release = sf.anonymize(
        everybody.slice(0, persons), SCHEMA, sf.MarketerRisk(tau), population=8_000, seed=1
    )
    found = release.population.marketer
    true = float(marketer_risk(count_population(texts(release.table), texts(everybody), KINDS)))
    assert found.high <= tau + 1e-9
    assert found.low < true < found.high
    assert true > tau / 4


def homes(persons, houses, places, seed=4):
    """Half live in homes of people who are alike, the others are alone in their cells."""
    rng = np.random.default_rng(seed)
    home = rng.random(persons) < 0.5
    house = rng.integers(0, houses, persons)
    place = np.where(home, house, rng.integers(0, places, persons))
    return pa.table(
        {
            "who": [f"w{number}" for number in range(persons)],
            "age": np.where(
                home, 30 + house + rng.integers(0, 3, persons), rng.integers(18, 90, persons)
            ),
            "sex": np.where(home, house % 2, rng.integers(0, 2, persons)).astype(str),
            "place": [f"p{each}" for each in place],
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("persons", [400, 800])
def test_lonely_persons_do_not_hide_behind_homes(persons):
    everybody = homes(8_000, houses=30, places=300)
    release = sf.anonymize(
        everybody.slice(0, persons), SCHEMA, sf.MarketerRisk(0.2), population=8_000, seed=1
    )
    found = release.population.marketer
    true = float(marketer_risk(count_population(texts(release.table), texts(everybody), KINDS)))
    assert found.low < true < found.high <= 0.2 + 1e-9


@pytest.mark.slow
def test_uniques_do_not_hide_behind_homes():
    everybody = homes(12_000, houses=50, places=500)
    release = sf.anonymize(
        everybody.slice(0, 1_200), SCHEMA, sf.PopulationUniques(0.05), population=12_000, seed=1
    )
    found = release.population.population_uniques
    classes = count_population(texts(release.table), texts(everybody), KINDS)
    true = sum(each.population == 1 for each in classes) / 1_200
    assert true < found.high <= 0.05 + 1e-9
    assert true > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_each_of_the_other_half_is_in_one_class_at_most(monkeypatch, missing):
    seen = []
    revised = modelled_population.cell_dispersion.revised
    monkeypatch.setattr(
        modelled_population.cell_dispersion,
        "revised",
        lambda first, boxes: seen.append(boxes) or revised(first, boxes),
    )
    file = population(missing=missing).slice(0, 600)
    promises = (sf.MarketerRisk(0.1), sf.KAnonymity(1))
    sf.anonymize(file, SCHEMA, *promises, population=8_000, seed=3)
    (boxes,) = seen
    assert boxes.persons == (300, 300)
    assert boxes.chosen.sum() == 300
    assert 150 < boxes.others.sum() <= 300
    assert boxes.shares.sum() == pytest.approx(boxes.others.sum() / 300, abs=0.15)


@pytest.mark.slow
def test_the_same_seed_makes_the_same_release():
    file = population().slice(0, 300)
    one, two, other = (
        sf.anonymize(
            file, SCHEMA, sf.MarketerRisk(0.2), population=8_000, seed=seed, secret=b"s" * 32
        )
        for seed in (5, 5, 6)
    )
    assert one.table.equals(two.table)
    assert one.population.marketer == two.population.marketer
    assert one.population.marketer != other.population.marketer


@pytest.mark.slow
def test_what_was_not_tried_has_a_large_allowance():
    """Files of few persons, and files in which the records of a person differ."""
    few = sf.anonymize(
        population().slice(0, 30), SCHEMA, sf.MarketerRisk(0.5), population=8_000, seed=1
    )
    twice = pa.concat_tables([population().slice(0, 300)] * 2)
    place = twice["place"].to_pylist()
    place[0] = "p299" if place[0] != "p299" else "p298"
    twice = twice.set_column(3, "place", pa.array(place))
    schema = sf.Schema(person="who", quasi_identifiers=SCHEMA.quasi_identifiers)
    several = sf.anonymize(twice, schema, sf.MarketerRisk(0.3), population=8_000, seed=1)
    for release in (few, several):
        found = release.population.marketer
        assert found.high / found.value == pytest.approx(np.exp(1.645 * 0.7))
        uniques = release.population.population_uniques
        assert uniques.high > uniques.value > 0


def test_forms_that_leave_open_who_lies_in_a_class_are_refused():
    for options, found in (
        ({"recoding": "full-domain"}, "full-domain"),
        ({"values": "mean"}, "mean"),
    ):
        with pytest.raises(sf.InputError, match=found):
            sf.anonymize(
                population().slice(0, 50), SCHEMA, sf.MarketerRisk(0.5), population=99, **options
            )
