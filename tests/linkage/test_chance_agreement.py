"""What is counted and sampled of chance, against all pairs one by one."""

from collections import Counter
from contextlib import closing
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first
from numpy.testing import assert_allclose

from sfumato.linkage.candidate_pairs import make_tables
from sfumato.linkage.chance_agreement import (
    beside_equal_name,
    chance_agreement,
    home_chance,
    under_one_name,
)
from sfumato.linkage.link_engine import connect
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.link_spec import LinkSpec

STREETS = ("Abbotsbury", "Quixley", "Zennor", "Wymondham", "Inverkip", "Foxholes", "Keld", "Uist")
"""Alike in nothing, so that they agree wholly or not at all."""
HOME = {"street": "address", "postcode": "postcode"}


def residents(rng, count):
    """Two streets in each postcode; some streets are not known."""
    street = rng.integers(0, len(STREETS), count)
    known = rng.random(count) > 0.1
    return pa.table(
        {
            "name": rng.choice(["Ann", "Bo"], count),
            "street": [STREETS[s] if k else None for s, k in zip(street, known, strict=True)],
            "postcode": [str(s // 2) * 4 for s in street],
        }
    )


def of_all_pairs(tables, mode):
    """Pairs of records by their levels in street and postcode."""
    rows = [(number, row) for number, table in enumerate(tables) for row in table.to_pylist()]
    found = Counter()
    for (one, a), (other, b) in combinations(rows, 2):
        if mode != "link-only" or one != other:
            known = a["street"] and b["street"]
            equal = a["street"] == b["street"]
            street = 3 * equal if known else -1
            found[street, 3 * (a["postcode"] == b["postcode"])] += 1
    return found


@pytest.mark.parametrize("mode", fast_first(1, ["link-only", "link-and-dedupe", "dedupe-only"]))
def test_street_and_postcode_agree_together_as_often_as_in_all_pairs(mode):
    rng = np.random.default_rng(3)
    tables = [residents(rng, n) for n in ((300,) if mode == "dedupe-only" else (300, 200))]
    spec = LinkSpec(mode=mode, columns={"name": "given name", **HOME}, blocking=["street"])
    named = dict(zip("ab", tables, strict=False))
    with open_sources(named, spec) as opened, closing(connect(opened.workspace.path)) as database:
        found = chance_agreement(database, make_tables(database, opened).tables, opened.spec)
    truth = of_all_pairs(tables, mode)
    assert found.pairs == truth.total()
    assert found.equal["street"] == truth[3, 3]
    assert found.equal["postcode"] == sum(n for (_, postcode), n in truth.items() if postcode)
    assert found.compared["street"] == sum(n for (street, _), n in truth.items() if street >= 0)
    asked = np.array(sorted(truth))
    u = {name: np.array([0.8, 1e-6, 1e-6, 0.2]) for name in HOME}
    levels = {name: asked[:, i] for i, name in enumerate(HOME)}
    chance = home_chance(found, levels, u)
    log = chance.log_probability(np.zeros(len(asked)))
    for (street, postcode), n, p in zip(asked, chance.pairs[chance.pattern], log, strict=True):
        assert_allclose(n, truth[street, postcode], rtol=0.03)
        of = sum(m for (s, _), m in truth.items() if (s < 0) == (street < 0))
        assert_allclose(np.exp(p), truth[street, postcode] / of, rtol=0.03)
    less = chance.log_probability(np.where(asked[:, 0] == 3, truth[3, 3] / 2, 0.0))
    assert_allclose(np.exp(less - log)[asked[:, 0] == 3], 0.5, rtol=0.05)
    assert_allclose(less[asked[:, 0] < 3], log[asked[:, 0] < 3])


def test_a_combination_that_was_not_seen_is_as_rare_as_its_columns_make_it():
    rng = np.random.default_rng(4)
    spec = LinkSpec(mode="dedupe-only", columns={"name": "given name", **HOME}, blocking=["street"])
    tables = {"a": residents(rng, 300)}
    with open_sources(tables, spec) as opened, closing(connect(opened.workspace.path)) as database:
        found = chance_agreement(database, make_tables(database, opened).tables, opened.spec)
    u = {name: np.array([0.9, 1e-5, 1e-5, 0.1]) for name in HOME}
    both = {name: np.array([1]) for name in HOME}
    (log,) = home_chance(found, both, u).log_probability(np.zeros(1))
    assert_allclose(log, 2 * np.log(1e-5), atol=0.2)


def test_one_column_of_the_home_has_no_company():
    spec = LinkSpec(mode="dedupe-only", columns={"name": "given name", "street": "address"},
                    blocking=["street"])  # fmt: skip
    tables = {"a": residents(np.random.default_rng(5), 50)}
    with open_sources(tables, spec) as opened, closing(connect(opened.workspace.path)) as database:
        found = chance_agreement(database, make_tables(database, opened).tables, opened.spec)
    assert home_chance(found, {}, {}) is None


def test_names_go_with_sex_and_years_of_birth():
    """Beside equal names dates and sex agree as often as in all pairs of records with one name."""
    rng = np.random.default_rng(6)
    year, girl = rng.integers(1930, 1990, 600), rng.random(600) < 0.5
    day = 29 + rng.integers(0, 300, 600)
    names = np.array([["Ada", "Bea", "Cleo"], ["Dan", "Ed", "Finn"]])
    modern = np.clip((year - 1930) // 20 + rng.integers(-1, 2, 600), 0, 2)
    table = pa.table(
        {
            "name": names[girl.astype(int), modern].tolist(),
            "born": [
                f"{y}-{1 + d // 28:02}-{1 + d % 28:02}" for y, d in zip(year, day, strict=True)
            ],
            "sex": np.where(girl, "f", "m").tolist(),
        }
    )
    columns = {"name": "given name", "born": "date", "sex": "category"}
    spec = LinkSpec(mode="dedupe-only", columns=columns, blocking=["name"])
    with open_sources({"a": table}, spec) as opened, closing(connect(opened.workspace.path)) as db:
        found = chance_agreement(db, make_tables(db, opened).tables, opened.spec)
    every, named = Counter(), Counter()
    for one, other in combinations(table.to_pylist(), 2):
        parts = list(zip(one["born"].split("-"), other["born"].split("-"), strict=True))
        if sum(a == b for a, b in parts) > 1:
            continue
        near = abs(int(parts[0][0]) - int(parts[0][1]))
        date = 2 if near <= 1 else 1 if near <= 10 else 0
        for count in (every, named) if one["name"] == other["name"] else (every,):
            count.update([("born", date), ("sex", int(one["sex"] == other["sex"]))])
    for name, levels in (("born", 3), ("sex", 2)):
        u = np.array([every[name, k] for k in range(levels)]) / sum(every.values()) * 2
        log = beside_equal_name(found, name, u, date=name == "born")
        wanted = np.array([named[name, k] for k in range(levels)]) / sum(named.values()) * 2
        assert_allclose(np.exp(log) * u, wanted, rtol=0.1, atol=0.002)
    nearly = beside_equal_name(found, "born", np.full(7, 1 / 7), date=True)
    assert np.all(nearly[2:] == nearly[2])


def test_addresses_of_email_are_alike_where_names_are():
    """A third of the addresses is made of initial and surname alone, at one of two providers."""
    rng = np.random.default_rng(7)
    given = rng.choice(["ada", "aurelius", "bertram", "bo"], 400)
    surname = rng.choice(["fisk", "munro", "quayle", "zeller"], 400)
    end = np.where(rng.random(400) < 1 / 3, "", rng.integers(10**7, 10**8, 400).astype(str))
    at = rng.choice(["@a.example", "@other.test"], 400)
    email = [f"{g[0]}.{s}{n}{a}" for g, s, n, a in zip(given, surname, end, at, strict=True)]
    table = pa.table({"given": given, "surname": surname, "email": email})
    columns = {"given": "given name", "surname": "surname", "email": "email"}
    spec = LinkSpec(mode="dedupe-only", columns=columns, blocking=["email"])
    with open_sources({"a": table}, spec) as opened, closing(connect(opened.workspace.path)) as db:
        found = chance_agreement(db, make_tables(db, opened).tables, opened.spec)
    u = np.array([1 - 3e-5, 1e-5, 1e-5, 1e-5])
    level = under_one_name(found, "email", u, u)
    made = (end == "").mean()
    assert_allclose(level[2:], made**2 / 2, rtol=0.15)
    assert under_one_name(found, "given", u, u) is u
