"""The upper levels are those of one machine, for many files; tasks run here, without Spark."""

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import sfumato
from sfumato.engines.spark import cut_histograms, cut_selection
from sfumato.engines.spark.spark_persons import (
    SECOND,
    PeopleBatch,
    SparkTable,
    axes_of,
    people_of,
    unrouted,
)
from sfumato.engines.spark.spark_session import PERSON, TIE, Ran, quasi_identifier, sensitive
from sfumato.release.cuts import NUMBERS, Nodes, class_summary, find_candidates
from sfumato.release.on_spark.upper_levels import _UpperGrowth, cut_upper_on_spark, large_candidates
from sfumato.release.person_table import person_table
from sfumato.release.release_options import Split
from sfumato.release.tree import grow
from sfumato.table.door import open_table
from sfumato.table.scalars import ties_of_codes, ties_of_values

pytestmark = pytest.mark.slow


class Rows:
    """A DataFrame of rows that are here, as far as tallies are read."""

    def __init__(self, table):
        self.table = table

    def toArrow(self):
        return self.table

    def groupBy(self, *keys):
        self.keys = keys
        return self

    def applyInArrow(self, function, schema):
        del schema
        groups = self.table.group_by(list(self.keys)).aggregate([])
        parts = []
        for row in groups.to_pylist():
            kept = np.ones(len(self.table), dtype=bool)
            for name, value in row.items():
                kept &= self.table.column(name).to_numpy() == value
            parts.append(function(self.table.filter(pa.array(kept))))
        return Rows(pa.concat_tables(parts))


def tallied_here(people, columns, axes, rows_of, tally):
    """As `tallies.tallied` with a task per part of the persons."""
    parts = []
    for part in people:
        batches = part.select(list(columns)).to_batches(max_chunksize=97)
        task = partial(cut_histograms._task, axes=axes.bare(), rows_of=rows_of, tally=tally)
        parts += [pa.Table.from_batches([batch]) for batch in task(iter(batches))]
    return Rows(tally.added_up(pa.concat_tables(parts)))


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    for module in (cut_histograms, cut_selection, cut_selection):
        monkeypatch.setattr(module, "tallied", tallied_here)
    monkeypatch.setattr(cut_histograms, "BUFFER", 500)


def file(seed, persons, *, ids):
    """A file whose columns, gaps and ties differ with the seed."""
    rng = np.random.default_rng(seed)
    several = np.minimum(rng.geometric(rng.choice([0.4, 0.9]), persons), 4)
    if seed % 4 == 2:
        several[0] = 2 * persons
    owner = np.repeat(np.arange(persons), several if ids else 1)
    rng.shuffle(owner)

    def column(values, gone):
        steady = rng.choice([0.3, 0.9, 1.0])
        codes = (len(values) * rng.random(persons) ** rng.choice([1, 3])).astype(int)[owner]
        other = rng.integers(0, len(values), len(owner))
        codes = np.where(rng.random(len(owner)) < steady, codes, other)
        codes = np.where((owner == 0) & (seed % 4 == 2), len(values) - 1, codes)
        return pa.array(np.array(values)[codes], mask=rng.random(len(owner)) < gone)

    gaps = rng.choice([0.0, 0.02, 0.6], 5)
    data = {
        "age": column([0, 50, 52, 90], gaps[0]),
        "income": column(np.sort(rng.integers(0, 10**6, 60)) / 100, gaps[1]),
        "grade": column(["low", "middle", "high"], gaps[2]),
        "sex": column(["f", "m"], gaps[3]),
        "town": column(list("abcdef"), gaps[4]),
        "illness": column(list("12358"), 0.1),
    }
    kinds = {"age": {"kind": "numeric"}, "income": {"kind": "numeric"}, "town": {}, "sex": {}}
    order = {"kind": "ordered", "order": ["low", "middle", "high"]}
    quasi = {**kinds, "grade": order}
    some = rng.permutation(list(quasi))[: rng.integers(1, 6)]
    if ids:
        data["id"] = pa.array([f"P{number}" for number in owner])
    schema = sfumato.Schema(
        person="id" if ids else None,
        quasi_identifiers={name: quasi[name] for name in some.tolist()},
        sensitive=["illness"],
    )
    return open_table(pa.table(data), schema)


def parts_of(table, count, rng):
    """The persons of a file in some parts, gathered by parts; and the file without records."""
    if table.schema.person is None:
        ids = pa.array(np.arange(table.records))
        pairs = [
            (c.codes, [c.domain.label(i) for i in range(c.domain.size)]) for c in table.sensitive
        ]
        ties = ties_of_codes([each.codes for each in table.quasi_identifiers], pairs)
    else:
        ids = table.source.column("id").combine_chunks()
        ties = ties_of_values(ids)
    second = rng.permutation(table.persons)[table.person]
    columns = {PERSON: ids, TIE: ties, SECOND: second}
    columns |= {quasi_identifier(i): c.codes for i, c in enumerate(table.quasi_identifiers)}
    columns |= {sensitive(i): c.codes for i, c in enumerate(table.sensitive)}
    both = (*table.quasi_identifiers, *table.sensitive)
    nothing = np.empty(0, dtype=np.int32)
    own = SparkTable(
        schema=table.schema,
        frame=None,
        quasi_identifiers=tuple(replace(c, codes=nothing) for c in table.quasi_identifiers),
        sensitive=tuple(replace(c, codes=nothing) for c in table.sensitive),
        value_counts={
            c.name: np.bincount(c.codes + 1, minlength=c.domain.size + 1)[1:] for c in both
        },
        missing={c.name: int((c.codes < 0).sum()) for c in both},
        columns=table.columns,
        warnings=(),
        records=table.records,
        persons=table.persons,
        ran=Ran("spark", "4", "local", 1, 2, count),
    )
    axes = axes_of(own, sensitive=True)
    rows = pa.table(columns)
    bucket = rng.integers(0, count, table.persons)[table.person]
    shuffled = [rng.permutation(np.flatnonzero(bucket == each)) for each in range(count)]
    return axes, [people_of(rows.take(some), axes) for some in shuffled if len(some)]


def nodes_on_spark(table, constraints, split, upper, rng):
    """The node of each person, by the id or by the row of the record."""
    axes, people = parts_of(table, int(rng.choice([1, 2, 8])), rng)
    records = np.bincount(table.person)
    whole = class_summary(*(np.array([each]) for each in sums_of(records)))
    names = [column.name for column in table.sensitive]
    found = cut_upper_on_spark(people, axes, whole, names, constraints, split=split, upper=upper)
    nodes = {}
    for part in people:
        for batch in part.to_batches():
            node = found.routes.node_of(PeopleBatch(batch, axes)).tolist()
            nodes |= dict(zip(batch.column(PERSON).to_pylist(), node, strict=True))
    assert set(nodes.values()) == set(found.ends.tolist())
    return nodes


def sums_of(records):
    return records.sum(), len(records), (records**2).sum()


def classes(who, node):
    """The nodes as a multiset of multisets of persons."""
    found = {}
    for each, of in zip(who, node, strict=True):
        found.setdefault(of, Counter())[each] += 1
    return Counter(frozenset(each.items()) for each in found.values())


def read_little(monkeypatch):
    """Let everything be narrowed down in many passes."""
    for module in (cut_histograms, cut_selection):
        monkeypatch.setattr(module, "LIMIT", 32)
        monkeypatch.setattr(module, "FEWEST", 3)


PROMISES = (
    [sfumato.PidKAnonymity(3)],
    [sfumato.GBalance(0.9), sfumato.HAffiliation(0.4)],
    [sfumato.KAnonymity(6), sfumato.TCloseness(0.1)],
    [sfumato.TCloseness(0.07, distance="ordered"), sfumato.LDiversity(5)],
    [sfumato.SharedCounts(12), sfumato.HAffiliation(0.35)],
)


@pytest.mark.parametrize("seed", range(16))
def test_every_cut_of_the_root_is_that_of_one_machine(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    if seed % 2:
        read_little(monkeypatch)
    table = file(seed, 300, ids=bool(seed % 3))
    axes, people = parts_of(table, 3, rng)
    persons = person_table(table)
    records = persons.records
    whole, count, squares = (np.array([each]) for each in sums_of(records))
    root = Nodes(np.zeros(1, dtype=np.int64), count, whole, squares)
    own = find_candidates(persons, persons.orders(), root, Split.RANGE)
    own = own.take(np.lexsort((own.column, own.axis)))  # the loops leave the columns' order open
    one = np.zeros(1, dtype=np.int64)
    found, places = large_candidates(people, axes, unrouted(), one, root)
    for name in NUMBERS:
        assert_allclose(getattr(found, name), getattr(own, name), rtol=1e-9, err_msg=name)
    growth = _UpperGrowth(people, axes, [], [], Split.BALANCE)
    both = (*table.quasi_identifiers, *table.sensitive)
    contents = np.column_stack([each.codes for each in both])
    first = np.unique(table.person, return_index=True)[1]
    for cut in range(len(own.node)):
        growth.known = {}
        bounds = growth._bounds(one, found.take(np.array([cut])), places)
        routes = unrouted().grown(one, bounds)
        left = [
            person
            for part in people
            for batch in part.to_batches()
            for person, node in zip(
                batch.column(PERSON).to_pylist(),
                routes.node_of(PeopleBatch(batch, axes)).tolist(),
                strict=True,
            )
            if node == 1
        ]
        axis = int(own.axis[cut])
        if axis < len(persons.ordered):
            here = persons.orders()[axis][: own.left[cut]]
        else:
            member = persons.indicators[axis - len(persons.ordered)].member
            here = np.flatnonzero(member != own.column[cut])
        if table.schema.person is None:
            assert Counter(map(tuple, contents[left])) == Counter(map(tuple, contents[here]))
        else:
            names = table.source.column("id").to_pylist()
            assert sorted(left) == sorted(names[row] for row in first[here])


@pytest.mark.parametrize("seed", range(16))
def test_upper_levels_are_those_of_one_machine(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    ids = bool(seed % 3)
    table = file(seed, 900, ids=ids)
    split = list(Split)[seed % 3]
    constraints = PROMISES[seed % len(PROMISES)]
    if seed % 2:
        read_little(monkeypatch)
    persons = person_table(table)
    upper = int(rng.choice([40, 150, 400]))
    own = grow(persons, constraints, split=split, subtree_persons=upper).class_of_person
    found = nodes_on_spark(table, constraints, split, upper, rng)
    if ids:
        names = table.source.column("id").to_pylist()
        of_person = dict(zip(names, own[table.person].tolist(), strict=True))
        assert classes(of_person, of_person.values()) == classes(found, found.values())
    else:
        both = (*table.quasi_identifiers, *table.sensitive)
        contents = list(zip(*(each.codes.tolist() for each in both), strict=True))
        here = [found[row] for row in range(table.records)]
        assert classes(contents, own.tolist()) == classes(contents, here)
