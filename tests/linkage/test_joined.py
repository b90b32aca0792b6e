"""A warning where the linkage joins records of many people to one person."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec

pytestmark = pytest.mark.usefixtures("few_random_pairs")


def linked(copies: int) -> tuple[str, ...]:
    rng = np.random.default_rng(2)
    others = 150
    days = np.datetime64("1930-01-01") + rng.integers(0, 29_000, others)
    table = pa.table(
        {
            "given_name": ["Test"] * copies + [f"Given{n}" for n in range(others)],
            "surname": ["Patient"] * copies + [f"Family{n}" for n in rng.permutation(others)],
            "dob": ["1970-01-01"] * copies + days.astype(str).tolist(),
        }
    )
    spec = LinkSpec(
        columns={"given_name": "given name", "surname": "surname", "dob": "date"},
        blocking=["surname", "dob", "given_name"],
        mode="dedupe-only",
    )
    return link({"a": table}, spec, seed=1).warnings


def test_many_records_of_one_person_are_doubted() -> None:
    [said] = [each for each in linked(30) if each.startswith("one person has")]
    assert "one person has 30 of the 180 records" in said


def test_few_records_are_not() -> None:
    assert not [each for each in linked(3) if each.startswith("one person has")]
