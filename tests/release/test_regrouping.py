"""Classes that are no boxes: they keep what the tree's keep, and lose less."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.remeasure import remeasure

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.release import regrouping
from sfumato.release.promises.t_closeness import TCloseness

CITIES = "leaf;region;all\na;north;*\nb;north;*\nc;south;*\nd;south;*\ne;east;*\n"


@dataclass(frozen=True)
class EvenRecords:
    """A custodian's own promise, which no threshold says."""

    name = "even_records"
    needs = frozenset()

    def met(self, classes):
        return classes.records % 2 == 0

    def shortfall(self, whole):
        return "an odd number of records"

    def offenders(self, persons):
        return np.empty(0, dtype=np.int64)

    def parameters(self):
        return {}


PROMISES = (
    (sf.KAnonymity(3),),
    (sf.GBalance(0.5), sf.HAffiliation(0.6)),
    (sf.PidKAnonymity(2), sf.LDiversity(2), sf.SharedCounts(2)),
    (sf.KAnonymity(2), TCloseness(0.4)),
    (sf.PidKAnonymity(2), sf.MarketerRisk(0.15)),
    (sf.KAnonymity(2), EvenRecords()),
)


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    path = tmp_path_factory.mktemp("cities") / "cities.csv"
    path.write_text("\n".join(CITIES.splitlines()[1:]) + "\n", encoding="utf-8")
    return sf.Schema(
        person="who",
        quasi_identifiers={
            "age": {"kind": "numeric", "top": 55},
            "income": "numeric",
            "level": {"kind": "ordered", "order": ["low", "middle", "high"]},
            "city": {"kind": "categorical", "hierarchy": path, "weight": 2.0},
            "sex": "categorical",
        },
        sensitive=["illness"],
    )


def file(seed, persons, missing, most=3):
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(persons), rng.integers(1, most + 1, persons))
    total = len(person)

    def column(values):
        return [None if rng.random() < missing else value for value in values]

    return pa.table(
        {
            "who": person,
            "age": column(rng.integers(20, 60, persons)[person].tolist()),
            "income": column((rng.integers(0, 30, total) * 100).tolist()),
            "level": column(rng.choice(["low", "middle", "high"], total).tolist()),
            "city": column(rng.choice(list("abcde"), total).tolist()),
            "sex": rng.choice(["f", "m"], persons)[person],
            "illness": rng.choice(list("uvwx"), total),
        }
    )


def distance(rows, classes):
    """t of t-closeness, by hand."""
    whole = Counter(row["illness"] for row in rows)
    return max(
        sum(
            abs(sum(row["illness"] == value for row in own) / len(own) - number / len(rows))
            for value, number in whole.items()
        )
        / 2
        for own in classes
    )


@pytest.mark.slow
@settings(max_examples=12)
@given(
    st.integers(0, 2**32 - 1), st.integers(6, 70), st.sampled_from([0.0, 0.1]),
    st.sampled_from(PROMISES), st.sampled_from(["range", "set", "hierarchy", "bounds"]),
)  # fmt: skip
def test_keeps_every_promise_and_loses_no_more_by_any_count(
    schema, seed, persons, missing, promises, values
):
    table = file(seed, persons, missing)
    try:
        tree, release = (
            sf.anonymize(table, schema, *promises, values=values, effort=effort, seed=1)
            for effort in (0, 3)
        )
    except ConstraintsNotMetError:
        return
    lost, before = [(each.utility.ane, each.utility.ncp) for each in (release, tree)]
    neither_worse = lost[0] <= before[0] + 1e-9 and lost[1] <= before[1] + 1e-9
    # Sums are weighted in the search, averages here are not.
    assert neither_worse or sum(lost) < sum(before)
    rows = [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in release.data.to_pylist()
    ]
    shown = [name for name in rows[0] if name not in ("who", "illness")]
    found = remeasure(rows, shown, "who", ("illness",))
    assert found.split_persons == 0
    assert found.records == table.num_rows
    classes = defaultdict(list)
    for row in rows:
        classes[tuple(row[name] for name in shown)].append(row)
    for promise in promises:
        stated = promise.parameters()
        assert {
            "g_balance": lambda s: found.g >= s["g"] - 1e-6,
            "h_affiliation": lambda s: found.h["illness"] <= s["h"] + 1e-6,
            "k": lambda s: found.k >= s["k"],
            "pid_k": lambda s: found.pid_k >= s["k"],
            "l": lambda s: found.l["illness"] >= s["l"],
            "marketer": lambda s: found.marketer <= s["tau"] + 1e-6,
            "shared_counts": lambda s: found.count_k >= s["m"],
            "t_closeness": lambda s: distance(rows, classes.values()) <= s["t"] + 1e-6,
            "even_records": lambda _: all(len(own) % 2 == 0 for own in classes.values()),
        }[promise.name](stated)


@pytest.mark.parametrize(("ends", "share"), [("tight", 0.95), ("snapped", 1.0)])
@pytest.mark.parametrize("promises", fast_first(1, [PROMISES[0], PROMISES[3], PROMISES[4]]))
def test_gains_where_there_is_room(schema, promises, ends, share):
    table = file(5, 300, 0.0, most=1)
    tree, release = (
        sf.anonymize(table, schema, *promises, values="set", ends=ends, effort=effort, seed=1)
        for effort in (0, 3)
    )
    before, after = (each.utility.ane + each.utility.ncp for each in (tree, release))
    assert after < share * before


def test_parts_are_searched_alone_and_on_any_number_of_processors_alike(schema, monkeypatch):
    table = file(8, 200, 0.0)
    monkeypatch.setattr(regrouping, "PART_PERSONS", 50)
    releases = []
    for processors in (1, 2):
        monkeypatch.setattr("sfumato.kernels.loop_calls.processors", lambda n=processors: n)
        releases.append(sf.anonymize(table, schema, sf.PidKAnonymity(3), seed=4, secret=b"s" * 32))
    assert releases[0].table.equals(releases[1].table)
    tree = sf.anonymize(table, schema, sf.PidKAnonymity(3), seed=4, effort=0)
    assert releases[0].utility.ncp < tree.utility.ncp


def test_says_what_the_passes_gained(schema):
    told = []
    sf.anonymize(
        file(8, 200, 0.0), schema, sf.KAnonymity(4), seed=1, effort=2,
        progress=lambda stage, share: told.append((stage, share)),
    )  # fmt: skip
    passes = [stage for stage, _ in told if stage.startswith("regroup")]
    assert passes
    assert all("of the loss gained" in stage for stage in passes)


def test_without_effort_the_classes_are_the_trees(schema):
    table = file(2, 120, 0.0)
    same = {"keep_order": True, "pseudonym_key": b"k" * 16, "seed": 1}
    median = sf.anonymize(table, schema, sf.KAnonymity(3), cut="median", **same)
    assert median.risk.classes <= median.tree.classes
    explicit = sf.anonymize(table, schema, sf.KAnonymity(3), cut="median", effort=0, **same)
    assert median.table.equals(explicit.table)


def test_nothing_is_left_behind_by_an_interrupt(schema, monkeypatch):
    def interrupted(*_args, **_words):
        raise KeyboardInterrupt

    monkeypatch.setattr(regrouping, "improved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sf.anonymize(file(2, 120, 0.0), schema, sf.KAnonymity(3), seed=1)


def test_full_domain_recoding_takes_no_effort(schema):
    with pytest.raises(InputError, match="parameter effort"):
        sf.anonymize(file(1, 30, 0.0), schema, sf.KAnonymity(2), recoding="full-domain", effort=2)


@pytest.mark.slow
def test_a_custodians_promise_is_looked_at_between_rounds(schema):
    table = file(3, 160, 0.0, most=1)
    if table.num_rows % 2:
        table = table.slice(0, table.num_rows - 1)
    tree, release = (
        sf.anonymize(table, schema, sf.KAnonymity(2), EvenRecords(), effort=effort, seed=1)
        for effort in (0, 4)
    )
    assert release.utility.ncp < tree.utility.ncp
    assert replace(release.manifest, seed=0).options.effort == 4


def test_many_columns_come_to_an_end():
    rng = np.random.default_rng(5)
    columns = {f"c{n}": rng.integers(0, 2, 60).astype(str) for n in range(16)}
    release = sf.anonymize(
        pa.table(columns), sf.Schema(quasi_identifiers=list(columns)), sf.PidKAnonymity(3), seed=1
    )
    assert release.risk.pid_k >= 3
