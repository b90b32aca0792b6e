"""The contract that others script against: options, JSON, exit codes, files."""

from __future__ import annotations

import csv
import gzip
import json
import platform
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli.conftest import RELEASED, Run
from cli.malformed.case import GOOD, PERSONS, RECORDS, make_folder, schema, to_csv
from cli.malformed.files import PARQUET
from few_cases import fast_first

import sfumato as sf
from sfumato.cli.app import Commands

OPTIONS = {
    "assess": "--schema --json --report --threshold --delimiter",
    "anonymize": "--schema --g-balance --h-affiliation --k --pid-k --l --cut --split --values "
    "--keep-order --seed --output --report --json --repeat --suppress --cap-records "
    "--pseudonym-key --marketer",
    "demo": "--output --persons --seed",
    "schema guess": "--output --delimiter",
}
COUNTS = ("records", "persons", "classes", "k", "pid_k", "sample_uniques")
SHARES = ("g_balance", "max_gidr", "avg_gidr", "prosecutor", "journalist", "marketer")
ATTRIBUTE_SHARES = ("h_affiliation", "max_gsar", "avg_gsar")
ASSESS = ("assess", "visits.csv", "--schema", "schema.toml")
ANONYMIZE = ("anonymize", "visits.csv", "--schema", "schema.toml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The good folder."""
    make_folder(tmp_path, {})
    return tmp_path


def write_schema(folder: Path, **roles: str | None) -> None:
    (folder / "schema.toml").write_text(schema(roles=roles), encoding="utf-8")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("command", OPTIONS)
def test_help_names_the_options(command: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = run(*command.split(), "--help-all")
    assert result.code == 0
    for option in OPTIONS[command].split():
        assert f"{option} " in result.out


def every_command(named: Mapping[str, Any], *before: str) -> Iterator[tuple[str, ...]]:
    """The words of each command, of those in groups, too."""
    for name, one in named.items():
        inner = getattr(one, "commands", None)
        yield from [(*before, name)] if inner is None else every_command(inner, *before, name)


def test_the_help_of_every_command_fits_on_a_screen(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 100 columns, and no line is cut; what it leaves out, ``--help-all`` has."""
    monkeypatch.setenv("COLUMNS", "100")
    commands = [*every_command(Commands())]
    assert ("ledger", "associations", "list") in commands
    for words in commands:
        brief = run(*words, "--help").out
        lines = brief.rstrip().splitlines()
        assert len(lines) <= 60, words
        assert max(map(len, lines)) <= 100, words
        assert "…" not in brief, words
        assert "--help-all" in lines[-1], words


@pytest.mark.parametrize("command", ["assess", "anonymize", "init", "attack", "tune", "link"])
def test_brief_help_names_options_that_are_there(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    brief, whole = (run(*command.split(), words).out for words in ("--help", "--help-all"))
    shown = set(re.findall(r"^  (--[a-z-]+)", brief, re.MULTILINE))
    assert shown
    assert shown <= set(re.findall(r"--[a-z-]+", whole))


def test_the_first_screen_shows_the_usual_way(run: Run) -> None:
    text = run("--help").out
    usual = re.findall(r"^  ([a-z]+) ", text.partition("The usual way:")[2], re.MULTILINE)
    assert usual == ["open", "init", "run", "assess", "anonymize", "attack"]
    assert len(text.splitlines()) <= 24
    others = set(re.findall(r"[a-z]+", text.partition("More: ")[2].partition("What they do")[0]))
    assert others.isdisjoint(usual)
    assert others | set(usual) == set(Commands())


@pytest.mark.parametrize("verb", ["assess", "anonymize"])
def test_many_columns_fit_on_a_screen(verb: str, run: Run, tmp_path: Path) -> None:
    """The worst ones and the number of the others; the details have each."""
    names = [f"s{number:02}" for number in range(28)]
    table = [["id", "age", *names]]
    for row in range(60):
        values = (str(row % (2 + place)) for place in range(28))
        table.append([f"p{row % 30}", str(20 + row % 7), *values])
    (tmp_path / "wide.csv").write_text("\n".join(map(",".join, table)), encoding="utf-8")
    declared = f'person = "id"\nquasi_identifiers = ["age"]\nsensitive = {json.dumps(names)}\n'
    (tmp_path / "wide.toml").write_text(declared, encoding="utf-8")
    words = [verb, str(tmp_path / "wide.csv"), "--schema", str(tmp_path / "wide.toml")]
    if verb == "anonymize":
        release = ["--pid-k", "3", "--seed", "1", "--no-cures", "--unclassified", "drop"]
        words += [*release, "--output", str(tmp_path / "out.csv")]
    lines = run(*words).out.rstrip().splitlines()
    assert 10 < len(lines) <= 40
    assert max(map(len, lines)) <= 100
    if verb == "assess":
        details = run(*words, "--details").out
        assert all(f"[{name}]" in details for name in names)


def test_a_profile_of_many_columns_fits_on_a_screen(run: Run, tmp_path: Path) -> None:
    names = [f"s{number:02}" for number in range(28)]
    rows = (",".join(str(row * (place + 1) % 31) for place in range(28)) for row in range(60))
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *rows]), encoding="utf-8")
    words = ["profile", str(tmp_path / "wide.csv")]
    lines = run(*words).out.rstrip().splitlines()
    assert 10 < len(lines) <= 40
    assert max(map(len, lines)) <= 100
    shown = sum(" number " in line for line in lines)
    left = next(int(line.split()[0]) for line in lines if line.endswith("columns: --details"))
    assert (shown > 0, shown + left) == (True, 28)
    details = run(*words, "--details").out.splitlines()
    assert {line.split()[0] for line in details if line} >= set(names)
    values = run(*words, "--show-values").out.splitlines()
    assert {line.split()[0] for line in values if line} >= set(names)
    assert any(len(line) > 100 and "0 to 30" in line for line in values)


def test_version(run: Run) -> None:
    result = run("--version")
    told = dict(line.split(" ") for line in result.out.splitlines())
    assert result.code == 0
    assert list(told)[:3] == ["sfumato", "python", "numpy"]
    assert told["python"] == platform.python_version()
    assert all(told[part] == version(part) for part in told if part != "python")


def test_no_argument_shows_the_help(run: Run) -> None:
    for words in ((), ("schema",)):
        result = run(*words)
        assert result.code == 1
        assert "Usage: sfumato" in result.out
        assert result.err.strip() == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("asses",), "No such command 'asses'"),
        (("--verbose",), "No such option: --verbose"),
        (("assess",), "Missing argument 'DATA'"),
        (("assess", "visits.csv"), "Missing option '--schema'"),
        (("anonymize", "visits.csv", "--schema", "schema.toml"), "Missing option '--output'"),
        (("schema", "guess"), "Missing argument 'DATA...'"),
    ],
)
def test_a_wrong_command_line(words: tuple[str, ...], said: str, run: Run) -> None:
    result = run(*words)
    assert (result.code, result.out) == (1, "")
    assert said in result.err
    assert "--help" in result.err


def measures(run: Run, *words: str) -> dict[str, Any]:
    result = run(*(words or (*ASSESS, "--json")))
    assert result.code in RELEASED
    values: dict[str, Any] = json.loads(result.out)
    for name in COUNTS:
        assert isinstance(values[name], int)
    for name in SHARES:
        assert 0 <= values[name] <= 1
    return values


def test_json_of_one_sensitive_attribute(folder: Path, run: Run) -> None:
    values = measures(run)
    assert (values["records"], values["persons"]) == (RECORDS, len(set(PERSONS)))
    for name in ATTRIBUTE_SHARES:
        assert 0 <= values[name] <= 1


def test_json_of_several_sensitive_attributes(folder: Path, run: Run) -> None:
    write_schema(folder, sensitive='["icd9", "note"]', insensitive=None)
    values = measures(run)
    for name in ATTRIBUTE_SHARES:
        assert set(values[name]) == {"icd9", "note"}
        assert all(0 <= share <= 1 for share in values[name].values())


def test_json_without_sensitive_attribute(folder: Path, run: Run) -> None:
    write_schema(folder, sensitive=None, insensitive='["note", "icd9"]')
    assert set(ATTRIBUTE_SHARES).isdisjoint(measures(run))


def test_json_without_person(folder: Path, run: Run) -> None:
    write_schema(folder, person=None, insensitive='["note", "patient"]')
    values = measures(run)
    assert values["persons"] == values["records"] == RECORDS
    assert values["pid_k"] == values["k"]


def test_json_of_a_release(folder: Path, run: Run) -> None:
    words = (*ANONYMIZE, "--pid-k", "2", "--h-affiliation", "0.9", "--seed", "3")
    values = measures(run, *words, "--output", "release.csv", "--json")
    assert values["pid_k"] >= 2
    assert values["h_affiliation"] <= 0.9
    assert values["before"]["persons"] == values["persons"]
    for name in ("ane", "ncp"):
        assert isinstance(values["utility"][name], float)
    assert values["manifest"]["release"]["seed"] == 3


def test_json_is_alone_on_standard_output(folder: Path, run: Run) -> None:
    constant = {**GOOD, "sex": ["x"] * RECORDS, "unnamed": GOOD["note"]}
    (folder / "visits.csv").write_text(to_csv(constant), encoding="utf-8")
    release = (*ANONYMIZE, "--k", "2", "--output", "release.csv", "--unclassified", "drop")
    for words in (ASSESS, release):
        result = run(*words, "--json")
        assert isinstance(json.loads(result.out), dict)
        assert "Warning: quasi-identifier 'sex' is constant" in result.err
        assert "Warning: column 'unnamed'" in result.err
        assert "Warning" in run(*words).out


def test_text_names_the_measures(folder: Path, run: Run) -> None:
    out = run(*ASSESS, "--details").out
    for name in (*COUNTS, *SHARES, "h_affiliation"):
        assert name in out


def test_a_proposed_schema_can_be_used(folder: Path, run: Run) -> None:
    printed = run("schema", "guess", "visits.csv")
    written = run("schema", "guess", "visits.csv", "--output", "proposed.toml")
    assert (printed.code, written.code, written.out) == (0, 0, "")
    assert (folder / "proposed.toml").read_text(encoding="utf-8") == printed.out
    assert sf.load_schema(folder / "proposed.toml").person == "patient"
    assert run("assess", "visits.csv", "--schema", "proposed.toml").code == 0


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("visits.csv", "must not replace a file that this command reads"),
        (".", "must be a file; found a folder"),
        ("none/s.toml", "must be in a folder that exists"),
    ],
)
def test_a_schema_is_not_written_over(output: str, said: str, folder: Path, run: Run) -> None:
    before = (folder / "visits.csv").read_bytes()
    result = run("schema", "guess", "visits.csv", "--output", output)
    assert result.code == 1
    assert said in result.err
    assert (folder / "visits.csv").read_bytes() == before


def test_exit_codes(folder: Path, run: Run) -> None:
    words = (*ANONYMIZE, "--output", "release.csv")
    assert run(*words, "--k", "12").code in RELEASED
    assert run(*words, "--k", "0").code == 1
    assert run(*words, "--k", "13").code == 5


def test_what_cannot_be_met_is_explained(folder: Path, run: Run) -> None:
    words = (*ANONYMIZE, "--output", "release.csv", "--g-balance", "0.83")
    result = run(*words)
    assert result.code == 5
    assert "reach 0.8194" in result.err
    assert "--cap-records 1" in result.err
    assert run(*words, "--cap-records", "1").code in RELEASED


@pytest.mark.parametrize("suffix", fast_first(1, ["csv", "tsv", "parquet"]))
@pytest.mark.parametrize("options", [(), ("--pseudonym-key", "key")], ids=["random", "keyed"])
def test_a_release_can_be_repeated(
    suffix: str, options: tuple[str, ...], folder: Path, run: Run
) -> None:
    (folder / "key").write_bytes(b"a secret of more than sixteen bytes")
    (folder / "again").mkdir()
    made = ("--pid-k", "2", "--values", "set", "--split", "range", "--cap-records", "2")
    first = run(*ANONYMIZE, *made, *options, "--output", f"release.{suffix}")
    again = ("--repeat", "release.toml", *options, "--output", f"again/release.{suffix}")
    second = run("anonymize", folder / "visits.csv", "--schema", folder / "schema.toml", *again)
    assert {first.code, second.code} <= RELEASED
    assert "Warning" not in second.err
    for name in (f"release.{suffix}", "release.toml"):
        assert (folder / name).read_bytes() == (folder / "again" / name).read_bytes()


def test_a_release_of_before_there_was_a_grid_is_repeated_with_tight_ends(
    folder: Path, run: Run
) -> None:
    (folder / "again").mkdir()
    run(*ANONYMIZE, "--pid-k", "2", "--ends", "tight", "--output", "release.csv")
    manifest = (folder / "release.toml").read_text(encoding="utf-8")
    assert manifest.count('ends = "tight"\n') == 1
    (folder / "release.toml").write_text(manifest.replace('ends = "tight"\n', ""))
    words = ("anonymize", folder / "visits.csv", "--schema", folder / "schema.toml")
    assert run(*words, "--repeat", "release.toml", "--output", "again/release.csv").code in RELEASED
    assert (folder / "again" / "release.toml").read_text(encoding="utf-8") == manifest
    assert (folder / "release.csv").read_bytes() == (folder / "again/release.csv").read_bytes()


@pytest.mark.parametrize("changed", ["visits.csv", "schema.toml"])
def test_another_file_or_schema_is_not_repeated(changed: str, folder: Path, run: Run) -> None:
    run(*ANONYMIZE, "--k", "2", "--output", "release.csv")
    line = {
        "visits.csv": ",".join(column[0] for column in GOOD.values()) + "\n",
        "schema.toml": "weight = 2.0\n",
    }
    with (folder / changed).open("a", encoding="utf-8") as file:
        file.write(line[changed])
    result = run(*ANONYMIZE, "--repeat", "release.toml", "--output", "again.csv")
    assert result.code == 1
    assert "must be what the manifest of --repeat was made from" in result.err
    assert not (folder / "again.csv").exists()


def test_another_releases_manifest_is_not_written_over(folder: Path, run: Run) -> None:
    run(*ANONYMIZE, "--k", "2", "--output", "release.csv")
    kept = (folder / "release.toml").read_bytes()
    for seed in ((), ("--seed", "3")):
        result = run(*ANONYMIZE, "--k", "3", *seed, "--output", "other.csv")
        assert result.code == 1
        assert "must not take the place of the release.toml of another file" in result.err
        assert not (folder / "other.csv").exists()
        assert (folder / "release.toml").read_bytes() == kept
    words = ("anonymize", folder / "visits.csv", "--schema", folder / "schema.toml")
    assert run(*words, "--repeat", "release.toml", "--output", "again.csv").code in RELEASED
    assert run(*ANONYMIZE, "--k", "3", "--output", "release.csv").code in RELEASED
    assert (folder / "release.toml").read_bytes() != kept


def test_seed_and_secret_decide(folder: Path, run: Run) -> None:
    made = []
    (folder / "mine").write_bytes(b"s" * 32)
    for words in (("--secret", "mine"), ("--secret", "mine"), ()):
        run(*ANONYMIZE, "--k", "3", "--seed", "1", *words, "--output", "release.csv")
        made.append((folder / "release.csv").read_bytes())
    assert made[0] == made[1] != made[2]
    kept = folder / "release.secret"
    assert kept.stat().st_mode & 0o777 == 0o600
    secret = kept.read_bytes().strip()
    assert secret != b"s" * 32
    beside = [path for path in folder.iterdir() if path.name not in ("release.secret", "mine")]
    assert not any(secret in path.read_bytes() for path in beside if path.is_file())


def test_a_repetition_says_that_it_needs_the_secret(folder: Path, run: Run) -> None:
    run(*ANONYMIZE, "--k", "3", "--output", "release.csv")
    (folder / "inside").mkdir()
    (folder / "release.secret").rename(folder / "inside" / "kept")
    words = ("anonymize", "visits.csv", "--schema", "schema.toml", "--repeat", "release.toml")
    (folder / "again").mkdir()
    refused = run(*words, "--output", "again/r.csv")
    assert refused.code == 1
    assert "--secret" in refused.err
    assert not (folder / "again" / "r.csv").exists()
    assert run(*words, "--secret", "inside/kept", "--output", "again/r.csv").code in RELEASED
    assert (folder / "again" / "r.csv").read_bytes() == (folder / "release.csv").read_bytes()


def test_order(folder: Path, run: Run) -> None:
    notes = {}
    for options in (("--keep-order",), ()):
        run(*ANONYMIZE, "--k", "3", "--seed", "1", *options, "--output", "release.csv")
        notes[options] = [row["note"] for row in rows(folder / "release.csv")]
    assert notes["--keep-order",] == GOOD["note"] != notes[()]
    assert sorted(notes[()]) == sorted(GOOD["note"])


FORMS: dict[str, Callable[[str], bool]] = {
    "range": lambda cell: "-" in cell or cell.isdigit(),
    "mean": lambda cell: cell.replace(".", "", 1).isdigit(),
    "set": lambda cell: cell.startswith("{") or cell.isdigit(),
    "hierarchy": lambda cell: "-" in cell or cell.isdigit(),
}


@pytest.mark.parametrize("values", FORMS)
def test_forms_of_released_values(values: str, folder: Path, run: Run) -> None:
    ends = ("--ends", "tight") if values == "set" else ()
    run(*ANONYMIZE, "--k", "4", "--values", values, *ends, "--output", "release.csv")
    released = rows(folder / "release.csv")
    assert list(released[0]) == [name for name in GOOD if name != "name"]
    assert all(FORMS[values](row["age"]) for row in released)
    assert {row["patient"] for row in released}.isdisjoint(GOOD["patient"])
    assert sorted(row["icd9"] for row in released) == sorted(GOOD["icd9"])


def test_bounds_are_two_columns(folder: Path, run: Run) -> None:
    run(*ANONYMIZE, "--k", "4", "--values", "bounds", "--output", "release.csv")
    released = rows(folder / "release.csv")
    assert {"age_low", "age_high", "edu_low", "edu_high", "sex", "zip"} < set(released[0])
    assert all(int(row["age_low"]) <= int(row["age_high"]) for row in released)


@pytest.mark.parametrize("values", fast_first(1, ["range", "bounds", "mean", "set"]))
def test_parquet_equals_csv(values: str, folder: Path, run: Run) -> None:
    made = ("--k", "4", "--seed", "5", "--values", values)
    run(*ANONYMIZE, *made, "--output", "release.csv")
    again = (*ANONYMIZE, *made, "--output", "release.parquet")
    assert run(*again).code == 1  # its secret would take the place of the other release's
    assert run(*again, "--secret", "release.secret").code in RELEASED
    columns = pq.read_table(folder / "release.parquet").to_pydict()
    released = rows(folder / "release.csv")
    assert list(released[0]) == list(columns)
    for name, cells in columns.items():
        if all(isinstance(cell, (int, float)) for cell in cells):
            assert [float(row[name]) for row in released] == [float(cell) for cell in cells]
        else:
            assert [row[name] for row in released] == [cell or "" for cell in cells]


@pytest.mark.parametrize("name", ["semicolons.csv", "tabs.tsv", "packed.csv.gz", "file.parquet"])
def test_kinds_of_files(name: str, folder: Path, run: Run) -> None:
    expected = measures(run)
    contents = {
        "semicolons.csv": to_csv(GOOD, ";").encode(),
        "tabs.tsv": to_csv(GOOD, "\t").encode(),
        "packed.csv.gz": gzip.compress(to_csv(GOOD).encode()),
        "file.parquet": PARQUET,
    }
    (folder / name).write_bytes(contents[name])
    words = ("assess", name, "--schema", "schema.toml", "--json")
    assert measures(run, *words) == expected
    if name == "semicolons.csv":
        assert measures(run, *words, "--delimiter", ";") == expected


def test_reports(folder: Path, run: Run) -> None:
    result = run(*ASSESS, "--report", "risk.json")
    assert (result.code, (folder / "risk.json").is_file()) == (0, True)
    words = ("--k", "2", "--output", "release.csv", "--report", "report.html")
    result = run(*ANONYMIZE, *words)
    assert result.code in RELEASED
    assert "Report:   report.html" in result.err
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))


def test_all_detail_that_is_lost_reads_as_all_of_it(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of people who differ in their only column, one class shows nothing."""
    monkeypatch.chdir(tmp_path)
    rows = ["age", *(str(20 + number) for number in range(12))]
    Path("visits.csv").write_text("\n".join(rows), encoding="utf-8")
    Path("schema.toml").write_text('[quasi_identifiers.age]\nkind = "numeric"\n', encoding="utf-8")
    options = ("--schema", "schema.toml", "--pid-k", "12", "--output", "release.csv")
    assert "Detail lost: 100 %." in run("anonymize", "visits.csv", *options).out
