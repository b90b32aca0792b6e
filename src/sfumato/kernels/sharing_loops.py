"""Persons who share a number of records: compiled loops."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.stored import stored

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@stored
def longest_run(shown: Codes) -> int:
    """Length of the longest run of one number."""
    longest, start = 0, 0
    for at in range(len(shown)):
        if shown[at] != shown[start]:
            start = at
        longest = max(longest, at + 1 - start)
    return longest


@stored
def count_sharing(
    rows: Codes,
    starts: Counts,
    person: Codes,
    shown: Codes,
    scratch: Counts,
    runs: Codes,
    out: Codes,
    risks: Floats,
) -> None:
    """Fill the fields of `SharingCounts`.

    ``out``, shape (4, classes), holds fewest, fewest_row, alone and risk_row; ``risks``, shape
    (2, classes), risk and risk_total.

    ``scratch``, shape (6, sizes), comes filled with zeros; it holds per size the ids, the
    persons, the last person, the first row and the ids of one person; its last row lists the
    sizes of the class. ``runs``, shape (3, ids), holds size, person and first row of its ids.
    """
    ids, persons, last, first, own, met = scratch
    sizes, owners, first_rows = runs
    for t in range(len(starts) - 1):
        found, different = 0, 0
        at, stop = starts[t], starts[t + 1]
        if shown[at] == shown[stop - 1]:
            out[0, t], out[1, t], out[2, t], out[3, t] = 1, rows[at], 1, rows[at]
            risks[0, t], risks[1, t] = 1.0, 1.0
            continue
        while at < stop:
            row = rows[at]
            owner, one = person[at], shown[at]
            size = 0
            while at < stop and shown[at] == one:
                size += 1
                at += 1
            sizes[found], owners[found], first_rows[found] = size, owner, row
            found += 1
            if ids[size] == 0:
                met[different] = size
                different += 1
                persons[size] = 1
                first[size] = row
            else:
                persons[size] += last[size] != owner
                first[size] = min(first[size], row)
            last[size] = owner
            ids[size] += 1
        fewest, fewest_row = persons[met[0]], first[met[0]]
        for i in range(1, different):
            size = met[i]
            if persons[size] < fewest or (persons[size] == fewest and first[size] < fewest_row):
                fewest, fewest_row = persons[size], first[size]
        alone, risk, risk_row, total = 0, 0.0, -1, 0.0
        left = 0
        while left < found:
            right = left
            while right < found and owners[right] == owners[left]:
                own[sizes[right]] += 1
                right += 1
            worst, worst_row, is_alone = 0.0, -1, False
            for i in range(left, right):
                size = sizes[i]
                share = own[size] / ids[size]
                if share > worst or (share == worst and first_rows[i] < worst_row):
                    worst, worst_row = share, first_rows[i]
                is_alone = is_alone or persons[size] == 1
            for i in range(left, right):
                own[sizes[i]] = 0
            alone += is_alone
            total += worst
            if worst > risk or (worst == risk and worst_row < risk_row):
                risk, risk_row = worst, worst_row
            left = right
        for i in range(different):
            ids[met[i]] = 0
        out[0, t], out[1, t], out[2, t], out[3, t] = fewest, fewest_row, alone, risk_row
        risks[0, t], risks[1, t] = risk, total


@stored
def side_sharing(
    order: Codes,
    low: Counts,
    high: Counts,
    side: npt.NDArray[np.int8],
    records: npt.NDArray[np.integer],
    seen: Counts,
    fewest: Counts,
) -> None:
    """Fill ``fewest``, shape (nodes, 2); it and ``seen``, shape (2, numbers), come as zeros."""
    for node in range(len(low)):
        for place in range(low[node], high[node]):
            one = order[place]
            seen[side[one], records[one]] += 1
        for place in range(low[node], high[node]):
            one = order[place]
            half = side[one]
            sharing = seen[half, records[one]]
            if sharing > 0:
                seen[half, records[one]] = 0
                if fewest[node, half] == 0 or sharing < fewest[node, half]:
                    fewest[node, half] = sharing


@stored
def _scan_one_way(
    places: range,
    order: Codes,
    records: npt.NDArray[np.integer],
    seen: Counts,
    numbers: Counts,
    fewest: Counts,
    include: bool,
) -> None:
    """The fewest persons who share a number among those met so far, at every place."""
    least = 0
    for place in places:
        if not include:
            fewest[place] = least
        number = records[order[place]]
        sharing = seen[number]
        seen[number] += 1
        numbers[sharing] -= sharing > 0
        numbers[sharing + 1] += 1
        if sharing == 0:
            least = 1
        elif sharing == least and numbers[sharing] == 0:
            least += 1
        if include:
            fewest[place] = least
    for place in places:
        number = records[order[place]]
        numbers[seen[number]] = 0
        seen[number] = 0


@stored
def scan_sharing(
    order: Codes,
    low: Counts,
    high: Counts,
    records: npt.NDArray[np.integer],
    seen: Counts,
    numbers: Counts,
    fewest: Counts,
) -> None:
    """Fill ``fewest``, shape (2, persons).

    ``seen`` (persons per number of records) and ``numbers`` (numbers that so many persons share)
    come as zeros.
    """
    for node in range(len(low)):
        up = range(low[node], high[node])
        down = range(high[node] - 1, low[node] - 1, -1)
        _scan_one_way(up, order, records, seen, numbers, fewest[0], True)
        _scan_one_way(down, order, records, seen, numbers, fewest[1], False)
