"""Arrays as they are read, and sampling weights: above 0 in every record, or a refusal."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.table.sources import read_weights, trimmed
from sfumato.table.table_files import open_source


@pytest.mark.parametrize(
    "column",
    [
        [1, 2, 30],
        [1.0, 2.0, 30.0],
        ["1", "2.0", "30"],
        [Decimal("1.0"), Decimal("2.00"), Decimal(30)],
        pa.array(["1", "2", "30"]).dictionary_encode(),
        pa.array([1, 2, 30], pa.uint8()),
    ],
)
def test_numbers_are_read(column):
    source = open_source(pa.table({"id": [1, 2, 3], "w": column}))
    assert read_weights(source, "w").tolist() == [1, 2, 30]


def test_files_and_frames_are_read(tmp_path):
    frame = pd.DataFrame({"id": range(5_000), "w": np.arange(1, 5_001) / 8})
    frame.to_csv(tmp_path / "w.csv", index=False)
    frame.to_parquet(tmp_path / "w.parquet")
    for data in (frame, pl.from_pandas(frame), tmp_path / "w.csv", tmp_path / "w.parquet"):
        assert read_weights(open_source(data), "w").tolist() == frame["w"].tolist()


@pytest.mark.parametrize(
    "column",
    [
        [1.0, 0.0],
        [1.0, -2.0],
        [1.0, None],
        [1.0, float("nan")],
        [1.0, float("inf")],
        ["1", "kanarienvogel"],
        ["1", ""],
        ["1", None],
        [True, True],
        [date(2020, 1, 1), date(2020, 1, 2)],
        pa.array(["1", "kanarienvogel"]).dictionary_encode(),
        pa.nulls(2),
    ],
)
def test_anything_else_is_refused(column, refused):
    source = open_source(pa.table({"id": [1, 2], "w": column}))
    refused(lambda: read_weights(source, "w"), "column 'w'", "weight", "above 0")


def test_lists_are_refused(refused):
    source = open_source(pa.table({"id": [1, 2], "w": [["kanarienvogel"], ["1"]]}))
    refused(lambda: read_weights(source, "w"), "column 'w'")


def test_a_file_with_something_else_is_refused(tmp_path, refused):
    path = tmp_path / "w.csv"
    path.write_text("id,w\n1,2\n2,kanarienvogel\n", encoding="utf-8")
    refused(lambda: read_weights(open_source(path), "w"), "column 'w'")


def test_a_column_that_is_not_there(refused):
    source = open_source(pa.table({"id": [1]}))
    refused(lambda: read_weights(source, "w"), "no such column")


spaced = st.text(st.sampled_from("a~!\u00e9 \t\n\x1f\x7f\x85\u2003\u3000\U0001d7d8"), max_size=3)


@given(
    st.lists(st.none() | spaced, max_size=9) | st.lists(st.text("ab", min_size=1), max_size=9),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_spaces_around_texts_are_found(texts: list[str | None], kind: pa.DataType) -> None:
    values = pa.array(["abc", *texts, ""], kind).slice(1, len(texts))
    assert trimmed(values).equals(pc.utf8_trim_whitespace(values))
