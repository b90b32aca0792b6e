"""`sf.explore`: data of a notebook becomes a project, and new data is taken over."""

from __future__ import annotations

import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.server.workbench import explore as exploring

BEFORE = pa.table({"patient": ["a", "b", "c"], "sex": ["m", "f", "m"], "age": [31, 42, 53]})
AFTER = pa.table({"patient": ["d", "e"], "sex": ["f", "f"], "age": [64, 75]})


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, int]]:
    """Where workbenches were started, none of which is."""
    places: list[tuple[Path, int]] = []
    monkeypatch.setattr(exploring, "_start", lambda *asked: places.append(asked))
    return places


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_data_is_shown_by_the_project_that_was_made_before(
    tmp_path: Path, started: list[tuple[Path, int]]
) -> None:
    folder = tmp_path / "made"
    first = sf.explore(BEFORE, folder=folder, port=8123)
    assert mode(folder) == 0o700
    text = first.file.read_text() + "# a comment of mine\n"
    first.file.write_text(text)
    again = sf.explore(AFTER, folder=folder)
    assert pq.read_table(folder / "data.parquet").to_pydict() == AFTER.to_pydict()
    assert mode(folder / "data.parquet") == 0o600
    assert again.file.read_text() == text
    assert started == [(folder, 8123), (folder, 0)]


@pytest.mark.usefixtures("started")
def test_a_folder_that_was_there_stays_as_it_was(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    sf.explore(BEFORE, folder=tmp_path)
    assert mode(tmp_path) == 0o755


@pytest.mark.parametrize("with_project", [False, True])
def test_a_table_that_was_not_written_here_stays(
    tmp_path: Path, started: list[tuple[Path, int]], with_project: bool
) -> None:
    if with_project:
        sf.explore(BEFORE, folder=tmp_path)
    table = tmp_path / "data.parquet"
    pq.write_table(AFTER, table)
    content, before = table.read_bytes(), len(started)
    with pytest.raises(InputError, match="not written here"):
        sf.explore(BEFORE, folder=tmp_path)
    assert table.read_bytes() == content
    assert len(started) == before


def test_another_project_is_not_taken_over(tmp_path: Path, started: list[tuple[Path, int]]) -> None:
    (tmp_path / "sfumato.toml").write_text("[project]\n")
    with pytest.raises(InputError, match="no project of other tables"):
        sf.explore(BEFORE, folder=tmp_path)
    assert not (tmp_path / "data.parquet").exists()
    assert started == []
