"""Candidate pairs made, counted and fetched by pattern, against all pairs of records one by one."""

from collections import Counter
from contextlib import closing
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from few_cases import fast_first

from sfumato.linkage import pair_patterns
from sfumato.linkage.candidate_pairs import make_tables, rules_on_columns
from sfumato.linkage.comparison_levels import settings_from
from sfumato.linkage.link_engine import OnDuckDB, connect
from sfumato.linkage.link_sources import open_sources
from sfumato.linkage.link_spec import LinkSpec
from sfumato.linkage.pair_patterns import CandidatePairs, rarity

COLUMNS = {"given": "given name", "sex": {"kind": "category", "term_frequency": False}}


def people(rng, count):
    given = rng.choice(["Anna", "Bert", "Carla", None], count)
    return pa.table({"given": given.tolist(), "sex": rng.choice(["f", "m"], count).tolist()})


@pytest.mark.parametrize(
    ("mode", "every"),
    fast_first(
        3,
        [("link-only", 3), ("link-and-dedupe", 1), ("dedupe-only", 1), ("link-only", 1)],
        tuples=True,
    ),
)
def test_pairs_and_patterns_are_those_of_all_pairs_of_records(mode, every, monkeypatch):
    """Pairs within tables that are only linked are of every first, or third, record: uncounted."""
    monkeypatch.setattr(pair_patterns, "WITHIN", 100 if every == 1 else 20)
    rng = np.random.default_rng(2)
    sizes = (40,) if mode == "dedupe-only" else (20, 15, 10)
    tables = {f"t{i}": people(rng, n) for i, n in enumerate(sizes)}
    spec = LinkSpec(mode=mode, columns=COLUMNS, blocking=[["given", "sex"], ["given:1"], ["sex"]])
    rows = [(i, row) for i, table in enumerate(tables.values()) for row in table.to_pylist()]
    names = Counter(row["given"] for _, row in rows)
    count = np.array([float(names[row["given"]]) if row["given"] else 0.0 for _, row in rows])
    with open_sources(tables, spec) as opened, closing(connect(opened.workspace.path)) as database:
        made = make_tables(database, opened).tables
        rules = rules_on_columns(database, made, spec)
        candidates = CandidatePairs(OnDuckDB(database), database, made, opened.records)
        of_rule = candidates.block(rules, spec.mode)
        patterns = candidates.compare(settings_from(spec), {"given": count})
        kept = patterns.pairs > patterns.pairs.min()
        pairs, pattern = candidates.fetch(patterns, kept)
    wanted, by_rule = {}, Counter()
    for (a, (i, one)), (b, (j, other)) in combinations(enumerate(rows), 2):
        name = one["given"] == other["given"] is not None
        sex = one["sex"] == other["sex"]
        counted = mode != "link-only" or i != j
        if (counted or a % every == 0) and (name or sex):
            wanted[a, b] = (name, sex, i, j)
            by_rule[0 if name and sex else 1 if name else 2] += counted
    assert of_rule == [by_rule[rule] for rule in range(3)]
    assert candidates.within == 1 / every
    assert patterns.pairs.sum() == len(wanted)
    fetched = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert fetched == sorted(fetched)
    assert len(fetched) == patterns.pairs[kept].sum() < len(wanted)
    rare = rarity(count)
    for place, (a, b) in enumerate(fetched):
        name, sex, i, j = wanted[a, b]
        top = max(pairs.levels["given"])
        assert (pairs.levels["given"][place] == top) == name
        assert (pairs.levels["given"][place] == -1) == (
            None in {rows[a][1]["given"], rows[b][1]["given"]}
        )
        assert pairs.levels["sex"][place] == sex
        assert (patterns.left[pattern[place]], patterns.right[pattern[place]]) == (i, j)
        assert not name or patterns.code["given"][pattern[place]] == top + rare[a]
