"""The report of a project: what stands in it, what the public version leaves out, its files."""

from __future__ import annotations

import builtins
import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import missing
from few_cases import fast_first
from reports.project_results import CONTEXT, LINKED, SECRETS, record, results
from reports.told_numbers import told_of_measures

from sfumato.core.errors import InputError
from sfumato.core.number_text import share_text
from sfumato.examples import generate_clinics
from sfumato.release.anonymize import anonymize
from sfumato.release.preset_promises import held_against
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.marketer_risk import MarketerRisk
from sfumato.release.release_result import Release
from sfumato.reports import report
from sfumato.reports.audience import Audience
from sfumato.reports.project_page import draw_project
from sfumato.reports.project_report import project_content
from sfumato.reports.project_results import ProjectResults
from sfumato.reports.report_targets import pdf_of
from sfumato.risk import risk_thresholds as load
from sfumato.risk.verdict import Acceptance
from sfumato.schema import Schema

DAY = date(2026, 11, 20)
CANARY = "kanarienvogel"
REQUEST = {
    "request": {
        "name": "d", "requester": "Dr. Gary", "role": "clinician", "purpose": "research",
        "linkage": "A with B",
    },
    "k": 12,
    "databases": {"A": {"quasi_identifiers": ["born"], "individuals": 8}},
    "rules": ["Rule 2. The k is the largest. (house.lp, line 7)"],
    "explained": [CANARY],
    "records": 30,
    "individuals": 30,
    "figures": {
        "SLA": {
            "risk": 0.05, "risk_unaware": 0.05, "sse_sst": 0.3, "ncp": 0.4, "smallest_match": 12,
        }
    },
    "changes": [],
    "exposed": 0,
    "proposed": [{"id": "8e", "says": f"born {CANARY} -> sex F"}],
    "ledger": {"release": 2, "earlier": [1]},
    "covered": ["readers"],
    "not_covered": ["others"],
    "manifest": {"release": {"seed": 5, "output_sha256": "ff"}},
}  # fmt: skip


def content(found: ProjectResults, audience: Audience = Audience.INTERNAL) -> dict[str, Any]:
    return project_content(found, audience, None, DAY)


def both(found: ProjectResults, audience: Audience) -> str:
    """The JSON and the page of a version."""
    plain = content(found, audience)
    return json.dumps(plain, ensure_ascii=False) + draw_project(plain)


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """All numbers of plain values with where they stand."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from numbers(each, f"{path}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from numbers(each, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def on_request() -> ProjectResults:
    schema = {"person": "name", "sensitive": ["drug"], "quasi_identifiers": {"born": {}}}
    return ProjectResults.from_json(
        {
            "project": "diabetes",
            "stages": {"release": {"record": record({"schema": schema}), "measured": REQUEST}},
        }
    )


def test_the_first_page_has_the_rows_of_the_verdict(release: Release) -> None:
    plain = content(results(release))
    rows = release.verdict.rows
    assert plain["verdict"]["headline"] == release.verdict.headline
    assert [each["state"] for each in plain["verdict"]["rows"]] == [each.state for each in rows]
    assert [each["intruder"].lower() for each in plain["verdict"]["rows"]] == [
        each.intruder for each in rows
    ]
    page = draw_project(plain)
    for each in rows:
        if each.findings is not None:
            assert share_text(each.findings.found.value, release.limits.found) in page
    for audience in Audience:
        assert content(results(release), audience)["verdict"]["ready"] is release.verdict.ready


def test_who_accepted_is_named_inside_and_by_role_outside(release: Release) -> None:
    every = {"found": 1.0, "person": 1.0, "learned": 1.0}
    until = date(2100, 1, 1)
    accepted = [
        Acceptance(name, "the privacy officer (A. Name)", "a reason", until, every, column=column)
        for name, column in (
            ("stranger", ""),
            ("acquaintance", ""),
            *(("insider", column) for column in release.verdict.found.insiders),
        )
    ]
    verdict = replace(release, accepted=tuple(accepted)).verdict
    assert verdict.ready
    for audience in Audience:
        page = draw_project(content(results(release, verdict=verdict.to_json()), audience))
        assert "the privacy officer" in page
        assert "a reason" in page
        assert ("A. Name" in page) is (audience is Audience.INTERNAL)


def test_what_was_not_judged_is_not_ready(release: Release) -> None:
    plain = content(results(release, verdict=None))
    assert not plain["verdict"]["ready"]
    assert re.search(r'class="verdict [a-z]+ failed"', draw_project(plain))


def test_below_the_rows_stands_what_goes_out_to_whom_and_how_it_was_checked(
    release: Release,
) -> None:
    found = results(release)
    found.stages["release"].measured["detail_lost"] = 0.4213
    verdict = content(found)["verdict"]
    released, whom, checked, left = (" ".join(each) for each in verdict["answers"].values())
    assert f"{release.risk.records:,} records about {release.risk.persons:,} people" in released
    assert "42.1" in released
    # The recipient is judged when somebody gets it, which is no gap.
    states = {each["intruder"]: (each["state"], each["learned"]) for each in verdict["rows"]}
    assert states["Recipient"] == ("does not apply", None)
    assert "recipient" not in left
    (row,) = [each for each in found.verdict["rows"] if each["intruder"] == "recipient"]
    row["state"] = "not measured"
    more = content(found)["verdict"]["answers"].values()
    assert "recipient" in " ".join([*more][-1])
    # Nor is an attack that was made.
    del found.stages["attack"]
    none = content(found)["verdict"]["answers"].values()
    assert len([*none][-1]) == len([*more][-1]) + 1
    assert "linked from 2 sources" in released
    assert all(text in whom for text in list(CONTEXT.values())[:3])
    assert "2 of 2 kept" in checked
    assert re.search("95.2.% .94.% to 96.3.%. of", checked)
    assert "98.8\u202f% (98.1\u202f% to 99.2\u202f%) of those" in checked
    assert "97\u202f%" not in checked  # the matches by score, before any answer


def test_a_column_that_is_withheld_is_called_removed(release: Release) -> None:
    found = results(release)
    out = [found.schema["person"], found.schema["sensitive"][0]]
    found.stages["release"].measured["manifest"]["options"]["withhold"] = out
    plain = content(found)
    assert {each["done"] for each in plain["variables"] if each["name"] in out} == {"removed"}
    said, *_ = plain["verdict"]["answers"].values()
    for name in out:
        assert [each.startswith("Removed:") for each in said if name in each] == [True]


def test_a_linkage_of_unknown_quality_says_so(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither inside nor in public does what the model expects of the scores stand in its place."""
    unknown = {"value": None, "low": 0.0, "high": 1.0, "why": "untold"}
    for name in ("precision", "recall"):
        monkeypatch.setitem(LINKED["persons"], name, unknown)
    for audience in Audience:
        plain = content(results(release), audience)
        assert [each["released"] for each in plain["linkage"]["quality"]] == [None, None]
        page = draw_project(plain)
        assert "97.89" not in page
        assert "97.16" not in page
        assert page.count("not measured") >= 2


@pytest.mark.parametrize(
    ("k", "said"), [(1, "at least 1 record (k)"), (5, "at least 5 records (k)")]
)
def test_the_floor_of_a_review_is_said_in_words(release: Release, k: int, said: str) -> None:
    plain = content(results(release))
    plain["review"]["k"] = k
    assert said in draw_project(plain)


def test_inside_the_numbers_are_those_that_were_measured(release: Release) -> None:
    plain = content(results(release))
    lines = {line["name"]: line for group in plain["risk"] for line in group["lines"]}
    assert lines["prosecutor"]["before"] == release.risk_before.prosecutor.value
    assert lines["max_gidr"]["after"] == release.risk.max_gidr.value
    assert lines["prosecutor"]["over"] == "maximum"
    assert lines["marketer"]["over"] == "average"
    reached = {each["name"]: each["reached"] for each in plain["promises"]}
    assert reached["g_balance"] == release.risk.g_balance.value
    assert plain["review"]["workers"][0]["kapr"] == 0.0001234
    assert plain["linkage"]["quality"][0]["checked"]["low"] == 0.94
    assert plain["changes"]["ncp"] == release.utility.ncp
    assert plain["attack"]["outcomes"][0]["success"]["value"] == 0.11
    roles = {each["name"]: each["role"] for each in plain["variables"]}
    assert roles["surname"] == "direct identifier"
    assert roles["stray"] == "insensitive"
    assert next(each for each in plain["variables"] if each["name"] == "age")["custodians_reason"]
    page = draw_project(plain)
    for secret in ("wanda-worker", "aa11aa11", "4711471147", "warned of 3", "gary.hospital"):
        assert secret in page
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)


def test_outside_nothing_stands_that_helps_an_intruder(release: Release) -> None:
    text = both(results(release), Audience.PUBLIC)
    for secret in SECRETS:
        assert secret not in text
    plain = content(results(release), Audience.PUBLIC)
    told = {"limit", "k", "budget", "threshold", "above", "attacks", "broken", "form"}
    allowed = {"fewer_than", "at_most", "more_than", "below", "about", "project_budget"}
    for path, value in numbers(plain):
        last = path.rpartition(".")[2]
        shares = value < 1 or ".risk." in path or ".changes." in path or last in ("low", "high")
        assert last in told | allowed or shares or value >= 10, path
    assert plain["sources"]["file"] is None
    assert plain["attack"]["outcomes"][1]["success"] is None
    assert plain["attack"]["outcomes"][1]["baseline"] is None
    assert "Internal version" not in draw_project(plain)


def test_thresholds_of_others_do_not_tell_the_size_of_a_small_class(release: Release) -> None:
    inside, outside = (content(results(release), each)["practice"] for each in Audience)
    assert len(inside) == len(outside)
    shown = [held for each in outside for held in each["held"]]
    assert release.risk.pid_k < 10
    for held in shown:
        if held["measure"] in ("k", "pid_k"):
            assert held["limit"] >= 10
            assert not held["met"]
        if held["measure"] == "prosecutor":
            assert held["limit"] <= 0.1
            assert not held["met"]
    assert 0 < len(shown) < sum(len(each["held"]) for each in inside)


@pytest.mark.parametrize("audience", list(Audience))
def test_no_value_of_the_data_stands_in_a_report(audience: Audience) -> None:
    count = 60
    table = pa.table(
        {
            "town": [f"{CANARY}{row % 2}" for row in range(count)],
            "age": [20 + row % 7 for row in range(count)],
            "ill": [f"{CANARY}{row % 5}" for row in range(count)],
            "note": [CANARY] * count,
        }
    )
    schema = Schema(quasi_identifiers=["town", "age"], sensitive=["ill"], insensitive=["note"])
    made = anonymize(table, schema, GBalance(k=3), HAffiliation(l=2), seed=1)
    assert CANARY in json.dumps(made.to_json())  # distributions of the original, which stay in it
    assert CANARY not in both(results(made), audience)
    assert CANARY not in both(on_request(), audience)


def test_a_broken_promise_and_a_successful_attack_stand_first(release: Release) -> None:
    found = results(release, broken=True)
    found.stages["release"].about["asked"][0]["met"] = False
    plain = content(found)
    checked = " ".join(plain["verdict"]["answers"]["How it was checked"])
    assert "Promises: 1 of 2 kept" in checked
    assert re.search("Defect.* exact_free .*11 %.*10 %", checked)
    outside = content(found, Audience.PUBLIC)["verdict"]["answers"]["How it was checked"]
    assert re.search(r"1 of 2 attacks", " ".join(outside))
    assert "broken</span>" in re.sub(r"<svg.*?</svg> ", "", draw_project(plain))


@pytest.mark.parametrize("way", ["beaten", "raised"])
def test_outside_an_attack_has_no_exact_share(release: Release, way: str) -> None:
    found = results(release)
    found.stages["attack"].measured["evidence"][0][way] = True
    inside, outside = (content(found, each)["attack"]["sentence"] for each in Audience)
    assert "11 %" in inside
    assert re.findall(r"\d+", outside) == ["1", "2"]


def test_outside_no_share_of_the_records_is_told_of_a_coding(release: Release) -> None:
    found, name = results(release), release.schema.sensitive[0]
    found.stages["release"].measured["utility"]["histories"] = {
        "done": {name: {"exact": 0.387, "suppressed": 0.613}}
    }
    inside, outside = (
        next(each["done"] for each in content(found, audience)["variables"] if each["name"] == name)
        for audience in Audience
    )
    assert re.findall(r"[\d.]+", inside) == ["38.7", "61.3"]
    assert re.findall(r"[\d.]+", outside) == []
    assert "“*”" in outside


def test_a_column_that_is_lost_in_all_records_stands_first(release: Release) -> None:
    found = results(release)
    lost = {"ncp": 0.1, "remedies": None}
    found.stages["release"].measured["lost"] = [
        {"column": "visit", "hidden": 1.0, **lost}, {"column": "icd9", "hidden": 0.7, **lost}
    ]  # fmt: skip
    for audience in Audience:
        assert content(found, audience)["verdict"]["headline"].startswith("Column 'visit'")


@pytest.mark.parametrize("audience", fast_first(1, list(Audience)))
def test_what_only_an_estimate_keeps_is_said_to_both(audience: Audience) -> None:
    visits = generate_clinics(100, rng=3).visits.select(["patient", "age", "zip"])
    schema = Schema(person="patient", quasi_identifiers=["age", "zip"])
    promises = (GBalance(0.5), MarketerRisk(0.3))
    release = anonymize(visits, schema, *promises, population=900, seed=1)
    release = held_against(release, load.thresholds("cancer-registry-research"))
    plain = content(results(release), audience)
    checked, page = plain["verdict"]["answers"]["How it was checked"], draw_project(plain)
    assert re.search(r"1 of 2 kept.*: marketer", " ".join(checked))
    assert [each["promised"] for each in plain["promises"]] == [True, False]
    assert page.count("estimated, not promised</span>") >= 2


def test_what_the_project_file_leaves_open_is_said(release: Release) -> None:
    answers = content(results(release, context={}))["verdict"]["answers"]
    whom = " ".join(answers["To whom, and for what"])
    stated = content(results(release))["verdict"]["answers"]["To whom, and for what"]
    assert not any(text in whom for text in CONTEXT.values())
    assert "No controls" in whom
    assert "No controls" not in " ".join(stated)


def test_a_release_on_request() -> None:
    inside, outside = both(on_request(), Audience.INTERNAL), both(on_request(), Audience.PUBLIC)
    plain = content(on_request())
    # What the rules require is no verdict: of what intruders find nothing was measured here.
    assert not plain["verdict"]["ready"]
    assert "12 people" in " ".join(plain["verdict"]["answers"]["How it was checked"])
    assert "1 associations" not in inside
    assert "house.lp" in inside
    assert "Dr. Gary" in inside
    for secret in ("house.lp", "Dr. Gary", "4711471147"):
        assert secret not in outside
    assert '"individuals": {"fewer_than": 10}' in outside


def test_nothing_that_is_given_becomes_markup(release: Release) -> None:
    found = results(release, project="<b>x</b>", context={"purpose": "<i>y</i> & z"})
    page = draw_project(content(found))
    assert "<b>x" not in page
    assert "<i>y" not in page
    assert "&lt;i&gt;y&lt;/i&gt; &amp; z" in page


def test_files_of_both_versions(release: Release, tmp_path: Path) -> None:
    found = results(release)
    inside = report(found, tmp_path / "in.html", made=DAY)
    assert "Internal version" in inside.read_text()
    report(found, tmp_path / "out.json", made=DAY, audience="public", title="For all")
    outside = json.loads((tmp_path / "out.json").read_text())
    assert outside["report"]["audience"] == "public"
    assert outside["report"]["title"] == "For all"
    assert json.loads((tmp_path / "in.json").read_text()) == content(found)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.html", "in.json", "out.json"]


@pytest.mark.parametrize(
    ("name", "audience", "said"),
    [
        ("r.txt", "internal", "must end in"),
        ("no/r.html", "internal", "folder that exists"),
        ("r.html", "press", "one of the audiences"),
    ],
)
def test_what_cannot_be_written(
    release: Release, tmp_path: Path, name: str, audience: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        report(results(release), tmp_path / name, audience=audience)


def test_only_a_project_has_a_public_version(release: Release, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be 'internal'"):
        report(release, tmp_path / "r.html", audience="public")


@pytest.mark.parametrize(
    "plain",
    [{}, {"project": "x"}, {"project": "x", "stages": 3}, {"project": "x", "stages": {}}, 3],
)
def test_other_plain_values_are_no_results(plain: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="results of a project"):
        ProjectResults.from_json(plain)
    file = tmp_path / "project.json"
    file.write_text(json.dumps(plain))
    with pytest.raises(InputError, match="results of a project"):
        ProjectResults.load(file)


@pytest.mark.parametrize(
    ("error", "found"), [(ImportError, "not installed"), (OSError, "does not find Pango")]
)
def test_without_weasyprint_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], found: str
) -> None:
    def refuse(_name: str) -> builtins.object:
        raise error

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(InputError, match=f"{found}.*print it from a browser"):
        pdf_of("<p>x</p>")


@pytest.mark.slow
def test_pdf(release: Release, tmp_path: Path) -> None:
    try:
        importlib.import_module("weasyprint")
    except (ImportError, OSError):
        missing("no WeasyPrint or no Pango; install the extra 'pdf' and Debian's libpangoft2-1.0-0")
    report(results(release), tmp_path / "r.pdf", made=DAY)
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF-")
    assert (tmp_path / "r.json").is_file()


@pytest.mark.parametrize("audience", list(Audience))
def test_no_two_numbers_of_a_measure_differ_on_a_page(release: Release, audience: Audience) -> None:
    found, risk = results(release), release.risk
    for each in found.stages["attack"].measured["attacks"]:
        each["predicted"]["value"] = risk.marketer.value
    plain = content(found, audience)
    page = draw_project(plain)
    told = told_of_measures(page)
    several = {name: values for name, values in told.items() if len(values) > 1}
    assert {"marketer", "prosecutor"} <= {*several} or audience is Audience.PUBLIC
    assert {"marketer"} <= {*several}
    for name, values in several.items():
        assert len({*values}) == 1, name
    # The first page names nobody else's share than its rows do.
    shares = {row["intruder"].lower(): row["found"] for row in plain["verdict"]["rows"]}
    first = " ".join([*plain["verdict"]["sentences"], plain["verdict"]["headline"]])
    found = re.findall(r"An? (\w+) finds ([\d.]+ %)", first)
    assert found or plain["verdict"]["ready"] or audience is Audience.PUBLIC
    for intruder, share in found:
        assert shares[intruder] == share
