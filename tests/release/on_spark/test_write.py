"""A folder of files is written whole or not at all."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.core.errors import InputError, SfumatoError
from sfumato.release.on_spark.spark_released_file import (
    check_folder,
    folder_sha256,
    write_beside,
    write_frame,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def frame(spark: Any) -> Any:
    """Two records."""
    return spark.createDataFrame(pa.table({"a": [1, 2], "b": [" x", None]}))


def names(folder: Path) -> set[str]:
    """What lies in a folder."""
    return {each.name for each in folder.iterdir()}


def test_an_earlier_release_is_replaced_whole(frame: Any, tmp_path: Path) -> None:
    target = tmp_path / "release.parquet"
    before = write_frame(frame, target)
    (target / "_committed_8412").touch()
    assert write_frame(frame.limit(1), target) == folder_sha256(target) != before
    assert pq.read_table(target).num_rows == 1
    assert names(tmp_path) == {"release.parquet"}


def test_spaces_and_empty_cells_stay(frame: Any, tmp_path: Path) -> None:
    write_frame(frame.coalesce(1), tmp_path / "release.csv")
    (part,) = (tmp_path / "release.csv").glob("part-*.csv")
    assert part.read_text() == "a,b\n1, x\n2,\n"


def test_times_and_missing_cells_of_one_column_stay(spark: Any, tmp_path: Path) -> None:
    times = ["2020-01-02 03:04:05.678901", "2020-01-02 00:00:00", None]
    texts = spark.createDataFrame(pa.table({"a": times}))
    frame = texts.selectExpr("cast(a as timestamp_ntz) a")
    write_frame(frame.coalesce(1), tmp_path / "release.csv")
    (part,) = (tmp_path / "release.csv").glob("part-*.csv")
    with part.open(newline="") as stream:
        (_, *rows) = csv.reader(stream)
    assert rows == [["2020-01-02T03:04:05.678901"], ["2020-01-02T00:00:00.000000"], [""]]
    write_frame(frame.selectExpr("cast(a as timestamp) a").coalesce(1), tmp_path / "release.csv")
    (part,) = (tmp_path / "release.csv").glob("part-*.csv")
    assert ":04:05.678901" in part.read_text()


def test_what_fails_leaves_nothing(frame: Any, tmp_path: Path) -> None:
    broken = frame.selectExpr("raise_error('a value') as a")
    with pytest.raises(SfumatoError, match="could not write the release") as error:
        write_frame(broken, tmp_path / "release.parquet")
    assert "a value" not in str(error.value)
    assert names(tmp_path) == set()


def test_other_folders_are_left_alone(frame: Any, tmp_path: Path) -> None:
    target = tmp_path / "photos.parquet"
    target.mkdir()
    (target / "holiday.jpg").write_text("")
    with pytest.raises(InputError, match="or one that Spark wrote"):
        write_frame(frame, target)
    with pytest.raises(InputError, match="or one that Spark wrote"):
        write_frame(frame, target.as_uri())
    assert names(target) == {"holiday.jpg"}
    text = tmp_path / "notes.csv"
    text.write_text("mine")
    with pytest.raises(InputError, match="or one that Spark wrote"):
        write_frame(frame, text.as_uri())
    with pytest.raises(InputError, match="must be a file"):
        write_beside(frame.sparkSession, text.as_uri(), target.name, "")
    assert text.read_text() == "mine"


def test_a_uri_is_written_by_the_file_systems_of_hadoop(frame: Any, tmp_path: Path) -> None:
    target = tmp_path / "release.parquet"
    assert write_frame(frame, target.as_uri()) == ""
    assert write_frame(frame.limit(1), target.as_uri()) == ""
    assert pq.read_table(target).num_rows == 1
    write_beside(frame.sparkSession, target.as_uri(), "release.toml", "seed = 1")
    assert (tmp_path / "release.toml").read_text() == "seed = 1"
    assert (tmp_path / "release.toml").stat().st_mode & 0o077 == 0
    assert {name for name in names(tmp_path) if not name.endswith(".crc")} == {
        "release.parquet",
        "release.toml",
    }


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("release.xlsx", "must have a suffix"),
        ("release", "no suffix"),
        ("nowhere/release.csv", "must be in a folder that exists"),
        ("s3a://bucket/release.txt", "must have a suffix"),
    ],
)
def test_places_that_cannot_be_written(place: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        check_folder(place if "://" in place else tmp_path / place)
