"""The dossier for one recipient: its items, and what the version that may be published hides."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from few_cases import fast_first
from reports.project_results import CONTEXT, SECRETS, results

from sfumato.core.errors import InputError
from sfumato.core.number_text import share_text
from sfumato.examples import generate_clinics
from sfumato.release.anonymize import anonymize
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.release_result import Release
from sfumato.reports import report
from sfumato.reports.audience import FEWEST, Audience
from sfumato.reports.dossier_items import ASSUMED, GAP, MEASURED, NONE
from sfumato.reports.project_results import STATED, ProjectResults
from sfumato.schema import Schema

TO = "Northern University"
CANARY = "kanarienvogel"
KINDS = {MEASURED, ASSUMED, GAP, NONE}
OTHERS = [
    {
        "number": 2, "name": "earlier.csv", "persons": 371, "handed": "2026-01-02T03:04:05+00:00",
        "to": ["Dr. Southern"], "compared": compared,
    }
    for compared in (True, False)
]  # fmt: skip
HANDED = {
    "number": 7, "handed": "2026-11-29T10:00:00+00:00", "signed": None, "others": OTHERS,
    "elsewhere": [], "unknown": [],
}  # fmt: skip
SAID = {"by": "privacy officer (A. Person)", "on": "2026-11-30"} | dict.fromkeys(STATED, "")


def dossier(found: ProjectResults, folder: Path, audience: str = "internal") -> tuple[Any, str]:
    """Its plain values, and what a reader of the page sees."""
    folder.mkdir(exist_ok=True)
    written = report(found, folder / f"{audience}.html", recipient=TO, audience=audience)
    page, plain = written.read_text(), json.loads(written.with_suffix(".json").read_text())
    shown = re.sub(r"<style\b.*?</style>", " ", page, flags=re.DOTALL)
    return plain, re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", shown)))


def items(plain: Any) -> dict[str, dict[str, str]]:
    return {each["title"]: each for every in plain["headings"].values() for each in every}


def asked(plain: Any) -> list[dict[str, str]]:
    """What was promised: numbers that the custodian chose, which are no secret."""
    return [each for title, each in items(plain).items() if title.startswith("Promise")]


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("bare", [False, True])
def test_each_item_is_a_number_an_assumption_or_a_named_gap(
    release: Release, tmp_path: Path, audience: str, bare: bool
) -> None:
    changes: dict[str, Any] = {"context": {}, "verdict": None} if bare else {"handed": HANDED}
    plain, text = dossier(results(release, **changes), tmp_path, audience)
    for heading, every in plain["headings"].items():
        assert every, heading
        assert heading in text
        for each in every:
            assert each["kind"] in KINDS
            assert len(each["says"]) > 1, each
            assert each["how"] or each["kind"] != MEASURED, each
            assert "None" not in each["says"] + each["how"]
    told = [each["kind"] for every in plain["headings"].values() for each in every]
    assert plain["counted"] == {kind: told.count(kind) for kind in (MEASURED, ASSUMED, GAP)}
    assert bare is (plain["verdict"]["state"] is None)


def test_what_the_custodian_left_blank_is_a_gap(release: Release, tmp_path: Path) -> None:
    blank = {"training": "  ", "means": "\u200b", "security": "\u00a0\n"}
    stated = {TO: SAID | {"contract": "clause 7"} | blank, "another": SAID}
    by_title = items(dossier(results(release, stated=stated), tmp_path)[0])
    assert by_title[STATED["contract"]]["kind"] == ASSUMED
    assert by_title[STATED["contract"]]["says"] == "clause 7"
    assert {"A. Person", SAID["on"]} <= {
        word for word in ("A. Person", SAID["on"]) if word in by_title[STATED["contract"]]["how"]
    }
    assert {by_title[STATED[each]]["kind"] for each in STATED if each != "contract"} == {GAP}
    plain, text = dossier(results(release, stated=stated), tmp_path, "public")
    by_title = items(plain)
    assert by_title[STATED["contract"]]["kind"] == ASSUMED
    assert {by_title[STATED[each]]["kind"] for each in STATED if each != "contract"} == {GAP}
    assert "clause 7" not in text
    assert "A. Person" not in text
    assert "privacy officer" in text


def test_the_verdict_and_the_recipient_stand_first(release: Release, tmp_path: Path) -> None:
    told = release.to_json()["verdict"]
    told["rows"] = [
        row | ({"found": {"value": 0.043, "low": 0.043, "high": 0.043}, "learned": [],
                "person": {"value": 0.077, "low": 0.077, "high": 0.077}, "state": "below",
                "said": "below", "drawn": None} if row["intruder"] == "recipient" else {})
        for row in told["rows"]
    ]  # fmt: skip
    found = results(release, verdict=told, handed=HANDED)
    plain, text = dossier(found, tmp_path)
    first = [text.index(each) for each in (told["headline"], f"{TO} finds 4.3 % of", "earlier.csv")]
    assert first == sorted(first)
    assert first[-1] < text.index("What stands behind")
    assert f"{release.risk.persons:,} people" in plain["verdict"]["sentences"][-2]
    assert re.search(r"2 other releases .* 1 of them not compared", text)
    assert items(plain)["Hand-over"]["says"] == "On 2026-11-29."
    plain, text = dossier(found, tmp_path, "public")
    assert "2 other releases" in text
    for secret in (TO, "earlier.csv", "Dr. Southern", "371", "4.3 %"):
        assert secret not in text + json.dumps(plain)


def test_where_no_ledger_remembers_that_is_a_gap(release: Release, tmp_path: Path) -> None:
    plain, _ = dossier(results(release), tmp_path)
    assert items(plain)["Hand-over"]["kind"] == GAP
    assert items(plain)["Linkability: releases joined"]["kind"] == GAP
    assert sum(each.startswith("Not measured") for each in plain["verdict"]["sentences"]) == 2


@pytest.mark.parametrize("audience", list(Audience))
def test_what_no_longer_holds_is_said(release: Release, tmp_path: Path, audience: Audience) -> None:
    signed = {
        "by": "DPO (A. Person)", "time": "2026-11-20T10:00:00+00:00", "decision": "refused",
        "to": "Dr. Southern",
    }  # fmt: skip
    expired = {
        "intruder": "insider", "column": "icd9", "by": "DPO", "until": "2026-10-01",
        "because": "a reason", "at_most": {},
    }  # fmt: skip
    said = {"handed": HANDED | {"signed": signed, "elsewhere": ["Dr. Southern", "Dr. Northern"]}}
    said |= {"expired": [expired], "context": CONTEXT | {"review_date": "2020-01-01"}}
    plain, text = dossier(results(release, **said), tmp_path, audience)
    first, public = plain["verdict"]["sentences"], audience is Audience.PUBLIC
    assert "2 other recipients" in first[0]
    assert "2026-11-20" in first[1]
    by_title = items(plain)
    for title in ("Acceptance expired", "To be reviewed on", "Signature for the recipient"):
        assert by_title[title]["kind"] == GAP
    assert "2026-10-01" in by_title["Acceptance expired"]["says"]
    for hidden in ("Dr. Southern", "Dr. Northern", "A. Person"):
        assert (hidden in text) is not public
    assert "DPO until" not in text if public else "DPO until" in text
    signed["decision"] = "released"
    again = dossier(results(release, **said), tmp_path, audience)[0]["verdict"]["sentences"]
    assert again[1] != first[1]
    assert "2026-11-20" in again[1]


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("others", [OTHERS, OTHERS[:1], []])
def test_joined_are_those_that_were_compared(
    release: Release, tmp_path: Path, audience: Audience, others: list[dict[str, Any]]
) -> None:
    found = results(release, handed=HANDED | {"others": others})
    own = (found.verdict or {})["rows"]
    known = next(row for row in own if row["intruder"] == "acquaintance")
    rows = [known | {"intruder": "recipient"} if row["intruder"] == "recipient" else row
            for row in own]  # fmt: skip
    found = results(release, handed=found.handed, verdict={**(found.verdict or {}), "rows": rows})
    by_title = items(dossier(found, tmp_path, audience)[0])
    joined = by_title["Linkability: releases joined"]
    assert joined["kind"] == MEASURED
    assert ("(1 of 2)" in joined["says"]) is (len(others) == 2)
    assert ("all that left" in joined["says"]) is (len(others) == 1)
    gap = by_title.get("Linkability: not compared")
    assert (gap is not None) is (len(others) == 2)
    assert gap is None or gap["kind"] == GAP


def test_of_several_tables_what_no_run_notes_is_a_gap(release: Release, tmp_path: Path) -> None:
    found = results(release)
    schema = {"key": "person", "persons": True, "events": {"code": "code"}, "sensitive": ["level"]}
    found.stages["release"].record["settings"]["schema"] = {"tables": {"visits": schema}}
    plain, _ = dossier(found, tmp_path)
    every = plain["headings"]["Every variable"]
    (told,) = (each for each in every if "visits.code" in each["says"])
    assert told["kind"] == GAP
    shown = {"code": {"exact": 1.0, "coarser": 0.0, "*": 0.0}}
    tables = {"visits": {"rows_before": 9, "rows_after": 9, "shown": shown}}
    found.stages["release"].measured["manifest"]["tables"] = tables
    again, _ = dossier(found, tmp_path)
    every = again["headings"]["Every variable"]
    assert {each["kind"] for each in every if "visits.code: " in each["says"]} == {ASSUMED}
    assert items(plain)["Left out"]["kind"] == GAP
    assert items(plain)["Warning"]["says"]


@pytest.mark.parametrize("audience", list(Audience))
def test_each_table_has_its_rows(release: Release, tmp_path: Path, audience: Audience) -> None:
    found, shows = results(release), audience is Audience.INTERNAL
    schema = {"events": {"day": "date"}, "sensitive": ["level"]}
    found.stages["release"].record["settings"]["schema"] = {"tables": {"visits": schema}}
    shown = {"code": {"exact": 0.25, "coarser": 0.5, "*": 0.25}}
    told = {
        "visits": {"rows_before": 1_234, "rows_after": 1_230, "undated": ["day"], "shown": shown}
    }
    told["wards"] = {"rows_before": 8, "rows_after": 3}
    found.stages["release"].measured["manifest"]["tables"] = told
    plain, text = dossier(found, tmp_path, audience)
    by_title = items(plain)
    assert {by_title[f"Table {name}"]["kind"] for name in told} == {MEASURED}
    assert (
        re.findall(r"[\d,]+", by_title["Table visits"]["says"]) == ["1,230", "1,234"][: 1 + shows]
    )
    kept = by_title["Kept of visits.code"]
    assert kept["kind"] == MEASURED
    assert re.findall(r"\d+", kept["says"]) == ["25", "50", "25"]
    assert re.findall(r"\d+", by_title["Table wards"]["says"]) == (["3", "8"] if shows else ["10"])
    assert "Left out" not in by_title
    # Dates that stand in no record are not called unchanged, and what is no event is.
    (day,) = (
        each for each in by_title.values() if "visits.day" in each["says"] and "“*”" in each["says"]
    )
    assert day["kind"] == ASSUMED
    assert "visits.level: unchanged." in text


def test_outside_the_custodians_words_do_not_name_the_recipient(
    release: Release, tmp_path: Path
) -> None:
    named = f"for {TO.upper()}, and no one else"
    accepted = {"by": f"officer of {TO}", "because": named, "until": "2100-01-01"}
    plain = release.to_json()["verdict"]
    for row in plain["rows"]:
        row["accepted"] = [accepted | {"column": "icd9", "intruder": "insider", "at_most": {}}]
    said = {
        "context": CONTEXT | {"recipients": TO, "purpose": named},
        "reasons": {"age": named},
        "expired": [accepted | {"column": None, "intruder": "stranger"}],
        "project": f"Data of {TO}",
        "verdict": plain,
    }
    inside, text = dossier(results(release, **said), tmp_path)
    assert text.count(TO) + text.count(TO.upper()) > 5
    outside, text = dossier(results(release, **said), tmp_path / "public", "public")
    assert TO.lower() not in (text + json.dumps(outside)).lower()
    assert items(outside)["Purpose"]["says"] == named.replace(TO.upper(), "[recipient]")
    assert items(inside)["Purpose"]["says"] == named


@pytest.mark.parametrize("known", ["", "stated", "handed"])
def test_a_name_that_nobody_knows_is_a_gap(release: Release, tmp_path: Path, known: str) -> None:
    told = {"": {}, "stated": {"stated": {TO: SAID}}}
    told["handed"] = {"handed": HANDED | {"others": [OTHERS[0] | {"to": [TO]}], "handed": ""}}
    by_title = items(dossier(results(release, **told[known]), tmp_path)[0])
    assert ("Recipient" in by_title) is not known
    assert known or by_title["Recipient"]["kind"] == GAP


def test_a_page_replaces_the_json_of_its_own_version_alone(
    release: Release, tmp_path: Path
) -> None:
    page, twin = tmp_path / "dossier.html", tmp_path / "dossier.json"

    def write(audience: str = "internal") -> None:
        report(results(release), page, recipient=TO, audience=audience)

    write()
    write()  # the same again
    before = (page.read_text(), twin.read_text())
    with pytest.raises(InputError, match="path of the report"):
        write("public")
    assert (page.read_text(), twin.read_text()) == before
    twin.write_text("[]")
    with pytest.raises(InputError, match="path of the report"):
        write()
    assert twin.read_text() == "[]"


def test_each_number_is_counted_over_its_own_unit(release: Release, tmp_path: Path) -> None:
    plain, _ = dossier(results(release), tmp_path)
    before, after = release.risk_before, release.risk
    risk = [each["how"] for each in plain["headings"]["Risk before and after"]]
    over = {
        unit: f"{getattr(after, name):,} {unit} (before: {getattr(before, name):,})"
        for unit, name in (("people", "persons"), ("records", "records"), ("classes", "classes"))
    }
    told = [each.partition(" over ")[2] or each.partition(" of ")[2] for each in risk]
    # Shares are of classes or records, chances of people.
    assert {unit: told.count(words) for unit, words in over.items()} == {
        "people": 3, "records": 1, "classes": 7
    }  # fmt: skip
    assert sum(each.endswith(")") for each in risk) == len(risk) - 1  # none of a population


def test_what_others_ask_for_tells_their_limits_apart(release: Release, tmp_path: Path) -> None:
    by_title = items(dossier(results(release), tmp_path)[0])
    told = [
        by_title[f"In use elsewhere, {each}"]["says"][:-1].split("; ")
        for each in ("kept", "not kept")
    ]
    assert not {*told[0]} & {*told[1]}
    assert len({*told[0], *told[1]}) == len(told[0]) + len(told[1])


def test_a_recipient_has_a_name(release: Release, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="recipient"):
        report(results(release), tmp_path / "d.html", recipient=" ")
    assert not list(tmp_path.iterdir())


def test_numbers_are_those_of_the_release_and_agree(release: Release, tmp_path: Path) -> None:
    plain, text = dossier(results(release, handed=HANDED), tmp_path)
    risk = release.risk
    by_title = items(plain)
    size = f"{risk.records:,} records of {risk.persons:,} people"
    assert by_title["Released"]["says"] == f"{size}."
    assert plain["verdict"]["people"] == f"{risk.persons:,} people"
    for row in release.verdict.rows:
        if row.findings is not None:
            limit = release.limits.found
            assert share_text(row.findings.found.value, limit) in text
    # Of how many people something is said is one number: those that were released, or before.
    for count in re.findall(r"mean over ([\d,]+) people", text):
        assert count == f"{risk.persons:,}"
    assert f"→ {share_text(risk.marketer.value)}" in text
    assert by_title["Left out"]["says"].startswith(f"{release.utility.suppressed_records:,} rec")


@pytest.mark.parametrize("audience", list(Audience))
def test_what_is_estimated_is_not_called_counted(audience: Audience, tmp_path: Path) -> None:
    visits = generate_clinics(60, rng=3).visits.select(["patient", "age", "zip"])
    schema = Schema(person="patient", quasi_identifiers=["age", "zip"])
    release = anonymize(visits, schema, GBalance(0.5), population=900, seed=1)
    found = results(release)
    marketer = {"value": 0.044, "low": 0.007, "high": 0.14, "estimator": "cell model"}
    found.stages["release"].measured["marketer"] = marketer
    found.stages["release"].measured["population"] = {"persons": 900, "marketer": marketer}
    every = dossier(found, tmp_path, audience)[0]["headings"]["Risk before and after"]
    told = [each for each in every if "estimated" in each["how"]]
    assert len(told) == 2
    assert audience is Audience.PUBLIC or all("cell model" in each["says"] for each in told)
    assert not any("→" in each["says"] for each in told)


def several_columns(release: Release, shares: dict[str, float]) -> ProjectResults:
    """Results of a release with a `max_gsar` of each sensitive column."""
    found = results(release)
    found.stages["release"].record["settings"]["schema"]["sensitive"] = list(shares)
    known = {name: share for name, share in shares.items() if share}
    for measured in (found.stages["release"].measured, found.stages["release"].measured["before"]):
        for name in ("max_gsar", "avg_gsar", "l_distinct", "t_closeness"):
            measured[name] = known
    return found


@pytest.mark.parametrize("audience", list(Audience))
def test_the_worst_sensitive_columns_stand_first(
    release: Release, tmp_path: Path, audience: Audience
) -> None:
    shares = {"a": 0.04, "b": 0.5, "c": 0.3, "d": 0.09, "e": 1.0, "f": 0.0, "g": 0.0}
    plain, _ = dossier(several_columns(release, shares), tmp_path, audience)
    every = plain["headings"]["Attributes and membership"]
    named = [each["title"][-1] for each in every if each["title"][-3:-1] == ": "]
    assert named == ["e", "b", "c"]
    by_title = items(plain)
    # Of the others two are lower, and two were measured by nothing.
    assert by_title["Further sensitive columns"]["says"].startswith("2 ")
    assert by_title["Other sensitive columns"]["kind"] == GAP
    assert re.findall(r"\d+", by_title["Other sensitive columns"]["says"]) == ["2", "7"]


@pytest.mark.parametrize("audience", list(Audience))
def test_what_is_learned_is_an_item_of_each_intruder(
    release: Release, tmp_path: Path, audience: Audience
) -> None:
    found = results(release)
    for row in (found.verdict or {})["rows"]:
        if row["intruder"] == "insider":
            row["learned"] = []
    by_title = items(dossier(found, tmp_path, audience)[0])
    kinds = {
        title.rpartition(", ")[2]: each["kind"]
        for title, each in by_title.items()
        if title.startswith("Inference")
    }
    assert kinds == {
        "stranger": MEASURED, "acquaintance": MEASURED, "insider": GAP, "recipient": GAP
    }  # fmt: skip


def test_outside_what_was_not_measured_is_a_gap(release: Release, tmp_path: Path) -> None:
    found = results(release)
    measured = found.stages["release"].measured
    for each in (measured, measured["before"]):
        each["sample_uniques"], each["records"], each["persons"] = None, 12, 12
    by_title = items(dossier(found, tmp_path, "public")[0])
    [singling] = (each for title, each in by_title.items() if title.startswith("Singling out"))
    assert singling["kind"] == GAP
    hidden = [each for each in by_title.values() if each["says"].startswith("Left out here")]
    assert hidden  # it was measured, of few people
    assert all(each["kind"] == MEASURED for each in hidden)


def random_release(seed: int) -> Release:
    """A release of a random file with a canary in every column."""
    draw = np.random.default_rng(seed)
    people = int(draw.integers(60, 200))
    person = np.repeat(np.arange(people), 1 + draw.poisson(0.7, people))
    towns, ills = draw.integers(0, 5, people)[person], draw.integers(0, 6, len(person))
    data = {
        "who": [f"{CANARY}{each}" for each in person],
        "town": [f"{CANARY}{each}" for each in towns],
        "born": (73_000_001 + 7 * draw.integers(0, 60, people))[person],
        "ill": [f"{CANARY}{each}" for each in ills],
        "note": [f"{CANARY}{each % 3}" for each in person],
        "paid": 61_000_003 + draw.integers(0, 9, len(person)),
    }
    schema = Schema(
        person="who", quasi_identifiers=["town", "born"], sensitive=["ill", "paid"],
        insensitive=["note"],
    )  # fmt: skip
    promise = PidKAnonymity(int(draw.integers(2, 6))) if seed % 2 else GBalance(0.6)
    return anonymize(pa.table(data), schema, promise, seed=seed)


@pytest.mark.parametrize("seed", fast_first(2, list(range(8))))
def test_the_public_version_gives_nothing_away(seed: int, tmp_path: Path) -> None:
    release = random_release(seed)
    secret = tmp_path / "of_release"
    written = release.write(tmp_path / "r.csv", secret=secret)
    manifest = written.manifest
    stated = {TO: SAID | {"contract": "words of the contract"}}
    found = results(written, handed=HANDED, stated=stated)
    plain, text = dossier(found, tmp_path, "public")
    both = text + json.dumps(plain, ensure_ascii=False)
    # Neither data nor secret, neither names nor paths.
    assert CANARY in json.dumps(release.to_json())
    for hidden in (CANARY, "73000", "61000", "73,000", "61,000", "words of the contract", TO):
        assert hidden not in both
    pseudonyms = csv.read_csv(tmp_path / "r.csv")["who"].to_pylist()
    for hidden in (secret.read_text().strip(), *map(str, pseudonyms)):
        assert hidden not in both
    for hidden in (*SECRETS, str(tmp_path), "r.csv", manifest.output_sha256 or "x", "A. Person"):
        assert hidden not in both
    # Nor a count of few, nor a share that is exact and neither a limit nor promised.
    units, counted = "records?|people|persons?|classes|links|pairs|doubtful|guesses", text
    for hidden in [
        "fewer than 10",
        *(each["says"].partition(" Reached")[0].partition(" Kept")[0] for each in asked(plain)),
        # What others ask for is no secret.
        *(each["says"] for title, each in items(plain).items() if title.startswith("In use")),
    ]:
        counted = counted.replace(re.sub(r"\s+", " ", hidden), "")
    counts = re.findall(rf"(?<![\d,.–])(\d+) (?:{units})\b", counted)
    assert counts
    assert all(int(count) >= FEWEST or count == "0" for count in counts)
    limits = written.limits
    public = {share_text(each)[:-2] for each in (limits.found, limits.person, limits.learned)}
    shares = re.findall(r"(\d+(?:\.\d+)?)\s?%", counted)
    assert shares
    assert all("." not in each or each in public for each in shares)
    # What it says agrees with the manifest and with itself.
    sizes = set(re.findall(r"([\d,]+) records of ([\d,]+) people", text))
    assert sizes == {(f"{written.risk.records:,}", f"{written.risk.persons:,}")}
    assert plain["verdict"]["ready"] is written.verdict.noted["ready"]
    assert plain["verdict"]["headline"] == written.verdict.to_json()["outline"]
    assert {row["intruder"].lower(): row["said"] for row in plain["verdict"]["rows"]} == {
        row.intruder: row.said for row in written.verdict.rows
    }


def test_a_dossier_is_of_a_project(release: Release, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="recipient"):
        report(release, tmp_path / "d.html", recipient=TO)


def test_context_stands_in_both_versions(release: Release, tmp_path: Path) -> None:
    for audience in Audience:
        _, text = dossier(results(release), tmp_path, audience)
        assert all(each in text for each in CONTEXT.values())
        assert "controls are stated" not in text
