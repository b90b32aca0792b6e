"""Every command that reads a table takes one of a database, and tells no more of it than its name.

A password stands in each URL. It is in nothing that is printed or written.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest
from cli.conftest import RELEASED
from new_databases import KINDS, at, new_database

from sfumato.examples import generate_clinics, generate_registrations
from sfumato.table.databases import write_database
from sfumato.table.table_files import open_source, write_table

pytestmark = pytest.mark.slow

pytest.importorskip("adbc_driver_sqlite")
SECRET = "Pa55kanarie"
SCHEMA = """
person = "patient"
sensitive = ["icd9"]
direct_identifiers = ["visit_date"]
insensitive = ["department", "charge"]

[quasi_identifiers]
age = "numeric"
sex = "categorical"
zip = "numeric"
education = "categorical"
"""
OPTIONS = ("--g-balance", "0.5", "--seed", "3")
made = generate_clinics(160, rng=4)
registered = generate_registrations(made)


@pytest.fixture(params=KINDS)
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a new database, apart from the folder that commands run in."""
    return new_database(request.param, tmp_path_factory.mktemp(SECRET), SECRET)


def check_silent(folder: Path, *said: str) -> None:
    """Neither what was said nor a file's name or content has the password or the URL."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    told = [*said, *(str(path.relative_to(folder)) for path in files)]
    told += [path.read_bytes().decode("utf-8", "replace") for path in files]
    for text in told:
        assert SECRET not in text
        assert "postgresql:/" not in text.replace("postgresql://user:password@host", "")
        assert "sqlite:/" not in text.replace("sqlite:///folder", "")


def test_commands_on_one_table(base: str, run, tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    visits = registered.hospital_visits
    write_database(visits, at(base, "visits"))
    write_database(pa.concat_tables([visits, registered.practice_visits]), at(base, "everybody"))
    write_table(visits, tmp_path / "visits.parquet")
    data, register = at(base, "visits"), at(base, "everybody")
    schema, said = ("--schema", "schema.toml"), []

    def done(*words: str) -> str:
        found = run(*words)
        assert found.code in RELEASED, found.err
        said.extend((found.out, found.err))
        return found.out

    plain = json.loads(done("profile", data, "--json"))
    here = json.loads(done("profile", "visits.parquet", "--json"))
    assert plain["file"] == "table visits of the database"
    assert (plain["person"], plain["keys"]) == (here["person"], here["keys"])
    done("schema", "guess", data, "--output", "guessed.toml")
    told = done("assess", data, *schema, "--register", register, "--report", "risk.html", "--json")
    assert json.loads(told)["population"] > json.loads(told)["persons"]
    done("assess", data, *schema, "--register", register, "--record-risks", "risks.csv")
    command = done("tune", data, *schema, "--threshold", "max_gidr=0.6", "--trials", "3",
                   "--register", register, "--report", "tuned.html")  # fmt: skip
    assert "sfumato anonymize DATA" in command.replace("\\\n", " ")
    done("anonymize", data, *schema, *OPTIONS, "--output", "released.csv")
    done("anonymize", data, *schema, "--repeat", "release.toml", "--output", "released.csv")
    attacked = run("attack", "released.csv", "--original", data, "--schema", "schema.toml",
                   "--seed", "1", "--attack", "exact", "--report", "attack.html")  # fmt: skip
    assert attacked.code in (0, 2), attacked.err
    for name in ("release.toml", "release.secret"):  # no release takes another's place
        (tmp_path / name).unlink()
    done("anonymize", data, *schema, *OPTIONS, "--output", at(base, "released"))
    there = run("attack", at(base, "released"), "--original", data, "--register", register,
                "--schema", "schema.toml", "--same-order", "--seed", "1")  # fmt: skip
    assert there.code in (0, 2), there.err
    refused = run("attack", at(base, "released"), "--original", data, "--schema", "schema.toml")
    assert "its manifest" in refused.err
    wrong = [run("assess", at(base, "nobody"), *schema), run("tune", at(base, "nobody"), *schema,
             "--threshold", "max_gidr=0.6"), run("profile", at(base, "nobody"))]  # fmt: skip
    assert [each.code for each in wrong] == [1, 1, 1]
    key = run("anonymize", data, *schema, *OPTIONS, "-o", "other.csv", "--pseudonym-key", register)
    assert key.code == 1
    found = (*wrong, refused, attacked, there, key)
    check_silent(tmp_path, *said, *(f"{each.out}{each.err}" for each in found))


def test_commands_on_several_tables(base: str, run, tmp_path: Path) -> None:
    for name in ("hospital", "practice", "hospital_visits", "practice_visits"):
        write_database(getattr(registered, name), at(base, name))
        write_table(getattr(registered, name), tmp_path / f"{name}.csv")
    tables = [at(base, "hospital"), f"practice={at(base, 'practice')}"]
    attach = [f"--attach={name}={at(base, f'{name}_visits')}" for name in ("hospital", "practice")]
    written = run("link", "suggest", *tables, "--id", "patient", "--output", "link.toml")
    assert written.code in RELEASED, written.err
    run("link", "suggest", "hospital.csv", "practice.csv", "--id", "patient", "-o", "here.toml")
    assert (tmp_path / "link.toml").read_text() == (tmp_path / "here.toml").read_text()
    linked = run("link", *tables, *attach, "--id", "patient", "--spec", "link.toml", "-o", "links",
                 "--seed", "2")  # fmt: skip
    assert linked.code in RELEASED, linked.err
    manifest = tomllib.loads((tmp_path / "links" / "manifest.toml").read_text(encoding="utf-8"))
    assert {len(each["sha256"]) for each in manifest["sources"].values()} == {64}
    (tmp_path / "key").write_bytes(b"a secret of twenty bytes")
    (tmp_path / "key").chmod(0o600)
    encoded = run("link", "encode", at(base, "hospital"), "--output", "hospital.encoded",
                  "--key-file", "key", "--id", "patient")  # fmt: skip
    assert encoded.code in RELEASED, encoded.err
    said = (f"{each.out}{each.err}" for each in (written, linked, encoded))
    check_silent(tmp_path, *said)


def test_a_project_of_tables(base: str, run, tmp_path: Path) -> None:
    for name in ("hospital", "practice", "hospital_visits", "practice_visits"):
        write_database(getattr(registered, name), at(base, name))
    tables = [at(base, "hospital"), at(base, "practice")]
    attach = [f"--attach={name}={at(base, f'{name}_visits')}" for name in ("hospital", "practice")]
    begun = run("init", *tables, *attach, "--id", "patient", "--g-balance", "0.5", "--seed", "5")
    assert begun.code in RELEASED, begun.err
    file = tmp_path / "sfumato.toml"
    text = file.read_text(encoding="utf-8")
    assert "table=hospital_visits" in text
    if base.startswith("postgresql"):
        assert SECRET not in text
    assert "undecided" not in tomllib.loads(text)["schema"]
    if base.startswith("postgresql"):
        return  # how sources are read in a run is tried below
    file.write_text(text.partition("[attack]")[0] + "[outputs]\n", encoding="utf-8")
    ended = run("run")
    assert ended.code in RELEASED, ended.err
    file.unlink()
    check_silent(tmp_path, begun.out, begun.err, ended.out, ended.err)


def test_a_project_of_one_table_and_a_register(base: str, run, tmp_path: Path) -> None:
    write_database(registered.hospital_visits, at(base, "visits"))
    (tmp_path / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    register = f"register = '{at(base, 'visits')}'"
    (tmp_path / "sfumato.toml").write_text(
        f"""project = {{ name = "one", seed = 1 }}
sources.visits.file = '{at(base, "visits")}'
schema.file = "schema.toml"
assess = {{ {register} }}
release = {{ pid_k = 3, {register} }}
attack = {{ {register}, attacks = ["exact"] }}
outputs = {{ formats = ["csv"], database = '{at(base, "released")}' }}
""",
        encoding="utf-8",
    )
    ended = run("run")
    assert ended.code in (0, 2), ended.err
    record = json.loads((tmp_path / "stages" / "assess" / "stage.json").read_text("utf-8"))
    assert record["settings"]["assess"]["register"] == "table visits of the database"
    assert len(record["inputs"]["sources.visits.file"]) == 64
    source, released = open_source(at(base, "released")), tmp_path / "output/release/release.csv"
    rows = sum(batch.num_rows for batch in source.batches(source.names))
    assert rows == released.read_bytes().count(b"\n") - 1
    again = run("run")
    assert again.code == ended.code, again.err
    file = tmp_path / "sfumato.toml"
    file.write_text(file.read_text("utf-8").replace('["csv"]', '["csv", "dta"]'), encoding="utf-8")
    refused = run("run")
    assert "a new one" in refused.err
    file.unlink()
    said = (f"{each.out}{each.err}" for each in (ended, again, refused))
    check_silent(tmp_path, *said)
