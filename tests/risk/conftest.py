"""The worked example of paper 003 and paper 000, and a way to code plain lists."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import pytest

from sfumato.risk.assessment import measure_classes
from sfumato.risk.disclosure_risk import Risk

# Tables 3 and 6 of paper 003: name, disease, group of Table 3b, group of Table 6b.
RECORDS_003 = [
    ("Ashley", "Asthma", 1, 1),
    ("Ashley", "Reflux", 1, 1),
    ("Bob", "Reflux", 1, 2),
    ("Charlie", "Pneumonia", 2, 3),
    ("Charlie", "Pneumonia", 2, 3),
    ("Charlie", "Pneumonia", 2, 3),
    ("Charlie", "Gastritis", 2, 3),
    ("Charlie", "Gastritis", 2, 3),
    ("Diana", "Ulcer", 3, 1),
    ("Diana", "Gastritis", 3, 1),
    ("Edward", "Pneumonia", 3, 2),
    ("Edward", "Gastritis", 3, 2),
    ("Fred", "Pneumonia", 4, 2),
    ("Greg", "Ulcer", 4, 2),
    ("Harry", "Asthma", 4, 3),
    ("Harry", "Bronchitis", 4, 3),
    ("Harry", "Asthma", 4, 3),
    ("Harry", "Ulcer", 4, 3),
    ("Harry", "Ulcer", 4, 3),
]


def code(values: Iterable[Hashable]) -> np.ndarray:
    """Number values by first appearance; ``None`` is missing."""
    numbers: dict[Hashable, int] = {}
    return np.array(
        [-1 if value is None else numbers.setdefault(value, len(numbers)) for value in values],
        dtype=np.int32,
    )


def measure(classes, persons, threshold=0.2, **sensitive) -> Risk:
    """Measure plain lists of class, person and sensitive values."""
    class_of = code(classes)
    return measure_classes(
        class_of,
        int(class_of.max()) + 1,
        code(persons),
        {name: code(values) for name, values in sensitive.items()},
        threshold=threshold,
    )


@pytest.fixture(scope="session", name="measure")
def _measure():
    return measure


@pytest.fixture(scope="session", name="code")
def _code():
    return code


@pytest.fixture
def records_003():
    return RECORDS_003
