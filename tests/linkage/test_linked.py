"""The linked file: what is in it, what is not, and what stood beside what on the way."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import Secret
from sfumato.core.workspace import Workspace
from sfumato.examples import generate_clinics, generate_registrations, worked_example
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, Mode
from sfumato.linkage.linkage_result import Links
from sfumato.linkage.linked_file import Analytic, kept_columns, linked_table, name_persons, stacked
from sfumato.linkage.match_thresholds import Records
from sfumato.linkage.spec_suggestion import suggest_links

pytestmark = pytest.mark.usefixtures("few_random_pairs")

SPEC = LinkSpec(
    id="patient",
    columns={
        "given_name": "given name",
        "surname": "surname",
        "date_of_birth": "date",
        "sex": "category",
        "zip": "postcode",
    },
    blocking=["surname:2", "date_of_birth:year + sex", "zip"],
)


@pytest.mark.slow
def test_tables_1_and_2_of_kartal_and_li_2020_become_table_3a() -> None:
    """Paper 003, Section 3: Tables 1 and 2 of two clinics, aggregated in Table 3a."""
    table, schema = worked_example()
    number = np.array(table["admission_no"])
    tables = {
        "franklin": table.filter(pa.array(number < 2000)),
        "lexington": table.filter(pa.array(number >= 2000)),
    }
    assert [len(each) for each in tables.values()] == [9, 10]
    schema = sf.Schema(
        direct_identifiers=("name", "admission_no"),
        quasi_identifiers=schema.quasi_identifiers,
        sensitive=schema.sensitive,
    )
    made = suggest_links(tables, schema, mode=Mode.LINK_AND_DEDUPE, id_column="admission_no")
    links = link(tables, made, schema=schema, seed=1)

    name_of = dict(zip(map(str, number.tolist()), table["name"].to_pylist(), strict=True))
    persons = links.persons.to_pylist()
    pairs = {(name_of[each["id"]], each["person"]) for each in persons}
    assert len(pairs) == 8
    assert len({name for name, _ in pairs}) == 8
    assert len({person for _, person in pairs}) == 8

    columns = ("age", "gender", "zip", "disease")
    assert set(links.linked.column_names) == {"person", "source", *columns}
    person_of = dict(pairs)
    wanted = Counter(
        (person_of[row["name"]], *(str(row[name]) for name in columns)) for row in table.to_pylist()
    )
    found = Counter(
        (row["person"], *(str(row[name]) for name in columns)) for row in links.linked.to_pylist()
    )
    assert found == wanted
    risk, original = sf.assess(links.linked, links.schema), sf.assess(*worked_example())
    assert risk.to_json()["persons"] == original.to_json()["persons"] == 8
    assert risk.max_gidr.value == original.max_gidr.value
    assert risk.g_balance.value == pytest.approx(original.g_balance.value)


def _canaries() -> tuple[dict[str, pa.Table], sf.Schema]:
    made = generate_registrations(generate_clinics(120, rng=3))
    tables = {}
    for name, table in (("hospital", made.hospital), ("practice", made.practice)):
        secrets = [f"SECRET-{name}-{row}" for row in range(len(table))]
        surname = pa.array([f"{each}zqx" for each in table["surname"].to_pylist()])
        place = table.column_names.index("surname")
        tables[name] = table.set_column(place, "surname", surname).append_column(
            "finding", pa.array(secrets)
        )
    schema = sf.Schema(
        direct_identifiers=("patient", "given_name", "surname", "phone"),
        quasi_identifiers=("date_of_birth", "sex", "zip"),
        sensitive=("finding",),
    )
    return tables, schema


def test_no_file_on_the_way_has_a_sensitive_value_beside_an_identifier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tap on everything that is written: the private folder as it is removed, and the result."""
    tapped = tmp_path / "tapped"
    close = Workspace.close

    def copy_first(self: Workspace) -> None:
        if self.path.exists():
            shutil.copytree(self.path, tapped / self.path.name, dirs_exist_ok=True)
        close(self)

    monkeypatch.setattr(Workspace, "close", copy_first)
    tables, schema = _canaries()
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    paths = [tmp_path / f"{name}.parquet" for name in tables]
    links = link(paths, SPEC, schema=schema, seed=1)
    sf.report(links, _made(tmp_path / "report") / "report.html")
    links.write(tapped / "result")
    shutil.copytree(tmp_path / "report", tapped / "report")

    files = [path for path in tapped.rglob("*") if path.is_file()]
    sensitive = {path.name for path in files if _holds(path, "SECRET-")}
    identifying = {path.name for path in files if _holds(path, "zqx")}
    assert {"analytic_000.parquet", "analytic.parquet", "linked.parquet"} <= sensitive
    assert {"identifying_000.parquet", "identifying.parquet", "review.parquet"} <= identifying
    assert not sensitive & identifying
    patients = set(tables["hospital"]["patient"].to_pylist())
    for path in files:
        if path.name in sensitive:
            cells = {cell for column in _text(path) for cell in column}
            assert not cells & patients, path.name


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _text(path: Path) -> list[list[str]]:
    return [[str(cell) for cell in column.to_pylist()] for column in pq.read_table(path).columns]


def _holds(path: Path, text: str) -> bool:
    if path.suffix == ".parquet":
        return any(text in cell for column in _text(path) for cell in column)
    return text.encode() in path.read_bytes()


@pytest.mark.slow
def test_the_linked_file_goes_straight_into_assess_and_anonymize(tmp_path: Path) -> None:
    """With visits attached: each visit once, under its person's id, without the patient."""
    made = generate_registrations(generate_clinics(150, rng=5))
    links = link(
        {"hospital": made.hospital, "practice": made.practice},
        SPEC.model_copy(update={"mode": Mode.LINK_AND_DEDUPE}),
        attach_tables={"hospital": made.hospital_visits, "practice": made.practice_visits},
        quasi_identifiers=["sex"],
        seed=2,
    )
    visits = len(made.hospital_visits) + len(made.practice_visits)
    linked = links.linked
    assert len(linked) == visits
    assert not {"patient", "given_name", "surname", "phone"} & set(linked.column_names)
    assert "date_of_birth" not in linked.column_names
    person = {(row["source"], row["id"]): row["person"] for row in links.persons.to_pylist()}
    wanted = Counter(
        (person[name, row["patient"]], name, row["icd9"], row["charge"])
        for name, table in (("hospital", made.hospital_visits), ("practice", made.practice_visits))
        for row in table.to_pylist()
    )
    found = Counter(
        (row["person"], row["source"], row["icd9"], row["charge"]) for row in linked.to_pylist()
    )
    assert found == wanted
    links.write(tmp_path / "out")
    schema = sf.load_schema(tmp_path / "out" / "linked.toml")
    assert schema.person == "person"
    assert "icd9" in schema.sensitive
    path = tmp_path / "out" / "linked.parquet"
    assert sf.assess(path, schema).to_json()["persons"] == links.settled.persons.count
    release = sf.anonymize(path, schema, sf.KAnonymity(3), seed=1)
    assert release.table.num_rows == visits


def test_attached_rows_must_be_of_known_records() -> None:
    """A visit of nobody is refused, by its row."""
    made = generate_registrations(generate_clinics(60, rng=5))
    visits = made.hospital_visits
    patient = pa.array(["X-NOBODY", *visits["patient"].to_pylist()[1:]])
    visits = visits.set_column(visits.column_names.index("patient"), "patient", patient)
    with pytest.raises(InputError, match="ids of the source's records") as caught:
        link(
            {"hospital": made.hospital, "practice": made.practice},
            SPEC,
            attach_tables={"hospital": visits},
        )
    assert "row 1" in str(caught.value)
    assert "NOBODY" not in str(caught.value)


def test_rows_are_shuffled_and_ids_random() -> None:
    """Neither the order of the rows nor the ids come from the tables; the secret repeats both."""
    count = 200
    columns = pa.table({"\0": ["a"] * count, "number": range(count)})
    analytic = Analytic(np.arange(count), columns, {})
    ids = pa.array([f"i{n}" for n in range(count)])
    one = linked_table(analytic, ids, Secret(b"1" * 32))
    again = linked_table(analytic, ids, Secret(b"1" * 32))
    other = linked_table(analytic, ids, Secret(b"2" * 32))
    assert one.equals(again)
    assert not one.equals(other)
    order = np.array(one["number"])
    assert sorted(order) == list(range(count))
    assert abs(np.corrcoef(order, np.arange(count))[0, 1]) < 0.3
    assert all(f"i{n}" == i for n, i in zip(order, one["person"].to_pylist(), strict=True))


def test_keyed_ids_stay_and_need_the_key() -> None:
    """The same key gives the same ids in another run; another key others."""
    records = Records(("a", "b"), (pa.array(["1", "2"]), pa.array(["1", "9"])))
    person = np.array([0, 1, 0, 2])
    one = name_persons(records, person, Secret.of(None), key=b"k" * 16).ids
    again = name_persons(records, person, Secret.of(None), key=b"k" * 16).ids
    other = name_persons(records, person, Secret.of(None), key=b"l" * 16).ids
    assert one.equals(again)
    assert one[0] == one[2]
    assert len(set(one.to_pylist())) == 3
    assert not set(one.to_pylist()) & set(other.to_pylist())


def test_persons_of_before_keep_their_ids() -> None:
    """The larger part of a person who falls apart keeps the id; new persons get ids nobody had."""
    records = Records(("a",), (pa.array(["1", "2", "3", "4", "5"]),))
    before = ["x", "x", "x", "y", None]
    for key in (None, b"k" * 16):
        made = name_persons(
            records, np.array([0, 0, 1, 2, 3]), Secret.of(None), key=key, previous=before
        )
        ids = made.ids.to_pylist()
        assert ids[:2] == ["x", "x"]
        assert ids[3] == "y"
        assert len(set(ids)) == 4
        assert made.followed is not None
        assert [split.into for split in made.followed.splits] == [(0, 2)]


def test_columns_of_several_types_are_stacked() -> None:
    """Numbers become the wider type; what else differs becomes text; what lacks is missing."""
    one = pa.table({"n": [1, 2], "m": [1, 2], "only": ["u", "v"]})
    other = pa.table({"m": ["a", "b"], "n": [1.5, None]})
    both = stacked([one, other])
    assert both.to_pydict() == {
        "n": [1.0, 2.0, 1.5, None],
        "m": ["1", "2", "a", "b"],
        "only": ["u", "v", None, None],
    }


def test_names_of_people_are_never_quasi_identifiers() -> None:
    """A name cannot be asked for; house numbers are not taken by themselves."""
    with pytest.raises(InputError, match="must not name or reach a person"):
        kept_columns(SPEC, None, ["surname"])
    with pytest.raises(InputError, match="must be a compared column"):
        kept_columns(SPEC, None, ["charge"])
    assert set(kept_columns(SPEC, None, None)) == {"date_of_birth", "sex", "zip"}
    assert set(kept_columns(SPEC, None, ["zip"])) == {"zip"}
    house = LinkSpec(columns={"street_number": "number", "sex": "category"}, blocking=["sex"])
    assert set(kept_columns(house, None, None)) == {"sex"}


@pytest.mark.slow
def test_numbers_of_persons_are_left_out() -> None:
    """A social security number or another person's number that is not compared does not stay."""
    made = generate_registrations(generate_clinics(60, rng=5))
    table = made.hospital.append_column(
        "soc_sec_id", pa.array([f"{8000000 + row // 2}" for row in range(len(made.hospital))])
    )
    table = table.append_column(
        "insured person", pa.array([f"K{row // 2}" for row in range(len(table))])
    )
    links = link({"a": table, "b": made.practice}, SPEC, seed=1)
    assert not {"soc_sec_id", "insured person"} & set(links.linked.column_names)
    assert any("'insured person'" in each for each in links.warnings)
    schema = sf.Schema(quasi_identifiers=["sex", "zip"], insensitive=["insured person"])
    links = link({"a": table, "b": made.practice}, SPEC, schema=schema, model=links.model, seed=1)
    assert "soc_sec_id" not in links.linked.column_names
    assert "insured person" in links.linked.column_names


@pytest.mark.slow
def test_columns_named_as_ours_keep_their_names() -> None:
    """A table with columns 'person' and 'source' keeps them; ours get underscores."""
    made = generate_registrations(generate_clinics(60, rng=5))
    table = made.hospital
    table = table.append_column("person", pa.array(["doctor"] * len(table)))
    table = table.append_column("source", pa.array(["fax"] * len(table)))
    few = {name: SPEC.columns[name] for name in ("given_name", "surname", "date_of_birth")}
    spec = LinkSpec(id="patient", columns=few, blocking=["surname:2", "date_of_birth"])
    links = link({"a": table, "b": made.practice}, spec, seed=1)
    assert {"person", "person_", "source", "source_"} <= set(links.linked.column_names)
    assert links.schema.person == "person_"
    assert set(links.linked["source"].to_pylist()) == {"fax", None}
    assert set(links.linked["source_"].to_pylist()) == {"a", "b"}


PARTS = ("by", "bm", "bd")


def linked_by_parts(
    rename: dict[str, str], born: tuple[str, ...] = PARTS
) -> tuple[np.ndarray, Links]:
    """Two sources of which the second has other headers; births are compared as dates."""
    rng = np.random.default_rng(1)
    birth = rng.integers([1930, 1, 1], [2000, 13, 29], (150, 3))
    names = pa.array([f"{a}{b}ov" for a, b in rng.choice(list("abdefgklmnoprst"), (150, 2))])
    one = pa.table(
        {
            "surname": names, "by": birth[:, 0], "bm": birth[:, 1], "bd": birth[:, 2],
            "clinic": rng.choice(["a", "b", "c"], 150), "icd": rng.choice(["I10", "E11"], 150),
            "whole": [f"{y}-{m:02}-{d:02}" for y, m, d in birth.tolist()], "pay": birth[:, 2],
        }
    )  # fmt: skip
    two = one.slice(0, 100).rename_columns([rename.get(n, n) for n in one.column_names])
    spec = LinkSpec(
        columns={"surname": "surname", "born": "date", "clinic": "category"},
        rename={"one": {"born": [*PARTS]}, "two": {"born": [*born] if born[1:] else born[0]}},
        blocking=["surname", "born:year"],
    )
    schema = sf.Schema(
        direct_identifiers=("surname", "whole"),
        quasi_identifiers={"by": sf.QuasiIdentifier(kind="numeric"), "bm": {}, "bd": {}, "pay": {}},
        sensitive=("icd",),
        insensitive=("clinic",),
    )
    return birth, link({"one": one, "two": two}, spec, schema=schema, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("two", [PARTS, ("BY", "month", "dob")])
def test_parts_of_a_compared_date_that_are_declared_are_linked_too(two: tuple[str, ...]) -> None:
    """What the schema calls quasi-identifiers is in the linked file, under its own name."""
    birth, links = linked_by_parts({**dict(zip(PARTS, two, strict=True)), "pay": "Pay"}, two)
    wanted = {"by": 0, "bm": 1, "bd": 2, "pay": 2}
    assert {*PARTS, "pay", "icd"} <= set(links.linked.column_names)
    assert set(links.linked_schema.schema.quasi_identifiers) == {*PARTS, "pay"}
    for name, at in wanted.items():
        assert sorted(links.linked[name].to_pylist()) == sorted([*birth[:, at], *birth[:100, at]])
    assert any("clinic" in each for each in links.linked_schema.warnings)
    assert not any("source" in each for each in links.linked_schema.warnings)


@pytest.mark.slow
def test_what_a_source_has_no_parts_of_is_said() -> None:
    _, links = linked_by_parts(dict(zip(PARTS, "uvw", strict=True)), ("whole",))
    assert links.linked["by"].null_count == 100
    (said,) = (each for each in links.linked_schema.warnings if "two" in each)
    assert all(name in said for name in PARTS)
    assert "pay" not in said
