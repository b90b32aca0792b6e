"""Encodings: those of clkhash to the bit, and matching that never sees a value."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.linkage import encoding_scores
from sfumato.linkage.encoded_table import read_encoded, suggest_encoding, write_encoded
from sfumato.linkage.encoding import (
    Encoded,
    EncodingSpec,
    FieldEncoding,
    bits_of,
    encode,
    folded,
    hkdf,
    key_check,
    spec_check,
    tokens_of,
)
from sfumato.linkage.encoding_scores import (
    agreement,
    assigned,
    fit_scores,
    plan_blocking,
    score_pairs,
    similar_pairs,
)

GOLDEN = json.loads(Path(__file__).with_name("clkhash_golden.json").read_text(encoding="utf-8"))
SECRET = b"a secret of more than sixteen bytes"
FEBRL = (
    *("given_name", "surname", "street_number", "address_1", "address_2", "suburb", "postcode"),
    *("state", "date_of_birth", "soc_sec_id"),
)
SPEC = EncodingSpec(
    fields=(
        FieldEncoding(column="name", bits=120),
        FieldEncoding(column="born", n=1, positional=True, bits=80),
    ),
    length=256,
)


def table(rows: list[tuple[str | None, ...]], *names: str) -> pa.Table:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    numbers = [str(row) for row in range(len(rows))]
    return pa.table({"id": numbers, **{k: pa.array(v, pa.string()) for k, v in columns.items()}})


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


# ------------------------------------------------------------------------------------- oracle


def spec_of(schema: dict[str, Any]) -> EncodingSpec:
    """The specification that says what a schema of clkhash says."""
    settings_ = schema["clkConfig"]
    fields, hashes = [], set()
    for feature in schema["features"]:
        hashing = feature["hashing"]
        ((per, bits),) = hashing["strategy"].items()
        comparison = hashing["comparison"]
        fields.append(
            FieldEncoding(
                column=feature["identifier"],
                comparison=comparison["type"],
                n=comparison.get("n", 2),
                positional=comparison.get("positional", False),
                bits=bits,
                per={"bitsPerToken": "token", "bitsPerFeature": "value"}[per],
            )
        )
        hashes.add({"blakeHash": "blake", "doubleHash": "double"}[hashing["hash"]["type"]])
    return EncodingSpec(
        fields=tuple(fields),
        length=settings_["l"],
        folds=settings_["xor_folds"],
        hash=hashes.pop(),
        salt=base64.b64decode(settings_["kdf"]["salt"]).hex(),
        info=base64.b64decode(settings_["kdf"]["info"]).hex(),
    )


@pytest.mark.parametrize("case", GOLDEN["cases"])
def test_encodings_are_those_of_clkhash(case: dict[str, Any]) -> None:
    people = table([tuple(row) for row in GOLDEN["records"]], *GOLDEN["columns"])
    spec = spec_of(case["clkhash schema"])
    encoded = encode(people, spec, GOLDEN["secret"].encode(), id_column="id")
    assert [row.tobytes().hex() for row in encoded.bits] == case["clks"]
    assert len(set(case["clks"])) == len(case["clks"])


def test_hkdf_is_that_of_rfc_5869() -> None:
    # Appendix A.1 and A.3.
    found = hkdf(
        bytes([0x0B] * 22),
        42,
        salt=bytes.fromhex("000102030405060708090a0b0c"),
        info=bytes.fromhex("f0f1f2f3f4f5f6f7f8f9"),
    )
    assert found.hex() == (
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    )
    assert hkdf(bytes([0x0B] * 22), 42).hex() == (
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    )


# ------------------------------------------------------------------------------------ encoding


@given(st.text(max_size=12), st.integers(1, 4), st.booleans(), st.integers(1, 90))
def test_tokens_and_their_bits(value: str, n: int, positional: bool, bits: int) -> None:
    field = FieldEncoding(column="x", n=n, positional=positional, bits=bits)
    tokens = tokens_of(value, field)
    assert len(tokens) == (len(value) + n - 1 if value else 0)
    shares = bits_of(len(tokens), field)
    assert sum(shares) == (bits if tokens else 0)
    assert not shares or max(shares) - min(shares) <= 1
    whole = tokens_of(value, replace(field, comparison="exact"))
    assert whole == ([value] if value else [])


def test_a_record_is_the_union_of_its_fields() -> None:
    both = encode(table([("anna", "1970")], "name", "born"), SPEC, SECRET, id_column="id").bits
    rows = [("anna", None), (None, "1970"), ("", ""), (None, None)]
    one, other, *empty = encode(table(rows, "name", "born"), SPEC, SECRET, id_column="id").bits
    assert ((one | other) == both).all()
    assert (one & ~both == 0).all()
    assert not np.any(empty)


def test_equal_records_and_other_keys() -> None:
    people = table([("anna", "1970"), ("berta", "1971"), ("anna", "1970")], "name", "born")
    first = encode(people, SPEC, SECRET, id_column="id")
    assert (first.bits[0] == first.bits[2]).all()
    assert (first.bits[0] != first.bits[1]).any()
    for other in (
        encode(people, SPEC, SECRET + b".", id_column="id"),
        encode(people, replace(SPEC, salt="00ff"), SECRET, id_column="id"),
        encode(people, replace(SPEC, info="00ff"), SECRET, id_column="id"),
    ):
        assert (first.bits != other.bits).any(axis=1).all()
    swapped = encode(table([("1970", "anna")], "name", "born"), SPEC, SECRET, id_column="id")
    assert (swapped.bits[0] != first.bits[0]).any()


def test_numbers_and_dates_are_read_as_text() -> None:
    days = pa.array([0, 1], pa.int32()).view(pa.date32())
    typed = pa.table({"id": [1, 2], "name": ["anna", "berta"], "born": days})
    text = table([("anna", "1970-01-01"), ("berta", "1970-01-02")], "name", "born")
    one, other = (encode(each, SPEC, SECRET, id_column="id") for each in (typed, text))
    assert (one.bits == other.bits).all()
    assert one.ids.to_pylist() == ["1", "2"]


def test_folding_is_the_xor_of_the_halves() -> None:
    filters = rng().integers(0, 256, (5, 32)).astype(np.uint8)
    bits = np.unpackbits(filters, axis=1)
    once = bits[:, :128] ^ bits[:, 128:]
    assert (np.unpackbits(folded(filters, 1), axis=1) == once).all()
    assert (np.unpackbits(folded(filters, 2), axis=1) == once[:, :64] ^ once[:, 64:]).all()
    assert folded(filters, 0) is filters


def test_many_values_are_encoded_as_few_are() -> None:
    names = [hashlib.sha256(bytes([n % 256, n // 256])).hexdigest()[:8] for n in range(20_000)]
    many = encode(table([(n, n) for n in names], "name", "born"), SPEC, SECRET, id_column="id")
    last = names[-3:]
    few = encode(table([(n, n) for n in last], "name", "born"), SPEC, SECRET, id_column="id")
    assert (many.bits[-3:] == few.bits).all()


def test_a_suggestion_gives_bits_by_information() -> None:
    source = rng()
    rows = [
        (f"name{source.integers(1000)}", str(source.integers(10**8, 10**9)), "fm"[n % 2])
        for n in range(2_000)
    ]
    people = table(rows, "name", "number", "sex")
    spec = suggest_encoding(people, ["name", "number", "sex"])
    name, number, sex = spec.fields
    assert (name.comparison, name.n, name.positional) == ("ngram", 2, False)
    assert (number.comparison, number.n, number.positional) == ("ngram", 2, True)
    assert sex.comparison == "exact"
    assert sex.bits < name.bits < number.bits
    fill = encode(people, spec, SECRET, id_column="id").counts.mean() / 1024
    assert 0.45 < fill < 0.52
    low = suggest_encoding(people, ["name", "number", "sex"], fill=0.25)
    assert encode(people, low, SECRET, id_column="id").counts.mean() / 1024 < 0.28
    half = table([(name if n % 2 else None, *rest) for n, (name, *rest) in enumerate(rows)], *"nus")
    assert suggest_encoding(half, ["n", "u", "s"]).fields[0].bits < name.bits


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fields": ()}, "1 to 63 fields"),
        ({"fields": SPEC.fields * 2}, "each column once"),
        ({"hash": "md5"}, "known hash"),
        ({"length": 100}, "multiple of 64"),
        ({"length": 192}, "power of two"),
        ({"folds": -1}, "folds from 0"),
        ({"folds": 9}, "at most 65536 bits"),
        ({"salt": "xyz"}, "hexadecimal"),
    ],
)
def test_wrong_specifications_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(SPEC, **change)


@pytest.mark.parametrize(
    "change", [{"comparison": "like"}, {"per": "record"}, {"n": 0}, {"n": 9}, {"bits": 0}]
)
def test_wrong_fields_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="encoding of column 'x'"):
        FieldEncoding(**{"column": "x", **change})


def test_a_fingerprint_tells_specifications_and_keys_apart() -> None:
    assert spec_check(SECRET, SPEC) == spec_check(SECRET, replace(SPEC))
    others = [replace(SPEC, salt="00"), replace(SPEC, fields=SPEC.fields[:1])]
    found = {spec_check(SECRET, each) for each in (SPEC, *others)}
    found |= {spec_check(SECRET + b"!", SPEC), key_check(SECRET), key_check(SECRET + b"!")}
    assert len(found) == 6


def test_wrong_tables_and_secrets_are_refused() -> None:
    people = table([("canary", "1970"), ("canary", "1971")], "name", "born")
    with pytest.raises(InputError, match="at least 16 bytes; found 5 bytes"):
        encode(people, SPEC, b"short", id_column="id")
    with pytest.raises(InputError, match="must be bytes; found str"):
        encode(people, SPEC, "a text that is long enough", id_column="id")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="column 'name' must hold a different id") as error:
        encode(people, SPEC, SECRET, id_column="name")
    assert "canary" not in str(error.value)
    with pytest.raises(InputError, match="column 'born' must be in the table"):
        encode(people.drop_columns("born"), SPEC, SECRET, id_column="id")
    nested = people.set_column(1, "name", pa.array([[1], [2]]))
    with pytest.raises(InputError, match="column 'name' must hold text"):
        encode(nested, SPEC, SECRET, id_column="id")
    constant = table([("canary",), ("canary",)], "name")
    with pytest.raises(InputError, match="one value only"):
        suggest_encoding(constant, ["name"])
    with pytest.raises(InputError, match="column 'town' must be in the table"):
        suggest_encoding(constant, ["town"])
    with pytest.raises(InputError, match="parameter fill"):
        suggest_encoding(people, ["born"], fill=1.0)


# --------------------------------------------------------------------------------------- files


def test_files_come_back_and_hold_no_key_and_no_value(tmp_path: Path) -> None:
    people = table([("canary", "1970"), ("berta", "1971")], "name", "born")
    encoded = encode(people, SPEC, SECRET, id_column="id")
    write_encoded(encoded, tmp_path / "a.parquet")
    read = read_encoded(tmp_path / "a.parquet")
    assert (read.bits == encoded.bits).all()
    assert read.ids.equals(encoded.ids)
    assert (read.key_check, read.spec_check) == (encoded.key_check, encoded.spec_check)
    schema = pq.read_schema(tmp_path / "a.parquet")
    assert schema.names == ["id", "clk"]
    assert schema.field("clk").type == pa.binary(32)
    raw = (tmp_path / "a.parquet").read_bytes()
    for hidden in (b"canary", SECRET, SECRET.hex().encode(), b"born", b"ngram"):
        assert hidden not in raw
    pq.write_table(people, tmp_path / "b.parquet")
    (tmp_path / "c.parquet").write_bytes(b"canary")
    for name in ("b", "c", "missing"):
        with pytest.raises(InputError, match=f"file {name}.parquet"):
            read_encoded(tmp_path / f"{name}.parquet")


def test_mixed_encodings_are_refused() -> None:
    people = table([("anna", "1970"), ("berta", "1971")], "name", "born")
    mine = encode(people, SPEC, SECRET, id_column="id")
    other_key = encode(people, SPEC, SECRET + b"!", id_column="id")
    other_spec = encode(people, replace(SPEC, folds=1), SECRET, id_column="id")
    with pytest.raises(InputError, match="same key"):
        similar_pairs(mine, other_key, 0.8, rng=rng())
    with pytest.raises(InputError, match="same specification"):
        similar_pairs(mine, other_spec, 0.8, rng=rng())


# ------------------------------------------------------------------------------------ matching


def patterns(bits: np.ndarray) -> Encoded:
    """Encodings with given bits."""
    ids = pa.array([str(row) for row in range(len(bits))])
    return Encoded(ids, np.packbits(bits, axis=1), "same", "same")


@st.composite
def two_sources(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    source = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    one, other = (source.random((n, 64)) < source.random((n, 1)) for n in sizes)
    shared = min(sizes)
    other[:shared] = one[:shared] ^ (source.random((shared, 64)) < 0.1)
    return one, other


def naive_pairs(one: np.ndarray, other: np.ndarray, least: float) -> dict[tuple[int, int], float]:
    found = {}
    for a, b in np.ndindex(len(one), len(other)):
        total = int(one[a].sum()) + int(other[b].sum())
        dice = 2 * int((one[a] & other[b]).sum()) / total if total else 0.0
        if dice >= least:
            found[a, b] = dice
    return found


@given(two_sources(), st.sampled_from([0.2, 0.5, 2 / 3, 0.8, 1.0]))
def test_similar_pairs_are_all_of_them(made: tuple[np.ndarray, np.ndarray], least: float) -> None:
    one, other = (patterns(each) for each in made)
    left, right, dice = similar_pairs(one, other, least, rng=rng())
    assert dict(zip(zip(left.tolist(), right.tolist(), strict=True), dice, strict=True)) == (
        pytest.approx(naive_pairs(*made, least))
    )
    left, right, _ = similar_pairs(one, one, least, rng=rng())
    expected = [(a, b) for a, b in naive_pairs(made[0], made[0], least) if a < b]
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected


@given(two_sources())
def test_assignment_takes_the_most_similar_first(made: tuple[np.ndarray, np.ndarray]) -> None:
    one, other = (patterns(each) for each in made)
    pairs = similar_pairs(one, other, 0.2, rng=rng())
    chosen = assigned(pairs, len(one), len(other))
    taken: tuple[set[int], set[int]] = (set(), set())
    order = sorted(range(len(chosen)), key=lambda pair: (-pairs[2][pair], pair))
    for pair in order:
        a, b = int(pairs[0][pair]), int(pairs[1][pair])
        free = a not in taken[0] and b not in taken[1]
        assert bool(chosen[pair]) == free
        if free:
            taken[0].add(a)
            taken[1].add(b)


def test_agreement_is_the_share_of_samples() -> None:
    ways = math.comb(64 - 9, 5) / math.comb(64, 5)
    assert agreement(np.array([9, 0, 64]), 5, 64) == pytest.approx([ways, 1.0, 0.0])


def noisy(count: int, flips: float) -> tuple[Encoded, Encoded]:
    """Two sources of the same records in one order, some bits of the second flipped."""
    source = rng()
    one = source.random((count, 512)) < 0.3
    return patterns(one), patterns(one ^ (source.random(one.shape) < flips))


def test_blocking_misses_no_more_than_planned_and_compares_less() -> None:
    one, other = noisy(4_000, 0.06)
    left, right, dice = similar_pairs(one, other, 0.75, rng=rng())
    plan = plan_blocking(one, other, similarity=0.85, miss=0.05, rng=rng())
    assert plan is not None
    assert plan.comparisons < 0.2 * 4_000**2
    mine, theirs, found = similar_pairs(one, other, 0.75, blocking=plan, rng=rng())
    assert (np.diff(mine * 4_000 + theirs) > 0).all()
    everything = dict(zip(zip(left.tolist(), right.tolist(), strict=True), dice, strict=True))
    kept = dict(zip(zip(mine.tolist(), theirs.tolist(), strict=True), found, strict=True))
    assert kept.items() <= everything.items()
    wanted = [pair for pair, score in everything.items() if score >= 0.85]
    assert len(wanted) > 1_000
    assert sum(pair not in kept for pair in wanted) < 0.05 * len(wanted)


def test_blocking_that_saves_nothing_is_not_planned() -> None:
    one, other = noisy(40, 0.06)
    assert plan_blocking(one, other, similarity=0.6, rng=rng()) is None
    with pytest.raises(InputError, match="parameter miss"):
        plan_blocking(one, other, similarity=0.6, miss=0.0, rng=rng())
    with pytest.raises(InputError, match="parameter similarity"):
        plan_blocking(one, other, similarity=1.0, rng=rng())
    nobody = patterns(np.zeros((0, 512), bool))
    with pytest.raises(InputError, match="must hold records"):
        plan_blocking(one, nobody, similarity=0.6, rng=rng())


def test_too_many_comparisons_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding_scores, "MOST_COMPARISONS", 1_000)
    one, other = noisy(40, 0.06)
    with pytest.raises(InputError, match=r"at most 1,000 pairs .* found 1,600; plan"):
        similar_pairs(one, other, 0.8, rng=rng())


@pytest.mark.parametrize("one_to_one", [False, True])
def test_few_records_need_a_similarity(one_to_one: bool) -> None:
    one, other = noisy(20, 0.06)
    with pytest.raises(InputError, match="give a similarity"):
        score_pairs(one, other, one_to_one=one_to_one, rng=rng())
    found = score_pairs(one, other, similarity=0.7, one_to_one=one_to_one, rng=rng())
    assert (found.left == found.right).all()
    assert len(found.left) == 20
    assert found.mixture is None


# ------------------------------------------------------------------------- threshold, no labels


@settings(max_examples=20)
@given(st.sampled_from([0.05, 0.3, 0.8]), st.integers(0, 2**32 - 1))
def test_the_mixture_finds_the_share_of_matches(share: float, seed: int) -> None:
    source = np.random.default_rng(seed)
    matched = source.random(4_000) < share
    chance = source.gumbel(0.55, 0.015, 4_000)
    best = np.where(matched, source.beta(40, 6, 4_000), chance)
    model = fit_scores(best, source.gumbel(0.55, 0.015, 4_000))
    assert model.matched == pytest.approx(matched.mean(), abs=0.03)
    taken = best >= model.threshold()
    assert np.mean(taken != matched) < 0.02
    sure = best >= model.threshold(0.99)
    assert np.mean(matched[sure]) > 0.98
    odds = model.probability(np.linspace(0, 1, 50))
    assert (np.diff(odds) >= 0).all()
    assert 0 <= odds[0] <= odds[-1] <= 1


def febrl(folder: Path, name: str) -> pa.Table:
    with (folder / "febrl" / name).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, skipinitialspace=True)
    columns = zip(*rows, strict=True)
    return pa.table({name: list(each) for name, each in zip(header, columns, strict=True)})


@pytest.fixture(scope="module")
def febrl4(shared_data: Path) -> tuple[pa.Table, pa.Table]:
    return febrl(shared_data, "dataset4a.csv"), febrl(shared_data, "dataset4b.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "one_to_one", "least"),
    [
        (FEBRL, True, 0.999),
        (FEBRL, False, 0.998),
        (FEBRL[:-1], True, 0.998),
        (("given_name", "surname", "suburb", "postcode", "date_of_birth"), True, 0.995),
    ],
)
def test_febrl_4_from_encodings_alone(
    febrl4: tuple[pa.Table, pa.Table], columns: tuple[str, ...], one_to_one: bool, least: float
) -> None:
    spec = suggest_encoding(febrl4[0], columns)
    left, right = (encode(each, spec, SECRET, id_column="rec_id") for each in febrl4)
    person = [np.array([i.split("-")[1] for i in each.ids.to_pylist()]) for each in (left, right)]
    found = score_pairs(left, right, one_to_one=one_to_one, rng=rng())
    mine, theirs = (side[found.score >= 0.5] for side in (found.left, found.right))
    right_ones = int(np.sum(person[0][mine] == person[1][theirs]))
    assert 2 * right_ones / (len(mine) + 5_000) >= least


@pytest.mark.slow
def test_half_of_the_records_without_a_match(febrl4: tuple[pa.Table, pa.Table]) -> None:
    spec = suggest_encoding(febrl4[0], FEBRL)
    left, right = (encode(each, spec, SECRET, id_column="rec_id") for each in febrl4)
    person = [
        np.array([int(i.split("-")[1]) for i in each.ids.to_pylist()]) for each in (left, right)
    ]
    # Persons 0-3,332 on the left only, 3,333-3,999 on both sides, the rest on the right only.
    rows = np.flatnonzero(person[0] < 4_000), np.flatnonzero(person[1] >= 3_333)
    few = [
        replace(each, ids=each.ids.take(pa.array(at)), bits=each.bits[at])
        for each, at in zip((left, right), rows, strict=True)
    ]
    found = score_pairs(few[0], few[1], one_to_one=True, rng=rng())
    mine, theirs = (side[found.score >= 0.5] for side in (found.left, found.right))
    right_ones = int(np.sum(person[0][rows[0][mine]] == person[1][rows[1][theirs]]))
    assert 2 * right_ones / (len(mine) + 667) >= 0.99
    assert found.mixture is not None
    assert found.mixture.matched == pytest.approx(667 / len(rows[1]), rel=0.2)
