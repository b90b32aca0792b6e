"""Losses of groups of records, naively: one group and one column at a time."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt


def group_loss(rows, columns):
    """Loss of one group of records, one value per column each, ``None`` for missing.

    A column is ``(form, numeric, width weight, error weight, detail)``; the detail of an ancestor
    form gives each value its labels up to the root, with the width of each label; that of a range
    the value of place 0 and the units up to place 1 where ranges end on a public grid, else 0.
    """
    return sum(_column_loss([row[at] for row in rows], *each) for at, each in enumerate(columns))


def _on_a_grid(low, high, origin, units):
    first, last = round(origin + low * units), round(origin + high * units)
    if last - first < 2:
        return high - low
    steps = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]
    step = max(2, min(steps, key=lambda each: abs(log(20 * each / (last - first)))))
    beyond = step >= 5
    first -= beyond
    last += beyond
    first -= first % step
    last += step - 1 - last % step
    return min((last - first) / units, 1.0)


def _column_loss(cells, form, numeric, width_weight, error_weight, detail):
    values = [each for each in cells if each is not None]
    if not values:
        return 0.0
    if len(values) < len(cells):
        width = detail["full"]
    elif form == "range":
        places = [detail["place"][each] for each in values]
        width = _on_a_grid(min(places), max(places), *detail["grid"])
    elif form == "distinct":
        width = len(set(values)) - 1
    elif form == "anything":
        width = float(len(set(values)) > 1)
    else:
        paths = [detail["paths"][each] for each in values]
        level = next(at for at in range(len(paths[0])) if len({path[at] for path in paths}) == 1)
        width = detail["widths"][paths[0][level]]
    if numeric:
        numbers = [detail["value"][each] for each in values]
        mean = sum(numbers) / len(numbers)
        apart = sqrt(len(numbers) * sum((each - mean) ** 2 for each in numbers))
    else:
        apart = len(values) - sum(n * n for n in Counter(values).values()) / len(values)
    return width_weight * width * len(cells) + error_weight * apart
