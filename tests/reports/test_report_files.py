"""What is written, and what is refused."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from sfumato.core.errors import InputError
from sfumato.release.release_result import Release
from sfumato.reports import report_files, report_targets
from sfumato.reports.report_files import report, report_json
from sfumato.reports.report_targets import check_report_path
from sfumato.risk.disclosure_risk import Risk

DAY = date(2026, 3, 2)


def _strict(path: Path) -> dict[str, object]:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    read: dict[str, object] = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    return read


@pytest.mark.usefixtures("no_plots")
def test_a_page_has_its_json_beside_it(release: Release, tmp_path: Path) -> None:
    path = report(release, tmp_path / "visits.html", title="Visits", made=DAY)
    assert path == tmp_path / "visits.html"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["visits.html", "visits.json"]
    assert "<h1>Visits</h1>" in path.read_text(encoding="utf-8")
    assert "2 March 2026" in path.read_text(encoding="utf-8")
    read = _strict(tmp_path / "visits.json")
    about = read.pop("report")
    assert read == json.loads(json.dumps(release.to_json()))
    assert isinstance(about, dict)
    assert about["title"] == "Visits"
    assert about["date"] == "2026-03-02"
    assert about["about"] == "release"
    assert "do not publish" in about["audience"]
    assert [(each["name"], each["attribute"], each["met"]) for each in about["asked"]] == [
        ("g_balance", None, True),
        ("h_affiliation", "icd9", True),
    ]


def test_json_alone(risk: Risk, tmp_path: Path) -> None:
    report(risk, tmp_path / "risk.json", made=DAY)
    assert [each.name for each in tmp_path.iterdir()] == ["risk.json"]
    read = _strict(tmp_path / "risk.json")
    assert read.pop("report") == report_json(risk, made=DAY)["report"]
    assert read == json.loads(json.dumps(risk.to_json()))


def test_numbers_that_json_does_not_know_are_null() -> None:
    assert report_files.finite({"a": [float("nan"), (float("inf"), 1.5)]}) == {
        "a": [None, [None, 1.5]]
    }


@pytest.mark.usefixtures("no_plots")
def test_the_same_twice(release: Release, tmp_path: Path) -> None:
    one = report(release, tmp_path / "one.html", made=DAY).read_bytes()
    assert one == report(release, tmp_path / "two.html", made=DAY).read_bytes()


def test_a_report_bears_the_day_it_is_made(risk: Risk) -> None:
    before = datetime.now(tz=UTC).astimezone().date()
    made = date.fromisoformat(report_json(risk)["report"]["date"])
    assert before <= made <= datetime.now(tz=UTC).astimezone().date()


@pytest.mark.parametrize("name", ["report.pdf", "report", "report.htm"])
def test_other_endings_are_refused(risk: Risk, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"must end in \.html"):
        report(risk, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder that exists"):
        check_report_path(tmp_path / "none" / "report.html")


def test_other_results_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be what anonymize, assess, link or attack returns"):
        report({"k": 5}, tmp_path / "report.json")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_missing_extra_is_named(
    risk: Risk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_targets, "NEEDED", ("altair", "no_such_library"))
    with pytest.raises(InputError, match=r'pip install .*\[report\]"'):
        report(risk, tmp_path / "report.html")
    report(risk, tmp_path / "report.json")
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]


def test_a_page_that_cannot_be_drawn_leaves_nothing(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.reports.release_report.draw_release", fail)
    with pytest.raises(KeyboardInterrupt):
        report(release, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())
