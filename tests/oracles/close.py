"""Numbers that agree as far as floating point lets them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

DIGITS = 1e-12


def close(expected: Any, *parts: Any, digits: float = DIGITS) -> Any:
    """What agrees with a number, or with an array, to twelve digits of it or of its parts.

    A difference of two nearly equal numbers has as few digits as it is smaller than they: what
    the order of a sum changes in the last digits of them, it changes in the first ones of it.

    Parameters
    ----------
    expected
        The number.
    parts
        Numbers of the size of what it is the difference of; none where it is a sum or a product.
    digits
        The share of the largest of all these by which it may be off.
    """
    largest = max((float(np.max(np.abs(part))) for part in parts), default=0.0)
    return pytest.approx(expected, rel=digits, abs=digits * largest, nan_ok=True)
