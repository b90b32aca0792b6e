"""Paper 001 (Li, D'Souza, Schmit and Kum 2019, arXiv:1906.03345) again, and the cost leak."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from studies import mindfirl_2019
from studies.mindfirl import FILE, FOLDERS, SOURCE
from studies.mindfirl.kapr_example import (
    FEBRL_ATTRIBUTES,
    leak_section,
    read_febrl,
    uniquely_named,
    values_of,
)
from studies.study_document import Study
from studies.study_files import locate

from sfumato.core.errors import InputError
from sfumato.review.anonymity_index import Index

HEADER = ", ".join(["rec_id", *(attribute.name for attribute in FEBRL_ATTRIBUTES)])


@pytest.fixture(scope="module")
def study() -> Study:
    return mindfirl_2019()


def small_febrl(folder: Path, states: list[str]) -> Path:
    """A file in the format of FEBRL 3; all is one value but the state."""
    lines = [
        HEADER,
        *(
            f"rec-{row}-org, ann, lee, 7, a place, b, town, 2119, {state}, 19560409, 1804974"
            for row, state in enumerate(states)
        ),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dataset3.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("table", [4, 5])
def test_every_row_of_tables_4_and_5(study: Study, table: int) -> None:
    """K and value of every row are the printed ones."""
    rows = study.grid(f"table_{table}").records()
    assert len(rows) == 12
    for row in rows:
        assert row["k"] == row["k_paper"]
        assert row["value"] == row["value_paper"]


def test_table_3_prints_4_and_costs_0(study: Study) -> None:
    rows = study.grid("table_3").records()
    assert {row["k_paper"] for row in rows} == {4}
    assert [row["k"] for row in rows] == [4, 4, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3]
    assert {row["value"] for row in rows} == {"0"}


def test_exchanged_day_and_month_move_with_their_signs(study: Study) -> None:
    """Table 3 prints ``*@/*&/****`` in row 1 and ``*&/*@/****`` in row 2 of the pair (1, 3)."""
    rows = study.grid("table_3").records()
    assert [row["dob"] for row in rows[2:4]] == ["*@/*&/****", "*&/*@/****"]


def test_renderings_of_table_4(study: Study) -> None:
    rows = study.grid("table_4").records()
    assert [(row["name"], row["dob"]) for row in rows[6:8]] == [
        ("***k", "*8/*9/****"),
        ("***y", "*9/*8/****"),
    ]


def test_scores(study: Study) -> None:
    rows = study.grid("scores").records()
    assert [row["score"] for row in rows] == ["0", "31/432", "3/4", "15/4", "0"]
    assert [row["decimal"] for row in rows][:4] == [row["paper"] for row in rows][:4]
    assert [row["refused"] for row in rows] == [0, 0, 0, 0, 6]


def test_without_data_it_says_what_is_left_out(study: Study) -> None:
    assert "dataset3.csv" in study.to_markdown()
    with pytest.raises(InputError, match="one of the study's"):
        study.grid("cost_leak")


def test_a_cost_names_a_value_whose_frequency_no_other_has(tmp_path: Path) -> None:
    """sa 3, nsw 2, vic 2, nt 1: the exact cost names sa and nt, 4 of 8 records."""
    folder = small_febrl(tmp_path / "febrl", ["sa"] * 3 + ["nsw"] * 2 + ["vic"] * 2 + ["nt"])
    rows = {row["attribute"]: row for row in mindfirl_2019(tmp_path).grid("cost_leak").records()}
    assert all(locate(data, FOLDERS, (FILE,)) == (folder, ()) for data in (folder, tmp_path))
    state = rows["state"]
    assert (state["values"], state["exact"], state["bound"]) == (4, 0.5, 0.0)
    surname = rows["surname"]
    assert (surname["values"], surname["exact"], surname["bound"]) == (1, 1.0, 1.0)


@pytest.mark.slow
def test_the_leak_on_febrl(shared_data: Path) -> None:
    """The exact cost names the state for 99 % of the records; the bound names no value."""
    folder, absent = locate(shared_data, FOLDERS, (FILE,))
    assert not absent
    index = Index.build(read_febrl(folder / FILE))
    rows = {row["attribute"]: row for row in leak_section(index, SOURCE).grids[0].records()}
    assert rows["state"]["exact"] == pytest.approx(0.993, abs=0.001)
    assert rows["surname"]["exact"] == pytest.approx(0.171, abs=0.001)
    assert all(row["bound"] == 0 for row in rows.values())
    assert all(row["length_bound"] == row["length"] for row in rows.values())


def test_the_leak_counted_from_the_file(shared_data: Path) -> None:
    """Values whose number of occurrences no other value has, in plain Python."""
    folder, absent = locate(shared_data, FOLDERS, (FILE,))
    assert not absent
    lines = (folder / FILE).read_text(encoding="utf-8").splitlines()[1:]
    column = [line.split(",")[2].strip() for line in lines]
    counts = Counter(value for value in column if value)
    alike = Counter(counts.values())
    share = sum(n for n in counts.values() if alike[n] == 1) / counts.total()
    values = values_of(Index.build(read_febrl(folder / FILE)), 1)
    assert uniquely_named(values, (value.exact for value in values)) == pytest.approx(share)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", f"{HEADER}\n", HEADER.replace("state", "land")])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "dataset3.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"dataset3\.csv"):
        mindfirl_2019(tmp_path)


def test_a_folder_without_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"dataset3\.csv"):
        mindfirl_2019(tmp_path)


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.mindfirl.find_spec", lambda _: None)
    with pytest.raises(InputError, match="extra 'review'"):
        mindfirl_2019()
