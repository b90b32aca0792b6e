"""Columns that give people away, and honest ones: which are caught, by the release and the attack.

Usage: leaks.py [FILES]    (40 of either kind unless stated)

The kinds of `KNOWN` were there when the measures were made; those of `OTHERS` were written after
them and are never adjusted to. Half of the files have several records per person.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

import sfumato as sf

QUASI = {"age": "numeric", "income": "numeric", "place": "categorical", "sex": "categorical"}
ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
TENS = ("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC")


class People:
    """Records of some persons, with what is drawn once for each."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.persons = n = int(rng.integers(400, 1500))
        self.repeated = seed % 2 == 0
        self.of = np.repeat(np.arange(n), rng.poisson(2, n) + 1 if self.repeated else 1)
        self.age = np.clip(rng.normal(50, 18, n), 18, 95).astype(int)
        self.income = np.exp(rng.normal(10, 0.6, n)).astype(int)
        self.place = rng.choice(rng.integers(10000, 99999, 150), n)
        self.sex = rng.choice(["M", "F"], n)
        self.ids = np.array([f"P{each:06d}" for each in rng.permutation(n)])

    def data(self) -> pd.DataFrame:
        """The records, without any further column."""
        columns = {name: getattr(self, name)[self.of] for name in QUASI}
        codes = [f"{a}{b}" for a in "ABC" for b in range(10, 30)]
        icd = self.rng.choice(codes, len(self.of))
        return pd.DataFrame({"id": self.ids[self.of], **columns, "icd": icd})

    def schema(self, data: pd.DataFrame, accepted: tuple[str, ...] = ()) -> sf.Schema:
        """All columns that are not of `data` are insensitive."""
        roles = {"id", "icd", *QUASI}
        return sf.Schema(
            person="id" if self.repeated else None,
            direct_identifiers=[] if self.repeated else ["id"],
            quasi_identifiers=QUASI,
            sensitive=["icd"],
            insensitive=[name for name in data if name not in roles],
            accepted=dict.fromkeys(accepted, "to be attacked"),
        )


Kind = Callable[[People], object]
KNOWN: dict[str, Kind] = {
    "2026 - age": lambda p: 2026 - p.age,
    "income within 1 %": lambda p: p.income * p.rng.uniform(0.99, 1.01, p.persons),
    "postcode x 7 + 13": lambda p: p.place * 7 + 13,
    "pt aged 57 seen": lambda p: [f"pt aged {each} seen" for each in p.age],
    "id without its first letter": lambda p: [each[1:] for each in p.ids],
    "SHA-256 of the id": lambda p: [hashlib.sha256(each.encode()).hexdigest() for each in p.ids],
    "time stamp of the person": lambda p: (
        np.datetime64("2024-01-01T00:00:00") + p.rng.integers(0, 10**8, p.persons)
    ),
    "house number": lambda p: p.rng.integers(1, 240, p.persons),
}
OTHERS: dict[str, Kind] = {
    "age in Roman numerals": lambda p: [TENS[each // 10] + ONES[each % 10] for each in p.age],
    "postcode backwards": lambda p: [f"{each}"[::-1] for each in p.place],
    "income in another currency, to 10": lambda p: (p.income * 0.86).round(-1),
    "8 digits of a salted MD5 of the id": lambda p: [
        hashlib.md5(f"salt{each}".encode()).hexdigest()[:8]  # noqa: S324
        for each in p.ids
    ],
    "initials and day of birth": lambda p: [
        f"{a}{b}{c:02d}"
        for a, b, c in zip(
            *p.rng.choice(list("ABCDEFGHJKLMNPRSTW"), (2, p.persons)),
            p.rng.integers(1, 32, p.persons),
            strict=True,
        )
    ],
    "age in hexadecimal": lambda p: [f"0x{each:02X}" for each in p.age],
    "years to the pension at 67": lambda p: np.maximum(67 - p.age, 0),
    "karyotype, one in 20 not written": lambda p: [
        "not done" if lost else f"karyotype 46,{'XY' if each == 'M' else 'XX'}"
        for each, lost in zip(p.sex, p.rng.random(p.persons) < 0.05, strict=True)
    ],
    "telephone extension": lambda p: p.rng.integers(1000, 9999, p.persons),
    "age and a number of the ward in one": lambda p: (
        p.age * 1000 + p.rng.integers(0, 1000, p.persons)
    ),
}
HONEST: dict[str, Callable[[np.random.Generator, int], object]] = {
    "charge": lambda rng, m: rng.gamma(2.0, 100.0, m).round(2),
    "department": lambda rng, m: rng.choice(list("uvwx"), m),
    "days": lambda rng, m: rng.integers(1, 40, m),
    "weekday": lambda rng, m: rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri"], m),
    "dose": lambda rng, m: [f"{each} mg" for each in rng.choice([5, 10, 20, 40, 80], m)],
    "remark": lambda rng, m: [f"room {each}, nothing else" for each in rng.integers(1, 30, m)],
    "visit": lambda rng, m: np.datetime64("2024-01-01") + rng.integers(0, 60, m),
    "grade": lambda rng, m: rng.integers(1, 5, m),
}


def warned(release: sf.Release, attacks: list[str]) -> tuple[set[str], bool]:
    """The columns that the attack names, and whether it says anything else."""
    found = sf.attack(release, seed=1, attacks=attacks)
    named = [each for each in found.warnings if each.startswith("Column '")]
    return {each.split("'")[1] for each in named}, len(named) < len(found.warnings) or found.caught


def leaking(seed: int, caught: Counter[tuple[str, str]]) -> None:
    """One file with all kinds of leaks."""
    people = People(seed)
    data = people.data()
    kinds = KNOWN | OTHERS
    for name, values in kinds.items():
        data[name] = np.asarray(values(people))[people.of]
    try:
        sf.anonymize(data, people.schema(data), sf.PidKAnonymity(5), seed=1)
    except sf.InputError as refused:
        caught.update(("release", name) for name in kinds if f"'{name}'" in str(refused))
    release = sf.anonymize(
        data, people.schema(data, tuple(kinds)), sf.PidKAnonymity(5), seed=1, ends="snapped"
    )
    caught.update(("attack", name) for name in warned(release, ["columns"])[0])
    data = people.data().sort_values("income")
    release = sf.anonymize(
        data, people.schema(data), sf.PidKAnonymity(5), seed=1, keep_order=True, effort=0
    )
    told = any(each.startswith("the order of the rows") for each in release.warnings)
    caught["release", "rows sorted by income"] += told
    caught["attack", "rows sorted by income"] += sf.attack(
        release, seed=1, attacks=["row_order"]
    ).caught


def honest(seed: int, alarms: Counter[str]) -> None:
    """One file with honest columns only."""
    people = People(seed)
    data = people.data()
    for name, values in HONEST.items():
        data[name] = values(people.rng, len(data))
    try:
        release = sf.anonymize(
            data, people.schema(data), sf.PidKAnonymity(5), seed=1, ends="snapped"
        )
    except sf.InputError as refused:
        alarms[f"release: {refused}"] += 1
        return
    named, other = warned(release, ["columns", "row_order", "singling_out", "exact"])
    alarms.update(f"attack: {name}" for name in named)
    alarms["attack: another warning"] += other


def main() -> int:
    """Print a table of what was caught, then the false alarms; 1 where the gate is missed."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    caught: Counter[tuple[str, str]] = Counter()
    alarms: Counter[str] = Counter()
    for seed in range(files):
        leaking(seed, caught)
        honest(10_000 + seed, alarms)
    print(f"{'kind':36} release attack   of {files}")
    every = [*KNOWN, "rows sorted by income", *OTHERS]
    for name in every:
        print(f"{name:36} {caught['release', name]:7} {caught['attack', name]:6}")
    shares = [max(caught["release", name], caught["attack", name]) / files for name in every]
    print(f"caught: {np.mean(shares):.1%}; alarms in {files} honest files: {dict(+alarms)}")
    return int(np.mean(shares) < 0.9 or alarms.total() > 0.02 * files)


if __name__ == "__main__":
    sys.exit(main())
