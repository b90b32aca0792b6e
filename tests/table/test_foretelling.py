"""What is made of cells that foretells what a release hides: kinds of leaks, and honest files."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.table.dependence import column_figures
from sfumato.table.door import open_table

NAMES = [
    f"{a}{b}{c}" for a in ("an", "be", "ka", "lo") for b in "rstlmn" for c in ("a", "do", "is")
]


class People:
    """Some people with several records each, and what is drawn once for each of them."""

    def __init__(self, seed: int, persons: int, records: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.n = n = persons
        each = rng.integers(max(1, records // 2), records + records // 2 + 1, n)
        self.of = np.repeat(np.arange(n), each if records > 1 else 1)
        self.m = len(self.of)
        self.starts = np.flatnonzero(np.diff(self.of, prepend=-1))
        self.age = np.clip(rng.normal(50, 18, n), 18, 95).astype(int)
        self.sex = rng.choice(["M", "F"], n)
        self.female = (self.sex == "F") * 1
        self.income = np.exp(rng.normal(10, 0.6, n)).astype(int)
        self.place = rng.choice(rng.integers(10_000, 99_999, max(8, min(150, n // 8))), n)
        self.born = np.datetime64("2024-07-01") - (self.age * 365.25).astype(int)
        self.born = self.born - rng.integers(0, 365, n)
        self.weight = np.clip(rng.normal(70, 12, n) + 8 * (1 - self.female), 40, 140).round(1)
        self.height = (rng.normal(163, 6, n) + 13 * (1 - self.female)).round()
        self.ids = rng.permutation(n) * 7 + 11
        self.name = np.array([
            f"{a} {b}{c:03d}" for a, b, c in zip(
                *rng.choice(NAMES, (2, n)), rng.permutation(n), strict=True)])  # fmt: skip

    def share(self, total: np.ndarray, noise: float = 0.0) -> np.ndarray:
        """A number for each record; those of a person add up to a total."""
        parts = self.rng.gamma(2.0, 1.0, self.m)
        parts /= np.bincount(self.of, parts)[self.of]
        return (parts * total[self.of] * self.rng.normal(1, noise, self.n)[self.of]).round(2)

    def each(self, values: Any) -> np.ndarray:
        """A value of each person in all of their records."""
        return np.asarray(values)[self.of]

    def digits(self, low: int, high: int) -> np.ndarray:
        """A number for each record."""
        return self.rng.integers(low, high, self.m)


def egfr(p: People) -> dict[str, Any]:
    """Creatinine and CKD-EPI 2021."""
    scr = np.exp(p.rng.normal(-0.15, 0.3, p.n)).round(2)
    k, a = np.where(p.female, 0.7, 0.9), np.where(p.female, -0.241, -0.302)
    gfr = 142 * np.minimum(scr / k, 1) ** a * np.maximum(scr / k, 1) ** -1.2 * 0.9938**p.age
    gfr = (gfr * 1.012**p.female).round()
    return {"creatinine": p.each(scr), "egfr": p.each(gfr)}


def encoded(p: People) -> list[str]:
    """JSON in base64, with a number of each record before what is hidden."""
    texts = (
        json.dumps({"visit": int(v), "ward": w, "age": int(a), "note": "seen"})
        for v, w, a in zip(p.digits(1, 10**6), p.rng.choice(list("abc"), p.m), p.age[p.of], strict=True)
    )  # fmt: skip
    return [base64.b64encode(each.encode()).decode() for each in texts]


def gaps(p: People) -> np.ndarray:
    """Dates, the first two of a person as many days apart as the age."""
    first = p.rng.integers(0, 300, p.n)
    place = np.arange(p.m) - p.starts[p.of]
    return np.datetime64("2020-01-01") + first[p.of] + place * p.age[p.of]


Kind = Callable[[People], Any]
SEEN: dict[str, Kind] = {
    "charges add up to the income": lambda p: p.share(p.income),
    "days between visits": gaps,
    "creatinine and eGFR": egfr,
    "base64 of JSON": encoded,
    "digits interleaved": lambda p: [
        "".join(f"{a}{b}" for a, b in zip(f"{c}", f"{d:05d}", strict=True))
        for c, d in zip(p.place[p.of], p.digits(0, 10**5), strict=True)
    ],
    "parity of a number": lambda p: p.digits(0, 50_000) * 2 + p.female[p.of],
    "device of the postcode": lambda p: [
        f"{a * 7919 % 65536:04x}{b:06x}" for a, b in zip(p.place[p.of], p.digits(0, 2**24), strict=True)
    ],
    "check digits": lambda p: (lambda ref: ref * 100 + (ref + p.age[p.of]) % 97)(p.digits(1000, 9999)),
    "mean is the age": lambda p: p.age[p.of] + (lambda x: x - (np.bincount(p.of, x) / np.bincount(p.of))[p.of])(
        p.rng.normal(0, 25, p.m)),
    "number of visits with a code": lambda p: np.where(
        np.arange(p.m) - p.starts[p.of] < p.female[p.of] + 1, "x", "y"),
    "hex of a text": lambda p: [
        f"visit {b} place {a}".encode().hex() for a, b in zip(p.place[p.of], p.digits(0, 10**6), strict=True)
    ],
    "weight and BMI": lambda p: {
        "kilos": p.each(p.weight), "bmi": p.each((p.weight / (p.height / 100) ** 2).round(1))},
    "dose and dose per kg": lambda p: (lambda dose: {
        "dose": p.each(dose), "perkg": p.each((dose / p.weight).round(3))})(
            p.rng.choice([50, 100, 150, 200, 400], p.n)),
    "Mifflin": lambda p: {
        "kilos": p.each(p.weight), "centimetres": p.each(p.height),
        "energy": p.each((10 * p.weight + 6.25 * p.height - 5 * p.age + 5 - 166 * p.female).round())},
    "id in base32": lambda p: [
        base64.b32encode(f"K{a:06d}|{b}".encode()).decode() for a, b in zip(p.ids[p.of], p.digits(0, 10**6), strict=True)],
    "product of two": lambda p: (lambda x: {
        "one": p.each(x.round(3)), "other": p.each((p.income / x).round(2))})(p.rng.uniform(1, 90, p.n)),
}  # fmt: skip
QUASI = {"age": "numeric", "sex": "categorical", "income": "numeric", "place": "categorical",
         "weight": "numeric", "height": "numeric"}  # fmt: skip


def file_of(
    p: People, columns: dict[str, Any], quasi: tuple[str, ...]
) -> tuple[pd.DataFrame, sf.Schema]:
    """Records with honest columns, and more."""
    data = pd.DataFrame({
        "id": p.each([f"K{each:06d}" for each in p.ids]), "name": p.each(p.name),
        **{name: p.each(getattr(p, name)) for name in quasi},
        "icd": p.rng.choice([f"{a}{b}" for a in "ABC" for b in range(10, 20)], p.m),
        "days": p.rng.geometric(0.2, p.m),
        **columns,
    })  # fmt: skip
    kinds = {name: QUASI[name] for name in quasi if name in QUASI}
    kinds |= {name: "numeric" for name in quasi if name not in QUASI}
    schema = sf.Schema(
        person="id", direct_identifiers=["name"], quasi_identifiers=kinds, sensitive=["icd"],
        insensitive=["days", *columns],
    )  # fmt: skip
    return data, schema


def told(
    seed: int, persons: int, records: int, make: Kind, quasi: tuple[str, ...]
) -> dict[str, str]:
    """The columns that leak, and how, in a file of a kind."""
    p = People(seed, persons, records)
    made = make(p)
    data, schema = file_of(p, made if isinstance(made, dict) else {"further": made}, quasi)
    return {
        each.column: each.leak for each in column_figures(open_table(data, schema)) if each.leak
    }


USUAL = ("age", "sex", "income", "place")
BODY = ("age", "sex", "weight", "height")


@pytest.mark.parametrize("kind", SEEN)
def test_kinds(kind: str) -> None:
    body = kind in ("dose and dose per kg",)
    quasi = BODY if body else ("age", "sex", "height") if kind == "weight and BMI" else USUAL
    assert told(1, 400, 4, SEEN[kind], quasi)
