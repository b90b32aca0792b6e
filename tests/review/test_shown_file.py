"""The file of what screens showed: exactly what the worker saw, for its owner only."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.core.declaration import silent
from sfumato.core.errors import InputError
from sfumato.review.review_journal import Beginning, Journal, Shown, journal_path, records_hash
from sfumato.review.review_project import Project, write_project
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    DateOrder,
    MaskWidth,
    Policy,
    Settings,
)
from sfumato.review.reviewer_agreement import review_progress
from sfumato.review.shown_rows import WorkerShown, shown_in, write_shown

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
ATTRIBUTES = (
    Attribute(name="name", kind=AttributeKind.VARIABLE, rarity=True, accent_sensitive=True),
    Attribute(name="born", kind=AttributeKind.DATE, date_order=DateOrder.DAY_MONTH_YEAR),
    Attribute(name="sex", kind=AttributeKind.CATEGORY),
)
RECORDS = (
    ("Meyer", "1980-03-04", "f"),
    ("Meier", "1980-03-04", None),
    ("Lang", "04.05.1981", "m"),
    ("Long", "unknown", "m"),
)


def _folder(tmp_path: Path, settings: Settings, modes: dict[str, list[tuple[str, str]]]) -> Path:
    """A project of pairs 0-1 (p1), 0-2 (p2) and 2-3 (p3), and journals of what was shown."""
    columns = zip(("name", "born", "sex"), zip(*RECORDS, strict=True), strict=True)
    texts = {"source": ["a", "a", "b", "b"], "id": ["7", "8", "7", "9"], **dict(columns)}
    records = pa.table({name: pa.array(each, pa.large_string()) for name, each in texts.items()})
    pairs = pa.table({"pair": ["p1", "p2", "p3"], "left": [0, 0, 2], "right": [1, 2, 3]})
    project = Project(ATTRIBUTES, settings, records, pairs)
    folder = write_project(project, tmp_path / "project")
    for worker, entries in modes.items():
        beginning = Beginning(worker, settings, ("p3", "p1", "p2"), records_hash(records))
        journal = Journal(journal_path(folder, worker), beginning)
        for pair, mode in entries:
            journal.add(Shown(pair, mode, NOON))
        journal.close()
    return folder


def _shown(folder: Path, seed: int = 1) -> tuple[WorkerShown, ...]:
    return shown_in(folder, np.random.default_rng(seed), silent)


def _by_record(shown: WorkerShown) -> dict[tuple[str, str], dict[str, dict[str, object]]]:
    whose = {each["row"]: (each["source"], each["id"]) for each in shown.truth.to_pylist()}
    found: dict[tuple[str, str], dict[str, dict[str, object]]] = {}
    for line in shown.cells.to_pylist():
        found.setdefault(whose[line["row"]], {})[line["attribute"]] = line
    return found


def test_each_cell_is_what_the_worker_saw(tmp_path: Path) -> None:
    folder = _folder(
        tmp_path, Settings(budget=None, rare_below=2, common_from=3), {"w": [("p1", "120")]}
    )
    (shown,) = _shown(folder)
    cells = _by_record(shown)
    assert set(cells) == {("a", "7"), ("a", "8")}
    name, born, sex = (cells["a", "8"][each] for each in ("name", "born", "sex"))
    assert (name["length"], name["places"], name["characters"]) == (5, [2], ["i"])
    assert (name["least"], name["most"]) == (1, 1)
    assert (name["case"], name["accents"], name["kind"]) == (False, True, "text")
    assert "".join(born["characters"]) == "04031980"
    assert (born["least"], born["most"], born["kind"]) == (2, None, "day/month/year")
    assert (sex["missing"], sex["length"], sex["characters"]) == (True, None, [])
    masked = cells["a", "7"]["sex"]
    assert (masked["missing"], masked["length"], masked["kind"]) == (False, 1, "category")
    assert masked["characters"] == []


def test_masks_of_one_width_show_no_length(tmp_path: Path) -> None:
    folder = _folder(
        tmp_path, Settings(budget=None, mask_width=MaskWidth.FIXED), {"w": [("p1", "000")]}
    )
    (shown,) = _shown(folder)
    assert shown.cells["length"].null_count == 6
    assert not any(shown.cells["characters"].to_pylist())


def test_a_row_is_a_record_in_all_pairs_or_one_row_of_a_pair(tmp_path: Path) -> None:
    seen = {"w": [("p1", "200"), ("p2", "020")]}
    (one,) = _shown(_folder(tmp_path, Settings(budget=None), seen))
    both = _by_record(one)["a", "7"]
    assert len(one.truth) == 3
    assert [len(both[name]["characters"]) for name in ("name", "born", "sex")] == [5, 8, 0]
    (tmp_path / "paper").mkdir()
    (paper,) = _shown(_folder(tmp_path / "paper", Settings(budget=None, policy=Policy.PAPER), seen))
    rows = [each["row"] for each in paper.truth.to_pylist() if each["id"] == "7"]
    assert len(paper.truth) == 4
    assert len(rows) == 3
    opened = [
        line["attribute"]
        for line in paper.cells.to_pylist()
        if line["row"] in rows and line["characters"]
    ]
    assert sorted(opened) == ["born", "born", "name"]


def test_the_kapr_is_that_of_the_status(tmp_path: Path) -> None:
    seen = {"one": [("p1", "200"), ("p1", "222")], "two": [("p3", "100")], "three": []}
    folder = _folder(tmp_path, Settings(project_budget=0.9), seen)
    shown = _shown(folder)
    status = {each["worker"]: each["kapr"] for each in review_progress(folder, silent)["workers"]}
    assert {each.worker: each.kapr for each in shown} == {
        name: kapr for name, kapr in status.items() if name != "three"
    }
    assert all(each.kapr > 0 for each in shown)


def test_names_of_rows_tell_nothing(tmp_path: Path) -> None:
    seen = {"one": [("p1", "000"), ("p3", "000")], "two": [("p3", "000")]}
    folder = _folder(tmp_path, Settings(budget=None), seen)
    names = [tuple(row for each in _shown(folder, seed) for row in each.truth["row"].to_pylist())
             for seed in range(8)]  # fmt: skip
    assert {tuple(sorted(each)) for each in names} == {tuple("012345")}
    assert len(set(names)) > 1
    assert not {"source", "id", "worker"} & set(_shown(folder)[0].cells.column_names)


def test_only_the_owner_reads_the_files(tmp_path: Path) -> None:
    seen = {"one": [("p1", "222")], "two": [("p3", "000")]}
    shown = _shown(_folder(tmp_path, Settings(budget=None), seen))
    target, truth = tmp_path / "shown.parquet", tmp_path / "truth.parquet"
    write_shown(shown, target, truth)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (target, truth)] == [0o600, 0o600]
    cells = pq.read_table(target)
    assert cells["row"].to_pylist() == [str(number // 3) for number in range(12)]
    assert pq.read_table(truth)["row"].to_pylist() == list("0123")
    data = target.read_bytes()
    assert b"one" not in data
    assert b"p1" not in data


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        _shown(tmp_path / "none")
    folder = _folder(tmp_path, Settings(budget=None), {})
    with pytest.raises(InputError, match="no journal"):
        _shown(folder)
    (tmp_path / "second").mkdir()
    with pytest.raises(InputError, match="were not seen"):
        _shown(_folder(tmp_path / "second", Settings(budget=None), {"w": []}))
    with pytest.raises(InputError, match="Parquet"):
        write_shown((), tmp_path / "shown.csv")
