"""A warning where the linkage joins records of many people to one person."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, SetThresholds

pytestmark = pytest.mark.usefixtures("few_random_pairs")


def linked(lower: float, upper: float) -> tuple[str, ...]:
    rng = np.random.default_rng(2)
    tables = {
        name: pa.table(
            {
                "sex": rng.choice(["F", "M"], 60).tolist(),
                "age": [str(each) for each in rng.integers(20, 60, 60)],
            }
        )
        for name in ("a", "b")
    }
    spec = LinkSpec(
        columns={"sex": "category", "age": "category"},
        blocking=["sex"],
        thresholds=SetThresholds(lower=lower, upper=upper),
    )
    return link(tables, spec, seed=1).warnings


def test_many_records_of_one_person_are_doubted() -> None:
    [said] = [each for each in linked(1e-9, 1e-8) if each.startswith("one person has")]
    assert "of the 120 records" in said


@pytest.mark.slow
def test_few_records_are_not() -> None:
    assert not [each for each in linked(0.9, 1.0) if each.startswith("one person has")]
