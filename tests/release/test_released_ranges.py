"""Ranges of whole numbers, which are printed directly, read as those that are printed in full."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.hierarchies import Range, format_released
from sfumato.release.options import Form
from sfumato.release.released import release_column
from sfumato.schema import Kind
from sfumato.table.table import CodedColumn, NumberDomain

numbers = st.lists(st.integers(-20, 200), min_size=1, max_size=12, unique=True).map(sorted)
cells = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 11)), min_size=1, max_size=30)


@given(numbers, cells, st.sampled_from([0, 1]), st.sampled_from([0, 3]))
def test_every_range_prints_as_it_does_in_full(points, records, decimals, width):
    domain = NumberDomain(np.array(points, dtype=np.int64), decimals, "number", width)
    numbered = {}
    class_of = np.array([numbered.setdefault(t, len(numbered)) for t, _ in records], np.int32)
    codes = np.array([min(code, len(points) - 1) for _, code in records], np.int32)
    column = CodedColumn("age", codes, domain, Kind.NUMERIC)
    (released,) = release_column(column, class_of, len(numbered), Form.RANGE)
    for t in range(len(numbered)):
        own = codes[class_of == t]
        known = own[own >= 0]
        text = released.texts[released.text_of_class[t]]
        if len(known) < len(own):
            assert text == (None if not len(known) else "*")
            continue
        ends = domain.label(int(known.min())), domain.label(int(known.max()))
        assert text == format_released(Range(*ends), Kind.NUMERIC, set())
