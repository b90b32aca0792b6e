"""The diagnoses behind the clinics are well formed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sfumato.examples.demographics import (
    CODES,
    DESCRIPTIONS,
    FEMALE,
    GROUPS,
    MALE,
    OLDEST,
    code_weights,
)


def test_codes_are_icd9_each_in_one_group_and_described() -> None:
    assert 150 <= len(CODES) <= 200
    assert len(set(CODES)) == len(CODES) == len(DESCRIPTIONS)
    assert all(re.fullmatch(r"(\d{3}|V\d\d)(\.\d{1,2})?", code) for code in CODES)
    assert {"250.00", "401.9", "650", "185"} <= set(CODES)
    assert all(DESCRIPTIONS.values())


@pytest.mark.parametrize("chronic", [True, False])
def test_weights_of_codes_against_a_loop(chronic: bool) -> None:
    weights = code_weights(chronic=chronic)
    assert weights.shape == (2 * (OLDEST + 1), len(CODES))
    for age in (0, 1, 17, 18, 35, 50, 51, 76, OLDEST):
        for sex in (FEMALE, MALE):
            expected = []
            for group in GROUPS:
                low, high = group.ages
                takes_part = group.chronic == chronic and low <= age <= high and sex in group.sexes
                harmonic = sum(1 / rank for rank in range(1, len(group.codes) + 1))
                trend = group.share * group.growth ** ((age - low) / 10)
                expected += [
                    trend / rank / harmonic if takes_part else 0.0
                    for rank in range(1, len(group.codes) + 1)
                ]
            np.testing.assert_allclose(weights[2 * age + sex], expected)


def test_every_age_and_sex_has_an_acute_code() -> None:
    assert (code_weights(chronic=False).sum(axis=1) > 0).all()


def test_chronic_groups_have_no_last_age() -> None:
    assert all(group.ages[1] == OLDEST for group in GROUPS if group.chronic)
