"""A release is written with its manifest, and over no other's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.examples.clinics import worked_example
from sfumato.release.release_manifest import load_manifest


def made(seed: int = 1) -> sf.Release:
    table, schema = worked_example()
    return sf.anonymize(table, schema, sf.KAnonymity(3), seed=seed)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("other", ["b.csv", "b.parquet", "release.toml.csv"])
@pytest.mark.parametrize("moved", [False, True])
def test_another_releases_manifest_is_not_written_over(
    other: str, moved: bool, tmp_path: Path
) -> None:
    made().write(tmp_path / "a.csv")
    if moved:
        (tmp_path / "a.csv").unlink()
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"the place of the release\.toml of another file"):
        made(2).write(tmp_path / other)
    assert contents(tmp_path) == before


def test_a_manifest_that_goes_elsewhere_is_in_nobodys_way(tmp_path: Path) -> None:
    made().write(tmp_path / "a.csv")
    first = (tmp_path / "release.toml").read_bytes()
    made(2).write(tmp_path / "b.csv", tmp_path / "b.toml")
    assert (tmp_path / "release.toml").read_bytes() == first
    assert load_manifest(tmp_path / "b.toml").seed == 2


def test_a_release_may_be_made_anew(tmp_path: Path) -> None:
    for seed in (1, 2):
        made(seed).write(tmp_path / "a.csv")
        assert load_manifest(tmp_path / "release.toml").seed == seed


def test_but_not_over_a_file_that_was_changed_since(tmp_path: Path) -> None:
    """Its manifest may be of a file that was moved."""
    made().write(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("other\n")
    with pytest.raises(InputError, match="another file"):
        made(2).write(tmp_path / "a.csv")


def test_the_same_release_may_stand_there_in_several_forms(tmp_path: Path) -> None:
    made().write(tmp_path / "a.csv")
    made().write(tmp_path / "b.parquet")
    assert load_manifest(tmp_path / "release.toml").seed == 1


@pytest.mark.parametrize(
    "text", ["", "release = 3\n", "x = [\n", "[release]\noutput_sha256 = 3\n", "\xff"]
)
def test_a_file_of_that_name_that_is_no_manifest_stays(text: str, tmp_path: Path) -> None:
    (tmp_path / "release.toml").write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match="another file"):
        made().write(tmp_path / "a.csv")
    assert contents(tmp_path) == {"release.toml": text.encode("latin-1")}


@pytest.mark.parametrize("path", [None, 3, b"kanarienvogel.csv", ["kanarienvogel.csv"]])
def test_what_is_no_path_is_refused(path: Any, tmp_path: Path) -> None:
    release = made()
    said = "parameter {} must be the path of a file; found an object of type " + type(path).__name__
    for wrong, name in (
        (lambda: release.write(path), "path"),
        (lambda: release.manifest.write(path), "path"),
        (lambda: sf.report(release, path), "path"),
        (lambda: sf.load_schema(path), "path"),
    ):
        with pytest.raises(InputError) as found:
            wrong()
        assert said.format(name) in str(found.value)
        assert "kanarienvogel" not in str(found.value)
    if path is not None:
        with pytest.raises(InputError, match="parameter manifest must be the path"):
            release.write(tmp_path / "a.csv", path)
        assert contents(tmp_path) == {}
