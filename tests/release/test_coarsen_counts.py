"""Numbers of records made coarser: what it promises, and what it costs, counted naively."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.remeasure import recount, remeasure

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.examples import worked_example
from sfumato.release.coarsen_counts import pieces_of, shared_targets, targets_by_class
from sfumato.release.release_manifest import load_manifest

NUMBERS = st.lists(st.integers(1, 9), min_size=3, max_size=9)
QUASI = ["age", "city"]
SCHEMA = sf.Schema(
    person="who",
    quasi_identifiers={"age": "numeric", "city": "categorical"},
    sensitive=["illness"],
    insensitive=["number"],
)


@st.composite
def files(draw):
    """Persons with up to eight records each."""
    persons = draw(st.integers(4, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    records = np.minimum(rng.geometric(draw(st.sampled_from([0.3, 0.6])), persons), 8)
    person = np.repeat(np.arange(persons), records)
    table = pa.table(
        {
            "who": [f"p{each}" for each in person],
            "age": rng.integers(20, 60, persons)[person].tolist(),
            "city": rng.choice(["a", "b"], persons)[person].tolist(),
            "illness": rng.choice(list("uvwxyz"), len(person)).tolist(),
            "number": np.arange(len(person)).tolist(),
        }
    )
    return table.take(pa.array(rng.permutation(len(person))))


def cells(table):
    return [{name: str(value) for name, value in row.items()} for row in table.to_pylist()]


def released(table, way, m, *promises, seed=1):
    """The release and its rows, and the true owner of each of them."""
    release = sf.anonymize(
        table, SCHEMA, *promises, sf.SharedCounts(m), coarsen_counts=way, seed=seed
    )
    rows = cells(release.data)
    owner = dict(zip(table["number"].to_pylist(), table["who"].to_pylist(), strict=True))
    return release, rows, [owner[int(row["number"])] for row in rows]


def best_kept(numbers, m):
    """Most records that can stay, over all ways to lower the numbers: every multiset of values."""
    ordered = sorted(numbers, reverse=True)

    @cache
    def best(place, current, length):
        """Values descend; `current` is that of the run that is open, of `length` persons."""
        if place == len(ordered):
            return 0 if length >= m else -(10**6)
        options = []
        for value in range(1, ordered[place] + 1):
            if value == current:
                options.append(value + best(place + 1, current, min(length + 1, m)))
            elif value < current and length >= m:
                options.append(value + best(place + 1, value, 1))
        return max(options, default=-(10**6))

    return best(0, 10**6, m)


@given(NUMBERS, st.integers(1, 3))
def test_targets_are_shared_and_keep_most_records(numbers, m):
    targets = shared_targets(np.array(numbers), m).tolist()
    assert all(1 <= new <= old for new, old in zip(targets, numbers, strict=True))
    assert min(Counter(targets).values()) >= m
    assert sum(targets) == best_kept(numbers, m)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=4), st.integers(1, 3), st.randoms())
def test_classes_are_lowered_one_by_one(groups, m, random):
    places = [(t, number) for t, numbers in enumerate(groups) for number in numbers]
    random.shuffle(places)
    class_of, records = (np.array(column) for column in zip(*places, strict=True))
    targets = targets_by_class(records, class_of, m)
    for t in range(len(groups)):
        own = class_of == t
        assert targets[own].sum() == best_kept(tuple(records[own].tolist()), m)
        assert min(Counter(targets[own].tolist()).values()) >= m


@settings(max_examples=examples(100), deadline=None)
@given(NUMBERS, st.integers(1, 3))
def test_pieces_keep_both_rules(numbers, m):
    pieces = pieces_of(np.array(numbers), m)
    assert [sum(own) for own in pieces] == numbers
    having = defaultdict(list)
    for person, own in enumerate(pieces):
        for size in own:
            having[size].append(person)
    limit = max(Fraction(1, m), Fraction(max(numbers), sum(numbers)))
    for people in having.values():
        assert len(set(people)) >= m
        assert Fraction(max(Counter(people).values()), len(people)) <= limit
    if min(Counter(numbers).values()) >= m:
        assert all(len(own) == 1 for own in pieces)


@given(files(), st.sampled_from([2, 3]), st.integers(0, 2**32))
def test_drop_shares_every_number_and_says_what_it_lost(table, m, seed):
    promises = (sf.GBalance(0.5), sf.HAffiliation(0.9))
    try:
        release, rows, owners = released(table, "drop", m, *promises, seed=seed)
    except ConstraintsNotMetError:
        return
    found = remeasure(rows, QUASI, "who", ("illness",))
    assert found.count_k >= m
    assert found.max_count_risk <= Fraction(1, m)
    assert found.g >= Fraction(1, 2) - Fraction(1, 10**6)
    assert found.h["illness"] <= Fraction(9, 10) + Fraction(1, 10**6)
    assert release.risk.count_k == found.count_k
    assert float(release.risk.avg_count_risk) == pytest.approx(float(found.avg_count_risk))
    before, after = Counter(table["who"].to_pylist()), Counter(owners)
    lost = release.utility.counts
    assert before.keys() == after.keys()
    assert lost.persons_affected == sum(after[who] < before[who] for who in before)
    assert lost.records_dropped == table.num_rows - len(rows) == release.utility.suppressed_records
    assert lost.ids_added == 0
    pairs = [sum(c * (c - 1) for c in counts.values()) for counts in (before, after)]
    assert lost.links_lost == pytest.approx(1 - pairs[1] / pairs[0] if pairs[0] else 0)


@given(files(), st.sampled_from([2, 3]), st.integers(0, 2**32))
def test_split_loses_no_record_and_no_promise(table, m, seed):
    promises = (sf.GBalance(0.5), sf.HAffiliation(0.9), sf.KAnonymity(5), sf.LDiversity(2))
    try:
        release, rows, owners = released(table, "split", m, *promises, seed=seed)
    except ConstraintsNotMetError:
        return
    # Over true persons, the promises hold and the measures are theirs.
    true = remeasure(
        [row | {"who": owner} for row, owner in zip(rows, owners, strict=True)],
        QUASI,
        "who",
        ("illness",),
    )
    assert sorted(int(row["number"]) for row in rows) == list(range(table.num_rows))
    assert true.g >= Fraction(1, 2) - Fraction(1, 10**6)
    assert true.h["illness"] <= Fraction(9, 10) + Fraction(1, 10**6)
    assert true.k >= 5
    assert true.l["illness"] >= 2
    assert true.split_persons == 0
    risk = release.risk
    assert (risk.persons, risk.pid_k) == (true.persons, true.pid_k)
    assert float(risk.g_balance) == pytest.approx(float(true.g))
    # Over pseudonyms, nobody stands out.
    counted = recount(rows, QUASI, "who", owners)
    assert counted["count_k"] >= m
    assert counted["exposed_persons"] == 0
    assert counted["max_count_risk"] <= max(Fraction(1, m), true.max_gidr)
    assert risk.count_k == counted["count_k"]
    for name in ("exposed_persons", "max_count_risk", "avg_count_risk"):
        assert float(getattr(risk, name)) == pytest.approx(float(counted[name]))
    # And the loss is what it says.
    ids = defaultdict(set)
    for row, owner in zip(rows, owners, strict=True):
        ids[owner].add(row["who"])
    names = [name for own in ids.values() for name in own]
    assert len(names) == len(set(names)), "a pseudonym is one person's"
    lost = release.utility.counts
    assert lost.persons_affected == sum(len(own) > 1 for own in ids.values())
    assert lost.ids_added == len(names) - true.persons
    assert lost.records_dropped == 0 == release.utility.suppressed_records
    together = Counter(row["who"] for row in rows).values()
    apart = Counter(owners).values()
    linked, pairs = (sum(c * (c - 1) for c in counts) for counts in (together, apart))
    assert lost.links_lost == pytest.approx(1 - linked / pairs if pairs else 0)


@pytest.mark.slow
@given(files(), st.sampled_from([2, 3]))
def test_without_coarsening_the_tree_or_suppression_keeps_it(table, m):
    try:
        release = sf.anonymize(table, SCHEMA, sf.SharedCounts(m), suppress=0.9)
    except ConstraintsNotMetError:
        return
    assert remeasure(cells(release.data), QUASI, "who").count_k >= m
    assert release.utility.counts is None


def test_what_dropping_would_break_is_repaired_or_refused():
    """Numbers 10, 10, 10, 4, 4, 1 have g = 0.78; with 10, 10, 10, 1, 1, 1 it is 0.72."""
    numbers = [10, 10, 10, 4, 4, 1]
    person = np.repeat(np.arange(6), numbers)
    table = pa.table(
        {
            "who": [f"p{each}" for each in person],
            "age": [30] * 39,
            "city": ["a"] * 39,
            "illness": [f"i{each % 20}" for each in range(39)],
            "number": list(range(39)),
        }
    )
    release, _, _ = released(table, "drop", 3)
    assert (release.risk.records, release.risk.count_k) == (33, 3)
    repaired, _, _ = released(table, "drop", 3, sf.GBalance(0.75))
    assert (repaired.risk.records, repaired.risk.count_k) == (6, 6)
    with pytest.raises(
        ConstraintsNotMetError, match="l was kept before records were dr"
    ) as refused:
        released(table, "drop", 3, sf.GBalance(0.75), sf.LDiversity(10))
    assert "coarsen_counts='split'" in refused.value.options[0]
    split, _, _ = released(table, "split", 3, sf.LDiversity(20), sf.GBalance(0.75))
    assert split.risk.records == 39


def test_a_file_that_cannot_keep_it_says_what_would_help():
    """Harry and Charlie have 5 records, Ashley, Diana and Edward 2, Bob, Fred and Greg 1."""
    table, schema = worked_example()
    with pytest.raises(ConstraintsNotMetError) as raised:
        sf.anonymize(table, schema, sf.SharedCounts(3))
    assert "only 2 people" in str(raised.value)
    options = raised.value.options
    assert any("(cap_records=2): loses 6" in each for each in options)
    assert any("coarsen_counts='drop'" in each for each in options)
    assert any("suppress" in each for each in options) is False
    release = sf.anonymize(table, schema, sf.SharedCounts(3), cap_records=2)
    assert release.risk.count_k >= 3
    with pytest.raises(ConstraintsNotMetError, match="pid_k") as raised:
        sf.anonymize(table, schema, sf.SharedCounts(9), coarsen_counts="split")
    assert raised.value.options == ()


def test_a_release_repeats_and_its_manifest_says_how(tmp_path):
    table, schema = worked_example()
    asked = (sf.GBalance(0.5), sf.SharedCounts(2))
    release = sf.anonymize(table, schema, *asked, coarsen_counts="split", seed=3)
    made = {"coarsen_counts": "split", "seed": 3}
    again = sf.anonymize(table, schema, *asked, **made, secret=release.secret)
    assert release.data.equals(again.data)
    release.write(tmp_path / "release.csv")
    manifest = load_manifest(tmp_path / "release.toml")
    assert manifest.options.to_dict()["coarsen_counts"] == "split"
    assert manifest.constraints == asked
    counts = release.to_json()["utility"]["counts"]
    assert counts == {
        "way": "split",
        "m": 2,
        "persons_affected": 1,
        "records_dropped": 0,
        "ids_added": 1,
        "links_lost": pytest.approx(1 - 44 / 46),
    }
    assert "pseudonyms beyond" in str(release.utility)
    plain = sf.anonymize(table, schema, sf.GBalance(0.5), seed=3).to_json()["utility"]
    assert "counts" not in plain


def test_what_does_not_fit_together_is_refused():
    table, schema = worked_example()
    with pytest.raises(InputError, match=r"parameter coarsen_counts.*drop, split"):
        sf.anonymize(table, schema, sf.SharedCounts(2), coarsen_counts="round")
    with pytest.raises(InputError, match="SharedCounts"):
        sf.anonymize(table, schema, sf.GBalance(0.5), coarsen_counts="drop")
    with pytest.raises(InputError, match="pseudonym_key"):
        sf.anonymize(
            table, schema, sf.SharedCounts(2), coarsen_counts="split", pseudonym_key=b"k" * 32
        )
    kept = sf.anonymize(
        table, schema, sf.SharedCounts(2), coarsen_counts="drop", pseudonym_key=b"k" * 32
    )
    assert kept.risk.count_k >= 2
