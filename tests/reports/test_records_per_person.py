"""The plot of records per person reads how many persons have each number of records."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("altair")

from sfumato.reports.numbers import count
from sfumato.reports.plots.risk_plots import records_per_person


@given(st.dictionaries(st.integers(1, 60), st.integers(1, 7), min_size=1, max_size=6))
def test_median_and_most_are_those_of_the_persons(persons: dict[int, int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.reports.plots.risk_plots.picture", lambda *_: "")
        shown = records_per_person(persons)
    each = np.repeat(list(persons), list(persons.values()))
    median, most = count(float(np.median(each))), count(each.max())
    assert shown.note == f"Share of the persons; median {median}, most {most} records."
