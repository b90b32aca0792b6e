"""``sfumato run``: what is done, what is not done again, where it stops, what is kept."""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.conftest import RELEASED
from pipeline.clinics_project import STAGES, Call, caller, change, released, write_project

from sfumato.cli.output import NOT_KEPT
from sfumato.core.declaration import silent
from sfumato.pipeline import release_stages
from sfumato.pipeline.run import run_lock
from sfumato.pipeline.stage import read_record
from sfumato.release.anonymize import anonymize
from sfumato.review.review_decisions import Answer
from sfumato.review.review_session import begin
from sfumato.review.review_sources import open_folder

pytestmark = pytest.mark.usefixtures("few_random_pairs")

CANARY = "Canary7f3a"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was run to its end, with a canary among the names and the diagnoses."""
    folder = tmp_path_factory.mktemp("finished")
    write_project(folder)
    for name, column in (("patients_hospital.csv", 2), ("visits_hospital.csv", 6)):
        lines = (folder / name).read_text().splitlines()
        cells = lines[1].split(",")
        cells[column] = CANARY
        lines[1] = ",".join(cells)
        (folder / name).write_text("\n".join(lines) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        from sfumato.pipeline.project_folder import open_project
        from sfumato.pipeline.run import run

        status = run(open_project(folder))
    assert status.is_done
    return folder


@pytest.fixture
def project(finished: Path, tmp_path: Path) -> Path:
    """The same where the test may change it."""
    return Path(shutil.copytree(finished, tmp_path / "project"))


@pytest.fixture
def call(project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return caller(project, monkeypatch, capfd)


def test_all_stages_are_made_once(call: Call, project: Path) -> None:
    again = call("run", "--json")
    assert again.code in RELEASED, again.err
    assert again.states() == dict.fromkeys(STAGES, "done")
    assert again.ran() == []
    assert again.err.count("unchanged") == len(STAGES)
    files = {path.name for path in (project / "output" / "reports").iterdir()}
    assert files == {
        *("link.json", "assess.json", "release.json", "release.toml"),
        *("project.json", "report.json"),
    }
    public = project / "output" / "public"
    assert [path.name for path in public.iterdir()] == ["report.json"]
    assert json.loads((public / "report.json").read_text())["report"]["audience"] == "public"
    told = json.loads((project / "output" / "reports" / "project.json").read_text())
    assert told["stages"]["release"]["measured"]["persons"] > 0
    assert told["stages"]["link"]["record"]["inputs"]["sources.hospital.file"]


def secret_of(project: Path) -> bytes:
    return (project / "stages" / "release" / "release.secret").read_bytes().strip()


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_secrets")
def test_a_changed_schema_makes_later_stages_only(call: Call, project: Path) -> None:
    before, secret = released(project), secret_of(project)
    change(project, 'zip = "numeric"', 'zip = "categorical"')
    assert call("run", "--json").ran() == ["assess", "release", "report"]
    assert released(project) != before
    change(project, 'zip = "categorical"', 'zip = "numeric"')
    assert call("run", "--json").ran() == ["assess", "release", "report"]
    assert len({secret, secret_of(project)}) == 2  # what was made in between took its place


@pytest.mark.usefixtures("fresh_secrets")
def test_a_release_is_repeated_with_its_secret_which_is_copied_nowhere(
    call: Call, project: Path
) -> None:
    before, secret = released(project), secret_of(project)
    kept = project / "stages" / "release" / "release.secret"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert call("run", "--force", "release", "--json").ran()[0] == "release"
    assert (released(project), secret_of(project)) == (before, secret)
    others = [path for path in project.rglob("*") if path.is_file() and path.suffix != ".secret"]
    assert not any(secret in path.read_bytes() for path in others)


def test_a_changed_promise_makes_the_release_only(call: Call, project: Path) -> None:
    change(project, "g_balance = 0.8", "g_balance = 0.85")
    assert call("run", "--json").ran() == ["release", "report"]


def test_what_comes_out_the_same_stops_what_follows(call: Call, project: Path) -> None:
    made = call("run", "--force", "linked", "--json")
    assert made.ran() == ["linked"]


def test_until_leaves_the_rest(call: Call, project: Path) -> None:
    change(project, "g_balance = 0.8", "g_balance = 0.82")
    made = call("run", "--until", "assess", "--json")
    assert made.ran() == []
    assert made.states()["release"] == "outdated"
    assert call("status", "--json").states()["release"] == "outdated"
    assert call("run", "--until", "nonesuch").code == 1


@pytest.mark.slow
def test_a_release_that_was_tampered_with_is_made_again(call: Call, project: Path) -> None:
    before = released(project)
    file = project / "output" / "release" / "release.csv"
    file.write_text(file.read_text() + "more\n")
    assert call("run", "--json").ran() == ["report"]
    assert released(project) == before
    (project / "stages" / "release" / "release.csv").unlink()
    assert call("run", "--json").ran() == ["release", "report"]  # it prints the ledger's new head


def test_promises_that_cannot_be_kept_leave_the_last_release(call: Call, project: Path) -> None:
    before = released(project)
    change(project, "h_affiliation = 0.6", "h_affiliation = 0.0001")
    made = call("run")
    assert made.code == NOT_KEPT
    assert released(project) == before
    assert call("status", "--json").states()["release"] == "outdated"


def test_two_runs_at_once_are_refused(call: Call, project: Path) -> None:
    with run_lock(project / "stages"):
        made = call("run")
    assert made.code == 1
    assert "under way" in made.err
    assert call("run").code in RELEASED


def test_what_a_killed_run_left_is_removed(call: Call, project: Path) -> None:
    left = [
        project / "stages" / ".link.0123abcd.part",
        project / "stages" / "..link.0123abcd.part.4567cdef.part",
        project / ".output.0123abcd.part",
    ]
    for folder in left:
        folder.mkdir()
        (folder / "file").write_text("half")
    (project / "output").rename(project / ".output.89abcdef")
    theirs = project / ".output.notes"
    theirs.mkdir()
    assert call("run", "--json").ran() == []
    assert not any(folder.exists() for folder in left)
    assert theirs.is_dir()


def test_no_value_of_the_data_is_in_what_is_kept_or_said(call: Call, project: Path) -> None:
    shutil.rmtree(project / "stages" / "assess")
    said = [call("run", "--json"), call("status"), call("status", "--json")]
    assert all(CANARY not in each.out + each.err for each in said)
    kept = [*project.glob("stages/*/*.json"), *project.glob("stages/*/*.toml")]
    kept += [*project.glob("output/**/*.json"), *project.glob("output/**/*.toml")]
    assert len(kept) > 10
    for path in kept:
        if path.name != "model.json":
            assert CANARY not in path.read_text(), path
    assert CANARY in (project / "patients_hospital.csv").read_text()


def test_status_says_states_times_and_sizes(call: Call, project: Path) -> None:
    told = call("status", "--json").json
    assert told["done"] is True
    assert all(each["bytes"] > 0 and each["seconds"] >= 0 for each in told["stages"])
    table = call("status").out
    assert all(name in table for name in STAGES)
    with (project / "visits_practice.csv").open("a") as stream:
        stream.write((project / "visits_practice.csv").read_text().splitlines()[-1] + "\n")
    assert set(call("status", "--json").states().values()) == {"outdated"}
    (project / "visits_practice.csv").unlink()
    missing = call("status")
    assert missing.code == 1
    assert "sources.practice.attach" in missing.err


def test_a_linkage_that_nobody_checked_is_accepted_by_name(call: Call, project: Path) -> None:
    """One word in the terminal, in JSON and in the report, and it counts like a row."""
    before = call("status", "--json").json["verdict"]
    assert before["linkage"]["state"] == "not measured"
    said = ("--by", "officer (A. Name)", "--because", "a test", "--until", "2100-01-01")
    assert call("accept", "linkage", *said, "--at-most", "0.5").code == 1
    call("accept", "linkage", *said)
    assert "at_most" not in (project / "sfumato.toml").read_text()
    after = call("run", "--json").json["verdict"]
    assert after["linkage"]["state"] == "not measured, accepted"
    assert after["linkage"]["accepted"]["by"] == "officer (A. Name)"
    inside, outside = (
        json.loads((project / "output" / name / "report.json").read_text())
        for name in ("reports", "public")
    )
    for page, named in ((inside, True), (outside, False)):
        checked = " ".join(page["verdict"]["answers"]["How it was checked"])
        assert "not measured" in checked
        assert "officer" in checked
        assert ("A. Name" in checked) is named


def _pairs(project: Path) -> list[str]:
    table = pq.read_table(project / "stages" / "link" / "review.parquet", columns=["pair"])
    pairs: list[str] = table["pair"].to_pylist()
    return pairs


def _decisions(pairs: list[str], path: Path, answer: int = 3) -> None:
    path.parent.mkdir(exist_ok=True)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    answers = {
        "pair": pairs,
        "worker": ["w"] * len(pairs),
        "answer": pa.array([answer] * len(pairs), pa.int8()),
        "time": pa.array([moment] * len(pairs), pa.timestamp("us")),
        "withdrawn": [False] * len(pairs),
    }
    pq.write_table(pa.table(answers), path)


def test_a_review_in_the_application_is_waited_for(call: Call, project: Path) -> None:
    change(project, "[release]", '[review]\nby = "application"\nbudget = 0.5\n\n[release]')
    pairs = _pairs(project)
    assert len(pairs) > 1
    made = call("run", "--json")
    assert made.code == 3
    assert made.states()["review"] == "waiting"
    waiting = made.json["waiting"]
    assert waiting["count"] == len(pairs)
    assert waiting["commands"][0] == "sfumato review create stages/link --k 1 --budget 0.5"
    assert call("status", "--json").json["waiting"] == waiting
    _decisions(pairs[:1], project / "review" / "decisions.parquet")
    half = call("run", "--json")
    assert half.code == 3
    assert half.json["waiting"]["count"] == len(pairs) - 1
    _decisions(pairs, project / "review" / "decisions.parquet")
    done = call("run", "--json")
    assert done.code in RELEASED, done.err
    assert done.ran() == ["review", "linked", "assess", "release", "report"]
    apart = read_record(project / "stages" / "linked")
    assert apart is not None
    assert "with people's answers" in apart.said
    assert call("run", "--json").ran() == []


@pytest.mark.slow
def test_what_checks_contradict_is_in_no_report(call: Call, project: Path) -> None:
    """Nor what the model expected before anybody had checked it."""
    change(project, "dedupe = true", "dedupe = true\ncheck = 0.05")
    change(project, "[release]", '[review]\nby = "application"\n\n[release]')
    assert call("run").code == 3
    expected = json.loads((project / "stages" / "link" / "measured.json").read_text())["expected"]
    drawn = pq.read_table(project / "stages" / "link" / "checks.parquet")["pair"].to_pylist()
    pairs = sorted({*drawn, *_pairs(project)})
    _decisions(pairs, project / "review" / "decisions.parquet", answer=-3)
    assert call("run").code in RELEASED
    output = project / "output"
    told = json.loads((output / "reports" / "project.json").read_text())["stages"]
    for stage in ("link", "linked"):
        assert told[stage]["measured"]["expected"]["precision"] is None
        assert told[stage]["measured"]["expected"]["contradicted"] == ["precision"]
    assert told["linked"]["measured"]["checks"]["precision"]["value"] == 0
    written = [path.read_text() for path in output.rglob("*.json")]
    assert len(written) > 4
    assert not [text for text in written if str(expected["precision"]) in text]


@pytest.mark.slow
def test_a_review_at_the_desk_is_prepared_and_waited_for(call: Call, project: Path) -> None:
    change(project, "[release]", '[review]\nby = "desk"\nk = 1\n\n[release]')
    made = call("run", "--json")
    assert made.code == 3
    assert "sfumato open sfumato.toml" in made.err
    folder = project / "review"
    session = begin(folder, open_folder(folder), "ann", {}, silent)
    for place in range(len(_pairs(project))):
        session.show(place)
        session.decide(place, Answer(3))  # their order is random
        if place == 0:
            assert call("run").code == 3
    session.journal.close()
    done = call("run", "--json")
    assert done.code in RELEASED, done.err
    assert done.ran() == ["review", "linked", "assess", "release", "report"]
    measured = json.loads((project / "stages" / "review" / "measured.json").read_text())
    assert measured["workers"][0]["worker"] == "ann"
    assert measured["answered"] == len(_pairs(project))
    change(project, "k = 1", "k = 2")
    refused = call("run")
    assert refused.code == 1
    assert "begun with" in refused.err


@pytest.mark.slow
def test_a_simulated_review_needs_nobody(call: Call, project: Path) -> None:
    change(project, "[release]", '[review]\nby = "simulated"\nk = 1\nbudget = 0.5\n\n[release]')
    made = call("run", "--json")
    assert made.code in RELEASED, made.err
    assert made.ran()[0] == "review"
    assert "no person looked" in made.err
    # It judges by the model, of which it is no check.
    assert made.json["verdict"]["linkage"]["state"] == "not measured"
    assert made.json["verdict"]["linkage"]["precision"] is None
    measured = json.loads((project / "stages" / "review" / "measured.json").read_text())
    [worker] = measured["workers"]
    assert 0 < worker["kapr"] <= 0.5
    assert worker["decided"] == measured["answered"] > 0
    before = (project / "stages" / "review" / "decisions.parquet").read_bytes()
    call("run", "--force", "review")
    assert (project / "stages" / "review" / "decisions.parquet").read_bytes() == before
    assert not (project / "review").exists()


@pytest.mark.slow
def test_a_review_of_other_pairs_is_kept_aside_and_answers_hold(call: Call, project: Path) -> None:
    from sfumato.review.review_project import load_project

    change(project, "[release]", '[review]\nby = "desk"\nk = 1\n\n[release]')
    assert call("run").code == 3
    folder = project / "review"
    session = begin(folder, open_folder(folder), "ann", {}, silent)
    # Pairs come in an order drawn anew: the two must not share the record that changes.
    other = next(each for each in range(1, len(session.tasks)) if not session.beside(0, [each]))
    for place in (0, other):
        session.show(place)
        session.decide(place, Answer(3))
    session.journal.close()
    answered = list(session.decisions.answers)
    before = load_project(folder)
    named = before.pairs.filter(pa.array([pair == answered[0] for pair in before.pair_ids]))
    number = named["left"][0].as_py()
    source, own = (before.records[name][number].as_py() for name in ("source", "id"))
    file = project / f"patients_{source}.csv"
    lines = file.read_text().splitlines()
    (row,) = [place for place, line in enumerate(lines) if line.startswith(f"{own},")]
    cells = lines[row].split(",")
    lines[row] = ",".join([cells[0], f"{cells[1]}x", *cells[2:]])
    file.write_text("\n".join(lines) + "\n")
    assert call("run").code == 3
    assert (project / "review.earlier-1" / "review.ann.state").is_file()
    assert not list(folder.glob("*.state"))
    carried = _carried(project)
    assert len(carried) == 1
    pairs = set(_pairs(project))
    assert set(load_project(folder).pair_ids) == pairs - carried
    session = begin(folder, open_folder(folder), "ben", {}, silent)
    for place in range(len(pairs - carried)):
        session.show(place)
        session.decide(place, Answer(-3))
    session.journal.close()
    done = call("run", "--json")
    assert done.code in RELEASED, done.err
    decisions = pq.read_table(project / "stages" / "review" / "decisions.parquet")
    assert set(decisions["pair"].to_pylist()) == pairs
    workers = dict(zip(decisions["pair"].to_pylist(), decisions["worker"].to_pylist(), strict=True))
    assert {pair for pair, worker in workers.items() if worker == "ann"} == carried


def _carried(project: Path) -> set[str]:
    """The pairs whose answers were taken over."""
    from sfumato.pipeline.review_stage import carried_answers
    from sfumato.review.review_sources import from_linkage

    now = from_linkage(project / "stages" / "link", np.random.default_rng(0))
    table = carried_answers(now, project / "review.kept.parquet")
    return set(table["pair"].to_pylist())


def write_one_table(project: Path) -> None:
    """A project of one table that is attacked, beside the other in its folder."""
    rng = np.random.default_rng(5)
    lines = [f"{rng.integers(20, 90)},{'FM'[rng.integers(2)]}" for _ in range(200)]
    (project / "one.csv").write_text("\n".join(["age,sex", *lines]) + "\n")
    (project / "one.toml").write_text(
        '[project]\nname = "one"\nseed = 1\n[sources.one]\nfile = "one.csv"\n'
        '[schema]\nquasi_identifiers = ["age", "sex"]\n[release]\npid_k = 5\n[attack]\n'
        '[outputs]\nfolder = "out"\nstages = "made"\nformats = ["csv", "parquet"]\n'
        'report = "json"\n'
    )


def test_one_table_needs_no_linkage(call: Call, project: Path) -> None:
    write_one_table(project)
    made = call("run", "one.toml", "--json")
    assert made.code in RELEASED, made.err
    assert made.ran() == ["assess", "release", "attack", "report"]
    names = {path.name for path in (project / "out" / "release").iterdir()}
    assert names == {"release.codebook.md", "release.csv", "release.parquet"}
    told = json.loads((project / "out" / "reports" / "project.json").read_text())
    measured = told["stages"]["attack"]["measured"]
    assert measured["verdict"] is None  # what is said of the release is said once
    assert told["verdict"]["evidence"] == measured["evidence"]
    assert call("run", "one.toml", "--json").ran() == []


@pytest.mark.slow
def test_a_run_makes_its_release_once_and_a_later_attack_makes_the_same_again(
    call: Call, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr(
        release_stages,
        "anonymize",
        lambda *words, **more: calls.append(1) or anonymize(*words, **more),
    )
    write_one_table(project)
    assert call("run", "one.toml").code in RELEASED
    found = project / "made" / "attack" / "measured.json"
    before = found.read_bytes()
    assert len(calls) == 1
    assert call("run", "one.toml", "--force", "attack", "--json").ran() == ["attack"]
    assert len(calls) == 2
    assert found.read_bytes() == before


def test_an_attack_that_found_more_raises_its_row(call: Call, project: Path) -> None:
    """Its evidence is part of what is said of the project, wherever that is said."""
    write_one_table(project)
    call("run", "one.toml")
    found = project / "made" / "attack" / "measured.json"
    record = project / "made" / "attack" / "stage.json"
    before = json.loads(call("status", "one.toml", "--json").out)["verdict"]
    stranger = next(row for row in before["rows"] if row["intruder"] == "stranger")
    measured = json.loads(found.read_text("utf-8"))
    one = next(each for each in measured["evidence"] if each["number"] == "found")
    share = {"value": 0.5, "low": 0.4, "high": 0.6}
    one |= {"found": share, "people": share, "beaten": True, "raised": True, "luck": 1e-6}
    found.write_text(json.dumps(measured), "utf-8")
    kept = json.loads(record.read_text("utf-8"))
    kept["outputs"][found.name]["sha256"] = hashlib.sha256(found.read_bytes()).hexdigest()
    record.write_text(json.dumps(kept), "utf-8")
    made = call("run", "one.toml")
    assert made.code == 2
    assert "Defect in sfumato" in " ".join(made.out.split())
    told = json.loads((project / "out" / "reports" / "project.json").read_text())["verdict"]
    now = next(row for row in told["rows"] if row["intruder"] == one["intruder"])
    assert (now["state"], now["found"]["value"]) == ("above", 0.5)
    assert stranger["found"]["value"] < 0.5
    page = json.loads((project / "out" / "reports" / "report.json").read_text())
    assert page["verdict"]["ready"] is False
    assert any("Defect" in each for each in page["verdict"]["answers"]["How it was checked"])
