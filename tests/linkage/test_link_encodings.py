"""Encodings of several owners linked by a unit that has neither key nor value."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from linkage.census_files import two_files

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.examples import Registrations, generate_clinics, generate_registrations
from sfumato.linkage import encoding_scores
from sfumato.linkage.earlier_linkage import apply_decisions
from sfumato.linkage.encoded_table import encode_table, is_encoded, read_encoded, write_encoded
from sfumato.linkage.encoding import Encoded
from sfumato.linkage.encoding_linkage import EncodedLinks, Matching
from sfumato.linkage.link_spec import LinkSpec, Mode, WantedRates
from sfumato.linkage.match_thresholds import Thresholds

pytestmark = pytest.mark.usefixtures("few_random_pairs")

SECRET = b"a secret of more than sixteen bytes"
BOTH = ("hospital", "practice")


@pytest.fixture(scope="module")
def made() -> Registrations:
    return generate_registrations(generate_clinics(1_500, rng=4))


@pytest.fixture(scope="module")
def encoded(made: Registrations) -> dict[str, Encoded]:
    """The patients of both clinics, the second one's by the first one's specification."""
    first = encode_table(made.hospital, SECRET, id_column="patient", name="hospital")
    second = encode_table(made.practice, SECRET, first.spec, id_column="patient", name="practice")
    return {"hospital": first.encoded, "practice": second.encoded}


def truth_of(made: Registrations) -> dict[tuple[str, str], object]:
    table = made.truth
    keys = zip(table["clinic"].to_pylist(), map(str, table["patient"].to_pylist()), strict=True)
    return dict(zip(keys, table["person"].to_pylist(), strict=True))


def f1(links: EncodedLinks, person: dict[tuple[str, str], object]) -> float:
    """F1 of the pairs of records of different sources, from the persons."""
    rows = links.persons.to_pylist()
    found, true, both = Counter(), Counter(), Counter()
    for row in rows:
        real = person[row["source"], row["id"]]
        found[row["person"], row["source"]] += 1
        true[real, row["source"]] += 1
        both[(row["person"], real), row["source"]] += 1
    pairs = [_across(counts, links.records.sources) for counts in (both, found, true)]
    return 2 * pairs[0] / (pairs[1] + pairs[2])


def _across(counts: Counter[tuple[object, str]], sources: tuple[str, ...]) -> int:
    return sum(
        number * counts[key, other]
        for (key, source), number in list(counts.items())
        for other in sources[sources.index(source) + 1 :]
    )


# ------------------------------------------------------------------------------- from two owners


def test_registrations_are_linked_by_encodings_alone(
    made: Registrations, encoded: dict[str, Encoded]
) -> None:
    links = sf.link(encoded, Matching(one_per_source=BOTH), seed=1)
    assert isinstance(links, EncodedLinks)
    assert f1(links, truth_of(made)) >= 0.94
    assert max(Counter(links.persons["person"].to_pylist()).values()) == 2
    precision, recall = links.quality
    assert 0.9 < precision.value <= 1
    assert 0.8 < recall.value <= 1
    free = sf.link(encoded, Matching(), seed=1)
    assert f1(free, truth_of(made)) >= 0.9


@pytest.mark.slow
def test_febrl_4_from_home_to_persons(shared_data: Path, tmp_path: Path) -> None:
    tables = {}
    for name in ("dataset4a", "dataset4b"):
        with (shared_data / "febrl" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file, skipinitialspace=True)
        columns = zip(*rows, strict=True)
        tables[name] = pa.table({n: list(c) for n, c in zip(header, columns, strict=True)})
    spec = None
    for name, table in tables.items():
        home = encode_table(table, SECRET, spec, id_column="rec_id")
        spec = home.spec
        write_encoded(home.encoded, tmp_path / f"{name}.encoded")
    person = {
        (name, one): one.split("-")[1]
        for name in tables
        for one in tables[name]["rec_id"].to_pylist()
    }
    paths = [tmp_path / f"{name}.encoded" for name in tables]
    assert f1(sf.link(paths, seed=1), person) >= 0.997
    assert f1(sf.link(paths, Matching(one_per_source=tuple(tables)), seed=1), person) >= 0.999


def test_it_is_repeated_by_its_seed_and_the_key_is_another_one(encoded: dict[str, Encoded]) -> None:
    one, two, other = (
        sf.link(encoded, Matching(), seed=1, secret=secret)
        for secret in (b"1" * 32, b"1" * 32, b"2" * 32)
    )
    assert one.persons.equals(two.persons)
    assert one.linked.equals(two.linked)
    assert not one.persons.equals(other.persons)
    key = b"0123456789abcdef"
    keyed = [_records_of_persons(sf.link(encoded, pseudonym_key=key, seed=s)) for s in (1, 2)]
    in_both = keyed[0].keys() & keyed[1].keys()  # the seed also draws a sample: a few may differ
    assert len(in_both) > 0.98 * len(keyed[0])
    assert all(keyed[0][records] == keyed[1][records] for records in in_both)


def _records_of_persons(links: EncodedLinks) -> dict[frozenset[tuple[str, str]], str]:
    """The id of each person, by its records."""
    persons: dict[str, list[tuple[str, str]]] = {}
    for row in links.persons.to_pylist():
        persons.setdefault(row["person"], []).append((row["source"], row["id"]))
    return {frozenset(records): person for person, records in persons.items()}


def test_the_folder_holds_the_contract_and_no_attribute(
    encoded: dict[str, Encoded], tmp_path: Path
) -> None:
    links = sf.link(encoded, Matching(), seed=1)
    links.write(tmp_path / "out")
    pairs = pq.read_table(tmp_path / "out" / "pairs.parquet")
    assert pairs.column_names == [
        *("pair", "source_l", "id_l", "source_r", "id_r", "score", "outcome"),
    ]
    scores = np.asarray(pairs["score"])
    assert (np.diff(scores) <= 0).all()
    assert ((scores >= 0.5) == (np.asarray(pairs["outcome"]) == "match")).all()
    persons = pq.read_table(tmp_path / "out" / "persons.parquet")
    assert persons.column_names == ["source", "id", "person"]
    assert len(persons) == sum(map(len, encoded.values()))
    linked = pq.read_table(tmp_path / "out" / "linked.parquet")
    assert linked.column_names == ["person", "source"]
    assert Counter(linked["person"].to_pylist()) == Counter(persons["person"].to_pylist())
    assert links.to_json()["specification"] == "encodings"
    assert "Similarity" in str(links)


def test_attached_tables_give_the_linked_file_its_columns(
    made: Registrations, encoded: dict[str, Encoded]
) -> None:
    visits = {"hospital": made.hospital_visits, "practice": made.practice_visits}
    links = sf.link(
        encoded, Matching(), id_column="patient", attach_tables=visits, schema=made.schema, seed=1
    )
    assert {"person", "source", "age", "sex", "icd9"} <= set(links.linked.column_names)
    assert not {"patient", "surname", "phone", "date_of_birth"} & set(links.linked.column_names)
    assert len(links.linked) == sum(map(len, visits.values()))
    with pytest.raises(InputError, match="needs an id column"):
        sf.link(encoded, Matching(), attach_tables=visits)


def test_three_owners_and_one_that_has_persons_twice(
    made: Registrations, encoded: dict[str, Encoded]
) -> None:
    half = np.arange(0, len(encoded["hospital"]), 2)
    third = replace(
        encoded["hospital"],
        ids=encoded["hospital"].ids.take(pa.array(half)),
        bits=encoded["hospital"].bits[half],
    )
    links = sf.link({**encoded, "third": third}, Matching(one_per_source=BOTH), seed=1)
    person = truth_of(made)
    person |= {("third", key): real for (name, key), real in person.items() if name == "hospital"}
    assert f1(links, person) >= 0.94
    assert [(each.left, each.right) for each in links.matched] == list(
        combinations(["hospital", "practice", "third"], 2)
    )


def test_within_a_source_from_a_given_similarity(encoded: dict[str, Encoded]) -> None:
    one = encoded["hospital"]
    twice = replace(
        one,
        ids=pa.concat_arrays([one.ids, pa.array([f"again {i}" for i in one.ids.to_pylist()])]),
        bits=np.concatenate([one.bits, one.bits]),
    )
    links = sf.link({"all": twice}, Matching(mode=Mode.DEDUPE_ONLY, similarity=0.99), seed=1)
    assert links.settled.persons.count <= len(one)
    assert links.settled.persons.count >= 0.98 * len(one)
    assert not links.estimated
    assert "expected" not in links.to_json()
    sources = {"twice": twice, "practice": encoded["practice"]}
    both = sf.link(sources, Matching(mode=Mode.LINK_AND_DEDUPE, similarity=0.99), seed=1)
    assert [(each.left, each.right) for each in both.matched] == [
        ("twice", "practice"),
        ("twice", "twice"),
        ("practice", "practice"),
    ]


def test_the_similarity_is_the_score_where_it_is_given(encoded: dict[str, Encoded]) -> None:
    links = sf.link(encoded, Matching(similarity=0.8), seed=1)
    one, other = encoded.values()
    left, right = links.pairs.left, links.pairs.right - len(one)
    common = np.bitwise_count(one.words[left] & other.words[right]).sum(axis=1, dtype=int)
    dice = 2 * common / (one.counts[left] + other.counts[right])
    assert links.pairs.score == pytest.approx(dice)
    assert links.pairs.score.min() >= 0.8


def test_blocking_on_bits_finds_what_comparing_all_finds(
    made: Registrations, encoded: dict[str, Encoded], monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = sf.link(encoded, Matching(one_per_source=BOTH), seed=1)
    monkeypatch.setattr(encoding_scores, "ALL_PAIRS", 1_000)
    monkeypatch.setattr(encoding_scores, "SAMPLE", 600)
    blocked = sf.link(encoded, Matching(one_per_source=BOTH), seed=1)
    assert f1(blocked, truth_of(made)) >= f1(everything, truth_of(made)) - 0.02
    given = sf.link(encoded, Matching(similarity=0.8), seed=1)
    monkeypatch.undo()
    whole = sf.link(encoded, Matching(similarity=0.8), seed=1)
    keys = [set(zip(e.pairs.left, e.pairs.right, strict=True)) for e in (given, whole)]
    assert keys[0] <= keys[1]
    assert len(keys[0]) >= 0.98 * len(keys[1])


def test_thresholds_and_rates(encoded: dict[str, Encoded]) -> None:
    sure = sf.link(encoded, Matching(thresholds=Thresholds(0.2, 0.99)), seed=1)
    counts = sure.to_json()["outcomes"]
    assert counts["possible_match"] > 0
    assert sure.pairs.score[sure.outcomes == 2].min() >= 0.99
    rates = WantedRates(false_match_rate=0.001, missed_match_rate=0.02)
    found = sf.link(encoded, Matching(rates=rates), seed=1)
    assert found.settled.workload.false_match_rate <= 0.001
    assert found.settled.workload.missed_match_rate <= 0.02


# ------------------------------------------------------------------------------ how good it is


HOME, BIRTH = ("street_number", "street_name"), ("date_of_birth", "sex")
FILES = [
    {},
    {"leave_out": HOME},
    {"leave_out": BIRTH},
    {"errors": 0.08},
    {"errors": 0.08, "leave_out": HOME},
    {"moved": 0.2},
    {"moved": 0.2, "leave_out": BIRTH},
    {"blank": 0.1, "share": 0.95},
    {"blank": 0.1, "share": 0.95, "leave_out": BIRTH},
    {"share": 0.4},
]


@pytest.mark.parametrize(
    ("once", "step"),
    [
        (("a", "b"), 4),
        pytest.param(("a", "b"), 1, marks=pytest.mark.slow),
        pytest.param((), 1, marks=pytest.mark.slow),
    ],
    ids=["few", "once", "undeclared"],
)
def test_intervals_hold_on_nine_of_ten_files(once: tuple[str, ...], step: int) -> None:
    files_made, held = FILES[::step], np.zeros(2, int)
    for seed, made in enumerate(files_made, 40):
        tables, whose = two_files(seed=seed, **made)
        spec, files = None, {}
        for name, table in tables.items():
            home = encode_table(table, SECRET, spec, id_column="id")
            spec, files[name] = home.spec, home.encoded
        links = sf.link(files, Matching(one_per_source=once), seed=1)
        rows = links.pairs_table.filter(pa.array(links.outcomes == 2)).to_pylist()
        right = sum(whose[row["id_l"]] == whose[row["id_r"]] for row in rows)
        true = sum(count - 1 for count in Counter(whose.values()).values())
        for place, (each, truth) in enumerate(
            zip(links.quality, (right / len(rows), right / true), strict=True)
        ):
            assert 0 < each.low <= each.value <= each.high <= 1
            held[place] += each.low <= truth <= each.high
        # Of files with so much in common one knows something.
        assert links.quality[0].low > 0.8
        assert links.quality[1].low > 0.25
    assert held.min() >= int(0.9 * len(files_made))


@given(st.integers(0, 10_000))
def test_rivals_are_the_pairs_of_records_without_their_partners(seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = 6, 8
    grid = np.divmod(np.arange(left * right), right)
    some = rng.random(left * right) < 0.7
    pairs = grid[0][some], grid[1][some], rng.permutation(left * right)[some] / 100 + 0.1
    own = encoding_scores.assigned(pairs, left, right)
    found = encoding_scores.rivals(pairs, own, left, right)
    for side in (0, 1):
        for place in np.flatnonzero(own):
            partner = pairs[1 - side][place]
            rest = pairs[1 - side] != partner
            without = tuple(each[rest] for each in pairs)
            again = encoding_scores.assigned(without, left, right)
            mine = again & (without[side] == pairs[side][place])
            expected = without[2][mine].max(initial=0.0)
            assert found[side].rival[pairs[side][place]] == expected
            assert found[side].own[pairs[side][place]] == pairs[2][place]


def test_strangers_are_counted_by_rivals() -> None:
    own = np.repeat([0.9, 0.0], [400, 300])
    rival = np.repeat([0.9, 0.3, 0.0], [100, 300, 300])
    # Of four records without a partner one finds a stranger: 300 found none, so 100 did.
    expected, most = encoding_scores.Rivals(own, rival).wrong(0.5)
    assert expected == pytest.approx(100, abs=1)
    assert 120 < most < 150
    assert encoding_scores.Rivals(own, rival).wrong(0.95) == (0.0, 0.0)
    none = encoding_scores.Rivals(own, 0 * rival)
    assert none.wrong(0.5)[0] < 1
    assert 0 < none.wrong(0.5)[1] < 5


# ------------------------------------------------------------------------------------- refused


def test_what_does_not_belong_together_is_refused(
    made: Registrations, encoded: dict[str, Encoded]
) -> None:
    with pytest.raises(InputError, match="a clear table in practice"):
        sf.link({"hospital": encoded["hospital"], "practice": made.practice})
    other_key = replace(encoded["practice"], key_check="0" * 16, spec_check="1" * 16)
    with pytest.raises(InputError, match=r"hospital and practice must .* the same key"):
        sf.link({"hospital": encoded["hospital"], "practice": other_key})
    other_spec = replace(encoded["practice"], spec_check="1" * 16)
    with pytest.raises(InputError, match="the same specification"):
        sf.link({"hospital": encoded["hospital"], "practice": other_spec})
    with pytest.raises(InputError, match="one source"):
        sf.link(encoded, Matching(mode=Mode.DEDUPE_ONLY, similarity=0.8))
    with pytest.raises(InputError, match="found a Matching"):
        sf.link({"a": made.hospital, "b": made.practice}, Matching())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"spec": LinkSpec(columns={"a": "surname"}, blocking=["a"])}, "must be a Matching"),
        ({"decisions": "answers.parquet"}, "parameter decisions must be left out"),
        ({"model": "model.json"}, "parameter model must be left out"),
        ({"previous": "out"}, "parameter previous must be left out"),
        ({"quasi_identifiers": ["sex"]}, "parameter quasi_identifiers must be left out"),
        ({"check_half_width": 0.1}, "parameter check_half_width must be left out"),
        ({"allow_pairs": 5}, "parameter allow_pairs must be left out"),
        ({"attach_tables": {"nobody": "x.csv"}}, "must be given for sources"),
    ],
)
def test_what_encodings_cannot_give_is_refused(
    encoded: dict[str, Encoded], asked: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        sf.link(encoded, **asked)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"mode": Mode.DEDUPE_ONLY}, "must have a Dice similarity"),
        ({"mode": Mode.LINK_AND_DEDUPE}, "must have a Dice similarity"),
        ({"similarity": 0.0}, "must be above 0"),
        ({"similarity": 1.1}, "must be above 0"),
        ({"similarity": 0.8, "thresholds": Thresholds(0.1, 0.9)}, "found several"),
        (
            {
                "rates": WantedRates(false_match_rate=0.1, missed_match_rate=0.1),
                "thresholds": Thresholds(0.1, 0.9),
            },
            "found several",
        ),
    ],
)
def test_a_matching_that_contradicts_itself_is_refused(asked: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Matching(**asked)


def test_one_folder_holds_one_kind_of_linkage(encoded: dict[str, Encoded], tmp_path: Path) -> None:
    links = sf.link(encoded, Matching(), seed=1)
    links.write(tmp_path / "out")
    links.write(tmp_path / "out")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "answers.parquet")
    with pytest.raises(InputError, match="must hold a linkage of clear tables"):
        apply_decisions(tmp_path / "out", tmp_path / "answers.parquet")
    (tmp_path / "out" / "model.json").write_text("{}")
    with pytest.raises(InputError, match="found a linkage of clear tables"):
        links.write(tmp_path / "out")


def test_files_are_known_by_what_they_hold(encoded: dict[str, Encoded], tmp_path: Path) -> None:
    write_encoded(encoded["hospital"], tmp_path / "a.csv")
    pq.write_table(pa.table({"id": ["1"], "clk": [b"x"]}), tmp_path / "b.encoded")
    (tmp_path / "c.encoded").write_bytes(b"PAR1 and nothing else")
    assert is_encoded(tmp_path / "a.csv")
    assert is_encoded(encoded["hospital"])
    for other in ("b.encoded", "c.encoded", "nowhere", "."):
        assert not is_encoded(tmp_path / other)
    assert not is_encoded(pa.table({"id": ["1"]}))
    twice = replace(encoded["hospital"], ids=pa.array(["x"] * len(encoded["hospital"])))
    write_encoded(twice, tmp_path / "twice")
    with pytest.raises(InputError, match="must name each record by another id"):
        read_encoded(tmp_path / "twice")
