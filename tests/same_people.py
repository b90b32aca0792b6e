"""Made-up people, and files that have the same people otherwise."""

from __future__ import annotations

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
Rows = list[list[str | None]]


def people(count: int, seed: int) -> Rows:
    """People of one population: names as frequent as names are, in towns that have their codes."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(7)

    def names(number: int) -> list[str]:
        sizes = fixed.integers(4, 10, number)
        return ["".join(fixed.choice(list(LETTERS), size)) for size in sizes]

    def drawn(values: list[str]) -> list[str]:
        shares = 1 / np.arange(3, len(values) + 3)
        return list(rng.choice(values, count, p=shares / shares.sum()))

    towns = names(80)
    code = dict(zip(towns, map(str, fixed.integers(10_000, 99_999, 80)), strict=True))
    days = rng.integers(0, 29_000, count).astype("datetime64[D]") - 14_000
    town = drawn(towns)
    columns = [drawn(names(150)), drawn(names(3000)), days.astype(str).tolist()]
    columns += [town, [code[each] for each in town], rng.choice(["f", "m"], count).tolist()]
    return [list(row) for row in zip(*columns, strict=True)]


def _letter(value: str, rng: np.random.Generator) -> str:
    place = int(rng.integers(len(value)))
    return value[:place] + ("7" if value[place] != "7" else "3") + value[place + 1 :]


def any_letter(rows: Rows) -> Rows:
    """One character of every record is another, wherever it is."""
    rng = np.random.default_rng(3)
    changed = []
    for row in rows:
        at = int(rng.integers(len(row)))
        changed.append([*row[:at], _letter(row[at] or "", rng), *row[at + 1 :]])
    return changed


def of_the_name(rows: Rows) -> Rows:
    return [[row[0], f"{row[1]}x", *row[2:]] for row in rows]


def other_order(rows: Rows) -> Rows:
    return [rows[at] for at in np.random.default_rng(3).permutation(len(rows))]


def a_tenth_other(rows: Rows) -> Rows:
    return [*rows[len(rows) // 10 :], *people(len(rows) // 10, 99)]
