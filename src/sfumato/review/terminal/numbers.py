"""Numbers as the screen shows them."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

LEAST_DIGITS = 4


def kapr_text(value: float, cells: int, *, up: bool = False) -> str:
    """KAPR as text, with as many decimals as one cell of the task needs.

    Parameters
    ----------
    value
        The KAPR.
    cells
        Rows times attributes of the task.
    up
        Whether it is rounded up, as a bound must be.
    """
    step = Decimal(1).scaleb(-max(LEAST_DIGITS, len(str(cells)) + 1))
    number = Decimal(repr(value))
    if up:
        # A cost that is a whole number of steps is not taken up by the last bit of its float.
        number = max(number - Decimal("1e-15"), Decimal(0))
    return str(number.quantize(step, rounding=ROUND_CEILING if up else ROUND_HALF_EVEN))


def percent_text(share: float) -> str:
    """A share as text: ``"12.3 %"``.

    Parameters
    ----------
    share
        The share, in [0, 1].
    """
    return f"{100 * share:.1f} %"
