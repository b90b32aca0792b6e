"""Distinct values with their numbers of records are encoded as the records themselves."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.schema import Kind, QuasiIdentifier
from sfumato.table.columns import CodedColumn, NumberDomain
from sfumato.table.encoding.accumulate import Accumulator, RawColumn
from sfumato.table.encoding.checks import spaces_warning
from sfumato.table.encoding.counted import counted_column
from sfumato.table.encoding.encode import encode_quasi_identifier

TEXTS = ["1", "2.50", "-9", "-9.0", "007", "123", " 4", "a", " a", "", "NA", "2024-01-31", "inf"]
MISSING = ("NA", "-9")

texts = st.lists(st.sampled_from([*TEXTS, None]), min_size=1, max_size=12)
numbers = st.lists(st.sampled_from([1, -9, 2**53, None]), min_size=1, max_size=8)


def result(raw: RawColumn, kind: Kind | None) -> tuple[CodedColumn | None, list[str]]:
    said: list[str] = spaces_warning(raw)
    try:
        return encode_quasi_identifier(raw, QuasiIdentifier(kind=kind), MISSING, said), said
    except InputError as error:
        return None, [*said, str(error)]


def content(column: CodedColumn) -> Any:
    domain = column.domain
    if isinstance(domain, NumberDomain):
        return column.kind, domain.points.tolist(), domain.decimals, domain.unit, domain.width
    return column.kind, domain.labels


@given(
    st.one_of(
        texts.map(lambda values: pa.array(values, pa.large_string())),
        numbers.map(lambda values: pa.array(values, pa.int64())),
    ),
    st.sampled_from([None, Kind.NUMERIC, Kind.CATEGORICAL]),
    st.randoms(use_true_random=False),
)
def test_as_the_records(array: pa.Array, kind: Kind | None, random: Any) -> None:
    accumulator = Accumulator("x")
    accumulator.add(array)
    here, said = result(accumulator.finish(), kind)
    values = list(Counter(array.to_pylist()).items())
    random.shuffle(values)
    distinct = pa.array([value for value, _ in values], array.type)
    raw = counted_column("x", distinct, pa.array([count for _, count in values]))
    there, also_said = result(raw, kind)
    said = [re.sub(r", the first in row \d+", "", each) for each in said]
    assert also_said == [re.sub(r"\brow \d+", "1 record", each) for each in said]
    if here is None or there is None:
        assert here is there
        return
    assert content(there) == content(here)
    code_of = dict(zip(distinct.to_pylist(), there.codes.tolist(), strict=True))
    assert [code_of[value] for value in array.to_pylist()] == here.codes.tolist()
    known = here.codes[here.codes >= 0]
    counts = raw.of_codes(there.codes, there.domain.size)
    np.testing.assert_array_equal(counts, np.bincount(known, minlength=here.domain.size))
