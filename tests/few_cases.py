"""Of the many cases and examples of a test, some are for every change; CI tries the others, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def examples(number: int) -> int:
    """So many examples of a property in CI, elsewhere the share of them that others try, too."""
    usual, in_ci = (each.max_examples for each in (settings.default, settings.get_profile("ci")))
    return max(2, number * usual // in_ci)


def fast_first(fast: int, cases: Iterable[Any], *, tuples: bool = False) -> list[Any]:
    """All cases for `pytest.mark.parametrize`, of which those behind the first are slow.

    Parameters
    ----------
    tuples
        Whether each has a value for every one of several parameters.
    """
    cases = list(cases)
    slow = (
        pytest.param(*(each if tuples else [each]), marks=pytest.mark.slow) for each in cases[fast:]
    )
    return [*cases[:fast], *slow]
