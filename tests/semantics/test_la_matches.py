"""Individuals who match generalised tuples, against a naive count."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.local_data import Local, matches


def random_hierarchy(rng: np.random.Generator, leaves: int, height: int) -> Hierarchy:
    """A ragged hierarchy: every level joins some of the groups of the one below."""
    columns = [[f"v{leaf}" for leaf in range(leaves)]]
    groups = np.arange(leaves)
    for level in range(1, height):
        groups = rng.integers(0, max(1, leaves - level), leaves)[groups]
        columns.append([f"L{level}.{group}" for group in groups])
    columns.append(["*"] * leaves)
    return Hierarchy.from_columns(columns, "test")


def naive_matches(
    hierarchies: list[Hierarchy],
    local: npt.NDArray[np.int32],
    person: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int32],
    levels: npt.NDArray[np.integer],
) -> set[int]:
    """The individuals who match one tuple, record by record."""

    def shown(hierarchy: Hierarchy, code: int, level: int) -> str | None:
        if level == hierarchy.height:
            return "root"
        return None if code < 0 else hierarchy.labels[level][hierarchy.ancestors[level, code]]

    return {
        int(who)
        for record, who in zip(local, person, strict=True)
        if all(
            shown(h, record[q], levels[q]) == shown(h, codes[q], levels[q])
            for q, h in enumerate(hierarchies)
        )
    }


@given(st.integers(0, 2**32 - 1))
def test_matches_agree_with_a_record_by_record_count(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, rng.integers(1, 4))
    hierarchies = [random_hierarchy(rng, int(n), int(rng.integers(1, 4))) for n in sizes]
    records = int(rng.integers(1, 40))
    local = rng.integers(-1, sizes, (records, len(sizes))).astype(np.int32)
    person = rng.integers(0, records, records)
    codes = rng.integers(-1, sizes, (12, len(sizes))).astype(np.int32)
    levels = rng.integers(0, [h.height + 1 for h in hierarchies], (12, len(sizes)))
    names = [f"q{i}" for i in range(len(sizes))]
    built = Local.from_codes("A", names, hierarchies, local, person)
    found = matches(built, codes, levels)
    for row in range(12):
        expected = naive_matches(hierarchies, local, person, codes[row], levels[row])
        assert found[row] == len(expected)


def test_keys_beyond_64_bits_are_still_exact() -> None:
    leaves = [f"v{i}" for i in range(2000)]
    wide = Hierarchy.from_columns([leaves, ["*"] * 2000], "test")
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2000, (300, 7)).astype(np.int32)
    codes[150:] = codes[:150]
    local = Local.from_codes("A", [f"q{i}" for i in range(7)], [wide] * 7, codes)
    assert len(local.codes) == 150
    levels = np.zeros((300, 7), dtype=np.int8)
    np.testing.assert_array_equal(matches(local, codes, levels), np.full(300, 2))


def test_k_larger_than_the_local_data_is_refused() -> None:
    hierarchy = Hierarchy.from_columns([["a", "b"], ["*", "*"]], "test")
    codes = np.zeros((4, 1), dtype=np.int32)
    with pytest.raises(InputError, match="k = 3 and 2 people"):
        Local.from_codes("A", ["x"], [hierarchy], codes, np.array([0, 0, 1, 1]), 3)
    with pytest.raises(InputError, match="whole number"):
        Local.from_codes("A", ["x"], [hierarchy], codes, None, 0)
    with pytest.raises(InputError, match="hierarchy for every"):
        Local.from_codes("A", ["x"], [], codes)
