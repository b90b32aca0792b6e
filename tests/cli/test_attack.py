"""``sfumato attack``: exit codes, how the truth is had, what is written and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from cli.conftest import RELEASED, done_in, lines_on_a_screen
from few_cases import fast_first
from intruder.generated import persons, schema_of

import sfumato as sf
from sfumato.schema import dump_schema

Run = Callable[..., Any]
QUICK = ("--attack", "exact", "--attack", "row_order", "--attack", "identifiers", "--seed", "1")

EVERYTHING = (
    "--prior", "shown.csv", "--counts", "--noise", "0.1", "--missing", "0.1", "--seed", "1",
    "--report", "all.html",
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an original, its schema and a release of it; no test changes it."""
    folder = tmp_path_factory.mktemp("made")
    original = persons(np.random.default_rng(6), 80, several=True, missing=0.0)
    pa_csv.write_csv(original, folder / "in.csv")
    (folder / "schema.toml").write_text(dump_schema(schema_of(several=True)), encoding="utf-8")
    words = ("anonymize", "in.csv", "--schema", "schema.toml", "--pid-k", "5", "--cut", "median")
    done_in(folder, *words, "--seed", "4", "--output", "out.csv")
    return folder


@pytest.fixture
def files(made: Path, tmp_path: Path) -> Path:
    """The same files where the command runs."""
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def original_of(folder: Path) -> pa.Table:
    """The original."""
    return pa_csv.read_csv(folder / "in.csv")


def test_an_honest_release_repeated_from_its_manifest(files: Path, run: Run) -> None:
    done = run(
        "attack", "out.csv", "--schema", "schema.toml", "--original", "in.csv", *QUICK, "--json"
    )
    found = json.loads(done.out)
    assert found["claims"]["made_by"] == "the release"
    assert found["broken"] == []
    assert not any(each["raised"] for each in found["evidence"])
    rows = {row["intruder"]: row for row in found["verdict"]["rows"]}
    # As it was when the release was made.
    judged = tomllib.loads((files / "release.toml").read_text("utf-8"))
    assert found["verdict"]["ready"] == judged["verdict"]["ready"]
    assert done.code == (2 if "above" in {row["state"] for row in rows.values()} else 0), done.err
    assert rows["recipient"]["state"] == "does not apply"
    assert found["persons"] == 80
    assert found["warnings"] == []
    assert sorted(path.name for path in files.iterdir()) == [
        "in.csv",
        "out.codebook.md",
        "out.csv",
        "release.secret",
        "release.toml",
        "schema.toml",
    ]


def test_a_release_that_is_not_there_is_refused(files: Path, run: Run) -> None:
    done = run("attack", "none.csv", "--schema", "schema.toml", "--original", "in.csv", *QUICK)
    assert done.code == 1
    assert "none.csv" in done.err


@pytest.mark.parametrize("informed", fast_first(1, [True, False]))
def test_linked_data_is_attacked_by_who_knows_the_method(
    files: Path, run: Run, informed: bool
) -> None:
    from intruder.test_informed import hospital

    from sfumato.semantics.linkage_anonymity import LinkageAnonymity

    whole, linked, schema = hospital(1)
    asked = LinkageAnonymity(local=whole, k=3, informed=informed)
    release = asked.apply(linked, schema, seed=1)
    release.data.to_csv(files / "linked.csv", index=False)
    whole.to_csv(files / "hospital.csv", index=False)
    owner = linked["patient"].to_numpy()[release.source_rows]
    truth = [f"{row},{person}" for row, person in enumerate(owner, 1)]
    (files / "truth.csv").write_text("\n".join(["row,person", *truth]), encoding="utf-8")
    (files / "linked.toml").write_text(dump_schema(schema), encoding="utf-8")
    done = run(
        "attack", "linked.csv", "--schema", "linked.toml", "--register", "hospital.csv",
        "--truth", "truth.csv", "--attack", "informed", "--limits", "contract", "--json",
    )  # fmt: skip
    found = json.loads(done.out)
    assert found["attacks"][0]["intruder"] == "recipient"
    # Of people who are looked for with a file of all, at most one of three fits, but for luck.
    stranger = next(row for row in found["verdict"]["rows"] if row["intruder"] == "stranger")
    assert stranger["person"]["value"] <= 1 / 3
    low = found["attacks"][0]["success"]["low"]
    assert (low <= 1 / 3) or not informed


def test_the_table_is_read_by_people(files: Path, run: Run) -> None:
    words = (
        "attack", "out.csv", "--schema", "schema.toml", "--original", "in.csv", *QUICK,
        "--counts", "--noise", "age=0.1", "--missing", "0.05", "--knows", "age", "--knows", "sex",
    )  # fmt: skip
    brief, done = run(*words), run(*words, "--details")
    assert brief.code == done.code
    assert 15 < lines_on_a_screen(brief) <= 40
    assert done.code in RELEASED
    assert "Limits: public" in done.out
    assert "Evidence\n" in done.out
    [known] = re.findall(r"each person: (.*)\.", done.out)
    assert known == "age, sex"
    assert re.search(r"column age, 10 %", done.out)


def test_a_screen_shows_warnings_and_whole_columns_of_every_attack(made: Path) -> None:
    """Titles stand last and are never cut; of sentences about what was held the first are shown."""
    from sfumato.cli.attack_command import _brief
    from sfumato.core.number_text import WIDTH
    from sfumato.reports.adversaries import attack_title

    found = sf.attack(made / "out.csv", schema=sf.load_schema(made / "schema.toml"), seed=1)
    longest = ("inference_minimality:diagnosis", "exact_free", "probabilistic", "informed")
    kind = next(each for each in found.outcomes if each.attempts and each.allowed is not None)
    shown = [
        replace(kind, attack=name, attempts=39_000, right=12_345, intruder="acquaintance")
        for name in longest
    ]
    beaten = replace(shown[0], broken=True, allowed=0.12345)
    lines = _brief(
        replace(
            found,
            outcomes=(*shown[1:], beaten),
            held=("held",) * 9,
            warnings=("the warning",),
        )
    ).splitlines()
    assert all(len(line) <= WIDTH for line in lines)
    head = next(place for place, line in enumerate(lines) if line.endswith("  attack"))
    rows = lines[head + 1 : head + 1 + len(longest)]
    assert "BEATEN" in rows[0]
    assert "12.3 %" in rows[0]
    text = " ".join("\n".join(lines[head + 1 :]).split())
    assert all(attack_title(name) in text for name in longest)
    assert sum("the warning" in line for line in lines) == 1


def test_a_prediction_that_is_exceeded_ends_with_2(files: Path, run: Run) -> None:
    """The names are put back beside the released records, and a truth file says whose they are."""
    from sfumato.cli.attack_command import Protection, repeated_release
    from sfumato.core.declaration import silent
    from sfumato.release.release_result import ReleasedTable
    from sfumato.schema import load_schema

    release = repeated_release(
        files / "out.csv",
        files / "in.csv",
        load_schema(files / "schema.toml"),
        register=None,
        protection=Protection(),
        layout={},
        progress=silent,
    )
    rows = pa.array(release.source_rows)
    original = original_of(files)
    ids = original.column("patient").take(rows)
    truth = pa.table({"row": pa.array(range(1, len(rows) + 1)), "person": ids})
    pa_csv.write_csv(truth, files / "truth.csv")
    named = release.table.append_column("who", original.column("name").take(rows))
    bad = replace(release, content=ReleasedTable(named))
    (files / "bad").mkdir()
    bad.write(files / "bad" / "out.csv")
    done = run(
        "attack", "bad/out.csv", "--schema", "schema.toml", "--original", "in.csv", *QUICK,
        "--truth", "truth.csv", "--report", "r.html", "--json",
    )  # fmt: skip
    assert done.code == 2, done.err
    found = json.loads(done.out)
    assert found["broken"] == ["identifiers"]
    assert found["claims"]["made_by"] == "measured on the released file"
    page = (files / "r.html").read_text(encoding="utf-8")
    assert "identifiers found 100 %" in page
    stranger = next(row for row in found["verdict"]["rows"] if row["intruder"] == "stranger")
    assert stranger["found"]["value"] == 1
    assert json.loads((files / "r.json").read_text(encoding="utf-8"))["broken"] == ["identifiers"]


@pytest.mark.slow
def test_a_release_is_repeated_from_an_original_without_header(files: Path, run: Run) -> None:
    first, _, rest = (files / "in.csv").read_text("utf-8").partition("\n")
    (files / "bare.csv").write_text(f"title\n{rest}", encoding="utf-8")
    (files / "again").mkdir()
    layout = ("--no-header", "--names", first.replace('"', ""), "--skip-lines", "1")
    words = ("anonymize", "bare.csv", "--schema", "schema.toml", "--pid-k", "5", "--cut", "median")
    done_in(files, *words, *layout, "--seed", "4", "--output", "again/out.csv")
    given = ("attack", "again/out.csv", "--schema", "schema.toml", "--original", "bare.csv", *QUICK)
    assert run(*given).code != 0
    done = run(*given, *layout, "--json")
    assert done.code in RELEASED, done.err
    assert json.loads(done.out)["persons"] == 80


def test_an_original_that_cannot_be_read_by_itself_takes_the_layout(files: Path, run: Run) -> None:
    original = original_of(files)
    pa_csv.write_csv(original.drop(["name"]), files / "raw.csv")
    # The last record alone is not UTF-8, and the released file is.
    text = (files / "in.csv").read_text("utf-8").rstrip().rstrip('"') + "é"
    (files / "old.csv").write_bytes((text + '"' * (text.count('"') % 2)).encode("windows-1252"))
    given = ("attack", "raw.csv", "--schema", "schema.toml", "--original", "old.csv")
    given = (*given, "--same-order", *QUICK)
    assert run(*given).code == 1
    assert run(*given, "--encoding", "windows-1252").code == 2


def test_the_same_order_and_no_original_at_all(files: Path, run: Run) -> None:
    original = original_of(files)
    pa_csv.write_csv(original.drop(["name"]), files / "raw.csv")
    given = ("attack", "raw.csv", "--schema", "schema.toml")
    same = run(*given, "--original", "in.csv", "--same-order", *QUICK, "--json")
    assert same.code == 2
    assert json.loads(same.out)["verdict"]["rows"][0]["person"]["value"] == 1
    alone = run(*given, "--attack", "exact", "--seed", "1", "--json")
    assert alone.code == 2
    assert json.loads(alone.out)["verdict"]["rows"][0]["person"]["value"] == 1


@pytest.mark.slow
def test_another_release_and_a_register(files: Path, run: Run) -> None:
    (files / "b").mkdir()
    made = ("anonymize", "in.csv", "--schema", "schema.toml", "--pid-k", "5", "--cut", "median")
    assert run(*made, "--seed", "5", "--split", "range", "--output", "b/out.csv").code in RELEASED
    done = run(
        "attack", "out.csv", "--schema", "schema.toml", "--original", "in.csv",
        "--register", "in.csv", "--prior", "b/out.csv", "--attack", "intersection", "--seed", "1",
        "--details",
    )  # fmt: skip
    assert done.code in (0, 2)
    assert "intersection" in done.out
    assert "a register of 80 people" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--original", "in.csv", "--truth", "in.csv", "--same-order"), "must be the only one"),
        (("--noise", "2"), "option --noise must be a share"),
        (("--noise", "0.1", "--noise", "age=0.1"), "found both"),
        (("--noise", "age=x"), "option --noise must be a share"),
        (("--hierarchy", "age"), "option --hierarchy must name"),
        (("--attack", "guess"), "must name attacks"),
        (("--register", "in.csv"), "must say whose each released record is"),
        (("--original", "in.csv", "--pseudonym-key", "key"), "must not be given"),
        (("--pseudonym-key", "key"), "found nothing to repeat"),
        (("--original", "in.csv", "--same-order", "--pseudonym-key", "key"), "nothing to repeat"),
        (("--original", "in.csv", "--population", "900"), "option --population must be left out"),
        (("--original", "other.csv"), "option --original must be what the release.toml"),
        (("--report", "r.pdf"), "must end in .html"),
        (("--limits", "tolerable"), "limits must name a preset"),
    ],
)
def test_what_is_refused(files: Path, run: Run, words: tuple[str, ...], said: str) -> None:
    (files / "key").write_bytes(b"k" * 20)
    pa_csv.write_csv(original_of(files).slice(0, 40), files / "other.csv")
    done = run("attack", "out.csv", "--schema", "schema.toml", *words)
    assert done.code == 1, done.out
    assert said in done.err


def test_a_changed_file_or_a_lost_manifest_cannot_be_repeated(files: Path, run: Run) -> None:
    given = ("attack", "out.csv", "--schema", "schema.toml", "--original", "in.csv")
    with (files / "out.csv").open("a", encoding="utf-8") as file:
        file.write("\n")
    done = run(*given)
    assert done.code == 1
    assert "release.toml beside RELEASE" in done.err
    manifest = files / "release.toml"
    manifest.write_text(manifest.read_text("utf-8") + '\n[request]\nname = "x"\n', "utf-8")
    done = run(*given)
    assert done.code == 1
    assert "on request" in done.err
    manifest.write_text("seed =", encoding="utf-8")
    assert "must be a release.toml" in run(*given).err
    manifest.unlink()
    done = run(*given)
    assert done.code == 1
    assert all(option in done.err for option in ("--truth", "--same-order"))


@pytest.mark.slow
def test_a_release_with_a_key_and_a_register(files: Path, run: Run) -> None:
    (files / "key").write_bytes(b"k" * 20)
    (files / "b").mkdir()
    made = run(
        "anonymize", "in.csv", "--schema", "schema.toml", "--marketer", "0.3", "--cut", "median",
        "--register", "in.csv", "--pseudonym-key", "key", "--seed", "5", "--output", "b/out.csv",
    )  # fmt: skip
    assert made.code in RELEASED, made.err
    given = ("attack", "b/out.csv", "--schema", "schema.toml", "--original", "in.csv", *QUICK)
    assert "option --pseudonym-key must" in run(*given).err
    keyed = (*given, "--pseudonym-key", "key")
    assert "option --register must" in run(*keyed).err
    assert run(*keyed, "--register", "in.csv").code == 2


@pytest.mark.slow
def test_no_value_is_said(files: Path, run: Run) -> None:
    """A canary in every column is in no output, message or report, errors included."""
    canary = "Qzxcanary"
    count = 24
    ages = [str(20 + row % 3) for row in range(count)]
    original = pa.table(
        {
            "patient": [f"{canary}p{row}" for row in range(count)],
            "name": [f"{canary}n{row}" for row in range(count)],
            "age": ages,
            "sex": [f"{canary}s{row % 2}" for row in range(count)],
            "area": [f"{canary}a{row % 3}" for row in range(count)],
            "school": ["primary"] * count,
            "illness": [f"{canary}i{row % 4}" for row in range(count)],
        }
    )
    pa_csv.write_csv(original, files / "raw.csv")
    pa_csv.write_csv(original.drop(["name"]), files / "shown.csv")
    odd = original.set_column(2, "age", pa.array([f"{canary}!"] * count))
    pa_csv.write_csv(odd, files / "odd.csv")
    pa_csv.write_csv(pa.table({"row": [f"{canary}"], "person": [f"{canary}"]}), files / "truth.csv")
    given = ("--schema", "schema.toml", "--original", "raw.csv")
    for words, code in (
        (("shown.csv", *given, "--same-order", "--report", "r.html", *QUICK, "--counts"), 2),
        (("shown.csv", *given, "--same-order", "--json", *EVERYTHING), 2),
        (("odd.csv", *given, "--same-order"), 1),
        (("shown.csv", *given, "--truth", "truth.csv"), 1),
        (("shown.csv", *given, "--same-order", "--knows", "illness"), 1),
    ):
        done = run("attack", *words)
        assert done.code == code, done.err
        assert canary not in done.out + done.err
    for name in ("r.html", "r.json", "all.html", "all.json"):
        assert canary not in (files / name).read_text(encoding="utf-8")
