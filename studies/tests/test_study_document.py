"""A study as Markdown, JSON, plots and files."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from studies import kartal_li_2020, study_document
from studies.study_document import Column, Drawing, Grid, Section, Study, columns

from sfumato.core.errors import InputError

GRID = Grid(
    "risks",
    "The risks",
    (
        Column("who", "Who"),
        Column("share", "Share %", 1, percent=True),
        Column("count", "Count"),
        Column("met", "Met"),
    ),
    (("a|b", 0.125, 12345, True), ("*", None, 7, False)),
)


def made(draw=lambda: "<svg/>") -> Study:
    sections = (Section("First", ("Some words.",), (GRID,), ("plot",)),)
    return Study("name", "Title", sections, {"plot": Drawing("A plot", draw)})


def test_markdown() -> None:
    assert made().to_markdown() == (
        "# Title\n\n## First\n\nSome words.\n\n**The risks**\n\n"
        "| Who | Share % | Count | Met |\n"
        "| --- | --: | --: | --- |\n"
        "| a\\|b | 12.5 | 12345 | yes |\n"
        "| \\* |  | 7 | no |\n\n"
        "![A plot](plot.svg)\n"
    )


def test_a_listing_of_columns() -> None:
    assert columns("who=Who; share=Share % .1%; change=Change = new - old +.2; count=Count") == (
        Column("who", "Who"),
        Column("share", "Share %", 1, percent=True),
        Column("change", "Change = new - old", 2, signed=True),
        Column("count", "Count"),
    )


def test_json_keeps_shares() -> None:
    table = made().to_json()["sections"][0]["tables"]["risks"]
    assert table["rows"][0] == {"who": "a|b", "share": 0.125, "count": 12345, "met": True}
    assert table["rows"][1]["share"] is None


def test_a_table_is_found_by_its_name() -> None:
    assert made().grid("risks") is GRID
    with pytest.raises(InputError, match="accepted: risks"):
        made().grid("another")


def test_files_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    paths = made().write(folder)
    assert sorted(path.name for path in paths) == ["plot.svg", "study.json", "study.md"]
    assert sorted(folder.iterdir()) == sorted(paths)
    assert json.loads((folder / "study.json").read_text()) == made().to_json()
    assert (folder / "study.md").read_text() == made().to_markdown()


def test_nothing_is_written_when_a_plot_fails(tmp_path: Path) -> None:
    def fails() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made(fails).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="output folder"):
        made().write(tmp_path / "file")


def test_without_the_extra_only_the_plots_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_document, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r'pip install .*\[report\]"'):
        made().write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert made().to_markdown()
    assert made().to_json()


def test_the_plot_of_the_worked_example_shows_everybody() -> None:
    drawn = kartal_li_2020().plots["worked_example"]
    shown = "".join(ET.fromstring(drawn).itertext())
    for said in ("Ashley (2)", "Charlie (5)", "Harry (5)", "Greg (1)", "group 3", "Women"):
        assert said in shown
    assert "http" not in drawn.replace("http://www.w3.org/", "")
