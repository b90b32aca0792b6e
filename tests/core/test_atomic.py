"""Files that belong together take their places together, or none does."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.core.atomic import (
    all_or_none,
    atomic_folder,
    atomic_path,
    take_place,
    write_text,
    written_at,
)
from sfumato.core.errors import InputError


def contents(folder: Path) -> dict[str, str]:
    """Files by name, hidden ones too."""
    return {
        each.relative_to(folder).as_posix(): each.read_text()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }


def test_all_take_their_places_at_the_end(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    two.write_text("old")
    with all_or_none():
        write_text(one, "new")
        assert not one.exists()
        assert written_at(one).read_text() == "new"
        with all_or_none():
            write_text(two, "newer")
        assert two.read_text() == "old"
    assert contents(tmp_path) == {"one": "new", "two": "newer"}
    assert written_at(one) == one


@pytest.mark.parametrize("error", [InputError("x", "y"), OSError(), KeyboardInterrupt()])
def test_none_does_where_the_block_fails(error: BaseException, tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old")

    @all_or_none()
    def write() -> None:
        write_text(tmp_path / "one", "new")
        raise error

    with pytest.raises(type(error)):
        write()
    assert contents(tmp_path) == {"one": "old"}


@pytest.mark.parametrize("before", [{}, {"one": "old", "three": "old"}], ids=["new", "there"])
def test_none_does_where_one_cannot(before: dict[str, str], tmp_path: Path) -> None:
    """A folder has taken the place of the second file in the meantime."""
    for name, text in before.items():
        (tmp_path / name).write_text(text)

    @all_or_none()
    def write() -> None:
        for name in ("one", "two", "three"):
            write_text(tmp_path / name, "new")
        (tmp_path / "two").mkdir()
        (tmp_path / "two" / "mine").write_text("kept")

    with pytest.raises(InputError, match="output two must be written whole") as error:
        write()
    assert "nothing was written" in str(error.value)
    assert contents(tmp_path) == {**before, "two/mine": "kept"}


def test_a_folder_and_a_file_go_together(tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    (folder / "a").write_text("old")

    @all_or_none()
    def write() -> None:
        (tmp_path / "part").mkdir()
        (tmp_path / "part" / "a").write_text("new")
        take_place(tmp_path / "part", folder)
        write_text(file, "new")
        file.mkdir()

    with pytest.raises(InputError, match="output file must be written whole"):
        write()
    file.rmdir()
    assert contents(tmp_path) == {"folder/a": "old"}


def test_the_same_file_twice(tmp_path: Path) -> None:
    with all_or_none():
        for text in ("first", "second"):
            write_text(tmp_path / "one", text)
    assert contents(tmp_path) == {"one": "second"}


def test_a_file_that_fails_within_leaves_no_part(tmp_path: Path) -> None:

    def fail() -> None:
        with atomic_path(tmp_path / "one") as part:
            part.write_text("half")
            raise ValueError("wrong")

    with all_or_none():
        with pytest.raises(ValueError, match="wrong"):
            fail()
        write_text(tmp_path / "two", "whole")
    assert contents(tmp_path) == {"two": "whole"}


def test_what_a_folder_leaves_behind_goes_with_the_change_only(tmp_path: Path) -> None:
    folder = tmp_path / "stage"
    (folder / "deep").mkdir(parents=True)
    for name in ("made", "mine", "deep/made", "deep/mine"):
        (folder / name).write_text("old")
    before = contents(tmp_path)
    left = ("made", "deep/made", "never")

    def fail() -> None:
        with atomic_folder(folder, without=left) as making:
            (making / "new").write_text("new")
            raise OSError

    with pytest.raises(InputError, match="must be written whole"):
        fail()
    assert contents(tmp_path) == before
    with atomic_folder(folder, without=left) as making:
        (making / "new").write_text("new")
    assert contents(folder) == {"mine": "old", "deep/mine": "old", "new": "new"}
